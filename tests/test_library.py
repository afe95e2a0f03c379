"""The library's door: `segue.open`, and what `import segue` gives and costs."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import segue
from segue import location

Draft = Any


def _python(script: str, *arguments: str, **variables: str | None) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SEGUE_")}
    for name, value in variables.items():
        environment.pop(name, None)
        if value is not None:
            environment[name] = value
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, encoding="utf-8")


def test_the_public_names() -> None:
    assert sorted(segue.__all__) == segue.__all__
    for name in segue.__all__:
        assert getattr(segue, name) is not None
    assert issubclass(segue.Conflict, segue.Refused)
    assert issubclass(segue.Ambiguous, segue.NotFound)
    assert Path(segue.__file__).with_name("py.typed").exists()


def test_importing_is_cheap() -> None:
    script = "import sys, segue; print(sorted({name.split('.')[0] for name in sys.modules}))"
    done = _python(script)
    for heavy in ("sqlalchemy", "alembic", "mcp", "numpy", "typer", "rich", "pydantic", "fastapi", "sqlite3"):
        assert f"'{heavy}'" not in done.stdout, heavy


def test_the_example_of_the_package(tmp_path: Path) -> None:
    """What the docstring of the package shows, run as it stands there."""
    assert segue.__doc__ is not None
    example = "\n".join(line for line in segue.__doc__.splitlines()[1:])
    done = _python(example, SEGUE_HOME=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert "…" in done.stdout
    assert (tmp_path / "segue.db").exists()


def test_saved_in_one_process_and_resumed_in_another(tmp_path: Path) -> None:
    """From an empty home folder, with nothing set."""
    variables = {"HOME": str(tmp_path), "XDG_DATA_HOME": None, "SEGUE_HOME": None}
    draft = {"ltm_version": "0.2", "goal": "Carry on.", "next_step": "Now."}
    saving = f"import segue\nwith segue.open() as s: print(s.packets.save({draft}).id)"
    saved = _python(saving, **variables)
    assert (saved.returncode, saved.stderr) == (0, "")
    resumed = _python("import segue\nwith segue.open() as s: print(s.store.path, s.packets.resume())", **variables)
    assert (resumed.returncode, resumed.stderr) == (0, "")
    assert "Carry on." in resumed.stdout
    assert resumed.stdout.startswith(str(tmp_path))


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"SEGUE_HOME": "{}/own"}, "{}/own/segue.db"),
        ({"SEGUE_HOME": "~/own", "HOME": "{}"}, "{}/own/segue.db"),
        ({"SEGUE_DB": "{}/file.db"}, "{}/file.db"),
        ({"SEGUE_DB": "sqlite:///{}/file.db", "SEGUE_HOME": "{}/own"}, "{}/file.db"),
        ({"SEGUE_DB": "", "SEGUE_HOME": "{}/own"}, "{}/own/segue.db"),
    ],
)
def test_where_the_store_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value.replace("{}", str(tmp_path)))
    with segue.open() as opened:
        assert str(opened.store.path) == expected.replace("{}", str(tmp_path))
    with segue.open(tmp_path / "given.db") as opened:  # an argument wins
        assert opened.store.path == tmp_path / "given.db"


@pytest.mark.parametrize("name", ["SEGUE_HOME", "SEGUE_DB"])
def test_a_home_of_nobody(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "~no-such-user/segue.db")
    with pytest.raises(segue.Failed) as failed:
        segue.open()
    assert failed.value.code in ("home.missing", "store.cannot_open")


def test_a_relative_home_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert location.home({"SEGUE_HOME": "own"}) == tmp_path / "own"


NO_HOME = """
import os, sys
import segue
with segue.open(sys.argv[1] + "/warm.db") as s:
    s.packets.save({"ltm_version": "0.2", "goal": "g", "next_step": "n"})
os.environ.pop("HOME", None)
if os.getuid() == 0:
    os.setgroups([])
    os.setuid(47123)  # a user that the system does not know
else:
    import pwd
    pwd.getpwuid = lambda uid: (_ for _ in ()).throw(KeyError(uid))
try:
    segue.open()
except segue.Failed as error:
    print(error.code, error.message)
os.umask(0)
with segue.open(sys.argv[1] + "/open/given.db") as s:
    s.packets.save({"ltm_version": "0.2", "goal": "Named.", "next_step": "n"})
    print(s.packets.count(), s.store.backup().path.parent.name)
