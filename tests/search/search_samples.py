"""Small stores for the tests of search, and an embedder whose vectors are plain to see."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from segue.base import time
from segue.search.candidates import Candidate, Candidates
from segue.search.query import analyse
from segue.search.ranking import Ranked, Ranker
from segue.search.statistics import Indexed, Statistics
from segue.search.vectors import text_vectors

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from numpy.typing import NDArray

    from segue.search.vectors import WordVectors

NOW = time.parse("2026-03-10T12:00:00Z")


class ToyEmbedder:
    """Four dimensions of meaning, named by word; a word that is in none has a zero vector."""

    id = "toy"
    dimension = 4
    MEANINGS = (("dog", "puppy", "hound"), ("boat", "ship", "ferry"), ("bread", "loaf", "cake"), ("red", "crimson"))

    def word_vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        return np.array([[float(word in meaning) for meaning in self.MEANINGS] for word in words], dtype=np.float32)

    def word_probabilities(self, words: Sequence[str]) -> NDArray[np.float32]:
        return np.full(len(words), 1e-6, dtype=np.float32)


class Store:
    """Memories of one scope, indexed as a real store does."""

    def __init__(self, texts: Mapping[str, str], embedder: WordVectors, **columns: Mapping[str, object]) -> None:
        """`columns` give for some ids a thread, position, occurred_at or speakers."""
        indexed = {key: Indexed.of(text) for key, text in texts.items()}
        statistics = Statistics.of(indexed.values()).with_mean(indexed.values(), embedder)
        raw = text_vectors([one.words for one in indexed.values()], statistics, embedder)
        self.rows = [
            Candidate(
                id=key,
                terms=Counter(one.tokens),
                length=len(one.tokens),
                vector=vector if embedder.dimension else None,
                is_question=one.is_question,
                tells_time=one.tells_time,
                **{name: column[key] for name, column in columns.items() if key in column},  # type: ignore[arg-type]
            )
            for (key, one), vector in zip(indexed.items(), raw, strict=True)
        ]
        self.ranker = Ranker(statistics, embedder)
        self.candidates = Candidates.of(self.rows, statistics.centre)
        self.speakers = frozenset(name for row in self.rows for name in row.speakers)

    def search(self, text: str, k: int = 10, keep: Container[str] | None = None) -> list[Ranked]:
        return self.ranker.rank(analyse(text, NOW, self.speakers), self.candidates, k, keep)

    def ids(self, text: str, k: int = 10) -> list[str]:
        return [one.id for one in self.search(text, k)]


def moment(text: str) -> int:
    """Microseconds of an RFC 3339 time."""
    return time.microseconds(time.parse(text))
