"""The hooks of a host, each as a process from cold: what a person waits for at every prompt.

    python benchmarks/hooks.py [--json] [--sizes 1000,100000] [--transcript 50] [--store FILE] [--folder DIR]

Made-up memories (see `context.py`) are imported through the public API; `--store` takes a store that is there already.
Each event is called five times, as a host does: JSON on standard input. Prompts are the beginnings of memories, so that
every one finds something; the transcript has as many megabytes as asked for, mostly what tools printed. `project` says
whether the memories are of the project that is worked in or all of another one, which is the worst case of a list.
Aims at 100,000: SessionStart and UserPromptSubmit 400 ms, Stop 200 ms, PreCompact 1 s at 50 MB.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import segue
from context import seeded
from search_rows import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

TIMES = 5
SESSION = "7d3c1a52-0c1e-4a39-9a57-0d6f5d3f1b11"
_MEGABYTE = 1_000_000


def transcript(path: Path, megabytes: int) -> None:
    """Write a transcript of that size: of each three calls one reads a file, one edits one, one runs tests."""
    source = "\n".join(f"{number:6}\tdef part_{number}(rows): return rows[{number}:]" for number in range(90))
    with path.open("w", encoding="utf-8") as file:
        number = 0
        while file.tell() < megabytes * _MEGABYTE:
            for record in _turn(number, source):
                file.write(json.dumps(record, separators=(",", ":")) + "\n")
            number += 1


def _turn(number: int, source: str) -> Iterator[dict[str, Any]]:
    at = f"2026-09-01T{8 + number // 3600 % 15:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"
    shared = {"isSidechain": False, "cwd": str(Path.cwd()), "sessionId": SESSION, "gitBranch": "main", "timestamp": at}
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "claude-x"}
    call = {"type": "tool_use", "id": f"toolu_{number}"}
    said = f"The reader of part {number % 50} keeps its rows, so I look at how the columns are named before going on."
    tool = (
        call | {"name": "Read", "input": {"file_path": f"src/part_{number % 50}.py"}},
        call
        | {"name": "Edit", "input": {"file_path": f"src/part_{number % 50}.py", "old_string": "a", "new_string": "b"}},
        call | {"name": "Bash", "input": {"command": f"pytest -q tests/test_part_{number % 9}.py"}},
    )[number % 3]
    shown = (source, "The file was updated.", "1 failed in 0.2s" if number % 2 else "3 passed in 0.1s")[number % 3]
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": shown, "is_error": number % 6 == 5}
    if number % 40 == 0:
        asked = f"Make part {number} quicker. Let's use orjson instead of json, because it is faster."
        yield _record(number, 0, shared, "user", {"role": "user", "content": asked})
    yield _record(number, 1, shared, "assistant", message | {"content": [{"type": "text", "text": said}]})
    yield _record(number, 2, shared, "assistant", message | {"content": [tool]})
    yield _record(number, 3, shared, "user", {"role": "user", "content": [result]}) | {
        "toolUseResult": {"stdout": shown}
    }


def _record(number: int, place: int, shared: dict[str, Any], kind: str, message: dict[str, Any]) -> dict[str, Any]:
    parent = f"u{number}-{place - 1}" if place else None
    return {"parentUuid": parent, **shared, "type": kind, "message": message, "uuid": f"u{number}-{place}"}


def called(event: str, store: Path, folder: Path, **members: Any) -> tuple[float, bytes, bytes]:
    """Call a hook as a host does; return milliseconds and both streams."""
    given = {"session_id": SESSION, "cwd": str(folder), "transcript_path": "", **members}
    command = [sys.executable, "-m", "segue", "hook", event]
    started = time.perf_counter()
    done = subprocess.run(
        command,
        input=json.dumps(given).encode(),
        env=os.environ | {"SEGUE_DB": str(store)},
        capture_output=True,
        check=True,
    )
    return (time.perf_counter() - started) * 1000, done.stdout, done.stderr


def prompts(store: Path) -> list[str]:
    """The beginnings of memories that lie far apart."""
    with closing(sqlite3.connect(store)) as connection:
        (count,) = connection.execute("SELECT max(rowid) FROM memories").fetchone()
        places = [(number + 1) * count // (TIMES + 1) for number in range(TIMES)]
        found = [
            connection.execute("SELECT content FROM memories WHERE rowid = ?", (place,)).fetchone() for place in places
        ]
    return [" ".join(row[0].split()[:9]) for row in found]


def measure(store: Path, folder: Path, recorded: Path) -> Iterator[dict[str, Any]]:
    """Yield the figures of each event over one store."""
    asked = prompts(store)
    claim = "All tests pass. I have saved this decision to memory."
    events: dict[str, list[dict[str, Any]]] = {
        "session-start": [{"source": "startup"}] * TIMES,
        "user-prompt-submit": [
            {"prompt": each, "session_id": f"prompt-{time.time_ns()}-{number}"} for number, each in enumerate(asked)
        ],
        "pre-compact": [{"transcript_path": str(recorded)}] * TIMES,
        "stop": [{"last_assistant_message": claim}] * TIMES,
    }
    for event, calls in events.items():
        found = [called(event, store, folder, **each) for each in calls]
        times = [each[0] for each in found]
        yield {
            "event": event,
            "median_ms": round(statistics.median(times)),
            "worst_ms": round(max(times)),
            "answered": sum(bool(each[1]) for each in found),
            "failed": sum(bool(each[2]) for each in found),
        }
    yield {"event": "all", "peak_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024}


def run(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the figures, one store after another."""
    with tempfile.TemporaryDirectory(dir=options.folder) as made:
        folder = Path(made)
        recorded = folder / f"{SESSION}.jsonl"
        transcript(recorded, options.transcript)
        if options.store:
            stores = [(Path(options.store), "given")]
        else:
            stores = []
            for size in (int(each) for each in options.sizes.split(",") if each):
                path = folder / f"{size}.db"
                with segue.open(path, directory=folder) as store:
                    store.memories.remember_all(seeded(Source(), size))
                stores.append((path, str(size)))
        for path, name in stores:
            for figures in measure(path, folder, recorded):
                yield {"memories": name, "project": "own", **figures}
            with closing(sqlite3.connect(path)) as connection, connection:
                connection.execute("UPDATE memories SET project = 'Other', project_key = 'other'")
            for figures in measure(path, folder, recorded):
                yield {"memories": name, "project": "other", **figures}


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="Measure the hooks of a host, each as a process from cold.")
    parser.add_argument("--json", action="store_true", help="print one JSON list")
    parser.add_argument("--sizes", default="1000,10000", help="numbers of memories, with commas")
    parser.add_argument("--transcript", type=int, default=50, help="megabytes of the transcript")
    parser.add_argument("--store", help="a store that is there already; it is changed")
    parser.add_argument("--folder", help="where the stores are made")
    options = parser.parse_args()
    found = []
    for figures in run(options):
        found.append(figures)
        if not options.json:
            print("  ".join(f"{name} {value}" for name, value in figures.items()), flush=True)
    if options.json:
        print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
