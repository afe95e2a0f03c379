"""Redaction: precision and recall on the labelled corpus, and milliseconds for hostile texts of 256 KB.

    python benchmarks/redaction_corpus.py [--json] [--runs 3]

A label counts as found where a text that carries it is reported with it, as wrong where a clean text is reported with
it. Over all, a text counts as found where all its labels are reported. The time of a hostile text is the best of the
runs, the scan alone; the aim is under 50 ms.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

from segue.base import redaction

CORPUS = Path(__file__).parent.parent / "tests" / "corpora" / "redaction"
SIZE = 256 * 1024
HOSTILE = {
    "one letter": "a",
    "slashes": "/",
    "path roots": "/home",
    "paths": "/home/",
    "drive letters": "c:/a ",
    "half tokens": "gh" + "p_" + "a" * 35,
    "half web tokens": "ey" + "Ja.",
    "key headers": "-----BE" + "GIN ",
    "connection strings": "postgres://a:",
    "pairs": "host=a ",
    "near misses of variables": "A_B=$x ",
    "near misses of hosts": "self.local ",
    "near misses of ports": "port 1 ",
    "near misses of headers": "bearer <xxxxxxxx> ",
    "UNC paths": "\\\\a\\",
}


def read(name: str) -> list[dict[str, Any]]:
    """Return the entries of one file of the corpus."""
    return [json.loads(line) for line in (CORPUS / name).read_text("utf-8").splitlines() if line]


def reported(entry: dict[str, Any]) -> set[str]:
    """Return the labels that the redactor gives for an entry, with `ext/` beyond the core set."""
    found = redaction.scan_text("".join(entry["pieces"]))
    return {finding.kind.removeprefix(finding.path + "/") for finding in found}


def share(part: int, whole: int) -> float:
    """Return `part` of `whole`, 1 where there is nothing."""
    return round(part / whole, 4) if whole else 1.0


def quality(halves: str) -> dict[str, Any]:
    """Return precision and recall, by label and over all, for some halves of the corpus."""
    carried, found, wrong = Counter[str](), Counter[str](), Counter[str]()
    texts, complete, flagged = 0, 0, 0
    for half in halves:
        for entry in read(f"findings-{half}.jsonl"):
            labels, given = set(entry["labels"]), reported(entry)
            carried.update(labels)
            found.update(labels & given)
            texts += 1
            complete += labels <= given
        for entry in read(f"clean-{half}.jsonl"):
            given = reported(entry)
            wrong.update(given)
            flagged += bool(given)
    by_label = {
        label: {
            "texts": carried[label],
            "precision": share(found[label], found[label] + wrong[label]),
            "recall": share(found[label], carried[label]),
        }
        for label in sorted(carried | wrong)
    }
    overall = {"texts": texts, "precision": share(complete, complete + flagged), "recall": share(complete, texts)}
    return {"overall": overall, "labels": by_label}


def milliseconds(piece: str, runs: int) -> float:
    """Return the best time for scanning 256 KB of `piece`, repeated."""
    text = (piece * (SIZE // len(piece) + 1))[:SIZE]
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        redaction.scan_text(text)
        times.append(time.perf_counter() - start)
    return round(min(times) * 1000, 1)


def measure(runs: int) -> dict[str, Any]:
    """Return all figures."""
    redaction.scan_text("warm")
    return {
        "corpus": {"all": quality("ab"), "authors": quality("a"), "specification only": quality("b")},
        "hostile 256 KB, ms": {name: milliseconds(piece, runs) for name, piece in HOSTILE.items()},
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure the redactor on its corpus.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    figures = measure(options.runs)
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    print(f"{'':<24}{'texts':>7}{'precision':>11}{'recall':>8}")
    rows = {name: part["overall"] for name, part in figures["corpus"].items()} | figures["corpus"]["all"]["labels"]
    for name, row in rows.items():
        print(f"{name:<24}{row['texts']:>7}{row['precision']:>11.4f}{row['recall']:>8.4f}")
    print("\nhostile texts of 256 KB, milliseconds")
    for name, value in figures["hostile 256 KB, ms"].items():
        print(f"{name:<28}{value:>8.1f}")


if __name__ == "__main__":
    main()
