"""Strict JSON: everything that two programs could read differently is one clear error."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.base import jsontext
from segue.base.errors import InvalidInput

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def refusal(data: bytes) -> InvalidInput:
    with pytest.raises(InvalidInput) as raised:
        jsontext.parse(data, code="packet.json")
    error = raised.value
    assert error.code == "packet.json"
    assert error.message.startswith("invalid json: ")
    return error


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "it is empty"),
        (b"  \n ", "it is empty"),
        (b"{", "line 1"),
        (b'{"a": 1,}', "column"),
        (b"[1,]", "column"),
        (b"{'a': 1}", "column"),
        (b"{a: 1}", "column"),
        (b"[01]", "column"),
        (b"[+1]", "column"),
        (b"[.5]", "column"),
        (b"[1] x", "column 5"),
        (b"[1][2]", "column"),
        (b"// c\n[1]", "column"),
        (b'["a\nb"]', "control character"),
        (b'["\\x41"]', "escape"),
        (b'["\\u12"]', "escape"),
        (b"\xef\xbb\xbf[1]", "byte order mark"),
        (b"\xff\xfe[\x001\x00]\x00", "byte 0 is not UTF-8"),
        (b'["\xff"]', "byte 2 is not UTF-8"),
        (b'["\xc3"]', "not UTF-8"),
        (b'["\xc0\xaf"]', "not UTF-8"),
        (b'["\xed\xa0\x80"]', "not UTF-8"),
        (b'["\xf4\x90\x80\x80"]', "not UTF-8"),
        (b"[NaN]", "NaN is not a JSON number"),
        (b"[Infinity]", "Infinity is not a JSON number"),
        (b"[-Infinity]", "-Infinity is not a JSON number"),
        (b"[1e999]", "too large"),
        (b"[-1e999]", "too large"),
        (b'{"a": 1, "a": 1}', "stands twice"),
        (b'[{"x": {"a": 1, "b": 2, "a": 3}}]', "'a' stands twice"),
        (b'{"a": 1, "\\u0061": 2}', "stands twice"),
        (b'["\\ud800"]', "lone surrogate"),
        (b'["\\uDC00"]', "lone surrogate"),
        (b'["\\udc00\\ud800"]', "lone surrogate"),
        (b'{"\\ud83d": 1}', "lone surrogate"),
        (b'[[{"a": [{"b\\udead": null}]}]]', "lone surrogate"),
        (b'{"a": {"b": ["x\\udfffy"]}}', "lone surrogate"),
        (b"[" + b"1" * 401 + b"]", "401 characters"),
        (b"[-" + b"1" * 400 + b"]", "401 characters"),
        (b"[" + b"1" * 5000 + b"]", "5000 characters"),
        (b"[0." + b"1" * 5000 + b"]", "5002 characters"),
    ],
)
def test_refused(data: bytes, said: str) -> None:
    assert said in refusal(data).message


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"a":'])
@pytest.mark.parametrize("closed", [True, False])
def test_nesting_bombs(opening: bytes, closed: bool) -> None:
    bomb = opening * 100_000
    if closed:
        bomb += (
            b"0" + b"".join(b"]" if char == ord("[") else b"}" for char in reversed(opening) if char in b"[{") * 100_000
        )
    assert "nested deeper than 64 levels" in refusal(bomb).message


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_sixty_four_levels_are_read_and_sixty_five_refused(opening: bytes, closing: bytes) -> None:
    assert jsontext.parse(opening * 64 + b"0" + closing * 64)
    assert "nested" in refusal(opening * 65 + b"0" + closing * 65).message


def test_brackets_in_strings_and_side_by_side_are_no_depth() -> None:
    assert jsontext.parse(json.dumps(["[{" * 500, '\\"[[', *[[{}]] * 200]).encode())


@pytest.mark.parametrize("filling", [b'\\"', b'"', b"\\", b'"["', b'\\"[', b"\\\\"])
def test_a_string_without_an_end_costs_no_more_than_its_length(filling: bytes) -> None:
    data = b'["' + filling * (200_000 // len(filling)) + b"[" * 65
    start = time.process_time()
    refusal(data)
    assert time.process_time() - start < 2


def test_the_place_of_a_mistake_is_named() -> None:
    error = refusal(b'{\n  "a": 1\n  "b": 2\n}')
    assert error.details == {"line": 3, "column": 3}


def test_a_long_key_is_cut_in_the_message() -> None:
    key = b"k" * 5000
    assert len(refusal(b'{"%s": 1, "%s": 2}' % (key, key)).message) < 120


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b" [1]\r\n\t", [1]),
        (b'"\\ud83d\\ude00"', "😀"),
        (b'"\\\\ud800"', "\\ud800"),
        (b'"\xf0\x9f\x98\x80\xc2\xad"', "😀\u00ad"),
        (b'"\\u0000"', "\x00"),
        (b'"\xef\xbb\xbf"', "\ufeff"),
        (b'{"a": {"a": {"a": 1}}, "b": {"a": 1}}', {"a": {"a": {"a": 1}}, "b": {"a": 1}}),
        (b"[" + b"1" * 400 + b"]", [int("1" * 400)]),
        (b"[1e308, -0, 0.5, true, false, null]", [1e308, 0, 0.5, True, False, None]),
    ],
)
def test_read(data: bytes, value: Any) -> None:
    assert jsontext.parse(data) == value


@settings(derandomize=True, max_examples=150, deadline=None, database=None)
@given(json_values)
def test_what_is_written_is_read_again(value: Any) -> None:
    for indent in (False, True):
        assert jsontext.parse(jsontext.dump(value, indent=indent)) == value
    assert jsontext.parse(json.dumps(value).encode()) == value


@settings(derandomize=True, max_examples=300, deadline=None, database=None)
@given(st.binary(max_size=200) | st.text(alphabet='[]{}",:\\ud80e+-.19 \n', max_size=80).map(str.encode))
def test_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        value = jsontext.parse(data)
    except InvalidInput as error:
        assert error.message.startswith("invalid json")
        return
    assert value == json.loads(data)


def test_dump() -> None:
    value = {"b": "é<&>\u2028", "a": [1, {}]}
    assert jsontext.dump(value) == '{"b":"é<&>\u2028","a":[1,{}]}'.encode()
    assert jsontext.dump(value, sort_keys=True).startswith(b'{"a"')
    assert jsontext.dump({"a": [1]}, indent=True) == b'{\n  "a": [\n    1\n  ]\n}'


def test_sha256() -> None:
    assert jsontext.sha256(b"abc") == "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.mark.parametrize(("text", "unicode"), [("", True), ("é😀", True), ("\ud800", False), ("a\udfffb", False)])
def test_is_unicode(text: str, unicode: bool) -> None:
    assert jsontext.is_unicode(text) is unicode
