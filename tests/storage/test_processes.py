"""Many processes and one store: real processes, started at one moment."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import forks
import segue
from segue.storage.tables import SERVER_TABLES, metadata

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.usefixtures("own_migrations")

# Says "ready" when all is imported, waits for a line, saves as many packets as it is told and says each id.
# What later revisions than the fifth make.
LATER = SERVER_TABLES | {"replicas", "replicated_packets", "sources", "source_records", "receipt_heads", "packet_words"}

WRITER = """
import sys
import segue

location, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
import sqlalchemy.dialects.sqlite, sqlalchemy.dialects.postgresql.psycopg, segue.packets.schema, segue.services.packets
print("ready", flush=True)
sys.stdin.readline()
with segue.open(location) as s:
    for index in range(count):
        draft = {"ltm_version": "0.2", "goal": f"Goal {index} of {name}.", "next_step": "Go on.", "tags": [name, "all"]}
        print(s.packets.save(draft).id, flush=True)
"""

FIRST_RUNS = """
import os, sys, tempfile
import segue

def save(location, name):
    with segue.open(location) as s:
        s.packets.save({"ltm_version": "0.2", "goal": name, "next_step": "Go on."})

with tempfile.TemporaryDirectory() as folder:
    save(folder + "/segue.db", "Warm up.")
import psycopg, sqlalchemy.dialects.postgresql.psycopg
for location in sys.argv[1:]:
    children = []
    waiting, going = os.pipe()
    for index in range(6):
        child = os.fork()
        if child == 0:
            os.close(going)
            os.read(waiting, 1)  # returns at once for all of them when the parent closes the other end
            save(location, f"Goal {index}.")
            os._exit(0)
        children.append(child)
    os.close(waiting)
    os.close(going)
    for child in children:
        assert os.waitpid(child, 0)[1] == 0
"""


class Writers:
    """Processes that save packets into one store."""

    def __init__(self, location: str, count: int, packets: int, script: str = WRITER) -> None:
        self.processes = [
            subprocess.Popen(
                [forks.program("python"), "-c", script, location, f"writer-{index}", str(packets)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for index in range(count)
        ]

    def start(self) -> None:
        """Let all of them go at once."""
        for process in self.processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in self.processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()

    @property
    def running(self) -> bool:
        return any(process.poll() is None for process in self.processes)

    def first_of_each(self) -> set[str]:
        """Wait until each has saved one packet."""
        return {process.stdout.readline().strip() for process in self.processes if process.stdout}

    def end(self) -> set[str]:
        """Wait for all of them; return the ids that they were told."""
        told: set[str] = set()
        for process in self.processes:
            assert process.stdout is not None
            assert process.stderr is not None
            told |= set(process.stdout.read().split())  # through the same buffer as the lines before
            assert (process.stderr.read(), process.wait()) == ("", 0)
        return told


@pytest.fixture
def writers() -> Iterator[Callable[..., Writers]]:
    made: list[Writers] = []

    def new(location: str, count: int, packets: int, script: str = WRITER) -> Writers:
        made.append(Writers(location, count, packets, script))
        return made[-1]

    yield new
    for each in made:
        for process in each.processes:
            with process:
                process.kill()


def _every_packet(opened: segue.Segue) -> set[str]:
    """Read the whole store page by page, each packet whole."""
    seen: set[str] = set()
    cursor = None
    while True:
        page = opened.packets.ls(limit=100, cursor=cursor)
        for line in page.packets:
            assert len(line.tags) == 2, "a packet without its tags was seen"
        seen |= {line.id for line in page.packets}
        cursor = page.cursor
        if cursor is None:
            return seen


@pytest.mark.parametrize("packets", [15, pytest.param(50, marks=pytest.mark.soak)])
def test_eight_writers_and_a_reader(location: str, writers: Callable[..., Writers], packets: int) -> None:
    """No error: the first run included, in which all eight want to create the store."""
    started = writers(location, 8, packets)
    started.start()
    rounds, seen = 0, 0
    with segue.open(location) as opened:  # the reader, too, comes upon an empty place
        while started.running:
            count = len(_every_packet(opened))
            assert count >= seen
            seen = count
            rounds += 1
        told = started.end()
        assert rounds > 0
        assert len(told) == 8 * packets
        assert _every_packet(opened) == told
        assert opened.packets.count() == 8 * packets
        for index in range(8):
            lines = opened.packets.ls(tag=f"writer-{index}", limit=500).packets
            assert len(lines) == packets
        events = opened.store.events(1000)
        assert sorted(event.subject for event in events) == sorted(told)
        assert {event.kind for event in events} == {"packet.saved"}
        assert opened.store.doctor() == []
        assert opened.store.counts()["scopes"] == 1


def test_the_first_run_again_and_again(kind: str, locate: Callable[[str], str]) -> None:
    """Forks of one warm process come upon the empty place within the same few milliseconds."""
    locations = [locate(kind) for _ in range(3)]
    done = subprocess.run([forks.program("python"), "-c", FIRST_RUNS, *locations], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    for location in locations:
        with segue.open(location) as opened:
            assert opened.packets.count() == 6
            assert opened.store.counts()["scopes"] == 1
            assert opened.store.doctor() == []


def test_processes_that_start_together_migrate_once(kind: str, locate: Callable[[str], str]) -> None:
    """A migration that is run twice fails: there is what it makes. So each of them ran none, or the only one."""
    locations = [locate(kind) for _ in range(2)]
    for location in locations:
        with segue.open(location) as opened:
            opened.packets.save({"ltm_version": "0.2", "goal": "Older.", "next_step": "n"})
            with opened._database.write() as connection:
                for table in reversed(metadata.sorted_tables):
                    if table.name in LATER:
                        table.drop(connection)
                connection.exec_driver_sql("DROP INDEX packets_by_owner")
                connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0005'")
    done = subprocess.run([forks.program("python"), "-c", FIRST_RUNS, *locations], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    for location in locations:
        with segue.open(location) as opened:
            assert opened.packets.count() == 7
            assert opened.store.doctor() == []
        if kind == "sqlite":
            kept = [each.name for each in (Path(location).parent / "backups").iterdir()]
            assert kept == ["segue-schema-0005.db"]


def test_a_backup_while_four_write(location: str, tmp_path: Path, writers: Callable[..., Writers]) -> None:
    started = writers(location, 4, 40)
    started.start()
    before = started.first_of_each()
    with segue.open(location) as opened:
        paths = [tmp_path / f"backup-{index}.db" for index in range(3)]
        counts = [opened.store.backup(path).counts["packets"] for path in paths]
        told = started.end() | before
        assert opened.packets.count() == 160
    for path, count in zip(paths, counts, strict=True):
        assert sorted(each.name for each in tmp_path.glob(f"{path.name}*")) == [path.name]
        with segue.open(path) as copy:
            assert copy.store.doctor() == []
            there = _every_packet(copy)
            assert before <= there <= told
            assert len(there) == count
            for each in there:
                assert copy.packets.raw(each) == copy.packets.get(each).canonical
            assert {event.subject for event in copy.store.events(1000)} == there
    assert counts == sorted(counts)


def test_the_same_draft_from_many_processes_is_one_packet(location: str, writers: Callable[..., Writers]) -> None:
    with segue.open(location):
        pass
    script = WRITER.replace(" of {name}", "").replace('[name, "all"]', '["one", "all"]')
    started = writers(location, 4, 10, script)
    started.start()
    told = started.end()
    with segue.open(location) as opened:
        assert _every_packet(opened) == told
        assert len(told) == len(opened.store.events(1000)) == 10
        assert opened.store.doctor() == []
