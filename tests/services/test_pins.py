"""Pinned packs by themselves: listed, shown, removed; damaged ones found by the doctor, and no hindrance to others."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

from segue.base.errors import Ambiguous, InvalidInput, NotFound, Refused
from segue.storage.tables import context_pin_memories, context_pins

if TYPE_CHECKING:
    import segue
    from conftest import Clock
    from segue.storage.findings import Finding

# What somebody, or a broken disk, may have done to a row; each is seen before anything of it is shown.
DAMAGED: dict[str, dict[str, Any]] = {
    "a byte": {"body": b"{}"},
    "no JSON": {"body": b"\xff\xfe"},
    "empty": {"body": b""},
    "the call": {"asked": "{"},
    "another call": {"asked": "{}"},
    "a call of other types": {"asked": json.dumps({"now": "x", "task": 1, "known_us": "", "delivered": 0})},
    "what is forgotten": {"forgotten": "{}"},
    "a seal": {"seal": "0" * 64},
}


@pytest.fixture
def shas(segue_: segue.Segue) -> list[str]:
    """Three pinned packs, the first pinned first."""
    found = []
    for name in ("Harbor", "Lighthouse", "Quay"):
        segue_.memories.remember(f"The importer of {name} reads manifests.", entities=[name])
        pin = segue_.context.assemble(f"the importer of {name}", session="s", pin=True).pin
        assert pin is not None
        found.append(str(pin["pack_sha"]))
    return found


def damage(opened: segue.Segue, sha: str, **columns: Any) -> None:
    with opened._database.write() as connection:
        connection.execute(sa.update(context_pins).where(context_pins.c.sha == sha).values(**columns))


def pins_wrong(found: list[Finding]) -> list[Finding]:
    return [each for each in found if each.code == "doctor.pin"]


def test_pins_are_listed_and_shown(segue_: segue.Segue, shas: list[str]) -> None:
    page = segue_.pins.ls()
    assert [each.sha for each in page.pins] == shas[::-1]
    newest = page.to_json()["pins"][0]
    assert (newest["task"], newest["session_id"]) == ("the importer of Quay", "s")
    shown = segue_.pins.show(shas[2][-8:].upper()).to_json()
    replayed = segue_.context.replay(shas[2])
    assert {name: shown[name] for name in replayed["pin"]} == replayed["pin"]
    assert newest["byte_size"] == shown["byte_size"]
    assert set(shown["memories"]) >= {each["ref"] for each in replayed["items"]}
    assert (shown["intact"], shown["arguments"]["task"]) == (True, "the importer of Quay")
    first = segue_.pins.ls(limit=2)
    assert [each.sha for each in segue_.pins.ls(limit=2, cursor=first.cursor).pins] == shas[:1]


def test_a_pin_is_removed_by_itself(segue_: segue.Segue, shas: list[str]) -> None:
    memories = segue_.memories.count()
    assert segue_.pins.rm("…" + shas[0][-8:]) == shas[0]
    assert [each.sha for each in segue_.pins.ls().pins] == shas[:0:-1]
    with pytest.raises(NotFound):
        segue_.context.replay(shas[0])
    with segue_._database.read() as connection:
        left = set(connection.execute(sa.select(context_pin_memories.c.sha)).scalars())
    assert left == set(shas[1:])
    assert segue_.memories.count() == memories
    assert segue_.store.doctor() == []


def test_what_names_no_pin(segue_: segue.Segue, shas: list[str]) -> None:
    for wrong in ("zzzz", "0" * 64, "%%%%", "\0" * 4, ""):
        with pytest.raises((NotFound, InvalidInput)):
            segue_.pins.rm(wrong)
        with pytest.raises(NotFound):
            segue_.pins.show(wrong)
    with pytest.raises(InvalidInput) as refused:
        segue_.pins.rm(shas[0][-3:])
    assert refused.value.code == "pin.short_id"
    with segue_._database.write() as connection:
        row = dict(connection.execute(sa.select(context_pins).where(context_pins.c.sha == shas[0])).one()._mapping)
        connection.execute(sa.insert(context_pins).values(**row | {"sha": "0" * 56 + shas[0][-8:]}))
    with pytest.raises(Ambiguous):
        segue_.pins.rm(shas[0][-8:])
    assert len(segue_.pins.ls().pins) == 4


@pytest.mark.parametrize("what", DAMAGED)
def test_a_damaged_pin_is_found_shown_to_nobody_and_removed(segue_: segue.Segue, shas: list[str], what: str) -> None:
    damage(segue_, shas[1], **DAMAGED[what])
    (finding,) = pins_wrong(segue_.store.doctor())
    assert (shas[1][-8:] in finding.message, "segue pin rm" in finding.message) == (True, True)
    assert [each.repaired for each in pins_wrong(segue_.store.doctor(repair=True))] == [False]
    with pytest.raises(Refused):
        segue_.context.replay(shas[1])
    assert segue_.context.verify(shas[1]).status == "tampered"
    assert segue_.pins.show(shas[1]).intact is False
    assert len(segue_.pins.ls().pins) == 3
    assert segue_.context.replay(shas[0])["items"]
    segue_.pins.rm(shas[1])
    assert segue_.store.doctor() == []


@pytest.mark.parametrize("what", DAMAGED)
def test_a_damaged_pin_keeps_nothing_that_is_forgotten(segue_: segue.Segue, shas: list[str], what: str) -> None:
    damage(segue_, shas[2], **DAMAGED[what])
    memory = segue_.pins.show(shas[2]).memories[0]
    segue_.memories.forget(memory)
    assert shas[2] not in [each.sha for each in segue_.pins.ls().pins]
    assert segue_.store.doctor() == []


def test_a_damaged_pin_is_mended_by_pinning_again(segue_: segue.Segue, clock: Clock) -> None:
    segue_.memories.remember("The importer reads manifests.")
    now = clock.now
    pin = segue_.context.assemble("importer", pin=True, now=now).pin
    assert pin is not None
    damage(segue_, str(pin["pack_sha"]), body=b"{}")
    assert segue_.context.assemble("importer", pin=True, now=now).pin == pin
    assert segue_.context.verify(str(pin["pack_sha"])).status == "match"
    assert segue_.store.doctor() == []


def test_the_doctor_takes_out_of_pins_what_was_forgotten(segue_: segue.Segue, shas: list[str]) -> None:
    """As after a row of the list was lost: forgetting did not find the pack."""
    memory = segue_.memories.ls(entities=["Quay"]).memories[0]
    with segue_._database.write() as connection:
        connection.execute(sa.delete(context_pin_memories).where(context_pin_memories.c.memory_id == memory.id))
    lacking = pins_wrong(segue_.store.doctor())
    assert lacking
    assert all("lacks some" in each.message for each in lacking)
    segue_.memories.forget(memory.id)
    assert any("forgotten" in each.message for each in pins_wrong(segue_.store.doctor()))
    assert all(each.repaired for each in pins_wrong(segue_.store.doctor(repair=True)))
    assert segue_.store.doctor() == []
    for sha in shas:
        assert "Quay reads" not in json.dumps(segue_.context.replay(sha)["items"])


def test_the_doctor_mends_the_list_of_a_pin(segue_: segue.Segue, shas: list[str]) -> None:
    with segue_._database.write() as connection:
        connection.execute(sa.delete(context_pin_memories))
    assert all(each.repaired for each in pins_wrong(segue_.store.doctor(repair=True)))
    assert segue_.store.doctor() == []
    memory = segue_.memories.ls(entities=["Quay"]).memories[0]
    segue_.memories.forget(memory.id)
    assert segue_.pins.show(shas[2]).pin.forgotten == (memory.id,)


def test_a_row_of_wrong_types(segue_: segue.Segue, shas: list[str], kind: str) -> None:
    if kind != "sqlite":
        pytest.skip("other databases hold columns to their types")
    with segue_._database.write() as connection:
        connection.execute(sa.text("UPDATE context_pins SET body = 'text', pinned_us = 'soon'"))
    assert len(pins_wrong(segue_.store.doctor())) == 3
    assert len(segue_.pins.ls().pins) == 3
    for sha in shas:
        segue_.pins.rm(sha)
    assert segue_.store.doctor() == []
