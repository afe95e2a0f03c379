"""Capsules in the store, on both databases: saved, found, listed, removed, linked, refused, mended, carried along."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config

import segue
from segue import capsules
from segue.base.errors import SegueError
from segue.base.redaction import RedactionRefused
from segue.capsules.identity import identity
from segue.storage import schema
from segue.storage.database import open_database

if TYPE_CHECKING:
    from pathlib import Path

    from segue.storage.capsules import StoredCapsule

Draft = Callable[..., dict[str, Any]]
Locate = Callable[[str], str]
SECRET = "AK" + "IA" + "Q7Z2" * 4


def text(
    seed: str = "Export by pages.", *, minute: str = "2026-05-04T09:30Z", chain: str = "", loop: str = "measure"
) -> str:
    """The text of a small capsule."""
    return (
        f"===PCSF:v1.2===\nMETA: report export | software | WORKING | {minute}\n{chain}\n"
        "L1:SKELETON\n\nL2:NEGATIVE\n\nL3:INTERNAL\n\nL4:RELATION\n\n"
        f"L5:LOOPS\nINCOMPLETE_TASK | {loop} | HIGH\n\nSEED: {seed}\n===END===\n"
    )


def run(opened: segue.Segue, statement: str, **values: Any) -> None:
    with opened._database.write() as connection:
        connection.execute(sa.text(statement), values)


def codes(opened: segue.Segue, **options: Any) -> list[tuple[str, bool]]:
    return [(finding.code, finding.repaired) for finding in opened.store.doctor(**options)]


def kinds(opened: segue.Segue) -> list[str]:
    return [event.kind for event in opened.store.events(100)]


def test_saving_and_getting(segue_: segue.Segue) -> None:
    chained = text(chain="CHAIN: hops=3 origin=2026-01-02T03:04Z\n")
    saved = segue_.capsules.save(chained)
    stored = saved.capsule
    assert (saved.outcome, saved.findings) == ("created", [])
    assert stored.id == "cap_" + identity(capsules.parse(chained))
    assert (stored.text, stored.topic, stored.seed, stored.hops) == (chained, "report export", "Export by pages.", 3)
    assert stored.created.isoformat() == "2026-05-04T09:30:00+00:00"
    assert stored.saved_at > stored.created
    assert (stored.origin, stored.flagged) == ("", False)
    assert stored.project_key == segue_.project.key
    assert segue_.capsules.get(stored.id) == stored
    assert codes(segue_) == []


def test_the_same_capsule_twice_is_one(segue_: segue.Segue) -> None:
    first = segue_.capsules.save(text()).capsule
    for source in (text(), text().encode(), capsules.parse(text()), text().removesuffix("\n")):
        again = segue_.capsules.save(source)
        assert (again.outcome, again.capsule) == ("unchanged", first)
    assert segue_.capsules.ls().capsules == [first]
    assert kinds(segue_).count("capsule.saved") == 1


def test_a_link_is_added_once_and_stays(segue_: segue.Segue, draft: Draft) -> None:
    packet, other = segue_.packets.save(draft()), segue_.packets.save(draft(goal="Another."))
    segue_.capsules.save(text())
    linked = segue_.capsules.save(text(), origin=packet.id)
    assert (linked.outcome, linked.capsule.origin) == ("linked", packet.id)
    for origin in (packet.id, other.id, ""):
        again = segue_.capsules.save(text(), origin=origin)
        assert (again.outcome, again.capsule.origin) == ("unchanged", packet.id)
    segue_.packets.rm(packet.id)
    assert segue_.capsules.get(linked.capsule.id).origin == packet.id
    assert codes(segue_) == []


def test_a_link_names_a_packet_or_a_capsule_also_by_its_ending(segue_: segue.Segue, draft: Draft) -> None:
    packet, old = segue_.packets.save(draft()), segue_.capsules.save(text()).capsule
    for number, full in enumerate((packet.id, old.id)):
        for spelling, given in enumerate((full, full[-8:], f"…{full[-8:].lower()}")):
            saved = segue_.capsules.save(text(f"Seed {number} {spelling}."), origin=given)
            assert saved.capsule.origin == full


def test_a_link_that_two_could_be_is_refused(segue_: segue.Segue, draft: Draft) -> None:
    old = segue_.capsules.save(text()).capsule
    segue_.packets.save(draft(id="packet-" + old.id[-6:].lower(), created_at="2026-05-04T09:30:00Z"))
    with pytest.raises(segue.Ambiguous) as refused:
        segue_.capsules.save(text("Another."), origin=old.id[-6:])
    assert refused.value.code == "origin.ambiguous"
    assert len(refused.value.details["matches"]) == 2
    assert segue_.capsules.ls().capsules == [old]


def test_nothing_is_made_from_itself(segue_: segue.Segue) -> None:
    first = segue_.capsules.save(text()).capsule
    again = segue_.capsules.save(text(), origin=first.id)
    assert (again.outcome, again.capsule.origin) == ("unchanged", "")
    assert "capsule.linked" not in kinds(segue_)


def test_a_link_is_noted_once(segue_: segue.Segue, draft: Draft) -> None:
    packet = segue_.packets.save(draft())
    stored = segue_.capsules.save(text()).capsule
    for _ in range(2):
        segue_.capsules.save(text(), origin=packet.id)
    linked = [event for event in segue_.store.events(100) if event.kind == "capsule.linked"]
    assert [(event.subject, event.details) for event in linked] == [(stored.id, {"origin": packet.id})]


@pytest.mark.parametrize("origin", ["nobody", "x" * 65, "a\0b", "a\nb", "\udc80"])
def test_a_link_to_what_is_not_there_is_refused(segue_: segue.Segue, origin: str) -> None:
    with pytest.raises(segue.NotFound) as refused:
        segue_.capsules.save(text(), origin=origin)
    assert refused.value.code == "origin.not_found"
    assert segue_.capsules.ls().capsules == []


@pytest.mark.parametrize("source", ["", "x", text().replace("HIGH", "BIG"), b"\xff", text() * 2, text("y" * 1200)])
def test_what_is_no_capsule_is_not_stored(segue_: segue.Segue, source: str | bytes) -> None:
    with pytest.raises(segue.InvalidInput) as refused:
        segue_.capsules.save(source)
    assert refused.value.code.startswith("capsule.C")
    assert segue_.capsules.ls().capsules == []


def test_a_value_is_checked_as_a_text_is(segue_: segue.Segue) -> None:
    from dataclasses import replace

    broken = replace(capsules.parse(text()), seed="Two. Sentences.")
    with pytest.raises(segue.InvalidInput) as refused:
        segue_.capsules.save(broken)
    assert refused.value.code == "capsule.C9"


def test_a_full_capsule_without_blank_lines_is_kept_as_it_is(segue_: segue.Segue) -> None:
    """It has 1,200 characters, and its canonical form more: what is stored must be a capsule when it is read again."""
    head, body = text().split("\n\n", 1)
    compact = head + "\n\n" + body.replace("\n\n", "\n")
    compact = compact.replace("measure", "m" * (1200 - len(compact) + len("measure")))
    assert len(compact) == 1200
    stored = segue_.capsules.save(compact).capsule
    assert stored.text == compact
    assert capsules.check(segue_.capsules.get(stored.id).text).valid
    assert codes(segue_) == []
    with pytest.raises(segue.InvalidInput) as refused:
        segue_.capsules.save(capsules.parse(compact))
    assert refused.value.code == "capsule.C2"


@pytest.mark.parametrize(
    ("place", "source"),
    [
        ("META.topic", text().replace("report export", f"about {SECRET} here")),
        ("META.domain", text().replace("software", SECRET)),
        ("L5:LOOPS[0]", text(loop=f"use {SECRET} now")),
        ("SEED", text(f"Rotate {SECRET} now.")),
    ],
)
def test_what_must_not_travel_is_refused(segue_: segue.Segue, place: str, source: str) -> None:
    with pytest.raises(RedactionRefused) as refused:
        segue_.capsules.save(source)
    error = refused.value
    assert error.code == "capsule.redaction"
    assert error.details == {"redaction": [f"{place}/aws-key"]}
    assert SECRET not in error.message + str(error) + repr(error.details)
    assert isinstance(error, SegueError)
    assert error.exit_code == 4
    assert segue_.capsules.ls().capsules == []
    assert kinds(segue_) == []
    saved = segue_.capsules.save(source, allow_unredacted=True)
    assert saved.capsule.flagged
    assert [finding.kind for finding in saved.findings] == [f"{place}/aws-key"]
    assert SECRET not in repr([event.details for event in segue_.store.events(10)])


def _three(opened: segue.Segue) -> list[StoredCapsule]:
    return [opened.capsules.save(text(f"Seed {number}.")).capsule for number in range(3)]


def test_an_ending_names_a_capsule(segue_: segue.Segue) -> None:
    for stored in _three(segue_):
        ending = stored.id[-8:]
        for given in (stored.id, ending, ending.lower(), f"…{ending}", f"...{ending}", f" …{ending}\n"):
            assert segue_.capsules.get(given) == stored


def test_an_ending_of_several_is_ambiguous(segue_: segue.Segue) -> None:
    stored = segue_.capsules.save(text()).capsule
    for number in range(7):
        run(
            segue_,
            "INSERT INTO capsules SELECT scope_id, :id, owner_id, text, topic, seed, hops, created_us, saved_us,"
            " origin_id, project_key, flagged FROM capsules WHERE id = :old",
            id=f"cap_0{number}{'A' * 23}Z",
            old=stored.id,
        )
    for act in (segue_.capsules.get, segue_.capsules.rm):
        with pytest.raises(segue.Ambiguous) as refused:
            act("aaaz")
        assert refused.value.code == "capsule.ambiguous"
        assert refused.value.message.endswith("cap_04" + "A" * 23 + "Z …")
        assert refused.value.details["matches"] == [f"cap_0{number}{'A' * 23}Z" for number in range(6)]
    assert len(segue_.capsules.ls().capsules) == 8


@pytest.mark.parametrize(
    "given", ["", "…", "...", "  ", "nobody", "%", "_", "\\", "\0", "a\0", "\udc80", "é", "x" * 9999]
)
def test_what_names_nothing(segue_: segue.Segue, given: str) -> None:
    segue_.capsules.save(text())
    with pytest.raises(segue.NotFound) as refused:
        segue_.capsules.get(given)
    assert refused.value.code == "capsule.not_found"
    with pytest.raises((segue.NotFound, segue.InvalidInput)) as kept:
        segue_.capsules.rm(given)
    short = len(given.strip().removeprefix("…").removeprefix("...")) < 4
    assert kept.value.code == ("capsule.short_id" if short else "capsule.not_found")
    assert len(segue_.capsules.ls().capsules) == 1


def test_a_slip_of_a_key_removes_nothing(segue_: segue.Segue) -> None:
    stored = segue_.capsules.save(text()).capsule
    with pytest.raises(segue.InvalidInput) as refused:
        segue_.capsules.rm(stored.id[-3:])
    assert refused.value.code == "capsule.short_id"
    assert segue_.capsules.rm(stored.id[-4:]) == stored.id


def test_removing(segue_: segue.Segue) -> None:
    first, second, third = _three(segue_)
    assert segue_.capsules.rm(second.id[-10:]) == second.id
    assert {each.id for each in segue_.capsules.ls().capsules} == {first.id, third.id}
    with pytest.raises(segue.NotFound):
        segue_.capsules.get(second.id)
    assert kinds(segue_)[0] == "capsule.deleted"
    assert segue_.capsules.save(second.text).outcome == "created"


def test_newest_first_in_pages(segue_: segue.Segue) -> None:
    minutes = ["0001-01-01T00:00Z", "1969-12-31T23:59Z", "2026-05-04T09:30Z", "2026-05-04T09:31Z", "9999-12-31T23:59Z"]
    for minute in minutes:
        segue_.capsules.save(text(minute=minute))
    same = [segue_.capsules.save(text(f"Seed {number}.", minute=minutes[2])).capsule.id for number in range(2)]
    whole = segue_.capsules.ls()
    assert whole.cursor is None
    ids = [each.id for each in whole.capsules]
    assert [each.created.isoformat()[:10] for each in whole.capsules] == [
        "9999-12-31", *["2026-05-04"] * 4, "1969-12-31", "0001-01-01",
    ]  # fmt: skip
    tied = [each for each in ids if each in same or each == whole.capsules[2].id]
    assert tied == sorted(tied, reverse=True)
    for limit in (1, 2, 3, 6, 7, 500):
        found, cursor = [], None
        while True:
            page = segue_.capsules.ls(limit=limit, cursor=cursor)
            found += [each.id for each in page.capsules]
            assert len(page.capsules) <= limit
            cursor = page.cursor
            if cursor is None:
                break
        assert found == ids


@pytest.mark.parametrize("limit", [0, -1, 501])
def test_a_limit_out_of_range(segue_: segue.Segue, limit: int) -> None:
    with pytest.raises(segue.InvalidInput) as refused:
        segue_.capsules.ls(limit=limit)
    assert refused.value.code == "limit.invalid"


def test_a_cursor_belongs_to_its_list(segue_: segue.Segue, draft: Draft) -> None:
    _three(segue_)
    cursor = segue_.capsules.ls(limit=1).cursor
    assert cursor is not None
    for number in range(2):
        segue_.packets.save(draft(goal=f"Goal {number}."))
    others = segue_.packets.ls(limit=1).cursor
    for given, project in ((cursor, "."), (others, None), (cursor[:-2], None), ("", None), ("x", None)):
        with pytest.raises(segue.InvalidInput) as refused:
            segue_.capsules.ls(cursor=given, project=project)
        assert refused.value.code == "cursor.invalid"


def test_the_list_of_one_project(segue_: segue.Segue, tmp_path: Path) -> None:
    here = segue_.capsules.save(text()).capsule
    other = tmp_path / "other"
    other.mkdir()
    (other / "segue.toml").write_text('[project]\nid = "o"\nref = "github.com/Acme/Other"\n', "utf-8")
    elsewhere = segue_.at(other)
    there = elsewhere.capsules.save(text("Another.")).capsule
    assert {each.id for each in segue_.capsules.ls().capsules} == {here.id, there.id}
    assert segue_.capsules.ls(project=".").capsules == [here]
    assert elsewhere.capsules.ls(project=".").capsules == [there]
    assert segue_.capsules.ls(project="set:o").capsules == [there]
    assert segue_.capsules.ls(project="https://github.com/acme/none.git").capsules == []
    run(segue_, "UPDATE capsules SET project_key = 'remote:github.com/acme/other' WHERE id = :id", id=there.id)
    for ref in ("github.com/acme/other", "git@github.com:Acme/Other.git", "remote:github.com/acme/other", "."):
        assert [each.id for each in elsewhere.capsules.ls(project=ref).capsules] == [there.id]


@pytest.mark.parametrize("project", ["", "importer", "a\0:b", "\udc80:"])
def test_what_names_no_project_is_refused(segue_: segue.Segue, project: str) -> None:
    with pytest.raises(segue.InvalidInput) as refused:
        segue_.capsules.ls(project=project)
    assert refused.value.code == "filter.invalid"


DAMAGE = {
    "topic": "UPDATE capsules SET topic = 'x'",
    "seed": "UPDATE capsules SET seed = 'x'",
    "hops": "UPDATE capsules SET hops = 7",
    "time": "UPDATE capsules SET created_us = created_us + 1",
    "saved": "UPDATE capsules SET saved_us = 9223372036854775807",
    "saved before 1970": "UPDATE capsules SET saved_us = -1",
}


@pytest.mark.parametrize("name", DAMAGE)
def test_the_doctor_mends_columns(segue_: segue.Segue, name: str) -> None:
    before = segue_.capsules.save(text()).capsule
    run(segue_, DAMAGE[name])
    assert codes(segue_) == [("doctor.columns", False)] == codes(segue_)
    assert codes(segue_, repair=True) == [("doctor.columns", True)]
    assert codes(segue_) == []
    after = segue_.capsules.get(before.id)
    assert (after.topic, after.seed, after.hops, after.created) == (
        before.topic, before.seed, before.hops, before.created,
    )  # fmt: skip
    assert name.startswith("saved") or after == before


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE capsules SET text = 'x'",
        "UPDATE capsules SET text = ''",
        "UPDATE capsules SET text = replace(text, 'pages', 'page')",
        "UPDATE capsules SET id = 'cap_00000000000000000000000000'",
        "UPDATE capsules SET text = replace(text, 'HIGH', 'high é')",
    ],
)
def test_the_doctor_finds_what_it_cannot_mend(segue_: segue.Segue, statement: str) -> None:
    segue_.capsules.save(text())
    run(segue_, statement)
    assert codes(segue_, repair=True) == [("doctor.body", False)] == codes(segue_)
    [stored] = segue_.capsules.ls().capsules
    segue_.capsules.rm(stored.id)  # as the finding says
    assert codes(segue_) == []


@pytest.mark.parametrize("index", ["capsules_by_time", "capsules_by_origin"])
def test_the_doctor_makes_a_missing_index(segue_: segue.Segue, index: str) -> None:
    run(segue_, f"DROP INDEX {index}")
    assert codes(segue_, repair=True) == [("doctor.schema", True)]
    assert codes(segue_) == []


def test_a_backup_carries_capsules(
    segue_: segue.Segue, kind: str, locate: Locate, draft: Draft, tmp_path: Path
) -> None:
    packet = segue_.packets.save(draft())
    segue_.capsules.save(text(), origin=packet.id)
    segue_.capsules.save(text(f"Rotate {SECRET}."), allow_unredacted=True)
    before = segue_.capsules.ls().capsules
    path = tmp_path / "backup.db"
    segue_.store.backup(path)
    with segue.open(path) as copy:
        assert copy.capsules.ls().capsules == before
    with segue.open(locate("postgres" if kind == "sqlite" else "sqlite"), directory=tmp_path) as other:
        other.capsules.save(text("Gone after it."))
        other.packets.save(draft(goal="Gone after it."))
        other.store.restore(path)
        assert other.capsules.ls().capsules == before
        assert codes(other) == []


def _copy_rows(source: str, target: str) -> None:
    """Copy what the tables of `target` have columns for."""
    from_database, to_database = open_database(source), open_database(target)
    with from_database.read() as reading, to_database.write() as writing:
        metadata = sa.MetaData()
        metadata.reflect(writing)
        for table in metadata.sorted_tables:
            if table.name == "alembic_version":
                continue
            names = ", ".join(column.name for column in table.columns)
            rows = reading.execute(sa.text(f"SELECT {names} FROM {table.name}")).mappings().all()
            for row in rows:
                values = {
                    name: bool(value) if isinstance(table.c[name].type, sa.Boolean) else value
                    for name, value in row.items()
                }
                writing.execute(sa.insert(table).values(values))
    from_database.close()
    to_database.close()


@pytest.mark.usefixtures("own_migrations")
def test_a_store_of_the_schema_before_capsules_is_upgraded_and_keeps_its_packets(
    kind: str, locate: Locate, draft: Draft
) -> None:
    newer, older = locate(kind), locate(kind)
    with segue.open(newer) as opened:
        first = opened.packets.save(draft(tags=["one"]))
        opened.packets.save(draft(goal="Child."), continues=first.id)
        before = opened.packets.ls().packets
        bodies = [opened.packets.raw(line.id) for line in before]
    database = open_database(older)
    with database.write() as connection:
        config = Config()
        config.set_main_option("script_location", str(schema._MIGRATIONS))
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        assert schema.stored_revision(connection) == "0001"
        assert "capsules" not in sa.inspect(connection).get_table_names()
    database.close()
    _copy_rows(newer, older)
    with segue.open(older) as opened:
        assert opened.packets.ls().packets == before
        assert [opened.packets.raw(line.id) for line in before] == bodies
        assert opened.capsules.ls().capsules == []
        assert opened.capsules.save(text(), origin=first.id).outcome == "created"
        assert codes(opened) == []
    with segue.open(older) as opened:
        assert len(opened.capsules.ls().capsules) == 1


def test_capsules_of_another_scope_are_not_seen(segue_: segue.Segue) -> None:
    stored = segue_.capsules.save(text()).capsule
    run(segue_, "INSERT INTO scopes SELECT 'another', kind, name, created_us FROM scopes")
    run(segue_, "UPDATE capsules SET scope_id = 'another'")
    assert segue_.capsules.ls().capsules == []
    for act in (segue_.capsules.get, segue_.capsules.rm):
        with pytest.raises(segue.NotFound):
            act(stored.id)
    assert segue_.capsules.save(text()).outcome == "created"
