"""A large segment that stays, and a small one upon it: what came since. Together they are one sequence of rows.

Rows are numbered through, those of the base first. A row of the base that went, or that another one replaced, keeps
its number and stands in no order any more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from segue.search import meaning as meanings
from segue.search.entry import hashes
from segue.search.kernel import REACH
from segue.search.matrix import Matrix, spreads
from segue.search.segment import Segment, merged
from segue.search.signs import signs_of
from segue.search.vectors import mixed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from segue.search.meaning import Meaning


Parts: TypeAlias = "list[tuple[Segment, NDArray[np.bool_] | None]]"  # segments with the rows that live; None: all


@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """The memories of a store. `centre` is what the matrices of both segments were prepared with."""

    base: Segment
    fresh: Segment | None
    alive: NDArray[np.bool_] | None  # of the base; None while all are
    gone: NDArray[np.int32] | None  # how many rows that went held each term of the base
    order: NDArray[np.int64] | None  # the living rows by thread, position and id; None where that is their number
    places: NDArray[np.int64] | None  # of each row in `order`, -1 for what went; None like `order`
    before: NDArray[np.int64]  # how many ids of the base stand before that of each fresh row
    centre: NDArray[np.float32] | None

    @classmethod
    def of(cls, base: Segment, centre: NDArray[np.float32] | None) -> Stack:
        """Return a stack of one segment, whose matrix was prepared with `centre`."""
        return cls(base, None, None, None, None, None, np.zeros(0, dtype=np.int64), centre)

    def __len__(self) -> int:
        return len(self.base) if self.order is None else len(self.order)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The base, and what is upon it."""
        return (self.base,) if self.fresh is None else (self.base, self.fresh)

    @property
    def small(self) -> bool:
        """Whether vectors are kept as bytes."""
        return self.base.matrix is not None and self.base.matrix.scales is not None

    @property
    def parts(self) -> Parts:
        """The segments with their living rows."""
        return [(self.base, self.alive)] if self.fresh is None else [(self.base, self.alive), (self.fresh, None)]

    @property
    def nbytes(self) -> int:
        """The bytes that all arrays take."""
        extra = (self.alive, self.gone, self.order, self.places, self.centre)
        return sum(one.nbytes for one in self.segments) + sum(one.nbytes for one in extra if one is not None)

    def column(self, name: str, rows: NDArray[np.int64] | None = None) -> NDArray[Any]:
        """Return the column of that name (of `Columns`), in `rows` or whole."""
        columns = [getattr(segment.columns, name) for segment in self.segments]
        if rows is None:
            return np.concatenate(columns) if len(columns) > 1 else columns[0]
        return self._picked(columns, rows)

    def matrices(self) -> list[Matrix | None]:
        """Return the matrix of each segment; None where no memory has a vector."""
        return [segment.matrix for segment in self.segments]

    def floats(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the raw vectors of `rows`; zeros where there is none."""
        dimension = next(one.values.shape[1] for one in self.matrices() if one is not None)
        result = np.zeros((len(rows), dimension), dtype=np.float32)
        for one, inside, local in self._split(rows):
            if one.matrix is not None:
                result[inside] = one.matrix.floats(local)
        return result

    def dots(self, vector: NDArray[np.float32], rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the dot product of `vector` with what lies between the centre and the vector of each of `rows`."""
        result = np.zeros(len(rows), dtype=np.float32)
        for one, inside, local in self._split(rows):
            if one.matrix is not None:
                result[inside] = one.matrix.dots(vector, self.centre, local)
        return result

    def measures(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the spread and the mixed length of each of `rows` (see `Matrix`)."""
        spread, length = np.zeros((2, len(rows)), dtype=np.float32)
        for one, inside, local in self._split(rows):
            if one.matrix is not None:
                spread[inside], length[inside] = one.matrix.spread[local], one.matrix.length[local]
        return spread, length

    def eligible(self, at_us: int | None, known_us: int | None) -> NDArray[np.bool_]:
        """Return for each row whether it holds at `at_us` and was captured by `known_us`, as far as these are given."""
        found = []
        for segment, alive in self.parts:
            columns = segment.columns
            holds = np.ones(len(segment), dtype=np.bool_)
            if at_us is not None:
                holds &= (columns.begins <= at_us) & (columns.ends > at_us)
            if known_us is not None:
                holds &= columns.captured <= known_us
            if alive is not None:
                holds &= alive
            found.append(holds)
        return np.concatenate(found) if len(found) > 1 else found[0]

    def explained(self) -> NDArray[np.bool_]:
        """Return for each row whether it has its sentence vectors."""
        return np.concatenate(
            [np.zeros(len(one), dtype=np.bool_) if one.kept is None else one.kept.whole for one in self.segments]
        )

    def meaning(self, rows: NDArray[np.int64]) -> Meaning | None:
        """Return the sentence vectors of `rows`, of which each has its own."""
        kept = meanings.joined(
            [(None if one.kept is None else one.kept.take(local), len(local)) for one, _, local in self._split(rows)]
        )
        if kept is None:
            return None
        if self.fresh is not None:  # from the order of the segments into that of the rows
            kept = kept.take(np.argsort(np.argsort(rows >= len(self.base), kind="stable")))
        return kept.meaning()

    def rows_of(self, ids: NDArray[np.bytes_]) -> NDArray[np.int64]:
        """Return the living row of each of `ids`, -1 for those that are not there."""
        rows = self.base.rows_of(ids)
        if self.alive is not None:
            rows = np.where((rows >= 0) & self.alive[rows], rows, -1)
        if self.fresh is not None:
            newer = self.fresh.rows_of(ids)
            rows = np.where(newer >= 0, newer + len(self.base), rows)
        return rows

    def ranks(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return numbers that stand in the order of the ids of `rows`."""
        if self.fresh is None:
            return self.base.places[rows].astype(np.int64)
        room = len(self.fresh) + 1  # between two ids of the base, for all that came since
        result = np.empty(len(rows), dtype=np.int64)
        (_, inside, local), (_, newer, fresh) = self._split(rows)
        result[inside] = self.base.places[local] * np.int64(room) + room - 1
        result[newer] = self.before[fresh] * room + self.fresh.places[fresh]
        return result

    def where(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the place of each row in the order of all, -1 for what went."""
        return rows if self.places is None else self.places[rows]

    def at(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows in `places` of the order of all."""
        return places if self.order is None else self.order[places]

    def around(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the places in the order of all where `rows` stand, and what stands beside them in their threads."""
        return beside(self.where(rows), self.column("threads", rows) >= 0, len(self))

    def spoken(self, speaker: str) -> NDArray[np.bool_]:
        """Return for each row whether `speaker` said it."""
        return np.concatenate([one.said_by(speaker) for one in self.segments])

    def speakers(self) -> frozenset[str]:
        """Return the names of all speakers."""
        return frozenset().union(*(one.speakers(alive) for one, alive in self.parts))

    # How it changes

    def parts_with(self, new: Segment, gone: NDArray[np.bytes_]) -> Parts:
        """Return the base, what is upon it and `new`, with the rows that live on without those of the ids `gone`.

        A row of `new` replaces that of the same id.
        """
        ids = np.concatenate([gone, new.columns.ids])
        parts = [(part, _without(alive, len(part), part.rows_of(ids))) for part, alive in self.parts]
        return [*parts, (new, None)]

    def changed(self, new: Segment, parts: Parts) -> Stack:
        """Return the stack of `parts`, as `parts_with` made them of `new`; vectors upon a base without are not seen."""
        (_, alive), *others = parts
        went = self._went(parts)
        gone = self.gone
        if len(of_base := went[went < len(self.base)]):
            held = self.base.postings.held(of_base)
            gone = held if gone is None else gone + held
        fresh = merged(others, small=self.small)
        if fresh.matrix is None and self.base.matrix is not None:  # what has no vector gets its neighbours'
            dimension = self.base.matrix.values.shape[1]
            nothing = Matrix.of(np.zeros((len(fresh), dimension), dtype=np.float32), small=self.small)
            fresh = replace(fresh, matrix=nothing)
        before = np.searchsorted(self.base.columns.ids, fresh.columns.ids, sorter=self.base.by_id)
        order, places = self._ordered(fresh, before, alive)
        bare = replace(self, fresh=fresh, alive=alive, gone=gone, order=order, places=places, before=before)
        beside = bare.around(bare.rows_of(new.columns.ids))
        if len(went):
            rows = bare.rows_of(self.column("ids", self.at(self.around(went))))
            beside = np.union1d(beside, bare.where(rows[rows >= 0]))
        return bare._measured(bare.at(beside))

    def _went(self, parts: Parts) -> NDArray[np.int64]:
        """The rows that live here and do not in `parts`."""
        went, start = [], 0
        for (part, before), (_, after) in zip(self.parts, parts, strict=False):
            if after is not before and after is not None:
                went.append(start + np.flatnonzero(~after if before is None else before & ~after))
            start += len(part)
        return np.concatenate(went) if went else np.zeros(0, dtype=np.int64)

    def _ordered(
        self, fresh: Segment, before: NDArray[np.int64], alive: NDArray[np.bool_] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All living rows in order, and the place of each row in that."""
        points = _insertions(self.base, fresh, before)
        base = np.arange(len(self.base))
        if alive is not None:
            base = base[alive]
            points = np.concatenate([[0], np.cumsum(alive)])[points]
        order = np.insert(base, points, len(self.base) + np.arange(len(fresh)))
        places = np.full(len(self.base) + len(fresh), -1, dtype=np.int64)
        places[order] = np.arange(len(order))
        return order, places

    def _measured(self, rows: NDArray[np.int64]) -> Stack:
        """This stack, what is kept of the mixed vectors computed anew for `rows`, which stand in order."""
        if all(one is None for one in self.matrices()) or not len(rows):
            return self
        around = self.at(self.around(rows))
        threads, positions = self.column("threads", around), self.column("positions", around)
        raw = self.floats(around)
        inner = np.isin(around, rows)
        vectors = mixed(raw, self.centre, threads, positions)[inner]
        spread, length = spreads(raw[inner], self.centre), np.sqrt(np.vecdot(vectors, vectors))
        result = []
        for one, inside, local in self._split(around[inner]):
            if one.matrix is None:
                result.append(one)
                continue
            matrix = replace(one.matrix, length=_put(one.matrix.length, local, length[inside]))
            if one is not self.base:  # whose signs may lag behind: they only choose what is looked at
                signs = one.matrix.signs.copy()
                signs[:, local] = signs_of(vectors[inside])
                matrix = replace(matrix, spread=_put(matrix.spread, local, spread[inside]), signs=signs)
            result.append(replace(one, matrix=matrix))
        return replace(self, base=result[0], fresh=result[1] if len(result) > 1 else None)

    def _picked(self, columns: Sequence[NDArray[Any]], rows: NDArray[np.int64]) -> NDArray[Any]:
        if len(columns) == 1:
            return columns[0][rows]
        result = np.empty(len(rows), dtype=np.result_type(*columns))
        for column, (_, inside, local) in zip(columns, self._split(rows), strict=True):
            result[inside] = column[local]
        return result

    def _split(self, rows: NDArray[np.int64]) -> list[tuple[Segment, NDArray[np.bool_] | slice, NDArray[np.int64]]]:
        """For each segment, which of `rows` are its own, and their numbers there."""
        if self.fresh is None:
            return [(self.base, slice(None), rows)]
        newer = rows >= len(self.base)
        return [(self.base, ~newer, rows[~newer]), (self.fresh, newer, rows[newer] - len(self.base))]


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """In how many memories of a stack tokens stand."""

    stack: Stack

    def get(self, token: str, default: int, /) -> int:
        """Return the number of memories that hold `token`, or `default` for none."""
        return int(self.many([token])[0]) or default

    def many(self, tokens: Sequence[str], /) -> NDArray[np.int64]:
        """Return the number of memories that hold each token."""
        hashed = hashes(tokens)
        total = np.zeros(len(tokens), dtype=np.int64)
        for segment in self.stack.segments:
            places = segment.postings.places(hashed)
            total += segment.postings.frequencies(places)
            if segment is self.stack.base and self.stack.gone is not None:
                total -= np.where(places >= 0, self.stack.gone[places], 0)
        return total


def beside(places: NDArray[np.int64], threaded: NDArray[np.bool_], count: int) -> NDArray[np.int64]:
    """Return `places` among `count`, ascending, and the places up to REACH away from those that are `threaded`."""
    marked = np.zeros(count + 2 * REACH, dtype=np.bool_)
    inner = places + REACH
    marked[inner] = True
    inner = inner[threaded]
    for shift in range(1, REACH + 1):
        marked[inner - shift] = True
        marked[inner + shift] = True
    return np.flatnonzero(marked[REACH : count + REACH])


def _put(column: NDArray[np.float32], rows: NDArray[np.int64], values: NDArray[np.float32]) -> NDArray[np.float32]:
    result = column.copy()
    result[rows] = values
    return result


def _without(alive: NDArray[np.bool_] | None, count: int, rows: NDArray[np.int64]) -> NDArray[np.bool_] | None:
    """Which of `count` rows live without `rows`, of which -1 are none."""
    rows = rows[rows >= 0]
    if not len(rows):
        return alive
    result = np.ones(count, dtype=np.bool_) if alive is None else alive.copy()
    result[rows] = False
    return result


def _insertions(base: Segment, fresh: Segment, before: NDArray[np.int64]) -> NDArray[np.int64]:
    """Before which row of the base each row of `fresh` belongs, of whose id so many ids of the base stand `before`."""
    low = np.zeros(len(fresh), dtype=np.int64)
    high = np.full(len(fresh), len(base), dtype=np.int64)
    threads, positions = fresh.columns.threads, fresh.columns.positions
    for _ in range(len(base).bit_length()):
        middle = np.minimum((low + high) // 2, max(len(base) - 1, 0))
        thread, position = base.columns.threads[middle], base.columns.positions[middle]
        same = (position == positions) & (base.places[middle] < before)
        less = (thread < threads) | ((thread == threads) & ((position < positions) | same))
        open_ = low < high
        low = np.where(open_ & less, middle + 1, low)
        high = np.where(open_ & ~less, middle, high)
    return low
