"""Making memories of what lies elsewhere: packets and capsules, notes, conversations, exports of other memories.

Read again, a source adds nothing; a note that was changed replaces what it said; all of it can be undone by source.
What cannot be read or kept is passed over and said.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import DBAPIError

from segue.base import redaction as hidden
from segue.base.errors import InvalidInput, NotFound, SegueError
from segue.capsules import Capsule
from segue.conversions import memories as conversions
from segue.conversions.interchange import mcp_memory, pam
from segue.conversions.interchange.formats import detect, read_items
from segue.conversions.interchange.source import single
from segue.memories.source import parts_of, source_of
from segue.services.scoped import ScopedService
from segue.services.taking import LIVING, Report, Taking, batches
from segue.storage import capsules as capsule_rows
from segue.storage import events
from segue.storage import packets as packet_rows
from segue.storage.failures import translated
from segue.transcripts.conversation import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import sqlalchemy as sa

    from segue.conversions.interchange.formats import Format
    from segue.conversions.interchange.item import Found
    from segue.memories.item import Item
    from segue.packets.model import Packet
    from segue.services.cleaning import Policy
    from segue.services.memories import Memories
    from segue.transcripts.exports import OnProgress

_FILES: dict[str, tuple[str, ...]] = {"pam": (pam.FILE,), "mcp-memory": mcp_memory.FILES}
_LOCAL = ("markdown", "basic-memory", "mem0", "mcp-memory", "letta", "pam")


class Ingestion(ScopedService):
    """Makes memories of files, packets and capsules. Each batch of items is one transaction."""

    def __init__(self, memories: Memories, **shared: Any) -> None:
        super().__init__(memories.database, memories.scope_id, **shared)
        self._memories = memories

    def ingest(
        self,
        path: Path,
        *,
        form: Format | None = None,
        project: str = "",
        zone: tzinfo = UTC,
        redaction: Policy | None = None,
        label: str = "",
        on_progress: OnProgress | None = None,
    ) -> Report:
        """Make memories of the file or folder at `path` and return what became of it.

        `form` is its format where it is known; `project` is for what names none; `zone` is that of times which name
        none; `label` is what the source is called, else it is called after where it lies. Raises InvalidInput as
        `detect` does, and `import.empty` where nothing of a given format is there; nothing for what single items hold.
        """
        given, form = form, form or detect(path)
        report = Report(form)
        label = label or _label(path, form)
        found = read_items(path, form, zone=zone, on_progress=on_progress)
        if form == "packet" and not project:
            found = self._as_saved(found)
        whole = f"{form}:{label}/" if form in LIVING and path.is_dir() else ""
        self._take((_qualified(each, form, label) for each in found), report, project, redaction, whole)
        if given and not (report.counts.total() or report.passed_over):
            raise InvalidInput("import.empty", f"nothing of the format {form} was found in {path}")
        self._noted(report, form)
        return report

    def prepare(self) -> None:
        """Load what making memories needs, before the lock is held."""
        self._memories.prepare()

    def kept(self, connection: sa.Connection, stored: Packet | Capsule) -> str:
        """Make memories of what is stored in the same transaction, and return what stands against it, "" for nothing.

        What is stored is stored: where this fails, nothing of it stays, and `stored` catches up another time.
        """
        if isinstance(stored, Capsule):
            report, found = Report("capsule"), conversions.from_capsule(stored)
        else:
            saved_in = self._saved_in(connection, stored.id)
            report, found = Report("packet"), conversions.from_packet(stored, saved_in=saved_in)
        point = connection.begin_nested()
        try:
            with translated(self._database.name):
                Taking(self._memories, report).take_all(connection, found)
                point.commit()
        except SegueError as error:
            try:
                point.rollback()
            except DBAPIError:  # a full database has gone back on its own, and nothing is stored
                raise error from None
            if connection.invalidated:  # it broke, and what was stored went with it
                raise
            return f"no memories were made of it ({error.message}); `segue ingest` does it later"
        if not report.passed_over:
            return ""
        entries = "1 entry was" if report.passed_over == 1 else f"{report.passed_over} entries were"
        return f"{entries} not made a memory: {report.problems[0].message}"

    def _as_saved(self, found: Iterable[Found]) -> Iterator[Found]:
        """Items of a packet's file, in the project that the same packet was saved in where it names none."""
        items = list(found)
        refs = [each.provenance.ref for each in items if not isinstance(each, Problem)]
        packet_id = parts_of(refs[0].partition("#")[0])[1] if refs else ""
        with self._database.read() as connection:
            saved_in = self._saved_in(connection, packet_id)
        for each in items:
            yield each if isinstance(each, Problem) or each.project else replace(each, project=saved_in)

    def _saved_in(self, connection: sa.Connection, packet_id: str) -> str:
        """The name of the project that a packet was saved in, "" where it is not stored, or was saved in none."""
        row = packet_rows.get(connection, self._scope, packet_id)
        return (row.project_label or "") if row is not None else ""

    def gone(self, connection: sa.Connection, kind: str, stored_id: str) -> None:
        """Forget what nothing but a packet or capsule, which is removed in the same transaction, says."""
        with suppress(NotFound):
            self._memories.remove_source(connection, source_of(kind, stored_id))

    def packet(self, packet: Packet, *, redaction: Policy | None = None) -> Report:
        """Make memories of a packet: of what it says now, where it said something else before."""
        report = Report("packet")
        with self._database.read() as connection:
            saved_in = self._saved_in(connection, packet.id)
        self._take(conversions.from_packet(packet, saved_in=saved_in), report, "", redaction)
        return report

    def capsule(self, capsule: Capsule, *, redaction: Policy | None = None) -> Report:
        """Make memories of a capsule."""
        report = Report("capsule")
        self._take(conversions.from_capsule(capsule), report, "", redaction)
        return report

    def stored(self, *, redaction: Policy | None = None, on_progress: OnProgress | None = None) -> Report:
        """Make memories of all packets and capsules of this store, the oldest first."""
        report = Report("store")
        with self._database.read() as connection:
            packets = packet_rows.all_ids(connection, self._scope)
            capsules = capsule_rows.all_ids(connection, self._scope)
        total = len(packets) + len(capsules)
        for done, (kind, each) in enumerate(
            [*(("packet", each) for each in packets), *(("capsule", each) for each in capsules)]
        ):
            try:
                self._take(self._items(kind, each), report, "", redaction)
            except InvalidInput as error:  # a damaged body; the doctor speaks of it
                report.problem(Problem("import.value", error.message, each))
            if on_progress is not None:
                on_progress(done + 1, total)
        self._noted(report, "store")
        return report

    def _items(self, kind: str, each: str) -> tuple[Item, ...]:
        from segue import capsules
        from segue.packets import schema

        with self._database.read() as connection:
            if kind == "packet":
                packet = packet_rows.get(connection, self._scope, each)
                if packet is None:
                    return ()
                return conversions.from_packet(schema.parse(packet.body), saved_in=packet.project_label or "")
            capsule = capsule_rows.get(connection, self._scope, each)
            return conversions.from_capsule(capsules.parse(capsule.text)) if capsule else ()

    def _take(
        self, found: Iterable[Found], report: Report, project: str, redaction: Policy | None, whole: str = ""
    ) -> None:
        """Take what was found; `whole` is how all sources begin that this reading must have come upon."""
        taking = Taking(self._memories, report, project, redaction, whole)
        for batch in batches(found, whole=taking.living):
            with self._memories.writing(redaction) as (connection, writer):
                taking.take(connection, batch, writer)
        if taking.unsettled:
            with self._memories.writing() as (connection, _):
                taking.settle(connection)

    def _noted(self, report: Report, subject: str) -> None:
        counts = {name: number for name, number in sorted(report.counts.items()) if number}
        with self._database.write(self._scope) as connection:
            events.append(
                connection,
                self._scope,
                "memories.ingested",
                subject,
                actor=self._actor,
                now=self._clock(),
                details=counts | {"passed_over": report.passed_over},
            )
        self._memories.refresh()


def _label(path: Path, form: Format) -> str:
    """A name for a folder of notes, or for a file of another format, that says which it is and not where it lies."""
    place = path
    if form in LIVING:
        place = path if path.is_dir() else path.parent
    elif form in _FILES:
        place = single(path, _FILES[form])
    real = os.path.realpath(place)
    digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:8]
    name = os.fsencode(os.path.basename(real)).decode("utf-8", "replace")  # noqa: PTH119 - of the real path
    name = hidden.mask(hidden.Field("ref", name, True))[0]
    return f"{name[:60] or 'root'}-{digest}"


def _qualified(found: Found, form: Format, label: str) -> Found:
    """An item whose ref says which folder its file lies in: `README.md` lies in many."""
    if isinstance(found, Problem) or form not in _LOCAL:
        return found

    joint = "/" if form in LIVING else "#"  # a note is a source by itself, of the others the whole file is one

    def named(ref: str) -> str:
        kind, _, rest = ref.partition(":")
        return f"{kind}:{label}{joint}{rest}"

    written = replace(found.provenance, ref=named(found.provenance.ref))
    return replace(found, provenance=written, supersedes=tuple(named(ref) for ref in found.supersedes))
