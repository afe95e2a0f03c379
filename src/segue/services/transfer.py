"""The whole store as JSON Lines, out and in again: the same content gives the same bytes, on either database.

Events and what search keeps do not travel: the one belongs to the place, the other is made again. What a file says
is believed of nobody: each line is checked by itself, is taken whole or not at all, and never changes what is there.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

from segue.base import jsontext
from segue.base.errors import Conflict as Contradicted
from segue.base.errors import Failed, InvalidInput, SegueError
from segue.memories.filter import Filter
from segue.services import transfer_lines
from segue.services import transfer_records as records
from segue.services.chains import Forest, Supersessions
from segue.services.indexing import Indexing
from segue.services.reindexing import Reindexing
from segue.services.scoped import ScopedService
from segue.services.transfer_writing import Batch
from segue.storage import events, settings
from segue.storage import memories as memory_rows
from segue.storage import memory_entities as entity_rows
from segue.storage import memory_history as history
from segue.storage import memory_sources as sources
from segue.storage import packets as packet_rows
from segue.storage import transfer as rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import sqlalchemy as sa

    from segue.services.embedding import Embedding
    from segue.services.transfer_records import Record

BATCH = 500  # lines of one transaction
MAX_LINE = 16 << 20  # bytes
_BATCH_BYTES = 8 << 20
_MOST_PROBLEMS = 1_000  # that a report names; the rest is counted
NAMES = {
    "packet": "packets",
    "capsule": "capsules",
    "alias": "aliases",
    "memory": "memories",
    "conflict": "conflicts",
    "tombstone": "tombstones",
}


@dataclass(frozen=True, slots=True)
class LineProblem:
    """A line that was not taken: its number (from 1), and why. The message quotes nothing of it."""

    line: int
    code: str
    message: str


@dataclass(slots=True)
class Loaded:
    """What became of the lines of an import.

    `added` counts by kind (packets, capsules, aliases, memories, conflicts, tombstones) what is new; `unchanged` was
    there already, `conflicting` is there and says something else, `forgotten` was forgotten here and is not taken
    back, `refused` breaks a rule. `problems` says more of the last three, of at most a thousand lines.
    """

    added: Counter[str] = field(default_factory=Counter)
    unchanged: int = 0
    conflicting: int = 0
    forgotten: int = 0
    refused: int = 0
    problems: list[LineProblem] = field(default_factory=list)

    def note(self, line: int, error: SegueError) -> None:
        """Take note of a line that was not taken."""
        if isinstance(error, Contradicted):
            self.conflicting += 1
        elif error.code == "memory.forgotten":
            self.forgotten += 1
        else:
            self.refused += 1
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(LineProblem(line, error.code, error.message))

    def counts(self) -> dict[str, int]:
        """Return all numbers by name, those of `added` by kind, zero included."""
        found = {name: self.added[name] for name in NAMES.values()}
        others = ("unchanged", "conflicting", "forgotten", "refused")
        return found | {name: getattr(self, name) for name in others}

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue import --json`."""
        told = [{"line": each.line, "code": each.code, "message": each.message} for each in self.problems]
        return self.counts() | {"problems": told}


