"""Rows of memories for the tests of the index, and what a plain ranking makes of the same rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from search_samples import NOW

from segue.base import time
from segue.search.candidates import Candidate, Candidates
from segue.search.entry import EARLIEST, LATEST, Batch, Entry, packed_vectors, unpacked_vectors
from segue.search.index import Index
from segue.search.query import analyse
from segue.search.ranking import Ranked, Ranker
from segue.search.statistics import Indexed, Statistics
from segue.search.vectors import text_vectors

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from segue.search.index import Results
    from segue.search.meaning import Encoder
    from segue.search.vectors import WordVectors

NOW_US = time.microseconds(NOW)


class ToyEncoder:
    """A dimension for water, one for food, one for everything else."""

    id = "toy-sentences"
    dimension = 3
    TOPICS = (("boat", "ship", "ferry", "pier"), ("bread", "cake", "loaf"))

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        rows = [[float(any(word in text for word in topic)) for topic in self.TOPICS] for text in texts]
        full = np.array([[*row, float(not any(row))] for row in rows], dtype=np.float32)
        return np.asarray(full / np.linalg.norm(full, axis=1, keepdims=True), dtype=np.float32)


@dataclass(frozen=True)
class Row:
    """One memory as a database keeps it, but for its text, of which all the rest is made."""

    id: str
    text: str
    thread: str | None = None
    position: int = 0
    speaker: str = ""
    occurred: int | None = None
    captured: int = EARLIEST
    begins: int = EARLIEST
    ends: int = LATEST

    def holds(self, at_us: int, known_us: int | None) -> bool:
        return self.begins <= at_us < self.ends and (known_us is None or self.captured <= known_us)


def words_of(rows: Iterable[Row]) -> Counter[str]:
    return Counter(word for row in rows for word in Entry.of(row.text).words)


def vector_of(row: Row, embedder: WordVectors) -> bytes | None:
    """The raw vector as it is stored: it depends on the text alone."""
    made = text_vectors([Entry.of(row.text).words], Statistics(), embedder)[0]
    return packed_vectors(made) if made.any() else None


def batch(rows: Sequence[Row], embedder: WordVectors, encoder: Encoder | None = None) -> Batch:
    entries = [Entry.of(row.text) for row in rows]
    encoded = [packed_vectors(encoder.encode([row.text])) for row in rows] if encoder else None
    return Batch.of(
        ids=[row.id for row in rows],
        terms=[entry.terms for entry in entries],
        counts=[entry.counts for entry in entries],
        lengths=[entry.length for entry in entries],
        vectors=[vector_of(row, embedder) for row in rows] if embedder.dimension else None,
        threads=[row.thread for row in rows],
        positions=[row.position for row in rows],
        occurred=[row.occurred for row in rows],
        speakers=[row.speaker for row in rows],
        questions=[entry.is_question for entry in entries],
        telling=[entry.tells_time for entry in entries],
        captured=[row.captured for row in rows],
        begins=[row.begins for row in rows],
        ends=[row.ends for row in rows],
        windows=encoded,
        sentences=encoded,
    )


def index_of(rows: Sequence[Row], embedder: WordVectors, encoder: Encoder | None = None) -> Index:
    return Index.of(batch(rows, embedder, encoder), words_of(rows), embedder, encoder)


def search(
    index: Index, text: str, at_us: int = NOW_US, known_us: int | None = None, include: Collection[str] = ()
) -> Results:
    return index.search(text, NOW, at_us=at_us, known_us=known_us, include=include)


def listed(results: Results) -> list[Ranked]:
    return [results.ranked(place) for place in range(len(results))]


def ids(results: Results) -> list[str]:
    return results.ids(0, len(results))


def plainly(
    rows: Sequence[Row],
    embedder: WordVectors,
    text: str,
    at_us: int = NOW_US,
    known_us: int | None = None,
    encoder: Encoder | None = None,
) -> list[Ranked]:
    """What `Ranker` finds among the eligible rows, one memory at a time: what the index must find."""
    indexed = [Indexed.of(row.text) for row in rows]
    raw = [_unpacked(row, embedder) for row in rows]
    filled = [vector for vector in raw if vector is not None]
    mean = np.asarray(np.mean(filled, axis=0, dtype=np.float64), dtype=np.float32) if filled else None
    counted = Statistics.of(indexed)
    statistics = Statistics(
        counted.documents,
        counted.length,
        counted.document_frequencies,
        counted.word_counts,
        counted.words,
        mean,
    )
    candidates = [
        Candidate(
            id=row.id,
            terms=Counter(one.tokens),
            length=len(one.tokens),
            vector=vector,
            thread=row.thread,
            position=row.position,
            occurred_at=row.occurred,
            speakers=frozenset(filter(None, row.speaker.split("\n"))),
            is_question=one.is_question,
            tells_time=one.tells_time,
            window=_encoded(row, encoder)[0] if encoder else None,
            sentences=_encoded(row, encoder) if encoder else None,
        )
        for row, one, vector in zip(rows, indexed, raw, strict=True)
        if row.holds(at_us, known_us)
    ]
    speakers = {name for row in rows for name in row.speaker.split("\n") if name}
    query = analyse(text, NOW, speakers)
    return Ranker(statistics, embedder, encoder).rank(
        query, Candidates.of(candidates, statistics.centre), len(candidates)
    )


def _unpacked(row: Row, embedder: WordVectors) -> np.ndarray | None:
    stored = vector_of(row, embedder) if embedder.dimension else None
    return None if stored is None else unpacked_vectors(stored, embedder.dimension)[0]


def _encoded(row: Row, encoder: Encoder) -> np.ndarray:
    return encoder.encode([row.text]).astype(np.float16).astype(np.float32)


def assert_alike(found: Sequence[Ranked], expected: Sequence[Ranked], within: float = 5e-6) -> None:
    """The same memories in the same order for the same reasons, but that what is equal to all purposes may swap."""
    assert len(found) == len(expected)
    assert {one.id for one in found} == {one.id for one in expected}
    wanted = {one.id: one for one in expected}
    for one, other in zip(found, expected, strict=True):
        assert abs(one.relevance - other.relevance) <= within  # in this place, whoever holds it
        same = wanted[one.id]
        assert abs(one.relevance - same.relevance) <= within
        assert one.basis == same.basis
        for reason in ("terms", "near"):
            assert [getattr(why, reason) for why in one.why] == [getattr(why, reason) for why in same.why]
        assert [why.retriever for why in one.why] == [why.retriever for why in same.why]
