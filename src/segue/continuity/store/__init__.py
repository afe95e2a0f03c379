"""The memory store of a project: `.project-study-memory/`, an index and one file for each fact. Pure: see `swap`."""
