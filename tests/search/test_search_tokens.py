"""Tokens: spellings meet, code stays whole, scripts without spaces are found by parts, nothing raises."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from segue.search.tokens import LONGEST, fold, stem, terms, tokens, words

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=60)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Segue", "sEGUE"),
        ("straße", "STRASSE"),
        ("İstanbul", "istanbul"),
        ("ISPARTA", "ısparta"),
        ("ＡＢＣ１２", "abc12"),
        ("cafe\u0301", "Café"),
        ("Müller", "muller"),
        ("ﬁne", "fine"),
        ("ｶﾞ", "ガ"),
        ("한국", unicodedata.normalize("NFD", "한국")),
        ("pass\u200bword", "password"),
        ("don’t", "don't"),
        ("مَرْحَبًا", "مرحبا"),
        ("running", "runs"),
        ("the painter's", "the painters"),
    ],
)
def test_spellings_that_people_take_for_the_same_meet(one: str, other: str) -> None:
    assert tokens(one) == tokens(other) != []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C++", ["c", "c++"]),
        ("C#", ["c", "c#"]),
        ("a::b", ["a", "b", "a::b"]),
        ("foo_bar", ["foo", "bar", "foo_bar"]),
        ("__init__", ["init", "__init__"]),
        ("v1.2.3", ["v1", "2", "3", "v1.2.3"]),
        ("lib/app.py", ["lib", "app", "py", "lib/app.py", "app.py"]),
        (r"lib\app.py", ["lib", "app", "py", r"lib\app.py", "app.py"]),
        ("kebab-case", ["kebab", "case", "kebab-case"]),
        ("--flag", ["flag"]),
        ("(word).", ["word"]),
        ("it's", ["it"]),
        ("o'neil", ["o", "neil"]),
        ("don't", ["dont"]),
        ("🎉🎉 party", ["🎉", "🎉", "parti"]),
        ("हिन्दी", ["हिन्दी"]),
        ("東京都", ["東", "京", "都", "東京", "京都"]),
        ("Python入門", ["python", "入", "門", "入門"]),
        ("ไป", ["ไ", "ป", "ไป"]),
        ("배우다", ["배", "우", "다", "배우", "우다"]),
    ],
)
def test_tokens_of(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize("text", ["", " ", "*", '"', "\x00", "::", "'", "''", "-", "+", "\ud800", "(", "\\", "_"])
def test_text_without_words_has_no_tokens(text: str) -> None:
    assert not tokens(text)
    assert not words(text)
    assert not terms(text)


@pytest.mark.parametrize("text", ["東京", "กรุงเทพ", "서울", "ひらがな", "ລາວ", "မြန်မာ"])
def test_one_or_two_characters_of_a_dense_script_are_found(text: str) -> None:
    stored = set(tokens(f"x {text} y"))
    letters = [place for place, character in enumerate(text) if unicodedata.category(character)[0] == "L"]
    for place in letters:
        assert {token for token, _ in terms(text[place])} <= stored
    for place in range(len(text) - 1):
        asked = {token for token, _ in terms(text[place : place + 2])}
        assert asked
        assert asked <= stored


def test_a_query_asks_for_pairs_only_where_there_are_two() -> None:
    assert terms("東京") == [("東京", "")]
    assert terms("京") == [("京", "")]


def test_terms_say_what_word_they_are_made_of() -> None:
    assert terms("Running foo_bar") == [("run", "running"), ("foo", "foo"), ("bar", "bar"), ("foo_bar", "")]


def test_words_are_not_stemmed_and_code_falls_into_parts() -> None:
    assert words("Running foo_bar, C++ 東京都") == ["running", "foo", "bar", "c", "東京都"]


def test_a_long_word_is_cut_and_long_code_left_to_its_parts() -> None:
    assert tokens("a" * 10_000) == [stem("a" * LONGEST)]
    assert tokens("ж" * 10_000) == ["ж" * LONGEST]
    assert max(map(len, tokens("part_" * 1000))) <= LONGEST
    assert max(map(len, words("東" * 1000))) == LONGEST
    assert len(words("東" * 1000)) == 16


@given(ANY_TEXT)
@example("\ud800a\udfff")
@example("İ" * 3 + "\u0307")
@example("a" * 100_000)
@example("_" * 5_000 + "'" * 5_000)
def test_any_text_has_tokens_that_can_be_stored(text: str) -> None:
    for token in tokens(text) + words(text):
        assert 0 < len(token) <= LONGEST
        token.encode("utf-8")
        assert not any(map(str.isspace, token))
    assert {token for token, _ in terms(text)} <= set(tokens(text))


@given(ANY_TEXT)
def test_composition_does_not_matter(text: str) -> None:
    assert tokens(unicodedata.normalize("NFC", text)) == tokens(unicodedata.normalize("NFD", text))


@given(st.text(st.characters(codec="utf-8", categories=("L", "N", "Z", "P")), max_size=40))
def test_case_does_not_matter(text: str) -> None:
    assert tokens(text.casefold()) == tokens(text)


@given(st.text(st.characters(codec="ascii"), max_size=40))
def test_ascii_reads_the_same_beside_other_scripts(text: str) -> None:
    assert tokens(text + " é") == [*tokens(text), "e"]


@given(ANY_TEXT)
def test_folding_is_settled_at_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)
