"""Killed in the middle of a refresh: the source and its memories are of one version, the old one or the new."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import killing
import pytest
import source_versions

import segue

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.usefixtures("own_migrations"), pytest.mark.requirement("sources-refresh")]
REFRESH = f"{Path(source_versions.__file__)}:refresh"


def _add(location: str | Path, directory: Path) -> None:
    with segue.open(location, directory=directory, embedder="none") as opened:
        sources = opened.sources.reading(source_versions.Version("0000"))
        sources.add(sources.look(source_versions.PLACE))


def _version(opened: segue.Segue) -> str:
    """The version that all of a store says, after it has been seen to be whole."""
    assert opened.store.doctor() == []
    said = {each.content.rpartition(" ")[2] for each in opened.memories.ls(statuses=["active"]).memories}
    kept = {each.body.strip().rpartition(" ")[2] for each in opened.sources.records("notes")}
    (version,) = said | kept
    assert opened.memories.count(statuses=["active"]) == len(opened.sources.records("notes")) == 3
    return version.rstrip(".")


# At some statements; at every single write of the system in `make soak`.
@pytest.mark.parametrize(("step", "tracing"), [(24, "never"), pytest.param(1, "auto", marks=pytest.mark.soak)])
def test_killed_at_a_write(tmp_path: Path, step: int, tracing: str) -> None:
    template = tmp_path / "template"
    _add(template / "segue.db", tmp_path)
    (tmp_path / "runs").mkdir()
    seen = set()
    for run in killing.runs(REFRESH, template, tmp_path / "runs", step=step, tracing=tracing):
        with segue.open(run.folder / "segue.db", directory=run.folder, embedder="none") as opened:
            version = _version(opened)
            assert version in ("0000", run.folder.name), run
            assert version == run.folder.name or not run.acknowledged
            seen.add((version == run.folder.name, run.killed))
            sources = opened.sources.reading(source_versions.Version("last"))
            assert sources.refresh("notes").counts["new"] == 1  # it goes on from there
            assert _version(opened) == "last"
    assert {(False, True), (True, False)} <= seen


@pytest.mark.parametrize("step", [48, pytest.param(1, marks=pytest.mark.soak)])
def test_a_client_of_postgresql_killed_at_what_it_sends(
    tmp_path: Path, locate: Callable[[str], str], step: int
) -> None:
    if not killing.can_trace():
        pytest.skip("processes cannot be traced here")
    location = locate("postgres")
    _add(location, tmp_path)
    for name in ("runs", "empty"):
        (tmp_path / name).mkdir()
    with segue.open(location, directory=tmp_path, embedder="none") as opened:
        before, points = "0000", 0
        for run in killing.runs(REFRESH, tmp_path / "empty", tmp_path / "runs", step=step, location=location):
            version = _version(opened)
            assert version in (before, run.folder.name), run
            assert version == run.folder.name or not run.acknowledged
            before = version
            points += run.killed
    assert points >= 3