"""


def test_without_a_home_folder() -> None:
    import tempfile

    with tempfile.TemporaryDirectory(prefix="segue-open-") as folder:
        Path(folder).chmod(0o755)
        (Path(folder) / "open").mkdir()
        (Path(folder) / "open").chmod(0o777)
        done = _python(NO_HOME, folder, XDG_DATA_HOME=None, SEGUE_HOME=None)
    assert done.stderr == ""
    refusal, rest = done.stdout.split("\n", 1)
    assert refusal.startswith("home.missing ")
    assert "SEGUE_HOME" in refusal
    assert rest == "1 backups\n"


def test_a_current_folder_that_was_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(segue.Failed) as failed:
        segue.open(tmp_path / "segue.db")
    assert failed.value.code == "directory.missing"
    monkeypatch.chdir(tmp_path)
    with segue.open(tmp_path / "segue.db", directory=tmp_path) as opened:
        assert opened.packets.count() == 0


def test_clock_actor_and_directory_are_the_callers(location: str, tmp_path: Path, draft: Draft) -> None:
    def clock() -> datetime:
        return datetime(2031, 2, 3, 4, 5, 6, 789, tzinfo=UTC)

    with segue.open(location, directory=tmp_path, clock=clock, actor="somebody") as opened:
        saved = opened.packets.save(draft())
        assert saved.created_at == "2031-02-03T04:05:06Z"
        assert opened.packets.stored(saved.id).saved_at == clock() == opened.now()
        [event] = opened.store.events()
        assert (event.actor, event.at) == ("somebody", clock())
        assert opened.project.root == opened.directory == tmp_path


def test_seen_from_another_folder(segue_: segue.Segue, tmp_path: Path, draft: Draft) -> None:
    (tmp_path / "elsewhere").mkdir()
    here = segue_.packets.save(draft())
    there = segue_.at(tmp_path / "elsewhere")
    with pytest.raises(segue.NotFound):
        there.packets.newest()
    saved = there.packets.save(draft(goal="Elsewhere."))
    assert there.packets.newest() == saved
    assert segue_.packets.newest() == here
    assert segue_.packets.count() == 2


def test_a_broken_segue_toml_stops_what_needs_the_project_alone(
    location: str, project_directory: Path, draft: Draft
) -> None:
    (project_directory / "segue.toml").write_text("[project")
    with segue.open(location, directory=project_directory) as opened:
        assert opened.packets.ls().packets == []
        with pytest.raises(segue.InvalidInput) as refused:
            opened.packets.save(draft())
        assert refused.value.code == "config.invalid"
        assert opened.packets.count() == 0
        (project_directory / "segue.toml").unlink()
        opened.packets.save(draft())


@pytest.mark.parametrize(
    "variables",
    [
        {"PYTHONHASHSEED": "1"},
        {"PYTHONHASHSEED": "2", "TZ": "Pacific/Kiritimati"},
        {"LC_ALL": "C", "TZ": "America/St_Johns", "PYTHONUTF8": "0"},
        {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
    ],
)
def test_the_same_bytes_whatever_the_environment(tmp_path: Path, variables: dict[str, str]) -> None:
    document = {
        "ltm_version": "0.2",
        "id": "packet-İ-0001",
        "created_at": "2026-05-04T09:30:00+02:00",
        "project": {"ref": "github.com/Acme/I"},
        "goal": "IİıiS É",
        "next_step": "n",
        "tags": ["b", "a", "c"],
    }
    script = (
        "import sys, segue\n"
        "with segue.open(sys.argv[1]) as s:\n"
        f"    s.packets.save({document!a})\n"
        "    sys.stdout.buffer.write(s.packets.raw('0001'))\n"
        "    with s._database.read() as connection:\n"
        "        columns = 'id, parent_id, created_us, goal, project_label, content_hash, search_text, ltm_version'\n"
        "        row = connection.exec_driver_sql(f'SELECT {columns} FROM packets').one()\n"
        "        lists = connection.exec_driver_sql('SELECT project, created_us FROM packet_projects').all()\n"
        "        sys.stdout.buffer.write(ascii((tuple(row), lists)).encode())\n"
    )
    plain = _python(script, str(tmp_path / "plain.db"), PYTHONHASHSEED="0", TZ="UTC", LC_ALL="C.UTF-8")
    other = _python(script, str(tmp_path / "other.db"), **variables)
    assert (plain.returncode, plain.stderr) == (other.returncode, other.stderr) == (0, "")
    assert plain.stdout == other.stdout
    assert "packet-İ-0001" in plain.stdout


def test_one_store_in_many_threads(segue_: segue.Segue, draft: Draft) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def save(index: int) -> str:
        packet = segue_.packets.save(draft(goal=f"Goal {index}."))
        assert segue_.packets.get(packet.id) == packet
        return packet.id

    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(save, range(40)))
    assert {line.id for line in segue_.packets.ls(limit=500).packets} == made
    assert len(made) == 40
    assert segue_.store.doctor() == []
