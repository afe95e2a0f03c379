"""SessionStart: the handoff, where the work stands, what waits for review, what the project keeps and what is known."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from segue.base import text, time
from segue.base.errors import Failed
from segue.context.candidate import Candidate, Packed
from segue.context.layers import KINDS, MOST_OF_MODEL, PACK_LAYERS, WEIGHTS, balanced
from segue.context.serving import served
from segue.hosts import briefing, embedded, memory_rows, packet_rows, project_memory, session_row, waiting
from segue.hosts.calling import context
from segue.memories.source import source_of
from segue.packets import drafts, fitting, resume

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from segue.context.layers import Intent, PackLayer
    from segue.hosts.calling import Call
    from segue.hosts.embedded import Embedded
    from segue.memories.memory import Memory
    from segue.packets.model import Packet
    from segue.services.projects import Project

EVENT = "SessionStart"
SOURCES = frozenset({"startup", "clear", "compact"})  # after the others the model still has what it was told
INTENT: Intent = "recall"  # that of a pack without a task
_RESUMED_TOKENS, _RESUMED_CHARACTERS = 1_200, 5_500  # of the packet; what it leaves is the pack's
_FRAME = 120  # tokens for the frame and the lines between
_KEPT_TOKENS, _KEPT_CHARACTERS = 600, 2_400  # of the project's own memory; and at most half of what the packet leaves
_NO_STORE = frozenset({"store.missing", "store.not_embedded"})
_KINDS: Mapping[PackLayer, tuple[str, ...]] = {**KINDS, "recency": ("",)}  # "" for all
# After a compaction that conversation may be the same one.
_RECORDED = "Where the work on this project stood, as it was recorded. What the user says now goes first."
_CUT = "It is shortened here; the tool `resume` tells all of it."
_DRAFT = "The packet below is a draft that Segue made when a conversation was compacted; nobody reviewed it."


def answer(call: Call) -> dict[str, Any] | None:
    """Return what the host is told; None on resume and fork, and where nothing is known. Raises SegueError."""
    if call.text("source") not in SOURCES:
        return None
    project = call.project()
    try:
        return _answer(call, project)
    except Failed as error:
        if error.code not in _NO_STORE:
            raise
        kept = project_memory.told(project.root, _KEPT_TOKENS, _KEPT_CHARACTERS)
        handed = _handed(call, project)
        if not (kept or handed):
            raise
        return context(EVENT, briefing.framed(handed, _review(0, waiting.candidates(call, project)), kept))


def _answer(call: Call, project: Project) -> dict[str, Any] | None:
    with embedded.opened(call.location) as store:
        with store.reading():
            packet = packet_rows.newest(store, project)
            pending = memory_rows.pending(store, text.fold(project.name))
            found = list(candidates(store, text.fold(project.name), call.now))
        resumed, told_already = _resumed(packet)
        within = [each for each in found if _is_told(each.memory, told_already)]
        found = [each for each in found if not _is_told(each.memory, told_already)]
        said = _review(pending, waiting.candidates(call, project))
        handed = _handed(call, project)
        tokens = briefing.MOST_TOKENS - _FRAME - briefing.tokens(resumed) - briefing.tokens(handed)
        characters = briefing.MOST_CHARACTERS - len(resumed) - len(handed) - 600
        kept = project_memory.told(project.root, min(_KEPT_TOKENS, tokens // 2), min(_KEPT_CHARACTERS, characters // 2))
        packed, told = briefing.pack(
            found, tokens - briefing.tokens(kept), characters - len(kept), intent=INTENT, now=call.now
        )
        if not (handed or resumed or said or kept or told):
            return None
        if call.session:
            _record(
                store, call.session, [*packed, *(Packed(each, each.memory.content, 0) for each in within)], call.now
            )
    return context(EVENT, briefing.framed(handed, resumed, said, kept, told))


def _handed(call: Call, project: Project) -> str:
    """What is told of the project's handoff, after a compaction alone."""
    if call.text("source") != "compact":
        return ""
    from segue.hosts import handing_over  # most starts do without

    return handing_over.told(call, project)


def _resumed(packet: Packet | None) -> tuple[str, str]:
    """The resume block, and the source whose memories need not be told again, "" where the block was cut."""
    if packet is None:
        return "", ""

    def fits(block: str) -> bool:
        return briefing.tokens(block) <= _RESUMED_TOKENS and len(block) <= _RESUMED_CHARACTERS

    block = fitting.fitted(packet, fits)
    if not block:
        return "", ""
    whole = block == resume.render(packet)
    about = [_RECORDED, *([] if whole else [_CUT]), *([_DRAFT] if drafts.TAG in packet.tags else [])]
    return f"{' '.join(about)}\n\n{briefing.inert(block)}", source_of("packet", packet.id) if whole else ""


def _is_told(memory: Memory, source: str) -> bool:
    """Whether the resume block of that source says a memory: not what was edited since the packet was made."""
    return bool(source) and memory.provenance.source == source and memory.revision == 1


def _review(memories: int, candidates: int) -> str:
    """What is told of memories that agents proposed, and of candidates of continuity, that wait."""
    more = " or more" if memories == memory_rows.MOST_PENDING else ""
    said = [f"{memories:,}{more} {'memory' if memories == 1 else 'memories'}"] if memories else []
    said += [f"{candidates:,} {'candidate' if candidates == 1 else 'candidates'} of continuity"] if candidates else []
    if not said:
        return ""
    verb = "waits" if memories + candidates == 1 else "wait"
    return f"{' and '.join(said)} {verb} for the user's review (`segue review`)."


def candidates(store: Embedded, project: str, now: datetime) -> Iterator[Candidate]:
    """Yield what may come into a pack without a task: the newest of each layer, each memory in its first layer.

    `project` is a folded name; memories of other projects are left out. No entities are looked up.
    """
    at_us = time.microseconds(now)
    listed = {layer: _listed(store, project, at_us, layer) for layer in PACK_LAYERS if layer in _KINDS}
    memories = memory_rows.by_ids(store, project, at_us, list(dict.fromkeys(chain.from_iterable(listed.values()))))
    seen: set[str] = set()
    for layer, ids in listed.items():
        if not WEIGHTS[INTENT][layer]:
            continue
        for memory in _competing(layer, [memories[each] for each in ids if each in memories]):
            if memory.id not in seen and memory.provenance.ref:
                seen.add(memory.id)
                yield Candidate(memory, layer)


def _listed(store: Embedded, project: str, at_us: int, layer: PackLayer) -> list[str]:
    most = MOST_OF_MODEL[layer]
    found = [each for kind in _KINDS[layer] for each in memory_rows.newest(store, project, at_us, most, kind)]
    return [each for _, each in sorted(found, reverse=True)]


def _competing(layer: PackLayer, found: list[Memory]) -> list[Memory]:
    most = MOST_OF_MODEL[layer]
    return balanced(found, most, lambda each: each.layer == "style") if layer == "identity" else found[:most]


def _record(store: Embedded, session: str, told: Sequence[Packed], now: datetime) -> None:
    """Note what the session was told. It begins anew: whatever it was told before, its model has not any more.

    Where the store cannot be written just now, the session is told all the same: at worst it hears something twice.
    """
    try:
        with store.writing():
            session_row.announce(store, session, served(told), tokens=(), now=now, anew=True)
    except Failed as error:
        if error.code not in embedded.UNWRITABLE:
            raise
