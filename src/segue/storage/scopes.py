"""Scopes: whose rows these are. An embedded store has one, the local user's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from segue.base import ids, time
from segue.base.errors import Failed
from segue.storage import settings
from segue.storage.tables import scopes

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from segue.storage.database import Database

SETTING = "local_scope"


def local(database: Database, clock: Callable[[], datetime]) -> str:
    """Return the id of the local user's scope; the first call in a store makes it."""
    with database.read() as connection:
        scope_id = settings.get(connection, SETTING)
    if scope_id is not None:
        return scope_id
    with database.write() as connection:
        return settings.get(connection, SETTING) or _make_local(connection, clock())


def local_id(connection: sa.Connection) -> str:
    """Return the id of the local user's scope. Raises Failed `store.corrupt` where the store has lost it."""
    scope_id = settings.get(connection, SETTING)
    if scope_id is None:
        raise Failed("store.corrupt", "the store has lost its local scope; restore a backup")
    return scope_id


def _make_local(connection: sa.Connection, now: datetime) -> str:
    scope_id = ids.new(now)
    made = time.microseconds(now)
    connection.execute(sa.insert(scopes).values(scope_id=scope_id, kind="personal", name="local", created_us=made))
    settings.put(connection, SETTING, scope_id)
    return scope_id


def exists(connection: sa.Connection, scope_id: str) -> bool:
    """Whether there is a scope with that id."""
    return connection.execute(sa.select(scopes.c.scope_id).where(scopes.c.scope_id == scope_id)).first() is not None
