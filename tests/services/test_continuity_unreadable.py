"""What cannot be looked at is never taken for what is not there: it is said, by an error of ours, and named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import segue
from segue.base.errors import SegueError
from segue.cli import main
from segue.continuity import files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conftest import Clock, Locate

PLACES = ("", files.JOURNAL, files.RECEIPTS, files.HANDOFFS, files.RELEASE, f"{files.RECEIPTS}/TX-0001.json")


@pytest.fixture
def opened(
    locate: Locate, clock: Clock, project_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[segue.Segue]:
    monkeypatch.setenv("SEGUE_HOME", str(tmp_path / "home"))
    (project_directory / "log.md").write_text("text")
    with segue.open(locate("sqlite"), directory=project_directory, clock=clock) as one:
        one.continuity.candidates.propose("From now on name units.")
        one.continuity.receipts.issue(["log.md"])
        yield one


def close(path: Path) -> None:
    """Make a place that nobody can look into, whoever asks: a link that leads to itself."""
    if files.exists(path):
        path.rename(path.with_name(f"{path.name}-before"))
    path.symlink_to(path)


@pytest.mark.requirement("continuity-unreadable")
@pytest.mark.parametrize("place", PLACES)
def test_nothing_is_taken_for_missing(opened: segue.Segue, project_directory: Path, place: str) -> None:
    folder = opened.continuity.place.folder
    close(folder / place if place else folder.parent)
    again = segue.open(opened.store.name, directory=project_directory)
    here = again.continuity
    attempts: dict[str, tuple[Callable[[], Any], ...]] = {
        "": (
            here.candidates.waiting,
            here.candidates.ls,
            here.receipts.ls,
            here.receipts.verify,
            here.releases.recover,
        ),
        files.JOURNAL: (here.candidates.waiting, here.candidates.ls, here.candidates.states),
        files.RECEIPTS: (here.receipts.ls, here.receipts.verify, lambda: here.receipts.issue(["log.md"])),
        files.HANDOFFS: (here.handoffs.get,),
        files.RELEASE: (here.releases.recover, lambda: here.receipts.issue(["log.md"])),
        f"{files.RECEIPTS}/TX-0001.json": (here.receipts.ls, lambda: here.receipts.issue(["log.md"])),
    }
    with again:
        for attempt in attempts[place]:
            with pytest.raises(SegueError) as refused:
                attempt()
            assert refused.value.code in ("file.read", "file.write", "receipt.invalid")
            if refused.value.code != "receipt.invalid":
                assert str(folder.parent) in refused.value.message
        if place in ("", files.HANDOFFS):
            assert here.handoffs.restore().reason.startswith("unreadable handoff: cannot read")


@pytest.mark.requirement("continuity-unreadable")
@pytest.mark.parametrize("place", PLACES)
def test_nobody_is_kept_from_the_rest(
    opened: segue.Segue, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    folder = opened.continuity.place.folder
    close(folder / place if place else folder.parent)
    monkeypatch.setenv("SEGUE_DB", opened.store.name)
    monkeypatch.chdir(opened.directory)
    for command in ("status", "review"):
        assert main.run([command]) == 0
    assert ("cannot read" in capsys.readouterr().err) is (place in ("", files.JOURNAL))
