"""Times as exports write them: seconds since 1970, or ISO 8601 with and without a zone."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from typing import Any

from segue.base import time

_MILLISECONDS = 10**11
_LAST = 253_402_300_799_999_999  # the last microsecond of the year 9999


def from_epoch(value: Any) -> str | None:
    """Return the RFC 3339 text of `value` seconds since 1970; None for what is no time, 0 included.

    A value of twelve digits or more, which as seconds lies beyond the year 5000, is milliseconds.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < _LAST:
        return None
    exact = round(value * (1_000 if value >= _MILLISECONDS else 1_000_000))
    return time.to_text(time.from_microseconds(exact)) if exact <= _LAST else None


def from_iso(value: Any, zone: tzinfo = UTC) -> str | None:
    """Return the RFC 3339 text, in UTC, of an ISO 8601 date or time; one without a zone is of `zone`.

    None for what is no time. More than six digits of a fraction are cut.
    """
    if not isinstance(value, str) or not 8 <= len(value.strip()) <= 40:
        return None
    try:
        instant = datetime.fromisoformat(value.strip())
        if instant.tzinfo is None:
            instant = instant.replace(tzinfo=zone)
        return time.to_text(instant.astimezone(UTC))
    except (ValueError, OverflowError):
        return None


def microseconds(text: str | None) -> int:
    """Return the microseconds of an RFC 3339 text, for comparing; the earliest where there is none."""
    return -(2**62) if text is None else time.microseconds(time.parse(text))