class Transfer(ScopedService):
    """Exports all that a scope holds, and imports what was exported."""

    def __init__(self, *given: Any, embedding: Embedding, **shared: Any) -> None:
        super().__init__(*given, **shared)
        self._embedding = embedding

    # -- export -------------------------------------------------------------------------------------------------

    def export(self, write: Callable[[bytes], object]) -> dict[str, int]:
        """Hand the whole store to `write`, a line of JSON at a time, and return how many there are of each kind.

        All of it is one state, others may go on writing. Raises Failed `store.corrupt` where a row cannot be read.
        """
        counted: Counter[str] = Counter()
        with self._database.read() as connection:
            write(_line(transfer_lines.header(rows.counts(connection, self._scope))))
            for line in _readable(self._lines(connection)):
                write(_line(line))
                counted[NAMES[line["type"]]] += 1
        return {name: counted[name] for name in NAMES.values()}

    def _lines(self, connection: sa.Connection) -> Iterator[dict[str, Any]]:
        scope = self._scope
        yield from map(transfer_lines.packet_line, rows.all_packets(connection, scope))
        yield from map(transfer_lines.capsule_line, rows.all_capsules(connection, scope))
        yield from map(transfer_lines.alias_line, entity_rows.aliases(connection, scope))
        yield from self._memory_lines(connection)
        yield from map(transfer_lines.conflict_line, rows.all_conflicts(connection, scope))
        yield from map(transfer_lines.tombstone_line, history.all_tombstones(connection, scope))

    def _memory_lines(self, connection: sa.Connection) -> Iterator[dict[str, Any]]:
        after = ""
        while batch := memory_rows.following(connection, self._scope, Filter(), after, BATCH):
            ids = [memory.id for memory in batch]
            said = sources.of(connection, self._scope, ids)
            versions = rows.versions_of(connection, self._scope, ids)
            for memory in batch:
                yield transfer_lines.memory_line(memory, said.get(memory.id, ()), versions.get(memory.id, ()))
            after = ids[-1]

    # -- import -------------------------------------------------------------------------------------------------

    def load(
        self,
        lines: Iterable[bytes],
        *,
        allow_unredacted: bool = False,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> Loaded:
        """Add what the lines of an export say and return what became of each; 500 lines are one transaction.

        What is there already stays as it is. A line with something in it that must not travel is refused, unless it
        was stored with that on purpose and `allow_unredacted`. `on_progress` is told how many lines are done, of how
        many (0 where the header does not say). Raises InvalidInput `transfer.header`, `transfer.version` before
        anything is written, Failed `store.…`; for what single lines hold nothing.
        """
        numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
        promised = sum(records.require_header(next(numbered, (0, b""))[1]).values())
        report, done, last = Loaded(), 0, 1
        taking = _Taking(self, report)
        for batch in _batches(numbered):
            taking.take(self._read(batch, report, allow_unredacted=allow_unredacted))
            done, last = done + len(batch), batch[-1][0]
            if on_progress is not None:
                on_progress(done, promised)
        if done < promised:
            message = f"the file ends too early: {promised - done:,} lines are missing"
            report.note(last + 1, InvalidInput("transfer.cut", message))
        report.problems.sort(key=lambda each: each.line)
        self._noted(report)
        return report

    def _read(
        self, batch: Iterable[tuple[int, bytes]], report: Loaded, *, allow_unredacted: bool
    ) -> list[tuple[int, Record]]:
        found: list[tuple[int, Record]] = []
        for number, line in batch:
            try:
                if len(line) > MAX_LINE:
                    raise InvalidInput("transfer.size", f"the line has more than {MAX_LINE >> 20} MB")
                found.append((number, records.parsed(line, allow_unredacted=allow_unredacted)))
            except SegueError as error:
                report.note(number, error)
        return found

    def _noted(self, report: Loaded) -> None:
        now = self._clock()
        with self._database.write(self._scope) as connection:
            events.append(
                connection, self._scope, "store.imported", "", actor=self._actor, now=now, details=report.counts()
            )
        if report.added["memories"]:
            Reindexing(self._database, self._scope, self._embedding, self._clock).refresh()


class _Taking:
    """One import, batch by batch: what stays the same from one transaction to the next."""

    def __init__(self, transfer: Transfer, report: Loaded) -> None:
        self._transfer = transfer
        self._report = report
        self._words = transfer._embedding.words  # loaded before any lock is held
        with transfer._database.read() as connection:
            scope = transfer._scope
            self._parents = Forest(packet_rows.all_parents(connection, scope))
            self._chains = Supersessions(rows.replaced(connection, scope), rows.replacing(connection, scope))

    def take(self, batch: list[tuple[int, Record]]) -> None:
        """Write one batch in one transaction."""
        if not batch:
            return
        transfer, now = self._transfer, self._transfer._clock()
        with transfer._database.write(transfer._scope) as connection:
            writing = Batch(
                connection,
                transfer._scope,
                Indexing(connection, transfer._scope, self._words, now),
                key=settings.signing_key(connection),
                parents=self._parents,
                chains=self._chains,
            )
            for _, group in groupby(batch, key=lambda each: type(each[1])):
                writing.write(list(group))
            writing.finish()
        self._report.added.update({NAMES[kind]: number for kind, number in writing.added.items()})
        self._report.unchanged += writing.unchanged
        for number, error in writing.problems:
            self._report.note(number, error)


def _batches(numbered: Iterator[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    """Yield lines in batches that fit into memory, however long they are."""
    batch: list[tuple[int, bytes]] = []
    size = 0
    for number, line in numbered:
        batch.append((number, line))
        size += len(line)
        if len(batch) == BATCH or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _readable(lines: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    try:
        yield from lines
    except (TypeError, ValueError, KeyError, InvalidInput):  # SQLite takes any type in any column
        raise Failed("store.corrupt", "the store holds a row that cannot be read; see `segue doctor`") from None


def _line(document: dict[str, Any]) -> bytes:
    return jsontext.dump(document, sort_keys=True) + b"\n"
