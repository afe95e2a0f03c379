"""Killed at each recorded write: the store opens, the doctor finds nothing, each packet is whole or absent."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import killing
import pytest

import segue

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from killing import Run

pytestmark = pytest.mark.usefixtures("own_migrations")

HELD = {f"packet-{index:04}" for index in range(1, 4)}
OTHERS = {f"other-{index:05}" for index in range(4)}


def _fill(path: Path, ids: set[str]) -> None:
    with segue.open(path, directory=path.parent) as opened:
        for each in sorted(ids):
            opened.packets.save(killing.DRAFT | {"id": each, "created_at": killing.CREATED, "goal": f"Goal {each}."})


@pytest.fixture
def template(tmp_path: Path) -> Path:
    """A folder with a store that holds HELD, and a backup of another one that holds OTHERS."""
    folder = tmp_path / "template"
    _fill(folder / "segue.db", HELD)
    _fill(tmp_path / "other" / "segue.db", OTHERS)
    with segue.open(tmp_path / "other" / "segue.db", directory=tmp_path) as other:
        other.store.backup(folder / "other.db")
    return folder


def _state(opened: segue.Segue) -> dict[str, str]:
    """What the store holds, after it has been seen to be in order."""
    assert opened.store.doctor() == []
    lines = opened.packets.ls(limit=500).packets
    for line in lines:
        packet = opened.packets.get(line.id)  # parses the body
        assert (packet.goal, tuple(sorted(packet.tags))) == (line.goal, line.tags)
    return {line.id: line.goal for line in lines}


def _saved_events(opened: segue.Segue) -> set[str]:
    return {event.subject for event in opened.store.events(1000) if event.kind == "packet.saved"}


def _check_save(run: Run, held: set[str]) -> None:
    new = killing.new_id(run.folder)
    with segue.open(run.folder / "segue.db", directory=run.folder) as opened:
        there = set(_state(opened))
        assert there - {new} == held
        assert _saved_events(opened) == there
        assert new in there or not run.acknowledged
        assert run.killed or run.acknowledged
        again = opened.packets.submit(killing.DRAFT | {"id": new, "created_at": killing.CREATED})
        assert again.outcome == ("unchanged" if new in there else "created")


def _check_replace(run: Run) -> None:
    with segue.open(run.folder / "segue.db", directory=run.folder) as opened:
        state = _state(opened)
        done = state["packet-0001"] == "Replaced."
        assert opened.packets.stored("packet-0001").revision == (2 if done else 1)
        assert set(state) == HELD
        assert done or not run.acknowledged


def _check_remove(run: Run) -> None:
    with segue.open(run.folder / "segue.db", directory=run.folder) as opened:
        there = set(_state(opened))
        assert there in (HELD, HELD - {"packet-0001"})
        assert "packet-0001" not in there or not run.acknowledged


def _check_restore(run: Run) -> None:
    with segue.open(run.folder / "segue.db", directory=run.folder) as opened:
        there = set(_state(opened))
        assert there in (HELD, OTHERS)
        assert there == OTHERS or not run.acknowledged
        kept = sorted((run.folder / "backups").glob("*.db")) if (run.folder / "backups").exists() else []
        assert there == HELD or len(kept) == 1, "the state before was not kept"
        for path in kept:
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            with segue.open(path, directory=path.parent) as before:
                assert set(_state(before)) == HELD
        opened.store.restore(run.folder / "other.db")
        assert set(_state(opened)) == OTHERS


def _check_backup(run: Run) -> None:
    path = run.folder / "kept" / "backup.db"
    assert path.exists() or not run.acknowledged
    if path.exists():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with segue.open(path, directory=path.parent) as copy:
            assert set(_state(copy)) == HELD
    with segue.open(run.folder / "segue.db", directory=run.folder) as opened:
        assert set(_state(opened)) == HELD


CHECKS: dict[str, Callable[[Run], None]] = {
    "save": lambda run: _check_save(run, HELD),
    "replace": _check_replace,
    "remove": _check_remove,
    "restore": _check_restore,
    "backup": _check_backup,
}


def _try_all(operation: str, template: Path, folder: Path, check: Callable[[Run], None], **options: object) -> None:
    folder.mkdir()
    points = 0
    for run in killing.runs(operation, template, folder, **options):  # type: ignore[arg-type]
        try:
            check(run)
        except (AssertionError, segue.SegueError) as error:
            raise AssertionError(f"killed before write {run.point} ({run.call}): {error}") from error
        points += run.killed
    assert points >= 5, "hardly a write was recorded"


# A save is killed at each of its writes. The others here at each n-th, and at each where the kind of call changes;
# in `make soak` at every one, too.
@pytest.mark.parametrize(
    ("operation", "step"), [("save", 8), ("replace", 24), ("remove", 24), ("restore", 400), ("backup", 48)]
)
def test_killed_at_a_write(tmp_path: Path, template: Path, operation: str, step: int) -> None:
    _try_all(operation, template, tmp_path / "runs", CHECKS[operation], step=step)


@pytest.mark.soak
@pytest.mark.parametrize("operation", ["save", "replace", "remove", "restore", "backup"])
def test_killed_at_every_write(tmp_path: Path, template: Path, operation: str) -> None:
    _try_all(operation, template, tmp_path / "runs", CHECKS[operation])


def _check_first_run(run: Run) -> None:
    _check_save(run, set())
    assert stat.S_IMODE((run.folder / "segue.db").stat().st_mode) == 0o600


def test_killed_at_a_write_of_a_first_run(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    _try_all("save", tmp_path / "empty", tmp_path / "runs", _check_first_run, step=48)


@pytest.mark.soak
def test_killed_at_every_write_of_a_first_run(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    _try_all("save", tmp_path / "empty", tmp_path / "runs", _check_first_run)


@pytest.mark.parametrize(("operation", "step"), [("save", 8), ("restore", 240)])
def test_killed_at_a_statement(tmp_path: Path, template: Path, operation: str, step: int) -> None:
    """The points that need no tracing of processes: what is left of this test on other systems."""
    _try_all(operation, template, tmp_path / "runs", CHECKS[operation], step=step, tracing="never")


@pytest.mark.soak
@pytest.mark.parametrize("operation", ["save", "restore"])
def test_killed_at_every_statement(tmp_path: Path, template: Path, operation: str) -> None:
    _try_all(operation, template, tmp_path / "runs", CHECKS[operation], tracing="never")


@pytest.mark.parametrize("step", [6, pytest.param(1, marks=pytest.mark.soak)])
def test_a_client_of_postgresql_killed_at_what_it_sends(
    tmp_path: Path, locate: Callable[[str], str], step: int
) -> None:
    if not killing.can_trace():
        pytest.skip("processes cannot be traced here")
    location = locate("postgres")
    with segue.open(location, directory=tmp_path) as opened:
        (tmp_path / "empty").mkdir()
        acknowledged, ids = set(), set()

        def check(run: Run) -> None:
            new = killing.new_id(run.folder)
            ids.add(new)
            if run.acknowledged:
                acknowledged.add(new)

        _try_all("save", tmp_path / "empty", tmp_path / "runs", check, step=step, location=location)
        # A lock that a killed client held would keep this save waiting.
        opened.packets.save(killing.DRAFT | {"id": "packet-last", "created_at": killing.CREATED})
        there = set(_state(opened))
        assert acknowledged < there <= ids | {"packet-last"}
        assert _saved_events(opened) == there


def test_this_machine_enumerates_writes() -> None:
    """On Linux x86-64 the kill points are system calls, unless tracing is forbidden; then this says so."""
    if not killing.can_trace():
        assert os.uname().machine != "x86_64" or os.uname().sysname != "Linux" or _tracing_is_forbidden()


def _tracing_is_forbidden() -> bool:
    from pathlib import Path

    scope = Path("/proc/sys/kernel/yama/ptrace_scope")
    seccomp = "Seccomp:\t2" in Path("/proc/self/status").read_text()
    return seccomp or (scope.exists() and scope.read_text().strip() == "3")
