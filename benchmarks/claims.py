"""Claims of persistence: precision, recall and false alarms on the labelled texts, and megabytes read in a second.

    python benchmarks/claims.py [--json] [--runs 3]

`labelled-a` was written by the detector's author, `independent` by somebody who saw only the specification,
`everyday` by somebody who set out to break the detector. False alarms are counted over answers of coding agents that
claim nothing: any claim, and those of memory, which alone matter when an agent stops. The time is the processor's, best
of the runs.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from segue.continuity.claims import find

ROOT = Path(__file__).parent.parent
CORPUS = ROOT / "tests" / "corpora" / "claims"
FILES = ("labelled-a", "independent", "everyday")
MEGABYTE = 1_000_000


def read(name: str) -> list[dict[str, Any]]:
    """Return the labelled texts of one file of the corpus, or of all."""
    names = FILES if name == "all" else (name,)
    return [json.loads(line) for each in names for line in (CORPUS / f"{each}.jsonl").read_text("utf-8").splitlines()]


def quality(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Return what is found right and wrong in labelled texts."""
    claimed = [(row, find(row["text"])) for row in rows]
    right = sum(row["claim"] and bool(found) for row, found in claimed)
    answers = [found for row, found in claimed if row["kind"] == "answer" and not row["claim"]]
    return {
        "texts": len(rows),
        "claims": sum(row["claim"] for row in rows),
        "precision": share(right, sum(bool(found) for _, found in claimed)),
        "recall": share(right, sum(row["claim"] for row in rows)),
        "answers": len(answers),
        "false alarms": sum(bool(found) for found in answers),
        "of memory": sum(any(claim.of_memory for claim in found) for found in answers),
    }


def share(part: int, whole: int) -> float:
    """Return `part` of `whole`, 1 where there is nothing."""
    return round(part / whole, 4) if whole else 1.0


def seconds(text: str, runs: int) -> float:
    """Return the best time for one megabyte of `text`, repeated."""
    whole = (text * (MEGABYTE // len(text) + 1))[:MEGABYTE]
    times = []
    for _ in range(runs):
        start = time.process_time()
        find(whole)
        times.append(time.process_time() - start)
    return round(min(times), 2)


def measure(runs: int) -> dict[str, Any]:
    """Return all figures."""
    documents = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "docs").rglob("*.md")))
    answers = "\n\n".join(row["text"] for row in read("all") if row["kind"] == "answer")
    return {
        "quality": {name: quality(read(name)) for name in (*FILES, "all")},
        "1 MB, seconds": {"documentation": seconds(documents, runs), "answers": seconds(answers, runs)},
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure the detector of claims.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    figures = measure(options.runs)
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    print(f"{'':<12}" + "".join(f"{name:>14}" for name in figures["quality"]["all"]))
    for name, row in figures["quality"].items():
        print(f"{name:<12}" + "".join(f"{value:>14}" for value in row.values()))
    for name, value in figures["1 MB, seconds"].items():
        print(f"1 MB of {name}: {value} s")


if __name__ == "__main__":
    main()
