"""An index that was changed finds what one finds that was made of the same memories at once."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from index_samples import Row, ToyEncoder, assert_alike, batch, ids, index_of, listed, plainly, search, words_of
from search_samples import NOW, ToyEmbedder

from segue.embedding.none import NoEmbedder
from segue.search import index as module
from segue.search.statistics import Statistics

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from segue.search.index import Index

TOY, NONE = ToyEmbedder(), NoEmbedder()
WORDS = "dog puppy boat ship ferry bread loaf cake red pier harbour".split()
QUERIES = ["ferry pier", "dog", "What did Ada say about bread?", "Ben", "red cake", "harbour dog loaf pier"]
EVERY_WORD = Row("all", " ".join(WORDS))  # so that the vocabulary of the base knows them

rows = st.builds(
    Row,
    id=st.sampled_from([f"m{number}" for number in range(12)]),
    text=st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join),
    thread=st.sampled_from([None, "t", "u"]),
    position=st.integers(0, 14),
    speaker=st.sampled_from(["", "Ada", "Ben"]),
    ends=st.sampled_from([2**63 - 1, 2**63 - 1, 100]),
)
several = st.lists(rows, max_size=8, unique_by=lambda row: row.id)
changes = st.lists(st.tuples(several, st.sets(st.sampled_from([f"m{number}" for number in range(14)]))), max_size=5)


@pytest.fixture(params=["anew", "upon a base", "upon a base, small"])
def way(request: pytest.FixtureRequest) -> Iterator[str]:
    """However changes are kept; the centre moves with each in an index that is made anew, so there is none here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Statistics, "FEW", 10**15)
        if request.param != "anew":
            patch.setattr(module, "EXACT", 0)
            patch.setattr(module, "SHARE", 0)  # never made anew
        if request.param == "upon a base, small":
            patch.setattr(module, "LIMIT", 0)
        yield request.param


def changed(index: Index, new: Sequence[Row], gone: Sequence[str], before: Sequence[Row]) -> tuple[Index, list[Row]]:
    """The index after a change, with the counts of words that changed, and the rows that are there then."""
    kept = {row.id: row for row in before if row.id not in gone} | {row.id: row for row in new}
    old, now = words_of(before), words_of(kept.values())
    words = {word: now.get(word, 0) for word in old | now if old.get(word, 0) != now.get(word, 0)}
    return index.updated(batch(new, TOY), gone, words), list(kept.values())


@given(several, changes)
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_changes_lead_where_a_new_index_starts(
    way: str, start: list[Row], steps: list[tuple[list[Row], set[str]]]
) -> None:
    there = [EVERY_WORD, *start]
    index = index_of(there, TOY)
    for new, gone in steps:
        index, there = changed(index, new, sorted(gone), there)
    anew = index_of(there, TOY)
    assert len(index) == len(anew) == len(there)
    assert index.speakers == anew.speakers
    assert index.statistics.documents == anew.statistics.documents
    assert index.statistics.length == anew.statistics.length
    assert index.statistics.words == anew.statistics.words
    assert index.statistics.frequencies(WORDS).tolist() == anew.statistics.frequencies(WORDS).tolist()
    for text in QUERIES:
        for at_us in (50, 150):
            found = listed(index.search(text, NOW, at_us=at_us, select=10**9))
            expected = listed(anew.search(text, NOW, at_us=at_us, select=10**9))
            if way == "anew":
                assert found == expected
            else:
                assert_alike(found, expected)
            if way != "upon a base, small":
                assert_alike(found, plainly(there, TOY, text, at_us))


@given(several, several)
@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_sentence_vectors_follow_their_memories(way: str, start: list[Row], new: list[Row]) -> None:
    encoder = ToyEncoder()
    there = {row.id: row for row in [EVERY_WORD, *start]}
    index = index_of(list(there.values()), TOY, encoder)
    there |= {row.id: row for row in new}
    index = index.updated(batch(new, TOY, encoder), [], words_of(there.values()))
    for text in QUERIES:
        found = listed(index.search(text, NOW, at_us=0, select=10**9))
        assert_alike(found, plainly(list(there.values()), TOY, text, 0, encoder=encoder), within=0.02)


def test_the_old_index_stays_as_it_was(way: str) -> None:
    there = [EVERY_WORD, Row("a", "boat", thread="t", position=1), Row("b", "loaf", thread="t", position=2)]
    old = index_of(there, TOY)
    before = {text: listed(search(old, text)) for text in QUERIES}
    new, _ = changed(old, [Row("c", "pier", thread="t", position=3)], ["a"], there)
    assert "c" in ids(search(new, "pier"))
    assert {text: listed(search(old, text)) for text in QUERIES} == before


@pytest.mark.parametrize("order", range(4))
def test_a_thread_goes_across_what_was_and_what_came(way: str, order: int) -> None:
    turns = [Row(f"m{place}", text, thread="t", position=place) for place, text in enumerate(WORDS)]
    chance = random.Random(order)
    chance.shuffle(turns)
    there = [EVERY_WORD, *turns[:6]]
    index = index_of(there, TOY)
    for turn in turns[6:]:
        index, there = changed(index, [turn], [], there)
    found = {one.id: one for one in listed(index.search("ship", NOW, at_us=0, select=10**9))}
    for place in (1, 2, 4, 5, 6, 7):  # ship stands at 3, and reaches four turns
        assert found[f"m{place}"].why[0].near, place
    for text in QUERIES:
        assert_alike(
            listed(index.search(text, NOW, at_us=0, select=10**9)),
            listed(index_of(there, TOY).search(text, NOW, at_us=0, select=10**9)),
        )


