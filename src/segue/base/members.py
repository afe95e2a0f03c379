"""Members of a JSON object from outside, read strictly: what is not exactly as it should be is refused, never mended.

Every function raises InvalidInput `value.invalid`; messages name the member and never quote its value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from segue.base import time
from segue.base.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

MAX_COUNT = 2**31 - 1  # what a column of numbers holds

_CODE = "value.invalid"


def invalid(message: str) -> InvalidInput:
    """Return the error for a value that breaks its rule."""
    return InvalidInput(_CODE, message)


def exactly(document: object, wanted: frozenset[str], called: str) -> Mapping[str, Any]:
    """Return an object that has exactly the members `wanted`; `called` is what it is, for the message."""
    if not isinstance(document, dict):
        raise invalid(f"{called} is not an object")
    lacking = sorted(wanted - document.keys())
    if lacking:
        raise invalid(f"{called} lacks {', '.join(lacking)}")
    if len(document) > len(wanted):
        raise invalid(f"{called} has members that are not known")
    return document


def text(document: Mapping[str, Any], name: str, limit: int | None = None) -> str:
    """Return a text; with `limit` it has at most so many characters, and no NUL."""
    value = document[name]
    if not isinstance(value, str):
        raise invalid(f"{name} is not a text")
    if limit is not None and (len(value) > limit or "\0" in value):
        raise invalid(f"{name} has more than {limit:,} characters, or a NUL in it")
    return value


def optional(document: Mapping[str, Any], name: str, limit: int | None = None) -> str:
    """Return a text, "" for null: the empty text itself is not written."""
    if document[name] is None:
        return ""
    value = text(document, name, limit)
    if not value:
        raise invalid(f"{name} is empty; write null")
    return value


def whole(document: Mapping[str, Any], name: str, least: int, most: int) -> int:
    """Return a whole number in a range, both ends included."""
    value = document[name]
    if type(value) is not int or not least <= value <= most:
        raise invalid(f"{name} is not a whole number from {least} to {most}")
    return value


def flag(document: Mapping[str, Any], name: str) -> bool:
    """Return true or false."""
    value = document[name]
    if not isinstance(value, bool):
        raise invalid(f"{name} is neither true nor false")
    return value


def share(document: Mapping[str, Any], name: str) -> float:
    """Return a number from 0 to 1."""
    value = document[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise invalid(f"{name} is not a number from 0 to 1")
    return float(value) + 0.0  # SQLite knows no negative zero


def instant(document: Mapping[str, Any], name: str) -> datetime:
    """Return a time, written as `base.time.to_text` writes it."""
    value = document[name]
    try:
        found = time.parse(value) if isinstance(value, str) else None
    except ValueError:
        found = None
    if (
        found is None or time.to_text(found) != value or value[-1] != "Z"
    ):  # at the edges of the calendar an offset stays
        raise invalid(f"{name}: not a time in UTC such as 2026-05-04T09:30:00Z")
    return found


def items(document: Mapping[str, Any], name: str, most: int | None = None) -> list[Any]:
    """Return a list, of at most `most` entries."""
    value = document[name]
    if not isinstance(value, list):
        raise invalid(f"{name} is not a list")
    if most is not None and len(value) > most:
        raise invalid(f"{name} has more than {most:,} entries")
    return value
