"""A value that is made when it is first asked for."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from segue.search.lazy import Lazy


def test_it_is_made_once_however_many_ask() -> None:
    made: list[int] = []
    together = threading.Barrier(4)

    def make() -> object:
        made.append(1)
        return object()

    def ask(_: int) -> object:
        together.wait()
        return lazy()

    lazy = Lazy(make)
    assert lazy.made is None
    with ThreadPoolExecutor(4) as pool:
        values = set(pool.map(ask, range(4)))
    assert (len(values), made) == (1, [1])
    assert lazy.made in values


def test_what_fails_is_tried_again() -> None:
    answers: list[ValueError | int] = [ValueError("once"), 7]

    def make() -> int:
        answer = answers.pop(0)
        if isinstance(answer, ValueError):
            raise answer
        return answer

    lazy = Lazy(make)
    with pytest.raises(ValueError, match="once"):
        lazy()
    assert [lazy(), lazy()] == [7, 7]
