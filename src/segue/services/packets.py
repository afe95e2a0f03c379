"""Packets in the store: saved, found, resumed, listed, removed, followed along their chain, compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import orjson

from segue.base import cursors, ids, jsontext, redaction, text, time
from segue.base.errors import Ambiguous, Conflict, InvalidInput, NotFound, Refused
from segue.base.redaction import RedactionRefused
from segue.packets import diff, fields, lineage, resume, rules, schema
from segue.packets.model import MAX_BYTES, Packet
from segue.services.projects import remote_key
from segue.storage import events, settings
from segue.storage import packets as rows
from segue.storage.database import lock_scope
from segue.storage.packets import Filter, Listed, StoredPacket

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    import sqlalchemy as sa

    from segue.base.redaction import Finding
    from segue.packets.diff import Diff
    from segue.packets.rules import Advice
    from segue.services.projects import Project
    from segue.storage.database import Database

Draft = Packet | Mapping[str, Any] | bytes | str
DEFAULT_LIMIT = 50
MAX_LIMIT = 500
_SHOWN_MATCHES = 5
_MAX_FILTER = 1_024


@dataclass(frozen=True, slots=True)
class Saved:
    """What a save did: `outcome` is created, unchanged or replaced."""

    packet: Packet
    outcome: str
    findings: list[Finding] = field(default_factory=list)
    warnings: list[Advice] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Page:
    """Part of a list, newest first; `cursor` continues it, None at its end."""

    packets: list[Listed]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class Chain:
    """A packet's chain: `packets` from itself to the oldest known ancestor, `children` that continue it.

    `missing` is the id of a parent that the oldest one names and the store lacks, "" where there is none.
    """

    packets: list[Listed]
    children: list[Listed]
    missing: str


class Packets:
    """The packets of one scope. Every method is one transaction; ids may be shortened to an unambiguous ending."""

    def __init__(
        self,
        database: Database,
        scope_id: str,
        *,
        project: Callable[[], Project],
        clock: Callable[[], datetime],
        actor: str = "local",
    ) -> None:
        self._database = database
        self._scope = scope_id
        self._project = project
        self._clock = clock
        self._actor = actor

    # -- writing ------------------------------------------------------------------------------------------------

    def save(self, draft: Draft, **options: Any) -> Packet:
        """Store a packet and return it; see `submit` for the options and errors."""
        return self.submit(draft, **options).packet

    def submit(
        self,
        draft: Draft,
        *,
        allow_unredacted: bool = False,
        core_only: bool = False,
        replace_existing: bool = False,
        continues: str | None = None,
        carry: Sequence[str] = (),
    ) -> Saved:
        """Store a packet: a Packet, a mapping, or JSON text. `id` and `created_at` are filled in where both lack.

        `continues` names the parent by id; "" means this project's newest packet. `carry` copies methods,
        constraints or locked-decisions from the parent. The same packet twice is one packet; a draft without id
        that records the same state as a stored one is that one.

        Raises InvalidInput `packet.…` (nothing is stored), RedactionRefused unless `allow_unredacted`, Conflict
        `packet.exists` where another body is stored under the id and not `replace_existing`, Refused
        `packet.cycle` where the packet would become its own ancestor, NotFound for an unknown `continues`.
        """
        now = self._clock()
        packet, fresh = _complete(draft, now)
        if continues is not None or carry:
            packet = self._continued(packet, continues, tuple(carry), fresh=fresh)
            _require_size(packet)
        findings = redaction.scan(fields.texts(packet.document()), core_only=core_only)
        if findings and not allow_unredacted:
            raise RedactionRefused(findings)
        key = self._project().key
        with self._database.write() as connection:
            lock_scope(connection, self._scope)
            same = rows.with_content(connection, self._scope, packet.content_hash) if fresh else None
            if same is not None:
                return Saved(Packet.from_document(schema.read(same.body)), "unchanged", findings)
            outcome = self._write(connection, packet, key, now, flagged=bool(findings), replacing=replace_existing)
            warnings = rules.check(packet, self._parent(connection, packet)) + self._unknown_parent(connection, packet)
        return Saved(packet, outcome, findings, warnings)

    def _continued(self, packet: Packet, continues: str | None, carry: tuple[str, ...], *, fresh: bool) -> Packet:
        if packet.ltm_version == "0.1" and continues is not None:
            raise InvalidInput(
                "packet.version", "version 0.1 has no parent_id; declare ltm_version 0.2 to continue a packet"
            )
        named = packet.parent_id if continues is None else continues
        if not named and continues is None:
            raise InvalidInput("packet.carry", "there is nothing to carry from: the packet names no parent")
        parent = self.get(named) if named else self.newest()
        carried = lineage.carry(packet, parent, carry)
        schema.require_valid(carried.document())
        again = replace(carried, parent_id=parent.parent_id)
        # The same state saved twice in a row does not continue itself: it is one packet.
        same = fresh and again.content_hash == parent.content_hash
        return again if same else replace(carried, parent_id=parent.id)

    def _write(
        self, connection: sa.Connection, packet: Packet, key: str, now: datetime, *, flagged: bool, replacing: bool
    ) -> str:
        existing = rows.get(connection, self._scope, packet.id)
        if existing is not None and existing.body == packet.canonical:
            return "unchanged"
        if existing is not None and not replacing:
            raise Conflict(
                "packet.exists",
                f"another body is stored as {packet.id}; give the packet a new id, or replace it on purpose",
                {"id": packet.id},
            )
        if packet.parent_id:
            # With the new link itself: the packet may be a parent that the others have named already.
            above = rows.parents(connection, self._scope, packet.parent_id) | {packet.id: packet.parent_id}
            if lineage.closes_cycle(packet.id, packet.parent_id, above):
                raise Refused("packet.cycle", f"{packet.id} would become its own ancestor through {packet.parent_id}")
        stored = StoredPacket(
            scope_id=self._scope,
            id=packet.id,
            owner_id=self._scope,
            revision=existing.revision + 1 if existing else 1,
            saved_at=now,
            project_key=existing.project_key if existing else key,
            content_hash=packet.content_hash,
            flagged=flagged,
            body=packet.canonical,
        )
        ref_key = remote_key(packet.project.ref) if packet.project and packet.project.ref else None
        (rows.replace if existing else rows.insert)(connection, stored, packet, ref_key)
        kind = "packet.replaced" if existing else "packet.saved"
        details = {"revision": stored.revision, "flagged": flagged}
        events.append(connection, self._scope, kind, packet.id, actor=self._actor, now=now, details=details)
        return "replaced" if existing else "created"

    def _parent(self, connection: sa.Connection, packet: Packet) -> Packet | None:
        stored = rows.get(connection, self._scope, packet.parent_id) if packet.parent_id else None
        return Packet.from_document(schema.read(stored.body)) if stored else None

    def _unknown_parent(self, connection: sa.Connection, packet: Packet) -> list[Advice]:
        if not packet.parent_id or rows.known(connection, self._scope, [packet.parent_id]):
            return []
        return [rules.Advice("chain.missing", "parent_id", f"the parent {packet.parent_id} is not in this store")]

    def rm(self, packet_id: str) -> str:
        """Remove a packet for good and return its full id. Packets that continue it stay."""
        with self._database.write() as connection:
            lock_scope(connection, self._scope)
            full = self._resolve(connection, packet_id)
            rows.delete(connection, self._scope, full)
            events.append(connection, self._scope, "packet.deleted", full, actor=self._actor, now=self._clock())
        return full

    # -- reading ------------------------------------------------------------------------------------------------

    def stored(self, packet_id: str) -> StoredPacket:
        """Return the row of a packet. Raises NotFound `packet.not_found`, Ambiguous `packet.ambiguous`."""
        with self._database.read() as connection:
            full = self._resolve(connection, packet_id)
            found = rows.get(connection, self._scope, full)
        if found is None:
            raise _not_found(packet_id)
        return found

    def get(self, packet_id: str) -> Packet:
        """Return a packet. Raises NotFound, Ambiguous."""
        return Packet.from_document(schema.read(self.stored(packet_id).body))

    def raw(self, packet_id: str) -> bytes:
        """Return the stored canonical bytes of a packet. Raises NotFound, Ambiguous."""
        return self.stored(packet_id).body

    def newest(self) -> Packet:
        """Return the newest packet of this project. Raises NotFound `packet.none` where there is none."""
        project = self._project()
        with self._database.read() as connection:
            found = rows.listed(connection, self._scope, Filter(project_keys=project.keys), 1)
            total = rows.count(connection, self._scope)
        if not found:
            hint = f"{total} of other projects: `segue ls`" if total else "save one with `segue save`"
            raise NotFound("packet.none", f"no packet of {project.name} is stored; {hint}", {"project": project.key})
        return self.get(found[0].id)

    def resume(self, packet_id: str | None = None) -> str:
        """Return the resume block of a packet, without an id of this project's newest. Raises NotFound, Ambiguous."""
        return resume.render(self.get(packet_id) if packet_id else self.newest())

    def ls(
        self,
        *,
        project: str | None = None,
        tag: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        search: str | None = None,
        parent: str | None = None,
        limit: int = DEFAULT_LIMIT,
        cursor: str | None = None,
    ) -> Page:
        """Return packets, newest first.

        `project` is a name, a ref in any spelling, or a key, "." this one; `search` words must all occur, in any
        case. `limit` is 1 to 500. Raises InvalidInput `limit.invalid`, `cursor.invalid`, `filter.invalid`.
        """
        if not 1 <= limit <= MAX_LIMIT:
            raise InvalidInput("limit.invalid", f"limit must be between 1 and {MAX_LIMIT}, not {limit}")
        wanted = Filter(
            **self._named_project(project),
            tag=_filter_text("tag", tag),
            since_us=time.microseconds(since) if since else None,
            until_us=time.microseconds(until) if until else None,
            words=tuple(text.fold(_filter_text("search", search) or "").split()),
            parent=_filter_text("parent", parent),
        )
        # Times are left out: "the last week" is another instant at each call, and the position decides anyway.
        query = ["packets", self._scope, wanted.project, wanted.project_keys, wanted.tag, wanted.words, wanted.parent]
        with self._database.read() as connection:
            key = bytes.fromhex(settings.get(connection, "key") or "")
            after = _position(cursor, query, key)
            found = rows.listed(connection, self._scope, wanted, limit + 1, after)
        more = found[limit - 1] if len(found) > limit else None
        following = cursors.encode([more.created_us, more.id], query, key) if more else None
        return Page(found[:limit], following)

    def _named_project(self, project: str | None) -> dict[str, Any]:
        if project == ".":
            return {"project_keys": self._project().keys}
        named = _filter_text("project", project)
        remote = remote_key(named) if named else None
        return {"project": named, "project_keys": (remote,) if remote else None}

    def chain(self, packet_id: str | None = None) -> Chain:
        """Return the chain of a packet, without an id of this project's newest. Raises NotFound, Ambiguous."""
        start = self.get(packet_id).id if packet_id else self.newest().id
        with self._database.read() as connection:
            traced = lineage.trace(start, rows.parents(connection, self._scope, start))
            above = rows.by_ids(connection, self._scope, traced.ids)
            children = rows.listed(connection, self._scope, Filter(parent=start), MAX_LIMIT)
        return Chain([above[each] for each in traced.ids], children, traced.missing)

    def diff(self, older_id: str, newer_id: str) -> Diff:
        """Return what changed from one packet to another. Raises NotFound, Ambiguous."""
        return diff.compare(self.get(older_id), self.get(newer_id))

    def count(self, *, project: str | None = None) -> int:
        """Return how many packets the scope has; with `project` "." only this project's."""
        keys = self._project().keys if project == "." else None
        with self._database.read() as connection:
            return rows.count(connection, self._scope, keys)

    def _resolve(self, connection: sa.Connection, given: str) -> str:
        if "\0" in given or not jsontext.is_unicode(given):  # no database takes these, no id has them
            raise _not_found(given)
        if rows.known(connection, self._scope, [given]):
            return given
        ending = ids.unshortened(given)
        matches = rows.with_ending(connection, self._scope, ending, _SHOWN_MATCHES + 1) if ending else []
        if len(matches) == 1:
            return matches[0]
        if not matches:
            raise _not_found(given)
        shown = ", ".join(matches[:_SHOWN_MATCHES]) + (" …" if len(matches) > _SHOWN_MATCHES else "")
        raise Ambiguous("packet.ambiguous", f"more than one packet ends in that: {shown}", {"matches": matches})


