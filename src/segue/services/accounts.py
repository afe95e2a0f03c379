"""People and their tokens: who may ask a server at all. A token is told once; the store knows its SHA-256 alone."""

from __future__ import annotations

import contextlib
import hashlib
import re
import secrets
import string
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from segue.base import ids, time
from segue.base.errors import Ambiguous, Failed, InvalidInput, NotFound, Refused
from segue.services.callers import USUAL, Caller, checked_permissions
from segue.services.policies import POLICY_SETTING, checked_policy
from segue.storage import events, invites, packets, publications, scopes, settings, teams, tokens, users
from segue.storage.tokens import StoredToken
from segue.storage.users import User

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    import sqlalchemy as sa

    from segue.storage.database import Database

ROOT = "root"
TOKEN_LENGTH = 48
ID_LENGTH = 12  # hex digits of a token's hash
MAX_NAME = 100
_ALPHABET = string.ascii_letters + string.digits
_TOKEN = re.compile(rf"[A-Za-z0-9]{{{TOKEN_LENGTH}}}", re.ASCII)
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
_MAX_EMAIL = 254
_LEAST_PREFIX = 4
_USED_AGAIN = timedelta(minutes=1)
_LOCK = "tokens"  # whoever changes tokens follows the others, and waits for nobody else


@dataclass(frozen=True, slots=True)
class TokenInfo:
    """What may be told of a token; `state` is active, expired or revoked."""

    id: str
    name: str
    user_id: str
    display: str
    permissions: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    state: str

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue server tokens --json`."""
        moments = ("created_at", "expires_at", "revoked_at", "last_used_at")
        told = {name: getattr(self, name) for name in ("id", "name", "user_id", "display")}
        told |= {"permissions": list(self.permissions), "state": self.state}
        return told | {name: None if (at := getattr(self, name)) is None else time.to_text(at) for name in moments}


@dataclass(frozen=True, slots=True)
class Offboarded:
    """What became of somebody who left: how many tokens, invites and published pages ended, which teams were left.

    `handed_over` are the teams that the person owned, with the id of the new owner; `packets` are the person's own,
    `team_packets` those that the person put into teams.
    """

    user_id: str
    display: str
    tokens: int
    invites: int
    publications: int
    left: tuple[str, ...]
    handed_over: dict[str, str]
    packets: int
    team_packets: int

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue server offboard --json`."""
        return {
            "user_id": self.user_id,
            "display": self.display,
            "tokens": self.tokens,
            "invites": self.invites,
            "publications": self.publications,
            "left": list(self.left),
            "handed_over": self.handed_over,
            "packets": self.packets,
            "team_packets": self.team_packets,
        }


class Accounts:
    """The users of a server and their tokens. `actor` is named in the event log for what an operator does."""

    def __init__(self, database: Database, clock: Callable[[], datetime], *, actor: str = "operator") -> None:
        self._database = database
        self._clock = clock
        self._actor = actor

    # -- operator -----------------------------------------------------------------------------------------------

    def init(self, *, rescan: str = "core") -> str:
        """Make the root user, who is whoever the store's local scope belongs to, and return a token for it, once.

        `rescan` is what the server's own redactor refuses: core, extended or off. Raises Failed `server.initialised`
        where there is a root user, InvalidInput `team.policy`.
        """
        policy = checked_policy(rescan)
        with self._database.write(_LOCK) as connection:
            root = scopes.local_id(connection)
            if users.get(connection, root) is not None:
                raise Failed(
                    "server.initialised",
                    "there is a root user already; `segue server issue-token NAME --user root --permission admin` "
                    "makes another token for it",
                )
            now = self._clock()
            users.insert(connection, User(root, ROOT, "", now, None), scope=False)
            settings.put(connection, POLICY_SETTING, policy)
            return self._minted(connection, root, ROOT, ("admin",), None, now)

    def is_initialised(self) -> bool:
        """Whether there is a root user."""
        with self._database.read() as connection:
            root = settings.get(connection, scopes.SETTING)
            return root is not None and users.get(connection, root) is not None

    def issue(
        self,
        name: str,
        *,
        email: str | None = None,
        user: str | None = None,
        expires: datetime | None = None,
        permissions: tuple[str, ...] = USUAL,
    ) -> str:
        """Return a new token, for the user who has that address, else for a new one who is shown as `name`.

        `user` names one who is there, by id, address or name (`root` too). Somebody who was offboarded is back by
        that. Raises InvalidInput `user.display`, `user.email`, `token.permission`, `token.expires`; NotFound
        `user.not_found`, Ambiguous `user.ambiguous`.
        """
        name, allowed = display_name(name), checked_permissions(permissions)
        address = _address(email) if email is not None else ""
        with self._database.write(_LOCK) as connection:
            now = self._clock()
            if expires is not None and expires <= now:
                raise InvalidInput("token.expires", "that time is over already; name one that is still to come")
            if user is not None:
                found: User | None = find_user(connection, user)
            else:
                found = users.with_email(connection, address) if address else None
            if found is None:
                found = new_user(connection, name, now, email=address, actor=self._actor)
            elif found.ended_at is not None:
                users.end(connection, found.id, None)
                events.append(connection, found.id, "user.returned", found.id, actor=self._actor, now=now)
            return self._minted(connection, found.id, name, allowed, expires, now)

    def _minted(
        self,
        connection: sa.Connection,
        user_id: str,
        name: str,
        permissions: tuple[str, ...],
        expires: datetime | None,
        now: datetime,
    ) -> str:
        return mint(connection, user_id, name, permissions, now, actor=self._actor, expires=expires)

    def tokens(self, user_id: str | None = None) -> tuple[TokenInfo, ...]:
        """Return all tokens, or those of one user, the oldest first."""
        now = self._clock()
        with self._database.read() as connection:
            return tuple(_info(each, now) for each in tokens.listed(connection, user_id))

    def revoke(self, token_id: str, *, caller: Caller | None = None) -> TokenInfo:
        """Take back the token whose id is `token_id`, or begins with it; with `caller` one of that user's alone.

        A token itself does as well, where somebody has found one. A caller whose token may not `admin` takes back
        that token and no other.

        Raises InvalidInput `token.short_id`, NotFound `token.not_found`, Ambiguous `token.ambiguous`, Refused
        `auth.permission`.
        """
        given = token_id.strip()
        prefix = hashed(given)[:ID_LENGTH] if _TOKEN.fullmatch(given) else given.lower()
        if len(prefix) < _LEAST_PREFIX:
            raise InvalidInput("token.short_id", f"give at least {_LEAST_PREFIX} characters of a token's id")
        if caller is not None and not caller.may("admin") and not caller.token_id.startswith(prefix):
            said = "this token takes back itself alone; others are taken back by one that may admin, or by an operator"
            raise Refused("auth.permission", said, {"permission": "admin"})
        user_id = None if caller is None else caller.user_id
        with self._database.write(_LOCK) as connection:
            found = tokens.beginning(connection, prefix, user_id) if _is_hex(prefix) else []
            if not found:
                raise NotFound("token.not_found", "no token has that id; `segue server tokens` lists them")
            if len(found) > 1:
                matches = [each.id for each in found]
                raise Ambiguous("token.ambiguous", f"more than one token begins so: {', '.join(matches[:5])}")
            now, token = self._clock(), found[0]
            if tokens.revoke(connection, token.hash, now):
                events.append(connection, token.user_id, "token.revoked", token.id, actor=self._actor, now=now)
            again = tokens.get(connection, token.hash)
            assert again is not None  # noqa: S101 - one transaction sees one state
            return _info(again, now)

    def offboard(self, user: str) -> Offboarded:
        """End all tokens and memberships of a user, named by id, address or display.

        Invites that the person made and nobody has used are taken back, and so are pages that were published from
        the person's own packets. These packets stay in the person's scope, where nobody else reads them; packets in
        teams stay there. A team that the person owned goes to its oldest other member, else to the root user.
        Raises NotFound `user.not_found`, Ambiguous `user.ambiguous`, Refused `user.root`.
        """
        with self._database.write() as connection:
            found, now = find_user(connection, user), self._clock()
            root = scopes.local_id(connection)
            if found.id == root:
                raise Refused("user.root", "the root user stays; revoke a token of it instead")
            left, handed_over = self._taken_out(connection, found.id, root, now)
            ended = Offboarded(
                found.id,
                found.display,
                tokens.revoke_all(connection, found.id, now),
                invites.revoke_of(connection, found.id, now),
                publications.delete_all(connection, found.id),
                tuple(left),
                handed_over,
                *packets.count_owned(connection, found.id),
            )
            users.end(connection, found.id, now)
            details = {"tokens": ended.tokens, "teams": len(left)}
            events.append(
                connection, found.id, "user.offboarded", found.id, actor=self._actor, now=now, details=details
            )
        return ended

    def _taken_out(
        self, connection: sa.Connection, user_id: str, root: str, now: datetime
    ) -> tuple[list[str], dict[str, str]]:
        left, handed_over = [], {}
        for team in teams.of_user(connection, user_id):
            if team.owner_id == user_id:
                others = [each.user_id for each in teams.members(connection, team.id) if each.user_id != user_id]
                heir = others[0] if others else root
                if not others:
                    _require_root(connection, root, now)
                    teams.add_member(connection, team.id, root, "member", now)
                teams.set_owner(connection, team.id, heir)
                events.append(connection, team.id, "team.handed_over", heir, actor=self._actor, now=now)
                handed_over[team.name] = heir
            teams.remove_member(connection, team.id, user_id)
            events.append(connection, team.id, "member.removed", user_id, actor=self._actor, now=now)
            left.append(team.name)
        return left, handed_over

    # -- callers ------------------------------------------------------------------------------------------------

    def authenticate(self, token: str) -> Caller:
        """Return who asks by a token; when it was used last is written down at most once a minute.

        Raises Refused `auth.missing` (an empty one), `auth.invalid`, `auth.revoked`, `auth.expired`.
        """
        if not token:
            raise Refused("auth.missing", "missing bearer token")
        found = None
        if _TOKEN.fullmatch(token):
            with self._database.read() as connection:
                found = tokens.get(connection, hashed(token))
        if found is None:
            raise Refused("auth.invalid", "invalid token")
        now = self._clock()
        if found.revoked_at is not None or found.ended_at is not None:
            raise Refused("auth.revoked", "this token was revoked")
        if found.expires_at is not None and found.expires_at <= now:
            raise Refused("auth.expired", "this token has expired")
        if found.last_used_at is None or now - found.last_used_at >= _USED_AGAIN:
            self._note_use(found, now)
        return Caller(found.user_id, found.display, frozenset(found.permissions), found.id)

    def _note_use(self, token: StoredToken, now: datetime) -> None:
        # A store that cannot be written just now can still be read.
        with contextlib.suppress(Failed), self._database.write(f"token {token.id}") as connection:
            tokens.used(connection, token.hash, now)


def hashed(secret: str) -> str:
    """Return the SHA-256 of a token or of an invite's code, 64 hex digits: what the store knows of it."""
    return hashlib.sha256(secret.encode()).hexdigest()


