"""The JSON Schema of the envelope, which ships with Segue."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def schema_text() -> str:
    """Return the schema of the envelope of version 1 (JSON Schema 2020-12), as it ships."""
    return (resources.files("segue.context") / "schemas" / "smp-1.json").read_text("utf-8")
