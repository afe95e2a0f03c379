"""Rows of teams and of who belongs to them.

Whoever asks for a team is part of the question: to those who do not belong to it, it is as if it were not there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from segue.base import jsontext, time
from segue.storage import context_sessions
from segue.storage.tables import events, invites, metadata, scopes, team_members, teams, users

if TYPE_CHECKING:
    from datetime import datetime

_TEAMS, _MEMBERS = teams.c, team_members.c
_LIVING = _TEAMS.deleted_us.is_(None)
_OF_USER = (
    sa.select(teams, _MEMBERS.role)
    .join(team_members, _MEMBERS.team_id == _TEAMS.team_id)
    .where(_LIVING, _MEMBERS.user_id == sa.bindparam("of_user"))
)
_NAMED = _OF_USER.where(_TEAMS.name == sa.bindparam("of_name"))


@dataclass(frozen=True, slots=True)
class Team:
    """A team; `redaction` is core, extended or off. `role` is that of who asks: owner, member, "" for neither."""

    id: str
    name: str
    owner_id: str
    redaction: str
    created_at: datetime
    role: str = ""


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody who belongs to a team; `role` is owner or member, `email` "" where none is known."""

    user_id: str
    display: str
    email: str
    role: str
    joined_at: datetime


def insert(connection: sa.Connection, team: Team) -> None:
    """Add a team with its scope and its owner as the first member; its name must be free."""
    created_us = time.microseconds(team.created_at)
    row = {"scope_id": team.id, "kind": "team", "name": team.name, "created_us": created_us}
    connection.execute(sa.insert(scopes).values(row))
    connection.execute(
        sa.insert(teams).values(
            team_id=team.id,
            name=team.name,
            owner_id=team.owner_id,
            redaction=team.redaction,
            created_us=created_us,
        )
    )
    add_member(connection, team.id, team.owner_id, "owner", team.created_at)


def id_of(connection: sa.Connection, name: str) -> str | None:
    """Return the id of the team that has that name, whoever asks; None where there is none, or it was deleted."""
    if "\0" in name or not jsontext.is_unicode(name):
        return None
    return connection.execute(sa.select(_TEAMS.team_id).where(_TEAMS.name == name, _LIVING)).scalar()


def get(connection: sa.Connection, team_id: str, *, lock: bool = False) -> Team | None:
    """Return the team of that id, None where there is none any more; with `lock` nobody else changes it meanwhile."""
    query = sa.select(teams, sa.literal("").label("role")).where(_TEAMS.team_id == team_id, _LIVING)
    row = connection.execute(query.with_for_update(of=teams) if lock else query).one_or_none()
    return None if row is None else _team(row)


def named(connection: sa.Connection, user_id: str, name: str) -> Team | None:
    """Return the team of that name, None where there is none that the user belongs to."""
    row = connection.execute(_NAMED, {"of_user": user_id, "of_name": name}).one_or_none()
    return None if row is None else _team(row)


def of_user(connection: sa.Connection, user_id: str) -> list[Team]:
    """Return the teams that a user belongs to, the oldest first."""
    query = _OF_USER.order_by(_TEAMS.created_us, _TEAMS.team_id)
    return [_team(row) for row in connection.execute(query, {"of_user": user_id})]


def members(connection: sa.Connection, team_id: str) -> list[Member]:
    """Return the members of a team, the oldest first."""
    query = (
        sa.select(team_members, users.c.display, users.c.email)
        .join(users, users.c.user_id == _MEMBERS.user_id)
        .where(_MEMBERS.team_id == team_id)
        .order_by(_MEMBERS.joined_us, _MEMBERS.user_id)
    )
    return [
        Member(row.user_id, row.display, row.email or "", row.role, time.from_microseconds(row.joined_us))
        for row in connection.execute(query)
    ]


def role(connection: sa.Connection, team_id: str, user_id: str) -> str:
    """Return a user's role in a team, "" where the user does not belong to it."""
    return str(connection.execute(sa.select(_MEMBERS.role).where(*_is(team_id, user_id))).scalar() or "")


def add_member(connection: sa.Connection, team_id: str, user_id: str, role: str, now: datetime) -> None:
    """Add somebody who does not belong to the team yet."""
    row = {"team_id": team_id, "user_id": user_id, "role": role, "joined_us": time.microseconds(now)}
    connection.execute(sa.insert(team_members).values(row))


def remove_member(connection: sa.Connection, team_id: str, user_id: str) -> bool:
    """Take somebody out of a team, with what the sessions there knew; return whether it was so."""
    context_sessions.delete_of(connection, team_id, user_id)
    return connection.execute(sa.delete(team_members).where(*_is(team_id, user_id))).rowcount > 0


def set_owner(connection: sa.Connection, team_id: str, owner_id: str) -> None:
    """Make a member the owner of a team, and the owner before a member."""
    mine = _MEMBERS.team_id == team_id
    connection.execute(sa.update(team_members).where(mine, _MEMBERS.role == "owner").values(role="member"))
    connection.execute(sa.update(team_members).where(*_is(team_id, owner_id)).values(role="owner"))
    connection.execute(sa.update(teams).where(_TEAMS.team_id == team_id).values(owner_id=owner_id))


def set_redaction(connection: sa.Connection, team_id: str, redaction: str) -> None:
    """Set what the redactor refuses in a team."""
    connection.execute(sa.update(teams).where(_TEAMS.team_id == team_id).values(redaction=redaction))


def delete(connection: sa.Connection, team_id: str, now: datetime) -> None:
    """Remove a team with all that it holds; what happened stays in the log."""
    update = sa.update(teams).where(_TEAMS.team_id == team_id)
    connection.execute(update.values(deleted_us=time.microseconds(now)))
    connection.execute(sa.delete(team_members).where(_MEMBERS.team_id == team_id))
    connection.execute(sa.delete(invites).where(invites.c.team_id == team_id))
    context_sessions.delete_of(connection, team_id)
    for table in reversed(metadata.sorted_tables):
        if "scope_id" in table.c and table not in (scopes, events):
            connection.execute(sa.delete(table).where(table.c.scope_id == team_id))


def _is(team_id: str, user_id: str) -> tuple[sa.ColumnElement[bool], ...]:
    return _MEMBERS.team_id == team_id, _MEMBERS.user_id == user_id


def _team(row: sa.Row[Any]) -> Team:
    created_at = time.from_microseconds(row.created_us)
    return Team(row.team_id, row.name, row.owner_id, row.redaction, created_at, row.role)
