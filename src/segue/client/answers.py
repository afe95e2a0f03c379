"""What a host answers, as values. What a host sends is checked here, and nowhere trusted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from segue.client.wire import unexpected

if TYPE_CHECKING:
    from collections.abc import Mapping

_MAX_TEXT = 4_096
_MAX_LABEL = 64
_MAX_ETAG = 200


@dataclass(frozen=True, slots=True)
class PacketLine:
    """A packet in a host's list; `etag` tells its version, "" where the host's lists do not."""

    id: str
    created_at: str
    goal: str
    etag: str = ""


@dataclass(frozen=True, slots=True)
class PacketPage:
    """Part of a host's list, newest first; `cursor` continues it, None at its end."""

    packets: tuple[PacketLine, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class PacketList:
    """All that a host lists, by id. Where it is not `complete`, what it lacks may lie on the host all the same."""

    packets: dict[str, PacketLine]
    complete: bool


@dataclass(frozen=True, slots=True)
class RemoteUser:
    """Whose token it is; `permissions` are some of read, propose, write and admin."""

    id: str
    display: str
    permissions: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the user as JSON values."""
        return {"id": self.id, "display": self.display, "permissions": list(self.permissions)}


@dataclass(frozen=True, slots=True)
class Fetched:
    """A packet's bytes as a host sent them, its version, and where it is published ("" for nowhere)."""

    body: bytes = field(repr=False)
    etag: str
    public_url: str


@dataclass(frozen=True, slots=True)
class Stored:
    """A packet that a host has taken: its id, and the version that it has there ("" where the host does not tell)."""

    id: str
    etag: str


@dataclass(frozen=True, slots=True)
class RemoteTeam:
    """A team of a host that the token's user belongs to."""

    id: str
    name: str
    owner_id: str
    created_at: str

    def to_json(self) -> dict[str, Any]:
        """Return the shape of the contract."""
        return {"id": self.id, "name": self.name, "owner_id": self.owner_id, "created_at": self.created_at}


@dataclass(frozen=True, slots=True)
class RemoteMember:
    """A member of a team; `role` is owner or member."""

    user_id: str
    display: str
    role: str
    joined_at: str
    email: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the shape of the contract."""
        told = {"user_id": self.user_id, "display": self.display, "role": self.role, "joined_at": self.joined_at}
        return told | ({"email": self.email} if self.email else {})


@dataclass(frozen=True, slots=True)
class NewInvite:
    """An invite that was just made: whoever has `url` comes into the team, once."""

    url: str
    expires_at: str


@dataclass(frozen=True, slots=True)
class InviteLine:
    """What is told of an invite later; `state` is open, consumed, expired or revoked."""

    id: str
    state: str
    created_by: str
    expires_at: str

    def to_json(self) -> dict[str, Any]:
        """Return the invite as JSON values."""
        return {"id": self.id, "state": self.state, "created_by": self.created_by, "expires_at": self.expires_at}


@dataclass(frozen=True, slots=True)
class Joined:
    """Who came into which team; `token` is that of a user who was made for it, None for one who had a token."""

    user_id: str
    display: str
    team: str
    token: str | None = field(repr=False)


def text(document: Mapping[str, Any], name: str) -> str:
    """Return a member that must be a text. Raises Failed `host.answer`."""
    value = document.get(name)
    if not isinstance(value, str) or not value or len(value) > _MAX_TEXT:
        raise unexpected()
    return value


def label(document: Mapping[str, Any], name: str) -> str:
    """Return a member that must be a name or an id: of 64 characters at most that can be shown.

    Raises Failed `host.answer`.
    """
    value = text(document, name)
    if len(value) > _MAX_LABEL or not value.isprintable():
        raise unexpected()
    return value


def etag(given: object) -> str:
    """Return an etag, "" for what is none that could be kept."""
    fits = isinstance(given, str) and len(given) <= _MAX_ETAG and given.isprintable() and given.isascii()
    return str(given) if fits else ""


def optional(document: Mapping[str, Any], name: str) -> str:
    """Return a member that may lack or be null, "" then. Raises Failed `host.answer`."""
    return "" if document.get(name) in (None, "") else text(document, name)


def members(document: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Return a member that must be a list of objects. Raises Failed `host.answer`."""
    value = document.get(name)
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise unexpected()
    return value


def member(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a member that must be an object. Raises Failed `host.answer`."""
    value = document.get(name)
    if not isinstance(value, dict):
        raise unexpected()
    return value
