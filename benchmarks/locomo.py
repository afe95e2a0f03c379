"""Search on long conversations: the share of a question's evidence among the first hits, and milliseconds a query.

    python benchmarks/locomo.py DATA.json.gz [--embedder static|semantic|none] [--json]

DATA is a list of conversations, each with `turns` (id, session, at, speaker, text, perhaps the caption of a picture)
and `questions` (question, category, evidence: ids of turns). All turns are loaded through the public API into one
fresh store: who spoke as the entity, with time, thread (the session) and position. A question is asked of its own
conversation.
Beside it the same questions go to plain FTS5. Without DATA, or where it is not there, a message and nothing else.
With --json the last line of stdout is the result as one JSON object.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import segue
from segue.memories.making import item

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from segue.memories.item import Item

CUTS = (5, 10, 20)
MOST = 50  # hits that are looked at for the reciprocal rank


def read(path: Path) -> list[dict[str, Any]]:
    """Return the conversations of the file at `path`, packed or not."""
    data = path.read_bytes()
    found: list[dict[str, Any]] = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    return found


def items(conversations: Sequence[dict[str, Any]]) -> Iterator[Item]:
    """Yield each turn as an item; its ref names conversation and turn."""
    for conversation in conversations:
        name = str(conversation["conversation"])
        positions: defaultdict[str, int] = defaultdict(int)
        for turn in conversation["turns"]:
            session = turn["session"]
            yield item(
                text_of(turn),
                kind="observation",
                origin="import",
                ref=f"conversation-{name}#{turn['id']}",
                entities=[turn["speaker"]],
                project=name,
                occurred_at=turn["at"],
                thread=f"{name}/{session}",
                position=positions[session],
            )
            positions[session] += 1


def text_of(turn: dict[str, Any]) -> str:
    """Return what a turn says, with the caption of its picture."""
    return "\n".join(filter(None, [turn["text"], turn.get("caption", "")])) or "(nothing)"


def segue_hits(store: segue.Segue, conversation: str, question: str) -> list[str]:
    """Return the ids of the turns that Segue finds, best first."""
    found = store.search.find(question, k=MOST, projects=[conversation])
    return [hit.memory.provenance.ref.partition("#")[2] for hit in found]


class PlainFts5:
    """The baseline: FTS5 with its own tokenizer and rank, the words of the question joined by OR."""

    def __init__(self, conversations: Sequence[dict[str, Any]]) -> None:
        self._database = sqlite3.connect(":memory:")
        self._database.execute("CREATE VIRTUAL TABLE turns USING fts5(text, conversation UNINDEXED, id UNINDEXED)")
        rows = [
            (text_of(turn), str(each["conversation"]), turn["id"]) for each in conversations for turn in each["turns"]
        ]
        self._database.executemany("INSERT INTO turns VALUES (?, ?, ?)", rows)

    def hits(self, conversation: str, question: str) -> list[str]:
        """Return the ids of the turns that it finds, best first."""
        query = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        if not query:
            return []
        sql = "SELECT id FROM turns WHERE turns MATCH ? AND conversation = ? ORDER BY rank LIMIT ?"
        return [row[0] for row in self._database.execute(sql, (query, conversation, MOST))]


def asked(
    conversations: Sequence[dict[str, Any]], hits: Callable[[str, str], list[str]]
) -> tuple[list[dict[str, Any]], list[float]]:
    """Return for each question its category, recall at each cut and reciprocal rank; and the milliseconds of each."""
    scores, times = [], []
    for conversation in conversations:
        for question in conversation["questions"]:
            evidence = set(question["evidence"])
            if not evidence:
                continue
            started = time.perf_counter()
            found = hits(str(conversation["conversation"]), question["question"])
            times.append((time.perf_counter() - started) * 1000)
            first = next((place for place, each in enumerate(found, 1) if each in evidence), 0)
            recall = {f"recall@{cut}": len(evidence & set(found[:cut])) / len(evidence) for cut in CUTS}
            scores.append({"category": str(question["category"]), "mrr": 1 / first if first else 0.0, **recall})
    return scores, times


def mean(scores: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return the means of the scores."""
    names = [*(f"recall@{cut}" for cut in CUTS), "mrr"]
    return {name: round(statistics.fmean(each[name] for each in scores), 4) for name in names}


def measure(conversations: Sequence[dict[str, Any]], embedder: str) -> dict[str, Any]:
    """Load a fresh store, ask all questions, and return the figures."""
    with tempfile.TemporaryDirectory() as folder, segue.open(Path(folder) / "locomo.db", embedder=embedder) as store:
        started = time.perf_counter()
        written = store.memories.remember_all(items(conversations))
        loading = time.perf_counter() - started
        segue_hits(store, str(conversations[0]["conversation"]), "warm up")
        scores, times = asked(conversations, lambda name, question: segue_hits(store, name, question))
    plain, plain_times = asked(conversations, PlainFts5(conversations).hits)
    by_category = {
        name: mean([each for each in scores if each["category"] == name])
        for name in sorted({each["category"] for each in scores})
    }
    return {
        "embedder": embedder,
        "questions": len(scores),
        "overall": mean(scores),
        "by_category": by_category,
        "p50_ms": round(statistics.median(times), 2),
        "p95_ms": round(statistics.quantiles(times, n=20)[-1], 2),
        "baseline_fts5": {**mean(plain), "p50_ms": round(statistics.median(plain_times), 2)},
        "memories": len(written),
        "loaded_per_second": round(len(written) / loading),
    }


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="Measure search on long conversations.")
    parser.add_argument("data", nargs="?", type=Path, help="the conversations, JSON or JSON packed by gzip")
    parser.add_argument("--embedder", default="static", choices=["static", "semantic", "none"])
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    options = parser.parse_args()
    if options.data is None or not options.data.is_file():
        print("skipped: give the file with the conversations", file=sys.stderr)
        return 0
    figures = measure(read(options.data), options.embedder)
    if options.json:
        print(json.dumps(figures))
        return 0
    for name, scores in {
        "all": figures["overall"],
        **{f"category {name}": each for name, each in figures["by_category"].items()},
        "plain FTS5": {name: value for name, value in figures["baseline_fts5"].items() if name != "p50_ms"},
    }.items():
        print(f"{name:<12} " + "  ".join(f"{label} {value:.3f}" for label, value in scores.items()))
    print(
        f"{figures['questions']} questions over {figures['memories']} memories, embedder {options.embedder}: "
        f"p50 {figures['p50_ms']} ms, p95 {figures['p95_ms']} ms; loaded {figures['loaded_per_second']}/s"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
