"""Neighbours: only within one thread, by distance in positions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.search.kernel import REACH, Links


def mixed(threads: list[int], positions: list[int], before: float = 0.5, after: float = 0.25) -> np.ndarray:
    """What a 1 in each row alone gives to all rows: column j is row j's influence."""
    links = Links.of(np.array(threads, dtype=np.int64), np.array(positions, dtype=np.int64))
    return links.mix(np.eye(len(threads), dtype=np.float32), before, after)


def test_influence_fades_with_the_distance() -> None:
    assert mixed([0] * 6, [1, 2, 3, 4, 5, 6])[2].tolist() == [0.25, 0.5, 1, 0.25, 0.0625, 0.015625]
    assert mixed([0] * 6, [1, 2, 3, 4, 5, 6])[5].tolist() == [0, 0.0625, 0.125, 0.25, 0.5, 1]


@pytest.mark.parametrize(
    ("threads", "positions"),
    [([-1, -1], [0, 1]), ([0, 1], [1, 2]), ([0, 0], [1, 1]), ([0, 0], [1, 2 + REACH])],
)
def test_no_neighbours(threads: list[int], positions: list[int]) -> None:
    assert mixed(threads, positions).tolist() == [[1, 0], [0, 1]]


def test_a_gap_counts_as_the_distance_it_is() -> None:
    assert mixed([0, 0], [1, 4]).tolist() == [[1, 0.015625], [0.125, 1]]


@given(st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 12)), max_size=20, unique=True))
def test_as_the_definition_says(rows: list[tuple[int, int]]) -> None:
    rows.sort()
    result = mixed([thread for thread, _ in rows], [position for _, position in rows])
    for i, (thread, position) in enumerate(rows):
        for j, (other, place) in enumerate(rows):
            distance = position - place
            near = thread == other >= 0 and 0 < abs(distance) <= REACH
            expected = 1.0 if i == j else (0.5**distance if distance > 0 else 0.25**-distance) if near else 0.0
            assert result[i, j] == pytest.approx(expected)
