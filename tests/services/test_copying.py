"""Store.backup and Store.restore, between both kinds of database."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

import segue
import segue.services.store
from segue.services.store import replace_damaged
from segue.storage.tables import metadata

if TYPE_CHECKING:
    from pathlib import Path

Draft = Callable[..., dict[str, Any]]
Locate = Callable[[str], str]
CREATED = "2026-05-04T09:30:00Z"
NOW = datetime(2026, 5, 4, 9, 30, 1, 5, tzinfo=UTC)
CAPSULE = (
    "===PCSF:v1.2===\nMETA: topic | software | WORKING | 2026-05-04T09:30Z\n\n"
    "L1:SKELETON\n\nL2:NEGATIVE\n\nL3:INTERNAL\n\nL4:RELATION\n\nL5:LOOPS\n\nSEED: Go on.\n===END===\n"
)
COUNTS = {  # rows by table, of a store that `_fill` filled
    "settings": 2,
    "scopes": 1,
    "packets": 3,
    "packet_tags": 1,
    "packet_projects": 9,
    "events": 6,
    "capsules": 0,
}


def _of_packets(counts: dict[str, int]) -> dict[str, int]:
    """The counts without the memories that were made of the packets."""
    return {name: counts[name] for name in COUNTS}


def _fill(opened: segue.Segue, draft: Draft) -> None:
    """Packets of every kind of row: a chain, tags, NUL, a replaced, a flagged and a removed one."""
    named = {"id": "packet-0001", "created_at": CREATED}
    opened.packets.save(draft(**named, tags=["one", "two"]))
    opened.packets.save(draft(**named, goal="Replaced \0.", tags=["three"]), replace_existing=True)
    project = {"name": "P", "ref": "github.com/acme/p"}
    child = opened.packets.save(draft(goal="Child.", project=project), continues="0001")
    opened.packets.submit(draft(goal="At " + "/".join(["", "home", "alice", "x"])), allow_unredacted=True)
    opened.packets.rm(opened.packets.save(draft(goal="Gone.")).id)
    assert child.parent_id == "packet-0001"


def _state(opened: segue.Segue) -> dict[str, Any]:
    """All that a user sees of a store."""
    events = [(e.id, e.at, e.actor, e.kind, e.subject, e.details) for e in opened.store.events(10_000)]
    lines = opened.packets.ls(limit=500).packets
    stored = {line.id: opened.packets.stored(line.id) for line in lines}
    rows = {key: (row.revision, row.saved_at, row.project_key, row.flagged, row.body) for key, row in stored.items()}
    return {"events": events, "lines": lines, "rows": rows}


def _rows(opened: segue.Segue) -> dict[str, Any]:
    with opened._database.read() as connection:
        return {name: sorted(connection.execute(sa.select(table)).all()) for name, table in metadata.tables.items()}


def _names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


@pytest.fixture
def filled(segue_: segue.Segue, draft: Draft) -> segue.Segue:
    _fill(segue_, draft)
    return segue_


def test_a_backup_opens_alone_and_is_complete(filled: segue.Segue, tmp_path: Path) -> None:
    before = _rows(filled)
    path = tmp_path / "kept" / "deep" / "backup.db"
    done = filled.store.backup(path)
    assert (done.path, done.kept) == (path, None)
    assert done.counts == {name: len(rows) for name, rows in before.items()}
    assert _of_packets(done.counts) == COUNTS
    assert done.to_json() == {"path": str(path), "counts": done.counts, "kept": None}
    assert _names(path.parent) == ["backup.db"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert _rows(filled) == before
    alone = tmp_path / "elsewhere" / "moved.db"
    alone.parent.mkdir()
    shutil.move(path, alone)
    with segue.open(alone) as copy:
        assert _rows(copy) == before
        assert _state(copy) == _state(filled)
        assert copy.store.doctor() == []
        assert [event.kind for event in copy.store.events(1)] == [event.kind for event in filled.store.events(1)]


def test_a_backup_needs_no_name(
    filled: segue.Segue, location: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEGUE_HOME", str(tmp_path / "own"))
    with segue.open(location) as again:
        done = again.store.backup()
        folder = (again.store.path.parent if again.store.path else tmp_path / "own") / "backups"
        assert done.path.parent == folder
        assert _names(folder) == [done.path.name]
        assert again.store.doctor() == []


def test_a_backup_never_overwrites(filled: segue.Segue, tmp_path: Path) -> None:
    for path in (tmp_path / "file.db", tmp_path / "folder"):
        if path.suffix:
            path.write_text("precious")
        else:
            path.mkdir()
        with pytest.raises(segue.Refused) as refused:
            filled.store.backup(path)
        assert refused.value.code == "backup.exists"
    assert (tmp_path / "file.db").read_text() == "precious"
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "file.db")
    with pytest.raises(segue.Refused):
        filled.store.backup(link)


def test_a_backup_that_cannot_be_written_leaves_nothing(filled: segue.Segue, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(segue.Failed) as failed:
        filled.store.backup(tmp_path / "file" / "backup.db")
    assert failed.value.code == "file.write"
    assert str(tmp_path / "file" / "backup.db") in failed.value.message


def test_a_backup_that_fails_half_way_leaves_nothing(
    filled: segue.Segue, tmp_path: Path, draft: Draft, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk fills up while the copy is made: the copy has a journal by then."""
    from segue.storage import database

    for index in range(50):
        filled.packets.save(draft(goal=f"Goal {index}.", constraints=["x" * 1000] * 10))
    connect = database._connect

    def small(location: str, *, uri: bool) -> sqlite3.Connection:
        connection = connect(location, uri=uri)
        if ".partial" in location:
            connection.execute("PRAGMA max_page_count = 60")
        return connection

    monkeypatch.setattr(database, "_connect", small)
    target = tmp_path / "kept" / "backup.db"
    with pytest.raises(segue.Failed) as failed:
        filled.store.backup(target)
    assert failed.value.code == "store.full"
    assert _names(target.parent) == []


