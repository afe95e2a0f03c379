"""Search: the memories that answer a question, best first, each with the reasons why it was found."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from segue.base import cursors, time
from segue.base.errors import InvalidInput
from segue.services.filters import filtered, resolved
from segue.services.scoped import ScopedService
from segue.storage import memories as rows
from segue.storage import settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    import sqlalchemy as sa

    from segue.memories.filter import Filter
    from segue.memories.memory import Memory
    from segue.search.index import Index, Results
    from segue.search.ranking import Found as Reason
    from segue.services.embedding import Embedding
    from segue.services.indexes import Indexes, Loaded
    from segue.services.projects import Project
    from segue.storage.database import Database

DEFAULT_K, MAX_K = 10, 500
MAX_QUERY = 100_000  # characters; what stands behind them is not read
_NARROW = 2_000  # memories that a filter leaves, up to which they are named to the index
_STEP = 200
_WIDER = 10  # times as many candidates where a filter leaves too few of them
_PINNED = 32  # results that are kept for their next pages


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that was found.

    `relevance` lies in 0 to 1; `relevance_basis` is rank, by which the best that was found without filters has 1, or
    cosine (decision M6). `rank` is its place, from 1, before filters. `why` says which retrievers found it, at
    which rank, and with which terms.
    """

    memory: Memory
    relevance: float
    relevance_basis: str
    why: tuple[Reason, ...]
    rank: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the shape of a hit in `segue search --json`."""
        return {
            "memory": self.memory.to_json(),
            "relevance": self.relevance,
            "relevance_basis": self.relevance_basis,
            "why": [asdict(each) for each in self.why],
        }


@dataclass(frozen=True, slots=True)
class Hits:
    """What a search found. `cursor` continues it, None at the end; `notes` say what made it poorer than it could be.

    `considered` is how many memories were found before filters, `narrowed` how many of them pass, where that was asked.
    """

    hits: list[Hit]
    cursor: str | None
    notes: tuple[str, ...] = ()
    considered: int = 0
    narrowed: int = 0

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue search --json`."""
        return {"hits": [each.to_json() for each in self.hits], "cursor": self.cursor, "notes": list(self.notes)}


class Search(ScopedService):
    """Searches the memories of one scope. Nothing is written."""

    def __init__(
        self,
        database: Database,
        scope_id: str,
        *,
        project: Callable[[], Project],
        clock: Callable[[], datetime],
        embedding: Embedding,
        indexes: Indexes,
        actor: str = "local",
    ) -> None:
        super().__init__(database, scope_id, project=project, clock=clock, actor=actor)
        self._embedding = embedding
        self._indexes = indexes
        self._pinned: OrderedDict[str, Results] = OrderedDict()

    def find(
        self,
        query: str,
        *,
        k: int = DEFAULT_K,
        as_of: datetime | None = None,
        cursor: str | None = None,
        valid_only: bool = True,
        minimum_relevance: float = 0.0,
        counted: bool = False,
        **wanted: Any,
    ) -> Hits:
        """Return the best `k` memories (1 to 500) that answer `query`, which is any text and never an error.

        `as_of` asks for what held and was known then; without it, what holds now. `valid_only` leaves out what was
        replaced or is over; `minimum_relevance` (0 to 1) what matches less. `counted` counts what was found. `wanted`
        are the filters of `segue.services.filters.filtered`; they never change a relevance. Raises InvalidInput
        `search.k`, `filter.invalid`, `cursor.invalid`, `time.invalid` where `as_of` has no offset.
        """
        if not 1 <= k <= MAX_K:
            raise InvalidInput("search.k", f"k lies between 1 and {MAX_K}, not at {k}")
        if as_of is not None and as_of.tzinfo is None:
            raise InvalidInput("time.invalid", "as_of needs its offset from UTC")
        with self._database.read() as connection:
            narrowed = resolved(connection, self._scope, filtered(self._project, **wanted))
            asked = _Asked(query[:MAX_QUERY], narrowed, as_of, valid_only, minimum_relevance)
            loaded = self._indexes.current(connection, self._scope)
            page = self._page(connection, loaded, asked, k, cursor, counted=counted)
        return replace(page, notes=notes(self._embedding, loaded))

    def _page(
        self, connection: sa.Connection, loaded: Loaded, asked: _Asked, k: int, cursor: str | None, *, counted: bool
    ) -> Hits:
        key = settings.signing_key(connection)
        described = ["search from", self._scope, asked.to_json()]
        now = self._clock()
        known_us = None if asked.as_of is None else time.microseconds(asked.as_of)
        start, last = 0, ""
        if cursor is not None:
            position = cursors.decode(cursor, described, key)
            known_us, start, last = int(position[0]), int(position[1]), str(position[2])
            now = time.from_microseconds(int(position[3]))  # "yesterday" means the same day on all pages
        at_us = known_us if known_us is not None and (asked.as_of or cursor) else time.microseconds(now)
        pinned = self._pinned.get(cursor) if cursor else None
        index = loaded.index
        if cursor is not None and pinned is None and known_us is not None:
            index = self._indexes.known_at(connection, self._scope, loaded, known_us)
        walk = _Walk(self, connection, index, asked, now, at_us, known_us)
        results, found = walk.take(k + 1, start, last, pinned)
        hits = [self._hit(results, place, memory) for place, memory in found[:k]]
        totals = walk.totals(results) if counted else (0, 0)
        if len(found) <= k:
            return Hits(hits, None, (), *totals)
        bound = known_us if known_us is not None else self._latest(connection, now)
        place, memory = found[k - 1]
        following = cursors.encode([bound, place + 1, memory.id, time.microseconds(now)], described, key)
        self._pin(following, results)
        return Hits(hits, following, (), *totals)

    def _latest(self, connection: sa.Connection, now: datetime) -> int:
        return max(time.microseconds(now), rows.latest(connection, self._scope))

    def _pin(self, cursor: str, results: Results) -> None:
        self._pinned[cursor] = results
        while len(self._pinned) > _PINNED:
            self._pinned.popitem(last=False)

    @staticmethod
    def _hit(results: Results, place: int, memory: Memory) -> Hit:
        ranked = results.ranked(place)
        return Hit(memory, ranked.relevance, ranked.basis, ranked.why, place + 1)


