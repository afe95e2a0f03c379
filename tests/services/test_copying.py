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
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

import segue
from segue.storage.tables import metadata

if TYPE_CHECKING:
    from pathlib import Path

Draft = Callable[..., dict[str, Any]]
Locate = Callable[[str], str]
CREATED = "2026-05-04T09:30:00Z"


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
    assert (done.path, done.packets, done.events, done.kept) == (path, 3, 6, None)
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
    assert (done.path, done.packets, done.events) == (path, 3, 6)
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
    from segue.storage.database import lock_scope

    with segue.open(locate("sqlite")) as other:
        path = other.store.backup(tmp_path / "empty.db").path
    location = locate("postgres")
    with segue.open(location) as opened:
        saved = opened.packets.save(draft(id="packet-0001", created_at=CREATED))
        thread = threading.Thread(target=opened.store.restore, args=(path,))
        with opened._database.write() as connection:
            lock_scope(connection, opened._scope)
            stored = rows.get(connection, opened._scope, saved.id)
            assert stored is not None
            rows.delete(connection, opened._scope, saved.id)
            rows.insert(connection, stored, saved, None)
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
