"""The command line: each command parses, calls the library once, and renders. Imports stay inside the commands."""
