"""What a repetition adds to a memory: what was missing there. What is there already stays."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from segue.memories import making

if TYPE_CHECKING:
    from segue.memories.item import Item
    from segue.memories.memory import Memory


def joined(memory: Memory, item: Item) -> Memory:
    """Return a memory with the tags and entities of a repetition, and with when it happened where that was unknown."""
    return replace(
        memory,
        tags=tuple(dict.fromkeys((*memory.tags, *item.tags)))[: making.MAX_TAGS],
        entities=tuple(dict.fromkeys((*memory.entities, *item.entities)))[: making.MAX_ENTITIES],
        occurred_at=memory.occurred_at or making.instant("occurred_at", item.occurred_at),
    )


def completed(memory: Memory, item: Item) -> Memory:
    """Return a memory with the details of a repetition that it lacks: kind, summary, confidence, validity, speaker.

    A claim in the layer semantic is what nobody has said more of. A bound of validity that would lie on the wrong side
    of the one that is known is left.
    """
    unsaid = (memory.kind, memory.layer) == ("claim", "semantic")
    begins = memory.valid_from or making.instant("valid_from", item.valid_from)
    ends = memory.valid_to or making.instant("valid_to", item.valid_to)
    if begins is not None and ends is not None and ends < begins:
        begins, ends = memory.valid_from, memory.valid_to
    return replace(
        memory,
        kind=item.kind if unsaid else memory.kind,
        layer=item.layer if unsaid else memory.layer,
        summary=memory.summary or item.summary,
        confidence=item.confidence if memory.confidence is None else memory.confidence,
        valid_from=begins,
        valid_to=ends,
        speaker=memory.speaker or item.speaker,
    )
