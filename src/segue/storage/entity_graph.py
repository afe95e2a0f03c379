"""Which entities stand in the same memories, among those that hold at a time."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import sqlalchemy as sa

from segue.storage import memories, memory_neighbours
from segue.storage.memories import batches
from segue.storage.tables import entity_aliases, memory_entities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from segue.memories.filter import Filter

_COLUMNS = memory_entities.c


def known(connection: sa.Connection, scope_id: str, keys: Sequence[str]) -> dict[str, str]:
    """Return the entity of each of the keys that memories name, or that is another name of an entity, by key."""
    found: dict[str, str] = {}
    alias = entity_aliases.c
    for batch in batches([each for each in keys if "\0" not in each]):  # which PostgreSQL takes in no text
        query = sa.select(_COLUMNS.key).where(_COLUMNS.scope_id == scope_id, _COLUMNS.key.in_(batch)).distinct()
        found |= {key: key for key in connection.execute(query).scalars()}
        others = sa.select(alias.alias, alias.key).where(alias.scope_id == scope_id, alias.alias.in_(batch))
        found |= {row.alias: row.key for row in connection.execute(others)}
    return found


def naming(connection: sa.Connection, scope_id: str, keys: Sequence[str], wanted: Filter, limit: int) -> list[str]:
    """Return the ids of up to `limit` memories that name any of the entities and pass `wanted`, newest first.

    What is read goes by `limit`, however many name them; only where most do not pass is it more.
    """
    most = 2 * limit
    while True:
        near = memory_neighbours.naming(connection, scope_id, keys, most)
        passing = memories.passing(connection, scope_id, near, wanted)
        if len(passing) >= limit or len(near) < most:
            return [each for each in near if each in passing][:limit]
        most *= 4


def beside(
    connection: sa.Connection, scope_id: str, keys: Sequence[str], memory_ids: Sequence[str]
) -> list[tuple[str, str, int]]:
    """Return the other entities that the memories name: key, name, in how many of them; the most frequent first."""
    found: list[sa.Row[tuple[str, str, str]]] = []
    for batch in batches(memory_ids):
        query = sa.select(_COLUMNS.memory_id, _COLUMNS.key, _COLUMNS.name).where(
            _COLUMNS.scope_id == scope_id, _COLUMNS.memory_id.in_(batch)
        )
        found += connection.execute(query)
    counted: Counter[str] = Counter()
    names: dict[str, str] = {}
    for row in sorted(found, key=lambda row: row.memory_id):  # by the query, SQLite would walk all names in their order
        if row.key not in keys:
            counted[row.key] += 1
            names.setdefault(row.key, row.name)
    return sorted(((key, names[key], count) for key, count in counted.items()), key=lambda each: (-each[2], each[0]))
