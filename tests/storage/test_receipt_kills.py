"""Killed at each recorded write: the chain of receipts holds, and a release ends in COMMITTED or ABORTED."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import killing
import pytest
import receipt_operations as operations

from segue.base.errors import NotFound
from segue.continuity import files

if TYPE_CHECKING:
    from collections.abc import Callable

    from killing import Run

pytestmark = pytest.mark.usefixtures("own_migrations")


@pytest.fixture
def template(tmp_path: Path) -> Path:
    """A project with one receipt; its id is set, so that a copy of the folder is the same project."""
    folder = tmp_path / "template"
    folder.mkdir()
    (folder / "segue.toml").write_text('[project]\nid = "killed"\n')
    for name in operations.FILES:
        (folder / name).write_text(f"# {name}\n")
    with operations.opened(folder) as opened:
        opened.continuity.receipts.issue(["guide.md"])
    return folder


def _check_issue(run: Run) -> None:
    with operations.opened(run.folder) as opened:
        receipts = opened.continuity.receipts
        assert receipts.verify().holds
        there = len(receipts.ls())
        assert there == 2 or (there == 1 and not run.acknowledged)
        assert receipts.issue(["log.md"]).number == there + 1
        assert receipts.verify().holds
        left = {each.name for each in (opened.continuity.place.folder / files.RECEIPTS).iterdir()}
        assert {each for each in left if not each.endswith(".partial")} == {
            f"TX-000{number}.json" for number in range(1, there + 2)
        }


def _check_release(run: Run) -> None:
    with operations.opened(run.folder) as opened:
        releases, receipts = opened.continuity.releases, opened.continuity.receipts
        issued = len(receipts.ls()) == 2
        assert issued or not run.acknowledged
        (run.folder / "qa.md").write_text("changed since")
        try:
            record = releases.recover()
        except NotFound:
            assert not issued  # nothing was prepared yet
        else:
            assert record.state == ("COMMITTED" if issued else "ABORTED")
            assert releases.recover() == record
        assert len(receipts.ls()) == (2 if issued else 1)
        releases.prepare(operations.MANIFEST)
        assert releases.commit().number == (3 if issued else 2)
        assert receipts.verify().holds


CHECKS: dict[str, Callable[[Run], None]] = {"issue": _check_issue, "release": _check_release}


def _try(operation: str, template: Path, folder: Path, step: int) -> None:
    folder.mkdir()
    killed = 0
    for run in killing.runs(f"{Path(operations.__file__)}:{operation}", template, folder, step=step):
        try:
            CHECKS[operation](run)
        except AssertionError as error:
            raise AssertionError(f"killed before write {run.point} ({run.call}): {error}") from error
        killed += run.killed
    assert killed >= 5, "hardly a write was recorded"


@pytest.mark.requirement("continuity-receipt-mended")
@pytest.mark.requirement("continuity-release-recovers")
def test_killed_at_a_write(tmp_path: Path, template: Path) -> None:
    """At each write where the kind of call changes; a release issues a receipt, too."""
    _try("release", template, tmp_path / "runs", 1_000)


@pytest.mark.soak
@pytest.mark.parametrize("operation", list(CHECKS))
def test_killed_at_every_write(tmp_path: Path, template: Path, operation: str) -> None:
    _try(operation, template, tmp_path / "runs", 1)
