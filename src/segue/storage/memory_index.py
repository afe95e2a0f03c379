"""What search keeps of memories: rows that are written with them, and read as one by whoever searches.

Nothing here knows how to rank. A row is small and holds no text; the words of a scope are counted beside, since the
vectors need them. Every write moves the scope's generation on, by which a running search catches up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa

from segue.base import ids
from segue.storage import bulk
from segue.storage.fetching import fetched
from segue.storage.memories import batches
from segue.storage.tables import (
    memories,
    memory_index,
    memory_meanings,
    memory_state,
    memory_tombstones,
    memory_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

_COLUMNS = memory_index.c
_STATE = sa.select(memory_state).where(memory_state.c.scope_id == sa.bindparam("in_scope"))
_PUT_STATE = sa.update(memory_state).where(memory_state.c.scope_id == sa.bindparam("in_scope"))
_COUNTS = sa.select(memory_words.c.word, memory_words.c.count).where(
    memory_words.c.scope_id == sa.bindparam("in_scope"), memory_words.c.word.in_(sa.bindparam("some", expanding=True))
)
_ADDED = (
    "ON CONFLICT (scope_id, word) DO UPDATE "
    "SET count = memory_words.count + excluded.count, generation = excluded.generation"
)


class Row(NamedTuple):
    """What is kept of one memory; the names are those of the columns.

    `terms` are hashes of tokens, `counts` how often each stands there, `vector` 16-bit floats made by `embedder`:
    all of it bytes, as `segue.search` packs them. `begins_us` and `ends_us` bound when it holds, None for no bound.
    """

    memory_id: str
    terms: bytes
    counts: bytes
    length: int
    thread: str | None
    position: int | None
    speaker: str | None
    occurred_us: int | None
    captured_us: int
    begins_us: int | None
    ends_us: int | None
    is_question: bool
    tells_time: bool
    embedder: str | None
    vector: bytes | None


class MeaningRow(NamedTuple):
    """The sentence vectors of one memory, as bytes of 16-bit floats."""

    memory_id: str
    encoder: str
    window: bytes
    sentences: bytes


@dataclass(frozen=True, slots=True)
class State:
    """The state of a scope's index; see the table `memory_state`."""

    epoch: str
    generation: int
    words: int
    weighed_words: int
    embedder: str
    reindexed_to: str


EMPTY = State("", 0, 0, 0, "", "")


def state(connection: sa.Connection, scope_id: str) -> State:
    """Return the state of a scope's index; EMPTY before the first write."""
    row = connection.execute(_STATE, {"in_scope": scope_id}).one_or_none()
    if row is None:
        return EMPTY
    return State(row.epoch, row.generation, row.words, row.weighed_words, row.embedder or "", row.reindexed_to or "")


def put_state(connection: sa.Connection, scope_id: str, new: State) -> None:
    """Write the state of a scope's index."""
    values = {
        "epoch": new.epoch,
        "generation": new.generation,
        "words": new.words,
        "weighed_words": new.weighed_words,
        "embedder": new.embedder or None,
        "reindexed_to": new.reindexed_to or None,
    }
    if not connection.execute(_PUT_STATE, {"in_scope": scope_id} | values).rowcount:
        connection.execute(sa.insert(memory_state).values(scope_id=scope_id, **values))


def renew(connection: sa.Connection, now: datetime) -> None:
    """Tell whoever searches that everything was replaced: of every scope."""
    for scope_id in connection.execute(sa.select(memory_state.c.scope_id)).scalars().all():
        connection.execute(
            sa.update(memory_state).where(memory_state.c.scope_id == scope_id).values(epoch=ids.new(now))
        )


def write(connection: sa.Connection, scope_id: str, rows: Sequence[Row], generation: int) -> None:
    """Write rows, replacing those of the same memories."""
    remove(connection, scope_id, [row.memory_id for row in rows])
    add(connection, scope_id, rows, generation)


def add(connection: sa.Connection, scope_id: str, rows: Sequence[Row], generation: int) -> None:
    """Add rows of memories that have none."""
    values = [{"scope_id": scope_id, "generation": generation, **row._asdict()} for row in rows]
    bulk.insert(connection, memory_index, values)


