"""Two processes that remember at once: nothing is lost, nothing is there twice."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import ingestion_samples as samples
import pytest
from memory_rows import listed, require_sound, rows_of, tally

import forks
import segue

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# Says "ready" when all is imported, waits for a line, and then does what it was given.
WORKER = """
import sys
from pathlib import Path
import segue

location, name, path = sys.argv[1:]
import sqlalchemy.dialects.sqlite, sqlalchemy.dialects.postgresql.psycopg
import segue.services.ingestion, segue.services.memories
from segue.embedding import registry
registry.load("static")
print("ready", flush=True)
sys.stdin.readline()
with segue.open(location) as opened:
    if path:
        opened.ingestion.ingest(Path(path))
    else:
        for number in range(20):
            opened.memories.remember(f"Both say {number}.", tags=[name])
            opened.memories.remember(f"Only {name} says {number}.", tags=["own"], entities=[name])
"""


def run(location: str, *arguments: tuple[str, str]) -> None:
    """Run one worker for each pair of arguments, all at the same time."""
    started = [
        subprocess.Popen(
            [forks.program("python"), "-c", WORKER, location, *each],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for each in arguments
    ]
    try:
        for process in started:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in started:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        for process in started:
            assert (process.communicate()[1], process.returncode) == ("", 0)
    finally:
        for process in started:
            process.kill()


@pytest.mark.usefixtures("own_migrations")
def test_two_processes_that_remember_at_once(location: str) -> None:
    """The first run included, in which both make the store."""
    run(location, ("ana", ""), ("ben", ""))
    with segue.open(location) as opened:
        found = {each.content: each for each in listed(opened)}
        assert len(found) == opened.memories.count() == 60
        for number in range(20):
            both = found[f"Both say {number}."]
            assert (both.occurrences, sorted(both.tags)) == (2, ["ana", "ben"])
            for name in ("ana", "ben"):
                assert found[f"Only {name} says {number}."].occurrences == 1
        assert len(rows_of(opened, "memory_sources")) == 80
        assert len([event for event in opened.store.events(1_000) if event.kind.startswith("memory.")]) == 80
        require_sound(opened)


def test_two_processes_that_read_the_same_file_at_once(kind: str, locate: Callable[[str], str], tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_bytes(samples.long_chat(1_200))
    with segue.open(locate(kind)) as clean:
        clean.ingestion.ingest(path)
        expected = tally(clean)
    location = locate(kind)
    run(location, ("ana", str(path)), ("ben", str(path)))
    with segue.open(location) as opened:
        assert tally(opened) == expected
        require_sound(opened)
