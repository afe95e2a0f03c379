"""Ranking: what is found, in which order, and why; the same whatever is filtered and in whatever order it comes."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from search_samples import NOW, Store, ToyEmbedder

from segue.embedding.none import NoEmbedder
from segue.search import lexical
from segue.search.candidates import Candidates
from segue.search.query import analyse
from segue.search.ranking import Ranked, Ranker, rank
from segue.search.vectors import Prepared

if TYPE_CHECKING:
    import random

TEXTS = {
    "m1": "The ferry leaves from the old pier at nine.",
    "m2": "We baked a loaf with walnuts yesterday.",
    "m3": "A crimson puppy followed the ship.",
    "m4": "C++ is what the engine is written in; C is not.",
    "m5": "The parser lives in lib/parse_tree.py and a::b calls it.",
    "m6": "Is the walnut cake for Sunday?",
    "m7": "我们在东京见面。",
    "m8": "พรุ่งนี้ไปตลาด",
    "m9": "내일 서울에서 만나요",
    "m10": "D is a language, and so is C.",
}
THREADS = {"m1": "t", "m2": "t", "m3": "t"}
POSITIONS = {"m1": 1, "m2": 2, "m3": 3}
SPEAKERS = {"m1": frozenset({"Ada"}), "m2": frozenset({"Ben"}), "m3": frozenset({"Ada"})}


def store(embedder: ToyEmbedder | NoEmbedder) -> Store:
    return Store(TEXTS, embedder, thread=THREADS, position=POSITIONS, speakers=SPEAKERS)


TOY, NONE = store(ToyEmbedder()), store(NoEmbedder())
BOTH = pytest.mark.parametrize("found_in", [TOY, NONE], ids=["toy", "none"])


@BOTH
@pytest.mark.parametrize(
    ("text", "best"),
    [
        ("C++", "m4"),
        ("a::b", "m5"),
        ("parse_tree.py", "m5"),
        ("walnuts", "m2"),
        ("东", "m7"),
        ("东京", "m7"),
        ("ตลาด", "m8"),
        ("서울", "m9"),
        ("ＦＥＲＲＹ", "m1"),
    ],
)
def test_the_best_is_first_with_relevance_one(found_in: Store, text: str, best: str) -> None:
    first = found_in.search(text)[0]
    assert (first.id, first.relevance, first.basis) == (best, 1.0, "rank")


@BOTH
@pytest.mark.parametrize(
    "text",
    [
        "C++", "a::b", "AND", "OR", "NOT", '"', '""', "NEAR(", "NEAR(a b, 3)", "*", "ferr*", "don't", "\x00", "a\x00b",
        "", " ", "%", "_", "\\", "';--", "(", "-pier", "^x", "\ud800", "{", "m1:", "🎉", "\u202e", "word " * 10_000,
        " ".join(f"w{number}" for number in range(10_000)),
    ],
)  # fmt: skip
def test_hostile_queries_give_a_list(found_in: Store, text: str) -> None:
    found = found_in.search(text)
    assert all(isinstance(one, Ranked) and 0 <= one.relevance <= 1 for one in found)


@BOTH
@pytest.mark.parametrize("text", ["*", '"', "", "\x00", "%", "qqqq", "ferr*"])
def test_what_nothing_answers_finds_nothing(found_in: Store, text: str) -> None:
    assert found_in.search(text) == []


def test_without_candidates_there_is_nothing() -> None:
    assert TOY.ranker.rank(analyse("ferry", NOW), Candidates.of([]), 5) == []


def test_k_cuts_and_order_is_by_relevance() -> None:
    found = TOY.search("ferry walnut", 20)
    assert [one.relevance for one in found] == sorted((one.relevance for one in found), reverse=True)
    assert TOY.search("ferry walnut", 2) == found[:2]
    assert TOY.search("ferry walnut", 0) == []


def test_only_vectors_speak() -> None:
    far = Store({"a": "a puppy", "b": "a boat"}, ToyEmbedder())
    (found,) = far.search("hound")
    assert (found.id, found.basis) == ("a", "rank")  # the related word answered as well
    unrelated = Ranker(far.ranker.statistics, far.ranker.embedder)
    bare = far.candidates.with_terms({})
    (only,) = unrelated.rank(analyse("hound", NOW), bare, 5)
    assert (only.id, only.basis) == ("a", "cosine")
    assert 0 < only.relevance < 1
    assert [one.retriever for one in only.why] == ["vectors"]
    assert only.relevance == only.why[0].score


def test_why_names_retrievers_terms_and_ranks() -> None:
    why = {one.retriever: one for one in TOY.search("Which boat did Ada take from the pier?")[0].why}
    assert set(why) == {"lexical", "vectors", "speaker"}
    assert why["lexical"].terms == ("pier",)
    assert why["lexical"].near == ("boat",)  # ferry
    assert why["lexical"].rank == 1
    assert why["speaker"].rank == 1


def test_a_neighbour_answers_for_what_stands_beside_it() -> None:
    found = {one.id: one for one in NONE.search("pier")}
    assert list(found) == ["m1", "m2", "m3"]
    assert found["m2"].why[0].terms == ()
    assert found["m2"].why[0].near == ("pier",)
    apart = Store(TEXTS, NoEmbedder())
    assert apart.ids("pier") == ["m1"]


def test_the_speaker_who_is_named_comes_first() -> None:
    two = Store(
        {"a": "the harbour is closed", "b": "the harbour is closed"},
        NoEmbedder(),
        speakers={"a": frozenset({"Ada"}), "b": frozenset({"Ben"})},
    )
    assert two.ids("What did Ben say about the harbour?") == ["b", "a"]
    assert two.ids("What did Ada say about the harbour?") == ["a", "b"]
    assert two.ids("harbour") == ["a", "b"]


def test_bm25_as_by_hand() -> None:
    three = Store({"a": "boat boat pier", "b": "boat", "c": "loaf"}, NoEmbedder())
    query = analyse("boat", NOW)
    scores = lexical.score(three.ranker.asked(query), three.candidates, three.ranker.statistics).scores
    idf = math.log(1 + 1.5 / 2.5)
    average = 5 / 3
    expected = [
        idf * 2 * 2.2 / (2 + 1.2 * (0.8 + 0.2 * 3 / average)),
        idf * 1 * 2.2 / (1 + 1.2 * (0.8 + 0.2 * 1 / average)),
        0,
    ]
    assert scores.tolist() == pytest.approx(expected)


def test_a_name_weighs_less_than_a_word() -> None:
    said = {"a": "Ada came", "b": "a storm came"}
    both = Store(said, NoEmbedder())
    query = analyse("Ada storm", NOW, ["Ada"])
    assert [one.id for one in both.ranker.rank(query, both.candidates, 2)] == ["b", "a"]


def test_the_words_that_matter_are_all_that_is_wanted() -> None:
    query = analyse("Which boat did Ada take from the pier?", NOW, TOY.speakers)
    wanted = TOY.ranker.wanted(query)
    assert {"boat", "ada", "take", "pier", "ferri", "ship"} == wanted
    slim = TOY.candidates.with_terms({token: row for token, row in TOY.candidates.postings.items() if token in wanted})
    assert TOY.ranker.rank(query, slim, 10) == TOY.ranker.rank(query, TOY.candidates, 10)


def test_a_name_has_no_words_of_like_meaning() -> None:
    assert TOY.ranker.wanted(analyse("hound", NOW)) == {"hound", "puppi"}
    assert TOY.ranker.wanted(analyse("Hound", NOW, ["Hound"])) == {"hound"}


def test_prepared_vectors_are_taken_as_they_are() -> None:
    assert isinstance(TOY.candidates.vectors, Prepared)
    by_id = dict(zip(TOY.candidates.ids, TOY.candidates.vectors.rows, strict=True))
    again = Candidates.of([replace(row, vector=by_id[row.id]) for row in TOY.rows], prepared=True)
    query = analyse("ferry", NOW)
    assert TOY.ranker.rank(query, again, 10) == TOY.ranker.rank(query, TOY.candidates, 10)


def test_taking_rows_keeps_their_columns() -> None:
    rows = np.array([row for row, name in enumerate(TOY.candidates.ids) if name in THREADS or name == "m6"])
    part = TOY.candidates.take(rows)
    assert set(part.ids) == {"m1", "m2", "m3", "m6"}
    query = analyse("pier walnut", NOW)
    assert TOY.ranker.rank(query, part, 10) == [
        one for one in TOY.ranker.rank(query, TOY.candidates, 10) if one.id in part.ids
    ]
    assert [part.ids[row] for row in part.speakers["Ada"]] == ["m1", "m3"]


def test_one_function_does_what_a_ranker_does() -> None:
    query = analyse("ferry", NOW)
    found = rank(query, TOY.candidates, TOY.ranker.statistics, TOY.ranker.embedder, 3)
    assert found == TOY.ranker.rank(query, TOY.candidates, 3)


@settings(deadline=None)
@given(
    st.sampled_from(["ferry pier", "walnut cake", "hound", "C", "东京 boat", "when did Ada sail", "in May 2023"]),
    st.sets(st.sampled_from(sorted(TEXTS))),
)
def test_a_filter_changes_no_score(text: str, keep: set[str]) -> None:
    whole = TOY.search(text, 20)
    assert TOY.search(text, 20, keep) == [one for one in whole if one.id in keep]


@settings(deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_order_in_which_candidates_come_does_not_matter(order: random.Random) -> None:
    rows = list(TOY.rows)
    order.shuffle(rows)
    again = Candidates.of(rows, TOY.ranker.statistics.centre)
    query = analyse("walnut ferry puppy C", NOW)
    assert TOY.ranker.rank(query, again, 20) == TOY.ranker.rank(query, TOY.candidates, 20)


@settings(deadline=None, max_examples=50)
@given(st.text(max_size=30), st.lists(st.text(max_size=30), max_size=6))
def test_any_text_is_found_by_any_text(text: str, texts: list[str]) -> None:
    some = Store({f"m{number}": one for number, one in enumerate(texts)}, ToyEmbedder())
    found = some.search(text)
    assert all(0 <= one.relevance <= 1 for one in found)
    if found and found[0].basis == "rank":
        assert found[0].relevance == 1


def test_equals_come_in_the_order_of_their_ids() -> None:
    same = Store(dict.fromkeys(("b", "c", "a"), "boat"), ToyEmbedder())
    assert same.ids("boat") == ["a", "b", "c"]


def test_the_hash_seed_changes_nothing() -> None:
    program = (
        "from test_search_ranking import TOY\n"
        "for text in ('walnut ferry puppy', 'Ada and the boat', 'C'): print(TOY.search(text, 20))"
    )
    printed = set()
    for seed in ("0", "1", "77"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parent)}
        run = subprocess.run(
            [sys.executable, "-c", program],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            encoding="utf-8",
        )
        printed.add(run.stdout)
    assert len(printed) == 1
    assert "m1" in printed.pop()