@pytest.fixture(params=["sqlite", "postgres"])
def target(request: pytest.FixtureRequest, locate: Locate, draft: Draft) -> Iterator[segue.Segue]:
    """Another store, which holds something else."""
    with segue.open(locate(request.param)) as opened:
        opened.packets.save(draft(goal="Will be replaced.", tags=["old"]))
        yield opened


def test_restore_into_either_kind(filled: segue.Segue, target: segue.Segue, tmp_path: Path, draft: Draft) -> None:
    before, wanted = _state(target), _state(filled)
    path = filled.store.backup(tmp_path / "backup.db").path
    content = path.read_bytes()
    done = target.store.restore(path)
    assert (done.path, _of_packets(done.counts)) == (path, COUNTS)
    after = _state(target)
    newest = after["events"].pop(0)
    assert (newest[3], newest[4]) == ("store.restored", "backup.db")
    assert after == wanted
    assert target.store.doctor() == []
    assert target.packets.get("packet-0001").goal == "Replaced \0."
    assert (path.read_bytes(), _names(tmp_path).count("backup.db")) == (content, 1)
    assert target.packets.save(draft(goal="Onwards."), continues="packet-0001").parent_id == "packet-0001"
    assert done.kept is not None
    assert stat.S_IMODE(done.kept.stat().st_mode) == 0o600
    with segue.open(done.kept) as kept:
        assert _state(kept) == before


def test_a_restore_over_capsules_alone_keeps_them(
    filled: segue.Segue, locate: Locate, kind: str, tmp_path: Path
) -> None:
    path = filled.store.backup(tmp_path / "backup.db").path
    with segue.open(locate(kind), directory=tmp_path) as other:
        capsule = other.capsules.save(CAPSULE).capsule
        done = other.store.restore(path)
        assert _of_packets(done.counts) == COUNTS
        assert other.capsules.ls().capsules == []
        assert done.kept is not None
        assert done.to_json() == {"path": str(path), "counts": done.counts, "kept": str(done.kept)}
        with segue.open(done.kept) as kept:
            assert kept.capsules.ls().capsules == [capsule]
            assert kept.packets.count() == 0
        done.kept.unlink()