def write_meanings(connection: sa.Connection, scope_id: str, rows: Sequence[MeaningRow], generation: int) -> None:
    """Write sentence vectors, replacing those of the same memories, whose rows count as changed."""
    if not rows:
        return
    columns = memory_meanings.c
    for batch in batches([row.memory_id for row in rows]):
        connection.execute(sa.delete(memory_meanings).where(columns.scope_id == scope_id, columns.memory_id.in_(batch)))
        connection.execute(
            sa.update(memory_index)
            .where(_COLUMNS.scope_id == scope_id, _COLUMNS.memory_id.in_(batch))
            .values(generation=generation)
        )
    connection.execute(sa.insert(memory_meanings), [{"scope_id": scope_id, **row._asdict()} for row in rows])


def drop_windows(connection: sa.Connection, scope_id: str, places: Sequence[tuple[str, int]], generation: int) -> None:
    """Remove the sentence vectors of what stands around the places (thread, position): their windows changed."""
    columns = memory_meanings.c
    if not places or connection.execute(sa.select(columns.memory_id).limit(1)).first() is None:
        return
    around: dict[str, set[int]] = {}
    for thread, position in places:
        around.setdefault(thread, set()).update(range(position - 1, position + 3))
    for thread, positions in around.items():
        query = sa.select(_COLUMNS.memory_id).where(
            _COLUMNS.scope_id == scope_id, _COLUMNS.thread == thread, _COLUMNS.position.in_(positions)
        )
        stale = list(connection.execute(query).scalars())
        for batch in batches(stale):
            connection.execute(
                sa.delete(memory_meanings).where(columns.scope_id == scope_id, columns.memory_id.in_(batch))
            )
            connection.execute(
                sa.update(memory_index)
                .where(_COLUMNS.scope_id == scope_id, _COLUMNS.memory_id.in_(batch))
                .values(generation=generation)
            )


def remove(connection: sa.Connection, scope_id: str, memory_ids: Sequence[str]) -> None:
    """Take the rows of memories out of the index."""
    for batch in batches(memory_ids):
        connection.execute(sa.delete(memory_index).where(_COLUMNS.scope_id == scope_id, _COLUMNS.memory_id.in_(batch)))


def set_bounds(
    connection: sa.Connection, scope_id: str, bounds: Sequence[tuple[str, int | None, int | None]], generation: int
) -> None:
    """Write when memories hold: from and to, in microseconds, None for no bound."""
    if not bounds:
        return
    statement = sa.update(memory_index).where(
        _COLUMNS.scope_id == scope_id, _COLUMNS.memory_id == sa.bindparam("of_id")
    )
    connection.execute(
        statement.values(begins_us=sa.bindparam("from_us"), ends_us=sa.bindparam("to_us"), generation=generation),
        [{"of_id": memory_id, "from_us": begins, "to_us": ends} for memory_id, begins, ends in bounds],
    )


def set_vectors(
    connection: sa.Connection, scope_id: str, embedder: str, vectors: Sequence[tuple[str, bytes]], generation: int
) -> None:
    """Write the vectors of memories, made by `embedder`; a memory without a row gets none."""
    if not vectors:
        return
    statement = sa.update(memory_index).where(
        _COLUMNS.scope_id == scope_id, _COLUMNS.memory_id == sa.bindparam("of_id")
    )
    connection.execute(
        statement.values(vector=sa.bindparam("made"), embedder=embedder, generation=generation),
        [{"of_id": memory_id, "made": vector} for memory_id, vector in vectors],
    )


def indexed(connection: sa.Connection, scope_id: str, memory_ids: Sequence[str]) -> set[str]:
    """Return which of the memories have a row."""
    found: set[str] = set()
    for batch in batches(memory_ids):
        query = sa.select(_COLUMNS.memory_id).where(_COLUMNS.scope_id == scope_id, _COLUMNS.memory_id.in_(batch))
        found |= set(connection.execute(query).scalars())
    return found


