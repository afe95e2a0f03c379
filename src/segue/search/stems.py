"""The vectors of a store's stems, kept as what they are made of.

A word's vector is a sum of pieces, a stem's the mean of its words': what another vector has in common with each of many
stems adds up from what it has in common with each piece. So the pieces are kept and no stem's vector, and these are
made of those stems for which they are asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from segue.search.meaning import ranges
from segue.search.vectors import PieceVectors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from segue.search.vectors import WordVectors

_BLOCK = 512  # pieces at a time


@dataclass(frozen=True, slots=True, eq=False)
class Stems:
    """The raw vectors of stems, by their words, by their pieces; each word has a piece at least."""

    pieces: NDArray[np.float32]
    parts: NDArray[np.int32]  # of each word its pieces, one word after another
    part_starts: NDArray[np.int64]  # those of word w are parts[part_starts[w]:part_starts[w + 1]]
    counts: NDArray[np.float32]  # how often each word is used
    starts: NDArray[np.int64]  # the words of stem s are those from starts[s] up to starts[s + 1]
    shares: NDArray[np.float32]  # what part of its stem each word is

    @classmethod
    def of(
        cls, words: Sequence[str], counts: NDArray[np.float32], sizes: NDArray[np.int64], embedder: WordVectors
    ) -> Stems:
        """Return the stems of which each has `sizes` of the words, one stem after another."""
        if not words:
            pieces = np.zeros((0, embedder.dimension), dtype=np.float32)
            parts, lengths = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
        elif isinstance(embedder, PieceVectors):
            found, lengths = embedder.pieces_of(words)
            used = np.unique(found)
            pieces = embedder.pieces[used].astype(np.float32)
            places = np.zeros(len(embedder.pieces), dtype=np.int32)
            places[used] = np.arange(len(used))
            parts = places[found]
        else:
            pieces, lengths = embedder.word_vectors(words), np.ones(len(words), dtype=np.int64)
            parts = np.arange(len(words), dtype=np.int32)
        if not lengths.all():  # a piece of nothing for a word without pieces
            empty = np.flatnonzero(lengths == 0)
            parts = np.insert(parts, (np.cumsum(lengths) - lengths)[empty], len(pieces)).astype(np.int32)
            pieces = np.concatenate([pieces, np.zeros((1, pieces.shape[1]), dtype=np.float32)])
            lengths = np.maximum(lengths, 1)
        starts = _bounds(sizes)
        totals = _sums(counts[:, None], sizes)[:, 0]
        shares = np.divide(counts, np.repeat(totals, sizes), dtype=np.float32)
        return cls(pieces, parts, _bounds(lengths), counts, starts, shares)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def nbytes(self) -> int:
        """The bytes that the arrays take."""
        arrays = (self.pieces, self.parts, self.part_starts, self.counts, self.starts, self.shares)
        return sum(array.nbytes for array in arrays)

    def vectors(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the raw vectors of the stems in `rows`: the means of their words', by how often these are used."""
        sizes = self.starts[rows + 1] - self.starts[rows]
        words = ranges(self.starts[rows], sizes)
        weights = self.counts[words, None]
        return _sums(self._words(words) * weights, sizes) / _sums(weights, sizes)

    def _words(self, words: NDArray[np.int64]) -> NDArray[np.float32]:
        """The vectors of words; they are summed in the order of how many pieces they have, most first."""
        starts = self.part_starts[words]
        fewer = starts - self.part_starts[words + 1]
        order = np.argsort(fewer, kind="stable")
        starts, fewer = starts[order], fewer[order]
        sums = self.pieces[self.parts[starts]]
        for place in range(1, -int(fewer[0]) if len(fewer) else 0):
            more = int(np.searchsorted(fewer, -place))
            sums[:more] += self.pieces[self.parts[starts[:more] + place]]
        result = np.empty_like(sums)
        result[order] = sums
        return result

    def dots(self, vectors: NDArray[np.float32]) -> Iterator[NDArray[np.float32]]:
        """Yield for each of `vectors` its dot product with the raw vector of each stem, but for the last digits."""
        by_piece = np.empty((len(vectors), len(self.pieces)), dtype=np.float32)
        for start in range(0, len(self.pieces), _BLOCK):  # each block is fetched from memory once for all vectors
            part = self.pieces[start : start + _BLOCK]
            for one, result in zip(vectors, by_piece, strict=True):
                np.vecdot(part, one, out=result[start : start + _BLOCK])
        for each in by_piece:
            by_word = np.add.reduceat(each[self.parts], self.part_starts[:-1])
            yield np.add.reduceat(by_word * self.shares, self.starts[:-1])


def _bounds(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _sums(rows: NDArray[np.float32], sizes: NDArray[np.int64]) -> NDArray[np.float32]:
    """The sums of runs of rows: mostly of one, seldom of more than three, for which NumPy's own way is far slower."""
    starts = np.cumsum(sizes) - sizes
    sums: NDArray[np.float32] = rows[starts]
    several = np.flatnonzero(sizes > 1)
    if len(several):
        starts, sizes = starts[several], sizes[several]
        further = rows[starts + 1]
        for place in range(2, int(sizes.max())):
            longer = np.flatnonzero(sizes > place)
            further[longer] += rows[starts[longer] + place]
        sums[several] += further
    return sums
