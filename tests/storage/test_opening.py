"""Opening a store: every kind of location, and each way in which the machine can refuse, said clearly."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

import forks
import segue
from segue.storage.database import open_database, pragma

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.usefixtures("own_migrations")

Draft = Any
WORD = "hunter" + "2"

# What a child process does. Everything is imported before it becomes somebody else: an unprivileged user may not be
# able to read the package, where tests run as root.
CHILD = """
import os, resource, sys, tempfile
import segue

location, task, uid, limit = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
draft = {"ltm_version": "0.2", "goal": "Warm up.", "next_step": "Go on."}
with tempfile.TemporaryDirectory() as folder:
    with segue.open(folder + "/segue.db") as s:
        s.packets.get(s.packets.save(draft).id)
        s.packets.ls()
        s.store.doctor()
if uid and os.getuid() == 0:
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
try:
    if task == "create":
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    with segue.open(location) as s:
        if task == "read":
            print(len(s.packets.ls().packets), s.packets.get("packet-0001").goal)
        if task == "fill":
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        for index in range({"save": 1, "fill": 500}.get(task, 0)):
            text = ["x" * 1000] * (10 if limit else 0)
            packet = s.packets.save(draft | {"goal": f"Goal {index}.", "constraints": text})
            print("saved", packet.id, flush=True)  # only after the save has returned
except segue.SegueError as error:
    print(error.code, error.message, file=sys.stderr)
    sys.exit(error.exit_code)
