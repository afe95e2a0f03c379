"""Rows of tokens. The store knows a token by its SHA-256 alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from segue.base import time
from segue.storage.tables import tokens, users

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

_COLUMNS = tokens.c
_WITH_USER = sa.select(tokens, users.c.display, users.c.ended_us).join(users, users.c.user_id == _COLUMNS.user_id)
_GET = _WITH_USER.where(_COLUMNS.token_hash == sa.bindparam("of_hash"))


@dataclass(frozen=True, slots=True)
class StoredToken:
    """A token as it lies in the store, with its user's name. `id` is short and may be shown; `hash` is in hex."""

    hash: str
    id: str
    user_id: str
    display: str
    name: str
    permissions: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    ended_at: datetime | None = None


def insert(connection: sa.Connection, token: StoredToken) -> None:
    """Add a token; its user exists."""
    connection.execute(
        sa.insert(tokens).values(
            token_hash=token.hash,
            token_id=token.id,
            user_id=token.user_id,
            name=token.name,
            permissions=",".join(token.permissions),
            created_us=time.microseconds(token.created_at),
            expires_us=None if token.expires_at is None else time.microseconds(token.expires_at),
        )
    )


def get(connection: sa.Connection, token_hash: str) -> StoredToken | None:
    """Return the token of that hash, None where there is none."""
    row = connection.execute(_GET, {"of_hash": token_hash}).one_or_none()
    return None if row is None else _token(row)


def listed(connection: sa.Connection, user_id: str | None = None) -> list[StoredToken]:
    """Return all tokens, or those of a user, the oldest first."""
    query = _WITH_USER.order_by(_COLUMNS.created_us, _COLUMNS.token_id)
    if user_id is not None:
        query = query.where(_COLUMNS.user_id == user_id)
    return [_token(row) for row in connection.execute(query)]


def beginning(connection: sa.Connection, prefix: str, user_id: str | None = None) -> list[StoredToken]:
    """Return the tokens, of a user where one is named, whose id begins with `prefix`."""
    query = _WITH_USER.where(_COLUMNS.token_id.startswith(prefix, autoescape=True)).order_by(_COLUMNS.token_id)
    if user_id is not None:
        query = query.where(_COLUMNS.user_id == user_id)
    return [_token(row) for row in connection.execute(query)]


def used(connection: sa.Connection, token_hash: str, now: datetime) -> None:
    """Say when a token was used last."""
    update = sa.update(tokens).where(_COLUMNS.token_hash == token_hash)
    connection.execute(update.values(last_used_us=time.microseconds(now)))


def revoke(connection: sa.Connection, token_hash: str, now: datetime) -> bool:
    """Take a token back; return whether that was still to be done."""
    update = sa.update(tokens).where(_COLUMNS.token_hash == token_hash, _COLUMNS.revoked_us.is_(None))
    return connection.execute(update.values(revoked_us=time.microseconds(now))).rowcount > 0


def revoke_all(connection: sa.Connection, user_id: str, now: datetime) -> int:
    """Take back all tokens of a user; return how many there were to take back."""
    update = sa.update(tokens).where(_COLUMNS.user_id == user_id, _COLUMNS.revoked_us.is_(None))
    return connection.execute(update.values(revoked_us=time.microseconds(now))).rowcount


def revoked(connection: sa.Connection) -> dict[str, int]:
    """Return the hashes of all tokens that were taken back, and when (microseconds)."""
    query = sa.select(_COLUMNS.token_hash, _COLUMNS.revoked_us).where(_COLUMNS.revoked_us.is_not(None))
    return {row.token_hash: row.revoked_us for row in connection.execute(query)}


def revoke_again(connection: sa.Connection, hashes: dict[str, int]) -> None:
    """Take back those of the tokens that are there once more."""
    for token_hash, revoked_us in hashes.items():
        update = sa.update(tokens).where(_COLUMNS.token_hash == token_hash, _COLUMNS.revoked_us.is_(None))
        connection.execute(update.values(revoked_us=revoked_us))


def sweep(connection: sa.Connection, now: datetime) -> int:
    """Delete the tokens that have run out or were taken back; return how many."""
    now_us = time.microseconds(now)
    ended = sa.or_(_COLUMNS.expires_us <= now_us, _COLUMNS.revoked_us <= now_us)
    return connection.execute(sa.delete(tokens).where(ended)).rowcount


def _token(row: sa.Row[Any]) -> StoredToken:
    def moment(value: int | None) -> datetime | None:
        return None if value is None else time.from_microseconds(value)

    permissions: Sequence[str] = row.permissions.split(",")
    return StoredToken(
        hash=row.token_hash,
        id=row.token_id,
        user_id=row.user_id,
        display=row.display,
        name=row.name,
        permissions=tuple(permissions),
        created_at=time.from_microseconds(row.created_us),
        expires_at=moment(row.expires_us),
        revoked_at=moment(row.revoked_us),
        last_used_at=moment(row.last_used_us),
        ended_at=moment(row.ended_us),
    )
