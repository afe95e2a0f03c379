"""Teams: who shares packets and memories with whom.

To those who do not belong to it, a team is as if it were not there: the same question, the same answer.
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

from segue.base import ids
from segue.base.errors import Conflict, InvalidInput, NotFound, Refused
from segue.services.policies import checked_policy, server_policy
from segue.storage import events, invites
from segue.storage import teams as rows
from segue.storage.teams import Member, Team

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    import sqlalchemy as sa

    from segue.services.callers import Caller
    from segue.storage.database import Database

__all__ = ["Member", "Team", "Teams", "require_team", "team_not_found"]

_MAX_ID = 64
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}", re.ASCII)


class Teams:
    """The teams of a server, as callers see them."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def create(self, caller: Caller, name: str) -> Team:
        """Make a team that the caller owns.

        Raises InvalidInput `team.name`, Conflict `team.exists` where one has that name (decision H6).
        """
        caller.require("write")
        name = name.strip()
        if not _NAME.fullmatch(name):
            raise InvalidInput(
                "team.name",
                "a team's name begins with a lower-case letter or digit and has up to 40 of these, _ and -",
            )
        with self._database.write(f"team {name}") as connection:
            if rows.id_of(connection, name) is not None:
                raise Conflict("team.exists", "that name is taken; name the team otherwise")
            now = self._clock()
            team = Team(ids.new(now), name, caller.user_id, server_policy(connection), now, "owner")
            rows.insert(connection, team)
            events.append(connection, team.id, "team.created", team.id, actor=caller.user_id, now=now)
        return team

    def ls(self, caller: Caller) -> tuple[Team, ...]:
        """Return the teams that the caller belongs to, the oldest first."""
        caller.require("read")
        with self._database.read() as connection:
            return tuple(rows.of_user(connection, caller.user_id))

    def get(self, caller: Caller, name: str) -> Team:
        """Return a team. Raises NotFound `team.not_found` where there is none that the caller belongs to."""
        caller.require("read")
        with self._database.read() as connection:
            return require_team(connection, caller, name)

    def members(self, caller: Caller, name: str) -> tuple[Member, ...]:
        """Return the members of a team, the oldest first. Raises NotFound `team.not_found`."""
        caller.require("read")
        with self._database.read() as connection:
            return tuple(rows.members(connection, require_team(connection, caller, name).id))

    def rm(self, caller: Caller, name: str) -> None:
        """Delete a team with its packets, memories, members and invites.

        Raises NotFound `team.not_found`, Refused `team.not_owner`.
        """
        with self._owned(caller, name) as (connection, team):
            now = self._clock()
            rows.delete(connection, team.id, now)
            events.append(connection, team.id, "team.deleted", team.id, actor=caller.user_id, now=now)

    def remove(self, caller: Caller, name: str, user_id: str) -> None:
        """Take a member out of a team; invites that the member made and nobody has used are taken back.

        Raises NotFound `team.not_found`, `team.not_member`; Refused `team.not_owner`; InvalidInput `team.owner_stays`.
        """
        with self._owned(caller, name) as (connection, team):
            if user_id == team.owner_id:
                raise InvalidInput("team.owner_stays", "the owner cannot be removed; hand the team over first")
            if not _is_id(user_id) or not rows.remove_member(connection, team.id, user_id):
                raise NotFound("team.not_member", "not a member")
            self._gone(connection, caller, team, user_id)

    def leave(self, caller: Caller, name: str) -> None:
        """Leave a team. Raises NotFound `team.not_found`, InvalidInput `team.owner_stays`."""
        caller.require("write")
        with self._changing(caller, name) as (connection, team):
            if team.owner_id == caller.user_id:
                raise InvalidInput("team.owner_stays", "the owner cannot leave; hand the team over, or delete it")
            rows.remove_member(connection, team.id, caller.user_id)
            self._gone(connection, caller, team, caller.user_id)

    def _gone(self, connection: sa.Connection, caller: Caller, team: Team, user_id: str) -> None:
        now = self._clock()
        taken_back = invites.revoke_of(connection, user_id, now, team.id)
        events.append(
            connection,
            team.id,
            "member.left" if user_id == caller.user_id else "member.removed",
            user_id,
            actor=caller.user_id,
            now=now,
            details={"invites": taken_back},
        )

    def hand_over(self, caller: Caller, name: str, user_id: str) -> Team:
        """Make another member the owner; who was it stays a member.

        Raises NotFound `team.not_found`, `team.not_member`; Refused `team.not_owner`.
        """
        with self._owned(caller, name) as (connection, team):
            if not _is_id(user_id) or not rows.role(connection, team.id, user_id):
                raise NotFound("team.not_member", "not a member")
            rows.set_owner(connection, team.id, user_id)
            now = self._clock()
            events.append(connection, team.id, "team.handed_over", user_id, actor=caller.user_id, now=now)
            return require_team(connection, caller, name)

    def set_policy(self, caller: Caller, name: str, policy: str) -> Team:
        """Say what the server's own redactor refuses in a team: the core set, the extended one too, or nothing (off).

        Raises NotFound `team.not_found`, Refused `team.not_owner`, InvalidInput `team.policy`.
        """
        checked_policy(policy)
        with self._owned(caller, name) as (connection, team):
            rows.set_redaction(connection, team.id, policy)
            details, now = {"redaction": policy}, self._clock()
            events.append(connection, team.id, "team.policy", team.id, actor=caller.user_id, now=now, details=details)
            return require_team(connection, caller, name)

    @contextlib.contextmanager
    def _owned(self, caller: Caller, name: str) -> Iterator[tuple[sa.Connection, Team]]:
        caller.require("write")
        with self._changing(caller, name) as (connection, team):
            if team.owner_id != caller.user_id:
                raise Refused("team.not_owner", "only the team's owner may do that")
            yield connection, team

    @contextlib.contextmanager
    def _changing(self, caller: Caller, name: str) -> Iterator[tuple[sa.Connection, Team]]:
        """Yield a transaction that has the team for itself."""
        with self._database.read() as connection:
            found = require_team(connection, caller, name)
        with self._database.write(found.id) as connection:
            team = require_team(connection, caller, name)
            if team.id != found.id:  # deleted, and another made under its name, between the two
                raise team_not_found()
            yield connection, team


def require_team(connection: sa.Connection, caller: Caller, name: str) -> Team:
    """Return the team of that name. Raises NotFound `team.not_found` where there is none that the caller belongs to."""
    # What is no name is asked for all the same, as a name that no team has: one way for all.
    team = rows.named(connection, caller.user_id, name if _NAME.fullmatch(name) else "")
    if team is None:
        raise team_not_found()
    return team


def team_not_found() -> NotFound:
    """Return the one answer for a team that is missing and for one that the caller does not belong to."""
    return NotFound("team.not_found", "team not found")


def _is_id(text: str) -> bool:
    return len(text) <= _MAX_ID and text.isprintable()
