"""The array reader: every cut, damage inside and between elements, limits."""

from __future__ import annotations

import io
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.transcripts import elements as module
from segue.transcripts.elements import Elements

_TEXT = st.text(st.sampled_from('ab"\\{}[]:,é\n😀'), max_size=8)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=8,
)


def values(data: bytes, *keys: str, limit: int = 10_000_000) -> list[Any]:
    found = Elements(io.BytesIO(data), keys, limit)
    return [element.fault if element.value is None else element.value for element in found]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(array=st.lists(st.dictionaries(_TEXT, _JSON, max_size=3), max_size=4), chunk=st.integers(1, 40))
def test_elements_are_what_a_parser_of_the_whole_text_gives(array: list[Any], chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CHUNK", chunk)
        assert values(orjson.dumps(array)) == array
        wrapped = {"a": [1], "b": {"list": [{}]}, "list": array, "z": 1}
        assert values(orjson.dumps(wrapped, option=orjson.OPT_INDENT_2), "list") == array
        assert values(b"\xef\xbb\xbf" + b"\n".join(map(orjson.dumps, array))) == array


def test_a_single_object_is_the_one_element() -> None:
    assert values(b'{"conversations": {"a": [1]}, "x": [2]}', "conversations") == [
        {"conversations": {"a": [1]}, "x": [2]}
    ]


def test_a_broken_element_does_not_end_the_reading() -> None:
    data = b'[{"a": 1}, {"a": nope}, null, [1, 2], {"b": 2}]'
    assert values(data) == [
        {"a": 1},
        "it is no JSON object, or it is broken",
        "it is no JSON object",
        "it is no JSON object, or it is broken",
        {"b": 2},
    ]


def test_bad_bytes_and_half_characters_are_replaced() -> None:
    assert values(b'[{"a": "caf\xe9"}, {"b": "cut \\ud83d here"}]') == [{"a": "caf\ufffd"}, {"b": "cut \ufffd here"}]


def test_a_cut_file_gives_what_is_whole() -> None:
    assert values(b'[{"a": 1}, {"b": "tex') == [{"a": 1}, "the file ends inside it"]
    assert values(b'[{"a": 1},') == [{"a": 1}, "the file ends before its list does"]


def test_an_element_that_is_too_large_is_passed_over() -> None:
    assert values(b'[{"a": 1}, {"b": "%s"}, {"c": 3}]' % (b"x" * 600_000), limit=1_000) == [
        {"a": 1},
        "it is larger than 1,000 bytes",
        {"c": 3},
    ]


def test_nesting_is_bounded() -> None:
    assert values(b"[" * 5_000) == ["it is nested deeper than 1000 levels; nothing after it was read"]
    assert values(b'[{"a": %s}, {"b": 1}]' % (b"[" * 900 + b"]" * 900))[1] == {"b": 1}


def test_what_stands_after_the_list_is_not_read() -> None:
    assert values(b'{"list": [{"a": 1}], "more": [{"b": 1}]}', "list") == [{"a": 1}]
    assert values(b'[{"a": 1}] [{"b": 1}]') == [{"a": 1}]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    data=st.lists(st.sampled_from([b"[", b"{", b"}", b"]", b'"', b"\\", b'"list":', b",", b"1", b"\xff"]), max_size=30)
)
def test_any_bytes_are_read_without_an_exception(data: list[bytes]) -> None:
    values(b"".join(data), "list")
