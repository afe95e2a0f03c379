"""The raw vectors of many memories, and what comparing them with a query takes: float32, or a byte a dimension.

Vectors are compared centred and mixed with their neighbours (see `vectors`). Mixing is linear, so it is left to the
cosines: what is kept of the mixed vectors is how long they are, and their signs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from segue.search.kernel import REACH
from segue.search.signs import signs_of
from segue.search.vectors import between, blended

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

_BLOCK = 512  # rows that are made floats at a time
_SUMMED = 8192  # rows whose sum is added to the others'


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """Raw vectors by rows. `spread` and `length` belong to one centre, see `prepared`; zero before that."""

    values: NDArray[np.float32] | NDArray[np.int8]
    scales: NDArray[np.float32] | None  # of each row, where the values are bytes
    spread: NDArray[np.float32]  # the distance of each from the centre; 0 where a memory has no vector
    length: NDArray[np.float32]  # of each one mixed with its neighbours
    signs: NDArray[np.uint64]  # of those, see `signs`

    @classmethod
    def of(cls, raw: NDArray[np.float16] | NDArray[np.float32], *, small: bool) -> Matrix:
        """Return the matrix of raw vectors: as they are or, `small`, as a byte a dimension."""
        return cls.unprepared(*quantised(raw)) if small else cls.unprepared(raw.astype(np.float32), None)

    @classmethod
    def unprepared(cls, values: NDArray[np.float32] | NDArray[np.int8], scales: NDArray[np.float32] | None) -> Matrix:
        """Return the matrix of these values, without what belongs to a centre."""
        nothing = np.zeros(len(values), dtype=np.float32)
        return cls(values, scales, nothing, nothing, _blank(*values.shape))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def nbytes(self) -> int:
        """The bytes that the arrays take."""
        scales = 0 if self.scales is None else self.scales.nbytes
        return scales + sum(one.nbytes for one in (self.values, self.spread, self.length, self.signs))

    def floats(self, rows: NDArray[np.int64] | slice) -> NDArray[np.float32]:
        """Return the raw vectors in `rows`."""
        values = self.values[rows].astype(np.float32)
        if self.scales is not None:
            values *= self.scales[rows, None]
        return values

    def bytes(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        """Return the raw vectors in `rows` as bytes, and what to multiply each by."""
        if self.scales is not None:
            return self.values[rows].astype(np.int8, copy=False), self.scales[rows]
        return quantised(self.floats(rows))

    def dots(
        self, vector: NDArray[np.float32], centre: NDArray[np.float32] | None, rows: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return the dot product of `vector` with what lies between the centre and each raw vector in `rows`."""
        result = np.empty(len(rows), dtype=np.float32)
        for part in _blocks(len(rows)):
            some = self.values[rows[part]].astype(np.float32, copy=False)
            if centre is not None and self.scales is None:
                some -= centre  # before the product: after it digits are lost
            np.vecdot(some, vector, out=result[part])  # no threads, unlike `@`
        if self.scales is not None:
            result *= self.scales[rows]
            result -= np.float32(0) if centre is None else np.vecdot(centre, vector)
        return result

    def mean(self) -> NDArray[np.float32] | None:
        """Return the mean of the vectors, of memories that have one; None if none has."""
        total, count = np.zeros(self.values.shape[1]), 0
        for part in _blocks(len(self), _SUMMED):
            rows = self.floats(part)
            filled = rows.any(axis=1)
            count += int(filled.sum())
            total += (rows if filled.all() else rows[filled]).sum(axis=0, dtype=np.float64)
        return (total / count).astype(np.float32) if count else None

    def prepared(
        self, centre: NDArray[np.float32] | None, threads: NDArray[np.int64], positions: NDArray[np.int64]
    ) -> Matrix:
        """Return the matrix with the columns that belong to `centre`. Rows are sorted by thread and position."""
        spread, length = np.empty_like(self.spread), np.empty_like(self.length)
        signs = _blank(*self.values.shape)
        for part in _blocks(len(self)):
            around = slice(max(part.start - REACH, 0), min(part.stop + REACH, len(self)))
            inner = slice(part.start - around.start, part.stop - around.start)
            rows = between(self.floats(around), centre)
            spread[part] = np.sqrt(np.vecdot(rows[inner], rows[inner]))
            rows = blended(rows, threads[around], positions[around])[inner]
            length[part] = np.sqrt(np.vecdot(rows, rows))
            signs[:, part] = signs_of(rows)
        return replace(self, spread=spread, length=length, signs=signs)


def quantised(
    raw: NDArray[np.float16] | NDArray[np.float32],
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return raw vectors as a byte a dimension, and what to multiply each by."""
    values = np.empty(raw.shape, dtype=np.int8)
    scales = np.empty(len(raw), dtype=np.float32)
    for part in _blocks(len(raw)):
        floats = raw[part].astype(np.float32)
        scales[part] = np.abs(floats).max(axis=1, initial=0) / np.float32(127)
        floats /= np.where(scales[part] > 0, scales[part], 1)[:, None]
        values[part] = np.rint(floats, out=floats)
    return values, scales


def placed(parts: Sequence[tuple[Matrix, NDArray[np.int64]]], count: int, *, small: bool) -> Matrix:
    """Return `count` rows in one matrix. Each part comes with the new numbers of its rows, -1 for those left out.

    A row that no part gives holds zeros. A `small` matrix is of bytes; without it, parts of bytes stay what they say.
    """
    dimension = next(part.values.shape[1] for part, _ in parts)
    values = np.zeros((count, dimension), dtype=np.int8 if small else np.float32)
    scales, spread, length = (np.zeros(count, dtype=np.float32) for _ in range(3))
    signs = _blank(count, dimension)
    for part, numbers in parts:
        rows = np.flatnonzero(numbers >= 0)
        spread[numbers[rows]], length[numbers[rows]] = part.spread[rows], part.length[rows]
        signs[:, numbers[rows]] = part.signs[:, rows]
        for block in _blocks(len(rows)):
            some = rows[block]
            if small:
                values[numbers[some]], scales[numbers[some]] = part.bytes(some)
            else:
                values[numbers[some]] = part.floats(some)
    return Matrix(values, scales if small else None, spread, length, signs)


def spreads(raw: NDArray[np.float32], centre: NDArray[np.float32] | None) -> NDArray[np.float32]:
    """Return how far each raw vector lies from the centre; 0 for rows of zeros, which are no vectors."""
    rows = between(raw, centre)
    return np.asarray(np.sqrt(np.vecdot(rows, rows)), dtype=np.float32)


def _blank(count: int, dimension: int) -> NDArray[np.uint64]:
    return np.zeros((-(-dimension // 64), count), dtype=np.uint64)


def _blocks(count: int, size: int = _BLOCK) -> Iterator[slice]:
    return (slice(start, min(start + size, count)) for start in range(0, count, size))
