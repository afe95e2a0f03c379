"""The store's own settings: its signing key, its identity, the local scope."""

from __future__ import annotations

import secrets

import sqlalchemy as sa

from segue.base.errors import Failed
from segue.storage.tables import settings

KEY = "key"
_KEY_BYTES = 32
_GET = sa.select(settings.c.value).where(settings.c.name == sa.bindparam("of_name"))


def get(connection: sa.Connection, name: str) -> str | None:
    """Return the value of a setting, None where there is none."""
    value = connection.execute(_GET, {"of_name": name}).scalar()
    return None if value is None else str(value)


def put(connection: sa.Connection, name: str, value: str) -> None:
    """Set a setting, replacing its value."""
    connection.execute(sa.delete(settings).where(settings.c.name == name))
    connection.execute(sa.insert(settings).values(name=name, value=value))


def signing_key(connection: sa.Connection) -> bytes:
    """Return the key that cursors are signed with. Raises Failed `store.key` where the store has lost it."""
    value = get(connection, KEY) or ""
    try:
        key = bytes.fromhex(value)
    except ValueError:
        key = b""
    if len(key) < _KEY_BYTES:
        raise Failed("store.key", "the store has lost its signing key; run `segue doctor --repair`")
    return key


def make_key(connection: sa.Connection) -> None:
    """Give the store a new signing key; cursors from before do not hold any more."""
    put(connection, KEY, secrets.token_hex(_KEY_BYTES))
