"""The pack: what was chosen for a task and a reader, and how complete that is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from segue.base import time
from segue.context.layers import PACK_LAYERS, WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from segue.context.candidate import Packed, Selection
    from segue.context.conflicts import Conflict
    from segue.context.layers import Intent, PackLayer
    from segue.context.profiles import Profile
    from segue.memories.memory import Memory

Status = Literal["strong", "usable", "limited", "no_cited_evidence"]
_STRONG, _USABLE = 4, 2  # layers with items
_MOST_NAMES = 12  # names and terms of an item; more would outweigh its text


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """One page of a pack.

    `tokens` is the whole budget and `header` what of it the instructions take. `names` are the entities of items by
    ref. `pending` counts memories that wait for review, `uncited` candidates without a source, `repeated` those that
    stood in an earlier layer. `cursor` continues it. `graph_refs` are the memories that the graph was
    made from. `notes` say what made it poorer than it could be.
    """

    task: str
    intent: Intent
    surface: str
    profile: Profile
    tokens: int
    header: int
    now: datetime
    selection: Selection
    as_of: datetime | None = None
    project: str = ""
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    conflicts: tuple[Conflict, ...] = ()
    pending: int = 0
    uncited: int = 0
    repeated: int = 0
    cursor: str | None = None
    graph: dict[str, Any] | None = None
    graph_refs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def packed(self) -> tuple[Packed, ...]:
        """The items, in the order of layers."""
        return self.selection.packed

    @property
    def refs(self) -> tuple[str, ...]:
        """The ids of the items, in their order."""
        return tuple(each.candidate.ref for each in self.packed)

    @property
    def used(self) -> int:
        """The tokens that instructions and items take."""
        return self.header + self.selection.used

    @property
    def omitted(self) -> tuple[PackLayer, ...]:
        """The layers that count nothing for this intent and were not fetched."""
        return tuple(layer for layer in PACK_LAYERS if not WEIGHTS[self.intent][layer])

    def item(self, packed: Packed) -> dict[str, Any]:
        """Return an item of the envelope; see `item`."""
        return item(packed, self.names.get(packed.candidate.ref, ()))

    @property
    def status(self) -> Status:
        """How many layers have anything to say (facts, section 004.1)."""
        layers = {each.candidate.layer for each in self.packed}
        if len(layers) >= _STRONG and "facts" in layers:
            return "strong"
        return "usable" if len(layers) >= _USABLE else "limited" if layers else "no_cited_evidence"

    def coverage(self) -> dict[str, Any]:
        """Return how complete the pack is, with what was dropped, folded and compressed, and why."""
        layers = {each.candidate.layer for each in self.packed}
        shortened = Counter(each.compressed for each in self.packed if each.compressed)
        reasons = Counter(reason for _, reason in self.selection.dropped)
        return {
            "status": self.status,
            "layers_with_evidence": [layer for layer in PACK_LAYERS if layer in layers],
            "excluded_uncited": self.uncited,
            "deduped": self.repeated,
            "pending_excluded": self.pending,
            "sections_omitted": list(self.omitted),
            "dropped": {"count": sum(reasons.values()), "reasons": dict(sorted(reasons.items()))},
            "folded": sum(len(each.candidate.folded) for each in self.packed),
            "compressed": {"count": sum(shortened.values()), "rungs": dict(sorted(shortened.items()))},
            "conflicts": [each.to_json() for each in self.conflicts],
            "distinct_facts_per_1k_tokens": self.density,
            "overrun": max(self.used - self.tokens, 0),
            "notes": list(self.notes),
        }

    @property
    def density(self) -> float:
        """How many items there are for 1,000 tokens used."""
        return round(len(self.packed) * 1_000 / self.used, 2) if self.packed else 0.0


def item(packed: Packed, names: Sequence[str]) -> dict[str, Any]:
    """Return a memory as an envelope or a query gives it: the keys of the legend, all of them (section 2)."""
    candidate, memory = packed.candidate, packed.candidate.memory
    return {
        "ref": candidate.ref,
        "content": packed.content,
        "layer": candidate.layer,
        "relevance": candidate.relevance,
        "relevance_basis": candidate.basis,
        "why": _why(packed),
        "source_url": source_url(memory.provenance),
        "confidence": _confidence(memory),
        "occurred_at": time.to_text(memory.occurred_at or memory.captured_at),
        "entities": list(names[:_MOST_NAMES]),
    }


def _confidence(memory: Memory) -> float:
    """How sure a memory is: what comes from outside no surer than its source is trusted, whatever it says of itself."""
    if memory.confidence is None:
        return memory.trust
    return min(memory.confidence, memory.trust) if memory.provenance.author_class == "external" else memory.confidence


def _why(packed: Packed) -> dict[str, Any]:
    candidate = packed.candidate
    told = (candidate.memory, *candidate.folded)
    urls = [url for each in told if (url := source_url(each.provenance))]
    return {
        "retrievers": list(candidate.why.get("retrievers", ())),
        "matched_terms": list(candidate.why.get("matched_terms", ()))[:_MOST_NAMES],
        "fused_rank": candidate.why.get("fused_rank"),
        "folded_refs": [each.id for each in candidate.folded],
        "folded_source_urls": list(dict.fromkeys(urls))[:_MOST_NAMES] if candidate.folded else [],
        "occurrences": sum(each.occurrences for each in told),
        "compressed": packed.compressed or None,
        "truncated": bool(packed.compressed),
        "author_class": candidate.memory.provenance.author_class,
    }


def source_url(written: Any) -> str | None:
    """Return where a memory comes from: its address, else the packet, capsule or record of this store that says it."""
    if written.url:
        return str(written.url)
    kind, _, stored_id = written.source.partition(":")
    if kind == "source" and written.origin == "record":
        return f"segue://source/{stored_id}/{written.ref.partition('#')[2]}"
    return f"segue://{kind}/{stored_id}" if kind in ("packet", "capsule") and stored_id else None
