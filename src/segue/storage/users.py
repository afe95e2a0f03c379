"""Rows of users: whoever has, or had, a token. A user's personal scope has the user's id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from segue.base import time
from segue.storage.tables import scopes, users

if TYPE_CHECKING:
    from datetime import datetime

_COLUMNS = users.c


@dataclass(frozen=True, slots=True)
class User:
    """A person, or a program that acts for itself; `email` is "" where none is known. `ended_at`: when it left."""

    id: str
    display: str
    email: str
    created_at: datetime
    ended_at: datetime | None


def insert(connection: sa.Connection, user: User, *, scope: bool = True) -> None:
    """Add a user, with a personal scope unless there is one already."""
    created_us = time.microseconds(user.created_at)
    if scope:
        row = {"scope_id": user.id, "kind": "personal", "name": user.display, "created_us": created_us}
        connection.execute(sa.insert(scopes).values(row))
    connection.execute(
        sa.insert(users).values(
            user_id=user.id, display=user.display, email=user.email or None, created_us=created_us, ended_us=None
        )
    )


def get(connection: sa.Connection, user_id: str) -> User | None:
    """Return the user of that id, None where there is none."""
    return _one(connection, _COLUMNS.user_id == user_id)


def with_email(connection: sa.Connection, email: str) -> User | None:
    """Return the user who has that address, None where nobody has."""
    return _one(connection, _COLUMNS.email == email)


def with_display(connection: sa.Connection, display: str) -> list[User]:
    """Return the users who are shown under that name, the oldest first."""
    query = sa.select(users).where(_COLUMNS.display == display).order_by(_COLUMNS.created_us, _COLUMNS.user_id)
    return [_user(row) for row in connection.execute(query)]


def end(connection: sa.Connection, user_id: str, now: datetime | None) -> None:
    """Say when a user left; None where the user is back."""
    ended_us = None if now is None else time.microseconds(now)
    connection.execute(sa.update(users).where(_COLUMNS.user_id == user_id).values(ended_us=ended_us))


def _one(connection: sa.Connection, condition: sa.ColumnElement[bool]) -> User | None:
    row = connection.execute(sa.select(users).where(condition)).one_or_none()
    return None if row is None else _user(row)


def _user(row: sa.Row[Any]) -> User:
    ended_at = None if row.ended_us is None else time.from_microseconds(row.ended_us)
    return User(row.user_id, row.display, row.email or "", time.from_microseconds(row.created_us), ended_at)