def notes(embedding: Embedding, loaded: Loaded) -> tuple[str, ...]:
    """Return what makes a search poorer than it could be, a sentence each."""
    if embedding.fault:
        return (f"search goes by words alone: {embedding.fault}",)
    if loaded.foreign:
        number = "1 memory has" if loaded.foreign == 1 else f"{loaded.foreign:,} memories have"
        found = "is found by its words" if loaded.foreign == 1 else "are found by their words"
        return (f"{number} no vector of this embedder and {found}; run `segue reindex`",)
    return ()


@dataclass(frozen=True, slots=True)
class _Asked:
    query: str
    wanted: Filter
    as_of: datetime | None
    valid_only: bool = True
    minimum_relevance: float = 0.0

    def to_json(self) -> list[object]:
        at = None if self.as_of is None else time.to_text(self.as_of)
        return [self.query, self.wanted.to_json(), at, self.valid_only, self.minimum_relevance]


class _Walk:
    """Walks down the order of what was found, and takes what passes the filter."""

    def __init__(
        self,
        search: Search,
        connection: sa.Connection,
        index: Index,
        asked: _Asked,
        now: datetime,
        at_us: int,
        known_us: int | None,
    ) -> None:
        self._connection = connection
        self._scope = search._scope
        self._index = index
        self._asked = asked
        self._now = now
        self._at_us = at_us
        self._known_us = known_us
        also_retired = asked.as_of is not None or not asked.valid_only
        statuses = asked.wanted.statuses or (("active", "retired") if also_retired else ("active",))
        self._wanted = replace(asked.wanted, statuses=statuses)

    def take(
        self, count: int, start: int, last: str, pinned: Results | None
    ) -> tuple[Results, list[tuple[int, Memory]]]:
        """Return the results, and up to `count` of them from `start` on that pass, each with its place.

        `last` is the id of the one before `start`, by which the place is found again where the order has moved.
        """
        narrow = self._narrow()
        select = None
        results = pinned or self._results(narrow, select)
        if pinned is None and last:
            start = self._after(results, last, start)
        while True:
            found = self._walk(results, count, start, narrow)
            complete = narrow is not None or pinned or len(results) >= len(self._index)
            if len(found) >= count or complete or self._depth(results) < len(results):
                return results, found
            select = _WIDER * (select or len(results) or _STEP)
            wider = self._results(narrow, select)
            if len(wider) <= len(results):
                return results, found
            results = wider

    def totals(self, results: Results) -> tuple[int, int]:
        """How many were found, and how many of them pass."""
        depth = self._depth(results)
        if not self._asked.wanted.narrows:
            return len(results), depth
        passing = set(rows.matching(self._connection, self._scope, self._wanted))
        return len(results), sum(each in passing for each in results.ids(0, depth))

    def _narrow(self) -> list[str] | None:
        """The ids of all that passes the filter, where they are few."""
        if not self._asked.wanted.narrows:
            return None
        found = rows.matching(self._connection, self._scope, self._wanted, _NARROW + 1)
        return found if len(found) <= _NARROW else None

    def _results(self, narrow: list[str] | None, select: int | None) -> Results:
        chosen = {} if select is None else {"select": select}
        return self._index.search(
            self._asked.query,
            self._now,
            at_us=self._at_us if self._asked.valid_only else None,
            known_us=self._known_us,
            include=narrow or (),
            **chosen,
        )

    @staticmethod
    def _after(results: Results, last: str, start: int) -> int:
        for place in range(0, len(results), _STEP):
            step = results.ids(place, place + _STEP)
            if last in step:
                return place + step.index(last) + 1
        return start

    def _depth(self, results: Results) -> int:
        """How many of the results match as well as it is asked for."""
        least = self._asked.minimum_relevance
        if least <= 0:
            return len(results)
        return bisect_right(results.relevances(0, len(results)), -least, key=lambda each: -each)

    def _walk(self, results: Results, count: int, start: int, narrow: list[str] | None) -> list[tuple[int, Memory]]:
        allowed = None if narrow is None else set(narrow)
        end = self._depth(results)
        found: list[tuple[int, Memory]] = []
        place, step = start, _NARROW if allowed is not None else 2 * count  # mostly all of the first ones pass
        while place < end:
            ids = results.ids(place, min(place + step, end))
            places = [(place + offset, each) for offset, each in enumerate(ids) if allowed is None or each in allowed]
            if allowed is not None:
                places = places[: count - len(found)]
            passed = rows.by_ids(self._connection, self._scope, [each for _, each in places], self._wanted)
            found += [(where, passed[each]) for where, each in places if each in passed]
            if len(found) >= count:
                break
            place, step = place + step, max(step, _STEP)
        return found[:count]
