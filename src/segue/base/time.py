"""Instants as RFC 3339 text.

A time that came from outside is kept as the text that was given; what is compared and sorted is the number
of microseconds since 1970 in UTC. Nothing but `utc_now` reads the clock, and only doors call that.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from segue.base.errors import InvalidInput

_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)",
    re.ASCII,
)
_AGO = re.compile(r"(\d{1,5})\s*(m|h|d|w)", re.ASCII)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_FIRST, _LAST = -62_135_596_800_000_000, 253_402_300_799_999_999  # years 1 and 9999 in UTC
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - arithmetic without zone, so that the edges of year 1 and 9999 hold
_UTC_EPOCH = _EPOCH.replace(tzinfo=UTC)


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def parse(text: str) -> datetime:
    """Return the instant that RFC 3339 `text` names, cut to microseconds.

    Raises ValueError for what RFC 3339 does not allow or `datetime` cannot hold: second 60, year 0000, a day
    that the month lacks, more than nine fraction digits (decision P2).
    """
    match = _RFC3339.fullmatch(text)
    if match is None:
        raise ValueError("not an RFC 3339 date and time")
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    fraction = (match[7] or "").ljust(6, "0")[:6]
    zone = UTC if match[8] in "Zz" else datetime.strptime(match[8], "%z").tzinfo
    return datetime(year, month, day, hour, minute, second, int(fraction), tzinfo=zone)


def is_utc(text: str) -> bool:
    """Whether RFC 3339 `text` states its time in UTC."""
    return text[-1:] in ("Z", "z") or text.endswith(("+00:00", "-00:00"))


def microseconds(instant: datetime) -> int:
    """Return the microseconds from 1970-01-01T00:00:00Z to `instant` (negative before it)."""
    if instant.tzinfo is UTC:  # nearly always; this is the quick way
        since = instant - _UTC_EPOCH
        return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    offset = instant.utcoffset() or timedelta(0)
    return (instant.replace(tzinfo=None) - _EPOCH - offset) // timedelta(microseconds=1)


def from_microseconds(value: int) -> datetime:
    """Return the UTC instant that lies `value` microseconds after 1970-01-01T00:00:00Z.

    What lies outside the years 1 to 9999 in UTC (an offset at their edges) becomes the nearest instant inside.
    """
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=min(max(value, _FIRST), _LAST))


def to_text(instant: datetime) -> str:
    """Return `instant` as RFC 3339 in UTC, with a fraction only where there is one."""
    try:
        utc = instant.astimezone(UTC)
    except OverflowError:  # the edges of year 1 and 9999: the offset stays
        return instant.isoformat()
    text = utc.replace(tzinfo=None).isoformat()
    if utc.microsecond:
        text = text.rstrip("0")
    return text + "Z"


def parse_moment(text: str, now: datetime) -> datetime:
    """Return the instant a person means by `text`: RFC 3339, a day (its start in UTC), or `7d`, `12h`, `30m`, `2w` ago.

    Raises InvalidInput `time.invalid`.
    """
    text = text.strip()
    ago = _AGO.fullmatch(text)
    try:
        if ago:
            return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        return parse(f"{text}T00:00:00Z" if _DAY.fullmatch(text) else text)
    except (ValueError, OverflowError):
        from segue.base.redaction import shown

        raise InvalidInput(
            "time.invalid", f"not a time: '{shown(text, 40)}'; give 2026-05-04, 2026-05-04T09:30:00Z or 7d"
        ) from None


def ago(instant: datetime, now: datetime) -> str:
    """Return how long before `now` the `instant` lies: just now, N min ago, N hr ago, N d ago, or its date.

    Buckets of the reference (section 000.4 of the facts); a day or more in the future shows as a date too.
    """
    seconds = (microseconds(now) - microseconds(instant)) // 1_000_000
    if -86_400 < seconds < 60:
        return "just now"
    if 0 <= seconds < 3_600:
        return f"{seconds // 60} min ago"
    if 0 <= seconds < 86_400:
        return f"{seconds // 3_600} hr ago"
    if 0 <= seconds < 7 * 86_400:
        return f"{seconds // 86_400} d ago"
    return to_text(instant)[:10]
