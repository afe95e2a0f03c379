"""Rows as an export reads them, in the order of their ids, and as an import writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from segue.base import jsontext, time
from segue.storage import capsules as capsule_rows
from segue.storage import memory_history as history
from segue.storage import packets as packet_rows
from segue.storage.memories import batches
from segue.storage.tables import (
    capsules,
    entity_aliases,
    memories,
    memory_conflicts,
    memory_tombstones,
    memory_versions,
    packets,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from segue.storage.capsules import StoredCapsule
    from segue.storage.memory_history import Conflict, Version
    from segue.storage.packets import StoredPacket

TABLES = {
    "packet": packets,
    "capsule": capsules,
    "alias": entity_aliases,
    "memory": memories,
    "conflict": memory_conflicts,
    "tombstone": memory_tombstones,
}


def counts(connection: sa.Connection, scope_id: str) -> dict[str, int]:
    """Return how many rows of each kind in TABLES the scope has."""
    return {
        kind: connection.execute(
            sa.select(sa.func.count()).select_from(table).where(table.c.scope_id == scope_id)
        ).scalar_one()
        for kind, table in TABLES.items()
    }


def all_packets(connection: sa.Connection, scope_id: str) -> Iterator[StoredPacket]:
    """Yield the packets of a scope in the order of their ids."""
    for each in sorted(packet_rows.all_ids(connection, scope_id)):
        found = packet_rows.get(connection, scope_id, each)
        if found is not None:
            yield found


def all_capsules(connection: sa.Connection, scope_id: str) -> Iterator[StoredCapsule]:
    """Yield the capsules of a scope in the order of their ids."""
    for each in sorted(capsule_rows.all_ids(connection, scope_id)):
        found = capsule_rows.get(connection, scope_id, each)
        if found is not None:
            yield found


def versions_of(connection: sa.Connection, scope_id: str, memory_ids: Sequence[str]) -> dict[str, list[Version]]:
    """Return what each of the memories said before, oldest first."""
    columns = memory_versions.c
    found: dict[str, list[Version]] = {}
    for batch in batches(memory_ids):
        query = sa.select(memory_versions).where(columns.scope_id == scope_id, columns.memory_id.in_(batch))
        for row in connection.execute(query.order_by(columns.memory_id, columns.revision)):
            replaced = time.from_microseconds(row.replaced_us)
            body = jsontext.parse(row.body.encode())
            found.setdefault(row.memory_id, []).append(history.Version(row.revision, replaced, row.actor, body))
    return found


def add_versions(connection: sa.Connection, scope_id: str, versions: Iterable[tuple[str, Version]]) -> None:
    """Add what memories said before; each revision must be free."""
    rows = [
        {
            "scope_id": scope_id,
            "memory_id": memory_id,
            "revision": version.revision,
            "replaced_us": time.microseconds(version.replaced_at),
            "actor": version.actor,
            "body": jsontext.dump(version.body, sort_keys=True).decode(),
        }
        for memory_id, version in versions
    ]
    if rows:
        connection.execute(sa.insert(memory_versions), rows)


def all_conflicts(connection: sa.Connection, scope_id: str) -> list[Conflict]:
    """Return all conflicts of a scope, in the order of their ids."""
    columns = memory_conflicts.c
    query = sa.select(memory_conflicts).where(columns.scope_id == scope_id)
    return [
        history.Conflict(row.memory_id, row.other_id, row.reason, time.from_microseconds(row.found_us))
        for row in connection.execute(query.order_by(columns.memory_id, columns.other_id))
    ]


def replaced(connection: sa.Connection, scope_id: str) -> dict[str, str]:
    """Return the memories that something replaces, each with the id of that."""
    columns = memories.c
    query = sa.select(columns.id, columns.superseded_by)
    query = query.where(columns.scope_id == scope_id, columns.superseded_by.is_not(None))
    return {row[0]: row[1] for row in connection.execute(query)}


def replacing(connection: sa.Connection, scope_id: str) -> dict[str, list[str]]:
    """Return the memories that replaced others, each with the ids of those; not those that wait for review."""
    columns = memories.c
    query = sa.select(columns.id, columns.supersedes)
    query = query.where(columns.scope_id == scope_id, columns.supersedes.is_not(None), columns.status != "pending")
    return {row[0]: jsontext.parse(row[1].encode()) for row in connection.execute(query)}
