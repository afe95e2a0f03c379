"""Sources: memories of others, read from a folder or an address, kept as a whole, and taken back as a whole.

Nothing reads a source by itself: only `look`, `refresh` and `check` do, each because somebody asked. What was read is
written in one transaction, in which nothing is read from anywhere else.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from segue.base import ids, redaction
from segue.base.errors import Conflict, NotFound, Refused, SegueError, Stale
from segue.conversions import records as conversions
from segue.services import source_naming as naming
from segue.services import source_taking as taking
from segue.services.scoped import ScopedService
from segue.services.source_views import COUNTED, Offer, Refreshed, Removed, Shown, Source
from segue.sources import record as records
from segue.sources import snapshot as snapshots
from segue.sources.limits import DEFAULT
from segue.sources.paths import MANIFEST
from segue.storage import events
from segue.storage import sources as rows
from segue.storage.sources import Export, StoredManifest, StoredRecord, StoredSource

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import sqlalchemy as sa

    from segue.memories.memory import Memory
    from segue.services.memories import Memories
    from segue.services.source_exporting import Exporting
    from segue.services.source_publishing import Publishing
    from segue.services.source_reading import OnProgress, Readers
    from segue.sources.problems import Problem
    from segue.sources.record import Record
    from segue.sources.snapshot import Resource, Snapshot
    from segue.storage.database import Database
    from segue.storage.sources import Kind

NO_ACCESS = "source.access"  # the code of a reader's error where an address refuses access
_MAX_MESSAGE = 500


class Sources(ScopedService):
    """The sources of one scope.

    `readers` read places; `memories` are those that the records become, and are asked for where some are written.
    """

    def __init__(
        self,
        database: Database,
        scope_id: str,
        *,
        memories: Callable[[], Memories],
        readers: Callable[[], Readers],
        **shared: Any,
    ) -> None:
        super().__init__(database, scope_id, **shared)
        self._asked_memories = memories
        self._readers = readers

    @property
    def _memories(self) -> Memories:
        return self._asked_memories()

    def reading(self, readers: Readers) -> Sources:
        """Return the same sources, read by other readers."""
        return Sources(
            self._database,
            self._scope,
            memories=self._asked_memories,
            readers=lambda: readers,
            project=self._project,
            clock=self._clock,
            actor=self._actor,
        )

    @property
    def publishing(self) -> Publishing:
        """What publishes memories of the user's own as a folder that others can read as a source."""
        from segue.services.source_publishing import Publishing

        return Publishing(self._memories, project=self._project, clock=self._clock, actor=self._actor)

    @property
    def exporting(self) -> Exporting:
        """What writes the records into the files of other tools."""
        from segue.services.source_exporting import Exporting

        return Exporting(self, clock=self._clock)

    # -- reading ------------------------------------------------------------------------------------------------

    def ls(self) -> list[Source]:
        """Return the sources, by name."""
        with self._database.read() as connection:
            numbers = rows.counts(connection, self._scope)
            found = rows.listed(connection, self._scope)
        return [Source(stored=each, records=numbers.get(each.name, 0)) for each in found]

    def get(self, name: str) -> Source:
        """Return a source. Raises NotFound `source.not_found`."""
        with self._database.read() as connection:
            stored = self._find(connection, name)
            return Source(stored=stored, records=rows.counts(connection, self._scope).get(name, 0))

    def records(self, name: str) -> tuple[Record, ...]:
        """Return the records of a source's snapshot, in the order of its manifest.

        Raises NotFound `source.not_found`, Refused `source.withheld`.
        """
        return self.snapshot(name).records

    def snapshot(self, name: str) -> Snapshot:
        """Return the snapshot of a source, as it was read last. Raises as `records` does."""
        with self._database.read() as connection:
            self._open(self._find(connection, name))
            kept = list(self._resources(connection, name).values())
        return snapshots.assembled(kept[0], kept[1:], DEFAULT)

    def record(self, name: str, record_id: str) -> Shown:
        """Return one record of a source. Raises NotFound `source.not_found`, `source.no_record`, Refused."""
        with self._database.read() as connection:
            source = Source(
                stored=self._open(self._find(connection, name)),
                records=rows.counts(connection, self._scope).get(name, 0),
            )
            kept = rows.record(connection, self._scope, name, record_id)
            if kept is None:
                shown = redaction.shown(record_id, 128)
                raise NotFound("source.no_record", f"{name} has no record '{shown}'; see `segue source show {name}`")
            manifest = snapshots.resource(MANIFEST, rows.manifest(connection, self._scope, name).body)
            found = taking.states(connection, self._scope, name).get(record_id, [])
        entry = next(each for each in naming.manifest_of(manifest).records if each.path == kept.path)
        return Shown(source, records.read(entry, kept.body, DEFAULT), tuple(found))

    def states(self, name: str) -> dict[str, list[Memory]]:
        """Return the memories that the records of a source became, by the record's id; those that are not there lack.

        Raises NotFound `source.not_found`.
        """
        with self._database.read() as connection:
            self._find(connection, name)
            return dict(taking.states(connection, self._scope, name))

    def check(self, place: str | Path, *, bearer: str = "", on_progress: OnProgress | None = None) -> list[Problem]:
        """Return everything that would fail if this place were a source, and remarks. Nothing is kept.

        Raises Refused `source.url`, `source.address`, …, Failed `source.unreachable` where nothing can be read.
        """
        return self._readers().check(place, bearer=bearer, also=taking.faults, on_progress=on_progress)

    def _find(self, connection: sa.Connection, name: str) -> StoredSource:
        found = rows.get(connection, self._scope, name) if naming.is_name(name) else None
        if found is None:
            shown = redaction.shown(name, 64)
            raise NotFound("source.not_found", f"there is no source '{shown}'; see `segue source ls`")
        return found

    @staticmethod
    def _open(source: StoredSource) -> StoredSource:
        if source.withheld:
            message = f"{source.place} refused access, so nothing of {source.name} is used until it gives it again"
            raise Refused("source.withheld", message)
        return source

    def _resources(self, connection: sa.Connection, name: str) -> dict[str, Resource]:
        """The files of a snapshot by their paths, the manifest's first."""
        kept = rows.manifest(connection, self._scope, name)
        found = {
            MANIFEST: snapshots.resource(
                MANIFEST, kept.body, snapshots.Validators(etag=kept.etag, last_modified=kept.last_modified)
            )
        }
        for each in rows.records(connection, self._scope, name):
            whole = snapshots.resource(each.path, each.body)
            if whole.sha256 == each.sha256:  # else it is not what was read, and a server's word for that counts no more
                validators = snapshots.Validators(etag=each.etag, last_modified=each.last_modified)
                whole = replace(whole, validators=validators)
            found[each.path] = whole
        return found

    # -- adding and refreshing ----------------------------------------------------------------------------------

    def place(self, given: str | Path) -> tuple[Kind, str]:
        """Return the kind of a place (local, https) and its one spelling; nothing is read.

        Raises InvalidInput `source.place`, Refused `source.url`, `source.address`.
        """
        return self._readers().place(given)

    def look(
        self, place: str | Path, *, name: str = "", bearer: str = "", on_progress: OnProgress | None = None
    ) -> Offer:
        """Read a folder or an address whose memories may be used from then on; `add` uses them.

        Raises InvalidInput `source.name`, Conflict `source.exists` where the place or the name is a source already, and
        what the readers raise.
        """
        readers = self._readers()
        kind, there = readers.place(place)
        with self._database.read() as connection:
            chosen = self._name(connection, there, name)
            self._require_new(connection, there, chosen)
        snapshot = readers.read(kind, there, bearer=bearer, on_progress=on_progress)
        return Offer(kind, there, chosen, snapshot)

    def _name(self, connection: sa.Connection, place: str, wanted: str) -> str:
        if wanted:
            return naming.require_name(wanted)
        taken = {each.name for each in rows.listed(connection, self._scope)}
        return naming.unused(naming.suggested(place), taken)

    def _require_new(self, connection: sa.Connection, place: str, name: str) -> None:
        known = rows.at(connection, self._scope, place)
        if known is not None:
            raise Conflict("source.exists", f"{place} is the source {known.name} already; `segue source refresh` it")
        if rows.get(connection, self._scope, name) is not None:
            raise Conflict("source.exists", f"there is a source {name} already; give another name")

    def add(self, offer: Offer) -> Refreshed:
        """Use what was read from now on. Raises Conflict `source.exists`, InvalidInput `source.record`."""
        self._memories.prepare()
        now = self._clock()
        source = StoredSource(
            name=offer.name,
            source_id=ids.new(now),
            kind=offer.kind,
            place=offer.place,
            title=offer.snapshot.manifest.title,
            revision=1,
            added_at=now,
            attempted_at=now,
            refreshed_at=now,
            changed_at=now,
            digest=naming.digest(offer.snapshot),
        )
        found = offer.snapshot.records
        with self._database.write(self._scope) as connection:
            self._require_new(connection, offer.place, offer.name)
            rows.insert(connection, self._scope, source, _manifest(offer.snapshot))
            rows.put_records(connection, self._scope, source.name, _records(offer.snapshot))
            taking.take(self._memories, connection, source, found, {each.id for each in found})
            self._note(connection, "source.added", source.name, {"records": len(found)})
        self._memories.refresh()
        kept = Source(stored=source, records=len(found))
        return Refreshed(kept, Counter(new=len(found)), offer.snapshot.remarks)

    def refresh(self, name: str, *, bearer: str = "", on_progress: OnProgress | None = None) -> Refreshed:
        """Read a source again: all of what it says now takes the place of all that it said, or nothing changes.

        Where it cannot be read, the snapshot before stands and the source says why; where its address refuses access,
        nothing of it is used until a later refresh succeeds. Raises NotFound `source.not_found`, Stale
        `source.stale` where something else wrote the source meanwhile, and what the readers raise.
        """
        with self._database.read() as connection:
            before = self._find(connection, name)
            # A folder is read whole, so that nothing of what is known is needed.
            kept = self._resources(connection, name) if before.kind == "https" else {}
        try:
            snapshot = self._readers().read(
                before.kind, before.place, before=kept, bearer=bearer, on_progress=on_progress
            )
            return self._refreshed(before, snapshot)
        except SegueError as error:
            if error.code not in ("source.not_found", "source.stale") and not error.code.startswith("store."):
                self._failed(before, error)
            raise

    def _refreshed(self, before: StoredSource, snapshot: Snapshot) -> Refreshed:
        self._memories.prepare()
        now = self._clock()
        found = {each.id: each.sha256 for each in snapshot.records}
        with self._database.write(self._scope) as connection:
            current = self._unchanged(connection, before)
            known = rows.hashes(connection, self._scope, current.name)
            returned = current.withheld
            digest = naming.digest(snapshot)
            source = replace(
                current,
                title=snapshot.manifest.title,
                attempted_at=now,
                refreshed_at=now,
                changed_at=current.changed_at if digest == current.digest else now,
                fault="",
                fault_message="",
                withheld=False,
                digest=digest,
            )
            source = rows.put(connection, self._scope, source, _manifest(snapshot))
            if returned or digest != current.digest or _validators_differ(connection, self._scope, current, snapshot):
                rows.put_records(connection, self._scope, source.name, _records(snapshot))
            if returned or digest != current.digest:
                taking.take(self._memories, connection, source, snapshot.records, set(found))
            counts = _compared(known, found)
            details = {each: counts[each] for each in COUNTED if counts[each]}
            self._note(connection, "source.refreshed", source.name, details)
        if returned or digest != before.digest:
            self._memories.refresh()
        return Refreshed(Source(stored=source, records=len(found)), counts, snapshot.remarks, returned)

    def _unchanged(self, connection: sa.Connection, before: StoredSource) -> StoredSource:
        current = self._same(connection, before)
        if current is None:
            raise NotFound("source.not_found", f"{before.name} was removed while it was read")
        if current.revision != before.revision:
            message = f"something else refreshed {before.name} meanwhile; what it wrote stands"
            raise Stale("source.stale", message)
        return current

    def _same(self, connection: sa.Connection, before: StoredSource) -> StoredSource | None:
        current = rows.get(connection, self._scope, before.name)
        return current if current is not None and current.source_id == before.source_id else None

    def _failed(self, before: StoredSource, error: SegueError) -> None:
        """Keep why a source could not be read; where access is refused, use nothing of it from now on."""
        self._memories.prepare()
        refused = error.code == NO_ACCESS
        with self._database.write(self._scope) as connection:
            current = self._same(connection, before)
            if current is None:
                return
            said = redaction.harmless(error.message)[:_MAX_MESSAGE]
            failed = replace(current, attempted_at=self._clock(), fault=error.code, fault_message=said)
            if refused and not current.withheld:
                rows.put(connection, self._scope, replace(failed, withheld=True))
                gone = taking.withhold(self._memories, connection, current)
                self._note(connection, "source.withheld", current.name, {"memories": gone})
            else:
                rows.note(connection, self._scope, failed)

    # -- removing and exporting ---------------------------------------------------------------------------------

    def rm(self, name: str) -> Removed:
        """Stop using a source, and forget all that came from it alone. Raises NotFound `source.not_found`.

        What was written to other tools is taken away by `exporting.rewrite` before; `Removed` says where it is.
        """
        self._memories.prepare()
        with self._database.write(self._scope) as connection:
            source = self._find(connection, name)
            gone = self._memories.withdraw(connection, [conversions.source_named(name)], edited_stay=False)
            rows.delete(connection, self._scope, name)
            self._note(connection, "source.removed", name, {"memories": gone})
        return Removed(source, gone)

    def note_export(self, name: str, export: Export, *, gone: bool = False) -> None:
        """Remember a file of another tool that the records of a source are in, or that they are `gone` from it.

        Raises NotFound.
        """
        with self._database.write(self._scope) as connection:
            source = self._find(connection, name)
            others = [each for each in source.exports if each.path != export.path]
            kept = others if gone else [*others, export]
            rows.note(connection, self._scope, replace(source, exports=tuple(kept)))

    def _note(self, connection: sa.Connection, kind: str, subject: str, details: Mapping[str, Any]) -> None:
        events.append(
            connection, self._scope, kind, subject, actor=self._actor, now=self._clock(), details=dict(details)
        )


def _compared(before: Mapping[str, str], now: Mapping[str, str]) -> Counter[str]:
    counts: Counter[str] = Counter(removed=len(before.keys() - now.keys()))
    for record_id, digest in now.items():
        known = before.get(record_id)
        counts["new" if known is None else "unchanged" if known == digest else "changed"] += 1
    return counts


def _validators_differ(connection: sa.Connection, scope_id: str, source: StoredSource, snapshot: Snapshot) -> bool:
    kept = rows.validators(connection, scope_id, source.name)
    return source.kind == "https" and kept != {
        each.path: (each.validators.etag, each.validators.last_modified) for each in snapshot.resources[1:]
    }


def _manifest(snapshot: Snapshot) -> StoredManifest:
    first = snapshot.resources[0]
    return StoredManifest(first.data, first.validators.etag, first.validators.last_modified)


def _records(snapshot: Snapshot) -> list[StoredRecord]:
    return [
        StoredRecord(
            id=record.id,
            path=each.path,
            sha256=each.sha256,
            etag=each.validators.etag,
            last_modified=each.validators.last_modified,
            body=each.data,
        )
        for record, each in zip(snapshot.records, snapshot.resources[1:], strict=True)
    ]