def display_name(given: str, default: str = "") -> str:
    """Return the name under which somebody is shown. Raises InvalidInput `user.display`."""
    name = given.strip() or default
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise InvalidInput("user.display", f"a name has 1 to {MAX_NAME} characters, all of them visible")
    return name


def new_user(connection: sa.Connection, display: str, now: datetime, *, actor: str = "", email: str = "") -> User:
    """Add a user with a personal scope and return it; without a `display` it is `invited-` and the end of its id."""
    user_id = ids.new(now)
    user = User(user_id, display or f"invited-{user_id[-6:]}", email, now, None)
    users.insert(connection, user)
    events.append(connection, user_id, "user.created", user_id, actor=actor or user_id, now=now)
    return user


def mint(
    connection: sa.Connection,
    user_id: str,
    name: str,
    permissions: tuple[str, ...],
    now: datetime,
    *,
    actor: str = "",
    expires: datetime | None = None,
) -> str:
    """Make a token for a user and return it; nothing keeps it."""
    token = "".join(secrets.choice(_ALPHABET) for _ in range(TOKEN_LENGTH))
    digest = hashed(token)
    row = StoredToken(digest, digest[:ID_LENGTH], user_id, "", name, permissions, now, expires, None, None)
    tokens.insert(connection, row)
    details = {"permissions": list(permissions), "expires_at": None if expires is None else time.to_text(expires)}
    events.append(connection, user_id, "token.issued", row.id, actor=actor or user_id, now=now, details=details)
    return token


