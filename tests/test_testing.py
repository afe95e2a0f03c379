"""`segue.testing`: what it gives to the tests of those who build on Segue."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import segue
from segue import testing

if TYPE_CHECKING:
    from segue.app import Segue

OTHERS = """
from datetime import UTC, datetime, timedelta

import pytest

pytest_plugins = ["segue.testing"]
places = []


@pytest.mark.parametrize("number", [1, 2])
def test_it_remembers(segue_store, number):
    places.append(segue_store.store.name)
    assert segue_store.memories.count() == 0
    segue_store.memories.remember(f"The importer reads record {number} at a time.")
    assert len(segue_store.context.assemble("change the importer").refs) == 1
    assert len(set(places)) == number


def test_time_stands(segue_store, segue_clock):
    assert segue_store.now() == segue_clock() == datetime(2026, 1, 1, 12, tzinfo=UTC)
    segue_clock.advance(days=2, seconds=0.5)
    assert segue_store.now() == datetime(2026, 1, 3, 12, 0, 0, 500_000, tzinfo=UTC)
    memory = segue_store.memories.remember("It is late.").memory
    assert memory.captured_at == segue_clock()


def test_nothing_of_the_user_is_touched(segue_store, tmp_path):
    segue_store.packets.save({"ltm_version": "0.2", "goal": "Ship it.", "next_step": "Test it."})
    assert segue_store.packets.count() == 1
"""


def test_the_fixtures_serve_the_tests_of_others(tmp_path: Path) -> None:
    """A run of its own, in which all warnings are errors, as a user of the library would start it."""
    (tmp_path / "test_others.py").write_text(OTHERS, "utf-8")
    home = tmp_path / "home"
    home.mkdir()
    environment = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", "test_others.py"],
        cwd=tmp_path,
        env=environment | {"HOME": str(home), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout
    assert list(home.rglob("*")) == []


def test_a_store_is_its_own_and_is_gone_afterwards() -> None:
    with testing.store() as one, testing.store() as two:
        one.memories.remember("Only here.")
        assert (one.memories.count(), two.memories.count()) == (1, 0)
        assert one.now() == two.now() == testing.START
        assert one.directory.is_dir()
        assert list(one.directory.iterdir()) == []
        assert one.project.name == "work"
        path = Path(one.store.name)
        assert path.is_file()
        assert one.home == path.parent
    assert not path.parent.exists()


def test_it_is_gone_after_an_error_too() -> None:
    paths = []

    def failing(opened: Segue) -> None:
        paths.append(Path(opened.store.name))
        raise KeyError

    with pytest.raises(KeyError), testing.store() as opened:
        failing(opened)
    assert [path.parent.exists() for path in paths] == [False]


def test_another_clock_and_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEGUE_EMBEDDER", "nonsense")
    monkeypatch.setenv("SEGUE_REDACTION", "mask")
    at = datetime(2030, 1, 1, tzinfo=timezone(timedelta(hours=2)))
    with testing.store(lambda: at, embedder="none") as opened:
        memory = opened.memories.remember("It is so.").memory
        assert memory.captured_at == at
        secret = "AK" + "IA" + "Q7Z2" * 4
        with pytest.raises(segue.SegueError):  # whatever the user has set
            opened.memories.remember(f"Use {secret}.")


def test_where_there_is_no_folder_in_memory_a_temporary_one_serves(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(testing, "_IN_MEMORY", tmp_path / "nowhere")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with testing.store(embedder="none") as opened:
        assert Path(opened.store.name).is_relative_to(tmp_path)
        assert opened.memories.remember("It is so.").verdict == "new"
    assert list(tmp_path.iterdir()) == []


def test_the_clock() -> None:
    clock = testing.FakeClock()
    assert clock() == clock() == testing.START == datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert clock.advance(hours=1) == clock() == testing.START + timedelta(hours=1)
    assert clock.advance(hours=-2) == testing.START - timedelta(hours=1)
    assert testing.FakeClock(datetime(2020, 2, 29, tzinfo=UTC)).advance(days=1) == datetime(2020, 3, 1, tzinfo=UTC)
    with pytest.raises(ValueError, match="offset"):
        testing.FakeClock(datetime(2026, 1, 1))  # noqa: DTZ001 - that is what is wrong with it
