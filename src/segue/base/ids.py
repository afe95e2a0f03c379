"""Identifiers: ULIDs, and the short form that people type and read."""

from __future__ import annotations

import os
from threading import Lock
from typing import TYPE_CHECKING

from segue.base.time import microseconds

if TYPE_CHECKING:
    from datetime import datetime

LENGTH = 26  # of a ULID
SHORT_LENGTH = 8
_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_RANDOM = 10  # bytes of a ULID that tell no time
_TIME = 10  # characters of a ULID that tell its time
_lock = Lock()
_latest = [""]  # the last one that was made


def new(now: datetime) -> str:
    """Return a fresh ULID (26 characters, Crockford's base 32) whose time is `now` (at least 1970).

    Within a millisecond it sorts after those that this process has made before, by `following` too.
    """
    made = of(now, os.urandom(_RANDOM))
    with _lock:
        latest = _latest[-1]
        return _made(_after(latest) if made[:_TIME] == latest[:_TIME] and made <= latest else made)


def of(instant: datetime, digest: bytes) -> str:
    """Return the ULID of a time (at least 1970) and 80 bits (10 bytes): the same for the same."""
    # By hand: the library for it loads the packaging metadata and the mail parser, 20 ms that hooks do without.
    number = (max(microseconds(instant), 0) // 1000) << 80 | int.from_bytes(digest, "big")
    return "".join(_DIGITS[number >> shift & 31] for shift in range(5 * (LENGTH - 1), -1, -5))


def following(identifier: str) -> str:
    """Return the ULID after `identifier`, so that what is made together sorts in the order it was made in."""
    with _lock:
        return _made(_after(identifier))


def _made(identifier: str) -> str:
    if identifier[:_TIME] != _latest[-1][:_TIME] or identifier > _latest[-1]:
        _latest[:] = [identifier]
    return identifier


def _after(identifier: str) -> str:
    head = identifier.rstrip(_DIGITS[-1])
    digit = _DIGITS[_DIGITS.index(head[-1]) + 1]
    return f"{head[:-1]}{digit}".ljust(len(identifier), _DIGITS[0])


def short(identifier: str) -> str:
    """Return `…` and the last 8 characters, or the identifier itself where it has no more than 8."""
    return identifier if len(identifier) <= SHORT_LENGTH else "…" + identifier[-SHORT_LENGTH:]


def unshortened(text: str) -> str:
    """Return what a person typed for an id, without the `…` that lists print before a short one."""
    return text.strip().removeprefix("…").removeprefix("...")
