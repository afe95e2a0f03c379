"""Packets in the store: saved, found, resumed, listed, removed, followed along their chain, compared."""

from __future__ import annotations

import contextlib
import shlex
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from segue.base import redaction, text, time
from segue.base.errors import Conflict, InvalidInput, NotFound, Refused
from segue.base.redaction import RedactionRefused
from segue.base.remotes import remote_key
from segue.packets import diff, drafts, fields, lineage, resume, rules, schema
from segue.packets.model import CURRENT_VERSION, Packet
from segue.services import paging
from segue.services.scoped import ScopedService
from segue.storage import events, packet_lines, packet_lists
from segue.storage import packets as rows
from segue.storage.packet_lists import Filter
from segue.storage.packets import StoredPacket

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    import sqlalchemy as sa

    from segue.base.redaction import Finding
    from segue.packets.diff import Diff
    from segue.packets.rules import Advice
    from segue.services.projects import Project
    from segue.services.scoped import Remembering
    from segue.storage.packet_lines import Listed

    Admits = Callable[[sa.Connection, StoredPacket | None], None]

NEWEST = "newest"
_MAX_WORDS = 64


@dataclass(frozen=True, slots=True)
class Saved:
    """What a save did: `outcome` is created, unchanged or replaced."""

    packet: Packet
    outcome: str
    revision: int = 1
    findings: list[Finding] = field(default_factory=list)
    warnings: list[Advice] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue save --json`; findings by kind alone (decision P5)."""
        return {
            "id": self.packet.id,
            "outcome": self.outcome,
            "redaction": [finding.kind for finding in self.findings],
            "warnings": [advice.to_json() for advice in self.warnings],
        }


@dataclass(frozen=True, slots=True)
class Page:
    """Part of a list, newest first; `cursor` continues it, None at its end."""

    packets: list[Listed]
    cursor: str | None

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue ls --json`."""
        return {"packets": [each.to_json() for each in self.packets], "cursor": self.cursor}


@dataclass(frozen=True, slots=True)
class Chain:
    """A packet's chain: `packets` from itself to the oldest known ancestor, `children` that continue it.

    `missing` is the id of a parent that the oldest one names and the store lacks, "" where there is none.
    """

    packets: list[Listed]
    children: list[Listed]
    missing: str

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue chain --json`."""
        return {
            "packets": [each.to_json() for each in self.packets],
            "children": [each.to_json() for each in self.children],
            "missing": self.missing or None,
        }


