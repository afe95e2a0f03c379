"""Store.doctor: each damage that SQL can do is found, and mended where the finding says so."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

import segue

if TYPE_CHECKING:
    from pathlib import Path

Draft = Callable[..., dict[str, Any]]
CREATED = "2026-05-04T09:30:00Z"

MENDED = {
    "goal": ("UPDATE packets SET goal = 'x' WHERE id = 'packet-0001'", "doctor.columns"),
    "time text": ("UPDATE packets SET created_at = '2020-01-01T00:00:00Z'", "doctor.columns"),
    "parent": ("UPDATE packets SET parent_id = 'packet-0009' WHERE id = 'packet-0002'", "doctor.columns"),
    "no parent": ("UPDATE packets SET parent_id = NULL", "doctor.columns"),
    "version": ("UPDATE packets SET ltm_version = '0.1'", "doctor.columns"),
    "project name": ("UPDATE packets SET project_name = NULL", "doctor.columns"),
    "project ref": ("UPDATE packets SET project_ref = 'other'", "doctor.columns"),
    "hash": ("UPDATE packets SET content_hash = 'sha256:0'", "doctor.columns"),
    "word gone": ("DELETE FROM packet_words WHERE word = 'importer'", "doctor.words"),
    "words gone": ("DELETE FROM packet_words", "doctor.words"),
    "word changed": ("UPDATE packet_words SET word = 'zzz' WHERE word = 'importer'", "doctor.words"),
    "time of words": ("UPDATE packet_words SET created_us = created_us + 1 WHERE word = 'tests'", "doctor.words"),
    "one word too many": (
        "INSERT INTO packet_words SELECT scope_id, word, 7, packet_id FROM packet_words WHERE word = 'tests'",
        "doctor.words",
    ),
    "words of nowhere": ("INSERT INTO packet_words VALUES ('nowhere', 'zzz', 7, 'packet-0001')", "doctor.words"),
    "tag gone": ("DELETE FROM packet_tags WHERE tag = 'one'", "doctor.lists"),
    "tags gone": ("DELETE FROM packet_tags", "doctor.lists"),
    "tag changed": ("UPDATE packet_tags SET tag = 'zzz' WHERE tag = 'one'", "doctor.lists"),
    "time of tags": ("UPDATE packet_tags SET created_us = created_us + 1", "doctor.lists"),
    "ref gone": ("DELETE FROM packet_projects WHERE project = 'github.com/acme/p'", "doctor.lists"),
    "projects gone": ("DELETE FROM packet_projects WHERE packet_id = 'packet-0001'", "doctor.lists"),
    "project changed": ("UPDATE packet_projects SET project = 'zzz' WHERE project = 'p'", "doctor.lists"),
    "time of projects": (
        "UPDATE packet_projects SET created_us = 7 WHERE project = 'remote:github.com/acme/p'",
        "doctor.lists",
    ),
    "one tag too many": (
        "INSERT INTO packet_tags SELECT scope_id, tag, 7, packet_id FROM packet_tags WHERE tag = 'one'",
        "doctor.lists",
    ),
    "key": ("DELETE FROM settings WHERE name = 'key'", "doctor.key"),
    "bad key": ("UPDATE settings SET value = 'short' WHERE name = 'key'", "doctor.key"),
    "index": ("DROP INDEX packets_by_time", "doctor.schema"),
    "tag index": ("DROP INDEX packet_tags_by_packet", "doctor.schema"),
    "project index": ("DROP INDEX packet_projects_by_packet", "doctor.schema"),
}
FOUND = {
    "body": ("UPDATE packets SET body = :body WHERE id = 'packet-0001'", {"body": b"{"}, "doctor.body"),
    "body cut": ("UPDATE packets SET body = :body WHERE id = 'packet-0001'", {"body": b""}, "doctor.body"),
    "binary body": ("UPDATE packets SET body = :body WHERE id = 'packet-0001'", {"body": b"\xff\0"}, "doctor.body"),
    "another's body": (
        "UPDATE packets SET body = (SELECT p.body FROM packets p WHERE p.id = 'packet-0002') WHERE id = 'packet-0001'",
        {},
        "doctor.body",
    ),
    "another id": (
        # What refers to the row goes first.
        """DELETE FROM packet_projects WHERE packet_id = 'packet-0002'; UPDATE packets SET id = 'packet-0003'
        WHERE id = 'packet-0002'""",
        {},
        "doctor.body",
    ),
    "event": ("UPDATE events SET details = '{'", {}, "doctor.event"),
    "event list": ("UPDATE events SET details = '[]'", {}, "doctor.event"),
    "scope gone": ("DELETE FROM scopes", {}, "doctor.scope"),
    "revision": ("UPDATE packets SET revision = 0", {}, "doctor.columns"),
    "saved": ("UPDATE packets SET saved_us = 9223372036854775807", {}, "doctor.columns"),
    "table gone": ("DROP TABLE packet_tags", {}, "doctor.schema"),
    "projects' table gone": ("DROP TABLE packet_projects", {}, "doctor.schema"),
}


MENDED_TOGETHER = {
    "time": "UPDATE packets SET created_us = created_us + 1",
    "search": "UPDATE packets SET search_text = ''",
    "other search": "UPDATE packets SET search_text = ' zzz '",
}


def _run(opened: segue.Segue, statement: str, values: dict[str, Any] | None = None) -> None:
    with opened._database.write() as connection:
        for each in statement.split("; "):
            connection.execute(sa.text(each), values or {})


def _codes(findings: Any) -> set[tuple[str, bool]]:
    return {(finding.code, finding.repaired) for finding in findings}


@pytest.fixture
def filled(segue_: segue.Segue, draft: Draft) -> segue.Segue:
    project = {"name": "P", "ref": "github.com/acme/p"}
    segue_.packets.save(draft(id="packet-0001", created_at=CREATED, tags=["one", "two"], project=project))
    segue_.packets.save(draft(id="packet-0002", created_at=CREATED, goal="Two \0.", parent_id="packet-0001"))
    assert segue_.store.doctor() == []
    assert segue_.store.doctor(repair=True) == []
    return segue_


def _lines(opened: segue.Segue) -> list[Any]:
    by_tag = [line.id for line in opened.packets.ls(tag="one").packets]
    by_search = [line.id for line in opened.packets.ls(search="importer").packets]
    by_project = [
        [line.id for line in opened.packets.ls(project=project).packets]
        for project in ("remote:github.com/acme/p", "github.com/acme/p", "P", ".", "zzz")
    ]
    return [opened.packets.ls().packets, by_tag, by_search, *by_project]


@pytest.mark.parametrize("name", MENDED)
def test_damage_that_is_mended(filled: segue.Segue, name: str) -> None:
    statement, code = MENDED[name]
    before = _lines(filled)
    _run(filled, statement)
    assert _codes(filled.store.doctor()) == {(code, False)}
    assert _codes(filled.store.doctor()) == {(code, False)}  # looking changes nothing
    assert _codes(filled.store.doctor(repair=True)) == {(code, True)}
    assert filled.store.doctor() == []
    assert _lines(filled) == before
    assert len(filled.packets.ls(limit=1, cursor=filled.packets.ls(limit=1).cursor).packets) == 1


@pytest.mark.parametrize("name", MENDED_TOGETHER)
def test_columns_that_words_follow_from(filled: segue.Segue, name: str) -> None:
    before = _lines(filled)
    _run(filled, MENDED_TOGETHER[name])
    assert _codes(filled.store.doctor()) == {("doctor.columns", False), ("doctor.words", False)}
    assert ("doctor.columns", True) in _codes(filled.store.doctor(repair=True))
    assert filled.store.doctor() == []
    assert _lines(filled) == before


@pytest.mark.parametrize("name", FOUND)
def test_damage_that_is_only_found(filled: segue.Segue, name: str) -> None:
    statement, values, code = FOUND[name]
    _run(filled, statement, values)
    found = filled.store.doctor()
    assert (code, False) in _codes(found)
    assert not any(finding.repaired for finding in filled.store.doctor(repair=True) if finding.code == code)
    assert (code, False) in _codes(filled.store.doctor())


def test_many_damages_at_once(filled: segue.Segue) -> None:
    _run(filled, MENDED["goal"][0])
    _run(filled, MENDED["tag gone"][0])
    _run(filled, FOUND["event"][0])
    assert _codes(filled.store.doctor(repair=True)) == {
        ("doctor.columns", True),
        ("doctor.lists", True),
        ("doctor.event", False),
    }
    assert _codes(filled.store.doctor()) == {("doctor.event", False)}


def test_a_broken_packet_can_be_removed(filled: segue.Segue) -> None:
    _run(filled, "UPDATE packets SET body = :body WHERE id = 'packet-0002'", {"body": b"{"})
    removed = filled.packets.rm("packet-0002")
    assert (removed.id, removed.parent_id, removed.goal) == ("packet-0002", "packet-0001", "Two \ufffd.")
    assert [line.id for line in filled.packets.ls().packets] == ["packet-0001"]
    assert filled.store.doctor() == []


def test_a_packet_whose_parent_is_broken_is_saved_and_said_to_be(filled: segue.Segue, draft: Draft) -> None:
    """A refusal says that nothing was stored: it must not come from what is looked at afterwards."""
    _run(filled, "UPDATE packets SET body = :body WHERE id = 'packet-0001'", {"body": b"{"})
    done = filled.packets.submit(draft(goal="Next.", parent_id="packet-0001"))
    assert done.outcome == "created"
    assert "chain.missing" not in {advice.code for advice in done.warnings}
    with pytest.raises(segue.InvalidInput):
        filled.packets.save(draft(goal="Carried."), continues="packet-0001", carry=["methods"])
    assert {line.goal for line in filled.packets.ls(parent="packet-0001").packets} == {"Next.", "Two \ufffd."}


def test_a_packet_with_anothers_body_is_removed_and_not_the_other(filled: segue.Segue) -> None:
    statement, values, _ = FOUND["another's body"]
    _run(filled, statement, values)
    removed = filled.packets.rm("packet-0001")
    assert (removed.id, removed.goal, removed.tags) == ("packet-0001", "Ship the importer.", ("one", "two"))
    assert [line.id for line in filled.packets.ls().packets] == ["packet-0002"]
    assert (filled.store.events(1)[0].kind, filled.store.events(1)[0].subject) == ("packet.deleted", "packet-0001")
    assert filled.store.doctor() == []


def test_a_cycle_is_found_and_can_be_undone(filled: segue.Segue, draft: Draft) -> None:
    document = draft(id="packet-0001", created_at=CREATED, parent_id="packet-0002")
    packet = segue.Packet.from_document(document)
    _run(
        filled,
        "UPDATE packets SET body = :body, parent_id = 'packet-0002' WHERE id = 'packet-0001'",
        {"body": packet.canonical},
    )
    filled.store.doctor(repair=True)
    found = filled.store.doctor()
    assert [finding.code for finding in found] == ["doctor.cycle", "doctor.cycle"]
    assert len(filled.packets.chain("packet-0001").packets) == 2
    filled.packets.save(draft(id="packet-0001", created_at=CREATED), replace_existing=True)
    assert filled.store.doctor() == []


def test_more_packets_than_one_batch(filled: segue.Segue, draft: Draft) -> None:
    from segue.storage import examination

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(examination, "_BATCH", 2)
        for index in range(5):
            filled.packets.save(draft(goal=f"Goal {index}."))
        assert filled.store.doctor() == []
        _run(filled, "UPDATE packets SET goal = 'x'")
        assert len(filled.store.doctor(repair=True)) == 7
        assert filled.store.doctor() == []


@pytest.fixture
def noon(clock: Any) -> float:
    """The second at which the store's clock stands."""
    return float(clock.now.timestamp())


