"""Times as exports write them: seconds since 1970, or ISO 8601 with and without a zone."""

from __future__ import annotations

import math
from datetime import UTC, datetime, tzinfo
from typing import Any

from segue.base import time


def from_epoch(value: Any) -> str | None:
    """Return the RFC 3339 text of `value` seconds since 1970; None for what is no time, 0 included."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value <= 0:
        return None
    try:
        return time.to_text(time.from_microseconds(round(value * 1_000_000)))
    except OverflowError:
        return None


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
