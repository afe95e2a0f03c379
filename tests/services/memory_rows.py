"""What tests of memories look at behind the services: all that a store holds, and what its index holds."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from segue.search.entry import Entry
from segue.services.indexing import indexed_text
from segue.storage import memories as memory_rows
from segue.storage import memory_index, memory_sources, tables

if TYPE_CHECKING:
    import segue
    from segue.memories.memory import Memory


def everything(opened: segue.Segue) -> str:
    """Every value of every table, as text: bytes too, so that nothing hides."""
    found: list[str] = []
    with opened._database.read() as connection:
        for table in tables.metadata.sorted_tables:
            for row in connection.execute(sa.select(table)):
                found += [bytes(each).decode("latin-1") if isinstance(each, bytes) else str(each) for each in row]
    return "\n".join(found)


def rows_of(opened: segue.Segue, name: str) -> list[dict[str, Any]]:
    """The rows of one table."""
    with opened._database.read() as connection:
        return [dict(row._mapping) for row in connection.execute(sa.select(tables.metadata.tables[name]))]


def listed(opened: segue.Segue, **wanted: Any) -> list[Memory]:
    """All memories that pass the filters, newest first."""
    found: list[Memory] = []
    cursor = None
    while True:
        page = opened.memories.ls(limit=500, cursor=cursor, **wanted)
        found += page.memories
        cursor = page.cursor
        if cursor is None:
            return found


def contents(opened: segue.Segue, status: str = "active") -> set[str]:
    """The texts of a status."""
    return {each.content for each in listed(opened, statuses=[status])}


def require_sound(opened: segue.Segue) -> None:
    """Assert that links hold both ways, occurrences are places, and index and word counts are those of the texts."""
    with opened._database.read() as connection:
        every = {each.id: each for each in memory_rows.each(connection, opened.memories.scope_id)}
        places = memory_sources.counts(connection, opened.memories.scope_id, list(every))
        words = memory_index.words(connection, opened.memories.scope_id)
        state = memory_index.state(connection, opened.memories.scope_id)
        indexed = {row["memory_id"] for row in rows_of(opened, "memory_index")}
    for memory in every.values():
        assert memory.occurrences == max(places[memory.id], 1), memory
        for old in memory.supersedes:
            assert memory.status == "pending" or old not in every or every[old].superseded_by == memory.id
        if memory.superseded_by:
            assert memory.status == "retired"
            newer = every.get(memory.superseded_by)
            assert newer is None or memory.id in newer.supersedes
    served = {each.id: each for each in every.values() if each.status != "pending"}
    assert indexed == set(served)
    counted: Counter[str] = Counter()
    for memory in served.values():
        counted.update(Entry.of(indexed_text(memory)).words)
    assert words == dict(counted)
    assert state.words == counted.total()


def tally(opened: segue.Segue) -> dict[str, object]:
    """What must be the same after the same was imported, however often it was tried; ids and times left out."""
    with opened._database.read() as connection:
        scope = opened.memories.scope_id
        every = list(memory_rows.each(connection, scope))
        words = memory_index.words(connection, scope)
        total = memory_index.state(connection, scope).words
    return {
        "memories": sorted((each.content, each.status, each.occurrences, each.thread, each.position) for each in every),
        "sources": sorted((row["source"], row["place"], row["identity"]) for row in rows_of(opened, "memory_sources")),
        "index": sorted((row["terms"], row["counts"], row["length"]) for row in rows_of(opened, "memory_index")),
        "vectors": sum(row["vector"] is not None for row in rows_of(opened, "memory_index")),
        "words": (words, total),
        "tags": len(rows_of(opened, "memory_tags")),
        "entities": sorted(row["key"] for row in rows_of(opened, "memory_entities")),
    }
