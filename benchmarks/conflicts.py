"""Contradictions: precision and recall on the labelled pairs, findings among unrelated sentences, milliseconds.

    python benchmarks/conflicts.py [--json] [--runs 5]

Each kind's precision is the share of its findings whose pair carries that label; recall is by label, since a label
does not say how a contradiction can be told. `dev` is what the detector was written by, `held` what was written
before it and not looked at, `independent` what others wrote who did not know it. What is below 0.8 is not served as a
contradiction, and then recall does not count it. Noise is how many of all pairs among 300 sentences of the
documentation are found. The time is the processor's, for one scan of 400 memories.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import Any

from segue.base import text
from segue.context import conflicts as packs
from segue.memories import conflicts, making
from segue.memories.claims import KINDS, claims

ROOT = Path(__file__).parent.parent
CORPUS = ROOT / "tests" / "corpora" / "conflicts"
FILES = ("labelled.jsonl", "independent.jsonl")
SENTENCES = 300
MEMORIES = 400
SHORTEST, LONGEST = 20, 300  # characters of a sentence that could be a memory
DAY = datetime(2026, 5, 4, tzinfo=UTC)


def read(part: str = "") -> list[dict[str, str]]:
    """Return the pairs of one part of the corpus, or all."""
    rows = [json.loads(line) for name in FILES for line in (CORPUS / name).read_text("utf-8").splitlines()]
    return [row for row in rows if part in ("", row["part"])]


def quality(part: str) -> dict[str, Any]:
    """Return precision by kind and recall by label over one part."""
    given: Counter[str] = Counter()
    right: Counter[str] = Counter()
    labels: Counter[str] = Counter()
    served: Counter[str] = Counter()
    for row in read(part):
        labels[row["label"]] += 1
        found = conflicts.scan_pair(row["first"], row["second"])
        if found is None:
            continue
        given[found.kind] += 1
        right[found.kind] += found.field == row["label"]
        served[row["label"]] += found.field == row["label"] and found.kind in conflicts.SERVED_KINDS
    return {
        "pairs": labels.total(),
        "precision": {kind: share(right[kind], given[kind]) for kind in KINDS} | {"all": share(right, given)},
        "found": {kind: given[kind] for kind in KINDS} | {"all": given.total()},
        "recall": {label: share(served[label], labels[label]) for label in ("value", "polarity")}
        | {"all": share(served["value"] + served["polarity"], labels.total() - labels["none"])},
    }


def share(part: int | Counter[str], whole: int | Counter[str]) -> float:
    """Return `part` of `whole`, 1 where there is nothing."""
    some, all_ = (each if isinstance(each, int) else each.total() for each in (part, whole))
    return round(some / all_, 4) if all_ else 1.0


def sentences() -> list[str]:
    """Return 300 sentences of the documentation, from all of it."""
    found: dict[str, None] = {}
    for path in sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]):
        for block in path.read_text("utf-8").split("\n\n"):
            if not block.startswith(("#", "|", "```", "    ")):
                each = text.sentences(" ".join(block.split()))
                found |= dict.fromkeys(one for one in each if SHORTEST <= len(one) <= LONGEST)
    every = list(found)
    return [every[place * len(every) // SENTENCES] for place in range(min(SENTENCES, len(every)))]


def noise() -> dict[str, int]:
    """Return how many of all pairs of sentences are found to contradict each other."""
    said = [claims(each) for each in sentences()]
    pairs = list(combinations(said, 2))
    return {"pairs": len(pairs), "found": sum(conflicts.conflict(*pair) is not None for pair in pairs)}


def milliseconds(texts: list[str], runs: int) -> float:
    """Return the best time for one scan of 400 memories with these texts."""
    memories = [
        making.made(making.item(each), memory_id=f"mem_{place:03}", now=DAY + timedelta(minutes=place))
        for place, each in enumerate((texts * MEMORIES)[:MEMORIES])
    ]
    times = []
    for _ in range(runs):
        start = time.process_time()
        packs.scan(memories)
        times.append(time.process_time() - start)
    return round(min(times) * 1_000, 1)


def measure(runs: int) -> dict[str, Any]:
    """Return all figures."""
    pairs = [row[side] for row in read() for side in ("first", "second")]
    ports = [f"The importer listens on port {8_000 + number}." for number in range(MEMORIES)]
    return {
        "served": sorted(conflicts.SERVED_KINDS),
        "corpus": {part or "all": quality(part) for part in ("dev", "held", "independent", "")},
        "noise": noise(),
        "400 memories, ms": {
            "sentences": milliseconds(sentences(), runs),
            "the corpus": milliseconds(pairs, runs),
            "one subject": milliseconds(ports, runs),
        },
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure the scan for contradictions.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    figures = measure(options.runs)
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    for measured in ("precision", "found", "recall"):
        names = list(figures["corpus"]["all"][measured])
        print(f"{measured:<12}" + "".join(f"{name:>10}" for name in names))
        for part, row in figures["corpus"].items():
            print(f"{part:<12}" + "".join(f"{row[measured][name]:>10}" for name in names))
        print()
    print(f"served: {', '.join(figures['served'])}")
    print(f"noise: {figures['noise']['found']} of {figures['noise']['pairs']} pairs of unrelated sentences")
    for name, value in figures["400 memories, ms"].items():
        print(f"{MEMORIES} memories, {name}: {value} ms")


if __name__ == "__main__":
    main()
