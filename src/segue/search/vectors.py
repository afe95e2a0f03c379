"""Static vectors: of words, of texts made from them, of a query; and the mixing with neighbours.

Word vectors come from an embedder, whatever satisfies `WordVectors`. A text's vector is the mean of its words'
vectors, frequent words counting little; what all texts of the store have in common (the mean) is taken off before
vectors are compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from segue.search.kernel import Links

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from segue.search.query import Query
    from segue.search.statistics import Statistics

RARITY = 0.001  # a word of probability p counts RARITY / (RARITY + p)
_BATCH = 512  # texts at a time, with so many words in all, so that the working memory stays small
_WORDS_AT_ONCE = 16_384
_MOST_WORDS = 4096  # of a text; later ones hardly move a mean
BEFORE, AFTER = 0.6, 0.4  # of a text's vector, to the power of the distance


class WordVectors(Protocol):
    """What search asks of an embedder."""

    @property
    def id(self) -> str:
        """The name that is stored beside each vector; another id means that vectors are not comparable."""

    @property
    def dimension(self) -> int:
        """The length of a vector; 0 if there are none, so that search is lexical only."""

    def word_vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return a row for each word."""

    def word_probabilities(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return how often each word stands in text in general, from 0 to 1: what a young store goes by."""


@runtime_checkable
class PieceVectors(Protocol):
    """An embedder that makes a word's vector of pieces: adding them up one after another gives `word_vectors`."""

    @property
    def pieces(self) -> NDArray[np.float16]:
        """The vectors of all pieces."""

    def pieces_of(self, words: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the pieces of all words, one word after another, and how many each has."""


class Comparable(Protocol):
    """The vectors of candidates, whatever they are kept as."""

    def cosines(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosine of each candidate's vector, mixed with its neighbours', with a query's unit vector."""


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """Vectors of candidates as `prepare` makes them."""

    rows: NDArray[np.float32]

    def cosines(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosine of each row with `vector`."""
        return np.asarray(np.vecdot(self.rows, vector), dtype=np.float32)  # no threads, unlike `@`

    def take(self, rows: NDArray[np.int64]) -> Prepared:
        """Return the vectors in `rows`."""
        return Prepared(self.rows[rows])


def word_weights(words: Sequence[str], statistics: Statistics, embedder: WordVectors) -> NDArray[np.float32]:
    """Return how much each word counts in a text's vector, by its frequency in the store and in general."""
    counts = np.array([statistics.word_counts.get(word, 0) for word in words], dtype=np.float32)
    prior = embedder.word_probabilities(words) * np.float32(statistics.PRIOR)
    probability = (counts + prior) / np.float32(statistics.words + statistics.PRIOR)
    return np.asarray(RARITY / (RARITY + probability), dtype=np.float32)


def text_vectors(texts: Sequence[Sequence[str]], statistics: Statistics, embedder: WordVectors) -> NDArray[np.float32]:
    """Return a raw vector for each text, given as `tokens.words` gives it: neither centred nor of unit length.

    This is what a store keeps; a text without words has the zero vector. Faster by the batch.
    """
    texts = [text[:_MOST_WORDS] for text in texts]
    if len(texts) > 1 and (len(texts) > _BATCH or sum(map(len, texts)) > _WORDS_AT_ONCE):
        half = len(texts) // 2
        return np.concatenate([text_vectors(some, statistics, embedder) for some in (texts[:half], texts[half:])])
    order: dict[str, int] = {}
    places = np.array([order.setdefault(word, len(order)) for text in texts for word in text], dtype=np.int64)
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    result = np.zeros((len(texts), embedder.dimension), dtype=np.float32)
    filled = np.flatnonzero(lengths)
    if not len(filled) or not embedder.dimension:
        return result
    unique = list(order)
    weights = word_weights(unique, statistics, embedder)
    weighted = embedder.word_vectors(unique) * weights[:, None]
    starts = (np.cumsum(lengths) - lengths)[filled]
    totals = np.add.reduceat(weights[places], starts)
    result[filled] = np.add.reduceat(weighted[places], starts, axis=0) / totals[:, None]
    return result


def prepare(
    raw: NDArray[np.float32],
    centre: NDArray[np.float32] | None,
    threads: NDArray[np.int64],
    positions: NDArray[np.int64],
) -> NDArray[np.float32]:
    """Return raw vectors ready to be compared: centred, mixed with their neighbours, of unit length.

    Rows are sorted by thread and position, a negative thread being none. A zero row stays zero.
    """
    return unit(mixed(raw, centre, threads, positions))


def mixed(
    raw: NDArray[np.float32],
    centre: NDArray[np.float32] | None,
    threads: NDArray[np.int64],
    positions: NDArray[np.int64],
) -> NDArray[np.float32]:
    """Return what `prepare` does, each row as long as it came out."""
    return blended(between(raw, centre), threads, positions)


def between(raw: NDArray[np.float32], centre: NDArray[np.float32] | None) -> NDArray[np.float32]:
    """Return what lies between the centre and each raw vector: nothing for a row of zeros, which is none."""
    if centre is None:
        return raw.copy()
    result = raw - centre
    result[~raw.any(axis=1)] = 0
    return result


def blended(rows: NDArray[np.float32], threads: NDArray[np.int64], positions: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return what `mixed` does of rows that `between` made, which are brought to unit length in place."""
    rows /= _lengths(rows)
    return Links.of(threads, positions).mix(rows, BEFORE, AFTER)


def query_vector(query: Query, statistics: Statistics, embedder: WordVectors) -> NDArray[np.float32] | None:
    """Return the unit vector of a query, centred as the memories are; None without words or without vectors."""
    if not query.embedded or not embedder.dimension:
        return None
    raw = text_vectors([query.embedded], statistics, embedder)
    if not raw.any():
        return None
    centred = raw if statistics.centre is None else raw - statistics.centre
    return np.asarray(unit(centred)[0])


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return `rows` at length 1, in float32; zero rows stay zero."""
    return np.asarray(rows / _lengths(rows), dtype=np.float32)


def _lengths(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """The length of each row, 1 for rows of zeros, as a column."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float32))
    return np.where(lengths > 0, lengths, np.float32(1))[:, None]
