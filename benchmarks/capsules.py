"""Capsules: how many are checked and stitched per second, and what of a session survives a long chain.

    python benchmarks/capsules.py [--json] [--seconds 2] [--chains 20] [--seed 7]

Rates are those of one process, over full-size capsules (1,150 to 1,200 characters): a stitch takes two texts, checks
both, and renders the successor. Aims: 4,000 checks and 800 stitches a second.

The survival curve follows chains of 50 hops. Each session adds two decisions, one lesson, one HIGH and one MED loop,
renews two of its own states and two dimensions, and says nothing more about older sessions (`restate` of 0), or
repeats each entry that it received with that probability. Counted is which share of the nodes, lessons and HIGH loops
that were new at hop n is still there at hop n+k.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from segue.capsules import (
    CAPS,
    EVENT_TYPES,
    LOOP_TYPES,
    MAX_CHARS,
    POLICIES,
    STATE_TYPES,
    Capsule,
    Loop,
    Meta,
    Node,
    Rejection,
    Relation,
    State,
    check,
    render,
    stitch,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from segue.capsules import Entry, Policy

HOPS = 50
LAGS = (0, 1, 2, 3, 5, 10, 20)
WORDS = (
    "index cutover replica shard queue retry token schema backup cursor ledger tenant invoice worker batch cache lock"
    " quota region vendor audit parser export import release rollback metric budget"
).split()


class Sessions:
    """Makes the capsules of made-up sessions, from a seeded source."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._serial = 0

    def words(self, count: int) -> str:
        return " ".join(self._random.choice(WORDS) for _ in range(count))

    def unique(self, count: int) -> str:
        self._serial += 1
        return f"{self.words(count)} {self._serial}"

    def session(self, minute: int, received: Capsule | None = None, restate: float = 0.0) -> Capsule:
        """Return the capsule of one session, which repeats entries of `received` with probability `restate`."""
        again: list[list[Any]] = [[], [], [], [], []]
        if received is not None:
            for kept, entries in zip(again, received.layers, strict=True):
                kept += [entry for entry in entries if self._random.random() < restate]
        skeleton = [Node(self._random.choice(EVENT_TYPES), self.unique(4), self.words(5)) for _ in range(2)]
        negative = [Rejection(self.unique(3), self.words(4), self.words(4))]
        loops = [Loop(self._random.choice(LOOP_TYPES), self.unique(5), priority) for priority in ("HIGH", "MED")]
        states = self._random.sample(STATE_TYPES, 2)
        capsule = Capsule(
            version="v1.2",
            meta=Meta("billing migration", "software", "DEEP", f"2026-03-01T{minute // 60:02d}:{minute % 60:02d}Z"),
            chain=None,
            stamped=False,
            skeleton=tuple((skeleton + again[0])[: CAPS[0]]),
            negative=tuple((negative + again[1])[: CAPS[1]]),
            internal=tuple(State(state, f"I {self.words(6)}") for state in states),
            relation=(Relation("STYLE", self.words(4)), Relation("TRUST", self.words(4))),
            loops=tuple((loops + again[4])[: CAPS[4]]),
            seed=f"The {self.words(6)} comes first.",
        )
        return self._shortened(capsule)

    def _shortened(self, capsule: Capsule) -> Capsule:
        """Leave out repeated entries, last first, until the session's capsule is a valid one."""
        while len(render(capsule)) > MAX_CHARS:
            name = max(("skeleton", "negative", "loops"), key=lambda layer: len(getattr(capsule, layer)))
            capsule = replace(capsule, **{name: getattr(capsule, name)[:-1]})
        return capsule

    def full(self) -> Capsule:
        """Return a stamped capsule of 1,150 to 1,200 characters."""
        capsule = replace(self.session(self._random.randrange(1440)), stamped=True)
        while (room := MAX_CHARS - 50 - len(render(capsule))) > 0:
            node = Node("CHOICE", self.unique(2), self.words(2)[: max(room - 40, 8)].rstrip())
            capsule = replace(capsule, skeleton=(*capsule.skeleton, node))
        assert check(render(capsule)).valid
        return capsule


def rate(step: Callable[[int], object], seconds: float) -> float:
    """Return how often `step` runs per second."""
    for number in range(50):
        step(number)
    count, start = 0, time.perf_counter()
    while (passed := time.perf_counter() - start) < seconds:
        for _ in range(20):
            step(count)
            count += 1
    return count / passed


def watched(capsule: Capsule) -> dict[str, set[Entry]]:
    """Return the entries whose survival is counted."""
    return {
        "L1 nodes": set(capsule.skeleton),
        "L2 lessons": set(capsule.negative),
        "HIGH loops": {loop for loop in capsule.loops if loop.priority == "HIGH"},
    }


def survival(policy: Policy, restate: float, chains: int, seed: int) -> dict[str, Any]:
    """Return for each lag which share of the entries new at hop n is there at hop n + lag, and the final shape."""
    alive: dict[str, dict[int, list[int]]] = {}
    shape = [0] * 5
    for chain in range(chains):
        sessions = Sessions(seed + chain)
        current = sessions.session(0)
        born: list[dict[str, set[Entry]]] = []
        for hop in range(1, HOPS + 1):
            latest = sessions.session(hop, current, restate)
            before = watched(current)
            born.append({name: entries - before[name] for name, entries in watched(latest).items()})
            current = stitch(current, latest, policy=policy).capsule
            _count(alive, born, watched(current))
        shape = [total + len(entries) for total, entries in zip(shape, current.layers, strict=True)]
    curve = {name: {lag: round(a / b, 3) for lag, (a, b) in lags.items()} for name, lags in alive.items()}
    return {"curve": curve, "entries at the end": [round(total / chains, 1) for total in shape]}


def _count(
    alive: dict[str, dict[int, list[int]]], born: list[dict[str, set[Entry]]], now: dict[str, set[Entry]]
) -> None:
    for lag in LAGS:
        if lag >= len(born):
            continue
        for name, entries in born[-1 - lag].items():
            count = alive.setdefault(name, {}).setdefault(lag, [0, 0])
            count[0] += len(entries & now[name])
            count[1] += len(entries)


def measure(seconds: float, chains: int, seed: int) -> dict[str, Any]:
    """Return all figures."""
    sessions = Sessions(seed)
    texts = [render(sessions.full()) for _ in range(40)]
    pairs = list(pairwise(texts))
    figures: dict[str, Any] = {
        "checks per second": round(rate(lambda n: check(texts[n % len(texts)]), seconds)),
        "stitches per second": round(rate(lambda n: stitch(*pairs[n % len(pairs)]).capsule.text, seconds)),
        "survival": {},
    }
    for restate in (0.0, 0.5):
        for policy in POLICIES:
            figures["survival"][f"{policy}, restate {restate}"] = survival(policy, restate, chains, seed)
    return figures


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure the capsules.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--chains", type=int, default=20)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    figures = measure(options.seconds, options.chains, options.seed)
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    print(f"checks per second    {figures['checks per second']:>8,}")
    print(f"stitches per second  {figures['stitches per second']:>8,}")
    for title, result in figures["survival"].items():
        shape = " ".join(f"L{layer}={count}" for layer, count in enumerate(result["entries at the end"], 1))
        print(f"\n{title}   (entries after {HOPS} hops: {shape})")
        print(f"{'hops later':<12}" + "".join(f"{lag:>7}" for lag in LAGS))
        for name, curve in result["curve"].items():
            print(f"{name:<12}" + "".join(f"{curve[lag]:>7.0%}" for lag in LAGS))


if __name__ == "__main__":
    main()
