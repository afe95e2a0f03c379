"""The index over a small store finds what a plain ranking of the same memories finds, and says so lazily."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from index_samples import NOW_US, Row, ToyEncoder, assert_alike, batch, ids, index_of, listed, plainly, search, words_of
from search_samples import NOW, ToyEmbedder, moment

from segue.embedding.none import NoEmbedder
from segue.search import index as module
from segue.search.entry import Batch
from segue.search.index import Index

WORDS = "dog puppy hound boat ship ferry bread loaf cake red pier harbour when yesterday 东京 a::b C++ the".split()
QUERIES = [
    "ferry pier", "hound", "What did Ada say about the boat?", "Ben and Ada", "in May 2023", "on 7 May",
    "when did the ship sail", "东京", "a::b", "C++", "the", "bread cake red", "the the", "harbour dog loaf 东京 pier",
]  # fmt: skip
DAYS = [None, moment("2023-05-07T10:00:00Z"), moment("2023-05-09T00:00:00Z"), moment("2024-01-01T00:00:00Z")]
TOY, NONE = ToyEmbedder(), NoEmbedder()
BOTH = pytest.mark.parametrize("embedder", [TOY, NONE], ids=["toy", "none"])


def made(count: int, seed: int = 1) -> list[Row]:
    """Rows in threads and outside, of two speakers, some of them of the past, of the future, or learned late."""
    chance = random.Random(seed)
    return [
        Row(
            id=f"m{chance.randrange(10**6):06d}-{number}",
            text=" ".join(chance.choices(WORDS, k=chance.randrange(1, 9))) + chance.choice([".", "?", ""]),
            thread=chance.choice([None, "t", "u", "v"]),
            position=chance.randrange(2 * count),
            speaker=chance.choice(["", "Ada", "Ben Kemp", "Ada\nCleo"]),
            occurred=chance.choice(DAYS),
            captured=chance.choice([0, 10, 20]),
            begins=chance.choice([-(2**63), -(2**63), 100]),
            ends=chance.choice([2**63 - 1, 2**63 - 1, 200]),
        )
        for number in range(count)
    ]


@BOTH
@pytest.mark.parametrize("seed", range(6))
def test_it_finds_what_a_plain_ranking_finds(embedder: ToyEmbedder | NoEmbedder, seed: int) -> None:
    rows = [replace(row, begins=-(2**63), ends=2**63 - 1) for row in made(40, seed)]
    index = index_of(rows, embedder)
    for text in QUERIES:
        assert_alike(listed(search(index, text)), plainly(rows, embedder, text))


@BOTH
@pytest.mark.parametrize(("at_us", "known_us"), [(50, None), (150, None), (250, None), (150, 10), (150, 0), (150, -1)])
def test_only_what_holds_and_was_known_has_a_part(
    embedder: ToyEmbedder | NoEmbedder, at_us: int, known_us: int | None
) -> None:
    rows = made(60)
    index = index_of(rows, embedder)
    for text in QUERIES:
        found = listed(search(index, text, at_us, known_us))
        assert_alike(found, plainly(rows, embedder, text, at_us, known_us))


def test_bounds_are_from_and_up_to() -> None:
    index = index_of([Row("a", "boat", captured=5, begins=100, ends=200)], NONE)
    assert [len(search(index, "boat", at)) for at in (99, 100, 199, 200)] == [0, 1, 1, 0]
    assert [len(search(index, "boat", 150, known)) for known in (4, 5, None)] == [0, 1, 1]


def test_sentence_vectors_are_weighed_in() -> None:
    rows = made(30)
    encoder = ToyEncoder()
    index = index_of(rows, TOY, encoder)
    for text in QUERIES:
        for at_us in (50, 150, 250):
            found = listed(search(index, text, at_us))
            assert_alike(found, plainly(rows, TOY, text, at_us, encoder=encoder))
    assert any(why.retriever == "meaning" for one in listed(search(index, "pier")) for why in one.why)


def test_sentence_vectors_wait_until_all_that_is_eligible_has_them() -> None:
    rows = [Row("a", "the boat"), Row("b", "a loaf", ends=100)]
    encoder = ToyEncoder()
    full = batch(rows, NONE, encoder)
    blank = replace(full, windows=np.where([[True], [False]], full.windows, 0).astype(np.float16))  # type: ignore[arg-type]
    index = Index.of(blank, words_of(rows), NONE, encoder)
    assert [why.retriever for why in search(index, "boat", 200).ranked(0).why] == ["lexical", "meaning"]
    assert [why.retriever for why in search(index, "boat", 50).ranked(0).why] == ["lexical"]


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "\x00", "a\x00b", "\ud800", "\u202e", "?!.,;", '"', "%_\\", "the and of", "the", "🎉",
        "word " * 10_000, " ".join(f"w{number}" for number in range(10_000)), "dog " * 5_000 + "pier",
    ],
)  # fmt: skip
@BOTH
def test_hostile_queries_have_results(embedder: ToyEmbedder | NoEmbedder, text: str) -> None:
    index = index_of(made(20), embedder)
    results = search(index, text)
    assert all(0 <= one.relevance <= 1 for one in listed(results))
    assert results.basis in ("rank", "cosine")
    assert len(ids(results)) == len(set(ids(results))) == len(results)


def test_results_are_walked_by_places() -> None:
    results = search(index_of(made(40), TOY), "ferry pier dog", 150)
    every = ids(results)
    assert len(every) == len(results) > 5
    assert results.ids(2, 4) == every[2:4]
    assert results.ids(len(every) - 1, len(every) + 10) == every[-1:]
    assert results.ids(len(every), len(every) + 5) == []
    assert [results.ranked(place).id for place in range(len(every))] == every
    for place in (-1, len(every)):
        with pytest.raises(IndexError):
            results.ranked(place)


def test_nothing_found_has_no_places() -> None:
    results = search(index_of(made(5), NONE), "unheard")
    assert (len(results), results.ids(0, 5), results.basis) == (0, [], "rank")
    with pytest.raises(IndexError):
        results.ranked(0)


def test_only_vectors_speak() -> None:
    rows = [Row("a", "a puppy"), Row("b", "a boat")]
    # a store that counts no words knows no words of like meaning
    results = Index.of(batch(rows, TOY), {}, TOY).search("hound", NOW, at_us=NOW_US)
    assert (results.basis, ids(results)) == ("cosine", ["a"])


def test_equals_come_in_the_order_of_their_ids() -> None:
    rows = [Row(key, "boat") for key in ("b", "c", "é", "a", "zz", "Z")]
    assert ids(search(index_of(rows, TOY), "boat")) == ["Z", "a", "b", "c", "zz", "é"]


@settings(deadline=None, max_examples=25)
@given(st.randoms(use_true_random=False), st.integers(1, 7))
def test_the_order_in_which_rows_come_does_not_matter(order: random.Random, parts: int) -> None:
    rows = made(30)
    expected = {text: listed(search(index_of(rows, TOY), text, 150)) for text in QUERIES}
    order.shuffle(rows)
    batches = [batch(rows[start::parts], TOY) for start in range(parts)]
    index = Index.of(batches, words_of(rows), TOY)
    for text, found in expected.items():
        assert listed(search(index, text, 150)) == found


@settings(deadline=None, max_examples=50)
@given(st.text(max_size=30), st.lists(st.tuples(st.text(max_size=30), st.none() | st.text(max_size=3)), max_size=6))
def test_any_text_is_found_by_any_text(text: str, texts: list[tuple[str, str | None]]) -> None:
    rows = [Row(f"m{number}", one, thread=thread, position=number) for number, (one, thread) in enumerate(texts)]
    results = search(index_of(rows, TOY), text)
    assert_alike(listed(results), plainly(rows, TOY, text))


def test_an_empty_index_finds_nothing() -> None:
    for index in (Index.of([], {}, TOY), index_of([], TOY)):
        assert len(index) == 0
        assert index.speakers == frozenset()
        assert len(search(index, "boat")) == 0
        assert index.nbytes >= 0


def test_what_it_says_of_itself() -> None:
    rows = made(30)
    index = index_of(rows, TOY)
    assert len(index) == 30
    assert index.speakers == {"Ada", "Ben Kemp", "Cleo"}
    assert index.nbytes > 30 * TOY.dimension * 4
    plain = index.statistics
    assert plain.documents == 30
    assert plain.words == words_of(rows).total()
    assert plain.frequencies(["dog", "unheard"]).tolist() == [sum("dog" in row.text.split() for row in rows), 0]
    assert plain.document_frequencies.get("unheard", 7) == 7


def test_ids_differ_and_hold_no_nul() -> None:
    rows = [Row("a", "boat"), Row("a", "ship")]
    with pytest.raises(ValueError, match="twice"):
        index_of(rows, TOY)
    with pytest.raises(ValueError, match="twice"):
        Index.of([batch([row], TOY) for row in rows], {}, TOY)
    with pytest.raises(ValueError, match="NUL"):
        index_of([Row("a\0", "boat")], TOY)


def test_vectors_are_the_embedders() -> None:
    with pytest.raises(ValueError, match="4 dimensions, not of 0"):
        Index.of(batch([Row("a", "dog")], TOY), {}, NONE)


def test_several_threads_may_ask_at_once() -> None:
    index = index_of(made(40), TOY)
    asked = [(text, at) for text in QUERIES for at in (50, 150, 250)] * 3
    alone = [ids(search(index_of(made(40), TOY), text, at)) for text, at in asked]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda one: ids(search(index, *one)), asked)) == alone


def test_bytes_for_vectors_change_little(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = made(40)
    exact = {text: listed(search(index_of(rows, TOY), text, 150)) for text in QUERIES}
    monkeypatch.setattr(module, "LIMIT", 39)  # vectors are kept small; eligible are fewer, so that all are ranked
    index = index_of(rows, TOY)
    for text, expected in exact.items():
        assert_alike(listed(search(index, text, 150)), expected, within=0.02)


def test_batches_without_vectors_and_with_some_make_one_index() -> None:
    rows = [Row("a", "dog"), Row("b", "boat"), Row("c", "unheard")]
    bare = Batch.of(ids=["a"], terms=[b""], counts=[b""], lengths=[0])
    assert bare.vectors is None
    index = Index.of([bare, batch(rows[1:], TOY)], words_of(rows), TOY)
    assert ids(search(index, "ferry")) == ["b"]
