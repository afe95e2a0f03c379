"""The words of a store by meaning: which of its tokens come close to a word that a query uses.

All stems are compared with a word roughly, without their vectors (see `stems`); those that may be the closest ones
exactly, by vectors made for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from segue.search.stems import Stems
from segue.search.tokens import stem, stems
from segue.search.vectors import unit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from segue.search.statistics import Statistics
    from segue.search.vectors import WordVectors

CLOSE = 0.3  # the cosine above which a word is related
GAIN = 0.5  # what a word of the same meaning counts, beside 1 for the word itself
MOST_RELATED = 20  # for each word of a query
MOST_WORDS = 50_000  # the most frequent ones
_BLOCK = 512
_MOST_KEPT = 4096  # words whose related ones are kept
_MARGIN = 1e-3  # by which a cosine that adds up from pieces may be wrong, but where
_NEAR = 1e-2  # what lies between a stem and the centre is, squared, so small a part of both: there any cosine may be


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The stems of a store. They are compared by what lies between each and the centre."""

    tokens: tuple[str, ...]  # and no list: the garbage collector looks at each text of a list, over and over
    stems: Stems
    centre: NDArray[np.float32]
    scales: NDArray[np.float32]  # 1 divided by the length of what lies between; 0 where that is next to nothing
    _asked: dict[str, dict[str, float]] = field(default_factory=dict)  # what `related` said before, of one embedder

    @classmethod
    def of(cls, statistics: Statistics, embedder: WordVectors) -> Vocabulary:
        """Return the vocabulary of a store: a stem's vector is the mean of its words', by their frequency."""
        words, tokens, codes = _stemmed(statistics) if embedder.dimension else ([], [], np.zeros(0, dtype=np.int64))
        order = np.argsort(codes, kind="stable")
        words = [words[row] for row in order.tolist()]
        counts = np.fromiter(map(statistics.word_counts.__getitem__, words), dtype=np.float32, count=len(words))
        return cls.among(tokens, Stems.of(words, counts, np.bincount(codes), embedder))

    @classmethod
    def among(cls, tokens: Sequence[str], stems: Stems) -> Vocabulary:
        """Return the vocabulary of these stems; the centre is their mean, drawn to nothing while they are few."""
        total = np.zeros(stems.pieces.shape[1])
        squares = np.empty(len(stems), dtype=np.float32)
        for start in range(0, len(stems), _BLOCK):
            vectors = stems.vectors(np.arange(start, min(start + _BLOCK, len(stems))))
            squares[start : start + len(vectors)] = np.vecdot(vectors, vectors)
            total = np.concatenate([total[None], vectors]).sum(axis=0)  # row by row, as if there were one block
        mean = (total / max(len(stems), 1)).astype(np.float32)
        centre = np.asarray(mean * np.float32(len(stems) / (len(stems) + 100)))
        square = np.vecdot(centre, centre)
        between = squares + square
        for dots in stems.dots(centre[None]) if len(stems) else ():
            between -= 2 * dots
        near = between <= _NEAR * (squares + square)
        scales = np.where(near, 0, 1 / np.sqrt(np.where(near, 1, between)))
        return cls(tuple(tokens), stems, centre, scales.astype(np.float32))

    @property
    def nbytes(self) -> int:
        """The bytes that the arrays take."""
        return self.stems.nbytes + self.scales.nbytes

    def related(self, words: Sequence[str], embedder: WordVectors) -> list[dict[str, float]]:
        """Return, for each of `words`, the other tokens of the store that are close to it, and what each counts."""
        if not self.tokens or not words:
            return [{} for _ in words]
        known = {word: found for word in words if (found := self._asked.get(word)) is not None}
        new = [word for word in dict.fromkeys(words) if word not in known]
        if new:
            known |= zip(new, self._related(new, embedder), strict=True)
            if len(self._asked) + len(new) > _MOST_KEPT:
                self._asked.clear()
            self._asked.update((word, known[word]) for word in new)
        return [known[word] for word in words]

    def _related(self, words: Sequence[str], embedder: WordVectors) -> list[dict[str, float]]:
        raw = embedder.word_vectors(words)
        asked = unit(np.where(raw.any(axis=1, keepdims=True), raw - self.centre, 0).astype(np.float32))
        unsure = np.flatnonzero(self.scales == 0)
        found = []
        for word, vector, dots in zip(words, asked, self.stems.dots(asked), strict=True):
            rows = _best((dots - np.vecdot(vector, self.centre)) * self.scales)
            if len(unsure):
                rows = np.union1d(rows, unsure)
            cosines = np.vecdot(unit(self.stems.vectors(rows) - self.centre), vector)
            found.append(self._close(rows, cosines, stem(word)))
        return found

    def _close(self, rows: NDArray[np.int64], cosines: NDArray[np.float32], own: str) -> dict[str, float]:
        close = np.flatnonzero(cosines > CLOSE)
        best = close[np.argsort(-cosines[close], kind="stable")][: MOST_RELATED + 1]
        found = {self.tokens[rows[each]]: GAIN * (float(cosines[each]) - CLOSE) / (1 - CLOSE) for each in best}
        found.pop(own, None)
        return dict(list(found.items())[:MOST_RELATED])


def _best(cosines: NDArray[np.float32]) -> NDArray[np.int64]:
    """The places of all that may be among the closest ones."""
    rows = np.flatnonzero(cosines > CLOSE - _MARGIN)
    if len(rows) > MOST_RELATED + 1:
        least = np.partition(cosines[rows], -MOST_RELATED - 1)[-MOST_RELATED - 1]
        rows = rows[cosines[rows] >= least - 2 * _MARGIN]
    return rows


def _stemmed(statistics: Statistics) -> tuple[list[str], list[str], NDArray[np.int64]]:
    """The most frequent words whose stems stand in texts, those stems, and the place of each word's stem among them."""
    words = _most_frequent(statistics.word_counts)
    tokens = stems(words)
    distinct = list(dict.fromkeys(tokens))
    held = statistics.frequencies(distinct)
    if not held.all():
        there = {token for token, number in zip(distinct, held.tolist(), strict=True) if number}
        kept = [place for place, token in enumerate(tokens) if token in there]
        words, tokens = [words[place] for place in kept], [tokens[place] for place in kept]
    places = {token: place for place, token in enumerate(dict.fromkeys(tokens))}
    return words, list(places), np.fromiter(map(places.__getitem__, tokens), np.int64, len(tokens))


def _most_frequent(word_counts: Mapping[str, int]) -> list[str]:
    """The MOST_WORDS words that are used most, the most frequent first, equals by the alphabet."""
    words = np.array(list(word_counts), dtype=object)
    counts = np.fromiter(word_counts.values(), dtype=np.int64, count=len(words))
    least = 1 if len(words) <= MOST_WORDS else max(int(np.partition(counts, -MOST_WORDS)[-MOST_WORDS]), 1)
    chosen = sorted(words[counts > least].tolist())
    chosen += sorted(words[counts == least].tolist())[: max(MOST_WORDS - len(chosen), 0)]
    frequencies = np.fromiter(map(word_counts.__getitem__, chosen), dtype=np.int64, count=len(chosen))
    return [chosen[row] for row in np.argsort(-frequencies, kind="stable").tolist()]
