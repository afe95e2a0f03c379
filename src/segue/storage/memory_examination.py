"""The doctor's eyes for memories: columns and lists that follow from others, and what replaces what at both ends.

Below that, what the services ask to compare what search keeps with the memories it is made from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import sqlalchemy as sa

from segue.base import text
from segue.memories import identity as same
from segue.memories.filter import Filter
from segue.memories.item import AUTHOR_CLASSES, KINDS, LAYERS, ORIGINS
from segue.memories.memory import STATUSES
from segue.packets import lineage
from segue.storage import memories as rows
from segue.storage import memory_history as history
from segue.storage import memory_sources as sources
from segue.storage.findings import Finding
from segue.storage.memory_conditions import conditions
from segue.storage.memory_sources import Said
from segue.storage.tables import (
    memories,
    memory_index,
    memory_meanings,
    memory_state,
    memory_tags,
    memory_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from segue.memories.memory import Memory

_COLUMNS = memories.c
_BATCH = 500
_FIRST_US, _LAST_US = -62_135_596_800_000_000, 253_402_300_799_999_999  # years 1 to 9999
_DAY_US = 86_400_000_000  # an offset reaches so far beyond the edges of the calendar
_MEND = "`segue forget` it, or restore a backup"


def scopes(connection: sa.Connection) -> list[str]:
    """Return the scopes that have memories, or anything made from them."""
    found: set[str] = set()
    for table in (memories, memory_words, memory_state):
        found |= set(connection.execute(sa.select(table.c.scope_id).distinct()).scalars())
    return sorted(found)


def examine(connection: sa.Connection, *, repair: bool) -> list[Finding]:
    """Return what is wrong with the rows of memories; with `repair` what follows from them is written again."""
    found: list[Finding] = []
    for scope_id in scopes(connection):
        for batch in _batches(connection, scope_id):
            legible, illegible = _read(batch)
            found += illegible
            found += _examine_columns(connection, scope_id, legible, repair=repair)
            found += _examine_sources(connection, scope_id, legible, repair=repair)
        if all(each.code != "doctor.memory" for each in found):
            found += _examine_chains(connection, scope_id, repair=repair)
    return found


def _batches(connection: sa.Connection, scope_id: str) -> Iterator[Sequence[sa.Row[Any]]]:
    last = ""
    while True:
        query = sa.select(memories).where(_COLUMNS.scope_id == scope_id, _COLUMNS.id > last)
        batch = connection.execute(query.order_by(_COLUMNS.id).limit(_BATCH)).all()
        if batch:
            yield batch
        if len(batch) < _BATCH:
            return
        last = batch[-1].id


def _read(batch: Iterable[sa.Row[Any]]) -> tuple[list[tuple[sa.Row[Any], Memory]], list[Finding]]:
    """The rows that can be read, each with its memory, and what is to be said of the others."""
    legible, illegible = [], []
    for row in batch:
        try:
            fault = _fault_of_row(row) or _fault(memory := rows.stored(row))
        except (TypeError, ValueError, OverflowError):  # SQLite takes any type in any column
            fault = "a column holds what it cannot hold"
        if fault:
            illegible.append(Finding("doctor.memory", f"{row.id} does not read: {fault}; {_MEND}"))
        else:
            legible.append((row, memory))
    return legible, illegible


def _fault_of_row(row: sa.Row[Any]) -> str:
    """What is wrong with columns that are read all the same: as something else than they say."""
    for name in ("entities", "tags", "supersedes"):
        written = getattr(row, name)
        if written is not None and not _is_list(written):
            return f"its {name} are no list of texts"
    for name in ("occurred_us", "captured_us", "valid_from_us", "valid_to_us", "retired_us"):
        at = getattr(row, name)
        if at is not None and not _FIRST_US - _DAY_US <= at <= _LAST_US + _DAY_US:
            return f"its {name.removesuffix('_us')} time is out of range"
    return ""


def _is_list(written: object) -> bool:
    try:
        found = orjson.loads(written) if isinstance(written, str) else None
    except ValueError:
        return False
    return isinstance(found, list) and all(isinstance(each, str) for each in found)


def _fault(memory: Memory) -> str:
    among = (
        ("kind", memory.kind, KINDS),
        ("layer", memory.layer, LAYERS),
        ("status", memory.status, STATUSES),
        ("origin", memory.provenance.origin, ORIGINS),
        ("author_class", memory.provenance.author_class, AUTHOR_CLASSES),
    )
    for name, value, allowed in among:
        if value not in allowed:
            return f"no {name} is called like that"
    if not 0 <= memory.trust <= 1 or not 0 <= (memory.confidence or 0) <= 1:
        return "trust or confidence is out of range"
    if not isinstance(memory.revision, int) or memory.revision < 1 or not isinstance(memory.occurrences, int):
        return "its numbers are out of range"
    if not memory.content or not isinstance(memory.content, str):
        return "it says nothing"
    if memory.status == "retired" and memory.retired_at is None:
        return "it is retired, and nobody knows since when"
    return ""


def _examine_columns(
    connection: sa.Connection, scope_id: str, legible: list[tuple[sa.Row[Any], Memory]], *, repair: bool
) -> list[Finding]:
    ids = [row.id for row, _ in legible]
    counted = sources.counts(connection, scope_id, ids)
    tags = _tags(connection, scope_id, ids)
    found = []
    for row, memory in legible:
        wanted = {
            "content_hash": same.content_hash(memory.content),
            "identity": same.identity(memory),
            "project_key": text.fold(memory.project) or None,
            "occurrences": max(counted[memory.id], 1),
        }
        wrong = {name: value for name, value in wanted.items() if getattr(row, name) != value}
        if wrong:
            if repair:
                connection.execute(
                    sa.update(memories).where(_COLUMNS.scope_id == scope_id, _COLUMNS.id == row.id).values(**wrong)
                )
            message = f"{row.id}: {', '.join(wrong)} do not follow what it says"
            found.append(Finding("doctor.columns", message, repair))
        if tags.get(row.id, set()) != set(memory.tags):
            if repair:
                columns = memory_tags.c
                mine = columns.scope_id == scope_id, columns.memory_id == row.id
                connection.execute(sa.delete(memory_tags).where(*mine))
                rows.write_tags(connection, scope_id, [memory])
            found.append(Finding("doctor.lists", f"{row.id}: its list of tags does not follow it", repair))
    return found


def _examine_sources(
    connection: sa.Connection, scope_id: str, legible: list[tuple[sa.Row[Any], Memory]], *, repair: bool
) -> list[Finding]:
    """What holds and was never edited is said somewhere: at least where it was said first.

    What nothing says any more is retired, unless what replaced it there was not allowed to: that is a conflict.
    """
    counted = sources.counts(connection, scope_id, [row.id for row, _ in legible])
    alone = [
        memory for _, memory in legible if not counted[memory.id] and memory.status == "active" and memory.revision == 1
    ]
    if not alone:
        return []
    conflicting = history.conflicts(connection, scope_id, [memory.id for memory in alone])
    contested = {each for one in conflicting if one.reason == "contested" for each in (one.memory_id, one.other_id)}
    first = {memory.id: sources.split(memory.provenance.ref) for memory in alone if memory.id not in contested}
    taken = sources.at(connection, scope_id, list(first.values()))
    lost = [memory for memory in alone if memory.id in first and first[memory.id] not in taken]
    if repair:
        sources.add(
            connection,
            scope_id,
            [Said.of(each.id, same.identity(each), each.provenance, each.captured_at) for each in lost],
        )
    return [Finding("doctor.sources", f"{each.id}: nothing says where it is from", repair) for each in lost]


def _tags(connection: sa.Connection, scope_id: str, ids: list[str]) -> dict[str, set[str]]:
    columns = memory_tags.c
    query = sa.select(columns.memory_id, columns.tag).where(columns.scope_id == scope_id, columns.memory_id.in_(ids))
    found: dict[str, set[str]] = {}
    for memory_id, tag in connection.execute(query):
        found.setdefault(memory_id, set()).add(tag)
    return found


# -- what replaces what -------------------------------------------------------------------------------------------


def _examine_chains(connection: sa.Connection, scope_id: str, *, repair: bool) -> list[Finding]:
    """What was replaced names what replaced it, and the other way round; what was forgotten may still be named.

    Where the two differ, what was replaced is right: each has one successor, and is served or not by that.
    """
    query = sa.select(_COLUMNS.id, _COLUMNS.status, _COLUMNS.supersedes, _COLUMNS.superseded_by)
    linked = _COLUMNS.supersedes.is_not(None) | _COLUMNS.superseded_by.is_not(None)
    linking = {row.id: row for row in connection.execute(query.where(_COLUMNS.scope_id == scope_id, linked))}
    above = {each: row.superseded_by for each, row in linking.items() if row.superseded_by}
    below = {each: orjson.loads(row.supersedes) if row.supersedes else [] for each, row in linking.items()}
    named = {*above.values(), *(lower for some in below.values() for lower in some)}
    known = rows.known(connection, scope_id, sorted(named)) | set(linking)
    waiting = set(rows.by_ids(connection, scope_id, sorted(named | set(linking)), Filter(statuses=("pending",))))
    found = [
        Finding("doctor.supersession", f"{each} was replaced by {above[each]} and is not retired; `segue forget` one")
        for each in sorted(above)
        if linking[each].status != "retired"
    ]
    found += [
        Finding("doctor.supersession", f"{each} comes to replace itself; {_MEND}") for each in lineage.in_cycles(above)
    ]
    wanted: dict[str, list[str]] = {}
    for each in sorted(below.keys() - waiting):
        wanted[each] = [lower for lower in below[each] if lower not in known or above.get(lower) == each]
    for lower, upper in sorted(above.items()):
        if upper in waiting:
            found.append(Finding("doctor.supersession", f"{lower} was replaced by {upper}, which waits; review that"))
        elif upper in known:
            kept = wanted.setdefault(upper, [])
            kept += [] if lower in kept else [lower]
    for each, lowers in wanted.items():
        if lowers != below.get(each, []):
            if repair:
                _write_below(connection, scope_id, each, lowers)
            message = f"{each} and what it replaces do not name each other"
            found.append(Finding("doctor.supersession", message, repair))
    return found


def _write_below(connection: sa.Connection, scope_id: str, memory_id: str, lowers: list[str]) -> None:
    connection.execute(
        sa.update(memories)
        .where(_COLUMNS.scope_id == scope_id, _COLUMNS.id == memory_id)
        .values(supersedes=orjson.dumps(lowers).decode() if lowers else None)
    )


# -- what search keeps --------------------------------------------------------------------------------------------

_INDEX = memory_index.c


def unindexed(connection: sa.Connection, scope_id: str) -> list[str]:
    """Return the memories that search should keep a row of and does not."""
    there = sa.exists().where(_INDEX.scope_id == scope_id, _INDEX.memory_id == _COLUMNS.id)
    query = sa.select(_COLUMNS.id).where(*conditions(scope_id, rows.INDEXED), _COLUMNS.scope_id == scope_id)
    return list(connection.execute(query.where(~there).order_by(_COLUMNS.id)).scalars())


def strangers(connection: sa.Connection, scope_id: str) -> list[str]:
    """Return the memories that search keeps something of although they wait for review."""
    waiting = sa.select(_COLUMNS.id).where(_COLUMNS.scope_id == scope_id, _COLUMNS.status == "pending")
    found: set[str] = set()
    for table in (memory_index, memory_meanings):
        query = sa.select(table.c.memory_id).where(table.c.scope_id == scope_id, table.c.memory_id.in_(waiting))
        found |= set(connection.execute(query).scalars())
    return sorted(found)


def misindexed(connection: sa.Connection, scope_id: str) -> list[str]:
    """Return the memories whose rows say something else than they do, or hold half of a vector and its maker."""
    ends = sa.case(
        (_COLUMNS.valid_to_us.is_(None), _COLUMNS.retired_us),
        (_COLUMNS.retired_us.is_(None), _COLUMNS.valid_to_us),
        (_COLUMNS.valid_to_us < _COLUMNS.retired_us, _COLUMNS.valid_to_us),
        else_=_COLUMNS.retired_us,
    )
    differ = [
        _INDEX[name].is_distinct_from(_COLUMNS[name]) for name in ("thread", "position", "speaker", "captured_us")
    ]
    times = ((_INDEX.occurred_us, _COLUMNS.occurred_us), (_INDEX.begins_us, _COLUMNS.valid_from_us))
    differ += [_within(kept).is_distinct_from(_within(own)) for kept, own in (*times, (_INDEX.ends_us, ends))]
    differ.append(_INDEX.embedder.is_(None) != _INDEX.vector.is_(None))
    query = sa.select(_COLUMNS.id).join(
        memory_index, (_INDEX.scope_id == _COLUMNS.scope_id) & (_INDEX.memory_id == _COLUMNS.id)
    )
    query = query.where(*conditions(scope_id, rows.INDEXED), _COLUMNS.scope_id == scope_id, sa.or_(*differ))
    return list(connection.execute(query.order_by(_COLUMNS.id)).scalars())


def kept(connection: sa.Connection, scope_id: str, memory_ids: Sequence[str]) -> dict[str, sa.Row[Any]]:
    """Return what search keeps of texts: id, terms, counts, length, is_question, tells_time, embedder, vector.

    The values are as the database has them: SQLite takes any type in any column.
    """
    names = ("memory_id", "terms", "counts", "length", "is_question", "tells_time", "embedder", "vector")
    columns = [sa.type_coerce(_INDEX[name], sa.types.NullType()).label(name) for name in names]
    found: dict[str, sa.Row[Any]] = {}
    for batch in rows.batches(memory_ids):
        query = sa.select(*columns).where(_INDEX.scope_id == scope_id, _INDEX.memory_id.in_(batch))
        found |= {row.memory_id: row for row in connection.execute(query)}
    return found


def _within(column: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
    """A time as memories that are read have it; an offset at the edges of the calendar reaches beyond."""
    return sa.case((column < _FIRST_US, _FIRST_US), (column > _LAST_US, _LAST_US), else_=column)


def of_other_embedders(connection: sa.Connection, scope_id: str, embedder: str | None) -> int:
    """Return how many rows have the vector of another embedder than `embedder`, or none where there should be one."""
    query = sa.select(sa.func.count()).select_from(memory_index)
    # Half of a vector and its maker is another fault, of which `misindexed` speaks.
    whole = _INDEX.embedder.is_(None) == _INDEX.vector.is_(None)
    query = query.where(_INDEX.scope_id == scope_id, whole, _INDEX.embedder.is_distinct_from(embedder))
    return connection.execute(query).scalar_one()
