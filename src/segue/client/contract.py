"""The contract of a packet server: each route a method (facts, 000.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import quote

from segue.base import jsontext
from segue.base.errors import NotFound, Refused
from segue.client import answers
from segue.client.answers import (
    Fetched,
    InviteLine,
    Joined,
    NewInvite,
    PacketLine,
    PacketList,
    PacketPage,
    RemoteMember,
    RemoteTeam,
    RemoteUser,
    Stored,
)
from segue.client.wire import TIMEOUT_SECONDS, Unavailable, Wire, unexpected

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx2

PAGE = 500  # as many lines a host lists at once
MEMORY_PAGE = 200  # memories, which are longer
_HELD = ["active", "retired"]
_MOST_PAGES = 2_000
_PATIENCE = 3
_LONGEST_PATIENCE = 90  # seconds

_T = TypeVar("_T")


class PacketServer:
    """A host, as the user of one token sees it. Close it, or use it as a context manager.

    `address` is checked and brought into its one spelling (see `addresses`); the token goes to that host alone.
    Every method raises what `wire.Wire.send` raises.
    """

    def __init__(
        self,
        address: str,
        token: str | None = None,
        *,
        timeout: float = TIMEOUT_SECONDS,
        transport: httpx2.BaseTransport | None = None,
        pause: Callable[[float], None] | None = None,
    ) -> None:
        options: dict[str, Any] = {} if pause is None else {"pause": pause}
        self._wire = Wire(address, token, timeout=timeout, transport=transport, **options)

    @property
    def address(self) -> str:
        """The host's address, in its one spelling."""
        return self._wire.address

    @property
    def account(self) -> str:
        """What tells the token's user from those of other tokens, "" without a token."""
        return self._wire.account

    def patiently(self, call: Callable[[], _T]) -> _T:
        """Return what `call` does with this host, waiting where it is too busy: for work in many requests.

        Raises what `call` raises, Unavailable only where the host stays busy, or asks for more than 90 seconds.
        """
        for _ in range(_PATIENCE):
            try:
                return call()
            except Unavailable as error:
                if not 0 < error.retry_after <= _LONGEST_PATIENCE:
                    raise
                self._wire.wait(error.retry_after)
        return call()

    def close(self) -> None:
        """Close the connection."""
        self._wire.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"PacketServer({self.address!r})"

    def verify(self) -> None:
        """Make sure that this is a packet server and that it takes the token: it is well, and a list is answered.

        Raises also Failed `host.answer` for a server of another kind.
        """
        if self._wire.get("/v1/healthz").document().get("ok") is not True:
            raise unexpected()
        self.ls(limit=1)

    def whoami(self) -> RemoteUser | None:
        """Return whose token it is, None where the host does not tell."""
        try:
            document = self._wire.get("/v1/whoami").document()
        except (NotFound, Refused) as error:
            if error.code.startswith("auth."):
                raise
            return None
        user, allowed = answers.member(document, "user"), document.get("permissions")
        permissions = tuple(map(str, allowed)) if isinstance(allowed, list) else ()
        return RemoteUser(answers.text(user, "id"), answers.optional(user, "display"), permissions)

    # -- packets ------------------------------------------------------------------------------------------------

    def ls(self, *, team: str | None = None, limit: int = 50, cursor: str | None = None) -> PacketPage:
        """Return packets of the user, or of a team, newest first."""
        return self._page(team, limit, cursor)

    def _page(self, team: str | None, limit: int, cursor: str | None, *, etags: bool = False) -> PacketPage:
        given = {"limit": str(limit), "team": team, "cursor": cursor, "etags": "true" if etags else None}
        document = self._wire.get("/v1/packets", _present(given)).document()
        lines = tuple(_line(each) for each in answers.members(document, "packets"))
        return PacketPage(lines, answers.optional(document, "cursor") or None)

    def all_packets(self, *, team: str | None = None) -> PacketList:
        """Return all that the list has. Raises also Failed `host.answer` for a list without end."""
        found: dict[str, PacketLine] = {}
        cursor = None
        for _ in range(_MOST_PAGES):
            asked = cursor
            page = self.patiently(lambda: self._page(team, PAGE, asked, etags=True))  # noqa: B023 - called at once
            found |= {each.id: each for each in page.packets}
            if page.cursor is None:
                # A host without cursors lists 500 packets at most, and does not say that there are more.
                return PacketList(found, asked is not None or len(page.packets) < PAGE)
            cursor = page.cursor
        raise unexpected()

    def pull(self, packet_id: str, *, team: str | None = None, etag: str = "") -> Fetched | None:
        """Return a packet, None where it still has the `etag`."""
        reply = self._wire.get(_packet(packet_id), _present({"team": team}), etag=etag)
        if reply.status == 304:
            return None
        return Fetched(reply.body, answers.etag(reply.headers.get("etag")), reply.headers.get("x-ltm-public-url", ""))

    def push(self, body: bytes, *, team: str | None = None, replace: bool = False, if_match: str = "") -> Stored:
        """Store a packet on the host, in a team's scope with `team`.

        `replace` puts it in the place of another body; with `if_match` only where that has this etag.
        """
        params = _present({"team": team, "replace": "true" if replace else None})
        headers = {"If-Match": if_match} if if_match else None
        reply = self._wire.send("POST", "/v1/packets", params, body=body, headers=headers)
        return Stored(answers.text(reply.document(), "id"), answers.etag(reply.headers.get("etag")))

    def rm(self, packet_id: str, *, team: str | None = None) -> None:
        """Delete a packet on the host."""
        self._wire.send("DELETE", _packet(packet_id), _present({"team": team}))

    def publish(self, packet_id: str, *, team: str | None = None) -> str:
        """Let anybody read a packet who has the address; return that ("" where the host tells none)."""
        reply = self._wire.send("POST", f"{_packet(packet_id)}/publish", _present({"team": team}))
        return answers.optional(reply.document(), "public_url")

    def unpublish(self, packet_id: str, *, team: str | None = None) -> None:
        """Take the address of a published packet back."""
        self._wire.send("DELETE", f"{_packet(packet_id)}/publish", _present({"team": team}))

    # -- memories -----------------------------------------------------------------------------------------------

    def memories(self, team: str) -> list[dict[str, Any]] | None:
        """Return the memories of a team that hold or held, as JSON values; None where the host has no memories."""
        found: list[dict[str, Any]] = []
        params: dict[str, str | list[str]] = {"team": team, "limit": str(MEMORY_PAGE), "status": _HELD}
        for _ in range(_MOST_PAGES):
            asked = dict(params)
            try:
                reply = self.patiently(lambda: self._wire.get("/v1/memories", asked))  # noqa: B023
            except (NotFound, Refused) as error:
                if error.code.startswith(("auth.", "team.")):
                    raise
                return None
            document = reply.document()
            found += answers.members(document, "memories")
            cursor = answers.optional(document, "cursor")
            if not cursor:
                return found
            params["cursor"] = cursor
        raise unexpected()

    # -- teams --------------------------------------------------------------------------------------------------

    def teams(self) -> tuple[RemoteTeam, ...]:
        """Return the user's teams, the oldest first."""
        found = answers.members(self._wire.get("/v1/teams").document(), "teams")
        return tuple(_team(each, created_at=answers.text(each, "created_at")) for each in found)

    def create_team(self, name: str) -> RemoteTeam:
        """Make a team that the user owns."""
        reply = self._wire.send("POST", "/v1/teams", body=jsontext.dump({"name": name}))
        return _team(answers.member(reply.document(), "team"))

    def rm_team(self, name: str) -> None:
        """Delete a team with all that it holds."""
        self._wire.send("DELETE", _path(name))

    def members(self, name: str) -> tuple[RemoteMember, ...]:
        """Return a team's members, the oldest first."""
        found = answers.members(self._wire.get(f"{_path(name)}/members").document(), "members")
        return tuple(
            RemoteMember(
                user_id=answers.text(each, "user_id"),
                display=answers.optional(each, "display"),
                role=answers.text(each, "role"),
                joined_at=answers.text(each, "joined_at"),
                email=answers.optional(each, "email"),
            )
            for each in found
        )

    def remove_member(self, name: str, user_id: str) -> None:
        """Take a member out of a team that the user owns."""
        self._wire.send("DELETE", f"{_path(name)}/members/{_segment(user_id)}")

    def hand_over(self, name: str, user_id: str) -> None:
        """Make another member the owner of a team that the user owns."""
        self._wire.send("POST", f"{_path(name)}/owner", body=jsontext.dump({"user_id": user_id}))

    def set_redaction(self, name: str, policy: str) -> None:
        """Say what the host's own redactor refuses in a team that the user owns: core, extended or off."""
        self._wire.send("PATCH", _path(name), body=jsontext.dump({"redaction": policy}))

    def leave(self, name: str) -> None:
        """Leave a team."""
        self._wire.send("POST", f"{_path(name)}/leave")

    # -- invites ------------------------------------------------------------------------------------------------

    def invite(self, team: str) -> NewInvite:
        """Make an invite into a team."""
        document = self._wire.send("POST", f"{_path(team)}/invites").document()
        return NewInvite(answers.text(document, "url"), answers.text(document, "expires_at"))

    def invites(self, team: str) -> tuple[InviteLine, ...]:
        """Return a team's invites, the oldest first; no code is told again."""
        found = answers.members(self._wire.get(f"{_path(team)}/invites").document(), "invites")
        return tuple(
            InviteLine(
                id=answers.text(each, "id"),
                state=answers.text(each, "state"),
                created_by=answers.optional(each, "created_by"),
                expires_at=answers.optional(each, "expires_at"),
            )
            for each in found
        )

    def revoke_invite(self, team: str, invite_id: str) -> None:
        """Take an invite back."""
        self._wire.send("DELETE", f"{_path(team)}/invites/{_segment(invite_id)}")

    def accept(self, code: str, display: str = "") -> Joined:
        """Come into the team of an invite; `display` is the name of a user who is made for it."""
        body = jsontext.dump({"display": display} if display else {})
        document = self._wire.send("POST", f"/v1/invites/{_segment(code)}/accept", body=body).document()
        user, team = answers.member(document, "user"), answers.member(document, "team")
        return Joined(
            user_id=answers.text(user, "id"),
            display=answers.optional(user, "display"),
            team=answers.text(team, "name"),
            token=answers.optional(document, "token") or None,
        )


def _line(line: dict[str, Any]) -> PacketLine:
    return PacketLine(
        id=answers.text(line, "id"),
        created_at=answers.text(line, "created_at"),
        goal=answers.text(line, "goal"),
        etag=answers.etag(line.get("etag")),
    )


def _team(team: dict[str, Any], created_at: str = "") -> RemoteTeam:
    return RemoteTeam(
        id=answers.label(team, "id"),
        name=answers.label(team, "name"),
        owner_id=answers.text(team, "owner_id"),
        created_at=created_at,
    )


def _packet(packet_id: str) -> str:
    return f"/v1/packets/{_segment(packet_id)}"


def _path(team: str) -> str:
    return f"/v1/teams/{_segment(team)}"


def _segment(text: str) -> str:
    """A part of a path; dots alone would be taken for a way up."""
    return quote(text, safe="") if text.strip(".") else "%2E" * len(text)


def _present(params: dict[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in params.items() if value is not None}
