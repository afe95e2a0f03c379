"""The store's own settings: its signing key, its identity, the local scope."""

from __future__ import annotations

import sqlalchemy as sa

from segue.storage.tables import settings


def get(connection: sa.Connection, name: str) -> str | None:
    """Return the value of a setting, None where there is none."""
    value = connection.execute(sa.select(settings.c.value).where(settings.c.name == name)).scalar()
    return None if value is None else str(value)


def put(connection: sa.Connection, name: str, value: str) -> None:
    """Set a setting, replacing its value."""
    connection.execute(sa.delete(settings).where(settings.c.name == name))
    connection.execute(sa.insert(settings).values(name=name, value=value))
