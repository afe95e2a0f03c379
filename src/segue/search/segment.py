"""Many memories by columns, sorted by thread, position and id: made of batches by `builder`, or of other segments."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from datetime import date
from typing import TYPE_CHECKING

import numpy as np

from segue.search import matrix as matrices
from segue.search import meaning as meanings
from segue.search import postings as postings_of_terms
from segue.search.entry import EARLIEST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from segue.search.matrix import Matrix
    from segue.search.meaning import Kept
    from segue.search.postings import Postings

_DAY = 86_400_000_000  # microseconds
_NOBODY = np.zeros(0, dtype=np.int32)
_EPOCH = date(1970, 1, 1).toordinal()


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """What is known of each memory, a row for each in every array."""

    ids: NDArray[np.bytes_]  # UTF-8
    threads: NDArray[np.int64]  # a number made from the thread's name, -1 for none
    positions: NDArray[np.int64]
    lengths: NDArray[np.float32]  # tokens in all
    days: NDArray[np.float32]  # since 1970, NaN where the time is not known
    spoken: NDArray[np.int32]  # by whom: a place among the segment's names
    questions: NDArray[np.bool_]
    telling: NDArray[np.bool_]
    captured: NDArray[np.int64]  # microseconds since 1970
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]

    @property
    def nbytes(self) -> int:
        """The bytes that the arrays take."""
        return sum(getattr(self, field.name).nbytes for field in fields(self))

    def take(self, rows: NDArray[np.int64]) -> Columns:
        """Return the columns of `rows`, in their order."""
        return Columns(**{field.name: getattr(self, field.name)[rows] for field in fields(self)})


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """A number of memories, never to change."""

    columns: Columns
    names: tuple[str, ...]  # who speaks, one a line; "" for nobody
    postings: Postings
    matrix: Matrix | None
    kept: Kept | None
    voices: Mapping[str, NDArray[np.int32]]  # by speaker: places among the names
    by_id: NDArray[np.int32]  # rows in the order of their ids
    places: NDArray[np.int32]  # of each row in that order

    def __len__(self) -> int:
        return len(self.columns.ids)

    @property
    def nbytes(self) -> int:
        """The bytes that the arrays take."""
        parts = (self.columns, self.postings, self.matrix, self.kept, self.by_id, self.places)
        return sum(part.nbytes for part in parts if part is not None)

    def rows_of(self, ids: NDArray[np.bytes_]) -> NDArray[np.int64]:
        """Return the row of each of `ids`, -1 for those that are not there."""
        if not len(self):
            return np.full(len(ids), -1, dtype=np.int64)
        rows = self.by_id[np.minimum(np.searchsorted(self.columns.ids, ids, sorter=self.by_id), len(self) - 1)]
        return np.where(self.columns.ids[rows] == ids, rows, -1).astype(np.int64)

    def said_by(self, speaker: str) -> NDArray[np.bool_]:
        """Return for each row whether `speaker` said it."""
        there = np.zeros(len(self.names), dtype=np.bool_)
        there[self.voices.get(speaker, _NOBODY)] = True
        return there[self.columns.spoken]

    def speakers(self, alive: NDArray[np.bool_] | None = None) -> frozenset[str]:
        """Return the names of all who speak in the rows that are `alive` (all, if None)."""
        spoken = self.columns.spoken if alive is None else self.columns.spoken[alive]
        there = np.bincount(spoken, minlength=len(self.names)) > 0
        return frozenset(speaker for speaker, places in self.voices.items() if there[places].any())


def merged(parts: Sequence[tuple[Segment, NDArray[np.bool_] | None]], *, small: bool) -> Segment:
    """Return one segment of all rows of `parts` that are alive (all, where that is None).

    Their vectors are bytes if they are to be `small`. Raises ValueError if an id comes twice.
    """
    living = [np.arange(len(part)) if alive is None else np.flatnonzero(alive) for part, alive in parts]
    names = tuple(dict.fromkeys(name for part, _ in parts for name in part.names)) or ("",)
    columns = joined([part.columns.take(rows) for (part, _), rows in zip(parts, living, strict=True)])
    columns = replace(columns, spoken=_recoded([part for part, _ in parts], living, names))
    order, by_id = ordered(columns)
    numbers, start = [], 0
    places = inverse(order)
    for (part, _), rows in zip(parts, living, strict=True):
        number = np.full(len(part), -1, dtype=np.int64)
        number[rows] = places[start : start + len(rows)]
        numbers.append(number)
        start += len(rows)
    vectors = [
        (part.matrix, number)
        for (part, _), number in zip(parts, numbers, strict=True)
        if part.matrix is not None and len(part)
    ]
    kept = meanings.joined(
        [
            (None if part.kept is None else part.kept.take(rows), len(rows))
            for (part, _), rows in zip(parts, living, strict=True)
        ]
    )
    return Segment(
        columns=columns.take(order),
        names=names,
        voices=voices_of(names),
        postings=postings_of_terms.merged([(part.postings, n) for (part, _), n in zip(parts, numbers, strict=True)]),
        matrix=matrices.placed(vectors, len(order), small=small) if vectors else None,
        kept=None if kept is None else kept.take(order),
        by_id=by_id,
        places=inverse(by_id),
    )


def identifiers(ids: Sequence[str]) -> NDArray[np.bytes_]:
    """Return ids as they are kept. Raises ValueError if one holds a NUL, which would get lost."""
    text = "".join(ids)
    if "\0" in text:
        raise ValueError("an id holds a NUL")
    plain = ids if text.isascii() else [each.encode("utf-8", "surrogatepass") for each in ids]
    return np.array(plain or [b""], dtype=np.bytes_)[: len(ids)]


def voices_of(names: Sequence[str]) -> dict[str, NDArray[np.int32]]:
    places: dict[str, list[int]] = {}
    for place, lines in enumerate(names):
        for speaker in filter(None, lines.split("\n")):
            places.setdefault(speaker, []).append(place)
    return {speaker: np.array(found, dtype=np.int32) for speaker, found in places.items()}


def days_of(occurred: NDArray[np.int64]) -> NDArray[np.float32]:
    days = np.clip(occurred // _DAY, date.min.toordinal() - _EPOCH, date.max.toordinal() - _EPOCH)
    return np.where(occurred == EARLIEST, np.nan, days).astype(np.float32)


def ordered(columns: Columns) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The order of rows by thread, position and id; and which rows of that order stand in the order of the ids."""
    sorted_ids = np.argsort(columns.ids, kind="stable")
    ids = columns.ids[sorted_ids]
    if np.any(ids[1:] == ids[:-1]):
        raise ValueError("an id comes twice")
    order = np.lexsort((inverse(sorted_ids), columns.positions, columns.threads))
    return order, inverse(order)[sorted_ids].astype(np.int32)


def inverse(order: NDArray[np.int64] | NDArray[np.int32]) -> NDArray[np.int32]:
    places = np.empty(len(order), dtype=np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places


def joined(parts: Sequence[Columns]) -> Columns:
    return Columns(**{field.name: np.concatenate([getattr(p, field.name) for p in parts]) for field in fields(Columns)})


def _recoded(
    parts: Sequence[Segment], living: Sequence[NDArray[np.int64]], names: tuple[str, ...]
) -> NDArray[np.int32]:
    codes = {name: code for code, name in enumerate(names)}
    tables = [np.array([codes[name] for name in part.names], dtype=np.int32) for part in parts]
    return np.concatenate(
        [table[part.columns.spoken[rows]] for part, table, rows in zip(parts, tables, living, strict=True)]
    )
