"""A conversation as its client names it, and how long what it was told is kept."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from segue.base import jsontext, time
from segue.base.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from segue.context.delta import Served
    from segue.context.working_set import State

MAX_ID = 80  # characters
KEPT = timedelta(days=30)  # without use


def is_id(session_id: object) -> bool:
    """Whether a client may name a session so: 1 to 80 characters of Unicode text without NUL."""
    if not isinstance(session_id, str) or not 1 <= len(session_id) <= MAX_ID:
        return False
    return "\0" not in session_id and jsontext.is_unicode(session_id)


def require_id(session_id: str) -> None:
    """Raise InvalidInput `session.id` unless a client may name a session so."""
    if not is_id(session_id):
        raise InvalidInput("session.id", f"name a session with 1 to {MAX_ID} characters of Unicode text without NUL")


def oldest(now: datetime) -> int:
    """Return the time of last use, in microseconds since 1970, of the oldest session that is kept."""
    return time.microseconds(now) - KEPT // timedelta(microseconds=1)


def asked_about(state: State, served: Sequence[Served], since: int | None) -> set[str]:
    """Return the memories whose fate matters: known, served, and, where it is told again, replaced before."""
    asked = {*state.known, *(each.ref for each in served)}
    if since is not None:
        asked.update(one.ref for each in state.log for one in each.superseded)
    return asked