def _require_root(connection: sa.Connection, root: str, now: datetime) -> None:
    if users.get(connection, root) is None:
        users.insert(connection, User(root, ROOT, "", now, None), scope=False)


def find_user(connection: sa.Connection, given: str) -> User:
    """Return the user of that id, address or name; `root` is the root user, whoever else took that name.

    Raises NotFound `user.not_found`, Ambiguous `user.ambiguous`.
    """
    name = given.strip()
    if "\0" in name or not name.isprintable():
        name = ""
    exact = (users.get(connection, name) or users.with_email(connection, name.lower())) if name else None
    if name == ROOT:
        exact = users.get(connection, settings.get(connection, scopes.SETTING) or "") or exact
    found = [exact] if exact else [each for each in users.with_display(connection, name) if each.ended_at is None]
    if not found:
        raise NotFound("user.not_found", "no user has that id, address or name")
    if len(found) > 1:
        listed = ", ".join(each.id for each in found[:5])
        raise Ambiguous("user.ambiguous", f"more than one user has that name; give an id: {listed}")
    return found[0]


def _address(email: str) -> str:
    address = email.strip().lower()
    if len(address) > _MAX_EMAIL or not _EMAIL.fullmatch(address) or not address.isprintable():
        raise InvalidInput("user.email", "that is not an email address")
    return address


def _is_hex(text: str) -> bool:
    return all(each in "0123456789abcdef" for each in text)


def _info(token: StoredToken, now: datetime) -> TokenInfo:
    expired = token.expires_at is not None and token.expires_at <= now
    return TokenInfo(
        id=token.id,
        name=token.name,
        user_id=token.user_id,
        display=token.display,
        permissions=token.permissions,
        created_at=token.created_at,
        expires_at=token.expires_at,
        revoked_at=token.revoked_at,
        last_used_at=token.last_used_at,
        state="revoked" if token.revoked_at is not None else "expired" if expired else "active",
    )
