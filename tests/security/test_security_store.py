"""The store's files: what others put beside them stays, what others altered in a backup is mended or refused."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import segue
from segue.services import store as store_service
from segue.services.store import replace_damaged
from segue.storage import schema
from segue.storage.tables import metadata

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOW = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
CAPSULE = """\
===PCSF:v1.2===
META: report export | software | WORKING | 2026-05-04T09:30Z

L1:SKELETON
CHOICE | stream rows to disk | memory ran out

L2:NEGATIVE
one big query | locks the table | read in pages

L3:INTERNAL
UNCERTAINTY: I doubt the row order is stable

L4:RELATION
STYLE: short: no preamble

L5:LOOPS
INCOMPLETE_TASK | measure keyset pages | HIGH

SEED: Export by pages because the replica cannot hold a snapshot.
===END===
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store of one packet, and a backup of another store with a tag, a capsule and their events."""
    folder = tmp_path_factory.mktemp("made")
    text = {"ltm_version": "0.2", "next_step": "Run the tests."}
    with segue.open(folder / "segue.db", directory=folder, clock=lambda: NOW) as mine:
        mine.packets.save(text | {"goal": "Stay as it is."})
    with segue.open(folder / "theirs.db", directory=folder, clock=lambda: NOW) as theirs:
        theirs.packets.save(text | {"goal": "Ship the importer.", "tags": ["one"]})
        theirs.capsules.save(CAPSULE)
        theirs.store.backup(folder / "backup.db")
    return folder


@pytest.fixture
def opened(made: Path, tmp_path: Path, clock: Callable[[], datetime]) -> Iterator[segue.Segue]:
    """An embedded store with one packet."""
    (tmp_path / "mine").mkdir()
    shutil.copy(made / "segue.db", tmp_path / "mine" / "segue.db")
    with segue.open(tmp_path / "mine" / "segue.db", directory=made, clock=clock) as found:
        yield found


@pytest.fixture
def backup(made: Path, tmp_path: Path) -> Path:
    """A backup of another store."""
    return Path(shutil.copy(made / "backup.db", tmp_path / "backup.db"))


def alter(file: Path, statement: str, *values: object) -> None:
    with sqlite3.connect(file) as connection:
        assert connection.execute(statement, values).rowcount > 0
    connection.close()


def names(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


def state(opened: segue.Segue) -> Any:
    packets = opened.packets.ls().packets
    return packets, opened.store.counts(), opened.store.events(), opened.capsules.ls()


# -- doctor ---------------------------------------------------------------------------------------------------------


def test_the_doctor_removes_only_what_segue_left(opened: segue.Segue, tmp_path: Path) -> None:
    folder = opened.store.path.parent if opened.store.path else tmp_path
    (folder / "backups").mkdir()
    long_ago = NOW.timestamp() - 7_200
    ours = [f"segue.db.0a1b2c3d.partial{suffix}" for suffix in ("", "-wal", "-shm", "-journal")]
    theirs = [
        "movie.mkv.partial",
        "movie.mkv.0a1b2c3.partial",
        "movie.mkv.0A1B2C3D.partial",
        "movie.mkv.0a1b2c3d.partial.part",
        "movie.mkv.partial-wal",
        ".0a1b2c3d.partial",
        "0a1b2c3d.partial",
    ]
    for place in (folder, folder / "backups"):
        for name in ours + theirs:
            (place / name).write_text("data")
            os.utime(place / name, (long_ago, long_ago))
        (place / "new.0a1b2c3d.partial").write_text("being written")
        os.utime(place / "new.0a1b2c3d.partial", (NOW.timestamp(), NOW.timestamp()))
        (place / "folder.0a1b2c3d.partial").mkdir()
        os.utime(place / "folder.0a1b2c3d.partial", (long_ago, long_ago))
        (place / "link.0a1b2c3d.partial").symlink_to(folder / "movie.mkv.partial")
        os.utime(place / "link.0a1b2c3d.partial", (long_ago, long_ago), follow_symlinks=False)
    before = {place: names(place) for place in (folder, folder / "backups")}
    found = opened.store.doctor(repair=True)
    assert {each.code for each in found} == {"doctor.partial"}
    assert len(found) == 2 * len(ours)
    for place, there in before.items():
        assert there - names(place) == set(ours)
        assert (place / "movie.mkv.partial").read_text() == "data"
    assert opened.store.doctor() == []


# -- restore --------------------------------------------------------------------------------------------------------

ALTERED: dict[str, tuple[str, object]] = {
    "key": ("UPDATE settings SET value = ? WHERE name = 'key'", "short"),
    "key blob": ("UPDATE settings SET value = ? WHERE name = 'key'", b"\xff\xfe"),
    "packet time text": ("UPDATE packets SET created_us = ?", "soon"),
    "packet time huge": ("UPDATE packets SET created_us = ?", 5 * 10**18),
    "packet time blob": ("UPDATE packets SET created_us = ?", b"\xff"),
    "saved text": ("UPDATE packets SET saved_us = ?", "soon"),
    "saved huge": ("UPDATE packets SET saved_us = ?", 5 * 10**18),
    "revision text": ("UPDATE packets SET revision = ?", "first"),
    "goal blob": ("UPDATE packets SET goal = ?", b"\xff\xfe"),
    "label blob": ("UPDATE packets SET project_label = ?", b"\xff\xfe"),
    "body text": ("UPDATE packets SET body = ?", "no packet"),
    "body number": ("UPDATE packets SET body = ?", 7),
    "body blob": ("UPDATE packets SET body = ?", b"{}"),
    "flag text": ("UPDATE packets SET flagged = ?", "perhaps"),
    "owner": ("UPDATE packets SET owner_id = ?", "somebody"),
    "tag time text": ("UPDATE packet_tags SET created_us = ?", "soon"),
    "list blob": ("UPDATE packet_projects SET project = ? WHERE rowid = 1", b"\xff\xfe"),
    "capsule time text": ("UPDATE capsules SET created_us = ?", "soon"),
    "capsule saved text": ("UPDATE capsules SET saved_us = ?", "soon"),
    "capsule hops": ("UPDATE capsules SET hops = ?", "many"),
    "capsule text": ("UPDATE capsules SET text = ?", "no capsule"),
    "capsule blob": ("UPDATE capsules SET text = ?", b"\xff\xfe"),
    "capsule flag": ("UPDATE capsules SET flagged = ?", "perhaps"),
    "local scope": ("UPDATE settings SET value = ? WHERE name = 'local_scope'", "nobody"),
    "scope time": ("UPDATE scopes SET created_us = ?", "soon"),
    "event scope": ("UPDATE events SET scope_id = ?", "nobody"),
    "event time text": ("UPDATE events SET at_us = ?", "soon"),
    "event time huge": ("UPDATE events SET at_us = ?", 5 * 10**18),
    "event subject": ("UPDATE events SET subject = ?", b"\xff\xfe"),
    "event details": ("UPDATE events SET details = ?", "[1]"),
    "event details text": ("UPDATE events SET details = ?", "no json"),
    "event details blob": ("UPDATE events SET details = ?", b"\xff\xfe"),
    "event details half": ("UPDATE events SET details = ?", '{"a": "\\ud83d"}'),
}


@pytest.mark.parametrize("name", ALTERED)
def test_an_altered_backup_is_mended_or_refused(opened: segue.Segue, backup: Path, name: str) -> None:
    alter(backup, *ALTERED[name])
    backup.chmod(0o644)
    bytes_before, before = backup.read_bytes(), state(opened)
    folder = opened.store.path.parent if opened.store.path else backup.parent
    (folder / "backups").mkdir(exist_ok=True)
    files = names(folder) | names(folder / "backups")
    try:
        opened.store.restore(backup)
    except segue.InvalidInput as error:
        assert error.code == "restore.invalid"
        assert str(backup) in error.message
        assert state(opened) == before
        assert names(folder) | names(folder / "backups") == files
    else:
        assert [each.goal for each in opened.packets.ls().packets] == ["Ship the importer."]
    assert backup.read_bytes() == bytes_before
    assert opened.store.doctor() == []
    assert state(opened)
    assert opened.packets.resume()
    later = opened.packets.save({"ltm_version": "0.2", "goal": "Go on.", "next_step": "Test."}, continues="newest")
    assert opened.packets.chain(later.id).packets[0].id == later.id
    assert {stat.S_IMODE(each.stat().st_mode) for each in (folder / "backups").iterdir()} <= {0o600}


@pytest.mark.parametrize("name", ["saved text", "goal blob", "body text", "event details blob", "capsule blob"])
def test_a_damaged_store_is_not_replaced_by_an_altered_backup(tmp_path: Path, backup: Path, name: str) -> None:
    alter(backup, *ALTERED[name])
    damaged = tmp_path / "damaged" / "segue.db"
    damaged.parent.mkdir()
    damaged.write_bytes(b"no store at all")
    with pytest.raises(segue.InvalidInput) as refused:
        replace_damaged(damaged, backup, NOW)
    assert refused.value.code == "restore.invalid"
    assert names(damaged.parent) == {"segue.db"}
    assert damaged.read_bytes() == b"no store at all"


def test_no_copy_is_left_and_none_can_be_read_by_others(
    opened: segue.Segue, backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup.chmod(0o644)
    modes: dict[str, int] = {}
    before = os.umask(0)

    def looked(path: Path) -> None:
        folders = (path.parent, tmp_path / "mine", tmp_path / "mine" / "backups")
        modes.update((each.name, each.stat().st_mode) for folder in folders for each in folder.glob("*partial*"))

    check = store_service._check_backup
    monkeypatch.setattr(
        store_service,
        "_check_backup",
        lambda database, path: (check(database, path), looked(database.path))[0],  # type: ignore[func-returns-value]
    )
    try:
        opened.store.restore(backup)
        monkeypatch.setattr("segue.storage.examination.examine", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            opened.store.restore(backup)
    finally:
        os.umask(before)
    assert modes
    assert {mode & 0o077 for mode in modes.values()} == {0}
    left = names(tmp_path / "mine" / "backups")
    assert len(left) == 1  # the state before the first restore, which succeeded
    assert left.pop().startswith("before-restore-")
    assert not [name for name in names(tmp_path / "mine") if "partial" in name]


def test_a_backup_of_an_older_schema_leaves_no_copy_of_itself(
    opened: segue.Segue, backup: Path, tmp_path: Path
) -> None:
    with sqlite3.connect(backup) as connection:
        first = {"settings", "scopes", "packets", "packet_tags", "packet_projects", "events"}
        for name in set(metadata.tables) - first:
            connection.execute(f"DROP TABLE {name}")
        connection.execute("DROP INDEX packets_by_owner")  # of the sixth revision
        connection.execute("UPDATE alembic_version SET version_num = '0001'")
    connection.close()
    assert schema.HEAD != "0001"
    opened.store.restore(backup)
    assert [each.goal for each in opened.packets.ls().packets] == ["Ship the importer."]
    kept = [each.relative_to(tmp_path / "mine") for each in (tmp_path / "mine" / "backups").rglob("*")]
    assert len(kept) == 1, kept
