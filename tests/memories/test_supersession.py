"""Chains of supersession: never a cycle, and nobody replaces the user's words but the user."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.memories import making
from segue.memories.item import AUTHOR_CLASSES, AuthorClass
from segue.memories.supersession import closes_cycle, head, needs_review

LINKS = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh"), max_size=8)


@pytest.mark.parametrize("who", AUTHOR_CLASSES)
@pytest.mark.parametrize("whose", AUTHOR_CLASSES)
def test_whose_words_need_a_review(who: AuthorClass, whose: AuthorClass) -> None:
    item = making.item("Rye.", author_class=whose)
    replaced = making.made(item, memory_id="mem_1", now=datetime(2026, 5, 4, tzinfo=UTC))
    order = ["external", "agent", "user"]
    assert needs_review(who, replaced) == (order.index(who) < order.index(whose))


@pytest.mark.requirement("memories-5")
@given(LINKS, st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh"))
def test_a_link_that_closes_no_cycle_leaves_none(links: dict[str, str], old: str, new: str) -> None:
    """Links are added one by one, where they close no cycle: then every chain has an end."""
    whole: dict[str, str] = {}
    for each, following in [*links.items(), (old, new)]:
        if not closes_cycle(each, following, lambda one: whole.get(one, "")):
            whole[each] = following
    for start in "abcdefgh":
        seen, place = [start], start
        while place in whole:
            place = whole[place]
            assert place not in seen
            seen.append(place)
        assert head(start, lambda one: whole.get(one, "")) == place


def test_itself_and_its_own_successors() -> None:
    links = {"a": "b", "b": "c"}
    for old, new, closes in [
        ("c", "a", True),
        ("b", "a", True),
        ("x", "x", True),
        ("c", "d", False),
        ("x", "a", False),
    ]:
        assert closes_cycle(old, new, lambda one: links.get(one, "")) == closes


@given(LINKS, st.sampled_from("abcdefgh"))
def test_a_damaged_store_keeps_nobody_busy(links: dict[str, str], start: str) -> None:
    assert head(start, lambda one: links.get(one, "")) in "abcdefgh"
    assert closes_cycle("z", start, lambda one: links.get(one, "")) is False
