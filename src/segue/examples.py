"""The examples that ship with Segue: two recorded sessions, of which the second continues the first, and memories."""

from __future__ import annotations

from pathlib import Path

from segue.base.errors import Failed

FIRST = "session-1.json"
SECOND = "session-2.json"
MEMORIES = "harbor.json"


def read(name: str) -> bytes:
    """Return the bytes of an example. Raises Failed `examples.missing` in a broken installation."""
    here = Path(__file__).resolve()
    for folder in (here.parent / "_examples", here.parents[2] / "examples"):  # installed; in a checkout
        if (folder / name).is_file():
            return (folder / name).read_bytes()
    raise Failed("examples.missing", "the examples are not installed; install Segue again")
