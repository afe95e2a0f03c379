"""Vectors of many memories: as bytes they say much the same, and their signs find what is alike."""

from __future__ import annotations

import numpy as np
import pytest

from segue.search.matrix import Matrix, placed
from segue.search.signs import likeness, signs_of
from segue.search.vectors import mixed, prepare, unit


def drawn(count: int, dimension: int = 256) -> np.ndarray:
    rows = np.random.default_rng(1).standard_normal((count, dimension)).astype(np.float32)
    rows[3] = 0
    return rows + np.where(rows.any(axis=1, keepdims=True), np.float32(0.5), np.float32(0))


@pytest.mark.parametrize(("small", "within"), [(False, 1e-6), (True, 5e-3)])
def test_dots_are_those_of_what_lies_beyond_the_centre(small: bool, within: float) -> None:
    raw = drawn(40)
    centre = raw.mean(axis=0)
    vector = unit(raw[:1] - centre)[0]
    matrix = Matrix.of(raw, small=small)
    rows = np.array([5, 3, 5, 39])
    lengths = np.linalg.norm(raw[rows], axis=1) + 1
    expected = (raw[rows] - centre) @ vector
    assert np.abs(matrix.dots(vector, centre, rows) - expected).max() <= within * lengths.max()
    assert np.abs(matrix.dots(vector, None, rows) - raw[rows] @ vector).max() <= within * lengths.max()
    assert np.abs(matrix.floats(rows) - raw[rows]).max() <= within * np.abs(raw).max() * 2
    assert not matrix.floats(np.array([3])).any()


@pytest.mark.parametrize("small", [False, True])
def test_what_is_kept_of_mixed_vectors(small: bool) -> None:
    raw = drawn(3_000, 16)  # more than a block
    centre = raw.mean(axis=0)
    threads, positions = np.repeat(np.arange(30) - 1, 100), np.tile(np.arange(100), 30)
    matrix = Matrix.of(raw, small=small).prepared(centre, threads, positions)
    whole = mixed(raw, centre, threads, positions)
    assert matrix.length == pytest.approx(np.linalg.norm(whole, axis=1), abs=0.05 if small else 1e-5)
    assert matrix.spread[3] == 0
    assert matrix.spread[4] == pytest.approx(np.linalg.norm(raw[4] - centre), rel=0.02)
    same = (signs_of(whole) ^ matrix.signs) == 0
    assert same.mean() > (0.7 if small else 0.999)


def test_the_mean_is_of_those_that_have_a_vector() -> None:
    raw = drawn(10)
    mean = Matrix.of(raw, small=False).mean()
    assert mean == pytest.approx(raw[np.arange(10) != 3].mean(axis=0), abs=1e-6)
    assert Matrix.of(np.zeros((2, 4), dtype=np.float32), small=True).mean() is None


def test_parts_are_placed_by_numbers() -> None:
    raw = drawn(8, 8)
    parts = [Matrix.of(raw[:5], small=True), Matrix.of(raw[5:], small=False)]
    numbers = [np.array([2, -1, 0, 5, -1]), np.array([1, 3, -1])]
    for small in (True, False):
        one = placed(list(zip(parts, numbers, strict=True)), 6, small=small)
        expected = np.stack([raw[2], raw[5], raw[0], raw[6], np.zeros(8, dtype=np.float32), raw[3]])
        assert np.abs(one.floats(np.arange(6)) - expected).max() < 0.02
        assert (one.scales is not None) == small
        assert one.nbytes > 0


@pytest.mark.parametrize("dimension", [4, 64, 100, 256])
def test_signs_say_about_what_the_cosine_is(dimension: int) -> None:
    rows = prepare(drawn(500, dimension), None, np.full(500, -1), np.arange(500))
    found = likeness(signs_of(rows), rows[7])
    assert found[7] == 1
    assert likeness(signs_of(-rows), rows[7])[7] < -0.7
    if dimension >= 100:
        assert np.corrcoef(found, rows @ rows[7])[0, 1] > 0.5
