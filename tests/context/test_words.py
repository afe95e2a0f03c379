"""Words as sets: any script, and the same set for the same words."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.context.words import halves, likeness, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The IMPORTER's port_8080, the end", "the importer s port 8080 end"),
        ("Straße ÉTÉ", "strasse été"),
        ("e\u0301te\u0301", "été"),
        ("हिन्दी की", "हिन्दी की"),  # vowel signs belong to the word
        ("الخادم، يعيد", "الخادم يعيد"),
        ("服务器端口", "服务 务器 器端 端口"),
        ("用 Redis 的", "用 redis 的"),
        ("用Redis缓存数据", "用 redis 缓存 存数 数据"),
        ("ทุกคืน", "ทุ ุก กค คื ืน"),
        ("서버는 매일", "서버는 매일"),
        ("so\u00adft \u200bhidden 👍 ❤️", "soft hidden"),
        ("", ""),
        ("…!? — 👩‍💻", ""),
    ],
)
def test_the_words_of_a_text(text: str, expected: str) -> None:
    assert words(text) == set(expected.split())


@given(st.text(alphabet=string.printable, max_size=60))
@settings(max_examples=80, deadline=None)
def test_ascii_is_read_as_the_reference_reads_it(text: str) -> None:
    assert words(text) == set(re.findall("[a-z0-9]+", text.lower()))
    assert words(text + " é") == words(text) | {"é"}


@given(st.text(max_size=40), st.text(max_size=40))
@settings(max_examples=100, deadline=None)
def test_likeness_is_symmetrical_and_between_nothing_and_all(one: str, other: str) -> None:
    first, second = words(one), words(other)
    assert 0 <= likeness(first, second) == likeness(second, first) <= 1
    assert likeness(first, first) == (1 if first else 0)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("one two three", 6),
        ("one 2.5 three", 8),
        ("服务器端口", 5),
        ("用 redis 缓存", 5),
        ("ทุกคืน", 4),  # vowel signs do not count
        ("خادم يعيد", 4),
        ("< ✅ >", 0),
    ],
)
def test_how_much_a_text_says(text: str, count: int) -> None:
    assert halves(text) == count
