"""The demonstration of context packs: it checks itself, and prints what it found (specification, section 11)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from segue import examples
from segue.base.errors import Failed, InvalidInput
from segue.cli import output
from segue.context.legend import ENVELOPE_KEYS, ITEM_KEYS
from segue.testing import FakeClock, store

if TYPE_CHECKING:
    from segue.app import Segue
    from segue.services.serving import Serving

TASK = "launch of Harbor in Rotterdam: what must the importer do, and what is still open?"
_NOW = datetime(2026, 6, 1, 9, 0, tzinfo=UTC)
_TIGHT, _ROOMY = 1_200, 11_000
_MODELS = ("claude", "gpt", "cursor")


def run(*, as_json: bool) -> int:
    """Run the demonstration on a store of its own. Raises Failed `demo.failed` where a relation does not hold."""
    clock = FakeClock(_NOW)
    with store(clock) as segue:
        _seed(segue, clock)
        steps = [_envelope(segue), _budgets(segue), _chain(segue), _session(segue)]
    if as_json:
        output.as_json({"task": TASK, "steps": steps})
    else:
        output.data(f"Thirty memories of a made-up project. Task: {TASK}")
        for step in steps:
            output.data("\n".join(["", f"# {step['title']}", *step["lines"]]))
        output.note("\nAll of it held. Next: segue remember, then segue context TASK --model claude")
    return 0


def _seed(segue: Segue, clock: FakeClock) -> None:
    for each in json.loads(examples.read(examples.MEMORIES))["memories"]:
        happened = _NOW - timedelta(days=each.pop("days_ago"))
        clock.advance(days=(happened - clock()).total_seconds() / 86_400)
        segue.memories.remember(each.pop("content"), occurred_at=happened, **each)
    clock.advance(days=(_NOW - clock()).total_seconds() / 86_400)


def _pack(segue: Segue, budget: int, model: str = "claude", session: str | None = None) -> Serving:
    return segue.context.assemble(TASK, model=model, budget=budget, session=session)


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise Failed("demo.failed", f"this should hold and does not: {what}")


def _envelope(segue: Segue) -> dict[str, Any]:
    wire = _pack(segue, _ROOMY).envelope()
    _require(tuple(wire) == ENVELOPE_KEYS == tuple(wire["legend"]["envelope"]), "the legend names every key")
    _require(all(tuple(each) == ITEM_KEYS for each in wire["items"]), "every item has the keys of the legend")
    first = wire["items"][0]
    _require(first["layer"] == "constraints", "constraints come first")
    lines = [
        f"keys: {', '.join(wire)}",
        f"coverage: {wire['coverage']['status']}; layers {', '.join(wire['coverage']['layers_with_evidence'])}",
        f"first item: {first['ref']} ({first['layer']}, {first['relevance_basis']} {first['relevance']})",
    ]
    return {"title": "One envelope, which describes itself", "lines": lines, "envelope": wire}


def _budgets(segue: Segue) -> dict[str, Any]:
    wires = {model: _pack(segue, _ROOMY, model).envelope() for model in _MODELS}
    figures = {
        model: {**wire["budget"], "items": len(wire["items"]), "dropped": wire["coverage"]["dropped"]["count"]}
        for model, wire in wires.items()
    }
    tokens = [figures[model]["tokens"] for model in _MODELS]
    _require(tokens == sorted(tokens, reverse=True), "claude is given at least as much as gpt, gpt as cursor")
    _require(figures["cursor"]["items"] < figures["claude"]["items"], "cursor is given fewer items than claude")
    _require(all(each["used"] <= each["tokens"] for each in figures.values()), "no pack is over its budget")
    lines = [
        f"model={model:<7} budget {each['tokens']:>6,}  used {each['used']:>5,}  items {each['items']:>2}"
        f"  dropped {each['dropped']}"
        for model, each in figures.items()
    ]
    return {"title": "The same task, three readers", "lines": lines, "figures": figures}


def _chain(segue: Segue) -> dict[str, Any]:
    whole = segue.queries.query({"find": TASK, "k": 50})
    relevances = sorted(each["relevance"] for each in whole.items)
    bounds = [0.0, relevances[len(relevances) // 3], relevances[2 * len(relevances) // 3]]
    counts, before = [], {each["ref"] for each in whole.items}
    for bound in bounds:
        found = segue.queries.query({"find": TASK, "k": 50, "min_relevance": bound})
        refs = {each["ref"] for each in found.items}
        _require(refs <= before, "a narrower query finds a part of what the wider one found")
        before = refs
        counts.append(len(refs))
    _require(counts[0] > counts[1] > counts[2] > 0, "each bound leaves fewer")
    refused = ""
    try:
        segue.queries.query({"find": TASK, "min_relevance": 2.5})
    except InvalidInput as error:
        refused = error.details["field"]
    _require(refused == "min_relevance", "a bound that nothing can have is refused by its name")
    lines = [f"min_relevance {bound:.3f}: {count} found" for bound, count in zip(bounds, counts, strict=True)]
    return {"title": "Narrowing only narrows", "lines": [*lines, "min_relevance 2.5: refused"], "counts": counts}


def _session(segue: Segue) -> dict[str, Any]:
    held: set[str] = set()
    lines, turns = [], []
    for number, budget in enumerate((_TIGHT, _ROOMY, _ROOMY), 1):
        serving = _pack(segue, budget, session="demo")
        cited = set(serving.pack.refs)
        new = {each["ref"] for each in serving.envelope()["working_memory"]["new"]}
        carried = [each for each in serving.pack.packed if each.candidate.ref in held]
        saved = sum(each.cost for each in carried)
        _require(new == cited - held, "what is new is what the pack holds and the session did not")
        held |= new
        turns.append({"budget": budget, "cited": len(cited), "new": len(new), "carried": len(carried), "saved": saved})
        lines.append(
            f"turn {number}: budget {budget:>6,}  items {len(cited):>2}  new {len(new):>2}"
            f"  carried {len(carried):>2}  tokens not re-sent {saved:,}"
        )
    _require(turns[0]["new"] == turns[0]["cited"] > 0, "all of the first turn is new")
    _require(turns[1]["new"] > 0 and turns[1]["carried"] > 0, "a wider turn brings more and repeats nothing")
    _require(turns[2]["new"] == 0, "the same turn again brings nothing")
    return {"title": "Three turns of one conversation", "lines": lines, "turns": turns}
