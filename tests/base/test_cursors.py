"""Cursors: opaque, unchangeable, bound to a list and to a store."""

from __future__ import annotations

import base64
import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.base import cursors
from segue.base.errors import InvalidInput

KEY = b"k" * 32
QUERY = {"project": "importer", "limit": 50}
POSITION: list[int | str] = [1_777_887_000_000_000, "01JZ7Q4M8N2V6W0X3Y5A9B1C4D"]


def refused(cursor: str, query: object = QUERY, key: bytes = KEY) -> bool:
    with pytest.raises(InvalidInput) as raised:
        cursors.decode(cursor, query, key)
    return raised.value.code == "cursor.invalid"


def test_a_cursor_gives_its_position_back() -> None:
    cursor = cursors.encode(POSITION, QUERY, KEY)
    assert cursors.decode(cursor, QUERY, KEY) == POSITION
    assert set(cursor) <= set(string.ascii_letters + string.digits + "-_")


@settings(derandomize=True, max_examples=60, deadline=None, database=None)
@given(st.lists(st.integers(-(2**53), 2**53) | st.text(max_size=20), max_size=5), st.binary(min_size=1, max_size=40))
def test_any_position_comes_back(position: list[int | str], key: bytes) -> None:
    assert cursors.decode(cursors.encode(position, QUERY, key), QUERY, key) == position


def test_the_order_of_the_query_members_does_not_matter() -> None:
    cursor = cursors.encode(POSITION, {"limit": 50, "project": "importer"}, KEY)
    assert cursors.decode(cursor, QUERY, KEY) == POSITION


@pytest.mark.parametrize("query", [{}, {"project": "importer", "limit": 51}, {"project": "importer"}, None, "x"])
def test_another_query_is_refused(query: Any) -> None:
    assert refused(cursors.encode(POSITION, QUERY, KEY), query=query)


def test_another_store_is_refused() -> None:
    assert refused(cursors.encode(POSITION, QUERY, KEY), key=b"j" * 32)


def test_every_changed_byte_is_refused() -> None:
    raw = base64.urlsafe_b64decode(cursors.encode(POSITION, QUERY, KEY) + "==")
    for index in range(len(raw)):
        changed = raw[:index] + bytes([raw[index] ^ 1]) + raw[index + 1 :]
        assert refused(base64.urlsafe_b64encode(changed).decode().rstrip("="))
        assert refused(base64.urlsafe_b64encode(raw[:index]).decode().rstrip("="))


@settings(derandomize=True, max_examples=40, deadline=None, database=None)
@given(st.integers(0, 10**6), st.data())
def test_every_changed_letter_is_refused(position: int, data: st.DataObject) -> None:
    """Also the last one, some bits of which are no part of any byte."""
    cursor = cursors.encode([position], QUERY, KEY)
    last = len(cursor) - 1
    place = data.draw(st.just(last) | st.integers(0, last))
    letter = data.draw(st.sampled_from([each for each in string.ascii_letters + "-_+/=" if each != cursor[place]]))
    assert refused(cursor[:place] + letter + cursor[place + 1 :])
    assert refused(cursor + "=")
    assert refused(cursor + "\n")


@pytest.mark.parametrize("cursor", ["", "A", "AAAA", "not a cursor", "é", "=", "\x00", "A" * 5000, "[1]", "\ud800"])
def test_what_is_no_cursor_is_refused(cursor: str) -> None:
    assert refused(cursor)
