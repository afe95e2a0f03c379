"""Which entities memories name, under which names people know them, and what stands beside what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from segue.storage import bulk
from segue.storage.memories import batches
from segue.storage.tables import entity_aliases, memories, memory_entities

if TYPE_CHECKING:
    from collections.abc import Sequence

_COLUMNS = memory_entities.c
_ALIASES = entity_aliases.c
LATELY = 10_000  # entities of the newest memories
_NEWEST = (
    sa.select(_COLUMNS.key, _COLUMNS.name, _COLUMNS.given)
    .where(_COLUMNS.scope_id == sa.bindparam("in_scope"))
    .order_by(_COLUMNS.memory_id.desc(), _COLUMNS.key.desc())
    .limit(sa.bindparam("lately"))
    .subquery()
)
_KNOWN = (
    sa.select(sa.func.min(_NEWEST.c.name))
    .where(_NEWEST.c.given.is_(True))
    .group_by(_NEWEST.c.key)
    .order_by(sa.func.count().desc(), _NEWEST.c.key)
    .limit(sa.bindparam("most"))
)
_ALL_ALIASES = sa.select(entity_aliases).where(_ALIASES.scope_id == sa.bindparam("in_scope")).order_by(_ALIASES.alias)


@dataclass(frozen=True, slots=True)
class Named:
    """That a memory names an entity: `key` is the folded name, `given` whether the writer said so himself."""

    memory_id: str
    key: str
    name: str
    given: bool


@dataclass(frozen=True, slots=True)
class Alias:
    """Another name of an entity, with both names as they are written and as they are compared."""

    alias: str
    alias_name: str
    key: str
    name: str


def write(connection: sa.Connection, scope_id: str, memory_ids: Sequence[str], named: Sequence[Named]) -> None:
    """Write what memories name, in the place of what was written for them before."""
    for batch in batches(memory_ids):
        connection.execute(
            sa.delete(memory_entities).where(_COLUMNS.scope_id == scope_id, _COLUMNS.memory_id.in_(batch))
        )
    rows = [
        {"scope_id": scope_id, "key": each.key, "memory_id": each.memory_id, "name": each.name, "given": each.given}
        for each in named
    ]
    bulk.insert(connection, memory_entities, rows)


def of(connection: sa.Connection, scope_id: str, memory_ids: Sequence[str]) -> dict[str, list[Named]]:
    """Return what each of the memories names: what its writer said first, then by name."""
    found: dict[str, list[Named]] = {}
    for batch in batches(memory_ids):
        query = sa.select(memory_entities).where(_COLUMNS.scope_id == scope_id, _COLUMNS.memory_id.in_(batch))
        for row in connection.execute(query.order_by(_COLUMNS.given.desc(), _COLUMNS.key)):
            found.setdefault(row.memory_id, []).append(Named(row.memory_id, row.key, row.name, row.given))
    return found


def known(connection: sa.Connection, scope_id: str, limit: int, lately: int = LATELY) -> list[str]:
    """Return up to `limit` names that writers gave themselves lately, the most frequent first.

    Lately: in the newest memories, as far as these name `lately` entities. All names of a large store take too long.
    """
    return list(connection.execute(_KNOWN, {"in_scope": scope_id, "most": limit, "lately": lately}).scalars())


def listed(connection: sa.Connection, scope_id: str, limit: int) -> list[tuple[str, str, int]]:
    """Return key, name and number of active memories of up to `limit` entities, the most frequent first."""
    number = sa.func.count()
    query = (
        sa.select(_COLUMNS.key, sa.func.min(_COLUMNS.name), number)
        .join(memories, (memories.c.scope_id == _COLUMNS.scope_id) & (memories.c.id == _COLUMNS.memory_id))
        .where(_COLUMNS.scope_id == scope_id, memories.c.status == "active")
        .group_by(_COLUMNS.key)
        .order_by(number.desc(), _COLUMNS.key)
        .limit(limit)
    )
    return [(row[0], row[1], row[2]) for row in connection.execute(query)]


def memories_naming(connection: sa.Connection, scope_id: str, keys: Sequence[str], limit: int) -> list[str]:
    """Return up to `limit` active memories that name any of the entities, the newest first."""
    query = (
        sa.select(memories.c.id, memories.c.captured_us)
        .join(memory_entities, (memories.c.scope_id == _COLUMNS.scope_id) & (memories.c.id == _COLUMNS.memory_id))
        .where(_COLUMNS.scope_id == scope_id, _COLUMNS.key.in_(keys), memories.c.status == "active")
        .distinct()
        .order_by(memories.c.captured_us.desc(), memories.c.id.desc())
        .limit(limit)
    )
    return list(connection.execute(query).scalars())


def all_naming(connection: sa.Connection, scope_id: str, keys: Sequence[str], after: str, limit: int) -> list[str]:
    """Return up to `limit` memories behind `after`, of any status, that name any of the entities, in order."""
    query = sa.select(_COLUMNS.memory_id).where(
        _COLUMNS.scope_id == scope_id, _COLUMNS.key.in_(keys), _COLUMNS.memory_id > after
    )
    return list(connection.execute(query.distinct().order_by(_COLUMNS.memory_id).limit(limit)).scalars())


def beside(connection: sa.Connection, scope_id: str, keys: Sequence[str], limit: int) -> list[tuple[str, str, int]]:
    """Return the entities that active memories name together with any of `keys`: key, name, how many do."""
    other = memory_entities.alias("other")
    number = sa.func.count(sa.distinct(other.c.memory_id))
    query = (
        sa.select(other.c.key, sa.func.min(other.c.name), number)
        .join(memory_entities, (other.c.scope_id == _COLUMNS.scope_id) & (other.c.memory_id == _COLUMNS.memory_id))
        .join(memories, (memories.c.scope_id == _COLUMNS.scope_id) & (memories.c.id == _COLUMNS.memory_id))
        .where(
            _COLUMNS.scope_id == scope_id,
            _COLUMNS.key.in_(keys),
            other.c.key.not_in(keys),
            memories.c.status == "active",
        )
        .group_by(other.c.key)
        .order_by(number.desc(), other.c.key)
        .limit(limit)
    )
    return [(row[0], row[1], row[2]) for row in connection.execute(query)]


def aliases(connection: sa.Connection, scope_id: str) -> list[Alias]:
    """Return all other names of entities, in the order of their keys."""
    rows = connection.execute(_ALL_ALIASES, {"in_scope": scope_id})
    return [Alias(row.alias, row.alias_name, row.key, row.name) for row in rows]


def remove_alias(connection: sa.Connection, scope_id: str, alias: str) -> None:
    """Let a name be no alias any more; what memories name is for the caller to write anew."""
    connection.execute(sa.delete(entity_aliases).where(_ALIASES.scope_id == scope_id, _ALIASES.alias == alias))


def add_alias(connection: sa.Connection, scope_id: str, new: Alias) -> None:
    """Say that `new.alias` is another name of `new.key`, which must be no alias itself; what it named follows."""
    connection.execute(sa.delete(entity_aliases).where(_ALIASES.scope_id == scope_id, _ALIASES.alias == new.alias))
    connection.execute(
        sa.insert(entity_aliases).values(
            scope_id=scope_id, alias=new.alias, alias_name=new.alias_name, key=new.key, name=new.name
        )
    )
    connection.execute(
        sa.update(entity_aliases)
        .where(_ALIASES.scope_id == scope_id, _ALIASES.key == new.alias)
        .values(key=new.key, name=new.name)
    )
    both = sa.select(_COLUMNS.memory_id).where(_COLUMNS.scope_id == scope_id, _COLUMNS.key == new.key)
    connection.execute(
        sa.delete(memory_entities).where(
            _COLUMNS.scope_id == scope_id, _COLUMNS.key == new.alias, _COLUMNS.memory_id.in_(both)
        )
    )
    connection.execute(
        sa.update(memory_entities)
        .where(_COLUMNS.scope_id == scope_id, _COLUMNS.key == new.alias)
        .values(key=new.key, name=new.name)
    )
