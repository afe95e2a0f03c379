"""One segment made of many batches, as they come: what is large lies in memory once, and vectors soon as bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from segue.search import meaning as meanings
from segue.search.entry import Batch
from segue.search.hashing import hashed
from segue.search.matrix import Matrix, quantised
from segue.search.meaning import Kept, ranges
from segue.search.postings import Postings
from segue.search.segment import Columns, Segment, days_of, identifiers, inverse, joined, ordered, voices_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


def segment_of(batches: Iterable[Batch], dimension: int, limit: int) -> Segment:
    """Return the segment of all rows of `batches`; of more than `limit` rows the vectors are kept as bytes.

    Raises ValueError if an id comes twice or holds a NUL, or if vectors are not of this dimension.
    """
    builder = _Builder(dimension, limit)
    builder.add(Batch.of(ids=[], terms=[], counts=[], lengths=[]))  # there may be no other
    for batch in batches:
        builder.add(batch)
    return builder.segment()


class _Builder:
    """What came so far, by parts in the order in which it came."""

    def __init__(self, dimension: int, limit: int) -> None:
        self._dimension = dimension
        self._limit = limit
        self._count = 0
        self._threads: dict[str | None, int] = {None: -1}
        self._names: dict[str, int] = {}
        self._columns: list[Columns] = []
        self._terms: list[NDArray[np.uint64]] = []
        self._counts: list[NDArray[np.uint16]] = []
        self._sizes: list[NDArray[np.int64]] = []
        self._vectors = _Vectors(dimension)
        self._kept: list[tuple[Kept | None, int]] = []

    def add(self, batch: Batch) -> None:
        if batch.vectors is not None and batch.vectors.shape[1] != self._dimension:
            raise ValueError(f"vectors of {batch.vectors.shape[1]} dimensions, not of {self._dimension}")
        self._count += len(batch)
        self._columns.append(self._columns_of(batch))
        self._terms.append(batch.terms)
        self._counts.append(batch.counts)
        self._sizes.append(batch.sizes)
        self._vectors.add(batch.vectors, len(batch), small=self._count > self._limit)
        kept = None
        if batch.windows is not None and batch.sentences is not None and batch.sentence_sizes is not None:
            kept = Kept.of(batch.windows, batch.sentences, batch.sentence_sizes)
        self._kept.append((kept, len(batch)))

    def segment(self) -> Segment:
        """Return the segment. To be called once: the parts are let go of."""
        columns = joined(self._columns)
        self._columns.clear()
        order, by_id = ordered(columns)
        places = inverse(order)
        kept = meanings.joined(self._kept)
        names = tuple(self._names) or ("",)
        return Segment(
            columns=columns.take(order),
            names=names,
            postings=self._postings(order),
            matrix=self._vectors.matrix(places),
            kept=None if kept is None else kept.take(order),
            voices=voices_of(names),
            by_id=by_id,
            places=inverse(by_id),
        )

    def _columns_of(self, batch: Batch) -> Columns:
        for thread in set(batch.threads).difference(self._threads):
            self._threads[thread] = hashed(thread or "") >> 1
        for speaker in dict.fromkeys(batch.speakers):
            self._names.setdefault(speaker, len(self._names))
        return Columns(
            ids=identifiers(batch.ids),
            threads=np.fromiter(map(self._threads.__getitem__, batch.threads), np.int64, len(batch)),
            positions=batch.positions,
            lengths=batch.lengths,
            days=days_of(batch.occurred),
            spoken=np.fromiter(map(self._names.__getitem__, batch.speakers), np.int32, len(batch)),
            questions=batch.questions,
            telling=batch.telling,
            captured=batch.captured,
            begins=batch.begins,
            ends=batch.ends,
        )

    def _postings(self, order: NDArray[np.int64]) -> Postings:
        """The postings of all rows in this order."""
        sizes = np.concatenate(self._sizes)
        ordered = sizes[order]
        starts = np.empty_like(sizes)  # where the terms of each row begin in that order
        starts[order] = np.cumsum(ordered) - ordered
        terms, counts = np.empty(sizes.sum(), dtype=np.uint64), np.empty(sizes.sum(), dtype=np.uint16)
        row = len(sizes)
        while self._sizes:  # from the end, so that each part can be let go of
            some = self._sizes.pop()
            row -= len(some)
            places = ranges(starts[row : row + len(some)], some)
            terms[places], counts[places] = self._terms.pop(), self._counts.pop()
        return Postings.of(terms, counts, ordered)


class _Vectors:
    """Raw vectors by parts: as they come or, from the first part on that is to be small, all as bytes."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._raw: list[NDArray[np.float16] | None] = []
        self._bytes: list[tuple[NDArray[np.int8], NDArray[np.float32]] | None] = []
        self._sizes: list[int] = []

    def add(self, part: NDArray[np.float16] | None, size: int, *, small: bool) -> None:
        self._sizes.append(size)
        self._raw.append(part)
        if small:
            while self._raw:
                one = self._raw.pop(0)
                self._bytes.append(None if one is None else quantised(one))

    def matrix(self, places: NDArray[np.int32]) -> Matrix | None:
        """Return all in one, each row in its place; None where no memory has a vector."""
        if all(one is None for one in (*self._bytes, *self._raw)):
            return None
        scales = np.zeros(len(places), dtype=np.float32) if self._bytes else None
        values = np.zeros((len(places), self._dimension), dtype=np.int8 if self._bytes else np.float32)
        stop = len(places)
        for size in reversed(self._sizes):  # from the end, so that each part can be let go of
            rows = places[stop - size : stop]
            stop -= size
            if scales is None:
                if (raw := self._raw.pop()) is not None:
                    values[rows] = raw
            elif (small := self._bytes.pop()) is not None:
                values[rows], scales[rows] = small
        return Matrix.unprepared(values, scales)