def test_files_of_an_embedded_store(tmp_path: Path, draft: Draft, clock: Any, noon: float) -> None:
    path = tmp_path / "home" / "segue.db"
    with segue.open(path, clock=clock) as opened:
        opened.packets.save(draft())
        assert opened.store.doctor() == []
        path.chmod(0o644)
        left = path.with_name("segue-1.db.0a1b2c3d.partial")
        journal = path.with_name(left.name + "-journal")
        kept = path.parent / "backups" / "segue-2.db.0a1b2c3d.partial"
        kept.parent.mkdir()
        for each in (left, journal, kept):
            each.write_text("half")
            os.utime(each, (noon - 3_600, noon - 3_600))
        assert _codes(opened.store.doctor()) == {("doctor.mode", False), ("doctor.partial", False)}
        assert left.exists()
        assert len(opened.store.doctor(repair=True)) == 4
        assert opened.store.doctor() == []
        assert not left.exists()
        assert not journal.exists()
        assert not kept.exists()
        assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("folder", [".", "backups"])
def test_a_file_that_is_being_written_is_left_alone(tmp_path: Path, clock: Any, noon: float, folder: str) -> None:
    """By the store's clock, not the machine's: what was touched within the hour is somebody's work."""
    partial = tmp_path / folder / "segue-1.db.0a1b2c3d.partial"
    partial.parent.mkdir(exist_ok=True)
    partial.write_text("half")
    with segue.open(tmp_path / "segue.db", clock=clock) as opened:
        for seconds in (0, 3_500):
            os.utime(partial, (noon - seconds, noon - seconds))
            assert opened.store.doctor(repair=True) == []
            assert partial.exists()
        os.utime(partial, (noon - 3_600, noon - 3_600))
        assert _codes(opened.store.doctor(repair=True)) == {("doctor.partial", True)}
        assert not partial.exists()


