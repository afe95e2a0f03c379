"""What sources are called: `packet:ID`, `capsule:ID`, `markdown:FILE`. In a ref it stands before the first `#`."""

from __future__ import annotations


def source_of(kind: str, name: str) -> str:
    """Return the source of that kind with that name or id; a `#` in it is escaped."""
    return f"{kind}:{name.replace('#', '%23')}"


def parts_of(source: str) -> tuple[str, str]:
    """Return the kind of a source, and its name or id as `source_of` was given it, "" where it has none."""
    kind, _, name = source.partition(":")
    return kind, name.replace("%23", "#")
