"""What search keeps, compared with the memories that it is made from, and made again where it does not follow them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from segue.base import ids
from segue.memories.filter import Filter
from segue.search import entities
from segue.search.entry import Entry, unpacked_vectors
from segue.services import reindexing
from segue.services.indexing import indexed_text, row
from segue.services.known_names import Names
from segue.storage import memories as memory_rows
from segue.storage import memory_entities as entity_rows
from segue.storage import memory_examination as rows
from segue.storage import memory_index
from segue.storage.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    import sqlalchemy as sa

    from segue.memories.memory import Memory
    from segue.search.vectors import WordVectors

_BATCH = 500
_NAMED = 3  # memories that a message names


def examine(connection: sa.Connection, now: datetime, embedder: WordVectors, *, repair: bool = True) -> list[Finding]:
    """Return what search keeps that does not follow the memories, which can all be read.

    With `repair` it is made again, except for vectors of another embedder: `segue reindex` is for these.
    """
    found = []
    for scope_id in rows.scopes(connection):
        found += _Scope(connection, scope_id, now, embedder, repair=repair).examine()
    return found


class _Scope:
    """One scope. Its texts are read once: for the words in them and for what they name."""

    def __init__(
        self, connection: sa.Connection, scope_id: str, now: datetime, embedder: WordVectors, *, repair: bool
    ) -> None:
        self._connection = connection
        self._scope = scope_id
        self._now = now
        self._embedder = embedder
        self._repair = repair
        self._state = memory_index.state(connection, scope_id)
        self._names = Names.of(connection, scope_id)
        self._words: Counter[str] = Counter()
        self._unlisted: list[str] = []
        self._damaged: set[str] = set()

    def examine(self) -> list[Finding]:
        for batch in self._batches():
            self._compare([memory for memory in batch if memory.status != "pending"])
            self._look_for_entities(batch)
        missing = rows.unindexed(self._connection, self._scope)
        wrong = sorted({*rows.misindexed(self._connection, self._scope), *self._damaged})
        strangers = rows.strangers(self._connection, self._scope)
        miscounted = self._is_miscounted()
        if self._repair and (missing or wrong or strangers or miscounted):
            self._mend(sorted({*missing, *wrong}))
        said = (
            ("lists", self._unlisted, "what {} name is not in the list of entities"),
            ("index", missing, "{} cannot be found: search keeps no row of them"),
            ("index", wrong, "what search keeps of {} does not follow them"),
            ("index", strangers, "search keeps rows of {}, which wait for review"),
        )
        mended = self._repair
        found = [Finding(f"doctor.{code}", text.format(_named(some)), mended) for code, some, text in said if some]
        if miscounted:
            found.append(Finding("doctor.index", "the words that search counts are not those of the memories", mended))
        return found + self._foreign()

    def _batches(self) -> Iterator[list[Memory]]:
        after = ""
        while batch := memory_rows.following(self._connection, self._scope, Filter(), after, _BATCH):
            yield batch
            after = batch[-1].id

    def _compare(self, batch: list[Memory]) -> None:
        """Count the words of texts, and compare what is kept of each with what would be made of it now."""
        kept = rows.kept(self._connection, self._scope, [memory.id for memory in batch])
        for memory in batch:
            entry = Entry.of(indexed_text(memory))
            self._words.update(entry.words)
            made = row(memory, entry, None, None)
            wanted = (made.terms, made.counts, made.length, made.is_question, made.tells_time)
            there = kept.get(memory.id)
            if there is not None and (tuple(there[1:6]) != wanted or not self._is_vector(there.vector, there.embedder)):
                self._damaged.add(memory.id)

    def _is_vector(self, vector: object, embedder: object) -> bool:
        """Whether it is one of the embedder's; of vectors that others made, nobody here knows the length."""
        if vector is None or embedder != self._embedder.id:
            return vector is None or isinstance(vector, bytes)
        try:
            found = unpacked_vectors(vector, self._embedder.dimension) if isinstance(vector, bytes) else ()
        except ValueError:
            return False
        return len(found) == 1 and bool(np.isfinite(found).all())

    def _look_for_entities(self, batch: list[Memory]) -> None:
        """What writers named must be listed; what was found in texts depends on the names that were known then."""
        listed = entity_rows.of(self._connection, self._scope, [memory.id for memory in batch])
        lacking = [
            memory for memory in batch if not self._given(memory) <= {each.key for each in listed.get(memory.id, ())}
        ]
        self._unlisted += [memory.id for memory in lacking]
        if self._repair and lacking:
            named = [each for memory in lacking for each in self._names.in_memory(memory)]
            entity_rows.write(self._connection, self._scope, [memory.id for memory in lacking], named)

    def _given(self, memory: Memory) -> set[str]:
        keys = {entities.key(name) for name in (*memory.entities, memory.speaker)}
        return {self._names.aliases.get(key, (key, ""))[0] for key in keys} - {""}

    def _is_miscounted(self) -> bool:
        kept = memory_index.words(self._connection, self._scope)
        return kept != dict(self._words) or self._state.words != self._words.total()

    def _mend(self, memory_ids: Sequence[str]) -> None:
        """Count the words anew, make rows again, drop those of what waits, and tell running searches."""
        generation = self._state.generation + 1
        words = self._words.total()
        memory_index.replace_words(self._connection, self._scope, self._words, generation)
        for start in range(0, len(memory_ids), _BATCH):
            batch = memory_rows.by_ids(self._connection, self._scope, memory_ids[start : start + _BATCH])
            made = sorted(batch.values(), key=lambda each: each.id)
            reindexing.write(self._connection, self._scope, made, words, generation, self._embedder)
        memory_index.remove_strangers(self._connection, self._scope)
        state = replace(
            self._state,
            epoch=ids.new(self._now),
            generation=generation,
            words=words,
            weighed_words=self._state.weighed_words or words,
            embedder=self._state.embedder or self._embedder.id,
        )
        memory_index.put_state(self._connection, self._scope, state)

    def _foreign(self) -> list[Finding]:
        if not self._state.embedder:  # nothing was written yet, or nobody knows any more
            return []
        number = rows.of_other_embedders(
            self._connection, self._scope, None if self._state.embedder == "none" else self._state.embedder
        )
        if not number:
            return []
        some = f"{number:,} {'memory has' if number == 1 else 'memories have'}"
        return [Finding("doctor.embedder", f"{some} no vector of the store's embedder; run `segue reindex`")]


def _named(memory_ids: Sequence[str]) -> str:
    shown = ", ".join(memory_ids[:_NAMED])
    return shown if len(memory_ids) <= _NAMED else f"{len(memory_ids):,} memories ({shown}, …)"
