"""The words of a store by meaning: which of its tokens come close to a word that a query uses."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The stems of a store, a centred unit vector for each."""

    tokens: tuple[str, ...]
    vectors: NDArray[np.float32]
    centre: NDArray[np.float32]

    @classmethod
    def of(cls, statistics: Statistics, embedder: WordVectors) -> Vocabulary:
        """Return the vocabulary of a store: a stem's vector is the mean of its words', by their frequency."""
        counts = sorted(statistics.word_counts.items(), key=lambda item: (-item[1], item[0]))[:MOST_WORDS]
        stems: defaultdict[str, list[int]] = defaultdict(list)
        for row, (word, _) in enumerate(counts):
            token = stem(word)
            if token in statistics.document_frequencies:
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
        raw = embedder.word_vectors(words)
        asked = unit(np.where(raw.any(axis=1, keepdims=True), raw - self.centre, 0).astype(np.float32))
        return [self._close(np.vecdot(self.vectors, one), stem(word)) for one, word in zip(asked, words, strict=True)]

    def _close(self, cosines: NDArray[np.float32], own: str) -> dict[str, float]:
        rows = np.flatnonzero(cosines > CLOSE)
        best = rows[np.argsort(-cosines[rows], kind="stable")][: MOST_RELATED + 1]
        found = {self.tokens[row]: GAIN * (float(cosines[row]) - CLOSE) / (1 - CLOSE) for row in best}
        found.pop(own, None)
        return dict(list(found.items())[:MOST_RELATED])
