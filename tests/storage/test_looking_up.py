"""Memories that are named by their ids are looked up one by one, however many others there are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import segue
from segue.memories.filter import Filter
from segue.memories.making import item
from segue.storage import memories

if TYPE_CHECKING:
    from conftest import Locate

ACTIVE = Filter(statuses=("active",))


@pytest.fixture
def filled(locate: Locate) -> segue.Segue:
    opened = segue.open(Path(locate("sqlite")))
    opened.memories.remember_all(item(f"Rye bread, batch {number}.", ref=f"b#{number}") for number in range(500))
    return opened


def test_few_ids_are_not_sought_among_all_of_their_status(filled: segue.Segue) -> None:
    with filled, filled._database.read() as connection:
        scope = filled.memories.scope_id
        every = memories.matching(connection, scope, ACTIVE)
        steps: list[None] = []
        connection.connection.driver_connection.set_progress_handler(lambda: steps.append(None), 100)  # type: ignore[union-attr]
        assert set(memories.by_ids(connection, scope, every[:3], ACTIVE)) == set(every[:3])
        assert len(steps) < 10
        memories.count(connection, scope, Filter(kinds=("observation",)))
        assert len(steps) > 20  # what looking at all of them takes


def test_what_is_looked_up_passes_the_filter(filled: segue.Segue) -> None:
    with filled:
        first, second, third = (hit.memory.id for hit in filled.search.find("rye bread", k=3))
        filled.memories.supersede(second, by=third)
        with filled._database.read() as connection:
            scope, named = filled.memories.scope_id, [first, second, third, "mem_nobody"]
            assert set(memories.by_ids(connection, scope, named)) == {first, second, third}
            assert set(memories.by_ids(connection, scope, named, Filter())) == {first, second, third}
            assert set(memories.by_ids(connection, scope, named, ACTIVE)) == {first, third}
            assert set(memories.by_ids(connection, scope, named, Filter(statuses=("retired",)))) == {second}
            assert memories.by_ids(connection, scope, named, Filter(statuses=("active",), kinds=("decision",))) == {}


def test_an_id_is_found_by_its_ending_however_it_is_written(segue_: segue.Segue) -> None:
    whole = segue_.memories.remember("Rye keeps.").memory.id
    segue_.memories.remember("Oats do not.")
    with segue_._database.read() as connection:
        scope = segue_.memories.scope_id
        for ending in (whole, whole[-6:], whole[-6:].lower(), whole.lower(), whole.upper(), whole[3:].lower()):
            assert memories.with_ending(connection, scope, ending, 5) == [whole]
        for ending in ("%", "_" + whole[-6:], "\u212a", "x" + whole):
            assert memories.with_ending(connection, scope, ending, 5) == []
