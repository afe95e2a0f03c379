"""Taking a snapshot of a source into the memories, in the transaction that stores it: all of it, or nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from segue.base.errors import InvalidInput, SegueError
from segue.conversions import records as conversions
from segue.memories import making
from segue.services.cleaning import clean
from segue.sources.problems import Problem
from segue.storage import memories as rows
from segue.storage import memory_sources as said_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import sqlalchemy as sa

    from segue.memories.item import Item
    from segue.memories.memory import Memory
    from segue.services.memories import Memories
    from segue.services.remembering import Writer
    from segue.sources.record import Record
    from segue.storage.sources import StoredSource


_BATCH = 50  # records that are made memories of at a time: all that is known of their words is held meanwhile


def items_of(source: StoredSource, record: Record) -> tuple[Item, ...]:
    """Return what a record says, as items of its source."""
    base = source.place if source.kind == "https" else ""
    return conversions.from_record(record, source=source.name, title=source.title, base=base)


def faults(record: Record) -> list[Problem]:
    """Return why a record can be no memory; nothing where it can."""
    try:
        for item in conversions.from_record(record, source="source"):
            clean(item, "mask")
    except SegueError as error:
        if error.exit_code == 1:
            raise
        message = f"it can be no memory: {error.message}"
        return [Problem(rule="record.memory", message=message, where=record.path)]
    return []


def take(
    memories: Memories,
    connection: sa.Connection,
    source: StoredSource,
    snapshot: Sequence[Record],
    changed: Collection[str],
) -> None:
    """Make the memories of a source those of a snapshot; of its records only the `changed` ones are looked at.

    Raises InvalidInput `source.record` for one that can be no memory; whoever began the transaction ends it then.
    """
    named = conversions.source_named(source.name)
    taken = [each for each in snapshot if each.id in changed]
    places: set[str] = set()
    for start in range(0, len(taken), _BATCH):
        places |= _write(memories, connection, source, taken[start : start + _BATCH])
    _supersede(memories, connection, named, snapshot)
    there = {each.id for each in snapshot} - {each.id for each in taken}
    gone = [
        f"{named}#{place}"
        for place in said_rows.places(connection, memories.scope_id, named)
        if place not in places and conversions.record_of(place) not in there
    ]
    memories.withdraw(connection, gone, edited_stay=True)


def _write(memories: Memories, connection: sa.Connection, source: StoredSource, taken: Sequence[Record]) -> set[str]:
    """Make memories of some records; return the places that they have in their source."""
    writer = memories.writer(connection, "mask")  # what is local to their machine says nothing here
    items = [item for record in taken for item in _cleaned(writer, source, record)]
    for item, done in zip(items, writer.write(items), strict=True):
        if done.verdict == "known" and done.memory is not None:
            _bring_up_to_date(writer, done.memory, item)
    writer.finish()
    return {said_rows.split(item.provenance.ref)[1] for item in items}


def withhold(memories: Memories, connection: sa.Connection, source: StoredSource) -> int:
    """Take the memories of a source out of the store until it is taken again; return how many went.

    They are not marked but removed: so no search, pack, session, pin or hook has to know of it, now or ever. What the
    user made of them stays so when they come back: a text that he forgot, replaced, or wrote anew.
    """
    named = conversions.source_named(source.name)
    return memories.withdraw(connection, [named], edited_stay=True, for_a_while=True)


def _cleaned(writer: Writer, source: StoredSource, record: Record) -> Iterable[Item]:
    for item in items_of(source, record):
        try:
            yield writer.clean(item)
        except SegueError as error:
            if error.exit_code == 1:
                raise
            message = f"{record.path}: it can be no memory: {error.message}"
            raise InvalidInput("source.record", message, {"where": record.path, "rule": "record.memory"}) from None


def _bring_up_to_date(writer: Writer, memory: Memory, item: Item) -> None:
    """Give a memory whose text is the same the details that its record has now, unless a person has edited it."""
    now = replace(
        memory,
        kind=item.kind,
        layer=item.layer,
        summary=item.summary,
        entities=item.entities,
        tags=item.tags,
        confidence=item.confidence,
        occurred_at=making.instant("occurred_at", item.occurred_at),
        valid_to=making.instant("valid_to", item.valid_to),
        provenance=replace(memory.provenance, url=item.provenance.url, author=item.provenance.author),
    )
    if now != memory and memory.revision == 1:
        writer.rewrite(memory, now)


def _supersede(memories: Memories, connection: sa.Connection, named: str, snapshot: Sequence[Record]) -> None:
    """Retire what a record of the source says it supersedes, and have back what none supersedes any more."""
    scope = memories.scope_id
    above = {old: record.id for record in snapshot for old in record.supersedes}
    said = said_rows.from_source(connection, scope, named)
    held = rows.by_ids(connection, scope, [each.memory_id for each in said])
    first = {each.place: each.memory_id for each in said}
    writer = memories.writer(connection)
    over = {}
    revived = set()
    for each in said:
        memory = held.get(each.memory_id)
        if memory is None or memory.revision > 1:
            continue  # what a person has edited is his own
        new_id = over[memory.id] = first.get(_head(above, conversions.record_of(each.place)), "")
        if memory.superseded_by not in ("", new_id) and _revive(connection, writer, memory, named):
            revived.add(memory.id)
    for old_id, new_id in over.items():  # once all that comes back is back: it may be what another is replaced by
        if new_id and (old_id in revived or held[old_id].status == "active"):
            memories.replace_quietly(connection, writer, old_id, new_id)
    writer.finish()


def _head(above: Mapping[str, str], record_id: str) -> str:
    """The id of the record at the end of what supersedes a record, "" for none. No snapshot goes in circles."""
    head = ""
    while record_id in above:
        head = record_id = above[record_id]
    return head


def _revive(connection: sa.Connection, writer: Writer, memory: Memory, named: str) -> bool:
    """Have a memory back that another one of its source had replaced; what the user replaced stays replaced."""
    successor = rows.get(connection, writer.scope_id, memory.superseded_by)
    if successor is None or successor.provenance.source != named:
        return False
    writer.rewrite(memory, replace(memory, status="active", retired_at=None, superseded_by=""))
    left = tuple(each for each in successor.supersedes if each != memory.id)
    writer.rewrite(successor, replace(successor, supersedes=left))
    return True


def states(connection: sa.Connection, scope_id: str, name: str) -> Mapping[str, list[Memory]]:
    """Return the memories of each record of a source, by the record's id, in the order of its parts."""
    said = said_rows.from_source(connection, scope_id, conversions.source_named(name))
    held = rows.by_ids(connection, scope_id, [each.memory_id for each in said])
    found: dict[str, list[Memory]] = {}
    for each in sorted(said, key=lambda one: (conversions.record_of(one.place), len(one.place), one.place)):
        if each.memory_id in held:
            found.setdefault(conversions.record_of(each.place), []).append(held[each.memory_id])
    return found
