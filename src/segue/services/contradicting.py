"""What a new memory contradicts, among those that it is likely to: looked at alike, however large the store is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segue.base import text
from segue.memories import conflicts
from segue.storage import memories as rows
from segue.storage import memory_entities as entity_rows
from segue.storage import memory_history as history
from segue.storage import memory_neighbours as neighbours

if TYPE_CHECKING:
    from datetime import datetime

    import sqlalchemy as sa

    from segue.memories.memory import Memory

_LOOKED_AT = 50  # memories of the same entities, and as many of the same project
_LOOKED_THROUGH = 1_000  # newest memories among which those of the project are sought


def contradicted(connection: sa.Connection, scope_id: str, memory: Memory, now: datetime) -> tuple[str, ...]:
    """Record which active memories of its project a new one contradicts, and return their ids.

    It is compared with the newest of those that name the same, and of its project.
    """
    keys = [each.key for each in entity_rows.of(connection, scope_id, [memory.id]).get(memory.id, [])]
    project = text.fold(memory.project)
    alike = neighbours.naming(connection, scope_id, keys, _LOOKED_AT)
    beside = neighbours.of_project(connection, scope_id, project, _LOOKED_AT, _LOOKED_THROUGH)
    found = []
    for other in rows.by_ids(connection, scope_id, list({*alike, *beside} - {memory.id})).values():
        if other.status != "active" or text.fold(other.project) != project:
            continue
        reason = conflicts.contradiction(memory.content, other.content)
        if reason:
            history.add_conflict(connection, scope_id, history.Conflict(memory.id, other.id, reason, now))
            found.append(other.id)
    return tuple(sorted(found))
