"""Memories whose rows cannot be read as they are, read all the same: to be forgotten, not to be served.

SQLite takes any type in any column, and a disk loses bits. Tags are taken from their table; what else does not read
is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import orjson
import sqlalchemy as sa

from segue.base import time
from segue.storage import memories as rows
from segue.storage.tables import memories, memory_tags

if TYPE_CHECKING:
    from collections.abc import Sequence

    from segue.memories.memory import Memory

_LISTS = ("entities", "tags", "supersedes")
_TIMES = ("occurred_us", "captured_us", "valid_from_us", "valid_to_us", "retired_us")
_NUMBERS: dict[str, int | None] = {"occurrences": 1, "revision": 1, "position": None}
_TEXTS = tuple(each.name for each in memories.columns if isinstance(each.type, sa.String) and each.name not in _LISTS)


def read(connection: sa.Connection, scope_id: str, memory_ids: Sequence[str]) -> list[Memory]:
    """Return those of the memories that the scope has, in the order of their ids, whatever their rows hold."""
    found: list[Memory] = []
    for batch in rows.batches(memory_ids):
        query = sa.select(memories).where(memories.c.scope_id == scope_id, memories.c.id.in_(batch))
        found += [_read(connection, row) for row in connection.execute(query.order_by(memories.c.id)).all()]
    return found


def _read(connection: sa.Connection, row: sa.Row[Any]) -> Memory:
    values = dict(row._mapping)
    for name in _TEXTS:
        values[name] = _text(values[name])
    for name in _LISTS:
        if values[name] is not None and not _is_list(values[name]):
            values[name] = orjson.dumps(_tags(connection, row) if name == "tags" else []).decode()
    for name in _TIMES:
        values[name] = values[name] if _is_time(values[name]) else None
    values["captured_us"] = values["captured_us"] or 0
    for name, otherwise in _NUMBERS.items():
        values[name] = values[name] if isinstance(values[name], int) else otherwise
    return rows.stored(cast("sa.Row[Any]", tuple(values.values())))


def _tags(connection: sa.Connection, row: sa.Row[Any]) -> list[str]:
    columns = memory_tags.c
    query = sa.select(columns.tag).where(columns.scope_id == row.scope_id, columns.memory_id == row.id)
    return list(connection.execute(query.order_by(columns.tag)).scalars())


def _text(value: object) -> str | None:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if value is None or isinstance(value, str) else str(value)


def _is_list(written: object) -> bool:
    try:
        found = orjson.loads(written) if isinstance(written, str) else None
    except ValueError:
        return False
    return isinstance(found, list) and all(isinstance(each, str) for each in found)


def _is_time(value: object) -> bool:
    if not isinstance(value, int):
        return False
    try:
        time.from_microseconds(value)
    except (OverflowError, ValueError):
        return False
    return True
