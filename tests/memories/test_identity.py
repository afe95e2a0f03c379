"""What makes two texts one memory: spelling, case and white space do not, project and place in a thread do."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.memories import making
from segue.memories.identity import content_hash, identity, keyed, normal

TEXT = st.text(st.characters(codec="utf-8"), max_size=60)
SPACE = st.text(st.sampled_from(" \t\n\u00a0\u2003\u3000"), min_size=1, max_size=4)


def of(content: str, **details: Any) -> str:
    return identity(making.item(content, **details))


@pytest.mark.requirement("memories-3")
@given(TEXT)
def test_composed_and_decomposed_are_one(text: str) -> None:
    assert normal(unicodedata.normalize("NFD", text)) == normal(unicodedata.normalize("NFC", text)) == normal(text)


@given(TEXT)
def test_case_does_not_count(text: str) -> None:
    assert normal(unicodedata.normalize("NFC", text).casefold()) == normal(text)


@given(st.lists(TEXT, max_size=5), SPACE, SPACE)
def test_white_space_does_not_count(words: list[str], first: str, second: str) -> None:
    assert normal(first.join(words)) == normal(second.join(words)) == normal(second + first.join(words) + first)


@given(TEXT)
def test_normal_texts_are_normal(text: str) -> None:
    assert normal(normal(text)) == normal(text)


def test_the_usual_suspects() -> None:
    for one, other in [
        ("Straße", "STRASSE"),
        ("ΌΣΟΣ", "όσος"),
        ("é", "e\u0301"),
        ("K", "\u212a"),
        ("a  b", "A\u3000B"),
    ]:
        assert of(one) == of(other)
    for one, other in [("naïve", "naive"), ("rye", "rye."), ("1 000", "1000"), ("ff", "\ufb00x"), ("x²", "x2")]:
        assert of(one) != of(other)


@pytest.mark.requirement("memories-4")
def test_another_project_is_another_memory_whatever_its_case() -> None:
    assert of("Rye.", project="Shop") == of("rye.", project="SHOP ") != of("Rye.") != of("Rye.", project="Mill")


def test_nothing_of_one_part_passes_for_another() -> None:
    assert len({of("a", project="b c"), of("a b", project="c"), of("a b c"), of("a", project="c", thread="b")}) == 4
    assert of("yes", thread="t\n1", position=2) != of("yes", thread="t", position=12)


def test_a_turn_is_told_by_its_place_too() -> None:
    turns = {of("Yes.", thread=thread, position=place) for thread in ("a", "b") for place in (0, 1)}
    assert len(turns | {of("Yes."), of("Yes.", thread="a")}) == 6
    assert of("Yes.", thread="a", position=1) == of("YES.", thread="a", position=1)


def test_details_do_not_count() -> None:
    details = {"tags": ["x"], "kind": "decision", "author_class": "agent", "confidence": 0.2, "summary": "s"}
    assert of("Rye.", **details) == of("Rye.")


@given(TEXT, TEXT)
def test_an_approval_is_bound_to_every_character(one: str, other: str) -> None:
    assert (content_hash(one) == content_hash(other)) == (one == other)
    assert len(content_hash(one)) == 71


def test_a_keyed_hash_says_nothing_without_the_key() -> None:
    named = of("Rye.")
    assert keyed(named, b"one") == keyed(named, b"one") != keyed(named, b"two")
    assert named not in keyed(named, b"one")
    assert len(keyed(named, b"one")) == 64
