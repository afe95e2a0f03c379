"""The words of a store by meaning: which of its tokens come close to a word that a query uses."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from segue.search.tokens import stem
from segue.search.vectors import unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from segue.search.statistics import Statistics
    from segue.search.vectors import WordVectors

CLOSE = 0.3  # the cosine above which a word is related
GAIN = 0.5  # what a word of the same meaning counts, beside 1 for the word itself
MOST_RELATED = 20  # for each word of a query
MOST_WORDS = 50_000  # the most frequent ones; each takes a kilobyte of memory
_BLOCK = 1024
_MOST_KEPT = 4096  # words whose related ones are kept


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The stems of a store, a centred unit vector for each."""

    tokens: tuple[str, ...]
    vectors: NDArray[np.float32]
    centre: NDArray[np.float32]
    _asked: dict[str, dict[str, float]] = field(default_factory=dict)  # what `related` said before, of one embedder

    @classmethod
    def of(cls, statistics: Statistics, embedder: WordVectors) -> Vocabulary:
        """Return the vocabulary of a store: a stem's vector is the mean of its words', by their frequency."""
        there = ((word, count) for word, count in statistics.word_counts.items() if count > 0)
        counts = sorted(there, key=lambda item: (-item[1], item[0]))[:MOST_WORDS]
        stems: defaultdict[str, list[int]] = defaultdict(list)
        tokens = [stem(word) for word, _ in counts]
        for row, (token, frequency) in enumerate(zip(tokens, statistics.frequencies(tokens), strict=True)):
            if frequency:
                stems[token].append(row)
        if not stems or not embedder.dimension:
            nothing = np.zeros((0, embedder.dimension), dtype=np.float32)
            return cls((), nothing, np.zeros(embedder.dimension, dtype=np.float32))
        weights = np.array([count for _, count in counts], dtype=np.float32)[:, None]
        weighted = embedder.word_vectors([word for word, _ in counts]) * weights
        rows = np.array([row for group in stems.values() for row in group])
        sizes = np.array([len(group) for group in stems.values()])
        starts = np.cumsum(sizes) - sizes
        means = np.add.reduceat(weighted[rows], starts, axis=0) / np.add.reduceat(weights[rows], starts, axis=0)
        centre = means.mean(axis=0, dtype=np.float64).astype(np.float32) * np.float32(len(stems) / (len(stems) + 100))
        return cls(tuple(stems), unit(means - centre), np.asarray(centre))

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
        cosines = np.empty((len(words), len(self.tokens)), dtype=np.float32)
        for start in range(0, len(self.tokens), _BLOCK):  # each block is fetched from memory once for all words
            part = self.vectors[start : start + _BLOCK]
            for one, result in zip(asked, cosines, strict=True):
                np.vecdot(part, one, out=result[start : start + _BLOCK])
        return [self._close(row, stem(word)) for row, word in zip(cosines, words, strict=True)]

    def _close(self, cosines: NDArray[np.float32], own: str) -> dict[str, float]:
        rows = np.flatnonzero(cosines > CLOSE)
        best = rows[np.argsort(-cosines[rows], kind="stable")][: MOST_RELATED + 1]
        found = {self.tokens[row]: GAIN * (float(cosines[row]) - CLOSE) / (1 - CLOSE) for row in best}
        found.pop(own, None)
        return dict(list(found.items())[:MOST_RELATED])