def test_a_turn_that_goes_brings_its_neighbours_together(way: str) -> None:
    turns = [Row(f"m{place}", "dog", thread="t", position=place % 3) for place in range(9)]  # three at each position
    there = [EVERY_WORD, *turns, Row("x", "ship", thread="t", position=3)]
    index = index_of(there, TOY)
    for gone in (["m8"], ["m5", "m2"], ["m7"]):
        index, there = changed(index, [], gone, there)
        for text in ("dog", "ship"):
            assert_alike(
                listed(index.search(text, NOW, at_us=0, select=10**9)),
                listed(index_of(there, TOY).search(text, NOW, at_us=0, select=10**9)),
            )


def test_equals_that_came_stand_among_those_that_were_by_their_ids(way: str) -> None:
    there = [EVERY_WORD, *(Row(name, "dog", thread="t", position=100 * place) for place, name in enumerate("eca"))]
    came = [Row(name, "dog", "t", 1000 - 10 * place) for place, name in enumerate(("b", "bb", "d", "f"))]
    index, there = changed(index_of(there, TOY), came, [], there)
    found = ids(index.search("dog", NOW, at_us=0, select=10**9))
    assert [each for each in found if each != "all"] == ["a", "b", "bb", "c", "d", "e", "f"]


def test_at_one_position_ids_say_who_is_near(way: str) -> None:
    there = [EVERY_WORD, Row("x", "ship", thread="t"), *(Row(name, "dog", "t", 1) for name in "ace")]
    index, there = changed(index_of(there, TOY), [Row(name, "dog", "t", 1) for name in "bdf"], [], there)
    near = {one.id for one in listed(index.search("ship", NOW, at_us=0, select=10**9)) if one.why[0].near}
    assert near == {"a", "b", "c", "d"}


def test_what_changes_only_when_it_holds(way: str) -> None:
    there = [EVERY_WORD, Row("a", "boat"), Row("b", "boat")]
    index, there = changed(index_of(there, TOY), [replace(there[1], ends=10)], [], there)
    assert "a" in ids(search(index, "boat", 9))
    assert "a" not in ids(search(index, "boat", 10))
    assert len(index) == 3


def test_what_is_not_there_is_removed_already(way: str) -> None:
    index = index_of([EVERY_WORD], TOY)
    same = index.updated(batch([], TOY), ["unheard", "", "a\0", "é"])
    assert listed(search(same, "dog")) == listed(search(index, "dog"))


def test_everything_may_go_and_come_back(way: str) -> None:
    there = [EVERY_WORD, Row("a", "boat")]
    index = index_of(there, TOY)
    index, there = changed(index, [], ["all", "a"], there)
    assert (len(index), ids(search(index, "boat")), index.speakers) == (0, [], frozenset())
    index, there = changed(index, [Row("b", "boat", speaker="Ada")], [], there)
    assert (len(index), ids(search(index, "boat")), index.speakers) == (1, ["b"], frozenset({"Ada"}))


def test_an_id_comes_once_in_a_change(way: str) -> None:
    index = index_of([EVERY_WORD], TOY)
    with pytest.raises(ValueError, match="twice"):
        index.updated(batch([Row("a", "dog"), Row("a", "boat")], TOY))


def test_vectors_that_came_later_count(way: str) -> None:
    there = [Row("a", "pier", thread="t", position=1), Row("b", "harbour")]  # of which there are no vectors
    index, there = changed(index_of(there, TOY), [Row("c", "boat", thread="t", position=2)], [], there)
    found = listed(index.search("boat", NOW, at_us=0, select=99))
    assert_alike(found, plainly(there, TOY, "boat", 0), within=0.02)
    assert {one.id for one in found if "vectors" in [why.retriever for why in one.why]} == {"a", "c"}


def test_what_came_without_a_vector_is_like_its_neighbours(way: str) -> None:
    there = [EVERY_WORD, Row("a", "dog"), Row("b", "dog", thread="t", position=1)]
    index, there = changed(index_of(there, TOY), [Row("a", "pier", thread="t", position=0)], [], there)
    for text in ("dog", "pier"):
        assert_alike(listed(index.search(text, NOW, at_us=0, select=99)), plainly(there, TOY, text, 0), within=0.02)


def test_an_index_without_vectors_changes_too() -> None:
    index = index_of([Row("a", "boat", thread="t", position=1)], NONE)
    later = index.updated(batch([Row("b", "pier", thread="t", position=2)], NONE), [], {"pier": 1})
    assert_alike(
        listed(search(later, "pier")), plainly([Row("a", "boat", "t", 1), Row("b", "pier", "t", 2)], NONE, "pier")
    )


def test_the_base_is_made_anew_when_much_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EXACT", 0)
    monkeypatch.setattr(module, "SHARE", 4)
    there = [EVERY_WORD, *(Row(f"m{number}", "dog") for number in range(7))]
    index = index_of(there, TOY)
    index, there = changed(index, [Row("x", "zebra")], [], there)
    assert ids(search(index, "zebra")) == ["x"]
    for number in range(4):
        index, there = changed(index, [Row(f"y{number}", f"word{number}")], [], there)
    anew = index_of(there, TOY)
    for text in [*QUERIES, "zebra", "word3"]:  # the centre is that of all memories again
        assert_alike(listed(search(index, text)), listed(search(anew, text)), within=0.05)
