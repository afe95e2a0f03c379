"""Killed at each recorded write of a change: the memory store is what it was, or what it was to be."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import killing
import memory_operations as operations
import pytest

from segue.continuity import swap
from segue.continuity.store.editing import between
from segue.continuity.store.layout import STORE
from segue.continuity.store.snapshot import Snapshot

if TYPE_CHECKING:
    from killing import Run

pytestmark = pytest.mark.usefixtures("own_migrations")


@pytest.fixture
def template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a ledger, a receipt for it and two facts; its id is set, so that a copy is the same project."""
    folder = tmp_path / "template"
    folder.mkdir()
    monkeypatch.setenv("SEGUE_HOME", str(folder / "home"))
    (folder / "segue.toml").write_text('[project]\nid = "killed"\n')
    (folder / operations.LEDGER).write_text("# Log\n")
    with operations.opened(folder) as opened:
        opened.continuity.receipts.issue([operations.LEDGER])
        opened.continuity.memory.init(consent=True)
        for name in ("first", "second"):
            operations.keep(opened.continuity.memory, name, "feedback", operations.BODY.format(name))
    return folder


def held(folder: Path) -> dict[str, bytes]:
    """The files of a store."""
    return dict(swap.read(folder / STORE).files)


def _check(run: Run, before: dict[str, bytes], after: dict[str, bytes]) -> None:
    with operations.opened(run.folder) as opened:
        memory = opened.continuity.memory
        if not before and not memory.exists:
            assert not run.acknowledged
            memory.init(consent=True)
        report = memory.doctor()
        assert report.status == "enabled", report.faults
        now = held(run.folder)
        assert now == after or (now == before and not run.acknowledged)
        left = {each.name for each in (run.folder / STORE).iterdir()} - {Path(each).name for each in now}
        assert left <= {"archive"}
        assert [each.name for each in run.folder.iterdir() if each.name.endswith(".partial")] == []
        operations.keep(memory, "last", "feedback", operations.BODY.format("last"))
        assert memory.sync().cold_start


def _try(operation: str, template: Path, folder: Path, step: int) -> None:
    if operation == "init":
        shutil.rmtree(template / STORE)
    folder.mkdir()
    before = held(template) if operation != "init" else {}
    after: dict[str, bytes] = {}
    killed = 0
    for run in killing.runs(f"{Path(operations.__file__)}:{operation}", template, folder, step=step):
        if not after:  # the first run is recorded, and comes to its end
            assert not run.killed
            after = held(run.folder)
            assert after != before
        try:
            _check(run, before, after)
        except AssertionError as error:
            raise AssertionError(f"killed before write {run.point} ({run.call}): {error}") from error
        killed += run.killed
        shutil.rmtree(run.folder)
    assert killed >= 5, "hardly a write was recorded"


@pytest.mark.requirement("continuity-store-killed")
def test_killed_at_every_write_of_the_swap(tmp_path: Path) -> None:
    """The files alone, in a fork of this process: quick, and so at every one of its writes."""
    before = {"MEMORY.md": b"# Memory Index\n", "a.md": b"a\n", "b.md": b"b\n"}
    after = {"MEMORY.md": b"# Memory Index\n\nnew\n", "a.md": b"other\n", "archive/b.md": b"b\n", "c.md": b"c\n"}
    plan = between(Snapshot(before), Snapshot(after))
    run = killing._traced if killing.can_trace() else killing._stepped

    def once(point: int) -> tuple[dict[str, bytes], list[str], bool]:
        folder = tmp_path / str(point)
        swap.create(folder, before)

        def change() -> None:
            swap.swap(folder, plan, swap.read(folder))

        writes, killed = run(change, point)
        recovered = swap.recover(folder)
        assert not (folder / swap.SWAP).exists()
        found = dict(swap.read(folder).files)
        assert not recovered or found == after  # from the journal on, the change is certain
        shutil.rmtree(folder)
        return found, writes, killed

    found, recorded, killed = once(0)
    assert (found, killed) == (after, False)
    seen = []
    for point in range(1, len(recorded) + 1):
        found, writes, killed = once(point)
        assert killed, writes
        assert found in (before, after), point
        seen.append(found == after)
    assert seen == sorted(seen), "what was done was undone again"
    assert {True, False} == set(seen)
    assert len(seen) > 20


@pytest.mark.requirement("continuity-store-killed")
@pytest.mark.parametrize(
    "operation", [pytest.param(each, marks=pytest.mark.soak) for each in ("init", "add", "update", "archive")]
)
def test_killed_at_every_write_of_a_service(tmp_path: Path, template: Path, operation: str) -> None:
    _try(operation, template, tmp_path / "runs", 1)
