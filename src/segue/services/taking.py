"""Taking items out of a source, batch by batch: what is new, what is gone from it, what cannot be kept is said."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from segue.base import jsontext
from segue.base import redaction as hidden
from segue.base.errors import SegueError
from segue.memories import identity as same
from segue.memories.making import MAX_REF
from segue.services.cleaning import clean
from segue.storage import memories as rows
from segue.storage import memory_sources as sources
from segue.storage import settings
from segue.transcripts.conversation import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import sqlalchemy as sa

    from segue.conversions.interchange.item import Found
    from segue.memories.item import Item
    from segue.services.cleaning import Policy
    from segue.services.memories import Memories
    from segue.services.remembering import Writer
    from segue.storage.memory_sources import Said

BATCH = 500  # items of one transaction: what a kill can undo
# Notes are edited where they lie, so what is gone from one does not hold any more. The rest are copies.
LIVING = ("markdown", "basic-memory")
_MARK = 12  # hex digits that tell apart what was masked
_LONGEST = MAX_REF - _MARK - 2
_MOST_PROBLEMS = 1_000  # that a report names; the rest is counted
COUNTED = ("new", "merged", "known", "approved", "forgotten", "replaced", "retired", "refused")
_UNREAD = ("import.read", "import.limit", "import.kept_out")


@dataclass(slots=True)
class Report:
    """What became of what was read, added up while it is read.

    `counts` is by verdict (see `remembering.Written`), and `replaced`, `retired` (gone from its note) and `refused`;
    `problems` are what was passed over, at most a thousand of `passed_over`; `sources` those that were read.
    """

    form: str = ""
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    passed_over: int = 0
    sources: set[str] = field(default_factory=set)

    def problem(self, problem: Problem) -> None:
        """Take note of something that was passed over."""
        self.passed_over += 1
        if len(self.problems) < _MOST_PROBLEMS:
            file, message = hidden.harmless(problem.file), hidden.harmless(problem.message)
            self.problems.append(replace(problem, file=file, message=message))

    def to_json(self) -> dict[str, Any]:
        """Return the shape of one entry of `segue ingest --json`."""
        return {
            "format": self.form,
            "counts": {name: self.counts[name] for name in COUNTED},
            "sources": len(self.sources),
            "passed_over": self.passed_over,
            "problems": [{"code": each.code, "message": each.message, "place": each.place} for each in self.problems],
        }


class Taking:
    """The items of one reading, batch by batch, each in a transaction; then `settle`, while `unsettled`."""

    def __init__(
        self,
        memories: Memories,
        report: Report,
        project: str = "",
        redaction: Policy | None = None,
        whole: str = "",
    ) -> None:
        self._whole = whole
        self._memories = memories
        self._report = report
        self._project = project
        self._redaction = redaction
        self._places: dict[str, set[str]] = {}
        self._seen: Counter[str] = Counter()
        self._kept_as: dict[str, str] = {}  # refs that are kept under another name, since they hold a secret
        self._replacing: list[tuple[str, str]] = []  # id of a memory, ref of what it replaces

    @property
    def living(self) -> bool:
        """Whether what is gone from a source does not hold any more."""
        return self._report.form in (*LIVING, "packet")

    @property
    def unsettled(self) -> bool:
        """Whether something may be left to do after the last batch."""
        return bool(self._replacing) or self.living

    def take_all(self, connection: sa.Connection, found: Iterable[Found]) -> None:
        """Take what is one batch, and settle it, inside a transaction that somebody else has begun."""
        self.take(connection, found, self._memories.writer(connection, self._redaction))
        if self.unsettled:
            self.settle(connection)

    def take(self, connection: sa.Connection, batch: Iterable[Found], writer: Writer) -> None:
        """Write one batch."""
        items = list(self._kept(connection, batch, writer))
        written = writer.write(items)
        writer.finish()
        for item, each in zip(items, written, strict=True):
            self._report.counts[each.verdict] += 1
            self._report.counts["replaced"] += len(each.replaced)
            if each.memory is not None and each.verdict != "known":
                self._replacing += [(each.memory.id, ref) for ref in item.supersedes]

    def _kept(self, connection: sa.Connection, batch: Iterable[Found], writer: Writer) -> Iterator[Item]:
        for found in batch:
            if isinstance(found, Problem):
                self._report.problem(found)
                continue
            item = found if found.project or not self._project else replace(found, project=self._project)
            item = self._told_apart(item)
            try:
                cleaned = self._named(connection, item, writer.clean(item))
            except SegueError as error:
                self._report.counts["refused"] += 1
                self._report.problem(Problem(error.code, error.message, hidden.shown(item.provenance.ref, 200)))
                self._refused(connection, item)
            else:
                self._report.sources.add(self._met(cleaned.provenance.ref))
                yield cleaned

    def _named(self, connection: sa.Connection, item: Item, cleaned: Item) -> Item:
        """An item whose ref, where a secret was masked in it, is still another one than that of any other place."""
        given = item.provenance.ref
        ref = _told_apart(given, cleaned.provenance.ref, lambda: settings.signing_key(connection))
        if ref == cleaned.provenance.ref:
            return cleaned
        self._kept_as[given] = ref
        return replace(cleaned, provenance=replace(cleaned.provenance, ref=ref))

    def _refused(self, connection: sa.Connection, item: Item) -> None:
        """What is refused is not gone from where it stands, by whatever name it may have been kept before."""
        with suppress(SegueError):
            self._met(self._named(connection, item, clean(item, "mask")).provenance.ref)
        if jsontext.is_unicode(item.provenance.ref):
            self._report.sources.add(self._met(item.provenance.ref))

    def _met(self, ref: str) -> str:
        """Note that a place was come upon, and return its source."""
        source, place = sources.split(ref)
        self._places.setdefault(source, set()).add(place)
        return source

    def _told_apart(self, item: Item) -> Item:
        """A place that a file names twice is two, else each reading would replace the one by the other."""
        ref = item.provenance.ref
        self._seen[ref] += 1
        if self._seen[ref] == 1:
            return item
        joint = "~" if "#" in ref else "#~"
        return replace(item, provenance=replace(item.provenance, ref=f"{ref}{joint}{self._seen[ref]}"))

    def settle(self, connection: sa.Connection) -> None:
        """Replace what is said to be replaced; in living sources, retire what is gone from where it stood."""
        gone = self._gone(connection) if self.living else []
        if not (gone or self._replacing):
            return
        writer = self._memories.writer(connection)
        self._replace(connection, writer)
        self._retire(connection, writer, gone)
        writer.finish()

    def _replace(self, connection: sa.Connection, writer: Writer) -> None:
        replacing = [(new_id, sources.split(self._kept_as.get(ref, ref))) for new_id, ref in self._replacing]
        known = sources.at(connection, self._memories.scope_id, [place for _, place in replacing])
        for new_id, place in replacing:
            said = known.get(place)
            if said is not None and self._memories.replace_quietly(connection, writer, said.memory_id, new_id):
                self._report.counts["replaced"] += 1

    def _gone(self, connection: sa.Connection) -> list[Said]:
        """The places that say nothing any more."""
        scope = self._memories.scope_id
        unread = (
            any(each.code in _UNREAD for each in self._report.problems) or self._report.passed_over > _MOST_PROBLEMS
        )
        if self._whole and not unread:  # what could not be read is not known to be gone
            for source in sources.beginning(connection, scope, self._whole):
                self._places.setdefault(source, set())
        return [
            said
            for source, seen in self._places.items()
            if not seen.issuperset(sources.places(connection, scope, source))
            for said in sources.from_source(connection, scope, source)
            if said.place not in seen
        ]

    def _retire(self, connection: sa.Connection, writer: Writer, gone: Sequence[Said]) -> None:
        scope = self._memories.scope_id
        sources.remove(connection, scope, gone)
        left = sources.counts(connection, scope, list({each.memory_id for each in gone}))
        rows.set_occurrences(connection, scope, {each: max(count, 1) for each, count in left.items()})
        alone = [each for each, count in left.items() if count == 0]
        for memory in rows.by_ids(connection, scope, alone).values():
            if memory.status == "active" and memory.revision == 1:  # what a person has edited is his own
                writer.retire(replace(memory, occurrences=1))
                self._report.counts["retired"] += 1


def batches(found: Iterable[Found], *, whole: bool) -> Iterator[list[Found]]:
    """Yield items in batches; with `whole` no source is torn apart, since texts may have moved about in it."""
    batch: list[Found] = []
    for each in found:
        torn = whole and bool(batch) and _source(each) == _source(batch[-1])
        if len(batch) >= BATCH and not torn:
            yield batch
            batch = []
        batch.append(each)
    if batch:
        yield batch


def _source(found: Found) -> str:
    return "" if isinstance(found, Problem) else found.provenance.source


def _told_apart(given: str, kept: str, key: Callable[[], bytes]) -> str:
    """A ref in which secrets were masked, with a hash of what it was: two names must not become one by that."""
    if kept == given.strip().replace("\0", "\ufffd"):
        return kept
    (source, place), (masked, masked_place) = sources.split(given), sources.split(kept)
    if masked_place != place:
        masked_place = f"{masked_place[: _LONGEST // 2]}~{same.keyed(given, key())[:_MARK]}"
    if masked != source:
        masked = f"{masked[: max(_LONGEST - len(masked_place), 0)]}~{same.keyed(source, key())[:_MARK]}"
    return f"{masked}#{masked_place}" if masked_place else masked
