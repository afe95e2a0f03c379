"""Very many rows are read as the driver gives them: all of them, of one scope, on both databases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa

from segue.base.errors import Failed
from segue.memories.making import item
from segue.storage import fetching, memory_index
from segue.storage.tables import memory_index as index_table
from segue.storage.tables import memory_state, memory_words

if TYPE_CHECKING:
    import segue

WORDS = {"of": 2, "rye": 7}


def fill(opened: segue.Segue) -> str:
    """Remember a few things, and return their scope."""
    opened.memories.remember_all(item(f"Rye bread, batch {number}.", ref=f"b#{number}") for number in range(7))
    return opened.memories.scope_id


@pytest.fixture
def _by_three(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_SOME", "_MORE"):
        monkeypatch.setattr(fetching, name, 3)


@pytest.mark.usefixtures("_by_three")
def test_every_row_comes_once(segue_: segue.Segue) -> None:
    scope = fill(segue_)
    with segue_._database.read() as connection:
        parts = list(memory_index.read(connection, scope))
        expected = connection.execute(sa.select(*[index_table.c[name] for name in memory_index.Row._fields])).all()
        rows = [memory_index.Row(*row) for part in parts for row in part]
        assert [len(part) for part in parts] == [3, 3, 1]
        assert sorted(rows) == sorted(memory_index.Row(*row) for row in expected)
        assert {type(row.terms) for row in rows} == {bytes}
        generation = memory_index.state(connection, scope).generation
        assert sum(map(len, memory_index.read(connection, scope, generation - 1))) == 7
        assert list(memory_index.read(connection, scope, generation)) == []


@pytest.mark.usefixtures("_by_three")
def test_one_may_be_read_while_another_is(segue_: segue.Segue) -> None:
    scope = fill(segue_)
    with segue_._database.read() as connection:
        inside = [memory_index.words(connection, scope) for _ in memory_index.read(connection, scope)]
        assert inside == 3 * [memory_index.words(connection, scope)]
        next(memory_index.read(connection, scope))  # and left off
        assert sum(map(len, memory_index.read(connection, scope))) == 7


@pytest.mark.parametrize("others", [0, 1, 1_000_000])
def test_a_scope_reads_its_own_alone(segue_: segue.Segue, others: int) -> None:
    """Whether it has most of the store or next to nothing of it, which is read in another way."""
    scope = fill(segue_)
    with segue_._database.write() as connection:
        before = memory_index.words(connection, scope)
        rows = [{"scope_id": "another", "word": word, "count": n, "generation": 1} for word, n in WORDS.items()]
        connection.execute(sa.insert(memory_words), rows)
        state = {"epoch": "e", "generation": 1, "words": others, "weighed_words": 1}
        connection.execute(sa.insert(memory_state).values(scope_id="another", **state))
        assert memory_index.words(connection, scope) == before
        assert memory_index.words(connection, "another") == WORDS
        assert memory_index.words(connection, "nobody") == {}
        assert sum(map(len, memory_index.read(connection, scope))) == 7
        assert list(memory_index.read(connection, "another")) == []


def test_what_goes_wrong_is_said_as_everywhere(segue_: segue.Segue) -> None:
    nothing: sa.Select[int] = sa.select(sa.column("x", sa.Integer)).select_from(sa.table("nothing"))
    with pytest.raises(Failed) as caught, segue_._database.read() as connection:
        list(fetching.fetched(connection, nothing))
    assert caught.value.code == "store.failed"
