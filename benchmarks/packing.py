"""Packing: how long it takes, how near it comes to the best there is, how full a pack is, and what it tells.

    python benchmarks/packing.py [--json] [--candidates 5000] [--instances 300] [--seed 11]

Everything is made up and the same for the same seed. Four figures, each with its aim:

- milliseconds of processor time for a pack out of many candidates (the best of seven runs): 200;
- utility of the knapsack's picks over that of an exact 0/1 knapsack, for 20 to 60 items of usual lengths that have no
  word in common, without constraints and with one that is protected: 0.95 in the mean;
- share of a tight room that is used, where there is more than enough to fill it: 0.9;
- distinct facts in 1,000 tokens, out of a store in which each fact was told one to four times, in the same words with
  other marks and labels or with some words changed: against the greedy packer, the items of highest relevance, and
  those of highest utility for a token.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from datetime import UTC, datetime, timedelta
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from search_rows import Source
from segue.context import knapsack
from segue.context.candidate import Candidate
from segue.context.layers import PACK_LAYERS
from segue.context.packing import pack
from segue.context.profiles import CLAUDE, CURSOR, GENERIC, GPT
from segue.context.utility import Valued, value
from segue.memories.item import Provenance
from segue.memories.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from segue.context.candidate import Packed
    from segue.context.layers import PackLayer
    from segue.context.profiles import Profile

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
HEADER = 115  # tokens of a pack's instructions
ROOMS = (185, 485, 1_085, 2_885)  # budgets of 300, 600, 1,200 and 3,000
LABELS = ("", "Note: ", "We decided that ", "Fact: ")
ENDS = (".", "", "!", " (see https://wiki.example/notes).")
FACTS = 150
_WRITTEN = Provenance(origin="text", ref="made-up#1", author_class="agent")


class Store:
    """Makes candidates, from a seeded source."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._source = Source(seed)
        self._drawn = self._source.memories(1_000_000)
        self._serial = 0

    def candidate(self, content: str, layer: PackLayer, relevance: float | None) -> Candidate:
        self._serial += 1
        memory = Memory(
            id=f"mem_{self._serial:06}",
            content=content,
            kind="claim",
            layer="semantic",
            provenance=_WRITTEN,
            captured_at=NOW - timedelta(days=self._random.expovariate(1 / 60)),
            content_hash="sha256:" + "0" * 64,
            status="active",
            trust=self._random.choice((0.9, 0.6, 0.3)),
        )
        return Candidate(memory, layer, relevance)

    def candidates(self, count: int, layers: Sequence[PackLayer] = PACK_LAYERS) -> list[Candidate]:
        """Return candidates of 20 to 700 characters, most of them facts; some were not searched for."""
        weights = [8 if layer == "facts" else 1 for layer in layers]
        return [
            self.candidate(
                memory.text,
                self._random.choices(layers, weights)[0],
                None if self._random.random() < 0.1 else self._random.random() ** 2,
            )
            for memory in islice(self._drawn, count)
        ]

    def items(self, count: int, *, constraints: bool) -> list[Valued]:
        """Return items of usual lengths and worths that share no word."""
        layers: tuple[PackLayer, ...] = PACK_LAYERS if constraints else PACK_LAYERS[1:]
        drawn = self.candidates(count, layers)
        worth = value(drawn, profile=CLAUDE, intent="answer", now=NOW)
        return [
            Valued(self.candidate(f"w{place}", item.candidate.layer, None), item.utility, item.cost)
            for place, item in enumerate(self._random.sample(worth, len(worth)))
        ]

    def restated(self) -> dict[str, int]:
        """Return facts of which each was told one to four times, by text with the number of the fact."""
        told: dict[str, int] = {}
        for number, memory in enumerate(islice(self._drawn, FACTS)):
            words = memory.text.rstrip(".?").split()
            for telling in range(self._random.randint(1, 4)):
                said = list(words)
                if telling % 2:  # some words differ; else only what is around them does
                    for place in self._random.sample(range(len(said)), len(said) // 8 + 1):
                        said[place] = self._random.choice(self._source.words[:2_000])
                text = self._random.choice(LABELS) + " ".join(said) + self._random.choice(ENDS)
                told[text] = number
        return told


def best_milliseconds(arrived: Sequence[Candidate], profile: Profile, room: int) -> float:
    """Return the processor time of a pack."""
    runs = []
    for _ in range(7):
        started = time.process_time()
        pack(arrived, room, profile=profile, intent="answer", now=NOW)
        runs.append(time.process_time() - started)
    return round(min(runs) * 1000, 1)


def optimum(items: Sequence[Valued], room: int) -> float:
    """Return the highest utility that fits into `room`, by dynamic programming."""
    best = np.zeros(room + 1)
    for item in items:
        if item.cost <= room:
            best[item.cost :] = np.maximum(best[item.cost :], best[: room + 1 - item.cost] + item.utility)
    return float(best[-1])


def near_the_best(store: Store, instances: int, *, constraints: bool) -> dict[str, float]:
    """Return the utility of what is picked over the highest there is: mean and worst.

    With `constraints` the highest is that of selections with the protected one, which must come in; where it is too
    long for the room there is nothing to compare.
    """
    shares = []
    for number in range(instances):
        items = store.items(20 + number % 41, constraints=constraints)
        room = min(ROOMS[number % len(ROOMS)], sum(item.cost for item in items) * 3 // 4)
        first = knapsack.protected(items)
        picked = sum(items[place].utility for place in knapsack.pick(items, room, first))
        if first is None:
            shares.append(picked / optimum(items, room))
        elif (rest := room - items[first].cost) >= 0:
            shares.append(picked / (items[first].utility + optimum(items[:first] + items[first + 1 :], rest)))
    return {"mean": round(statistics.fmean(shares), 4), "worst": round(min(shares), 4)}


def filled(store: Store, instances: int) -> dict[str, float]:
    """Return the share of a tight room that is used: mean and worst."""
    shares = []
    for number in range(instances):
        profile = (CLAUDE, GPT, CURSOR)[number % 3]
        room = ROOMS[number % len(ROOMS)]
        arrived = store.candidates(40)
        room = min(room, sum(profile.cost(each.memory.content) for each in arrived) // 2)
        shares.append(pack(arrived, room, profile=profile, intent="answer", now=NOW).used / room)
    return {"mean": round(statistics.fmean(shares), 4), "worst": round(min(shares), 4)}


def told(store: Store, rounds: int = 30) -> dict[str, float]:
    """Return distinct facts in 1,000 tokens: of packs, and of the items that come first by one measure alone."""
    found: dict[str, list[float]] = {}
    source = random.Random(rounds)
    for number in range(rounds):
        facts = store.restated()
        wanted = [source.random() for _ in range(FACTS)]
        relevance = {text: min(max(wanted[fact] + source.gauss(0, 0.03), 0), 1) for text, fact in facts.items()}
        arrived = [
            store.candidate(text, "facts", relevance[text]) for text in sorted(facts, key=lambda t: -relevance[t])
        ]
        room = ROOMS[1 + number % 3]
        items = value(arrived, profile=CLAUDE, intent="answer", now=NOW)
        dense = sorted(items, key=lambda item: -item.utility / item.cost)
        packs = {
            "knapsack": pack(arrived, room, profile=CLAUDE, intent="answer", now=NOW).packed,
            "greedy": pack(arrived, room, profile=GENERIC, intent="answer", now=NOW).packed,
            "first by relevance": _first(items, room),
            "first by density": _first(dense, room),
        }
        for name, packed in packs.items():
            # What was cut at a word tells nothing for sure.
            distinct = {facts[each.candidate.memory.content] for each in packed if each.compressed != "cut"}
            found.setdefault(name, []).append(len(distinct) * 1000 / sum(each.cost for each in packed))
    return {name: round(statistics.fmean(rates), 2) for name, rates in found.items()}


def _first(items: Sequence[Valued], room: int) -> list[Packed]:
    """The first items that fit into `room` together."""
    sums = accumulate(item.cost for item in items)
    return [item.whole for item, used in zip(items, sums, strict=True) if used <= room]


def measure(count: int, instances: int, seed: int) -> dict[str, Any]:
    """Return all figures."""
    store = Store(seed)
    arrived = store.candidates(count)
    profiles = (CURSOR, GPT, CLAUDE, GENERIC)
    return {
        f"milliseconds for {count:,} candidates": {
            profile.name: best_milliseconds(arrived, profile, profile.pack_budget - HEADER) for profile in profiles
        },
        "utility over the best": near_the_best(store, instances, constraints=False),
        "the same with a protected constraint": near_the_best(store, instances, constraints=True),
        "share of a tight room used": filled(store, instances),
        "distinct facts in 1,000 tokens": told(store),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure the packers.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--candidates", type=int, default=5_000)
    parser.add_argument("--instances", type=int, default=300)
    parser.add_argument("--seed", type=int, default=11)
    options = parser.parse_args()
    figures = measure(options.candidates, options.instances, options.seed)
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    for title, values in figures.items():
        print(f"{title:<40}" + "  ".join(f"{name} {value}" for name, value in values.items()))


if __name__ == "__main__":
    main()
