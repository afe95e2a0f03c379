"""Of very many memories the promising ones are ranked: what a full ranking puts first is among them."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache
from hashlib import shake_256
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from index_samples import Row, ToyEncoder, batch, ids, index_of, listed, search
from search_samples import ToyEmbedder

from segue.embedding.none import NoEmbedder
from segue.search import index as module
from segue.search.index import Index

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from search_rows import NOW, NOW_US, Source

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from segue.search.entry import Batch
    from segue.search.index import Results
    from segue.search.vectors import WordVectors

ROWS = 6_000
LIMIT, SELECT = 500, 300
TOY, NONE = ToyEmbedder(), NoEmbedder()


class Noise:
    """A direction for each word, which says nothing: the same for the same word."""

    id = "noise"
    dimension = 256

    def word_vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        joined = b"".join(shake_256(word.encode()).digest(self.dimension) for word in words)
        return np.frombuffer(joined, np.int8).reshape(-1, self.dimension).astype(np.float32)

    def word_probabilities(self, words: Sequence[str]) -> NDArray[np.float32]:
        return np.full(len(words), 1e-6, dtype=np.float32)


EMBEDDERS: dict[str, WordVectors] = {"noise": Noise(), "none": NONE}
BOTH = pytest.mark.parametrize("name", EMBEDDERS)


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LIMIT", LIMIT)


@cache
def source() -> Source:
    return Source()


@cache
def batches(name: str) -> list[Batch]:
    return list(source().batches(ROWS, EMBEDDERS[name]))


@cache
def large(name: str) -> Index:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LIMIT", LIMIT)
        return Index.of(batches(name), source().word_counts(ROWS), EMBEDDERS[name])


def asked(name: str, text: str, include: Collection[str] = (), select: int = SELECT) -> Results:
    return large(name).search(text, NOW, at_us=NOW_US, select=select, include=include)


def questions() -> list[str]:
    return [*source().questions(40, ROWS), source().heavy()]


@BOTH
def test_the_best_of_a_full_ranking_are_found(name: str) -> None:
    shares, alike = [], []
    for text in questions():
        full, chosen = asked(name, text, select=ROWS), asked(name, text)
        best = full.ids(0, 10)
        assert len(full) > len(chosen) or name == "none"
        shares.append(len(set(best) & set(chosen.ids(0, 10))) / len(best))
        alike.append(abs(full.ranked(0).relevance - chosen.ranked(0).relevance))
    assert np.mean(shares) >= 0.99
    assert max(alike) == 0  # the best one is the same, at 1


@BOTH
def test_who_asks_for_more_gets_more(name: str) -> None:
    text = source().heavy()
    few, many = asked(name, text, select=50), asked(name, text, select=400)
    assert 50 <= len(few) < 150 < 400 <= len(many) < 800
    assert len(asked(name, text, select=0)) >= 1
    assert few.ids(0, 1) == many.ids(0, 1)


@BOTH
def test_what_is_included_is_ranked_and_moves_nothing(name: str) -> None:
    for text in questions()[:10]:
        before = {one.id: one for one in listed(asked(name, text))}
        every = {one.id: one for one in listed(asked(name, text, select=ROWS))}
        others = [*sorted(set(every) - set(before))[::50], "unheard"]
        after = {one.id: one for one in listed(asked(name, text, others))}
        assert set(after) == set(before) | (set(others) - {"unheard"})
        for key, one in before.items():
            assert (after[key].relevance, after[key].why) == (one.relevance, one.why)
        for key in set(after) - set(before):
            assert after[key].relevance == pytest.approx(every[key].relevance, abs=0.05)
            assert 0 <= after[key].relevance <= 1


@BOTH
def test_what_is_not_eligible_is_neither_found_nor_included(name: str) -> None:
    retired = f"{7:026d}"
    text = "What about " + next(source().memories(8)).text
    results = asked(name, text, [retired])
    assert retired not in ids(results)
    earlier = large(name).search(text, NOW, at_us=NOW_US - 2, select=SELECT, include=[retired])
    assert retired in ids(earlier)


@BOTH
def test_few_that_are_eligible_are_all_ranked(name: str) -> None:
    early = int(source().block(0).occurred[400])
    results = large(name).search(source().heavy(), NOW, at_us=NOW_US, known_us=early, select=1)
    assert 100 < len(results) <= 401
    assert max(ids(results)) <= f"{400:026d}"


@BOTH
def test_the_order_of_the_batches_changes_nothing(name: str) -> None:
    (whole,) = batches(name)
    rows = np.random.default_rng(3).permutation(ROWS)
    again = Index.of(
        [part_of(whole, rows[:1000]), part_of(whole, rows[1000:])], source().word_counts(ROWS), EMBEDDERS[name]
    )
    for text in questions()[:10]:
        found = again.search(text, NOW, at_us=NOW_US, select=SELECT)
        assert ids(found) == ids(asked(name, text))


def part_of(whole: Batch, rows: NDArray[np.int64]) -> Batch:
    starts = np.cumsum(whole.sizes) - whole.sizes
    flat = np.concatenate([np.arange(starts[row], starts[row] + whole.sizes[row]) for row in rows])
    columns = ("sizes", "lengths", "positions", "occurred", "questions", "telling", "captured", "begins", "ends")
    return replace(
        whole,
        ids=[whole.ids[row] for row in rows],
        terms=whole.terms[flat],
        counts=whole.counts[flat],
        vectors=None if whole.vectors is None else whole.vectors[rows],
        threads=[whole.threads[row] for row in rows],
        speakers=[whole.speakers[row] for row in rows],
        **{column: getattr(whole, column)[rows] for column in columns},
    )


@BOTH
def test_changes_upon_a_large_base_are_found(name: str) -> None:
    embedder = EMBEDDERS[name]
    new = Row("new", "A zebrafish of its own.", thread="thread-3", position=1_000)
    beside = Row("newer", "As they said.", thread="thread-3", position=1_001)
    index = large(name).updated(batch([new, beside], embedder), [f"{number:026d}" for number in range(3)])
    results = index.search("zebrafish", NOW, at_us=NOW_US, select=SELECT)
    assert results.ids(0, 2) == ["new", "newer"]
    for text in questions()[:10]:
        gone = {f"{number:026d}" for number in range(3)}
        before = [each for each in asked(name, text).ids(0, 13) if each not in gone]
        found = index.search(text, NOW, at_us=NOW_US, select=SELECT).ids(0, 12)
        assert len(set(found[:10]) & set(before[:12])) >= 9


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\x00",
        "?!",
        "the and of",
        "the",
        "\ud800",
        "word " * 10_000,
        " ".join(f"w{number}" for number in range(10_000)),
    ],
)
@BOTH
def test_hostile_queries_have_results(name: str, text: str) -> None:
    results = asked(name, text)
    assert len(ids(results)) == len(results)
    if text in ("the", "the and of"):  # in nearly every memory, and still looked for
        assert len(results) >= SELECT


def test_words_in_too_many_memories_are_looked_for_where_there_are_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    from segue.search import preselection

    monkeypatch.setattr(preselection, "_FREQUENT", 1)
    results = asked("none", source().heavy())
    assert len(results) >= SELECT
    monkeypatch.setattr(preselection, "_MOST_POSTINGS", 0)
    assert len(asked("none", source().heavy())) >= SELECT


def test_who_is_named_and_when_are_looked_for() -> None:
    rows = [Row(f"m{number:04d}", "a boat", speaker="Ada", occurred=0) for number in range(LIMIT)]
    rows += [Row("n1", "a boat", speaker="Ben Kemp", occurred=0)]
    may = int(np.datetime64("2023-05-07", "us").astype(np.int64))
    rows += [Row("n2", "a boat", speaker="Ada", occurred=may)]
    rows += [Row("n3", "no word of it", speaker="Ada", occurred=may)]
    index = index_of(rows, TOY)
    assert search(index, "What did Ben Kemp say of a boat?").ids(0, 1) == ["n1"]
    # both are near the date; the longer one first, as a word that all have says nothing
    assert index.search("boat on 7 May 2023", NOW, at_us=0, select=4).ids(0, 2) == ["n3", "n2"]


def test_what_came_is_found_by_its_vector_alone() -> None:
    rows = [Row(f"m{number:04d}", ("the dog boat", "a loaf")[number % 2]) for number in range(2 * LIMIT)]
    index = Index.of(batch(rows, TOY), {}, TOY)  # without counts of words there are no related ones
    later = index.updated(batch([Row("n", "the puppy")], TOY))
    results = later.search("hound", NOW, at_us=0, select=1)
    assert results.ids(0, 1) == ["n"]
    assert results.basis == "cosine"


def test_what_only_its_meaning_answers_is_found() -> None:
    encoder = ToyEncoder()
    rows = [Row(f"m{number:04d}", "no word of it") for number in range(2 * LIMIT)] + [Row("n", "a cake")]
    index = index_of(rows, NONE, encoder)
    results = index.search("bread", NOW, at_us=0, select=10)
    assert (ids(results), results.basis) == (["n"], "cosine")
    assert [why.retriever for why in results.ranked(0).why] == ["meaning"]
    found = index.search("no bread", NOW, at_us=0, select=10)
    assert "n" in ids(found)
    later = index.updated(batch([Row("newer", "a loaf")], NONE, encoder))
    assert ids(later.search("bread", NOW, at_us=0, select=10)) == ["n", "newer"]
    without = index.updated(batch([Row("newer", "a loaf")], NONE))  # whose sentence vectors are not made yet
    assert ids(without.search("bread", NOW, at_us=0, select=10)) == []


def test_equals_come_in_the_order_of_their_ids() -> None:
    rows = [Row(f"m{number * 7919 % 1000:04d}", "boat") for number in range(1000)]
    results = index_of(rows, TOY).search("boat", NOW, at_us=0, select=100)
    assert ids(results) == sorted(row.id for row in rows)[: len(results)]
    assert len(results) >= 100
