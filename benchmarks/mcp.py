"""MCP over stdio: from the start of `segue mcp` to the first answer of a tool, and how long calls take.

    python benchmarks/mcp.py [--json] [--runs 7] [--calls 60] [--memories 1000 10000]

Start: each run starts a process, shakes hands and calls `resume` in a store with one packet; the figure is the median.
`first run` is the same in an empty home, where the tables are made first. Aim: 3 seconds.

Calls: one warm server over a store with so many memories and a packet; each call has other words. The figures are the
median and the 95th percentile in milliseconds, from the line that asks to the line that answers. `first call` is the
first `get_context` of a new server, which loads the index.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import segue
from segue.memories.making import item

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAM = str(Path(sys.executable).with_name("segue"))
EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "session-1.json"
AIM = 3.0
WHO = ("The importer", "The exporter", "Rotterdam", "Antwerp", "The ledger", "The scheduler", "The gateway")
DOES = ("reads", "writes", "refuses", "repeats", "checks", "counts", "sends")
WHAT = ("manifests", "seal numbers", "invoices", "time stamps", "addresses", "customs forms", "weights", "routes")
HOW = ("as a stream", "twice a day", "in batches", "without a lock", "after midnight", "by hand", "in order")


class Server:
    """A server process, and calls to it."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [PROGRAM, "mcp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(folder),
            cwd=folder,
        )
        client = {"name": "benchmark", "version": "1"}
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        self._request("initialize", hello)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdout is not None
        self._send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        answer = json.loads(self._process.stdout.readline())
        found: dict[str, Any] = answer["result"]
        return found

    def call(self, tool: str, **arguments: Any) -> None:
        """Call a tool, which must not refuse."""
        answer = self._request("tools/call", {"name": tool, "arguments": arguments})
        assert not answer.get("isError"), answer

    def stop(self) -> None:
        """Close stdin and wait for the end."""
        self._process.communicate()


def environment(folder: Path) -> dict[str, str]:
    """The variables of a home in `folder`."""
    return os.environ | {"HOME": str(folder), "SEGUE_HOME": str(folder / "segue"), "SEGUE_DB": ""}


def first_answer(folder: Path) -> float:
    """Return the seconds until a new server has answered the first call of a tool."""
    begun = time.perf_counter()
    server = Server(folder)
    answered = server._request("tools/call", {"name": "resume", "arguments": {}})
    taken = time.perf_counter() - begun
    assert answered["content"]
    server.stop()
    return taken


def start(runs: int) -> dict[str, float]:
    """Return the time of the first run in an empty home, and the median of later ones."""
    with tempfile.TemporaryDirectory(prefix="segue-benchmark-") as name:
        folder = Path(name)
        first = first_answer(folder)
        with segue.open(folder / "segue" / "segue.db", directory=folder) as store:
            store.packets.save(EXAMPLE.read_bytes())
        taken = [first_answer(folder) for _ in range(runs)]
    return {"first run": round(first, 3), "seconds": round(statistics.median(taken), 3)}


def sentence(chance: random.Random, number: int) -> str:
    """A sentence that no other memory says."""
    return f"{chance.choice(WHO)} {chance.choice(DOES)} {chance.choice(WHAT)} {chance.choice(HOW)}, case {number}."


def calls(memories: int, count: int) -> dict[str, Any]:
    """Return what calls take over a store with so many memories."""
    chance = random.Random(memories)
    with tempfile.TemporaryDirectory(prefix="segue-benchmark-") as name:
        folder = Path(name)
        with segue.open(folder / "segue" / "segue.db", directory=folder) as store:
            store.packets.save(EXAMPLE.read_bytes())
            items = (item(sentence(chance, number), ref=f"s#{number}") for number in range(memories))
            store.memories.remember_all(items)
        server = Server(folder)
        begun = time.perf_counter()
        server.call("get_context", task=sentence(chance, 0))
        found: dict[str, Any] = {"first call": _milliseconds(time.perf_counter() - begun)}
        asked: dict[str, Callable[[int], dict[str, Any]]] = {
            "get_context": lambda number: {"task": sentence(chance, number), "session_id": "s", "items": "new"},
            "query_memory": lambda number: {"find": sentence(chance, number)},
            "remember_this": lambda number: {"content": sentence(chance, memories + number)},
            "resume": lambda _: {},
        }
        for tool, arguments in asked.items():
            found[tool] = _timed(server, tool, [arguments(number) for number in range(count)])
        server.stop()
    return found


def _timed(server: Server, tool: str, given: list[dict[str, Any]]) -> dict[str, float]:
    taken = []
    for arguments in given:
        begun = time.perf_counter()
        server.call(tool, **arguments)
        taken.append(time.perf_counter() - begun)
    return {"p50": _milliseconds(statistics.median(taken)), "p95": _milliseconds(statistics.quantiles(taken, n=20)[-1])}


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1_000, 1)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure the MCP server over stdio.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--calls", type=int, default=60)
    parser.add_argument("--memories", type=int, nargs="*", default=[1_000, 10_000])
    options = parser.parse_args()
    figures: dict[str, Any] = {
        "aim": AIM,
        "start": start(options.runs),
        "calls": {size: calls(size, options.calls) for size in options.memories},
    }
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    print(f"start to first answer  {figures['start']['seconds']:.2f} s   aim {AIM:.0f} s")
    print(f"first run of a store   {figures['start']['first run']:.2f} s")
    for size, found in figures["calls"].items():
        print(f"\n{size:,} memories: first call {found.pop('first call'):.0f} ms")
        for tool, taken in found.items():
            print(f"  {tool:<14} p50 {taken['p50']:>7.1f} ms   p95 {taken['p95']:>7.1f} ms")


if __name__ == "__main__":
    main()
