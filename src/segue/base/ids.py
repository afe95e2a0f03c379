"""Identifiers: ULIDs, and the short form that people type and read."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from segue.base.time import microseconds

if TYPE_CHECKING:
    from datetime import datetime

SHORT_LENGTH = 8
_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def new(now: datetime) -> str:
    """Return a fresh ULID (26 characters, Crockford's base 32) whose time is `now` (at least 1970)."""
    from ulid import (
        ULID,  # it loads the packaging metadata and the mail parser: 20 ms that most commands can do without
    )

    return str(ULID.from_timestamp(max(microseconds(now), 0) / 1_000_000))


def first(now: datetime) -> str:
    """Return a ULID with chance of its own, for the first of many: `new` counts on within a millisecond.

    So what `following` makes of it meets none of those that `new` gives, however the clock stands.
    """
    from ulid import ULID

    milliseconds = max(microseconds(now), 0) // 1_000
    chance = secrets.randbits(79)  # the highest bit is free for those that follow
    return str(ULID.from_bytes(milliseconds.to_bytes(6, "big") + chance.to_bytes(10, "big")))


def following(identifier: str) -> str:
    """Return the ULID after `identifier`, so that what is made together sorts in the order it was made in."""
    head = identifier.rstrip(_DIGITS[-1])
    digit = _DIGITS[_DIGITS.index(head[-1]) + 1]
    return f"{head[:-1]}{digit}".ljust(len(identifier), _DIGITS[0])


def short(identifier: str) -> str:
    """Return `…` and the last 8 characters, or the identifier itself where it has no more than 8."""
    return identifier if len(identifier) <= SHORT_LENGTH else "…" + identifier[-SHORT_LENGTH:]


def unshortened(text: str) -> str:
    """Return what a person typed for an id, without the `…` that lists print before a short one."""
    return text.strip().removeprefix("…").removeprefix("...")
