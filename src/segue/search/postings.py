"""Postings: which rows hold a term and how often, all terms in a few arrays, by the hash of the term."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_COUNT_BITS = 16
_PART = 2**19  # postings that are sorted at a time, about
_FEW = 8  # rows that are looked for one by one


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """The rows of the term in place t are `rows[starts[t]:starts[t + 1]]`, ascending; `counts` stand beside them."""

    terms: NDArray[np.uint64]  # hashes, ascending, each in at least one row
    starts: NDArray[np.int64]
    rows: NDArray[np.uint32]
    counts: NDArray[np.uint16]

    @classmethod
    def of(cls, terms: NDArray[np.uint64], counts: NDArray[np.uint16], sizes: NDArray[np.int64]) -> Postings:
        """Return the postings of rows whose terms stand one after another, `sizes` of them for each row."""
        rows = np.repeat(np.arange(len(sizes), dtype=np.uint32), sizes)
        # By the heads of the hashes, so that what sorting takes stays in the processor's cache and is used again.
        bits = min((len(terms) // _PART).bit_length(), 16)
        if not bits:
            return _sorted(terms, counts, rows)
        heads = (terms >> np.uint64(64 - bits)).astype(np.uint16)
        parts = []
        for head in range(1 << bits):
            chosen = np.flatnonzero(heads == head)
            parts.append(_sorted(terms[chosen], counts[chosen], rows[chosen]))
        before = np.cumsum([0, *(len(part.rows) for part in parts)])
        starts = [part.starts[:-1] + start for part, start in zip(parts, before[:-1], strict=True)]
        return cls(
            np.concatenate([part.terms for part in parts]),
            np.concatenate([*starts, before[-1:]]),
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.counts for part in parts]),
        )

    @property
    def nbytes(self) -> int:
        """The bytes that the arrays take."""
        return self.terms.nbytes + self.starts.nbytes + self.rows.nbytes + self.counts.nbytes

    def places(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the place of each term, -1 for those that no row holds."""
        if not len(self.terms):
            return np.full(len(hashes), -1, dtype=np.int64)
        found = np.minimum(np.searchsorted(self.terms, hashes), len(self.terms) - 1)
        return np.where(self.terms[found] == hashes, found, -1)

    def frequencies(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return in how many rows each term stands, by its place; 0 for place -1."""
        if not len(self.terms):
            return np.zeros(len(places), dtype=np.int64)
        return np.where(places >= 0, self.starts[places + 1] - self.starts[places], 0)

    def of_term(self, place: int) -> tuple[NDArray[np.int64], NDArray[np.uint16]]:
        """Return the rows that hold the term in `place`, and how often they do."""
        part = slice(self.starts[place], self.starts[place + 1])
        return self.rows[part].astype(np.int64), self.counts[part]

    def held(self, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return for each term how many of `rows` (each once) hold it; takes a look at every posting."""
        if len(rows) <= _FEW:
            found = [np.flatnonzero(self.rows == np.uint32(row)) for row in rows.tolist()]
            places = np.concatenate(found) if found else np.zeros(0, dtype=np.int64)
        else:
            marked = np.zeros(max(int(rows.max()), int(self.rows.max(initial=0))) + 1, dtype=np.bool_)
            marked[rows] = True
            places = np.flatnonzero(marked[self.rows])
        terms = np.searchsorted(self.starts, places, side="right") - 1
        return np.bincount(terms, minlength=len(self.terms)).astype(np.int32)


def _sorted(terms: NDArray[np.uint64], counts: NDArray[np.uint16], rows: NDArray[np.uint32]) -> Postings:
    """The postings of these terms, counts and rows, which belong together one by one, the rows ascending."""
    # Sorted is one number for each posting, the head of its hash and its place: far faster than sorting places.
    low = np.uint64((1 << max(len(terms), 1).bit_length()) - 1)
    keys = terms & ~low
    keys |= np.arange(len(terms), dtype=np.uint64)
    keys.sort()
    keys &= low
    places = keys.view(np.int64)
    ordered = terms[places]
    if np.any(ordered[1:] < ordered[:-1]):  # two hashes with the same head
        again = np.argsort(ordered, kind="stable")
        places, ordered = places[again], ordered[again]
    starts = _changes(ordered)
    return Postings(ordered[starts[:-1]], starts, rows[places], counts[places])


def merged(parts: list[tuple[Postings, NDArray[np.int64]]]) -> Postings:
    """Return the postings of several in one. Each comes with the new numbers of its rows, -1 for those left out.

    Raises ValueError where there are too many: of a million memories, above 200 million words.
    """
    terms = np.concatenate([part.terms for part, _ in parts])
    terms.sort()
    terms = terms[_changes(terms)[:-1]]
    rows = max((int(numbers.max(initial=0)) for _, numbers in parts), default=0)
    row_bits = np.uint64(max(rows, 1).bit_length())
    if len(terms).bit_length() + int(row_bits) + _COUNT_BITS > 64:
        raise ValueError("more memories and words than an index holds")
    # term, row and count of a posting side by side in one number, so that one plain sort puts all in order
    keys = np.concatenate([_packed(part, numbers, terms, row_bits) for part, numbers in parts])
    keys.sort()
    counts = (keys & np.uint64((1 << _COUNT_BITS) - 1)).astype(np.uint16)
    keys >>= np.uint64(_COUNT_BITS)
    ordered = (keys & np.uint64((1 << int(row_bits)) - 1)).astype(np.uint32)
    keys >>= row_bits
    starts = _changes(keys)
    return Postings(terms[keys[starts[:-1]].astype(np.int64)], starts, ordered, counts)


def _packed(
    part: Postings, numbers: NDArray[np.int64], terms: NDArray[np.uint64], row_bits: np.uint64
) -> NDArray[np.uint64]:
    places = np.searchsorted(terms, part.terms).astype(np.uint64)
    keys = np.repeat(places, np.diff(part.starts))
    rows = numbers[part.rows]
    keys <<= row_bits
    keys |= rows.astype(np.uint64)
    keys <<= np.uint64(_COUNT_BITS)
    keys |= part.counts
    return keys if rows.min(initial=0) >= 0 else keys[rows >= 0]


def _changes(ordered: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Where each run of equals begins, and the end."""
    inside = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    return np.concatenate([[0], inside, [len(ordered)]] if len(ordered) else [[0]]).astype(np.int64)
