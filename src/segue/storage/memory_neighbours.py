"""The newest memories beside one. What is read is bounded by what is asked for, not by the size of the store."""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING

import sqlalchemy as sa

from segue.storage.tables import memories, memory_entities

if TYPE_CHECKING:
    from collections.abc import Iterable

_SCOPE: sa.BindParameter[str] = sa.bindparam("in_scope")
_MOST: sa.BindParameter[int] = sa.bindparam("most")
_NAMING = (
    sa.select(memory_entities.c.memory_id)
    .where(memory_entities.c.scope_id == _SCOPE, memory_entities.c.key == sa.bindparam("of_key"))
    .order_by(memory_entities.c.memory_id.desc())
    .limit(_MOST)
)


def naming(connection: sa.Connection, scope_id: str, keys: Iterable[str], most: int) -> list[str]:
    """Return the `most` newest memories, by their ids, that name any of the entities, in whatever status."""
    found: set[str] = set()
    for key in keys:  # one at a time: of several at once all rows would be read and sorted
        found.update(connection.execute(_NAMING, {"in_scope": scope_id, "of_key": key, "most": most}).scalars())
    return nlargest(most, found)


_ACTIVE = (
    sa.select(memories.c.id, memories.c.project_key, memories.c.captured_us)
    .where(memories.c.scope_id == _SCOPE, memories.c.status == "active")
    .order_by(memories.c.captured_us.desc(), memories.c.id.desc())
    .limit(sa.bindparam("newest"))
    .subquery()
)


def of_project(connection: sa.Connection, scope_id: str, project_key: str, most: int, newest: int) -> list[str]:
    """Return up to `most` of the `newest` active memories that belong to a project, "" for none, newest first."""
    mine = _ACTIVE.c.project_key == project_key if project_key else _ACTIVE.c.project_key.is_(None)
    query = sa.select(_ACTIVE.c.id).where(mine).order_by(_ACTIVE.c.captured_us.desc(), _ACTIVE.c.id.desc())
    return list(
        connection.execute(query.limit(_MOST), {"in_scope": scope_id, "newest": newest, "most": most}).scalars()
    )
