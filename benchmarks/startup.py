"""Start-up: how long `segue --version` and `segue check` take, as processes of their own.

    python benchmarks/startup.py [--json] [--runs 15]

Each figure is the median of all runs, and its ratio to that of `python -c pass`; the commands take turns, so that a
busy moment of the machine hits all of them. One round before warms the disk's cache. Aim: 0.25 seconds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PROGRAM = str(Path(sys.executable).with_name("segue"))
EXAMPLE = str(Path(__file__).resolve().parents[1] / "examples" / "session-2.json")
BARE = "python -c pass"
COMMANDS = {
    BARE: [sys.executable, "-c", "pass"],
    "segue --version": [PROGRAM, "--version"],
    "segue check": [PROGRAM, "check", EXAMPLE],
}
AIM = 0.25


def seconds(command: list[str]) -> float:
    """Return how long the command takes from its start to its end."""
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def measure(runs: int) -> dict[str, Any]:
    """Return the median time of each command, and its ratio to a bare interpreter."""
    for command in COMMANDS.values():
        seconds(command)
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(runs):
        for name, command in COMMANDS.items():
            taken[name].append(seconds(command))
    medians = {name: statistics.median(each) for name, each in taken.items()}
    return {
        name: {"seconds": round(median, 4), "ratio": round(median / medians[BARE], 2)}
        for name, median in medians.items()
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure the start-up of commands.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    figures = measure(options.runs)
    if options.json:
        print(json.dumps({"aim": AIM, "commands": figures}, indent=2))
        return
    for name, found in figures.items():
        print(f"{name:<16} {found['seconds'] * 1000:>6.0f} ms   {found['ratio']:>5.1f} x")
    print(f"aim              {AIM * 1000:>6.0f} ms")


if __name__ == "__main__":
    main()
