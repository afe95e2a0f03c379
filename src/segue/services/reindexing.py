"""Making again what search keeps: for another embedder, when a store has grown, or when rows went wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from segue.base import ids
from segue.search import meaning, tokens
from segue.search.entry import Entry, packed_vectors
from segue.search.statistics import Statistics
from segue.search.vectors import text_vectors
from segue.services.indexing import indexed_text, row
from segue.storage import memories as memory_rows
from segue.storage import memory_index as rows
from segue.storage.memory_index import MeaningRow

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    import sqlalchemy as sa

    from segue.memories.memory import Memory
    from segue.search.meaning import Encoder
    from segue.search.vectors import WordVectors
    from segue.services.embedding import Embedding
    from segue.storage.database import Database

BATCH = 1_000  # memories of one transaction
GROWTH = 2  # times as many words as when the vectors were made: their weights are out of date
_SMALL = 20_000  # words: about a thousand memories
_WEIGHED = 100  # memories whose words are held at a time
_ENCODED = 128  # memories whose sentences are encoded at a time
_BEGUN = "0"  # before every id
_Remake: TypeAlias = "Callable[[sa.Connection, str, Sequence[Memory], int, int, WordVectors], None]"


@dataclass(frozen=True)
class Reindexing:
    """The index of one scope, made again. What is killed is taken up where it stopped."""

    database: Database
    scope_id: str
    embedding: Embedding
    clock: Callable[[], datetime]

    def refresh(self, *, small: bool = False) -> None:
        """Weigh the vectors anew where the store has grown much, and encode what has no sentence vectors yet.

        With `small` only a store that is small enough not to be noticed is weighed anew.
        """
        with self.database.read() as connection:
            state = rows.state(connection, self.scope_id)
        grown = state.words >= GROWTH * max(state.weighed_words, 1) and (not small or state.words <= _SMALL)
        if grown and self.embedding.words.dimension:
            self._begin(recount=False)
            self._rows(weigh)
        self.encode()

    def reindex(self, on_progress: Callable[[int, int], None] | None = None) -> int:
        """Make all rows again, and return how many were made. An unfinished run is gone on with."""
        with self.database.read() as connection:
            state = rows.state(connection, self.scope_id)
        unfinished = state.reindexed_to and state.embedder == self.embedding.words.id
        if not unfinished:
            self._begin(recount=True)
        done = self._rows(write, on_progress)
        self.encode(on_progress)
        return done

    def _begin(self, *, recount: bool) -> None:
        with self.database.write(self.scope_id) as connection:
            state = rows.state(connection, self.scope_id)
            words = state.words
            if recount:
                counts: Counter[str] = Counter()
                for memory in memory_rows.each(connection, self.scope_id, _INDEXED):
                    counts.update(Entry.of(indexed_text(memory)).words)
                words = counts.total()
                rows.replace_words(connection, self.scope_id, counts, state.generation + 1)
            begun = replace(
                state,
                epoch=state.epoch or ids.new(self.clock()),
                words=words,
                embedder=self.embedding.words.id,
                reindexed_to=_BEGUN,
            )
            rows.put_state(connection, self.scope_id, begun)

    def _rows(self, remake: _Remake, on_progress: Callable[[int, int], None] | None = None) -> int:
        done = 0
        with self.database.read() as connection:
            after = rows.state(connection, self.scope_id).reindexed_to
            total = memory_rows.count(connection, self.scope_id, _INDEXED)
            before = memory_rows.count_to(connection, self.scope_id, _INDEXED, after)
        while True:
            with self.database.write(self.scope_id) as connection:
                batch = memory_rows.following(connection, self.scope_id, _INDEXED, after, BATCH)
                state = rows.state(connection, self.scope_id)
                generation = state.generation + 1
                remake(connection, self.scope_id, batch, state.words, generation, self.embedding.words)
                after = batch[-1].id if len(batch) == BATCH else ""
                now = replace(state, generation=generation, reindexed_to=after)
                if not after:
                    rows.remove_strangers(connection, self.scope_id)
                    # Rows were taken away too, of which a running search hears in no other way.
                    now = replace(now, weighed_words=state.words, epoch=ids.new(self.clock()))
                rows.put_state(connection, self.scope_id, now)
            done += len(batch)
            if on_progress is not None:
                on_progress(before + done, total)
            if not after:
                return done

    def encode(self, on_progress: Callable[[int, int], None] | None = None) -> int:
        """Encode the sentences of what has no vectors of this encoder yet; return how many memories that were."""
        encoder = self.embedding.encoder
        if encoder is None:
            return 0
        done = 0
        with self.database.read() as connection:
            total = rows.without_meaning(connection, self.scope_id, encoder.id)
        while True:
            with self.database.read() as connection:
                waiting = rows.waiting_for_meaning(connection, self.scope_id, encoder.id, _ENCODED)
                found = memory_rows.by_ids(connection, self.scope_id, waiting)
                memories = [found[each] for each in waiting if each in found]
                windows = [self._window(connection, memory) for memory in memories]
            if not memories:
                return done
            encoded = _encoded(encoder, memories, windows)  # outside of every transaction: it takes long
            with self.database.write(self.scope_id) as connection:
                still = memory_rows.known(connection, self.scope_id, [each.memory_id for each in encoded])
                state = rows.state(connection, self.scope_id)
                kept = [each for each in encoded if each.memory_id in still]
                rows.write_meanings(connection, self.scope_id, kept, state.generation + 1)
                rows.put_state(connection, self.scope_id, replace(state, generation=state.generation + 1))
            done += len(memories)
            if on_progress is not None:
                on_progress(done, total)

    def _window(self, connection: sa.Connection, memory: Memory) -> str:
        if not memory.thread or memory.position is None:
            return memory.content
        around = memory_rows.around(
            connection,
            self.scope_id,
            memory.thread,
            memory.position - meaning.BEFORE,
            memory.position + meaning.AFTER,
        )
        return " ".join(content for _, content in around) or memory.content


_INDEXED = memory_rows.INDEXED


def write(
    connection: sa.Connection,
    scope_id: str,
    batch: Sequence[Memory],
    words: int,
    generation: int,
    embedder: WordVectors,
) -> None:
    """Make the rows of memories again; `words` is how many words the scope has, counted beforehand."""
    entries = [Entry.of(indexed_text(memory)) for memory in batch]
    vectors: Sequence[bytes | None] = [None] * len(entries)
    if embedder.dimension:
        vectors = _vectors(connection, scope_id, [entry.words for entry in entries], words, embedder)
    name = embedder.id if embedder.dimension else None
    made_rows = [
        row(memory, entry, name, vector) for memory, entry, vector in zip(batch, entries, vectors, strict=True)
    ]
    rows.write(connection, scope_id, made_rows, generation)


def weigh(
    connection: sa.Connection,
    scope_id: str,
    batch: Sequence[Memory],
    words: int,
    generation: int,
    embedder: WordVectors,
) -> None:
    """Make the vectors of memories again, and nothing else of their rows."""
    for start in range(0, len(batch), _WEIGHED):
        some = batch[start : start + _WEIGHED]
        texts = [tokens.words(indexed_text(memory)) for memory in some]
        vectors = _vectors(connection, scope_id, texts, words, embedder)
        named = [(memory.id, vector) for memory, vector in zip(some, vectors, strict=True)]
        rows.set_vectors(connection, scope_id, embedder.id, named, generation)


def _vectors(
    connection: sa.Connection, scope_id: str, texts: Sequence[Sequence[str]], words: int, embedder: WordVectors
) -> list[bytes]:
    counted = rows.counts_of(connection, scope_id, list({word for text in texts for word in text}))
    made = text_vectors(texts, Statistics(word_counts=counted, words=words), embedder)
    return [packed_vectors(each) for each in made]


def _encoded(encoder: Encoder, memories: Sequence[Memory], windows: Sequence[str]) -> list[MeaningRow]:
    passages = [meaning.passages(memory.content) for memory in memories]
    flat = [sentence for each in passages for sentence in each]
    vectors = encoder.encode([*windows, *flat])
    found, start = [], len(windows)
    for place, memory in enumerate(memories):
        stop = start + len(passages[place])
        found.append(
            MeaningRow(memory.id, encoder.id, packed_vectors(vectors[place]), packed_vectors(vectors[start:stop]))
        )
        start = stop
    return found
