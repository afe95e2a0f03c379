"""Memories as they are read: found by id, listed, counted, with their story and their sources."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from segue.base import time
from segue.services import paging
from segue.services.scoped import ScopedService
from segue.storage import memories as rows
from segue.storage import memory_history as history
from segue.storage import memory_sources as sources

if TYPE_CHECKING:
    import sqlalchemy as sa

    from segue.memories.filter import Filter
    from segue.memories.memory import Memory
    from segue.storage.database import Database


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """Part of a list, newest first; `cursor` continues it, None at its end."""

    memories: list[Memory]
    cursor: str | None

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue memories ls --json`."""
        return {"memories": [each.to_json() for each in self.memories], "cursor": self.cursor}


@dataclass(frozen=True, slots=True)
class Story:
    """All that is known of a memory: what says it, what it said before, what it replaces, what contradicts it."""

    memory: Memory
    sources: list[sources.Said]
    versions: list[history.Version]
    older: list[Memory]
    newer: list[Memory]
    conflicts: list[history.Conflict]

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue memories history --json`."""
        return {
            "memory": self.memory.to_json(),
            "sources": [each.to_json() for each in self.sources],
            "versions": [each.to_json() for each in self.versions],
            "older": [each.to_json() for each in self.older],
            "newer": [each.to_json() for each in self.newer],
            "conflicts": [each.to_json() for each in self.conflicts],
        }


class MemoryReading(ScopedService):
    """What reads the memories of one scope; ids may be shortened to an unambiguous ending."""

    @property
    def database(self) -> Database:
        """The database that these memories lie in."""
        return self._database

    @property
    def scope_id(self) -> str:
        """The scope that these memories belong to."""
        return self._scope

    def get(self, memory_id: str) -> Memory:
        """Return a memory. Raises NotFound `memory.not_found`, Ambiguous `memory.ambiguous`."""
        with self._database.read() as connection:
            return self._find(connection, memory_id)

    def history(self, memory_id: str) -> Story:
        """Return all that is known of a memory. Raises NotFound, Ambiguous."""
        with self._database.read() as connection:
            memory = self._find(connection, memory_id)
            return Story(
                memory,
                sources.of(connection, self._scope, [memory.id]).get(memory.id, []),
                history.versions(connection, self._scope, memory.id),
                self._older(connection, memory),
                self._newer(connection, memory),
                history.conflicts(connection, self._scope, [memory.id]),
            )

    def _older(self, connection: sa.Connection, memory: Memory) -> list[Memory]:
        found: dict[str, Memory] = {}
        waiting = list(memory.supersedes)
        while waiting:
            step = rows.by_ids(connection, self._scope, [each for each in waiting if each not in found])
            found |= step
            waiting = [each for older in step.values() for each in older.supersedes if each not in found]
        return sorted(found.values(), key=lambda each: (each.captured_at, each.id), reverse=True)

    def _newer(self, connection: sa.Connection, memory: Memory) -> list[Memory]:
        found: list[Memory] = []
        seen = {memory.id}
        while memory.superseded_by and memory.superseded_by not in seen:
            following = rows.get(connection, self._scope, memory.superseded_by)
            if following is None:
                break
            seen.add(following.id)
            found.append(following)
            memory = following
        return found

    def ls(self, *, limit: int = paging.DEFAULT_LIMIT, cursor: str | None = None, **wanted: Any) -> MemoryPage:
        """Return memories, newest first; `wanted` are the filters of `filtered`.

        `limit` is 1 to 500. Raises InvalidInput `limit.invalid`, `cursor.invalid`, `filter.invalid`.
        """
        narrowed = self.filtered(**wanted)
        with self._database.read() as connection:
            narrowed = self._resolved(connection, narrowed)
            found, following = paging.page(
                connection,
                ["memories", self._scope, narrowed.to_json()],
                limit,
                cursor,
                lambda number, after: rows.listed(connection, self._scope, narrowed, number, after),
                lambda each: (time.microseconds(each.captured_at), each.id),
            )
        return MemoryPage(found, following)

    def count(self, **wanted: Any) -> int:
        """Return how many memories there are that pass the filters of `filtered`."""
        narrowed = self.filtered(**wanted)
        with self._database.read() as connection:
            return rows.count(connection, self._scope, self._resolved(connection, narrowed))

    def filtered(self, **wanted: Any) -> Filter:
        """Return the filter that callers describe; see `segue.services.filters.filtered`."""
        from segue.services.filters import filtered

        return filtered(self._project, **wanted)

    def _resolved(self, connection: sa.Connection, wanted: Filter) -> Filter:
        from segue.services.filters import resolved

        return resolved(connection, self._scope, wanted)

    def sources(self, *, after: str = "", limit: int = paging.DEFAULT_LIMIT) -> list[tuple[str, int]]:
        """Return the sources that memories were read from behind the one called `after`, with their numbers.

        Also those that say something else now, or nothing, while what they said once is still kept.
        """
        paging.require_limit(limit)
        behind = paging.filter_text("after", after) or ""
        with self._database.read() as connection:
            said = Counter(dict(sources.listed(connection, self._scope, limit, behind)))
            said.update(sources.split(ref)[0] for ref in rows.unsaid(connection, self._scope))
        return sorted((source, number) for source, number in said.items() if source > behind)[:limit]

    def _find(self, connection: sa.Connection, given: str) -> Memory:
        full = paging.resolve(
            given,
            "memory",
            "`segue memories ls`",
            lambda each: rows.get(connection, self._scope, each) is not None,
            lambda ending, limit: rows.with_ending(connection, self._scope, ending, limit),
        )
        found = rows.get(connection, self._scope, full)
        assert found is not None  # noqa: S101 - one transaction sees one state
        return found
