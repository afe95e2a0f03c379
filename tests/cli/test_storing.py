"""`segue status`, `where`, `backup`, `restore` and `doctor`."""

from __future__ import annotations

import re
import sqlite3
import stat
import subprocess
from typing import TYPE_CHECKING

from cli.shell import FIRST, FIRST_ID, SECOND, SECOND_ID, InPlace, Shell, full

if TYPE_CHECKING:
    import pytest


def test_status_of_nothing(cli: InPlace) -> None:
    result = cli("status")
    assert (result.code, result.err) == (0, "")
    assert result.lines == [
        f"Store:    {cli.shell.segue_home / 'segue.db'} (0 packets)",
        "Project:  project (0 packets)",
        "Newest:   none yet; `segue save` makes one",
        "Memories: 0",
    ]
    assert cli("status", "--json").json["newest"] is None


def test_status(cli: InPlace) -> None:
    cli("save", cli.write("1.json", full(1)))
    (cli.shell.project / "segue.toml").write_text('[project]\nid = "another"\n', "utf-8")
    result = cli("status", "--json")
    assert result.json == {
        "store": str(cli.shell.segue_home / "segue.db"),
        "packets": 1,
        "project": "another",
        "project_key": "set:another",
        "project_packets": 0,
        "newest": None,
        "memories": 2,
        "memories_waiting": 0,
        "candidates_waiting": 0,
    }
    cli("save", cli.write("2.json", full(2)))
    newest = {"id": "packet-0002", "created_at": "2026-05-02T09:30:00Z", "goal": "Ship the importer."}
    assert cli("status", "--json").json["newest"] == newest
    shown = cli("status", "--now", "2026-05-02T10:30:00Z").lines
    assert shown[0].endswith("(2 packets)")
    assert shown[1:] == [
        "Project:  another (1 packet)",
        "Newest:   …ket-0002, 1 hr ago",
        "          Ship the importer.",
        "Memories: 4",  # of each project its own
    ]


def test_where_in_a_plain_folder(cli: InPlace) -> None:
    result = cli("where")
    assert result.code == 0
    rows = dict(line.split(":", 1) for line in result.lines)
    assert rows["Project"].strip() == "project"
    assert rows["Identity"].strip().startswith("folder:")
    assert rows["Root"].strip() == str(cli.shell.project)
    assert "segue.toml" in result.err


def test_where_in_a_repository(shell: Shell) -> None:
    remote = "https://someone:pass" + "word@github.com/Acme/Shop.git"
    for arguments in (["init", "--quiet", "-b", "main"], ["remote", "add", "origin", remote]):
        subprocess.run(["git", *arguments], cwd=shell.project, check=True, env=shell.environment)
    below = shell.project / "src" / "deep"
    below.mkdir(parents=True)
    found = shell.run("where", "--json", cwd=below)
    assert found.code == 0
    assert found.json == {
        "key": "remote:github.com/acme/shop",
        "name": "Shop",
        "ref": "github.com/Acme/Shop",
        "root": str(shell.project),
        "branch": "main",
        "source": "the remote repository",
        "store": str(shell.segue_home / "segue.db"),
        "home": str(shell.segue_home),
    }
    assert "someone" not in shell.run("where").out


def test_a_broken_segue_toml_is_said(cli: InPlace) -> None:
    (cli.shell.project / "segue.toml").write_text("[project\n", "utf-8")
    result = cli("where", "--json")
    assert (result.code, result.error["code"]) == (3, "config.invalid")
    assert "segue.toml" in result.error["message"]
    assert cli("ls").code == 0  # what needs no project goes on


def test_backup_and_restore(cli: InPlace) -> None:
    cli("save", FIRST)
    copied = cli("backup", "copy.db")
    assert (copied.code, copied.out) == (0, "copy.db\n")
    assert re.fullmatch(r"1 packet, \d+ memories\n", copied.err)
    path = cli.shell.project / "copy.db"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    cli("save", SECOND)
    cli("rm", FIRST_ID)
    restored = cli("restore", "copy.db")
    assert restored.code == 0
    assert re.fullmatch(r"restored 1 packet, \d+ memories\n", restored.out)
    assert cli.ids() == [FIRST_ID]
    kept = restored.err.strip().removeprefix("what was there before is kept in ")
    assert cli("restore", kept).code == 0
    assert cli.ids() == [SECOND_ID]
    assert [each.name for each in cli.shell.project.iterdir()] == ["copy.db"]  # no sidecar, no partial


