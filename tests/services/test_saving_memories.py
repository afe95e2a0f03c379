"""Packets and capsules and their memories: one transaction, in which memories that cannot be made lose nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ingestion_samples as samples
import pytest
import sqlalchemy as sa
from memory_rows import contents, require_sound, rows_of

from segue.base.errors import Failed
from segue.services import forgetting
from segue.services.remembering import Writer

if TYPE_CHECKING:
    import segue

Draft = Callable[..., dict[str, Any]]


class Stopped(Exception):
    pass


def finishing(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Let every writer fail once all of it is written."""
    finish = Writer.finish

    def failing(writer: Writer, **options: Any) -> None:
        finish(writer, **options)
        raise error

    monkeypatch.setattr(Writer, "finish", failing)


def warnings(opened: segue.Segue, document: dict[str, Any]) -> list[str]:
    return [each.code for each in opened.packets.submit(document).warnings]


def test_a_packet_is_stored_with_its_memories_or_not_at_all(
    segue_: segue.Segue, draft: Draft, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        finishing(patch, Stopped())
        with pytest.raises(Stopped):
            segue_.packets.save(draft())
    assert segue_.packets.count() == segue_.memories.count() == 0
    assert segue_.store.events() == []
    segue_.packets.save(draft())
    assert contents(segue_) == {"Goal: Ship the importer.", "Next step: Run the tests."}
    require_sound(segue_)


def test_memories_that_cannot_be_made_lose_no_packet(
    segue_: segue.Segue, draft: Draft, monkeypatch: pytest.MonkeyPatch
) -> None:
    segue_.packets.save(draft(goal="Ship the exporter."))
    before = contents(segue_)
    with monkeypatch.context() as patch:
        finishing(patch, Failed("store.corrupt", "a row is broken"))
        assert "memories.passed_over" in warnings(segue_, draft())
        segue_.capsules.save(samples.CAPSULE)
    assert (segue_.packets.count(), len(segue_.capsules.ls().capsules), contents(segue_)) == (2, 1, before)
    require_sound(segue_)
    segue_.ingestion.stored()
    assert "Goal: Ship the importer." in contents(segue_)
    require_sound(segue_)


def test_a_database_that_refuses_memories_takes_the_packet(segue_: segue.Segue, draft: Draft) -> None:
    with segue_._database.write() as connection:
        connection.execute(sa.text("ALTER TABLE memory_words RENAME TO elsewhere"))
    assert "memories.passed_over" in warnings(segue_, draft())
    assert segue_.packets.newest().goal == "Ship the importer."
    assert segue_.memories.count() == 0
    with segue_._database.write() as connection:
        connection.execute(sa.text("ALTER TABLE elsewhere RENAME TO memory_words"))
    segue_.ingestion.stored()
    assert segue_.memories.count() == 2
    require_sound(segue_)


@pytest.mark.parametrize("what", ["packet", "capsule"])
def test_a_removal_takes_the_memories_along_or_is_none(
    segue_: segue.Segue, draft: Draft, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    stored = segue_.packets.save(draft()).id if what == "packet" else segue_.capsules.save(samples.CAPSULE).capsule.id
    remove: Callable[[str], Any] = segue_.packets.rm if what == "packet" else segue_.capsules.rm
    before = contents(segue_)

    def failing(*_: Any, **__: Any) -> None:
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(forgetting, "forget", failing)
        with pytest.raises(Stopped):
            remove(stored)
    assert (contents(segue_), len(rows_of(segue_, f"{what}s"))) == (before, 1)
    remove(stored)
    assert (contents(segue_), len(rows_of(segue_, f"{what}s"))) == (set(), 0)
    require_sound(segue_)


def test_a_secret_in_one_entry_keeps_the_others(segue_: segue.Segue, draft: Draft) -> None:
    secret = "AK" + "IA" + "Q7Z2" * 4
    saved = segue_.packets.submit(draft(constraints=[f"The key is {secret}."]), allow_unredacted=True)
    assert "memories.passed_over" in [each.code for each in saved.warnings]
    assert contents(segue_) == {"Goal: Ship the importer.", "Next step: Run the tests."}
    require_sound(segue_)


def test_a_packet_put_in_the_place_of_another(segue_: segue.Segue, draft: Draft) -> None:
    """A text that moved to another place is not gone with its place."""
    named = {"id": "packet-0001", "created_at": "2026-05-04T09:30:00Z"}
    segue_.packets.save(draft(constraints=["One.", "Two."], **named))
    segue_.packets.save(draft(constraints=["Two."], **named), replace_existing=True)
    assert contents(segue_) == {"Goal: Ship the importer.", "Next step: Run the tests.", "Two."}
    assert contents(segue_, "retired") == {"One."}
    require_sound(segue_)
