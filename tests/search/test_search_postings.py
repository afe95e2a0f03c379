"""Postings: which rows hold a term, whatever its hash is and whatever is put together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.search import postings as module
from segue.search.postings import Postings, merged

Rows = list[dict[int, int]]
# Hashes that differ at their ends alone are told apart as well.
terms = st.one_of(st.integers(0, 15), st.integers(0, 2**64 - 1), st.integers(2**64 - 9, 2**64 - 1))
rows_of_terms = st.lists(st.dictionaries(terms, st.integers(1, 65_535), max_size=6), max_size=12)


def made(rows: Rows) -> Postings:
    return Postings.of(
        np.array([term for row in rows for term in row], dtype=np.uint64),
        np.array([count for row in rows for count in row.values()], dtype=np.uint16),
        np.array([len(row) for row in rows], dtype=np.int64),
    )


def read(postings: Postings, count: int) -> Rows:
    """The rows that postings were made of."""
    rows: Rows = [{} for _ in range(count)]
    for place, term in enumerate(postings.terms.tolist()):
        holding, counts = postings.of_term(place)
        assert holding.tolist() == sorted(holding.tolist())
        for row, amount in zip(holding.tolist(), counts.tolist(), strict=True):
            rows[row][term] = amount
    return rows


@given(rows_of_terms)
def test_each_term_knows_its_rows(rows: Rows) -> None:
    postings = made(rows)
    assert read(postings, len(rows)) == rows
    assert postings.terms.tolist() == sorted({term for row in rows for term in row})
    asked = np.array([*postings.terms.tolist(), 77], dtype=np.uint64)
    places = postings.places(asked)
    frequencies = postings.frequencies(places).tolist()
    assert frequencies == [sum(term in row for row in rows) for term in asked.tolist()]
    assert places[:-1].tolist() == list(range(len(postings.terms)))


@given(rows_of_terms)
def test_what_is_sorted_by_parts_is_the_same(rows: Rows) -> None:
    whole = made(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PART", 2)
        parts = made(rows)
    for name in ("terms", "starts", "rows", "counts"):
        one, other = getattr(parts, name), getattr(whole, name)
        assert one.dtype == other.dtype
        assert one.tolist() == other.tolist()


@given(rows_of_terms, st.data())
def test_how_many_of_some_rows_hold_each_term(rows: Rows, data: st.DataObject) -> None:
    some = sorted(data.draw(st.sets(st.integers(0, len(rows) - 1)))) if rows else []
    postings = made(rows)
    held = postings.held(np.array(some, dtype=np.int64))
    assert held.tolist() == [sum(term in rows[row] for row in some) for term in postings.terms.tolist()]


@given(st.lists(rows_of_terms, max_size=3), st.randoms(use_true_random=False))
def test_several_become_one_without_what_is_left_out(parts: list[Rows], chance: object) -> None:
    every = [(part, row) for part, rows in enumerate(parts) for row in range(len(rows))]
    kept = [each for each in every if chance.random() < 0.7]  # type: ignore[attr-defined]
    chance.shuffle(kept)  # type: ignore[attr-defined]
    numbers = [np.full(len(rows), -1, dtype=np.int64) for rows in parts]
    for number, (part, row) in enumerate(kept):
        numbers[part][row] = number
    whole = merged(
        [(made(rows), number) for rows, number in zip(parts, numbers, strict=True)] or [(made([]), numbers_of(0))]
    )
    assert read(whole, len(kept)) == [parts[part][row] for part, row in kept]


def numbers_of(count: int) -> np.ndarray:
    return np.arange(count, dtype=np.int64)


def test_more_than_fits_is_refused() -> None:
    rows = made([{1: 1}])
    with pytest.raises(ValueError, match="more memories"):
        merged([(rows, np.array([2**47], dtype=np.int64))])
