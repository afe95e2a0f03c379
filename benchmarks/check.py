"""Packets: how many are checked per second in one process, redaction included.

    python benchmarks/check.py [--json] [--seconds 2]

A check is what `segue check` does: strict JSON, the schema, the redactor with all of its patterns, the writing rules.
Measured are clean packets of 4 KB and of 16 KB, made of prose. Aims: 4,000 and 800 packets a second.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from typing import Any

from segue.packets import checking

WORDS = (
    "index cutover replica shard queue retry token schema backup cursor ledger tenant invoice worker batch cache lock"
    " quota region vendor audit parser export import release rollback metric budget the a of for and with before after"
).split()
SIZES = (4, 16)
AIMS = {4: 4_000, 16: 800}


def sentence(source: random.Random, words: int = 16) -> str:
    """Return a sentence of so many words."""
    return " ".join(source.choice(WORDS) for _ in range(words)).capitalize() + "."


def packet(size: int, source: random.Random) -> bytes:
    """Return a clean packet of about `size` bytes that uses every kind of field."""
    document: dict[str, Any] = {
        "ltm_version": "0.2",
        "id": f"packet-{source.randrange(10**12):012d}",
        "created_at": "2026-05-04T09:30:00Z",
        "project": {"name": "importer", "ref": "github.com/example/importer"},
        "goal": sentence(source),
        "success_criteria": [],
        "constraints": [],
        "decisions": [],
        "attempts": [],
        "open_questions": [],
        "next_step": sentence(source),
        "tags": ["importer", "batch"],
    }
    while (room := size - len(json.dumps(document).encode())) > 250:
        document["success_criteria"] += [sentence(source, 12)][: len(document["success_criteria"]) < 16]
        document["constraints"] += [sentence(source, 12)][: len(document["constraints"]) < 16]
        decision = {"what": sentence(source), "why": sentence(source), "consequences": sentence(source), "locked": True}
        document["decisions"] += [decision] if room > 1_200 else []
        attempt = {"tried": sentence(source), "outcome": "failed", "learned": sentence(source)}
        document["attempts"] += [attempt] if room > 900 else []
        document["open_questions"] += [sentence(source)] if room > 700 else [sentence(source, room // 10)]
    return json.dumps(document).encode()


def rate(packets: list[bytes], seconds: float) -> float:
    """Return how many of the packets are checked per second."""
    for data in packets:
        report = checking.check(data)
        assert report.exit_code == 0, report
    count, start = 0, time.perf_counter()
    while (passed := time.perf_counter() - start) < seconds:
        for data in packets:
            checking.check(data)
        count += len(packets)
    return count / passed


def measure(seconds: float) -> dict[str, Any]:
    """Return the figures for each size."""
    source = random.Random(7)
    figures = {}
    for size in SIZES:
        packets = [packet(size * 1024, source) for _ in range(50)]
        figures[f"{size} KB"] = {
            "bytes": round(sum(map(len, packets)) / len(packets)),
            "packets per second": round(rate(packets, seconds)),
            "aim": AIMS[size],
        }
    return figures


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure checking.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seconds", type=float, default=2.0)
    options = parser.parse_args()
    figures = measure(options.seconds)
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    for name, found in figures.items():
        print(f"{name:>6} ({found['bytes']:,} bytes)  {found['packets per second']:>7,}/s   aim {found['aim']:,}/s")


if __name__ == "__main__":
    main()
