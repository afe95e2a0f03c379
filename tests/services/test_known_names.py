"""The names that a store knows, kept in memory between writes: own ones at once, those of others a little later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from memory_rows import rows_of

import segue
from segue.memories.making import item
from segue.services import known_names
from segue.storage import memory_entities

if TYPE_CHECKING:
    from pathlib import Path

    import sqlalchemy as sa

LOWER = "quorvex"  # nothing in a text shows that this is a name


def named(opened: segue.Segue, text: str) -> set[str]:
    """What a new memory of that text names."""
    said = opened.memories.remember(text).memory
    return {row["key"] for row in rows_of(opened, "memory_entities") if row["memory_id"] == said.id}


def test_a_name_that_was_given_is_found_from_then_on(segue_: segue.Segue) -> None:
    assert named(segue_, f"We met {LOWER} once.") == set()
    segue_.memories.remember("He bakes.", entities=[LOWER])
    assert named(segue_, f"We met {LOWER} again.") == {LOWER}
    segue_.packets.save({"ltm_version": "0.2", "goal": f"Pay {LOWER}.", "next_step": "Call."})
    assert len([row for row in rows_of(segue_, "memory_entities") if row["key"] == LOWER]) == 3


def test_what_another_gives_is_known_after_a_while_and_by_a_newcomer_at_once(
    location: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_names, "_LATELY", 3)
    with segue.open(location, directory=tmp_path) as one, segue.open(location, directory=tmp_path) as other:
        one.memories.remember("Rye keeps.")
        other.memories.remember("He bakes.", entities=[LOWER])
        with segue.open(location, directory=tmp_path) as third:
            assert named(third, f"We met {LOWER} there.") == {LOWER}
        one.memories.remember("Oats keep.")
        for number in range(3):
            other.memories.remember(f"Loaf {number}.")
        assert named(one, f"We met {LOWER} here.") == {LOWER}


def test_an_alias_is_known_at_once(location: str, tmp_path: Path) -> None:
    with segue.open(location, directory=tmp_path) as one, segue.open(location, directory=tmp_path) as other:
        one.memories.remember("Rye keeps.", entities=["Ada"])
        other.entities.merge(LOWER, "Ada")
        assert named(one, f"We met {LOWER} here.") == {"ada"}


def test_names_of_a_write_that_failed_are_read_anew(segue_: segue.Segue, monkeypatch: pytest.MonkeyPatch) -> None:
    segue_.memories.remember("Rye keeps.")
    with pytest.raises(RuntimeError), segue_.memories.writing() as (_, writer):
        writer.write([segue_.memories._placed(writer.clean(item("He bakes.", entities=[LOWER])))])
        writer.finish()
        raise RuntimeError
    assert named(segue_, f"We met {LOWER} here.") == set()


def test_the_names_of_the_newest_memories_are_read(segue_: segue.Segue) -> None:
    for number, name in enumerate(["Old", "Ada", "Ben", "Ada"]):
        segue_.memories.remember(f"loaf {number}", entities=[name])
    with segue_._database.read() as connection:
        found = [memory_entities.known(connection, segue_.memories.scope_id, 2, lately) for lately in (4, 3, 1)]
        every = memory_entities.known(connection, segue_.memories.scope_id, 10)
    assert (found, every) == ([["Ada", "Ben"], ["Ada", "Ben"], ["Ada"]], ["Ada", "Ben", "Old"])


def test_who_shares_a_scope_reads_its_names_no_more(segue_: segue.Segue, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    of = known_names.Names.of

    def counted(connection: sa.Connection, scope_id: str) -> known_names.Names:
        read.append(scope_id)
        return of(connection, scope_id)

    monkeypatch.setattr(known_names.Names, "of", counted)
    ann, bob = (segue_.accounts.authenticate(segue_.accounts.issue(name)) for name in ("Ann", "Bob"))
    for number in range(8):
        if number == 5:  # the index of a small scope is made anew some times, and the names are read with it
            assert set(read) == {ann.user_id, bob.user_id}
            read.clear()
        for caller in (ann, bob):
            segue_.seen_by(caller).memories.remember(f"Loaf {number}.")
    assert read == []


def test_names_of_scopes_that_nobody_asks_for_are_let_go() -> None:
    names = known_names.ScopeNames(most=2)
    first, second = names.of("a"), names.of("b")
    assert names.of("a") is first
    names.of("c")
    assert names.of("a") is first
    assert names.of("b") is not second
