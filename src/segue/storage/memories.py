"""Rows of memories: written, found, listed, replaced, deleted. What else is kept of them stands in modules beside."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from segue.base import ids
from segue.memories.filter import Filter
from segue.memories.memory import STATUSES, Memory
from segue.storage import bulk, memory_row
from segue.storage.memory_conditions import conditions, is_said, said_no_more
from segue.storage.tables import memories, memory_tags

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from segue.memories.item import Kind

stored = memory_row.stored

_COLUMNS = memories.c
_BATCH = 500
INDEXED = Filter(statuses=("active", "retired"))  # what search keeps rows of
_NEWEST_FIRST = (_COLUMNS.captured_us.desc(), _COLUMNS.id.desc())
_IN_SCOPE = _COLUMNS.scope_id == sa.bindparam("in_scope")
_GET = sa.select(memories).where(_IN_SCOPE, _COLUMNS.id == sa.bindparam("of_id"))
_BY_IDENTITY = (
    sa.select(memories)
    .where(_IN_SCOPE, _COLUMNS.identity.in_(sa.bindparam("identities", expanding=True)))
    .order_by(_COLUMNS.captured_us, _COLUMNS.id)
)
_SET_OCCURRENCES = (
    sa.update(memories)
    .where(_IN_SCOPE, _COLUMNS.id == sa.bindparam("of_id"))
    .values(occurrences=sa.bindparam("counted"))
)


def insert(connection: sa.Connection, scope_id: str, rows: Sequence[tuple[Memory, str]]) -> None:
    """Add memories, each with its identity; their ids must be free in the scope."""
    if rows:
        values = [
            {"scope_id": scope_id, "owner_id": scope_id, **memory_row.columns(memory, named)} for memory, named in rows
        ]
        bulk.insert(connection, memories, values)
        write_tags(connection, scope_id, [memory for memory, _ in rows])


def replace(connection: sa.Connection, scope_id: str, memory: Memory, identity: str) -> None:
    """Write all columns of a memory that is there already, and what it is listed by."""
    connection.execute(
        sa.update(memories)
        .where(*_is(scope_id, memory.id))
        .values(**memory_row.columns(memory, identity, with_id=False))
    )
    connection.execute(
        sa.delete(memory_tags).where(memory_tags.c.scope_id == scope_id, memory_tags.c.memory_id == memory.id)
    )
    write_tags(connection, scope_id, [memory])


def write_tags(connection: sa.Connection, scope_id: str, written: Iterable[Memory]) -> None:
    """Add what memories are listed by to the table of tags."""
    rows = [{"scope_id": scope_id, "tag": tag, "memory_id": each.id} for each in written for tag in each.tags]
    bulk.insert(connection, memory_tags, rows)


def set_occurrences(connection: sa.Connection, scope_id: str, counts: Mapping[str, int]) -> None:
    """Write how many sources say each of the memories."""
    if counts:
        connection.execute(
            _SET_OCCURRENCES,
            [{"in_scope": scope_id, "of_id": each, "counted": count} for each, count in counts.items()],
        )


def delete(connection: sa.Connection, scope_id: str, memory_ids: Sequence[str]) -> int:
    """Remove memories with all that hangs at them; return how many there were."""
    return sum(
        connection.execute(sa.delete(memories).where(_COLUMNS.scope_id == scope_id, _COLUMNS.id.in_(batch))).rowcount
        for batch in batches(memory_ids)
    )


def get(connection: sa.Connection, scope_id: str, memory_id: str) -> Memory | None:
    """Return the memory of that exact id, None where the scope has none."""
    row = connection.execute(_GET, {"in_scope": scope_id, "of_id": memory_id}).one_or_none()
    return None if row is None else stored(row)


def by_ids(
    connection: sa.Connection, scope_id: str, memory_ids: Sequence[str], wanted: Filter | None = None
) -> dict[str, Memory]:
    """Return those of the memories that the scope has, by id; only those that pass `wanted`."""
    rows = _passing(connection, scope_id, memory_ids, wanted or Filter(), sa.select(memories))
    return {row.id: stored(row) for row in rows}


def passing(connection: sa.Connection, scope_id: str, memory_ids: Sequence[str], wanted: Filter) -> set[str]:
    """Return which of the memories pass `wanted`."""
    query = sa.select(_COLUMNS.id, _COLUMNS.status)
    return {row.id for row in _passing(connection, scope_id, memory_ids, wanted, query)}


def _passing(
    connection: sa.Connection, scope_id: str, memory_ids: Sequence[str], wanted: Filter, query: sa.Select[Any]
) -> Iterator[sa.Row[Any]]:
    statuses = wanted.statuses or STATUSES
    # In the query, the status would have SQLite look at every memory of that status rather than at a few ids.
    further = conditions(scope_id, dataclasses.replace(wanted, statuses=()))
    for batch in batches(memory_ids):
        found = connection.execute(query.where(_COLUMNS.scope_id == scope_id, _COLUMNS.id.in_(batch), *further))
        yield from (row for row in found if row.status in statuses)


def by_identity(connection: sa.Connection, scope_id: str, identities: Sequence[str]) -> dict[str, list[Memory]]:
    """Return the memories that have any of the identities, oldest first, by identity."""
    found: dict[str, list[Memory]] = {}
    for batch in batches(identities):
        for row in connection.execute(_BY_IDENTITY, {"in_scope": scope_id, "identities": batch}):
            found.setdefault(row.identity, []).append(stored(row))
    return found


def known(connection: sa.Connection, scope_id: str, memory_ids: Sequence[str]) -> set[str]:
    """Return which of the ids the scope has."""
    found: set[str] = set()
    for batch in batches(memory_ids):
        found |= set(
            connection.execute(
                sa.select(_COLUMNS.id).where(_COLUMNS.scope_id == scope_id, _COLUMNS.id.in_(batch))
            ).scalars()
        )
    return found


def with_ending(connection: sa.Connection, scope_id: str, ending: str, limit: int) -> list[str]:
    """Return up to `limit` ids of the scope that end in `ending`, in any case."""
    if not ending.isascii():
        return []
    # All ids are looked at; to fold each of them would take twice as long.
    as_written = ending[: -ids.LENGTH].lower() + ending[-ids.LENGTH :].upper()
    matches = _COLUMNS.id.endswith(as_written, autoescape=True)
    query = sa.select(_COLUMNS.id).where(_COLUMNS.scope_id == scope_id, matches).order_by(_COLUMNS.id)
    return list(connection.execute(query.limit(limit)).scalars())


def listed(
    connection: sa.Connection, scope_id: str, wanted: Filter, limit: int, after: tuple[int, str] | None
) -> list[Memory]:
    """Return up to `limit` memories, newest first, beginning behind the position `after` (captured_us, id)."""
    query = sa.select(memories).where(_COLUMNS.scope_id == scope_id, *conditions(scope_id, wanted))
    if after is not None:
        query = query.where(sa.tuple_(_COLUMNS.captured_us, _COLUMNS.id) < sa.tuple_(*after))
    return [stored(row) for row in connection.execute(query.order_by(*_NEWEST_FIRST).limit(limit))]


def matching(connection: sa.Connection, scope_id: str, wanted: Filter, limit: int | None = None) -> list[str]:
    """Return the ids of the memories that pass `wanted`, in the order of their ids."""
    query = sa.select(_COLUMNS.id).where(_COLUMNS.scope_id == scope_id, *conditions(scope_id, wanted))
    return list(connection.execute(query.order_by(_COLUMNS.id).limit(limit)).scalars())


def newest(connection: sa.Connection, scope_id: str, wanted: Filter, limit: int) -> list[tuple[int, str]]:
    """Return when up to `limit` memories that pass `wanted` were captured, and their ids, newest first."""
    return [(row.captured_us, row.id) for row in connection.execute(_newest(scope_id, wanted, limit))]


def newest_of_kinds(
    connection: sa.Connection, scope_id: str, wanted: Filter, kinds: Sequence[Kind], limit: int
) -> dict[Kind, list[tuple[int, str]]]:
    """Return what `newest` does of each of the kinds by itself, in one question to the database."""
    found: dict[Kind, list[tuple[int, str]]] = {kind: [] for kind in kinds}
    if not kinds:
        return found
    of_each = [_newest(scope_id, dataclasses.replace(wanted, kinds=(kind,)), limit).subquery() for kind in kinds]
    for row in connection.execute(sa.union_all(*map(sa.select, of_each))):
        found[row.kind].append((row.captured_us, row.id))
    return {kind: sorted(listed, reverse=True) for kind, listed in found.items()}


def _newest(scope_id: str, wanted: Filter, limit: int) -> sa.Select[Any]:
    query = sa.select(_COLUMNS.kind, _COLUMNS.captured_us, _COLUMNS.id)
    query = query.where(_COLUMNS.scope_id == scope_id, *conditions(scope_id, wanted))
    return query.order_by(*_NEWEST_FIRST).limit(limit)


def count(connection: sa.Connection, scope_id: str, wanted: Filter | None = None) -> int:
    """Return how many memories of the scope pass `wanted`."""
    further = conditions(scope_id, wanted) if wanted else []
    query = sa.select(sa.func.count()).select_from(memories).where(_COLUMNS.scope_id == scope_id, *further)
    return connection.execute(query).scalar_one()


def latest(connection: sa.Connection, scope_id: str) -> int:
    """Return when the newest memory of the scope was captured, in microseconds since 1970; 0 where there is none."""
    # One look into the index for each status; over all of them at once every row would be read.
    of_each = [
        sa.select(sa.func.max(_COLUMNS.captured_us))
        .where(_COLUMNS.scope_id == scope_id, _COLUMNS.status == status)
        .scalar_subquery()
        for status in STATUSES
    ]
    return max((each for each in connection.execute(sa.select(*of_each)).one() if each is not None), default=0)


def said_before(connection: sa.Connection, scope_id: str, source: str) -> list[str]:
    """Return the memories that a source said first and that no place says any more: what it said in earlier states.

    `source` may name one place in it: `source#place`.
    """
    return sorted(row.id for row in connection.execute(said_no_more(scope_id, source)))


def unsaid(connection: sa.Connection, scope_id: str) -> list[str]:
    """Return the refs of the memories that no place says any more, those that were said by hand left out."""
    mine = _COLUMNS.scope_id == scope_id, _COLUMNS.origin != "text"
    return list(connection.execute(sa.select(_COLUMNS.ref).where(*mine, ~is_said(scope_id, _COLUMNS.id))).scalars())


def newer(connection: sa.Connection, scope_id: str, captured_us: int) -> list[Memory]:
    """Return the memories that were captured later, those that wait for review left out."""
    query = sa.select(memories).where(
        _COLUMNS.scope_id == scope_id, _COLUMNS.captured_us > captured_us, _COLUMNS.status != "pending"
    )
    return [stored(row) for row in connection.execute(query)]


def above(connection: sa.Connection, scope_id: str, memory_id: str) -> str:
    """Return the id of what replaces a memory, "" for nothing."""
    query = sa.select(_COLUMNS.superseded_by).where(*_is(scope_id, memory_id))
    return connection.execute(query).scalar() or ""


def each(connection: sa.Connection, scope_id: str, wanted: Filter | None = None, after: str = "") -> Iterator[Memory]:
    """Yield the memories of a scope in the order of their ids, beginning behind the id `after`."""
    while True:
        found = following(connection, scope_id, wanted or Filter(), after, _BATCH)
        yield from found
        if len(found) < _BATCH:
            return
        after = found[-1].id


def following(connection: sa.Connection, scope_id: str, wanted: Filter, after: str, limit: int) -> list[Memory]:
    """Return up to `limit` memories that pass `wanted`, in the order of their ids, behind the id `after`."""
    query = sa.select(memories).where(_COLUMNS.scope_id == scope_id, _COLUMNS.id > after, *conditions(scope_id, wanted))
    return [stored(row) for row in connection.execute(query.order_by(_COLUMNS.id).limit(limit))]


def count_to(connection: sa.Connection, scope_id: str, wanted: Filter, last: str) -> int:
    """Return how many memories that pass `wanted` have ids up to `last`."""
    query = sa.select(sa.func.count()).select_from(memories)
    query = query.where(_COLUMNS.scope_id == scope_id, _COLUMNS.id <= last, *conditions(scope_id, wanted))
    return connection.execute(query).scalar_one()


def around(connection: sa.Connection, scope_id: str, thread: str, first: int, last: int) -> list[tuple[int, str]]:
    """Return position and text of what stands in a thread from one position to another, in its order."""
    query = sa.select(_COLUMNS.position, _COLUMNS.content).where(
        _COLUMNS.scope_id == scope_id,
        _COLUMNS.thread == thread,
        _COLUMNS.position.between(first, last),
        _COLUMNS.status != "pending",
    )
    return [(row[0], row[1]) for row in connection.execute(query.order_by(_COLUMNS.position, _COLUMNS.id))]


def batches(values: Sequence[str]) -> Iterator[list[str]]:
    """Yield `values` in lists that one query takes."""
    for start in range(0, len(values), _BATCH):
        yield list(values[start : start + _BATCH])


def _is(scope_id: str, memory_id: str) -> tuple[sa.ColumnElement[bool], ...]:
    return _COLUMNS.scope_id == scope_id, _COLUMNS.id == memory_id
