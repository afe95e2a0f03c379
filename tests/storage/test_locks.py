"""Writers of one scope follow one another, and a writer over two scopes holds both; on both databases."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

import segue

if TYPE_CHECKING:
    from segue.storage.database import Database

MOMENT = 0.1  # seconds: nobody comes in meanwhile


def _writer(database: Database, *scope_ids: str) -> threading.Thread:
    """A thread that has come in and gone once it has ended."""

    def write() -> None:
        with database.write(*scope_ids):
            pass

    thread = threading.Thread(target=write)
    thread.start()
    return thread


@pytest.mark.parametrize("held", [("a", "b"), ("b", "a"), ()], ids=["in order", "in any order", "the whole store"])
@pytest.mark.parametrize("wanted", [("a",), ("b",), ("b", "a"), ()], ids=["first", "second", "both", "all"])
def test_whoever_wants_what_is_held_waits(location: str, held: tuple[str, ...], wanted: tuple[str, ...]) -> None:
    with segue.open(location) as opened:
        with opened._database.write(*held):
            thread = _writer(opened._database, *wanted)
            thread.join(MOMENT)
            assert thread.is_alive()
        thread.join()


def test_writers_of_other_scopes_do_not_wait_on_postgresql(segue_: segue.Segue) -> None:
    if segue_.store.path is not None:
        pytest.skip("SQLite has one writer")
    with segue_._database.write("a", "b"):
        _writer(segue_._database, "c").join()


def test_writers_over_two_scopes_do_not_wait_for_one_another_for_ever(segue_: segue.Segue) -> None:
    pairs = [("a", "b"), ("b", "a")] * 10
    for thread in [_writer(segue_._database, *pair) for pair in pairs]:
        thread.join()
