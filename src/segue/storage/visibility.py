"""Which scopes a user may read, and where in them a packet lies: one question for all, whatever there is (H2, H6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from segue.storage import packets as rows
from segue.storage.tables import packets, team_members, teams

if TYPE_CHECKING:
    from segue.storage.packets import StoredPacket

_TEAMS, _MEMBERS, _PACKETS = teams.c, team_members.c, packets.c


@dataclass(frozen=True, slots=True)
class Scope:
    """A scope as a user sees it. `team` is the team's name, "" for the personal one; `redaction` the team's policy.

    `role` is owner or member, "" where the user does not belong to it (any more); of a personal scope it is owner.
    """

    id: str
    team: str = ""
    role: str = "owner"
    redaction: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """A packet where a user finds it."""

    scope: Scope
    packet: StoredPacket


_READABLE = (
    sa.select(_TEAMS.team_id, _TEAMS.name, _TEAMS.redaction, _MEMBERS.role)
    .join(team_members, _MEMBERS.team_id == _TEAMS.team_id)
    .where(_MEMBERS.user_id == sa.bindparam("of_user"), _TEAMS.deleted_us.is_(None))
    .order_by(_TEAMS.name)
)
# Whoever put a packet into a team may take it out, also after having left (facts, section 000.3).
_CREATED_IN = (
    sa.select(_TEAMS.team_id, _TEAMS.name, _TEAMS.redaction, sa.literal("").label("role"))
    .join(packets, _PACKETS.scope_id == _TEAMS.team_id)
    .where(
        _PACKETS.id == sa.bindparam("of_id"),
        _PACKETS.owner_id == sa.bindparam("of_user"),
        _TEAMS.deleted_us.is_(None),
    )
    .order_by(_TEAMS.name)
)


def readable(connection: sa.Connection, user_id: str) -> list[Scope]:
    """Return the scopes that a user may read: the personal one first, then those of teams by name."""
    found = connection.execute(_READABLE, {"of_user": user_id})
    return [Scope(user_id), *(_scope(row) for row in found)]


def find(
    connection: sa.Connection, user_id: str, packet_id: str, team: str | None = None, *, created: bool = False
) -> Seen | None:
    """Return the packet of that exact id in the first scope that has it, or in the team's, None where there is none.

    With `created` also in teams that the user has left and whose packet is the user's, after all others.
    """
    scopes = readable(connection, user_id)
    if created:
        known = {each.id for each in scopes}
        rows_found = connection.execute(_CREATED_IN, {"of_user": user_id, "of_id": packet_id})
        scopes += [scope for row in rows_found if (scope := _scope(row)).id not in known]
    if team is not None:
        scopes = [each for each in scopes if each.team == team]
    query = sa.select(_PACKETS.scope_id).where(
        _PACKETS.scope_id.in_([each.id for each in scopes]), _PACKETS.id == packet_id
    )
    there = set(connection.execute(query).scalars())
    first = next((each for each in scopes if each.id in there), None)
    packet = rows.get(connection, first.id, packet_id) if first else None
    return Seen(first, packet) if first and packet else None


def _scope(row: Any) -> Scope:
    return Scope(row.team_id, row.name, row.role, row.redaction)
