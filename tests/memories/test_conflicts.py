"""Contradictions told by words: the obvious ones are found, a mere likeness is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.memories.conflicts import contradiction

WORDS = st.lists(st.sampled_from("deploy friday never not importer port 8080 9090 team the v2 don't 不".split()))


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("We deploy the importer on Fridays.", "We never deploy the importer on Fridays.", "polarity"),
        ("Ana likes dark rye bread.", "Ana doesn’t like dark rye bread. ", ""),
        ("Ana wants dark rye bread.", "Ana does not want dark rye bread.", ""),  # another form of the word
        ("The importer listens on port 8080.", "The importer listens on port 9090.", "value"),
        ("The gateway cuts calls after 30s.", "the GATEWAY cuts calls after 60s", "value"),
        ("The importer must not listen on port 8080.", "The importer must listen on port 9090.", ""),
        ("Rye keeps.", "Rye does not keep.", ""),
        ("Never deploy the importer on Fridays.", "Do not deploy the importer on Fridays.", ""),
        ("The importer listens on port 8080.", "The importer listens on port 8080 and 9090.", ""),
        ("Wir nutzen kein Redis im Importer Dienst.", "Wir nutzen Redis im Importer Dienst.", "polarity"),
        ("", "", ""),
        ("not", "", ""),
    ],
)
def test_what_contradicts(one: str, other: str, reason: str) -> None:
    assert contradiction(one, other) == reason


@given(WORDS, WORDS)
def test_it_does_not_matter_who_speaks_first(one: list[str], other: list[str]) -> None:
    assert contradiction(" ".join(one), " ".join(other)) == contradiction(" ".join(other), " ".join(one))


@given(st.text(max_size=80))
def test_nothing_contradicts_itself_and_no_text_is_too_much(text: str) -> None:
    assert contradiction(text, text) == ""
    assert contradiction(text, text.upper() + " \n") in ("", "polarity", "value")


def test_a_long_text_takes_no_time() -> None:
    assert contradiction("v1.1.1.1.1.1." * 600, "not " * 2_000) == ""
