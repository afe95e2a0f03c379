"""Rows of invites. The store knows a code by its SHA-256 alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from segue.base import time
from segue.storage.tables import invites

if TYPE_CHECKING:
    from datetime import datetime

_COLUMNS = invites.c


@dataclass(frozen=True, slots=True)
class StoredInvite:
    """An invite as it lies in the store. `consumed_by` is the user who came by it, "" for nobody."""

    code_hash: str
    id: str
    team_id: str
    created_by: str
    created_at: datetime
    expires_at: datetime
    consumed_at: datetime | None = None
    consumed_by: str = ""
    revoked_at: datetime | None = None

    def is_open(self, now: datetime) -> bool:
        """Whether somebody can still come by it."""
        return self.consumed_at is None and self.revoked_at is None and now < self.expires_at


def insert(connection: sa.Connection, invite: StoredInvite) -> None:
    """Add an invite."""
    connection.execute(
        sa.insert(invites).values(
            code_hash=invite.code_hash,
            invite_id=invite.id,
            team_id=invite.team_id,
            created_by=invite.created_by,
            created_us=time.microseconds(invite.created_at),
            expires_us=time.microseconds(invite.expires_at),
        )
    )


def get(connection: sa.Connection, code_hash: str, *, lock: bool = False) -> StoredInvite | None:
    """Return the invite with that hash, None where there is none; with `lock` nobody else takes it meanwhile."""
    query = sa.select(invites).where(_COLUMNS.code_hash == code_hash)
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    return None if row is None else _invite(row)


def listed(connection: sa.Connection, team_id: str) -> list[StoredInvite]:
    """Return the invites of a team, the oldest first."""
    query = sa.select(invites).where(_COLUMNS.team_id == team_id).order_by(_COLUMNS.created_us, _COLUMNS.invite_id)
    return [_invite(row) for row in connection.execute(query)]


def consume(connection: sa.Connection, code_hash: str, user_id: str, now: datetime) -> bool:
    """Use an invite up for a user; return whether it was still to be had."""
    update = sa.update(invites).where(_COLUMNS.code_hash == code_hash, *_UNUSED)
    return connection.execute(update.values(consumed_us=time.microseconds(now), consumed_by=user_id)).rowcount > 0


def revoke(connection: sa.Connection, team_id: str, invite_id: str, now: datetime) -> bool:
    """Take an invite back; return whether it was still to be had."""
    update = sa.update(invites).where(_COLUMNS.team_id == team_id, _COLUMNS.invite_id == invite_id, *_UNUSED)
    return connection.execute(update.values(revoked_us=time.microseconds(now))).rowcount > 0


def revoke_of(connection: sa.Connection, user_id: str, now: datetime, team_id: str | None = None) -> int:
    """Take back what a user made, in one team or in all, and nobody has used; return how many."""
    update = sa.update(invites).where(_COLUMNS.created_by == user_id, *_UNUSED)
    if team_id is not None:
        update = update.where(_COLUMNS.team_id == team_id)
    return connection.execute(update.values(revoked_us=time.microseconds(now))).rowcount


def ended(connection: sa.Connection) -> dict[str, int]:
    """Return the hashes of all codes that were used or taken back, and when (microseconds)."""
    at_us = sa.func.coalesce(_COLUMNS.revoked_us, _COLUMNS.consumed_us)
    query = sa.select(_COLUMNS.code_hash, at_us.label("at_us")).where(at_us.is_not(None))
    return {row.code_hash: row.at_us for row in connection.execute(query)}


def revoke_again(connection: sa.Connection, hashes: dict[str, int]) -> None:
    """Take back those of the invites that are to be had once more."""
    for code_hash, ended_us in hashes.items():
        update = sa.update(invites).where(_COLUMNS.code_hash == code_hash, *_UNUSED)
        connection.execute(update.values(revoked_us=ended_us))


def sweep(connection: sa.Connection, now: datetime) -> int:
    """Delete the invites that have run out; return how many."""
    return connection.execute(sa.delete(invites).where(_COLUMNS.expires_us <= time.microseconds(now))).rowcount


_UNUSED = (_COLUMNS.consumed_us.is_(None), _COLUMNS.revoked_us.is_(None))


def _invite(row: sa.Row[Any]) -> StoredInvite:
    def moment(value: int | None) -> datetime | None:
        return None if value is None else time.from_microseconds(value)

    return StoredInvite(
        code_hash=row.code_hash,
        id=row.invite_id,
        team_id=row.team_id,
        created_by=row.created_by,
        created_at=time.from_microseconds(row.created_us),
        expires_at=time.from_microseconds(row.expires_us),
        consumed_at=moment(row.consumed_us),
        consumed_by=row.consumed_by or "",
        revoked_at=moment(row.revoked_us),
    )
