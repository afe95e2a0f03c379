"""What speaks for a memory beside its words."""

from __future__ import annotations

import math

import pytest
from search_samples import NOW, Store, ToyEmbedder, moment

from segue.search import priors
from segue.search.query import analyse

TEXTS = dict.fromkeys("abcd", "we sailed")
DAYS = {
    "a": moment("2023-05-07T23:00:00Z"),
    "b": moment("2023-05-17T00:00:00Z"),
    "c": moment("2023-05-02T12:00:00Z"),
}
STORE = Store(TEXTS, ToyEmbedder(), occurred_at=DAYS, speakers={"a": frozenset({"Ada"}), "b": frozenset({"Ben"})})


def dated(text: str) -> list[float]:
    found = priors.dated(analyse(text, NOW), STORE.candidates).tolist()
    return [found[STORE.candidates.ids.index(name)] for name in "abcd"]


@pytest.mark.parametrize("text", ["on 7 May 2023", "May 7", "2023-05-07"])
def test_a_day_fades_slowly_after_and_fast_before(text: str) -> None:
    assert dated(text) == pytest.approx([1, math.exp(-1), math.exp(-1), 0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in May", [1, 1, 1, 0]),
        ("in May 2023", [1, 1, 1, 0]),
        ("in April", [0.3, 0.3, 0.3, 0]),
        ("in June", [0, 0, 0, 0]),
        ("in December", [0, 0, 0, 0]),
        ("in May 2022", [0, 0, 0, 0]),
        ("in 2023", [1, 1, 1, 0]),
        ("7 May 2020", [0, 0, 0, 0]),
        ("29 February", [0, 0, 0, 0]),
        ("sailing", [0, 0, 0, 0]),
    ],
)
def test_spans(text: str, expected: list[float]) -> None:
    assert dated(text) == pytest.approx(expected)


def test_december_reaches_into_the_next_year() -> None:
    store = Store({"a": "x"}, ToyEmbedder(), occurred_at={"a": moment("2024-01-05T00:00:00Z")})
    assert priors.dated(analyse("in December", NOW), store.candidates).tolist() == pytest.approx([0.3])
    store = Store({"a": "x"}, ToyEmbedder(), occurred_at={"a": moment("2023-12-31T23:59:59Z")})
    assert priors.dated(analyse("in December", NOW), store.candidates).tolist() == [1]


@pytest.mark.parametrize(("text", "expected"), [("Ada?", {"a"}), ("Ada and Ben", set()), ("sailing", set())])
def test_the_one_speaker_who_is_named(text: str, expected: set[str]) -> None:
    found = priors.speaker(analyse(text, NOW, ["Ada", "Ben"]), STORE.candidates)
    assert {STORE.candidates.ids[int(row)] for row in found.nonzero()[0]} == expected


def test_a_speaker_who_said_nothing_here() -> None:
    assert not priors.speaker(analyse("Cleo", NOW, ["Cleo"]), STORE.candidates).any()


def test_length_questions_and_times() -> None:
    store = Store({"a": "sail", "b": "sail?", "c": "yesterday", "d": "sail the old boat"}, ToyEmbedder())
    plain = dict(zip(store.candidates.ids, priors.constant(analyse("sail", NOW), store.candidates), strict=True))
    assert plain["b"] == pytest.approx(plain["a"] + priors.QUESTION)
    assert plain["c"] == pytest.approx(plain["a"] + priors.TELLS)
    assert plain["d"] == pytest.approx(priors.LENGTH * math.log(5))
    asked = priors.constant(analyse("when did we sail", NOW), store.candidates)[2]
    assert asked == pytest.approx(plain["c"] + priors.TELLS_WHEN_ASKED)
