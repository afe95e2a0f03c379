"""MCP: how long it takes from the start of `segue mcp` to the first answer of a tool, over stdio.

    python benchmarks/mcp_start.py [--json] [--runs 7]

Each run starts a process, shakes hands, and calls `resume` in a store with one packet; the figure is the median.
`first run` is the same in an empty home, where the tables are made first. Aim: 3 seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PROGRAM = str(Path(sys.executable).with_name("segue"))
EXAMPLE = str(Path(__file__).resolve().parents[1] / "examples" / "session-1.json")
AIM = 3.0
HANDSHAKE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
CALL = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "resume", "arguments": {}}}


def first_answer(folder: Path) -> float:
    """Return the seconds until a new server has answered the first call of a tool."""
    start = time.perf_counter()
    with subprocess.Popen(
        [PROGRAM, "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=_environment(folder),
        cwd=folder,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for messages in ([HANDSHAKE], [READY, CALL]):
            process.stdin.write(b"".join(json.dumps(each).encode() + b"\n" for each in messages))
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            assert "result" in answer, answer
        taken = time.perf_counter() - start
        process.stdin.close()
    return taken


def _environment(folder: Path) -> dict[str, str]:
    return os.environ | {"HOME": str(folder), "SEGUE_HOME": str(folder / "segue"), "SEGUE_DB": ""}


def measure(runs: int) -> dict[str, Any]:
    """Return the time of the first run in an empty home, and the median of later ones."""
    with tempfile.TemporaryDirectory(prefix="segue-benchmark-") as name:
        folder = Path(name)
        first = first_answer(folder)
        subprocess.run(
            [PROGRAM, "save", EXAMPLE], check=True, capture_output=True, env=_environment(folder), cwd=folder
        )
        taken = [first_answer(folder) for _ in range(runs)]
    return {"aim": AIM, "first run": round(first, 3), "seconds": round(statistics.median(taken), 3)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure the start of the MCP server.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    figures = measure(options.runs)
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    print(f"start to first answer  {figures['seconds']:.2f} s   aim {figures['aim']:.0f} s")
    print(f"first run of a store   {figures['first run']:.2f} s")


if __name__ == "__main__":
    main()