def test_a_partial_file_of_somebody_else_is_not_touched(tmp_path: Path, clock: Any, noon: float) -> None:
    for name in ("film.mkv.partial", "notes.partial.txt", "segue.db.0a1b2c3d.partial.old"):
        (tmp_path / name).write_text("theirs")
        os.utime(tmp_path / name, (noon - 9_999, noon - 9_999))
    (tmp_path / "segue.db.0a1b2c3d.partial").mkdir()
    with segue.open(tmp_path / "segue.db", clock=clock) as opened:
        assert opened.store.doctor(repair=True) == []
    assert len(list(tmp_path.glob("*partial*"))) == 4


def test_a_file_that_gets_its_name_meanwhile_is_no_finding(
    tmp_path: Path, draft: Draft, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pathlib import Path as AnyPath

    glob = AnyPath.glob

    def late(folder: AnyPath, pattern: str) -> Any:
        return [*glob(folder, pattern), folder / "segue-1.db.0a1b2c3d.partial"]

    with segue.open(tmp_path / "segue.db") as opened:
        monkeypatch.setattr(AnyPath, "glob", late)
        assert opened.store.doctor() == []


def test_a_damaged_file_is_found_and_left_alone(tmp_path: Path, draft: Draft) -> None:
    path = tmp_path / "segue.db"
    with segue.open(path) as opened:
        for index in range(50):
            opened.packets.save(draft(goal=f"Goal {index}.", constraints=["x" * 1000] * 5))
    content = bytearray(path.read_bytes())
    for page in range(len(content) // 4096 // 2, len(content) // 4096, 7):
        content[page * 4096 + 100 : page * 4096 + 3000] = b"\xa5" * 2900
    path.write_bytes(content)
    with segue.open(path) as opened:
        found = opened.store.doctor(repair=True)
        assert {finding.code for finding in found} == {"doctor.damaged"}
        assert not any(finding.repaired for finding in found)
    assert path.read_bytes() == content


def test_tags_of_no_packet_are_found(tmp_path: Path, draft: Draft) -> None:
    import sqlite3

    path = tmp_path / "segue.db"
    with segue.open(path) as opened:
        opened.packets.save(draft(tags=["a"]))
    connection = sqlite3.connect(path)  # without foreign keys
    connection.execute("DELETE FROM packets")
    connection.commit()
    connection.close()
    with segue.open(path) as opened:
        assert _codes(opened.store.doctor()) == {("doctor.damaged", False)}


def test_the_work_grows_with_batches_not_with_packets(segue_: segue.Segue, draft: Draft) -> None:
    """A query for each packet would make the doctor of a large store take minutes."""
    statements: list[str] = []
    sa.event.listen(
        segue_._database.engine, "before_cursor_execute", lambda *arguments: statements.append(arguments[2])
    )
    counts = []
    segue_.store.doctor()  # the first look at a database asks for more
    for number in (1, 40):
        for index in range(number):
            segue_.packets.save(draft(goal=f"Goal {number} {index}.", tags=["one", "two"]))
        statements.clear()
        assert segue_.store.doctor() == []
        counts.append(len(statements))
    assert counts[0] == counts[1]
