"""Memories in a real store: how many a second are imported, how long a search takes, whether both databases agree.

    python benchmarks/memories.py [--json] [--sizes 1000,100000] [--postgres] [--overlap] [--folder DIR]

Made-up memories (see `search_rows.py`) are imported with text index and static vectors through the public API, 500 in
a transaction, fsync on. Then, in one warm process, 50 natural questions and one of eight frequent words are asked for
their ten best. `--postgres` measures a server of its own as well; `--overlap` compares the first ten hits of 200
questions over 5,000 memories between the two databases. Aims: 1,500 memories a second; on SQLite 40 ms for a question
at 100,000 and 200 ms at 1,000,000.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import resource
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import segue
from save import own_server
from search_rows import Source
from segue.base.time import from_microseconds
from segue.memories.making import item

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from segue.memories.item import Item

QUESTIONS = 50
REPEATED = 9  # times that the frequent words are asked for
OVERLAP_MEMORIES, OVERLAP_QUESTIONS = 5_000, 200


def items(source: Source, count: int) -> Iterator[Item]:
    """Yield the first `count` made-up memories as items, each with a place of its own in a source."""
    for number, memory in enumerate(source.memories(count)):
        yield item(
            f"{memory.text} ({number})",  # so that all texts differ
            kind="observation",
            origin="import",
            ref=f"made-up:{memory.thread or 'alone'}#{number}",
            entities=[memory.speaker],
            occurred_at=from_microseconds(memory.occurred_us),
            thread=memory.thread or "",
            position=memory.position if memory.thread else None,
        )


def measure(location: str | Path, count: int) -> dict[str, Any]:
    """Import and ask; return the figures, times in milliseconds."""
    source = Source()
    with segue.open(location) as store:
        started = time.perf_counter()
        store.memories.remember_all(items(source, count))
        importing = time.perf_counter() - started
    with segue.open(location) as store:
        started = time.perf_counter()
        store.search.find("first", k=10)
        first = time.perf_counter() - started
        asked = [_milliseconds(store, question) for question in source.questions(QUESTIONS, count)]
        frequent = [_milliseconds(store, source.heavy()) for _ in range(REPEATED)]
    return {
        "memories": count,
        "imported_per_second": round(count / importing),
        "first_search_ms": round(first * 1000),
        "p50_ms": round(statistics.median(asked), 1),
        "p95_ms": round(statistics.quantiles(asked, n=20)[-1], 1),
        "eight_frequent_words_ms": round(statistics.median(frequent), 1),
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "file_mb": location.stat().st_size >> 20 if isinstance(location, Path) else None,
    }


def _milliseconds(store: segue.Segue, question: str) -> float:
    started = time.perf_counter()
    store.search.find(question, k=10)
    return (time.perf_counter() - started) * 1000


def overlap(locations: Sequence[str | Path]) -> dict[str, Any]:
    """Return how much of the first ten hits two databases share, over all questions."""
    source = Source()
    found: list[list[list[str]]] = []
    for location in locations:
        with segue.open(location) as store:
            store.memories.remember_all(items(source, OVERLAP_MEMORIES))
            found.append(
                [
                    [hit.memory.content for hit in store.search.find(question, k=10)]
                    for question in source.questions(OVERLAP_QUESTIONS, OVERLAP_MEMORIES)
                ]
            )
    shares = [len(set(one) & set(two)) / max(len(set(one) | set(two)), 1) for one, two in zip(*found, strict=True)]
    return {
        "memories": OVERLAP_MEMORIES,
        "questions": len(shares),
        "overlap_of_first_ten": round(statistics.fmean(shares), 4),
        "same_order": round(statistics.fmean(one == two for one, two in zip(*found, strict=True)), 4),
    }


def run(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the figures, one database and size after another."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=options.folder)))
        sizes = [int(each) for each in options.sizes.split(",") if each]
        for size in sizes:
            yield {"database": "sqlite", **measure(folder / f"{size}.db", size)}
        if options.postgres:
            for size in sizes:
                with own_server() as url:
                    yield {"database": "postgresql", **measure(url, size)}
        if options.overlap:
            with own_server() as url:
                yield overlap([folder / "overlap.db", url])


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="Measure memories in a real store.")
    parser.add_argument("--json", action="store_true", help="print one JSON list")
    parser.add_argument("--sizes", default="1000,20000", help="numbers of memories, with commas")
    parser.add_argument("--postgres", action="store_true", help="measure PostgreSQL as well")
    parser.add_argument("--overlap", action="store_true", help="compare the two databases")
    parser.add_argument("--folder", help="where the stores are made")
    options = parser.parse_args()
    found = []
    for figures in run(options):
        found.append(figures)
        if not options.json:
            print("  ".join(f"{name} {value}" for name, value in figures.items() if value is not None), flush=True)
    if options.json:
        print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