"""


def _child(location: Path, task: str = "save", *, uid: int = 0, limit: int = 0) -> subprocess.CompletedProcess[str]:
    command = [forks.program("python"), "-c", CHILD, str(location), task, str(uid), str(limit)]
    return subprocess.run(command, capture_output=True, text=True, cwd="/")


def _failed(done: subprocess.CompletedProcess[str], code: str) -> None:
    assert done.returncode == 1, done
    assert done.stderr.startswith(f"{code} "), done.stderr
    assert "Traceback" not in done.stderr
    assert "saved" not in done.stdout


NOBODY = 65534


@pytest.mark.parametrize("form", ["path", "text", "url", "relative", "home"])
def test_every_form_of_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, draft: Draft) -> None:
    path = tmp_path / "new" / "folder with space" / "100% é.db"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    relative = path.relative_to(tmp_path)
    forms: dict[str, Path | str] = {
        "path": path,
        "text": str(path),
        "url": f"sqlite:///{path}",
        "relative": relative,
        "home": f"~/{relative}",
    }
    with segue.open(forms[form]) as opened:
        saved = opened.packets.save(draft())
        assert opened.store.path == path
        assert opened.store.name == str(path)
    with segue.open(path) as opened:
        assert opened.packets.get(saved.id) == saved


def test_what_an_embedded_store_is_set_to(tmp_path: Path, draft: Draft) -> None:
    path = tmp_path / "new" / "segue.db"
    umask = os.umask(0)
    try:
        with segue.open(path) as opened:
            opened.packets.save(draft())
            assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
            modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
            assert set(modes) >= {"segue.db", "segue.db-wal", "segue.db-shm"}
            assert set(modes.values()) == {0o600}, modes
            with opened._database.read() as connection:
                assert pragma(connection, "journal_mode") == "wal"
                assert pragma(connection, "foreign_keys") == 1
                assert pragma(connection, "synchronous") == 2
                assert pragma(connection, "secure_delete") == 1
    finally:
        os.umask(umask)


def test_a_removed_packet_is_gone_from_the_disk(tmp_path: Path, draft: Draft) -> None:
    word = b"unforgettable-" + b"word"
    with segue.open(tmp_path / "segue.db") as opened:
        saved = opened.packets.save(draft(goal=f"The {word.decode()}.", constraints=["x" * 1000] * 20))
        opened.packets.save(draft(goal="Another."))
        opened.packets.rm(saved.id)
    for path in tmp_path.iterdir():
        assert word not in path.read_bytes(), path.name


@pytest.mark.parametrize(
    "location",
    [
        f"mysql://alice:{WORD}@host/db",
        f"https://alice:{WORD}@host/db",
        "sqlite+pysqlite:///file.db",
        f"postgresql+asyncpg://alice:{WORD}@host/db",
        f"postgresql+psycopg://alice:{WORD}@host:port/db",
    ],
)
def test_a_url_of_another_kind(location: str) -> None:
    with pytest.raises(segue.InvalidInput) as refused:
        segue.open(location)
    assert refused.value.code == "store.url"
    assert WORD not in refused.value.message


def test_a_server_that_does_not_answer() -> None:
    with socket.socket() as taken:  # bound and not listening: nothing answers there
        taken.bind(("127.0.0.1", 0))
        location = f"postgresql+psycopg://alice:{WORD}@127.0.0.1:{taken.getsockname()[1]}/db"
        with pytest.raises(segue.Failed) as failed:
            segue.open(location)
    assert failed.value.code == "store.unreachable"
    assert "127.0.0.1" in failed.value.message
    assert WORD not in "".join(traceback.format_exception(failed.value))


def test_a_database_that_is_not_there(locate: Callable[[str], str]) -> None:
    location = locate("postgres").replace("/test_", "/no_such_")
    with pytest.raises(segue.Failed) as failed:
        segue.open(location)
    assert failed.value.code.startswith("store.")
    assert "no_such_" in failed.value.message


def test_an_error_quotes_no_packet(segue_: segue.Segue, draft: Draft) -> None:
    """Not in its message, and not in what it came from: the statement that failed held the whole packet."""
    segue_.packets.save(draft())
    with segue_._database.write() as connection:
        connection.execute(sa.text("CREATE UNIQUE INDEX only_one ON packets (ltm_version)"))
    word = "private" + str(7 * 11)  # not in the source lines that a traceback quotes
    with pytest.raises(segue.Failed) as failed:
        segue_.packets.save(draft(goal=word))
    assert failed.value.code == "store.failed"
    assert word not in "".join(traceback.format_exception(failed.value))
    assert "INSERT INTO packets" in "".join(traceback.format_exception(failed.value))
    assert segue_.packets.count() == len(segue_.store.events()) == 1


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    done = _child(tmp_path)
    _failed(done, "store.cannot_open")
    assert "is a folder" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("size", [15, 100, 5000])
def test_a_garbage_file_is_no_store_and_stays_as_it_is(tmp_path: Path, size: int) -> None:
    path = tmp_path / "segue.db"
    path.write_bytes(b"\xa5" * size)
    _failed(_child(path), "store.corrupt")
    assert path.read_bytes() == b"\xa5" * size


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "segue.db"
    path.touch()
    assert _child(path).stdout.startswith("saved ")


def test_a_parent_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = _child(tmp_path / "file" / "segue.db")
    _failed(done, "store.cannot_open")
    assert str(tmp_path / "file" / "segue.db") in done.stderr


def test_a_missing_parent_is_made(tmp_path: Path) -> None:
    assert _child(tmp_path / "a" / "b" / "segue.db").stdout.startswith("saved ")


@pytest.fixture
def open_path() -> Iterator[Path]:
    """A folder that every user may come through to."""
    with tempfile.TemporaryDirectory(prefix="segue-open-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_a_folder_that_takes_no_file(open_path: Path) -> None:
    folder = open_path / "closed"
    folder.mkdir(mode=0o555)
    done = _child(folder / "segue.db", uid=NOBODY)
    _failed(done, "store.cannot_open")
    assert "Permission denied" in done.stderr
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("closed", ["folder", "file", "both"])
def test_a_store_that_can_only_be_read(open_path: Path, draft: Draft, closed: str) -> None:
    path = open_path / "kept" / "segue.db"
    with segue.open(path) as opened:
        opened.packets.save(draft(id="packet-0001", created_at="2026-05-04T09:30:00Z"))
    path.with_name("segue.db.lock").unlink(missing_ok=True)
    path.chmod(0o444 if closed in ("file", "both") else 0o666)
    path.parent.chmod(0o555 if closed in ("folder", "both") else 0o777)
    content = path.read_bytes()
    done = _child(path, uid=NOBODY)
    _failed(done, "store.read_only")
    assert "nothing was saved" in done.stderr
    assert _child(path, "read", uid=NOBODY).stdout == "1 Ship the importer.\n"
    assert path.read_bytes() == content
    assert [each.name for each in path.parent.iterdir()] == ["segue.db"]
    path.parent.chmod(0o755)


def test_what_a_killed_process_left_is_read_from_a_folder_that_cannot_be_written(open_path: Path, draft: Draft) -> None:
    """The newest packets are in the file beside the store; reading must not pass over them silently."""
    path = open_path / "kept" / "segue.db"
    with segue.open(path):
        pass
    script = (
        "import os, sys, segue\n"
        "s = segue.open(sys.argv[1])\n"
        "s.packets.save({'ltm_version': '0.2', 'id': 'packet-0001', 'created_at': '2026-05-04T09:30:00Z',"
        " 'goal': 'Killed.', 'next_step': 'n'})\n"
        "os._exit(137)"
    )
    assert subprocess.run([sys.executable, "-c", script, str(path)]).returncode == 137
    for each in path.parent.iterdir():
        each.chmod(0o644)
    path.parent.chmod(0o555)
    done = _child(path, "read", uid=NOBODY)
    path.parent.chmod(0o755)
    assert (done.stdout, done.stderr) == ("1 Killed.\n", "")


def test_a_file_size_limit_is_a_full_disk(tmp_path: Path) -> None:
    """Writes fail in the middle of a save; what was acknowledged before stays, the rest is not there."""
    path = tmp_path / "segue.db"
    done = _child(path, "fill", limit=1_000_000)
    assert done.returncode == 1
    assert done.stderr.split()[0] in ("store.full", "store.io")
    assert "nothing was saved" in done.stderr
    assert "Traceback" not in done.stderr
    acknowledged = [line.split()[1] for line in done.stdout.splitlines()]
    assert acknowledged
    with segue.open(path) as opened:
        assert opened.store.doctor() == []
        assert opened.packets.count() == len(acknowledged)
        assert {line.id for line in opened.packets.ls(limit=500).packets} == set(acknowledged)
        opened.packets.save({"ltm_version": "0.2", "goal": "There is room again.", "next_step": "n"})


def test_a_full_database(tmp_path: Path, draft: Draft, monkeypatch: pytest.MonkeyPatch) -> None:
    from segue.storage import database

    connect = database._connect
    path = tmp_path / "segue.db"

    def small(location: str, *, uri: bool) -> Any:
        connection = connect(location, uri=uri)
        connection.execute("PRAGMA max_page_count = 200")
        return connection

    with segue.open(path):
        pass
    monkeypatch.setattr(database, "_connect", small)
    count = 0
    with segue.open(path) as opened:
        with pytest.raises(segue.Failed) as failed:
            for index in range(100):
                opened.packets.save(draft(goal=f"Goal {index}.", constraints=["x" * 1000] * 10))
                count += 1
        assert failed.value.code == "store.full"
        assert "nothing was saved" in failed.value.message
        assert opened.packets.count() == count > 0
        assert len(opened.store.events(1000)) == count
    monkeypatch.undo()
    with segue.open(path) as opened:
        assert opened.store.doctor() == []
        assert opened.packets.count() == count


def test_no_room_for_a_first_run(tmp_path: Path) -> None:
    path = tmp_path / "segue.db"
    done = _child(path, "create", limit=8192)
    assert done.returncode == 1
    assert done.stderr.split()[0] in ("store.full", "store.io")
    assert "Traceback" not in done.stderr
    with segue.open(path) as opened:
        assert opened.store.doctor() == []


def test_a_busy_store(tmp_path: Path, draft: Draft, monkeypatch: pytest.MonkeyPatch) -> None:
    import sqlite3

    from segue.storage import database

    monkeypatch.setattr(database, "BUSY_SECONDS", 0)
    with segue.open(tmp_path / "segue.db") as opened:
        holder = sqlite3.connect(tmp_path / "segue.db", isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(segue.Failed) as failed:
            opened.packets.save(draft())
        assert failed.value.code == "store.busy"
        assert opened.packets.ls().packets == []  # reading goes on
        holder.execute("ROLLBACK")
        holder.close()
        opened.packets.save(draft())


def test_a_pool_that_is_exhausted_is_a_busy_store(
    segue_: segue.Segue, draft: Draft, monkeypatch: pytest.MonkeyPatch
) -> None:
    import contextlib

    pool: Any = segue_._database.engine.pool
    monkeypatch.setattr(pool, "_timeout", 0.05)
    with contextlib.ExitStack() as held:
        for _ in range(pool.size() + pool._max_overflow):
            held.enter_context(segue_._database.read())
        for act in (segue_.packets.count, lambda: segue_.packets.save(draft())):
            with pytest.raises(segue.Failed) as failed:
                act()
            assert failed.value.code == "store.busy"
            assert "too many calls at once" in failed.value.message
    segue_.packets.save(draft())
    assert segue_.packets.count() == 1


@pytest.mark.parametrize("value", [None, "", "no key", "ab" * 31, "zz" * 32])
def test_a_lost_key_is_said_and_made_again(segue_: segue.Segue, draft: Draft, value: str | None) -> None:
    """Never signed with an empty key: whoever knew that could make cursors of his own."""
    for index in range(2):
        segue_.packets.save(draft(goal=f"Goal {index}."))
    cursor = segue_.packets.ls(limit=1).cursor
    with segue_._database.write() as connection:
        connection.execute(sa.text("DELETE FROM settings WHERE name = 'key'"))
        if value is not None:
            connection.execute(sa.text("INSERT INTO settings VALUES ('key', :value)"), {"value": value})
    for act in (segue_.packets.ls, segue_.capsules.ls, lambda: segue_.packets.ls(limit=1, cursor=cursor)):
        with pytest.raises(segue.Failed) as failed:
            act()
        assert failed.value.code == "store.key"
        assert "segue doctor --repair" in failed.value.message
    assert segue_.packets.newest().goal == "Goal 1."  # what needs no cursor goes on
    assert [finding.code for finding in segue_.store.doctor(repair=True)] == ["doctor.key"]
    assert len(segue_.packets.ls().packets) == 2
    with pytest.raises(segue.InvalidInput):
        segue_.packets.ls(limit=1, cursor=cursor)


def test_writers_of_two_scopes_do_not_wait_for_each_other(locate: Callable[[str], str]) -> None:
    """On PostgreSQL: a scope is one writer's at a time, and the whole store is nobody's while one writes anywhere."""
    with segue.open(locate("postgres")) as opened, opened._database.write("one"):
        assert not _waits(opened, "two")
        assert _waits(opened, "one")
        assert _waits(opened, None)
    with opened._database.write():
        assert _waits(opened, "one")
        assert _waits(opened, None)
    opened.close()


def _waits(opened: segue.Segue, scope_id: str | None) -> bool:
    """Whether another writer has to wait for the lock."""
    from segue.storage import database

    with opened._database.engine.connect() as connection, connection.begin():
        connection.execute(sa.text("SET LOCAL lock_timeout = '100ms'"))
        try:
            database._lock(connection, () if scope_id is None else (scope_id,))
        except sa.exc.OperationalError:
            return True
    return False


def test_a_lost_connection_is_said_and_made_again(
    locate: Callable[[str], str], postgres_server: Any, draft: Draft
) -> None:
    location = locate("postgres")
    with segue.open(location) as opened:
        opened.packets.save(draft())
        name = location.split("/")[3].split("?")[0]
        kill = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = %s"
        with postgres_server.connect() as other:
            other.execute(kill, (name,))
        assert opened.packets.count() == 1  # a connection that died between two calls is not the caller's matter
        with pytest.raises(segue.Failed) as failed, opened._database.write() as connection:
            with postgres_server.connect() as other:
                other.execute(kill, (name,))
            connection.execute(sa.text("SELECT 1"))
        assert failed.value.code == "store.unreachable"
        assert opened.packets.count() == 1


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ("57P01", "store.unreachable"),  # it was told to end
        ("57P03", "store.unreachable"),  # it starts
        ("08006", "store.unreachable"),
        ("53300", "store.full"),
        ("40001", "store.busy"),
        ("40P01", "store.busy"),
        ("55P03", "store.busy"),
        ("57014", "store.busy"),
        ("22012", "store.failed"),
    ],
)
def test_what_postgresql_says_is_sorted(locate: Callable[[str], str], state: str, code: str) -> None:
    with segue.open(locate("postgres")) as opened:
        with pytest.raises(segue.Failed) as failed, opened._database.read() as connection:
            connection.execute(sa.text(f"DO $$ BEGIN RAISE EXCEPTION 'secret' USING ERRCODE = '{state}'; END $$"))
        assert failed.value.code == code
        assert "secret" not in failed.value.message


def test_one_read_sees_one_state(segue_: segue.Segue, location: str, draft: Draft) -> None:
    segue_.packets.save(draft())
    count = sa.text("SELECT count(*) FROM packets")
    other = open_database(location)
    with segue_._database.read() as connection:
        assert connection.execute(count).scalar_one() == 1
        with other.write() as writing:
            writing.execute(sa.text("DELETE FROM packets"))
        assert connection.execute(count).scalar_one() == 1
    other.close()
    assert segue_.packets.count() == 0
