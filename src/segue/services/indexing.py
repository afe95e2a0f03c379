"""What search keeps of memories, written in the transaction that writes the memories themselves."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from segue.base import ids, time
from segue.search.entry import Entry, packed_vectors
from segue.search.statistics import Statistics
from segue.search.vectors import text_vectors
from segue.storage import memory_index as rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    import sqlalchemy as sa

    from segue.memories.memory import Memory
    from segue.search.vectors import WordVectors
    from segue.storage.memory_index import Row, State


class Indexing:
    """The changes of one transaction to the index of a scope; `flush` writes them, once, at its end.

    Active and retired memories are indexed (a search may ask what held in the past), pending ones are not.
    """

    def __init__(self, connection: sa.Connection, scope_id: str, embedder: WordVectors, now: datetime) -> None:
        self._connection = connection
        self._scope = scope_id
        self._embedder = embedder
        self._now = now
        self._state = rows.state(connection, scope_id)
        self._written: dict[str, tuple[Memory, Entry]] = {}
        self._bounds: dict[str, Memory] = {}
        self._words: Counter[str] = Counter()
        self._removed: set[str] = set()

    @property
    def generation(self) -> int:
        """The generation that this transaction makes."""
        return self._state.generation + 1

    @property
    def state(self) -> State:
        """The state before this transaction; after `flush`, the state that it leads to."""
        return self._state

    def add(self, memory: Memory) -> None:
        """Index a memory that is not indexed yet."""
        if memory.status != "pending":
            entry = Entry.of(indexed_text(memory))
            self._written[memory.id] = (memory, entry)
            self._words.update(entry.words)

    def remove(self, memory: Memory) -> None:
        """Take a memory, as it was indexed, out of the counts; its row goes with it."""
        if self._written.pop(memory.id, None) is None:
            self._removed.add(memory.id)
        if memory.status == "pending":  # it has no row, unless something went wrong
            return
        self._bounds.pop(memory.id, None)
        self._words.subtract(Entry.of(indexed_text(memory)).words)

    def bound(self, memory: Memory) -> None:
        """Write when a memory holds, which is all that changed of it."""
        if memory.id in self._written:
            self._written[memory.id] = (memory, self._written[memory.id][1])
        elif memory.status != "pending":
            self._bounds[memory.id] = memory

    def flush(self, *, forgotten: bool = False) -> None:
        """Write the changes; `forgotten` says that memories went, so that running searches must hear of it."""
        rows.remove(self._connection, self._scope, sorted(self._removed))
        self._removed.clear()
        if not (self._written or self._bounds or self._words or forgotten):
            return
        generation = self.generation
        rows.add_words(self._connection, self._scope, self._words, generation)
        words = max(self._state.words + self._words.total(), 0)
        rows.add(self._connection, self._scope, self._rows(words), generation)
        bounds = [(each.id, *_bounds(each)) for each in self._bounds.values()]
        rows.set_bounds(self._connection, self._scope, bounds, generation)
        self._forget_windows(generation)
        self._state = replace(
            self._state,
            epoch=self._state.epoch or ids.new(self._now),
            generation=generation,
            words=words,
            weighed_words=self._state.weighed_words or words,
            embedder=self._state.embedder or self._embedder.id,
        )
        rows.put_state(self._connection, self._scope, self._state)

    def _rows(self, words: int) -> list[Row]:
        written = list(self._written.values())
        vectors: Sequence[bytes | None] = [None] * len(written)
        if self._embedder.dimension and written:
            texts = [entry.words for _, entry in written]
            counted = rows.counts_of(self._connection, self._scope, list({word for text in texts for word in text}))
            statistics = Statistics(word_counts=counted, words=words)
            vectors = [packed_vectors(each) for each in text_vectors(texts, statistics, self._embedder)]
        embedder = self._embedder.id if self._embedder.dimension else None
        return [row(memory, entry, embedder, vector) for (memory, entry), vector in zip(written, vectors, strict=True)]

    def _forget_windows(self, generation: int) -> None:
        """Drop the sentence vectors whose windows reach into what was written: they are made again afterwards."""
        places = [(each.thread, each.position) for each, _ in self._written.values() if each.position is not None]
        rows.drop_windows(self._connection, self._scope, places, generation)


def row(memory: Memory, entry: Entry, embedder: str | None, vector: bytes | None) -> Row:
    """Return what the index keeps of a memory."""
    begins, ends = _bounds(memory)
    return rows.Row(
        memory_id=memory.id,
        terms=entry.terms,
        counts=entry.counts,
        length=entry.length,
        thread=memory.thread or None,
        position=memory.position,
        speaker=memory.speaker or None,
        occurred_us=None if memory.occurred_at is None else time.microseconds(memory.occurred_at),
        captured_us=time.microseconds(memory.captured_at),
        begins_us=begins,
        ends_us=ends,
        is_question=memory.content.endswith(("?", "？", "؟")),
        tells_time=entry.tells_time,
        embedder=embedder,
        vector=vector,
    )


def indexed_text(memory: Memory) -> str:
    """Return the text by which a memory is found: its own, its summary, its tags, and what it is said to be about.

    In a thread the entities that were named are who speaks, which search scores on its own.
    """
    named = () if memory.thread else memory.entities
    further = [each for each in (memory.summary, *memory.tags, *named) if each and each not in memory.content]
    return "\n".join([memory.content, *further])


def _bounds(memory: Memory) -> tuple[int | None, int | None]:
    ends = [time.microseconds(each) for each in (memory.valid_to, memory.retired_at) if each is not None]
    begins = None if memory.valid_from is None else time.microseconds(memory.valid_from)
    return begins, min(ends, default=None)
