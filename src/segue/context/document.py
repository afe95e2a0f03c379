"""The pack as layers of items, in JSON and in Markdown (facts, section 004.3; decision M10)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from segue.base import time
from segue.base.own import PACK_END, PACK_TITLE
from segue.base.untrusted import one_line, paragraph, shorten
from segue.context.layers import PACK_LAYERS, WEIGHTS
from segue.context.legend import INSTRUCTIONS
from segue.context.pack import source_url

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from segue.context.candidate import Packed
    from segue.context.layers import PackLayer
    from segue.context.pack import Pack

VERSION = 2
# Where markup, the target of a link or an image would begin. A "<" that is escaped stays as it is: one more backslash
# would escape the one before it, and let the markup live.
_MARKUP = re.compile(r"(?<!\\)(?:\\\\)*+(?=<(?:[A-Za-z/?]|![A-Za-z\[]))|(?<=\])(?=\()|(?<=!)(?=\[)")
_MOST_SOURCE = 120  # characters
_PROVENANCE = {"user": "user_authored", "agent": "agent_written", "external": "connector_synced"}
HEADINGS: dict[PackLayer, str] = {
    "constraints": "Constraints",
    "decisions": "Decisions",
    "facts": "Facts",
    "entity": "Around the names in the task",
    "procedures": "Procedures",
    "identity": "Preferences and style",
    "open_loops": "Open questions and next steps",
    "recency": "Lately",
}


def document(
    pack: Pack,
    *,
    packed: Sequence[Packed] | None = None,
    warnings: Sequence[Mapping[str, Any]] = (),
    receipt: Mapping[str, Any] | None = None,
    pin: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the pack as JSON; `packed` are the items to deliver, all by default."""
    shown = pack.packed if packed is None else tuple(packed)
    found: dict[str, Any] = {
        "version": VERSION,
        "task": pack.task,
        "intent": pack.intent,
        "surface": pack.surface,
        "generated_at": time.to_text(pack.now),
        "budget": _budget(pack),
        "filters": {
            "sector": None,
            "project": pack.project or None,
            "as_of": time.to_text(pack.as_of) if pack.as_of else None,
        },
        "coverage": pack.coverage(),
        "instructions": list(INSTRUCTIONS),
        "layers": [_layer(pack, layer, shown) for layer in PACK_LAYERS],
        "conflicts": [each.to_json() for each in pack.conflicts],
        "citations": [_citation(place, each) for place, each in enumerate(shown, 1)],
        "cursor": pack.cursor,
        "receipt": receipt,
    }
    if pack.graph is not None:
        found["graph"] = pack.graph
    if warnings:
        found["warnings"] = list(warnings)
    if pin is not None:
        found["pin"] = pin
    return found


def _budget(pack: Pack) -> dict[str, Any]:
    found: dict[str, Any] = {"token_budget": pack.tokens, "used_tokens": pack.used}
    if pack.profile.packer == "greedy":
        return found | {"estimator": "chars/4"}
    return found | {
        "estimator": f"chars/{pack.profile.chars_per_token:g}",
        "model": pack.profile.name,
        "strategy": "knapsack-mmr",
        "distinct_facts_per_1k_tokens": pack.density,
    }


def _layer(pack: Pack, layer: PackLayer, shown: Sequence[Packed]) -> dict[str, Any]:
    weight = WEIGHTS[pack.intent][layer]
    if not weight:
        return {"layer": layer, "omitted": {"reason": f"not part of a pack that is made to {pack.intent}"}}
    items = [each for each in shown if each.candidate.layer == layer]
    dropped = sum(1 for each, _ in pack.selection.dropped if each.layer == layer)
    greedy = pack.profile.packer == "greedy"
    packable = max(pack.tokens - pack.header, 120)
    return {
        "layer": layer,
        "budget_tokens": packable * weight // sum(WEIGHTS[pack.intent].values()) if greedy else 0,
        "used_tokens": sum(each.cost for each in pack.packed if each.candidate.layer == layer),
        "dropped": dropped,
        "status": "cited" if items else "budget_exhausted" if dropped else "no_evidence",
        "items": [_item(pack, each) for each in items],
        "truncated_last_item": bool(items and items[-1].compressed),
    }


def _item(pack: Pack, packed: Packed) -> dict[str, Any]:
    memory = packed.candidate.memory
    item = pack.item(packed)
    return {
        "memory_id": memory.id,
        "layer": packed.candidate.layer,
        "kind": memory.kind,
        "content": packed.content,
        "source": memory.provenance.ref,
        "source_url": item["source_url"],
        "captured_at": time.to_text(memory.captured_at),
        "sector": None,
        "provenance_class": _PROVENANCE[memory.provenance.author_class],
        "author_class": memory.provenance.author_class,
        "trust_score": memory.trust,
        "relevance": item["relevance"],
        "relevance_basis": item["relevance_basis"],
        "why": item["why"],
        "treat_as_data": True,
        "truncated": bool(packed.compressed),
    }


def _citation(place: int, packed: Packed) -> dict[str, Any]:
    written = packed.candidate.memory.provenance
    return {
        "index": place,
        "memory_id": packed.candidate.ref,
        "source": written.ref,
        "source_url": source_url(written),
    }


def markdown(pack: Pack, *, packed: Sequence[Packed] | None = None, delta: str = "") -> str:
    """Return the pack as Markdown, ending in a line feed. No item can begin a line, a block, or end the pack."""
    shown = pack.packed if packed is None else tuple(packed)
    lines = [PACK_TITLE, ""]
    lines += [f"Task: {_inert(one_line(pack.task))}  "] if pack.task else []
    lines += [f"Intent: {pack.intent} | Coverage: {pack.status} | {pack.used:,} of {pack.tokens:,} tokens", ""]
    lines += [f"> {each}" for each in INSTRUCTIONS]
    for layer in PACK_LAYERS:
        items = [each for each in shown if each.candidate.layer == layer]
        if items:
            lines += ["", f"## {HEADINGS[layer]}", "", *map(line, items)]
    lines += ["", *_remarks(pack), *([delta] if delta else []), PACK_END]
    return "\n".join(lines) + "\n"


def line(packed: Packed) -> str:
    """Return an item as one line of Markdown: its id, its text, where it comes from."""
    memory = packed.candidate.memory
    written = memory.provenance
    told = written.url or ("" if written.origin == "text" else written.source)
    source = f" — {shorten(one_line(told), _MOST_SOURCE)}" if told else ""
    text = _inert(f"{paragraph(packed.content)}{source}")
    return f"- [{memory.id}] {text}{' (truncated)' if packed.compressed else ''}"


def _inert(text: str) -> str:
    """Text that Markdown takes for no image, link or markup: a client may render what a model was given."""
    return _MARKUP.sub(r"\g<0>\\", text.replace("<!--", "<\\!--"))


def _remarks(pack: Pack) -> Iterator[str]:
    dropped = len(pack.selection.dropped)
    if dropped:
        yield f"{dropped} more {'memory' if dropped == 1 else 'memories'} did not fit."
    for each in pack.conflicts:
        yield f"Contradiction: {each.current.id} and {each.stale.id}; go by {each.current.id}."
    yield from map(one_line, pack.notes)