def test_backup_as_json_and_by_default_into_the_home(cli: InPlace) -> None:
    cli("save", FIRST)
    copied = cli("backup", "--json", "--now", "2026-05-04T09:30:00Z").json
    assert copied["path"] == str(cli.shell.segue_home / "backups" / "segue-20260504T093000Z.db")
    assert list(copied) == ["path", "counts", "kept"]
    assert (copied["counts"]["packets"], copied["kept"]) == (1, None)
    restored = cli("restore", copied["path"], "--json").json
    assert list(restored) == ["path", "counts", "kept"]
    assert restored["counts"] == copied["counts"]
    assert restored["kept"].startswith(str(cli.shell.segue_home / "backups" / "before-restore-"))


def test_a_backup_says_how_much_it_holds(cli: InPlace) -> None:
    assert cli("backup", "0.db").err == "an empty store\n"
    assert cli("restore", "0.db").out == "restored an empty store\n"
    cli("save", FIRST)
    cli("save", SECOND)
    assert re.fullmatch(r"2 packets, \d+ memories\n", cli("backup", "2.db").err)
    assert cli("capsule", "from-packet", FIRST_ID, "--save").code == 0
    assert re.fullmatch(r"2 packets, 1 capsule, \d+ memories\n", cli("backup", "3.db").err)
    found = cli("backup", "4.db", "--json").json
    assert (found["counts"]["packets"], found["counts"]["capsules"]) == (2, 1)
    for each in (FIRST_ID, SECOND_ID):
        cli("rm", each)
    result = cli("restore", "2.db", "--json").json  # the capsule alone is worth keeping
    assert result["kept"]
    assert re.fullmatch(r"restored 1 capsule, \d+ memories\n", cli("restore", result["kept"]).out)


