"""Sentence vectors in the ranking: windows, best sentences, and what happens while they are not whole."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from search_samples import NOW, Store, ToyEmbedder

from segue.embedding.none import NoEmbedder
from segue.search.candidates import Candidate, Candidates
from segue.search.meaning import Meaning, passages, window
from segue.search.query import analyse
from segue.search.ranking import Ranker

if TYPE_CHECKING:
    from collections.abc import Sequence


class ToyEncoder:
    """A dimension for each topic, one for everything else."""

    id = "toy-sentences"
    dimension = 3
    TOPICS = (("money", "invoice", "salary"), ("sea", "tide", "harbour"))

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        rows = [[float(any(word in text for word in topic)) for topic in self.TOPICS] for text in texts]
        return np.array([[*row, float(not any(row))] for row in rows], dtype=np.float32) / np.sqrt(
            [[max(sum(row), 1)] for row in rows], dtype=np.float32
        )


TEXTS = {"a": "The invoice is due.", "b": "High tide at noon. We wait.", "c": "Lunch was late."}
ENCODER = ToyEncoder()


def rows_with_meaning(store: Store) -> list[Candidate]:
    return [
        replace(row, window=ENCODER.encode([TEXTS[row.id]])[0], sentences=ENCODER.encode(passages(TEXTS[row.id])))
        for row in store.rows
    ]


def test_windows_reach_from_two_before_to_one_after() -> None:
    thread = ["a", "b", "c", "d", "e"]
    assert [window(thread, place) for place in range(5)] == ["a b", "a b c", "a b c d", "b c d e", "c d e"]


@pytest.mark.parametrize(("text", "parts"), [("One. Two!", ["One.", "Two!"]), ("", [""]), (" ", [" "]), ("x", ["x"])])
def test_passages_are_sentences(text: str, parts: list[str]) -> None:
    assert passages(text) == parts


def test_a_long_text_has_a_bounded_number_of_passages() -> None:
    assert len(passages("So it goes. " * 1000)) == 32


def test_what_only_the_meaning_answers_is_found() -> None:
    store = Store(TEXTS, NoEmbedder())
    candidates = Candidates.of(rows_with_meaning(store))
    ranker = Ranker(store.ranker.statistics, store.ranker.embedder, ENCODER)
    (found,) = ranker.rank(analyse("the salary", NOW), candidates, 5)
    assert (found.id, found.basis, found.relevance) == ("a", "cosine", 1.0)
    assert [one.retriever for one in found.why] == ["meaning"]


def test_meaning_is_weighed_against_words() -> None:
    store = Store(TEXTS, NoEmbedder())
    candidates = Candidates.of(rows_with_meaning(store))
    ranker = Ranker(store.ranker.statistics, store.ranker.embedder, ENCODER)
    query = analyse("lunch at sea", NOW)
    assert [one.id for one in ranker.rank(query, candidates, 5)] == ["b", "c"]
    assert [one.id for one in store.ranker.rank(query, candidates, 5)] == ["c"]


def test_the_best_sentence_counts() -> None:
    rows = np.eye(3, dtype=np.float32)
    meaning = Meaning.of([(rows[0], ENCODER.encode(["tide", "lunch"])), (rows[1], ENCODER.encode(["x"]))])
    assert meaning is not None
    windows, best = meaning.scores(np.array([0, 1, 0], np.float32))
    assert windows.tolist() == [0, 1]
    assert best.tolist() == [1, 0]
    _, second = meaning.take(np.array([1])).scores(np.array([0, 0, 1], np.float32))
    assert second.tolist() == [1]


def test_half_an_index_is_not_used() -> None:
    store = Store(TEXTS, ToyEmbedder())
    rows = rows_with_meaning(store)
    for lacking in (replace(rows[1], window=None), replace(rows[1], sentences=None)):
        candidates = Candidates.of([rows[0], lacking, rows[2]])
        assert candidates.meaning is None
        ranker = Ranker(store.ranker.statistics, store.ranker.embedder, ENCODER)
        assert ranker.rank(analyse("the salary", NOW), candidates, 5) == []
    assert Candidates.of([]).meaning is None
