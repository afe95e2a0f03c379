"""Rows of rates: how often something was done within a minute, counted across all processes of a server."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from segue.base import time
from segue.storage.tables import rate_windows

if TYPE_CHECKING:
    from datetime import datetime

WINDOW = timedelta(minutes=1)
_WINDOW_US = WINDOW // timedelta(microseconds=1)
_COLUMNS = rate_windows.c


def window_us(now: datetime) -> int:
    """Return when the minute that `now` lies in began, in microseconds."""
    return time.microseconds(now) // _WINDOW_US * _WINDOW_US


def count(connection: sa.Connection, subject: str, now: datetime, by: int = 1) -> int:
    """Count `by` more of a subject in this minute and return how many there are then."""
    window = window_us(now)
    insert = (postgresql if connection.dialect.name == "postgresql" else sqlite).insert(rate_windows)
    statement = insert.values(subject=subject, window_us=window, count=by)
    counted = statement.on_conflict_do_update(
        index_elements=[_COLUMNS.subject, _COLUMNS.window_us], set_={"count": _COLUMNS.count + by}
    ).returning(_COLUMNS.count)
    return int(connection.execute(counted).scalar_one())


def sweep(connection: sa.Connection, now: datetime) -> int:
    """Delete the windows of minutes that are over; return how many."""
    return connection.execute(sa.delete(rate_windows).where(_COLUMNS.window_us < window_us(now))).rowcount
