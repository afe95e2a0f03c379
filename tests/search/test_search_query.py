"""Queries analysed: terms, speakers, what is embedded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_samples import NOW

from segue.search.dates import Day
from segue.search.query import MOST_TERMS, Names, Query, Term, analyse

SPEAKERS = ["Ada Lane", "Ben", "Ben Otto", "Will"]


def asked(query: Query) -> list[str]:
    return [term.token for term in query.terms]


def test_stop_words_are_dropped_and_stems_asked() -> None:
    query = analyse("What did the painters decide about the bridges?", NOW)
    assert asked(query) == ["painter", "decid", "bridg"]
    assert query.embedded == ("painters", "decide", "bridges")


@pytest.mark.parametrize("text", ["AND", "to be or not to be", "The Who", "who was it?"])
def test_stop_words_stay_where_nothing_else_is_left(text: str) -> None:
    query = analyse(text, NOW)
    assert query.terms
    assert query.embedded


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("What did Ada Lane say?", ("Ada Lane",)),
        ("what did ADA say", ("Ada Lane",)),
        ("Ada's boat", ("Ada Lane",)),
        ("what did Ben Otto say", ("Ben", "Ben Otto")),
        ("what will happen", ("Will",)),
        ("Ada and Ben", ("Ada Lane", "Ben")),
        ("adamant", ()),
        ("Lane", ()),
    ],
)
def test_known_speakers_are_found(text: str, named: tuple[str, ...]) -> None:
    assert analyse(text, NOW, SPEAKERS).speakers == named


def test_a_first_name_that_two_share_names_neither() -> None:
    assert analyse("Ada?", NOW, ["Ada Lane", "Ada Moss"]).speakers == ()
    assert analyse("Ada Moss?", NOW, ["Ada Lane", "Ada Moss"]).speakers == ("Ada Moss",)


def test_names_are_asked_for_but_not_embedded() -> None:
    query = analyse("Which boat does Ada own?", NOW, SPEAKERS)
    assert query.terms == (Term("boat", "boat"), Term("ada", "ada", is_name=True))
    assert query.embedded == ("boat",)


def test_a_name_alone_is_embedded() -> None:
    assert analyse("Ada?", NOW, SPEAKERS).embedded == ("ada",)


def test_dates_and_the_wish_for_one_are_noticed() -> None:
    query = analyse("When, after 7 May 2023, did it end?", NOW)
    assert query.dates == (Day(2023, 5, 7),)
    assert query.asks_time
    assert not analyse("Where did it end?", NOW).asks_time


def test_a_term_is_asked_once() -> None:
    assert asked(analyse("boat boat Boat", NOW)) == ["boat"]


def test_of_a_very_long_query_the_rarest_terms_count() -> None:
    query = analyse(" ".join(f"w{number}" for number in range(10_000)), NOW)
    assert len(query.terms) == 10_000
    chosen = query.chosen(lambda token: float(token[1:]))
    assert [term.token for term in chosen] == [f"w{number}" for number in range(10_000 - MOST_TERMS, 10_000)]


@given(st.text(max_size=60), st.lists(st.text(max_size=8), max_size=4))
def test_any_text_is_a_query(text: str, speakers: list[str]) -> None:
    query = analyse(text, NOW, speakers)
    assert set(query.speakers) <= set(speakers)
    assert query == analyse(text, NOW, reversed(speakers))


def test_names_are_made_once_for_many_queries() -> None:
    speakers = ["Ada Brook", "Ben", "Ben Carr", "", "?", "Cleo", "cleo"]
    names = Names.of(speakers)
    for text in ("Ada", "ben", "Ben Carr and Ada", "Cleo", "nobody", ""):
        assert analyse(text, NOW, names) == analyse(text, NOW, speakers)
    assert analyse("Ben Carr and Ada", NOW, names).speakers == ("Ada Brook", "Ben", "Ben Carr")
    assert analyse("Cleo", NOW, names).speakers == ("Cleo",)
