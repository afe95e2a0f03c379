"""Entities: precision and recall on the labelled corpus, microseconds for a memory, milliseconds for hostile texts.

    python benchmarks/entities.py [--json] [--runs 5]

Entities count as the same where their keys are (micro average over all texts). Half `a` was labelled by the author of
the detector before it was written, half `b` by somebody else from a description alone. The time of a memory is the
best of the runs over the whole corpus, for a text as it stands there and for 150 characters; the aim is 60 µs. The aim
for a hostile text of 100 KB is 50 ms.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from segue.search.entities import found, key

CORPUS = Path(__file__).parent.parent / "tests" / "corpora" / "entities"
SIZE = 100_000
USUAL = 150  # characters of a memory
HOSTILE = {
    "capitals": "A ",
    "capitalised words": "Ab ",
    "short sentences": "Ab. ",
    "lists": "Ab, Bc ",
    "lines": "Ab\n",
    "headings": "# Ab\n",
    "points": "a.",
    "slashes": "a/",
    "colons": "a::",
    "at signs": "a@",
    "handles": "@a ",
    "quotes": '"a ',
    "ticks": "`a",
    "fences": "```",
    "addresses": "http://a@",
    "underlines": "a_",
    "ideographs": "王小",
    "tools": "npm ",
}


def read(half: str) -> list[dict[str, Any]]:
    """Return the entries of one half of the corpus."""
    lines = (CORPUS / f"labelled-{half}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines if line]


def share(part: int, whole: int) -> float:
    """Return `part` of `whole`, 1 where there is nothing."""
    return round(part / whole, 4) if whole else 1.0


def quality(halves: str) -> dict[str, Any]:
    """Return precision and recall over some halves of the corpus."""
    texts, right, wrong, missed = 0, 0, 0, 0
    for half in halves:
        for entry in read(half):
            named, given = ({key(name) for name in names} for names in (entry["entities"], found(entry["text"])))
            texts += 1
            right += len(named & given)
            wrong += len(given - named)
            missed += len(named - given)
    return {
        "texts": texts,
        "entities": right + missed,
        "precision": share(right, right + wrong),
        "recall": share(right, right + missed),
    }


def microseconds(halves: str, runs: int) -> dict[str, float]:
    """Return the best time for a text of the corpus, and for 150 characters of it."""
    texts = [entry["text"] for half in halves for entry in read(half)]
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        for text in texts:
            found(text)
        times.append((time.perf_counter() - start) * 1e6)
    best = min(times)
    return {"a text": round(best / len(texts), 1), "150 characters": round(best * USUAL / sum(map(len, texts)), 1)}


def milliseconds(piece: str, runs: int) -> float:
    """Return the best time for 100 KB of `piece`, repeated."""
    text = (piece * (SIZE // len(piece) + 1))[:SIZE]
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        found(text)
        times.append(time.perf_counter() - start)
    return round(min(times) * 1000, 1)


def measure(runs: int) -> dict[str, Any]:
    """Return all figures, for the halves that there are."""
    halves = "".join(half for half in "ab" if (CORPUS / f"labelled-{half}.jsonl").exists())
    return {
        "corpus": {name: quality(name) for name in halves} | {"all": quality(halves)},
        "microseconds": microseconds(halves, runs),
        "hostile 100 KB, ms": {name: milliseconds(piece, runs) for name, piece in HOSTILE.items()},
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure the detector of entities on its corpus.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    figures = measure(options.runs)
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    print(f"{'half':<8}{'texts':>7}{'entities':>10}{'precision':>11}{'recall':>8}")
    for name, row in figures["corpus"].items():
        print(f"{name:<8}{row['texts']:>7}{row['entities']:>10}{row['precision']:>11.4f}{row['recall']:>8.4f}")
    print("\nmicroseconds")
    for name, value in figures["microseconds"].items():
        print(f"{name:<24}{value:>8.1f}")
    print("\nhostile texts of 100 KB, milliseconds")
    for name, value in figures["hostile 100 KB, ms"].items():
        print(f"{name:<24}{value:>8.1f}")


if __name__ == "__main__":
    main()
