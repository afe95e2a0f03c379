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
    from collections.abc import Collection, Iterator, Sequence

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
        counts = {word: count for word, count in words.items() if count > 0}
        read = self._read(connection, scope_id, without={memory.id for memory in newer})
        batches = (batch for batch, _ in read)
        return Index.of(batches, counts, self._embedding.words, self._embedding.encoder)

    def _hold(self, scope_id: str, loaded: Loaded) -> None:
        self._held[scope_id] = loaded
        self._held.move_to_end(scope_id)
        while len(self._held) > 1 and sum(each.index.nbytes for each in self._held.values()) > self._most:
            self._held.popitem(last=False)

    def _load(self, connection: sa.Connection, scope_id: str, state: State) -> Loaded:
        foreign = 0

        def batches() -> Iterator[Batch]:
            nonlocal foreign
            for batch, strangers in self._read(connection, scope_id):
                foreign += strangers
                yield batch

        index = Index.of(batches(), rows.words(connection, scope_id), self._embedding.words, self._embedding.encoder)
        return Loaded(state, index, foreign)

    def _read(
        self, connection: sa.Connection, scope_id: str, since: int = -1, without: Collection[str] = ()
    ) -> Iterator[tuple[Batch, int]]:
        """The rows written after the generation `since`, some at a time, and how many of them have a foreign vector."""
        meanings = None
        for part in rows.read(connection, scope_id, since):
            if meanings is None:
                meanings = self._meanings(connection, scope_id)
            kept = [row for row in part if row[0] not in without] if without else part
            if kept:
                yield self._batch(kept, meanings)

    def _caught_up(self, connection: sa.Connection, scope_id: str, held: Loaded, state: State) -> Loaded:
        since = held.state.generation
        removed = rows.gone(connection, scope_id, since)
        changed = list(self._read(connection, scope_id, since))
        if sum(len(batch) for batch, _ in changed) + len(removed) > _RELOADED * max(len(held.index), 1_000):
            return self._load(connection, scope_id, state)
        words = rows.words(connection, scope_id, since)
        batch = Batch.joined([batch for batch, _ in changed])
        foreign = held.foreign + sum(strangers for _, strangers in changed)
        return Loaded(state, held.index.updated(batch, removed, words), foreign)

    def _meanings(self, connection: sa.Connection, scope_id: str) -> dict[str, tuple[bytes, bytes]]:
        encoder = self._embedding.encoder
        return {} if encoder is None else rows.read_meanings(connection, scope_id, encoder.id)

    def _batch(self, part: Sequence[tuple[Any, ...]], meanings: dict[str, tuple[bytes, bytes]]) -> tuple[Batch, int]:
        columns = dict(zip(rows.Row._fields, zip(*part, strict=True), strict=True))
        own = self._embedding.words.id
        ids, vectors, embedders = columns["memory_id"], columns["vector"], columns["embedder"]
        foreign = len(ids) - embedders.count(own)
        if foreign:
            pairs = zip(vectors, embedders, strict=True)
            vectors = tuple(vector if embedder == own else None for vector, embedder in pairs)
        batch = Batch.of(
            ids=ids,
            terms=columns["terms"],
            counts=columns["counts"],
            lengths=columns["length"],
            vectors=vectors,
            threads=columns["thread"],
            positions=columns["position"],
            occurred=columns["occurred_us"],
            speakers=columns["speaker"],
            questions=columns["is_question"],
            telling=columns["tells_time"],
            captured=columns["captured_us"],
            begins=columns["begins_us"],
            ends=columns["ends_us"],
            windows=[meanings.get(each, (None, None))[0] for each in ids] if meanings else None,
            sentences=[meanings.get(each, (None, None))[1] for each in ids] if meanings else None,
        )
        return batch, foreign if self._embedding.words.dimension else 0
