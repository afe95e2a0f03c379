"""The packets of a server as a caller sees them: the own ones, and those of the caller's teams (facts, 000.3)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from segue.base import redaction
from segue.base.errors import Conflict, Stale
from segue.base.redaction import RedactionRefused
from segue.packets import fields, lineage, schema
from segue.services import paging
from segue.services.finding import changing, nothing, require_changeable, require_seen
from segue.services.packets import Chain
from segue.services.policies import Policy, server_policy, stored_policy
from segue.services.teams import require_team, team_not_found
from segue.storage import packet_lines, packet_lists, publications, visibility
from segue.storage import packets as rows
from segue.storage.packet_lists import Filter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    import sqlalchemy as sa

    from segue.services.callers import Caller
    from segue.services.packets import Packets, Page
    from segue.storage.database import Database
    from segue.storage.packet_lines import Listed
    from segue.storage.packets import StoredPacket
    from segue.storage.visibility import Seen

_MEND = "This server takes no packet with them, whatever the client allowed; reword them"


@dataclass(frozen=True, slots=True)
class Pushed:
    """What a push did: `outcome` is created, unchanged or replaced; `etag` is that of what is stored now.

    `flagged` says that it holds what the redactor finds, and was taken by a policy that lets it in.
    """

    id: str
    outcome: str
    revision: int
    etag: str
    flagged: bool


@dataclass(frozen=True, slots=True)
class Pulled:
    """A packet as it is stored; `team` is the name of the team in whose scope it lies, "" for the caller's own."""

    id: str
    scope_id: str
    team: str
    revision: int
    etag: str
    body: bytes
    flagged: bool


class Hub:
    """Packets over personal and team scopes. Ids are exact here: no endings.

    `packets` gives the service over a scope (`scope_id`, `owner`, who is also the actor).
    """

    def __init__(self, database: Database, packets: Callable[[str, str], Packets]) -> None:
        self._database = database
        self._packets = packets

    # -- writing ------------------------------------------------------------------------------------------------

    def push(
        self,
        caller: Caller,
        body: bytes,
        team: str | None = None,
        *,
        replace: bool = False,
        if_match: str | None = None,
        rescan: Policy | None = None,
    ) -> Pushed:
        """Store a packet in the caller's personal scope, or in a team's (decision H1).

        A new id, the same body again, or an id that was deleted is stored. Another body under an id that is there
        replaces it with `replace`, where it is the caller's own. `if_match` is an etag, or `*`: what is stored must be
        that version. `rescan` is what the redactor refuses; by default what the team, or else the server, has set.

        Raises InvalidInput `packet.…`, RedactionRefused `packet.redaction`, Conflict `packet.exists`, Stale
        `packet.changed`, NotFound `team.not_found`, Refused `packet.cycle`.
        """
        caller.require("write")
        packet = schema.parse(body)
        with self._database.read() as connection:
            scope_id, policy = self._target(connection, caller, team)
        policy = rescan or policy

        def admits(connection: sa.Connection, existing: StoredPacket | None) -> None:
            if team is not None and require_team(connection, caller, team).id != scope_id:
                raise team_not_found()
            _require_version(existing, if_match)
            if existing is not None and existing.owner_id != caller.user_id and existing.body != packet.canonical:
                raise _exists("another member's packet has that id; give yours a new one", packet.id)

        service = self._packets(scope_id, caller.user_id)
        try:
            saved = service.submit(
                body,
                allow_unredacted=policy == "off",
                core_only=policy == "core",
                replace_existing=replace,
                admits=admits,
            )
        except RedactionRefused as refused:
            raise RedactionRefused(refused.findings, mend=_MEND) from None
        except Conflict as conflict:
            if conflict.code != "packet.exists" or replace:
                raise
            raise _exists(
                "another body is stored under that id; push with replace=true to replace it", packet.id
            ) from None
        tag = etag(saved.revision, saved.packet.canonical)
        return Pushed(saved.packet.id, saved.outcome, saved.revision, tag, bool(saved.findings))

    def _target(self, connection: sa.Connection, caller: Caller, team: str | None) -> tuple[str, Policy]:
        if team is None:
            return caller.user_id, server_policy(connection)
        found = require_team(connection, caller, team)
        return found.id, stored_policy(found.redaction)

    def rm(self, caller: Caller, packet_id: str, team: str | None = None) -> None:
        """Delete a packet for good: an own one, also in a team that the caller has left, or any in an own team.

        Raises NotFound `packet.not_found` for what is missing and for what is not the caller's to delete alike.
        """
        caller.require("write")

        def find(connection: sa.Connection) -> Seen:
            return require_changeable(connection, caller, packet_id, team, created=True)

        with self._database.read() as connection:
            scope_id = find(connection).scope.id
        service = self._packets(scope_id, caller.user_id)
        remembering = service.prepared()
        with changing(self._database, find) as (connection, seen):
            if seen.scope.id != scope_id:  # it was moved meanwhile
                service = self._packets(seen.scope.id, caller.user_id)
                remembering = service.prepared()
            service.remove(connection, packet_id, remembering)

    def move(self, caller: Caller, packet_id: str, team: str | None, *, source: str | None = None) -> Pulled:
        """Put an own packet into a team's scope, without `team` into the personal one; its bytes stay as they are.

        `source` is the team it lies in, where the id is in several scopes. Raises NotFound `packet.not_found`,
        `team.not_found`; Conflict `packet.exists`, RedactionRefused where the team takes no such packet.
        """
        caller.require("write")

        def find(connection: sa.Connection) -> Seen:
            seen = require_seen(connection, caller, packet_id, source)
            if seen.packet.owner_id != caller.user_id:
                raise nothing()
            return seen

        with self._database.read() as connection:
            target, _ = self._target(connection, caller, team)
            source_id = find(connection).scope.id
        there, here = (self._packets(each, caller.user_id) for each in (target, source_id))
        remembered, forgotten = there.prepared(), here.prepared()
        with changing(self._database, find, target) as (connection, seen):
            again, policy = self._target(connection, caller, team)
            if again != target or seen.scope.id != source_id:
                raise nothing()
            if seen.scope.id != target:
                _require_clean(seen.packet, policy)
                there.adopt(connection, seen.packet, remembered, seen.scope.id)
                publications.move(connection, seen.scope.id, packet_id, target)
                here.remove(connection, packet_id, forgotten, kind="packet.moved", details={"to": target})
        return _pulled(seen.packet, target, team or "")

    # -- reading ------------------------------------------------------------------------------------------------

    def pull(self, caller: Caller, packet_id: str, team: str | None = None) -> Pulled:
        """Return a packet: from the personal scope first, then from the caller's teams by name (decision H2).

        Raises NotFound `packet.not_found`.
        """
        caller.require("read")
        with self._database.read() as connection:
            seen = require_seen(connection, caller, packet_id, team)
        return _pulled(seen.packet, seen.scope.id, seen.scope.team)

    def ls(
        self,
        caller: Caller,
        *,
        team: str | None = None,
        limit: int = paging.DEFAULT_LIMIT,
        cursor: str | None = None,
        project: str | None = None,
        tag: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        q: str | None = None,
        parent: str | None = None,
    ) -> Page:
        """Return packets of the personal scope, or of a team's, newest first; each word of `q` begins one of theirs.

        A `limit` above 500 means 500, one below 1 means 50 (decision H3). Raises NotFound `team.not_found`,
        InvalidInput `cursor.invalid`, `filter.invalid`.
        """
        caller.require("read")
        with self._database.read() as connection:
            scope_id, _ = self._target(connection, caller, team)
        return self._packets(scope_id, caller.user_id).ls(
            project=project,
            tag=tag,
            since=since,
            until=until,
            search=q,
            parent=parent,
            limit=bounded(limit),
            cursor=cursor,
        )

    def etags(self, caller: Caller, packet_ids: Sequence[str], team: str | None = None) -> dict[str, str]:
        """Return the etags of packets of the personal scope, or of a team's, by id: what tells their versions.

        Raises NotFound `team.not_found`.
        """
        caller.require("read")
        with self._database.read() as connection:
            scope_id, _ = self._target(connection, caller, team)
            found = rows.versions(connection, scope_id, packet_ids)
        return {each: etag(revision, body) for each, (revision, body) in found.items()}

    def chain(self, caller: Caller, packet_id: str, team: str | None = None) -> Chain:
        """Return a packet's ancestors and what continues it, across all scopes that the caller may read.

        Raises NotFound `packet.not_found`.
        """
        caller.require("read")
        with self._database.read() as connection:
            seen = require_seen(connection, caller, packet_id, team)
            scopes = [each.id for each in visibility.readable(connection, caller.user_id)]
            scopes.sort(key=lambda each: each != seen.scope.id)  # the packet's own scope goes before all others
            above = rows.parents_across(connection, scopes, packet_id)
            traced = lineage.trace(packet_id, {each: parent for each, (_, parent) in above.items()})
            lines = packet_lines.by_places(connection, [(above[each][0], each) for each in traced.ids])
            children = _children(connection, scopes, packet_id)
        return Chain(lines, children, traced.missing)


