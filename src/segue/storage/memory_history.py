"""What memories said before, which of them contradict each other, and what is left of those that were forgotten."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from segue.base import jsontext, time
from segue.storage.memories import batches
from segue.storage.tables import memory_conflicts, memory_tombstones, memory_versions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from segue.memories.memory import Memory


@dataclass(frozen=True, slots=True)
class Version:
    """What a memory said until `replaced_at`: `body` as `Memory.to_json` gives it."""

    revision: int
    replaced_at: datetime
    actor: str
    body: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return the shape of a version in `segue memories history --json`."""
        return {"revision": self.revision, "replaced_at": time.to_text(self.replaced_at), "actor": self.actor} | {
            "memory": self.body
        }


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two memories that cannot both be taken as they stand; `reason` is overlap, value or polarity or contested."""

    memory_id: str
    other_id: str
    reason: str
    found_at: datetime

    def to_json(self) -> dict[str, Any]:
        """Return the shape of a conflict in `segue memories show --json`."""
        return {
            "memory_id": self.memory_id,
            "other_id": self.other_id,
            "reason": self.reason,
            "found_at": time.to_text(self.found_at),
        }


UNHASHED = "0" * 64  # of what may come back: its source was removed, nobody meant its text


@dataclass(frozen=True, slots=True)
class Tombstone:
    """All that is left of a forgotten memory: `keyed_hash` names its text to nobody without the store's key.

    A memory that said several things has as many.
    """

    id: str
    keyed_hash: str
    forgotten_at: datetime
    reason: str


def keep_version(connection: sa.Connection, scope_id: str, memory: Memory, now: datetime, actor: str) -> None:
    """Keep what a memory says, before it says something else."""
    connection.execute(
        sa.insert(memory_versions).values(
            scope_id=scope_id,
            memory_id=memory.id,
            revision=memory.revision,
            replaced_us=time.microseconds(now),
            actor=actor,
            body=jsontext.dump(memory.to_json(), sort_keys=True).decode(),
        )
    )


def versions(connection: sa.Connection, scope_id: str, memory_id: str) -> list[Version]:
    """Return what a memory said before, oldest first."""
    columns = memory_versions.c
    query = sa.select(memory_versions).where(columns.scope_id == scope_id, columns.memory_id == memory_id)
    return [
        Version(row.revision, time.from_microseconds(row.replaced_us), row.actor, jsontext.parse(row.body.encode()))
        for row in connection.execute(query.order_by(columns.revision))
    ]


def add_conflict(connection: sa.Connection, scope_id: str, conflict: Conflict) -> bool:
    """Record a conflict, once for each pair; return whether it is new."""
    first, second = sorted((conflict.memory_id, conflict.other_id))
    columns = memory_conflicts.c
    query = sa.select(columns.reason).where(
        columns.scope_id == scope_id, columns.memory_id == first, columns.other_id == second
    )
    if connection.execute(query).first() is not None:
        return False
    connection.execute(
        sa.insert(memory_conflicts).values(
            scope_id=scope_id,
            memory_id=first,
            other_id=second,
            reason=conflict.reason,
            found_us=time.microseconds(conflict.found_at),
        )
    )
    return True


def conflicts(connection: sa.Connection, scope_id: str, memory_ids: Sequence[str]) -> list[Conflict]:
    """Return the conflicts in which any of the memories stands."""
    columns = memory_conflicts.c
    found: set[Conflict] = set()
    for batch in batches(memory_ids):
        query = sa.select(memory_conflicts).where(
            columns.scope_id == scope_id, columns.memory_id.in_(batch) | columns.other_id.in_(batch)
        )
        found |= {
            Conflict(row.memory_id, row.other_id, row.reason, time.from_microseconds(row.found_us))
            for row in connection.execute(query)
        }
    return sorted(found, key=lambda each: (each.found_at, each.memory_id, each.other_id))


def bury(connection: sa.Connection, scope_id: str, stones: Sequence[Tombstone], generation: int) -> None:
    """Keep what is left of forgotten memories."""
    known = {(each.id, each.keyed_hash) for each in tombstones(connection, scope_id, [stone.id for stone in stones])}
    rows = [
        {
            "scope_id": scope_id,
            "id": stone.id,
            "keyed_hash": stone.keyed_hash,
            "forgotten_us": time.microseconds(stone.forgotten_at),
            "reason": stone.reason,
            "generation": generation,
        }
        for stone in stones
        if (stone.id, stone.keyed_hash) not in known
    ]
    if rows:
        connection.execute(sa.insert(memory_tombstones), rows)


def tombstones(connection: sa.Connection, scope_id: str, memory_ids: Sequence[str]) -> list[Tombstone]:
    """Return what is left of those of the memories that were forgotten."""
    columns = memory_tombstones.c
    found: list[Tombstone] = []
    for batch in batches(list(dict.fromkeys(memory_ids))):
        query = sa.select(memory_tombstones).where(columns.scope_id == scope_id, columns.id.in_(batch))
        found += [_tombstone(row) for row in connection.execute(query.order_by(columns.id, columns.keyed_hash))]
    return found


def all_tombstones(connection: sa.Connection, scope_id: str) -> list[Tombstone]:
    """Return what is left of all forgotten memories, in the order of their ids."""
    query = sa.select(memory_tombstones).where(memory_tombstones.c.scope_id == scope_id)
    return [
        _tombstone(row)
        for row in connection.execute(query.order_by(memory_tombstones.c.id, memory_tombstones.c.keyed_hash))
    ]


def forgotten(connection: sa.Connection, scope_id: str, keyed_hashes: Sequence[str]) -> set[str]:
    """Return which of the keyed hashes are those of forgotten texts."""
    found: set[str] = set()
    for batch in batches(keyed_hashes):
        found |= set(connection.execute(_FORGOTTEN, {"in_scope": scope_id, "hashes": batch}).scalars())
    return found


_FORGOTTEN = sa.select(memory_tombstones.c.keyed_hash).where(
    memory_tombstones.c.scope_id == sa.bindparam("in_scope"),
    memory_tombstones.c.keyed_hash.in_(sa.bindparam("hashes", expanding=True)),
)


def _tombstone(row: sa.Row[Any]) -> Tombstone:
    return Tombstone(row.id, row.keyed_hash, time.from_microseconds(row.forgotten_us), row.reason)