def test_a_backup_says_what_is_not_in_it(cli: InPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEGUE_HOME", str(cli.shell.segue_home))
    assert "continuity" not in cli("backup", "0.db").err
    cli("continuity", "propose", "From now on name units.")
    told = cli("backup", "1.db").err
    assert f"not in it: journals, receipts and handoffs of continuity; copy {cli.shell.segue_home}/continuity" in told


def test_a_backup_opens_alone(shell: Shell) -> None:
    shell.run("save", FIRST)
    assert shell.run("backup", "copy.db").code == 0
    alone = shell.run("ls", "--json", env={"SEGUE_DB": str(shell.project / "copy.db")})
    assert [each["id"] for each in alone.json["packets"]] == [FIRST_ID]


def test_backup_never_overwrites(cli: InPlace) -> None:
    cli.write("copy.db", b"mine")
    result = cli("backup", "copy.db", "--json")
    assert (result.code, result.error["code"]) == (4, "backup.exists")
    assert (cli.shell.project / "copy.db").read_bytes() == b"mine"


def test_restore_refuses_what_is_no_backup(cli: InPlace) -> None:
    cli("save", FIRST)
    cli.write("text.db", b"no database")
    foreign = cli.shell.project / "foreign.db"
    connection = sqlite3.connect(foreign)
    connection.execute("CREATE TABLE mine (x)")
    connection.close()
    for name in ("text.db", "foreign.db"):
        result = cli("restore", name, "--json")
        assert (result.code, result.error["code"]) == (3, "restore.invalid")
    assert cli("restore", "missing.db").code == 3
    assert cli.ids() == [FIRST_ID]


def test_doctor(cli: InPlace) -> None:
    cli("save", FIRST)
    result = cli("doctor")
    assert (result.code, result.out, result.err) == (0, "healthy: 1 packet, 11 memories\n", "")
    assert cli("doctor", "--json").json == {"ok": True, "packets": 1, "memories": 11, "findings": []}


def test_doctor_finds_and_mends(cli: InPlace) -> None:
    cli("save", FIRST)
    path = cli.shell.segue_home / "segue.db"
    path.chmod(0o644)
    found = cli("doctor")
    assert found.code == 3
    assert found.out.startswith("1 to mend")
    assert found.err.startswith("wrong: ")
    listed = cli("doctor", "--json")
    assert (listed.code, listed.json["ok"], len(listed.json["findings"])) == (3, False, 1)
    mended = cli("doctor", "--repair")
    assert (mended.code, mended.out) == (0, "healthy: 1 packet, 11 memories\n")
    assert mended.err.startswith("mended: ")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert cli("doctor").code == 0


def test_a_damaged_store_fails_with_a_message(shell: Shell) -> None:
    shell.run("save", FIRST)
    (shell.segue_home / "segue.db").write_bytes(b"garbage" * 1000)
    for name in ("segue.db-wal", "segue.db-shm"):
        (shell.segue_home / name).unlink(missing_ok=True)
    result = shell.run("ls", "--json")
    assert (result.code, result.error["code"]) == (1, "store.corrupt")
    said = shell.run("save", FIRST)
    assert (said.code, said.out) == (1, "")
    assert "Traceback" not in said.err


def damage(shell: Shell) -> bytes:
    """Make the store unreadable and return what it holds now."""
    for name in ("segue.db-wal", "segue.db-shm"):
        (shell.segue_home / name).unlink(missing_ok=True)
    garbage = b"garbage" * 1000
    (shell.segue_home / "segue.db").write_bytes(garbage)
    return garbage


def test_a_damaged_store_is_a_finding_of_the_doctor(cli: InPlace) -> None:
    cli("save", FIRST)
    damage(cli.shell)
    result = cli("doctor")
    assert (result.code, result.out.split(";")[0]) == (3, "the store cannot be mended")
    assert "segue restore FILE" in result.out
    assert result.err.startswith("wrong: ")
    found = cli("doctor", "--repair", "--json")
    assert (found.code, found.json["ok"], found.json["packets"]) == (3, False, 0)
    assert [each["code"] for each in found.json["findings"]] == ["store.corrupt"]


def test_a_damaged_store_is_replaced_by_a_backup_and_kept(cli: InPlace) -> None:
    cli("save", FIRST)
    cli("backup", "copy.db")
    cli("save", SECOND)
    garbage = damage(cli.shell)
    invalid = cli("restore", cli.write("text.db", b"no database"), "--json")
    assert (invalid.code, invalid.error["code"]) == (3, "restore.invalid")
    assert (cli.shell.segue_home / "segue.db").read_bytes() == garbage
    result = cli("restore", "copy.db", "--now", "2026-05-04T09:30:00Z")
    kept = cli.shell.segue_home / "segue.db.damaged-20260504T093000Z"
    assert result.code == 0
    assert re.fullmatch(r"restored 1 packet, \d+ memories\n", result.out)
    assert result.err == f"what was there before is kept in {kept}\n"
    assert kept.read_bytes() == garbage
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert cli.ids() == [FIRST_ID]
    assert cli("doctor").code == 0


def test_where_opens_no_store(cli: InPlace) -> None:
    assert cli("where", "--json").json["store"] == str(cli.shell.segue_home / "segue.db")
    assert not cli.shell.segue_home.exists()


def test_where_shows_no_password(shell: Shell) -> None:
    url = "postgresql+psycopg://" + "ana:un" + "told@db.example.org/segue"  # nothing is there: nothing is opened
    result = shell.run("where", env={"SEGUE_DB": url})
    assert result.code == 0
    assert "db.example.org/segue" in result.out
    assert "untold" not in result.out
    assert "untold" not in shell.run("where", "--json", env={"SEGUE_DB": url}).out


def test_where_does_not_tell_what_was_done(cli: InPlace) -> None:
    (cli.shell.project / "segue.toml").write_text('[project]\nid = "shop"\n', "utf-8")
    result = cli("where")
    assert (result.code, result.err) == (0, "")
    assert "set:shop" in result.out