def test_a_restore_is_noted_with_who_did_it(filled: segue.Segue, location: str, tmp_path: Path) -> None:
    path = filled.store.backup(tmp_path / "backup.db").path
    with segue.open(location, actor="somebody") as opened:
        opened.store.restore(path)
        [event] = opened.store.events(1)
    assert (event.kind, event.subject, event.actor) == ("store.restored", "backup.db", "somebody")


def test_what_is_saved_during_a_restore_is_not_lost(
    filled: segue.Segue, location: str, tmp_path: Path, draft: Draft, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the copy of the state before and the new state there is no moment in which others may write."""
    path = filled.store.backup(tmp_path / "backup.db").path
    saved: list[segue.Packet] = []

    def save() -> None:
        with segue.open(location) as somebody:
            saved.append(somebody.packets.save(draft(goal="Meanwhile.")))

    thread = threading.Thread(target=save)
    keep = segue.services.store.Store._keep_state

    def meanwhile(*arguments: Any) -> Any:
        kept = keep(*arguments)
        thread.start()
        thread.join(0.5)
        return kept

    monkeypatch.setattr(segue.services.store.Store, "_keep_state", meanwhile)
    filled.store.restore(path)
    thread.join()
    assert filled.packets.get(saved[0].id) == saved[0]
    assert filled.packets.count() == 4


def test_a_restore_into_an_empty_store_keeps_nothing(filled: segue.Segue, locate: Locate, tmp_path: Path) -> None:
    path = filled.store.backup(tmp_path / "backup.db").path
    with segue.open(locate("sqlite")) as fresh:
        assert fresh.store.restore(path).kept is None
        assert len(fresh.packets.ls().packets) == 3


def test_who_has_the_store_open_goes_on_after_a_restore(
    filled: segue.Segue, location: str, kind: str, locate: Locate, tmp_path: Path, draft: Draft
) -> None:
    """A long-lived process must not go on writing into a scope that the restore took away."""
    with segue.open(locate("sqlite")) as other:
        other.packets.save(draft(id="from-another-store", created_at=CREATED))
        path = other.store.backup(tmp_path / "other.db").path
    with segue.open(location) as long_lived:
        filled.store.restore(path)
        assert [line.id for line in long_lived.packets.ls().packets] == ["from-another-store"]
        later = long_lived.packets.save(draft(goal="Later."))
    assert filled.packets.get(later.id) == later
    with segue.open(location) as fresh:
        assert fresh.packets.count() == 2
        assert fresh.store.doctor() == []


def test_there_and_back_again(filled: segue.Segue, target: segue.Segue, tmp_path: Path) -> None:
    wanted = _state(filled)["rows"]
    target.store.restore(filled.store.backup(tmp_path / "one.db").path)
    filled.store.restore(target.store.backup(tmp_path / "two.db").path)
    assert _state(filled)["rows"] == wanted
    assert filled.store.doctor() == []


def _damaged(good: Path, folder: Path) -> dict[str, tuple[Path, str]]:
    """Files that are no backup, each with the code of its refusal."""
    content = good.read_bytes()
    made: dict[str, tuple[bytes, str]] = {
        "empty": (b"", "restore.invalid"),
        "garbage": (os.urandom(5000), "restore.invalid"),
        "text": (b"SQLite format 3 but not really" * 100, "restore.invalid"),
        "header": (content[:100], "restore.invalid"),
        "half": (content[: len(content) // 2], "restore.invalid"),
        "short": (content[:-1], "restore.invalid"),
        "hole": (content[:8192] + b"\xa5" * 4096 + content[12288:], "restore.invalid"),
    }
    paths = {}
    for name, (data, code) in made.items():
        (folder / name).write_bytes(data)
        paths[name] = (folder / name, code)
    for name, script, code in (
        ("newer", "UPDATE alembic_version SET version_num = '9999'", "store.newer"),
        ("no revision", "DROP TABLE alembic_version", "restore.invalid"),
        ("odd revision", "ALTER TABLE alembic_version RENAME COLUMN version_num TO x", "restore.invalid"),
        ("no events", "DROP TABLE events", "restore.invalid"),
        ("no scope", "DELETE FROM settings WHERE name = 'local_scope'", "restore.invalid"),
    ):
        shutil.copyfile(good, folder / name)
        _run_sql(folder / name, script)
        paths[name] = (folder / name, code)
    _run_sql(folder / "foreign", "CREATE TABLE packets (id TEXT); CREATE TABLE notes (text TEXT)")
    paths["foreign"] = (folder / "foreign", "restore.invalid")
    (folder / "directory").mkdir()
    paths["directory"] = (folder / "directory", "file.read")
    paths["missing"] = (folder / "missing", "file.read")
    return paths


def _run_sql(path: Path, script: str) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()


def test_a_restore_of_what_is_no_backup_changes_nothing(filled: segue.Segue, tmp_path: Path) -> None:
    good = filled.store.backup(tmp_path / "good.db").path
    before = _rows(filled)
    (tmp_path / "files").mkdir()
    for name, (path, code) in _damaged(good, tmp_path / "files").items():
        content = path.read_bytes() if path.is_file() else b""
        with pytest.raises(segue.SegueError) as refused:
            filled.store.restore(path)
        assert refused.value.code == code, name
        assert str(path) in refused.value.message, name
        assert _rows(filled) == before, name
        assert (path.read_bytes() if path.is_file() else b"") == content, name
    assert filled.store.doctor() == []


def test_a_restore_that_fails_half_way_changes_nothing(
    filled: segue.Segue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from segue.storage import copying

    path = filled.store.backup(tmp_path / "backup.db").path
    before = _rows(filled)
    copy_table = copying._copy_table

    def failing(source: Any, target: Any, table: sa.Table, renamed: Any) -> int:
        if table.name == "packet_tags" and target.engine is filled._database.engine:
            raise segue.Failed("store.full", "the disk is full")
        return copy_table(source, target, table, renamed)

    monkeypatch.setattr(copying, "_copy_table", failing)
    with pytest.raises(segue.Failed):
        filled.store.restore(path)
    assert _rows(filled) == before


def test_the_newest_of_a_live_store_is_restored_too(locate: Locate, tmp_path: Path, draft: Draft) -> None:
    """A store that a killed process left behind has its newest pages beside it."""
    script = (
        "import os, sys, segue\n"
        "s = segue.open(sys.argv[1])\n"
        "s.packets.save({'ltm_version': '0.2', 'goal': 'Killed.', 'next_step': 'Go on.'})\n"
        "os._exit(137)"
    )
    left = tmp_path / "left" / "segue.db"
    assert subprocess.run([sys.executable, "-c", script, str(left)]).returncode == 137
    assert left.with_name("segue.db-wal").stat().st_size > 0
    with segue.open(locate("sqlite")) as fresh:
        fresh.store.restore(left)
        assert [line.goal for line in fresh.packets.ls().packets] == ["Killed."]


def test_a_restore_waits_for_a_save_under_way(
    locate: Locate, postgres_server: Any, tmp_path: Path, draft: Draft
) -> None:
    """On PostgreSQL writers do not exclude each other by themselves: the row of the one under way must not survive."""
    from segue.storage import packets as rows

    with segue.open(locate("sqlite")) as other:
        path = other.store.backup(tmp_path / "empty.db").path
    location = locate("postgres")
    with segue.open(location) as opened:
        saved = opened.packets.save(draft(id="packet-0001", created_at=CREATED))
        thread = threading.Thread(target=opened.store.restore, args=(path,))
        with opened._database.write(opened._scope) as connection:
            stored = rows.get(connection, opened._scope, saved.id)
            assert stored is not None
            rows.delete(connection, opened._scope, saved.id)
            rows.insert(connection, stored, saved)
            thread.start()
            name = location.split("/")[3].split("?")[0]
            with postgres_server.connect(name) as watching:
                waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
                while thread.is_alive() and not watching.execute(waiting).fetchone()[0]:
                    pass
            assert thread.is_alive()
        thread.join()
        assert opened.packets.ls().packets == []
        assert opened.store.doctor() == []


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A store that a killed process left, its newest pages beside it, and whose file was damaged then."""
    path = tmp_path / "store" / "segue.db"
    with segue.open(path) as opened:
        for index in range(20):
            opened.packets.save({"ltm_version": "0.2", "goal": f"Goal {index}.", "next_step": "n"})
    script = (
        "import os, sys, segue\n"
        "s = segue.open(sys.argv[1])\n"
        "s.packets.save({'ltm_version': '0.2', 'goal': 'Lost.', 'next_step': 'n'})\n"
        "os._exit(137)"
    )
    assert subprocess.run([sys.executable, "-c", script, str(path)]).returncode == 137
    path.with_name("segue.db.lock").unlink(missing_ok=True)
    path.write_bytes(b"\xa5" * path.stat().st_size)
    assert path.with_name("segue.db-wal").stat().st_size > 0
    shutil.copytree(path.parent, tmp_path / "looked at")  # opening changes what lies beside it
    with pytest.raises(segue.Failed) as failed:
        segue.open(tmp_path / "looked at" / "segue.db")
    assert failed.value.code == "store.corrupt"
    return path


def test_a_damaged_store_is_replaced_and_kept(damaged: Path, filled: segue.Segue, tmp_path: Path) -> None:
    backup = filled.store.backup(tmp_path / "backup.db").path
    before = {each.name: each.read_bytes() for each in damaged.parent.iterdir()}
    assert set(before) >= {"segue.db", "segue.db-wal"}
    done = replace_damaged(damaged, backup, NOW)
    kept = damaged.with_name("segue.db.damaged-20260504T093001Z")
    assert (done.path, _of_packets(done.counts), done.kept) == (backup, COUNTS, kept)
    after = {name: damaged.with_name(name.replace("segue.db", kept.name)).read_bytes() for name in before}
    assert after == before
    assert not set(_names(damaged.parent)) & {"segue.db-wal", "segue.db-shm"}
    for path in (damaged, kept):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with segue.open(damaged) as opened:
        assert _state(opened) == _state(filled)
        assert opened.store.doctor() == []


def test_a_damaged_store_stays_as_it_is_where_the_backup_is_none(
    damaged: Path, filled: segue.Segue, tmp_path: Path
) -> None:
    before = {each.name: each.read_bytes() for each in damaged.parent.iterdir()}
    (tmp_path / "files").mkdir()
    files = _damaged(filled.store.backup(tmp_path / "good.db").path, tmp_path / "files")
    files["itself"] = (damaged, "restore.invalid")
    for name, (path, code) in files.items():
        with pytest.raises(segue.SegueError) as refused:
            replace_damaged(damaged, path, NOW)
        assert refused.value.code == code, name
        assert {each.name: each.read_bytes() for each in damaged.parent.iterdir()} == before, name


def test_a_damaged_store_that_cannot_be_kept_is_not_replaced(
    damaged: Path, filled: segue.Segue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup = filled.store.backup(tmp_path / "backup.db").path
    before = {each.name: each.read_bytes() for each in damaged.parent.iterdir()}
    copyfile = shutil.copyfile

    def full(source: Path, target: Path) -> Any:
        if source == damaged:
            raise OSError(28, "No space left on device")
        return copyfile(source, target)

    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(segue.Failed) as failed:
        replace_damaged(damaged, backup, NOW)
    assert failed.value.code == "file.write"
    assert {each.name: each.read_bytes() for each in damaged.parent.iterdir()} == before