def bounded(limit: int) -> int:
    """Return how many a list shows at most (decision H3)."""
    return min(limit, paging.MAX_LIMIT) if limit > 0 else paging.DEFAULT_LIMIT


def etag(revision: int, body: bytes) -> str:
    """Return the entity tag of a stored packet, quotes included."""
    return f'"{revision}-{hashlib.sha256(body).hexdigest()[:16]}"'


def _pulled(stored: StoredPacket, scope_id: str, team: str) -> Pulled:
    tag = etag(stored.revision, stored.body)
    return Pulled(stored.id, scope_id, team, stored.revision, tag, stored.body, stored.flagged)


def _require_version(existing: StoredPacket | None, if_match: str | None) -> None:
    if if_match is None:
        return
    current = etag(existing.revision, existing.body) if existing else None
    wanted = [each.strip() for each in if_match.split(",")]
    if current is None or ("*" not in wanted and current not in wanted):
        raise Stale("packet.changed", "the packet is not the version that If-Match names; fetch it again")


def _require_clean(stored: StoredPacket, policy: Policy) -> None:
    if policy != "off":
        packet = schema.parse(stored.body)
        findings = redaction.scan(fields.texts(packet.document()), core_only=policy == "core")
        if findings:
            raise RedactionRefused(findings, mend=_MEND)


def _exists(message: str, packet_id: str) -> Conflict:
    return Conflict("packet.exists", message, {"id": packet_id})


def _children(connection: sa.Connection, scopes: list[str], packet_id: str) -> list[Listed]:
    wanted = Filter(parent=packet_id)
    found = [each for scope in scopes for each in packet_lists.listed(connection, scope, wanted, paging.MAX_LIMIT)]
    unique = {each.id: each for each in reversed(found)}.values()  # of one id, that of the scope that goes first
    return sorted(unique, key=lambda each: (each.created_us, each.id), reverse=True)[: paging.MAX_LIMIT]