class Packets(ScopedService):
    """The packets of one scope. Every method is one transaction; ids may be shortened to an unambiguous ending.

    `copied_team` names the team whose copy the scope is, "" for none.
    """

    def __init__(self, *given: Any, copied_team: str = "", **named: Any) -> None:
        super().__init__(*given, **named)
        self._copied_team = copied_team

    # -- writing ------------------------------------------------------------------------------------------------

    def save(
        self,
        draft: drafts.Draft,
        *,
        allow_unredacted: bool = False,
        core_only: bool = False,
        replace_existing: bool = False,
        continues: str | None = None,
        carry: Sequence[str] = (),
    ) -> Packet:
        """Store a packet and return it; see `submit` for the options and errors."""
        return self.submit(
            draft,
            allow_unredacted=allow_unredacted,
            core_only=core_only,
            replace_existing=replace_existing,
            continues=continues,
            carry=carry,
        ).packet

    def submit(
        self,
        draft: drafts.Draft,
        *,
        allow_unredacted: bool = False,
        core_only: bool = False,
        replace_existing: bool = False,
        continues: str | None = None,
        carry: Sequence[str] = (),
        admits: Admits | None = None,
    ) -> Saved:
        """Store a packet: a Packet, a mapping, or JSON text. `id` and `created_at` are filled in where it has no id.

        `continues` names the parent by id; NEWEST means this project's newest packet. `carry` copies methods,
        constraints or locked-decisions from the parent. The same packet twice is one packet; a draft without id
        that records the same state as a packet of this project is that one. `admits` is asked in the transaction, with
        what lies under the id (None where it is free), before anything is written; what it raises ends the save.

        Raises InvalidInput `packet.…` (nothing is stored), RedactionRefused unless `allow_unredacted`, Conflict
        `packet.exists` where another body is stored under the id and not `replace_existing`, Refused
        `packet.cycle` where the packet would become its own ancestor, NotFound for an unknown `continues`.
        """
        now, project = self._clock(), self._project()
        packet, fresh = drafts.finished(draft, now)
        # Git is asked before the write lock is held, and only where the answer counts.
        keys = project.keys if fresh or continues == NEWEST else ()
        remembering, against = self._prepared(), ""
        with self._database.write(self._scope) as connection:
            if admits is not None:
                admits(connection, rows.get(connection, self._scope, packet.id))
            if continues is not None or carry:
                packet = self._continued(connection, packet, project, keys, continues, tuple(carry), fresh=fresh)
            findings = redaction.scan(fields.texts(packet.document()), core_only=core_only)
            if findings and not allow_unredacted:
                raise RedactionRefused(findings)
            same = None
            if fresh:
                same = rows.with_content(connection, self._scope, packet.content_hash, keys)
            if same is not None:
                packet, outcome, revision = _packet(same), "unchanged", same.revision
            else:
                outcome, revision = self._write(
                    connection, packet, project, now, bool(findings), replacing=replace_existing
                )
            if remembering is not None and outcome != "unchanged":
                against = remembering.kept(connection, packet)
            above = rows.get(connection, self._scope, packet.parent_id) if packet.parent_id else None
            parent = self._legible(connection, above) if above else None
        warnings = rules.check(packet, parent)
        if packet.parent_id and parent is None:
            message = f"the parent {packet.parent_id} is not in this store"
            warnings.append(rules.Advice("chain.missing", "parent_id", message))
        if against:
            warnings.append(rules.Advice("memories.passed_over", "packet", against))
        return Saved(packet, outcome, revision, findings, warnings)

    def _continued(
        self,
        connection: sa.Connection,
        packet: Packet,
        project: Project,
        keys: tuple[str, ...],
        continues: str | None,
        carry: tuple[str, ...],
        *,
        fresh: bool,
    ) -> Packet:
        if packet.ltm_version == "0.1" and continues is not None:
            raise InvalidInput(
                "packet.version", "version 0.1 has no parent_id; declare ltm_version 0.2 to continue a packet"
            )
        named = packet.parent_id if continues is None else continues
        if not named:
            raise InvalidInput("packet.carry", "there is nothing to carry from: the packet names no parent")
        parent = self._newest(connection, project, keys) if named == NEWEST else self._get(connection, named)
        carried = lineage.carry(packet, parent, carry)
        schema.require_valid(carried.document())
        again = replace(carried, parent_id=parent.parent_id)
        # The same state saved twice in a row does not continue itself: it is one packet.
        # The state of another project is not: what continues it here is another packet.
        same = fresh and again.content_hash == parent.content_hash
        if same and rows.with_content(connection, self._scope, again.content_hash, keys) is not None:
            return again
        continued = replace(carried, parent_id=parent.id)
        drafts.require_size(continued)
        return continued

    def _write(
        self,
        connection: sa.Connection,
        packet: Packet,
        project: Project,
        now: datetime,
        flagged: bool,
        *,
        replacing: bool,
    ) -> tuple[str, int]:
        existing = rows.get(connection, self._scope, packet.id)
        if existing is not None and existing.body == packet.canonical:
            return "unchanged", existing.revision
        if existing is not None and not replacing:
            raise Conflict(
                "packet.exists",
                f"another body is stored as {packet.id}; give the packet a new id, or replace that one on purpose "
                "(--replace, replace in a call)",
                {"id": packet.id},
            )
        self._require_no_cycle(connection, packet)
        stored = StoredPacket(
            scope_id=self._scope,
            id=packet.id,
            owner_id=existing.owner_id if existing else self._owner,
            revision=existing.revision + 1 if existing else 1,
            saved_at=now,
            project_key=existing.project_key if existing else project.key or None,
            project_label=existing.project_label if existing else project.name or None,
            content_hash=packet.content_hash,
            flagged=flagged,
            body=packet.canonical,
        )
        (rows.replace if existing else rows.insert)(connection, stored, packet)
        kind = "packet.replaced" if existing else "packet.saved"
        details = {"revision": stored.revision, "flagged": flagged}
        events.append(connection, self._scope, kind, packet.id, actor=self._actor, now=now, details=details)
        return "replaced" if existing else "created", stored.revision

    def _require_no_cycle(self, connection: sa.Connection, packet: Packet) -> None:
        if not packet.parent_id:
            return
        # Only a packet that another one names as its parent already can come to stand above itself.
        named = packet.parent_id == packet.id or rows.has_children(connection, self._scope, packet.id)
        if not named:
            return
        above = rows.parents(connection, self._scope, packet.parent_id) | {packet.id: packet.parent_id}
        if lineage.closes_cycle(packet.id, packet.parent_id, above):
            raise Refused("packet.cycle", f"{packet.id} would become its own ancestor through {packet.parent_id}")

    def rm(self, packet_id: str) -> Packet:
        """Remove a packet for good, with the memories that nothing else says, and return it.

        Packets that continue it stay.

        So that a slip of a key removes nothing, an ending must have at least four characters here. Where the body
        does not read any more, or is another packet's, the value holds what the list says of it.
        Raises NotFound, Ambiguous, InvalidInput `packet.short_id`.
        """
        paging.require_long_enough(packet_id, "packet")
        remembering = self._prepared()
        with self._database.write(self._scope) as connection:
            stored = self._stored(connection, packet_id)
            removed = self._legible(connection, stored)
            self.remove(connection, stored.id, remembering)
        return removed

    def remove(
        self,
        connection: sa.Connection,
        packet_id: str,
        remembering: Remembering | None,
        *,
        kind: str = "packet.deleted",
        details: dict[str, Any] | None = None,
    ) -> None:
        """Remove the packet of that exact id inside a transaction that others have begun; the log says `kind` of it."""
        rows.delete(connection, self._scope, packet_id)
        now = self._clock()
        events.append(connection, self._scope, kind, packet_id, actor=self._actor, now=now, details=details)
        if remembering is not None:
            remembering.gone(connection, "packet", packet_id)

    def adopt(
        self, connection: sa.Connection, stored: StoredPacket, remembering: Remembering | None, source: str
    ) -> None:
        """Take over a packet of the scope `source` as it is, inside a transaction that others have begun.

        Raises Conflict `packet.exists` where this scope has that id, Refused `packet.cycle`.
        """
        if rows.get(connection, self._scope, stored.id) is not None:
            raise Conflict("packet.exists", "the scope it is to go to has a packet of that id", {"id": stored.id})
        packet, now = _packet(stored), self._clock()
        self._require_no_cycle(connection, packet)
        rows.insert(connection, replace(stored, scope_id=self._scope), packet)
        details = {"from": source}
        events.append(connection, self._scope, "packet.moved", stored.id, actor=self._actor, now=now, details=details)
        if remembering is not None:
            remembering.kept(connection, packet)

    def prepared(self) -> Remembering | None:
        """What makes memories of packets, ready for a transaction; to be asked for before the lock is held."""
        return self._prepared()

    def _legible(self, connection: sa.Connection, stored: StoredPacket) -> Packet:
        """The packet of a row, also where its body is damaged: what the list says of it then."""
        with contextlib.suppress(InvalidInput):
            packet = schema.parse(stored.body)
            if packet.id == stored.id:
                return packet
        line = packet_lines.by_ids(connection, self._scope, [stored.id])[stored.id]
        return Packet(
            ltm_version=CURRENT_VERSION,
            id=line.id,
            parent_id=line.parent_id,
            created_at=line.created_at,
            goal=line.goal,
            next_step="",
            tags=line.tags,
        )

    # -- reading ------------------------------------------------------------------------------------------------

    def stored(self, packet_id: str) -> StoredPacket:
        """Return the row of a packet. Raises NotFound `packet.not_found`, Ambiguous `packet.ambiguous`."""
        with self._database.read() as connection:
            return self._stored(connection, packet_id)

    def get(self, packet_id: str) -> Packet:
        """Return a packet. Raises NotFound, Ambiguous."""
        return _packet(self.stored(packet_id))

    def raw(self, packet_id: str) -> bytes:
        """Return the stored canonical bytes of a packet. Raises NotFound, Ambiguous."""
        return self.stored(packet_id).body

    def newest(self) -> Packet:
        """Return the newest packet of this project. Raises NotFound `packet.none` where there is none."""
        project = self._project()
        keys = project.keys
        with self._database.read() as connection:
            return self._newest(connection, project, keys)

    def resume(self, packet_id: str | None = None) -> str:
        """Return the resume block of a packet, without an id of this project's newest. Raises NotFound, Ambiguous."""
        return resume.render(self.newest() if packet_id is None else self.get(packet_id))

    def ls(
        self,
        *,
        project: str | None = None,
        tag: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        search: str | None = None,
        parent: str | None = None,
        limit: int = paging.DEFAULT_LIMIT,
        cursor: str | None = None,
    ) -> Page:
        """Return packets, newest first.

        `project` is a name, a ref in any spelling, or a key, "." this one; each word of `search` begins a word of the
        packet, in any case. `limit` is 1 to 500.

        Raises InvalidInput `limit.invalid`, `cursor.invalid`, `filter.invalid`.
        """
        projects = self._named_projects(project)
        wanted = Filter(
            projects=projects,
            tag=paging.filter_text("tag", tag),
            since_us=time.microseconds(since) if since else None,
            until_us=time.microseconds(until) if until else None,
            words=_search_words(search),
            parent=paging.filter_text("parent", parent),
        )
        # Times are left out: "the last week" is another instant at each call, and the position decides anyway.
        query = ["packets", self._scope, wanted.projects, wanted.tag, wanted.words, wanted.parent]
        if self._owner != self._scope:  # a cursor is for whom it was made, among those who share the scope
            query.append(self._owner)
        with self._database.read() as connection:
            found, following = paging.page(
                connection,
                query,
                limit,
                cursor,
                lambda number, after: packet_lists.listed(connection, self._scope, wanted, number, after),
                lambda each: (each.created_us, each.id),
            )
        return Page(found, following)

    def _named_projects(self, project: str | None) -> tuple[str, ...]:
        """What packets of the project that a person names are listed by; nothing where none is named."""
        named = paging.filter_text("project", project)
        if named is None:
            return ()
        remote = remote_key(named)
        names = self._project().keys if named == "." else ()
        names = names or ((named, remote) if remote else (named,))
        return tuple(dict.fromkeys(rows.project_entry(name) for name in names))

    def chain(self, packet_id: str | None = None) -> Chain:
        """Return the chain of a packet, without an id of this project's newest. Raises NotFound, Ambiguous."""
        project = self._project() if packet_id is None else None
        keys = project.keys if project else ()
        with self._database.read() as connection:
            start = self._newest(connection, project, keys) if project else self._get(connection, packet_id or "")
            traced = lineage.trace(start.id, rows.parents(connection, self._scope, start.id))
            above = packet_lines.by_ids(connection, self._scope, traced.ids)
            children = packet_lists.listed(connection, self._scope, Filter(parent=start.id), paging.MAX_LIMIT)
        return Chain([above[each] for each in traced.ids], children, traced.missing)

    def diff(self, older_id: str, newer_id: str) -> Diff:
        """Return what changed from one packet to another. Raises NotFound, Ambiguous."""
        with self._database.read() as connection:
            return diff.compare(self._get(connection, older_id), self._get(connection, newer_id))

    def count(self, *, project: str | None = None) -> int:
        """Return how many packets the scope has; with `project`, as `ls` takes it, how many of that project."""
        projects = self._named_projects(project)
        with self._database.read() as connection:
            return rows.count(connection, self._scope, projects)

    def _newest(self, connection: sa.Connection, project: Project, keys: tuple[str, ...]) -> Packet:
        projects = tuple(rows.project_entry(key) for key in keys)
        found = packet_lists.listed(connection, self._scope, Filter(projects=projects), 1)
        if not found:
            total = rows.count(connection, self._scope)
            none = "`segue sync` brings what the team has" if self._copied_team else "save one with `segue save`"
            hint = f"{total} of other projects: {self._listing}" if total else none
            raise NotFound("packet.none", f"no packet of {project.name} is stored; {hint}", {"project": project.key})
        return self._get(connection, found[0].id)

    @property
    def _listing(self) -> str:
        """The command that lists the packets."""
        team = f" -t {shlex.quote(self._copied_team)}" if self._copied_team else ""
        return f"`segue ls{team}`"

    def _get(self, connection: sa.Connection, packet_id: str) -> Packet:
        return _packet(self._stored(connection, packet_id))

    def _stored(self, connection: sa.Connection, given: str) -> StoredPacket:
        full = paging.resolve(
            given,
            "packet",
            self._listing,
            lambda each: bool(rows.known(connection, self._scope, [each])),
            lambda ending, limit: rows.with_ending(connection, self._scope, ending, limit),
        )
        found = rows.get(connection, self._scope, full)
        assert found is not None  # noqa: S101 - one transaction sees one state
        return found


def _search_words(search: str | None) -> tuple[str, ...]:
    words = text.fold(paging.filter_text("search", search) or "").split()
    if len(words) > _MAX_WORDS:
        raise InvalidInput("filter.invalid", f"search: give at most {_MAX_WORDS} words")
    return tuple(words)


def _packet(stored: StoredPacket) -> Packet:
    return Packet.from_document(schema.read(stored.body))
