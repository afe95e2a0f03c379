"""Rows of idempotency keys: what a request was answered, so that it is answered the same when it comes again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import sqlalchemy as sa

from segue.base import time
from segue.storage.tables import idempotency_keys

if TYPE_CHECKING:
    from datetime import datetime

KEPT = timedelta(days=1)
_COLUMNS = idempotency_keys.c


@dataclass(frozen=True, slots=True)
class Kept:
    """A request that came with a key; `status` is 0 and `answer` empty where nobody knows how it ended."""

    body_hash: str
    status: int
    answer: bytes


def get(connection: sa.Connection, user_id: str, key: str, now: datetime) -> Kept | None:
    """Return what is kept under a user's key, None where there is nothing, or nothing any more."""
    fresh = _COLUMNS.created_us > time.microseconds(now - KEPT)
    row = connection.execute(sa.select(idempotency_keys).where(*_is(user_id, key), fresh)).one_or_none()
    return None if row is None else Kept(row.body_hash, row.status or 0, bytes(row.answer or b""))


def begin(connection: sa.Connection, user_id: str, key: str, body_hash: str, now: datetime) -> None:
    """Keep a key whose request is about to be done, in the place of one that is too old."""
    connection.execute(sa.delete(idempotency_keys).where(*_is(user_id, key)))
    row = {"user_id": user_id, "key": key, "body_hash": body_hash, "created_us": time.microseconds(now)}
    connection.execute(sa.insert(idempotency_keys).values(row))


def finish(connection: sa.Connection, user_id: str, key: str, body_hash: str, status: int, answer: bytes) -> None:
    """Keep what the request was answered."""
    update = sa.update(idempotency_keys).where(*_is(user_id, key), _COLUMNS.body_hash == body_hash)
    connection.execute(update.values(status=status, answer=answer))


def sweep(connection: sa.Connection, now: datetime) -> int:
    """Delete the keys that are older than a day; return how many."""
    old = _COLUMNS.created_us <= time.microseconds(now - KEPT)
    return connection.execute(sa.delete(idempotency_keys).where(old)).rowcount


def _is(user_id: str, key: str) -> tuple[sa.ColumnElement[bool], ...]:
    return _COLUMNS.user_id == user_id, _COLUMNS.key == key
