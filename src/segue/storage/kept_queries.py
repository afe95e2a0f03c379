"""Queries whose next page may be asked for: kept for a while, found by a random id (decision M8)."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import TYPE_CHECKING

import sqlalchemy as sa

from segue.base import time
from segue.storage.tables import kept_queries

if TYPE_CHECKING:
    from datetime import datetime

_COLUMNS = kept_queries.c


def keep(
    connection: sa.Connection, scope_id: str, caller: str, body: str, *, now: datetime, lifetime: timedelta
) -> str:
    """Keep a query for a caller and return its id, 32 hex digits. What has expired goes."""
    now_us = time.microseconds(now)
    connection.execute(sa.delete(kept_queries).where(_COLUMNS.scope_id == scope_id, _COLUMNS.expires_us <= now_us))
    kept_id = secrets.token_hex(16)
    connection.execute(
        sa.insert(kept_queries).values(
            scope_id=scope_id,
            id=kept_id,
            caller=caller,
            body=body,
            expires_us=time.microseconds(now) + lifetime // timedelta(microseconds=1),  # at the end of year 9999 too
        )
    )
    return kept_id


def expire(connection: sa.Connection, scope_id: str, *, now: datetime) -> int:
    """Remove the queries of a scope whose time is over; return how many."""
    over = _COLUMNS.scope_id == scope_id, _COLUMNS.expires_us <= time.microseconds(now)
    return connection.execute(sa.delete(kept_queries).where(*over)).rowcount


def expire_all(connection: sa.Connection, now: datetime) -> int:
    """Remove the queries of all scopes whose time is over; return how many."""
    return connection.execute(sa.delete(kept_queries).where(_COLUMNS.expires_us <= time.microseconds(now))).rowcount


def kept(connection: sa.Connection, scope_id: str, caller: str, kept_id: str, *, now: datetime) -> str | None:
    """Return what is kept for a caller under an id, None where there is nothing, or nothing any more."""
    query = sa.select(_COLUMNS.body).where(
        _COLUMNS.scope_id == scope_id,
        _COLUMNS.id == kept_id,
        _COLUMNS.caller == caller,
        _COLUMNS.expires_us > time.microseconds(now),
    )
    return connection.execute(query).scalar()
