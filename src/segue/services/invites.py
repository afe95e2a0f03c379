"""Invites: how somebody comes into a team. Each is good once, for a week; its code is told once."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from segue.base import ids, time
from segue.base.errors import Gone, NotFound, Refused
from segue.services.accounts import display_name, hashed, mint, new_user
from segue.services.callers import USUAL
from segue.services.teams import require_team
from segue.storage import events
from segue.storage import invites as rows
from segue.storage import teams as team_rows
from segue.storage import users as user_rows
from segue.storage.invites import StoredInvite

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    import sqlalchemy as sa

    from segue.services.callers import Caller
    from segue.storage.database import Database
    from segue.storage.teams import Team
    from segue.storage.users import User

LIFETIME = timedelta(days=7)
_CODE_BYTES = 24
_CODE = re.compile(rf"[0-9a-f]{{{2 * _CODE_BYTES}}}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Invite:
    """A new invite. Nothing keeps `code`, 48 hex digits: whoever has it comes into the team."""

    id: str
    code: str = field(repr=False)
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class InviteInfo:
    """What may be told of an invite; `state` is open, consumed, expired or revoked."""

    id: str
    created_by: str
    created_at: datetime
    expires_at: datetime
    consumed_at: datetime | None
    consumed_by: str
    revoked_at: datetime | None
    state: str

    def to_json(self) -> dict[str, Any]:
        """Return the invite as JSON values."""
        moments = ("created_at", "expires_at", "consumed_at", "revoked_at")
        told: dict[str, Any] = {"id": self.id, "state": self.state, "created_by": self.created_by}
        told |= {name: None if (at := getattr(self, name)) is None else time.to_text(at) for name in moments}
        return told | {"consumed_by": self.consumed_by or None}


@dataclass(frozen=True, slots=True)
class Accepted:
    """Who came into which team; `token` is None for somebody who had one."""

    user: User
    team: Team
    token: str | None = field(repr=False)


class Invites:
    """The invites of a server's teams."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def create(self, caller: Caller, team: str) -> Invite:
        """Make an invite into a team that the caller belongs to. Raises NotFound `team.not_found`."""
        caller.require("write")
        with self._database.read() as connection:
            team_id = require_team(connection, caller, team).id
        with self._database.write(team_id) as connection:
            found, now = require_team(connection, caller, team), self._clock()
            code = secrets.token_hex(_CODE_BYTES)
            stored = StoredInvite(hashed(code), ids.new(now), found.id, caller.user_id, now, now + LIFETIME)
            rows.insert(connection, stored)
            details = {"expires_at": time.to_text(stored.expires_at)}
            events.append(
                connection, found.id, "invite.created", stored.id, actor=caller.user_id, now=now, details=details
            )
        return Invite(stored.id, code, stored.expires_at)

    def ls(self, caller: Caller, team: str) -> tuple[InviteInfo, ...]:
        """Return the invites of a team, the oldest first. Raises NotFound `team.not_found`."""
        caller.require("read")
        now = self._clock()
        with self._database.read() as connection:
            found = rows.listed(connection, require_team(connection, caller, team).id)
        return tuple(_info(each, now) for each in found)

    def revoke(self, caller: Caller, team: str, invite_id: str) -> None:
        """Take an invite back: whoever made it, or the team's owner. One that nobody can use any more stays as it is.

        Raises NotFound `team.not_found`, `invite.not_found`; Refused `invite.not_yours`.
        """
        caller.require("write")
        with self._database.read() as connection:
            team_id = require_team(connection, caller, team).id
        with self._database.write(team_id) as connection:
            found = require_team(connection, caller, team)
            invite = next((each for each in rows.listed(connection, found.id) if each.id == invite_id), None)
            if invite is None:
                raise NotFound("invite.not_found", "the team has no such invite")
            if caller.user_id not in (invite.created_by, found.owner_id):
                raise Refused("invite.not_yours", "only whoever made an invite, or the team's owner, takes it back")
            now = self._clock()
            if rows.revoke(connection, found.id, invite_id, now):
                events.append(connection, found.id, "invite.revoked", invite_id, actor=caller.user_id, now=now)

    def accept(self, code: str, caller: Caller | None = None, display: str = "") -> Accepted:
        """Come into the team of an invite; without a caller as a new user, who gets a token.

        All of it is one transaction, and an invite is good once. Somebody who belongs to the team already does not
        use it up. Raises Gone `invite.gone` for one that ran out, was used or taken back, or never was; InvalidInput
        `user.display`.
        """
        if caller is not None:
            caller.require("write")
        name = display_name(display) if display.strip() else ""
        digest = hashed(code) if _CODE.fullmatch(code) else ""
        with self._database.read() as connection:
            found = rows.get(connection, digest)
        if found is None:
            raise _gone()
        with self._database.write(found.team_id) as connection:
            return self._accept(connection, digest, caller, name)

    def _accept(self, connection: sa.Connection, digest: str, caller: Caller | None, name: str) -> Accepted:
        now = self._clock()
        invite = rows.get(connection, digest, lock=True)
        team = team_rows.get(connection, invite.team_id, lock=True) if invite else None
        if invite is None or team is None:
            raise _gone()
        belongs = caller is not None and bool(team_rows.role(connection, team.id, caller.user_id))
        if caller is not None and belongs and (invite.is_open(now) or invite.consumed_by == caller.user_id):
            return Accepted(_user(connection, caller.user_id), team, None)
        if not invite.is_open(now):
            raise _gone()
        user = new_user(connection, name, now) if caller is None else _user(connection, caller.user_id)
        if not rows.consume(connection, digest, user.id, now):
            raise _gone()
        team_rows.add_member(connection, team.id, user.id, "member", now)
        events.append(connection, team.id, "invite.accepted", invite.id, actor=user.id, now=now)
        events.append(connection, team.id, "member.joined", user.id, actor=user.id, now=now)
        token = mint(connection, user.id, user.display, USUAL, now) if caller is None else None
        return Accepted(user, team, token)


def _user(connection: sa.Connection, user_id: str) -> User:
    found = user_rows.get(connection, user_id)
    if found is None or found.ended_at is not None:
        raise Refused("auth.revoked", "this token was revoked")
    return found


def _gone() -> Gone:
    return Gone("invite.gone", "invite expired or already consumed")


def _info(invite: StoredInvite, now: datetime) -> InviteInfo:
    if invite.consumed_at is not None:
        state = "consumed"
    elif invite.revoked_at is not None:
        state = "revoked"
    else:
        state = "open" if invite.is_open(now) else "expired"
    return InviteInfo(
        id=invite.id,
        created_by=invite.created_by,
        created_at=invite.created_at,
        expires_at=invite.expires_at,
        consumed_at=invite.consumed_at,
        consumed_by=invite.consumed_by,
        revoked_at=invite.revoked_at,
        state=state,
    )
