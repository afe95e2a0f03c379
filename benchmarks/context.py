"""Context packs from a real store: how long one takes, warm and cold, and what a conversation is sent.

    python benchmarks/context.py [--json] [--sizes 1000,10000] [--postgres] [--folder DIR]

Made-up memories (see `search_rows.py`), one in 25 a decision, a constraint, a procedure, a preference, a question or a
next step, are imported through the public API. Then, in one warm process, 60 natural questions are packed for the
profile claude at 4,000 tokens, each as the next turn of a session; the command `segue context` is started three times
from cold. `conversation` asks 20 turns on five subjects over 10,000 memories and compares the tokens of items that are
sent with items=new to those of sending each pack whole. Aims at 100,000: p50 60 ms, p95 150 ms, cold 2 s; 35 %.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import segue
from memories import items
from save import own_server
from search_rows import Source
from segue.memories.making import item

if TYPE_CHECKING:
    from collections.abc import Iterator

    from segue.memories.item import Item

QUESTIONS, COLD = 60, 3
BUDGET = 4_000
TURNS, SUBJECTS, CONVERSED = 20, 5, 10_000
_KINDS = ("decision", "constraint", "procedure", "preference", "question", "action")
_EVERY = 25


def seeded(source: Source, count: int) -> Iterator[Item]:
    """Yield made-up memories, some of each kind among them."""
    for number, each in enumerate(items(source, count)):
        if number % _EVERY:
            yield each
        else:
            yield item(
                each.content,
                kind=_KINDS[number // _EVERY % len(_KINDS)],
                origin="import",
                ref=each.provenance.ref,
                occurred_at=each.occurred_at,
            )


def measure(location: str | Path, count: int) -> dict[str, Any]:
    """Fill a store and pack; return the figures, times in milliseconds."""
    source = Source()
    gc.set_threshold(50_000)  # as `segue` does, its servers too
    with segue.open(location) as store:
        store.memories.remember_all(seeded(source, count))
    with segue.open(location) as store:
        started = time.perf_counter()
        store.context.assemble("first", model="claude", budget=BUDGET)
        first = time.perf_counter() - started
        questions = list(islice(source.questions(QUESTIONS, count), QUESTIONS))
        alone = [_packed(store, each, None)[0] for each in questions]
        turns = [_packed(store, each, f"session-{place // 10}") for place, each in enumerate(questions)]
    told = [milliseconds for milliseconds, _ in turns]
    return {
        "memories": count,
        "first_pack_ms": round(first * 1000),
        "p50_ms": round(statistics.median(told), 1),
        "p95_ms": round(statistics.quantiles(told, n=20)[-1], 1),
        "without_session_p50_ms": round(statistics.median(alone), 1),
        "items": round(statistics.fmean(number for _, number in turns), 1),
        "cold_command_ms": round(statistics.median(_cold(location, each) for each in questions[:COLD])),
    }


def _packed(store: segue.Segue, task: str, session: str | None) -> tuple[float, int]:
    started = time.perf_counter()
    wire = store.context.assemble(task, model="claude", budget=BUDGET, session=session).envelope()
    return (time.perf_counter() - started) * 1000, len(wire["items"])


def _cold(location: str | Path, task: str) -> float:
    environment = os.environ | {"SEGUE_DB": str(location)}
    started = time.perf_counter()
    command = [sys.executable, "-m", "segue", "context", task, "--model", "claude", "--json"]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - started) * 1000


def conversation(location: str | Path) -> dict[str, Any]:
    """Return what 20 turns are sent with items=new, and what sending each pack whole would take."""
    source = Source()
    sent = whole = 0
    with segue.open(location) as store:
        store.memories.remember_all(seeded(source, CONVERSED))
        subjects = list(islice(source.questions(SUBJECTS, CONVERSED), SUBJECTS))
        for turn in range(TURNS):
            # A subject is stayed with for four turns, asked for in other words each time.
            words = subjects[turn * SUBJECTS // TURNS].split()
            task = " ".join(words[: max(len(words) - turn % 4, 2)])
            serving = store.context.assemble(task, model="claude", budget=BUDGET, session="conversation", items="new")
            whole += serving.pack.selection.used
            sent += sum(each.cost for each in serving.items)
    return {
        "memories": CONVERSED,
        "turns": TURNS,
        "tokens_whole": whole,
        "tokens_new": sent,
        "share": round(sent / whole, 3),
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
        yield conversation(folder / "conversation.db")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="Measure context packs from a real store.")
    parser.add_argument("--json", action="store_true", help="print one JSON list")
    parser.add_argument("--sizes", default="1000,10000", help="numbers of memories, with commas")
    parser.add_argument("--postgres", action="store_true", help="measure PostgreSQL as well")
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
