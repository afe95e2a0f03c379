"""Identifiers: ULIDs and their short form."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ulid import ULID

from segue.base import ids

NOW = datetime(2026, 5, 4, 9, 30, 0, 123_000, tzinfo=UTC)


def test_a_new_id_is_a_ulid_of_its_time() -> None:
    identifier = ids.new(NOW)
    assert re.fullmatch(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", identifier)
    assert ULID.from_str(identifier).datetime == NOW


def test_new_ids_differ_and_sort_by_time() -> None:
    assert len({ids.new(NOW) for _ in range(500)}) == 500
    later = [ids.new(NOW + timedelta(milliseconds=step)) for step in range(50)]
    assert later == sorted(later)


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [
        ("01JZ7Q4M8N2V6W0X3Y5A9B1C4D", "…5A9B1C4D"),
        ("123456789", "…23456789"),
        ("12345678", "12345678"),
        ("x", "x"),
        ("", ""),
    ],
)
def test_short(identifier: str, expected: str) -> None:
    assert ids.short(identifier) == expected


@pytest.mark.parametrize(("typed", "expected"), [("", ""), ("…", ""), ("...", ""), ("a…b", "a…b"), ("a...", "a...")])
def test_only_dots_before_an_id_are_not_its_own(typed: str, expected: str) -> None:
    assert ids.unshortened(typed) == expected


@pytest.mark.parametrize("typed", ["…5A9B1C4D", "...5A9B1C4D", " 5A9B1C4D\n", " …5A9B1C4D "])
def test_a_short_id_may_be_pasted_as_it_is_shown(typed: str) -> None:
    assert ids.unshortened(typed) == "5A9B1C4D"


@given(
    st.integers(min_value=0, max_value=253_402_300_799_999),
    st.binary(min_size=10, max_size=10),
)
def test_a_ulid_of_a_time_and_bits_is_that_of_the_library(milliseconds: int, digest: bytes) -> None:
    made = ids.of(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds), digest)
    assert made == str(ULID.from_bytes(milliseconds.to_bytes(6, "big") + digest))
    assert len(made) == ids.LENGTH