def read(connection: sa.Connection, scope_id: str, since: int = -1) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the rows that were written after the generation `since`, some at a time, as tuples in the order of `Row`.

    They come as the driver gives them: true and false may be 1 and 0.
    """
    query = sa.select(*[_COLUMNS[name] for name in Row._fields])
    yield from fetched(connection, query.where(_since(connection, memory_index, scope_id, since)))


def _since(connection: sa.Connection, table: sa.Table, scope_id: str, since: int) -> sa.ColumnElement[bool]:
    """What is true of the rows of a scope that were written after the generation `since`."""
    if since >= 0:
        return sa.and_(table.c.scope_id == scope_id, table.c.generation > since)
    if connection.dialect.name == "sqlite" and _fills(connection, scope_id):
        # The sign keeps SQLite from looking row after row up in an index, whose order is not that of the table.
        return sa.literal_column(f"+{table.name}.scope_id") == scope_id
    return table.c.scope_id == scope_id


def _fills(connection: sa.Connection, scope_id: str) -> bool:
    """Whether most of what is indexed belongs to this scope."""
    words = {row[0]: row[1] for row in connection.execute(sa.select(memory_state.c.scope_id, memory_state.c.words))}
    return bool(2 * words.get(scope_id, 0) >= sum(words.values()))


def read_meanings(connection: sa.Connection, scope_id: str, encoder: str) -> dict[str, tuple[bytes, bytes]]:
    """Return the sentence vectors that `encoder` made, by memory."""
    columns = memory_meanings.c
    query = sa.select(columns.memory_id, columns.window, columns.sentences)
    query = query.where(columns.scope_id == scope_id, columns.encoder == encoder)
    return {
        memory_id: (window, sentences) for part in fetched(connection, query) for memory_id, window, sentences in part
    }


def gone(connection: sa.Connection, scope_id: str, since: int) -> set[str]:
    """Return the memories that were forgotten after the generation `since`."""
    columns = memory_tombstones.c
    query = sa.select(columns.id).where(columns.scope_id == scope_id, columns.generation > since)
    return set(connection.execute(query).scalars())


def words(connection: sa.Connection, scope_id: str, since: int = -1) -> dict[str, int]:
    """Return how often each word stands in the scope; only those whose number changed after the generation `since`."""
    columns = memory_words.c
    query = sa.select(columns.word, columns.count).where(_since(connection, memory_words, scope_id, since))
    found: dict[str, int] = {}
    for part in fetched(connection, query):
        found.update(part)
    return found


def counts_of(connection: sa.Connection, scope_id: str, some: Sequence[str]) -> dict[str, int]:
    """Return how often each of `some` words stands in the scope; those that do not are left out."""
    found: dict[str, int] = {}
    for batch in batches(some):
        found |= {row[0]: row[1] for row in connection.execute(_COUNTS, {"in_scope": scope_id, "some": batch})}
    return found


def add_words(connection: sa.Connection, scope_id: str, changes: Mapping[str, int], generation: int) -> None:
    """Add to the number of each word; what stands nowhere any more is not kept."""
    changed = [(word, change) for word, change in sorted(changes.items()) if change]
    if not changed:
        return
    rows = [{"scope_id": scope_id, "word": word, "count": change, "generation": generation} for word, change in changed]
    bulk.insert(connection, memory_words, rows, _ADDED)
    columns = memory_words.c
    for batch in batches([word for word, change in changed if change < 0]):
        connection.execute(
            sa.delete(memory_words).where(columns.scope_id == scope_id, columns.word.in_(batch), columns.count <= 0)
        )


def replace_words(connection: sa.Connection, scope_id: str, counts: Mapping[str, int], generation: int) -> None:
    """Write the counts of all words anew."""
    connection.execute(sa.delete(memory_words).where(memory_words.c.scope_id == scope_id))
    add_words(connection, scope_id, counts, generation)


def remove_strangers(connection: sa.Connection, scope_id: str) -> None:
    """Remove the rows of what is not to be found: memories that wait for review."""
    waiting = sa.select(memories.c.id).where(memories.c.scope_id == scope_id, memories.c.status == "pending")
    for table in (memory_meanings, memory_index):
        connection.execute(sa.delete(table).where(table.c.scope_id == scope_id, table.c.memory_id.in_(waiting)))


def _without_meaning(scope_id: str, encoder: str) -> sa.Select[Any]:
    columns = memory_meanings.c
    there = sa.exists().where(
        columns.scope_id == scope_id, columns.memory_id == _COLUMNS.memory_id, columns.encoder == encoder
    )
    return sa.select(_COLUMNS.memory_id).where(_COLUMNS.scope_id == scope_id, ~there)


def without_meaning(connection: sa.Connection, scope_id: str, encoder: str) -> int:
    """Return how many memories have no sentence vectors of that encoder."""
    query = _without_meaning(scope_id, encoder).subquery()
    return connection.execute(sa.select(sa.func.count()).select_from(query)).scalar_one()


def waiting_for_meaning(connection: sa.Connection, scope_id: str, encoder: str, limit: int) -> list[str]:
    """Return up to `limit` memories that have no sentence vectors of that encoder."""
    query = _without_meaning(scope_id, encoder).order_by(_COLUMNS.memory_id).limit(limit)
    return list(connection.execute(query).scalars())
