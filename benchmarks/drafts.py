"""Drafts of packets: precision and recall of each field on twenty labelled sessions, and the time that they take.

    python benchmarks/drafts.py [--json] [--errors]

An entry of a draft is right where a label says the same (see tests/corpora/drafts/README.md); precision is the share of
the entries that are, recall the share of the labels that some entry says. The tags `draft`, host and branch are facts
and are not counted; the files are those that the attempts name. `--errors` prints what is wrong and what is missing.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from segue.conversions.draft import NO_GOAL, NO_NEXT_STEP, draft
from segue.transcripts.reader import read_file

CORPUS = Path(__file__).parent.parent / "tests" / "corpora" / "drafts"
NOW = datetime(2026, 11, 30, tzinfo=UTC)
FIELDS = ("goal", "decisions", "constraints", "attempts", "files", "open_questions", "next_step", "tags")

_NAMED = re.compile(r"(?:^Change |changes? to |; )(?P<names>[^\s,]+(?:, [^\s,]+)*(?: and (?!\d)[^\s,]+)?)")
_WIDTH = 15


@dataclass(slots=True)
class Score:
    """What one field of one or more drafts says: counts, and the entries and labels that are wrong or missing."""

    entries: int = 0
    right: int = 0
    labels: int = 0
    found: int = 0
    wrong: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def add(self, other: Score) -> None:
        """Count the other one in."""
        self.entries, self.right = self.entries + other.entries, self.right + other.right
        self.labels, self.found = self.labels + other.labels, self.found + other.found
        self.wrong += other.wrong
        self.missed += other.missed

    @property
    def precision(self) -> float:
        """The share of the entries that are right; 1 where there are none."""
        return round(self.right / self.entries, 4) if self.entries else 1.0

    @property
    def recall(self) -> float:
        """The share of the labels that are found; 1 where there are none."""
        return round(self.found / self.labels, 4) if self.labels else 1.0


def names() -> list[str]:
    """Return the names of the labelled sessions."""
    return sorted(path.stem for path in CORPUS.glob("*.jsonl"))


def labels_of(name: str) -> dict[str, Any]:
    """Return what a careful reader would put into the packet of that session."""
    labels: dict[str, Any] = json.loads((CORPUS / f"{name}.labels.json").read_text("utf-8"))
    return labels


def drafted(name: str) -> dict[str, Any]:
    """Return the draft of that session, as a hook makes it, without the tags that are facts."""
    packet = draft(read_file(CORPUS / f"{name}.jsonl"), now=NOW, project_name=None, project_ref=None, branch="main")
    packet["tags"] = [tag for tag in packet["tags"] if tag not in ("draft", "claude-code", "codex")]
    return packet


def scores(name: str) -> dict[str, Score]:
    """Return the score of each field for that session."""
    packet, labels = drafted(name), labels_of(name)
    return {each: _score(entries(packet, each), labels[each], each) for each in FIELDS}


def entries(packet: dict[str, Any], name: str) -> list[dict[str, str]]:
    """Return what a draft says in that field, each entry with its `text` and, for attempts, its `outcome`."""
    if name in ("goal", "next_step"):
        text = packet[name]
        return [] if text in (NO_GOAL, NO_NEXT_STEP) else [{"text": text}]
    if name == "decisions":
        return [{"text": item["what"]} for item in packet.get(name, [])]
    attempts = packet.get("attempts", [])
    if name == "attempts":
        kept = [item for item in attempts if not item["tried"].startswith("Change ")]
        return [{"text": f"{item['tried']} {item['learned']}", "outcome": item["outcome"]} for item in kept]
    if name == "files":
        named = [
            found["names"] for item in attempts for found in _NAMED.finditer(f"{item['tried']}\n{item['learned']}")
        ]
        paths = [path.rstrip(".;") for text in named for path in re.split(r", | and ", text)]
        return [{"text": path} for path in dict.fromkeys(paths) if "." in path or "/" in path or path == "Dockerfile"]
    if name == "tags":
        return [{"text": tag} for tag in packet["tags"]]
    return [{"text": text} for text in packet.get(name, [])]


def _score(said: list[dict[str, str]], labels: Any, name: str) -> Score:
    if name in ("files", "tags"):
        return _score_of_names([entry["text"] for entry in said], labels, all_wanted=name == "files")
    wanted = labels if isinstance(labels, list) else [labels]
    score = Score(len(said), labels=sum(not label.get("optional") for label in wanted))
    told: set[int] = set()
    for entry in said:
        fitting = {number for number, label in enumerate(wanted) if agrees(entry, label)}
        if fitting - told:
            score.right += 1
        else:
            score.wrong.append(" / ".join(entry.values()))
        told |= fitting
    for number, label in enumerate(wanted):
        if not label.get("optional"):
            score.found += number in told
            score.missed += [] if number in told else [label["says"]]
    return score


def _score_of_names(said: list[str], labels: list[str], *, all_wanted: bool) -> Score:
    right = [name for name in said if name in labels]
    missed = [label for label in labels if label not in said] if all_wanted else []
    found = len(right) if all_wanted else bool(right)
    wanted = len(labels) if all_wanted else 1
    return Score(len(said), len(right), wanted, found, [name for name in said if name not in labels], missed)


def agrees(entry: dict[str, str], label: dict[str, Any]) -> bool:
    """Whether an entry says what a label says: an alternative of each group of words, and one of the outcomes."""
    text = entry["text"].casefold()
    if "outcome" in label and entry.get("outcome") not in label["outcome"].split("|"):
        return False
    return all(any(word.casefold() in text for word in group) for group in label["words"])


def measure() -> dict[str, Score]:
    """Return the score of each field, and of all."""
    total = {each: Score() for each in (*FIELDS, "all")}
    for name in names():
        for each, score in scores(name).items():
            for into in (each, "all"):
                total[into].add(score)
    return total


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure the drafts.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--errors", action="store_true", help="print what is wrong and what is missing")
    options = parser.parse_args()
    start = time.perf_counter()
    total = measure()
    seconds = round(time.perf_counter() - start, 3)
    if options.json:
        figures: dict[str, Any] = {
            each: {
                "entries": score.entries,
                "labels": score.labels,
                "precision": score.precision,
                "recall": score.recall,
            }
            for each, score in total.items()
        }
        print(json.dumps(figures | {"sessions": len(names()), "seconds": seconds}, indent=2))
        return
    if options.errors:
        for name in names():
            for each, score in scores(name).items():
                for text in score.wrong:
                    print(f"{name}: {each}: wrong: {text}")
                for text in score.missed:
                    print(f"{name}: {each}: missed: {text}")
    print(f"{'':<{_WIDTH}}{'entries':>10}{'precision':>11}{'labels':>8}{'recall':>8}")
    for each, score in total.items():
        print(f"{each:<{_WIDTH}}{score.entries:>10}{score.precision:>11}{score.labels:>8}{score.recall:>8}")
    print(f"{len(names())} sessions in {seconds} s")


if __name__ == "__main__":
    main()
