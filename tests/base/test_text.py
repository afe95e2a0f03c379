"""Text as people compare it."""

from __future__ import annotations

import time

import pytest

from segue.base import text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Segue", "sEGUE"),
        ("Straße", "STRASSE"),
        ("a  b\t\nc ", "A B C"),
        ("ﬁne", "fine"),
        ("ＡＢＣ", "abc"),
        ("e\u0301", "é"),
        ("a\u00a0b", "a b"),
    ],
)
def test_fold_joins_what_people_take_for_the_same(one: str, other: str) -> None:
    assert text.fold(one) == text.fold(other)


@pytest.mark.parametrize(("one", "other"), [("a b", "ab"), ("resume", "résumé"), ("a-b", "a b")])
def test_fold_keeps_what_differs(one: str, other: str) -> None:
    assert text.fold(one) != text.fold(other)


@pytest.mark.parametrize(
    ("whole", "parts"),
    [
        ("", []),
        ("  \n", []),
        ("One", ["One"]),
        ("One.", ["One."]),
        ("One. Two", ["One.", "Two"]),
        ("One!  Two?\nThree...", ["One!", "Two?", "Three..."]),
        ('He said "stop." Then he left.', ['He said "stop."', "Then he left."]),
        ("Formats, e.g. CSV, approx. 3. Then more.", ["Formats, e.g. CSV, approx. 3.", "Then more."]),
        ("Ask Dr. Who. Go.", ["Ask Dr. Who.", "Go."]),
        ("Das ist z.B. so. Gut.", ["Das ist z.B. so.", "Gut."]),
        ("Use v1.2.3 of app.py.", ["Use v1.2.3 of app.py."]),
        ("一。二！三", ["一。", "二！", "三"]),
    ],
)
def test_sentences(whole: str, parts: list[str]) -> None:
    assert text.sentences(whole) == parts


def test_sentences_of_a_long_text_cost_no_more_than_its_length() -> None:
    start = time.process_time()
    assert len(text.sentences("One here. " * 30_000)) == 30_000
    assert time.process_time() - start < 2