def _position(cursor: str | None, query: list[Any], key: bytes) -> tuple[int, str] | None:
    if cursor is None:
        return None
    created_us, packet_id = cursors.decode(cursor, query, key)
    return int(created_us), str(packet_id)


def _filter_text(name: str, value: str | None) -> str | None:
    """Return a filter as the columns hold text. Raises InvalidInput `filter.invalid` for what no packet can hold."""
    if value is None:
        return None
    if len(value) > _MAX_FILTER or not jsontext.is_unicode(value):
        raise InvalidInput("filter.invalid", f"{name}: give at most {_MAX_FILTER} characters of Unicode text")
    return value.replace("\0", "\ufffd")


def _not_found(given: str) -> NotFound:
    shown = given[:64].encode("utf-8", "backslashreplace").decode()
    return NotFound("packet.not_found", "no packet has that id, or ends in it; see `segue ls`", {"id": shown})


def _complete(draft: Draft, now: datetime) -> tuple[Packet, bool]:
    """Return the packet that a draft means, checked, and whether its id was given to it here."""
    document = schema.read(_as_bytes(draft.document() if isinstance(draft, Packet) else draft))
    fresh = "id" not in document
    if fresh:
        created = time.to_text(now.replace(microsecond=0))
        document = {"created_at": created} | document | {"id": ids.new(now)}
    schema.require_valid(document)
    packet = Packet.from_document(document)
    for name in (packet.id, packet.parent_id):
        if not name.isprintable() or name != name.strip():
            raise InvalidInput(
                "packet.id", "an id with control characters or white space at its ends cannot be addressed"
            )
    _require_size(packet)
    return packet, fresh


def _require_size(packet: Packet) -> None:
    size = len(packet.canonical)
    if size > MAX_BYTES:
        raise InvalidInput("packet.size", f"the packet has {size} bytes; max is {MAX_BYTES}", {"bytes": size})


def _as_bytes(draft: Mapping[str, Any] | bytes | str) -> bytes:
    try:
        if isinstance(draft, str):
            return draft.encode("utf-8")
        return draft if isinstance(draft, bytes) else orjson.dumps(dict(draft))
    except (TypeError, UnicodeEncodeError):
        raise InvalidInput("packet.json", "invalid json: the draft holds a value that JSON text cannot") from None
