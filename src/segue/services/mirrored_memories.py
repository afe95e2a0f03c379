"""Memories of a team in its copy here: the same ones, under the same ids, as the host tells them at each sync."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from segue.base.errors import InvalidInput
from segue.base.redaction import RedactionRefused
from segue.memories.filter import Filter
from segue.memories.item import Item
from segue.memories.written import from_json
from segue.services.cleaning import clean
from segue.services.forgetting import forget
from segue.storage import memories as rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from segue.memories.memory import Memory
    from segue.services.memories import Memories

SOURCE = "replica"  # what says the memories of a copy, each at the place of its id
_BATCH = 500  # memories of one transaction


@dataclass(frozen=True, slots=True)
class MemoriesMirrored:
    """How many memories came or were changed, and how many went."""

    pulled: int
    removed: int


def mirror(
    memories: Memories,
    told: Iterable[Mapping[str, Any]],
    *,
    now: datetime,
    hold: Callable[[str, InvalidInput | RedactionRefused], None],
) -> MemoriesMirrored:
    """Make a scope hold the memories that a host tells, and no others.

    One that breaks a rule, or holds a secret, is not taken; `hold` is told its id and why.
    """
    wanted = {each.id: each for each in _read(told, hold)}
    wanted = {each.id: _within(each, wanted) for each in wanted.values()}
    with memories.database.read() as connection:
        here = rows.matching(connection, memories.scope_id, Filter())
    gone = [each for each in here if each not in wanted]
    for start in range(0, len(gone), _BATCH):
        _remove(memories, gone[start : start + _BATCH], now)
    pulled = 0
    ids = sorted(wanted)
    for start in range(0, len(ids), _BATCH):
        pulled += _write(memories, [wanted[each] for each in ids[start : start + _BATCH]])
    if pulled:
        memories.refresh()
    return MemoriesMirrored(pulled, len(gone))


def _read(
    told: Iterable[Mapping[str, Any]], hold: Callable[[str, InvalidInput | RedactionRefused], None]
) -> Iterable[Memory]:
    for document in told:
        try:
            memory = from_json(document)
            clean(_item(memory), "refuse")
        except (InvalidInput, RedactionRefused) as error:
            hold(str(document.get("id", "")), error)
        else:
            yield memory


def _item(memory: Memory) -> Item:
    """What of a memory somebody wrote."""
    return Item(
        content=memory.content,
        kind=memory.kind,
        layer=memory.layer,
        provenance=memory.provenance,
        summary=memory.summary,
        entities=memory.entities,
        tags=memory.tags,
        project=memory.project,
        thread=memory.thread,
        position=memory.position,
        speaker=memory.speaker,
    )


def _within(memory: Memory, wanted: Mapping[str, Memory]) -> Memory:
    """A memory as its copy is: said by the host alone, and linked to what is copied too."""
    return replace(
        memory,
        occurrences=1,
        supersedes=tuple(each for each in memory.supersedes if each in wanted),
        superseded_by=memory.superseded_by if memory.superseded_by in wanted else "",
    )


def _remove(memories: Memories, gone: list[str], now: datetime) -> None:
    with memories.writing() as (connection, writer):
        found = list(rows.by_ids(connection, memories.scope_id, gone).values())
        forget(connection, writer, found, now=now, reason="gone from the host", for_good=False)


def _write(memories: Memories, wanted: list[Memory]) -> int:
    with memories.writing() as (connection, writer):
        here = rows.by_ids(connection, memories.scope_id, [each.id for each in wanted])
        written = 0
        for memory in wanted:
            before = here.get(memory.id)
            if before is None:
                writer.adopt(memory, SOURCE)
            elif before != memory:
                writer.rewrite(before, memory)
            else:
                continue
            written += 1
        if written:
            writer.finish()
        return written
