"""The indexes in memory that searches go by: one for each scope, loaded when first asked for, caught up afterwards."""

from __future__ import annotations

from collections import Counter, OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

from segue.search.entry import Batch, Entry
from segue.search.index import Index
from segue.services.indexing import indexed_text
from segue.storage import memories as memory_rows
from segue.storage import memory_index as rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import sqlalchemy as sa

    from segue.services.embedding import Embedding
    from segue.storage.memory_index import State

MOST_BYTES = 2 << 30  # that indexes may take together before the one asked for least recently goes
_RELOADED = 0.2  # the share of changed rows above which an index is built anew


@dataclass(frozen=True, slots=True)
class Loaded:
    """An index as of one state. `foreign` counts the memories whose vectors another embedder made."""

    state: State
    index: Index
    foreign: int


class Indexes:
    """The indexes of one database. Threads may ask at once; who asks sees at least what its transaction sees."""

    def __init__(self, embedding: Embedding, most_bytes: int = MOST_BYTES) -> None:
        self._embedding = embedding
        self._most = most_bytes
        self._held: OrderedDict[str, Loaded] = OrderedDict()
        self._lock = Lock()

    def current(self, connection: sa.Connection, scope_id: str) -> Loaded:
        """Return the index of a scope as the transaction of `connection` sees it."""
        state = rows.state(connection, scope_id)
        with self._lock:  # one thread loads, the others wait for it rather than load the same
            held = self._held.get(scope_id)
            if held is None or held.state.epoch != state.epoch or held.state.generation > state.generation:
                fresh = self._load(connection, scope_id, state)
            elif held.state.generation < state.generation:
                fresh = self._caught_up(connection, scope_id, held, state)
            else:
                fresh = held
            if held is None or held.state.epoch != state.epoch or held.state.generation <= state.generation:
                self._hold(scope_id, fresh)  # an older transaction does not take newer rows from the others
        return fresh

    def known_at(self, connection: sa.Connection, scope_id: str, loaded: Loaded, known_us: int) -> Index:
        """Return the index of what was captured by then, as it was: so that a list goes on in the order it began in."""
        newer = memory_rows.newer(connection, scope_id, known_us)
        if not newer:
            return loaded.index
        words = Counter(rows.words(connection, scope_id))
        for memory in newer:
            words.subtract(Entry.of(indexed_text(memory)).words)
        meanings = self._meanings(connection, scope_id)
        gone = {memory.id for memory in newer}
        parts = ([row for row in part if row.memory_id not in gone] for part in rows.read(connection, scope_id))
        counts = {word: count for word, count in words.items() if count > 0}
        batches = (self._batch(part, meanings) for part in parts)
        return Index.of(batches, counts, self._embedding.words, self._embedding.encoder)

    def _hold(self, scope_id: str, loaded: Loaded) -> None:
        self._held[scope_id] = loaded
        self._held.move_to_end(scope_id)
        while len(self._held) > 1 and sum(each.index.nbytes for each in self._held.values()) > self._most:
            self._held.popitem(last=False)

    def _load(self, connection: sa.Connection, scope_id: str, state: State) -> Loaded:
        foreign = 0
        meanings = self._meanings(connection, scope_id)

        def batches() -> Iterator[Batch]:
            nonlocal foreign
            for part in rows.read(connection, scope_id):
                foreign += self._foreign(part)
                yield self._batch(part, meanings)

        index = Index.of(batches(), rows.words(connection, scope_id), self._embedding.words, self._embedding.encoder)
        return Loaded(state, index, foreign)

    def _caught_up(self, connection: sa.Connection, scope_id: str, held: Loaded, state: State) -> Loaded:
        since = held.state.generation
        changed = [row for part in rows.read(connection, scope_id, since) for row in part]
        removed = rows.gone(connection, scope_id, since)
        if len(changed) + len(removed) > _RELOADED * max(len(held.index), 1_000):
            return self._load(connection, scope_id, state)
        words = rows.words(connection, scope_id, since)
        batch = self._batch(changed, self._meanings(connection, scope_id) if changed else {})
        foreign = held.foreign + self._foreign(changed)
        return Loaded(state, held.index.updated(batch, removed, words), foreign)

    def _meanings(self, connection: sa.Connection, scope_id: str) -> dict[str, tuple[bytes, bytes]]:
        encoder = self._embedding.encoder
        return {} if encoder is None else rows.read_meanings(connection, scope_id, encoder.id)

    def _foreign(self, part: Sequence[sa.Row[Any]]) -> int:
        if not self._embedding.words.dimension:
            return 0
        return sum(row.embedder != self._embedding.words.id for row in part)

    def _batch(self, part: Sequence[sa.Row[Any]], meanings: dict[str, tuple[bytes, bytes]]) -> Batch:
        columns = dict(zip(rows.Row._fields, zip(*part, strict=True), strict=True)) if part else {}
        own = self._embedding.words.id

        def column(name: str) -> Sequence[Any]:
            return columns.get(name, ())

        ids = list(column("memory_id"))
        vectors = [
            vector if embedder == own else None
            for vector, embedder in zip(column("vector"), column("embedder"), strict=True)
        ]
        return Batch.of(
            ids=ids,
            terms=column("terms"),
            counts=column("counts"),
            lengths=column("length"),
            vectors=vectors,
            threads=column("thread"),
            positions=column("position"),
            occurred=column("occurred_us"),
            speakers=column("speaker"),
            questions=column("is_question"),
            telling=column("tells_time"),
            captured=column("captured_us"),
            begins=column("begins_us"),
            ends=column("ends_us"),
            windows=[meanings.get(each, (None, None))[0] for each in ids] if meanings else None,
            sentences=[meanings.get(each, (None, None))[1] for each in ids] if meanings else None,
        )
