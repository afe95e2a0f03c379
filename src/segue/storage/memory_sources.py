"""Where memories were said. A place counts once, however often it is read: so nothing is counted twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from segue.base import time
from segue.storage import bulk
from segue.storage.memories import batches
from segue.storage.tables import memory_sources

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from segue.memories.item import Provenance

_COLUMNS = memory_sources.c
_AT = sa.select(memory_sources).where(
    _COLUMNS.scope_id == sa.bindparam("in_scope"),
    _COLUMNS.source.in_(sa.bindparam("sources", expanding=True)),
    _COLUMNS.place.in_(sa.bindparam("places", expanding=True)),
)
_PLACES = sa.select(_COLUMNS.place).where(
    _COLUMNS.scope_id == sa.bindparam("in_scope"), _COLUMNS.source == sa.bindparam("of_source")
)
_CONFIRM = (
    sa.update(memory_sources)
    .where(
        _COLUMNS.scope_id == sa.bindparam("in_scope"),
        _COLUMNS.source == sa.bindparam("of_source"),
        _COLUMNS.place == sa.bindparam("at_place"),
    )
    .values(updated_us=sa.bindparam("changed_us"))
)
Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Said:
    """That a memory was said: `source` and `place` make its ref; `seen_at` is when it was read there first.

    `identity` is that of the text as it was read: the memory may have been edited since. `updated_at` is when the
    source says that it was changed last, None where it does not say.
    """

    source: str
    place: str
    memory_id: str
    identity: str
    origin: str
    url: str
    author_class: str
    author: str
    seen_at: datetime
    updated_at: datetime | None = None

    @classmethod
    def of(
        cls, memory_id: str, identity: str, written: Provenance, now: datetime, updated_at: datetime | None = None
    ) -> Said:
        """Return what a provenance says."""
        source, place = split(written.ref)
        return cls(
            source=source,
            place=place,
            memory_id=memory_id,
            identity=identity,
            origin=written.origin,
            url=written.url,
            author_class=written.author_class,
            author=written.author,
            seen_at=now,
            updated_at=updated_at,
        )

    @property
    def ref(self) -> str:
        """The ref that the source gave."""
        return f"{self.source}#{self.place}" if self.place else self.source

    def to_json(self) -> dict[str, Any]:
        """Return the shape of a source in `segue memories show --json`."""
        return {
            "ref": self.ref,
            "origin": self.origin,
            "url": self.url or None,
            "author_class": self.author_class,
            "author": self.author or None,
            "seen_at": time.to_text(self.seen_at),
        }


def split(ref: str) -> Place:
    """Return source and place of a ref."""
    source, _, place = ref.partition("#")
    return source, place


def add(connection: sa.Connection, scope_id: str, said: Iterable[Said]) -> None:
    """Add sources; their places must be free in the scope."""
    rows = [
        {
            "scope_id": scope_id,
            "source": each.source,
            "place": each.place,
            "memory_id": each.memory_id,
            "identity": each.identity,
            "origin": each.origin,
            "url": each.url or None,
            "author_class": each.author_class,
            "author": each.author or None,
            "seen_us": time.microseconds(each.seen_at),
            "updated_us": None if each.updated_at is None else time.microseconds(each.updated_at),
        }
        for each in said
    ]
    bulk.insert(connection, memory_sources, rows)


def confirm(connection: sa.Connection, scope_id: str, said: Iterable[Said]) -> None:
    """Write when the sources of places that say the same as before were changed last."""
    changed = [
        {
            "in_scope": scope_id,
            "of_source": each.source,
            "at_place": each.place,
            "changed_us": time.microseconds(each.updated_at),
        }
        for each in said
        if each.updated_at is not None
    ]
    if changed:
        connection.execute(_CONFIRM, changed)


def at(connection: sa.Connection, scope_id: str, places: Sequence[Place]) -> dict[Place, Said]:
    """Return what was read at those of the places that are known."""
    wanted = set(places)
    found: dict[Place, Said] = {}
    for sources in batches(list({source for source, _ in places})):
        for batch in batches(list({place for _, place in places})):
            wanted_here = {"in_scope": scope_id, "sources": sources, "places": batch}
            found |= {(row.source, row.place): _said(row) for row in connection.execute(_AT, wanted_here)}
    return {place: said for place, said in found.items() if place in wanted}


def of(connection: sa.Connection, scope_id: str, memory_ids: Sequence[str]) -> dict[str, list[Said]]:
    """Return what says each of the memories, in the order in which it was read."""
    found: dict[str, list[Said]] = {}
    for batch in batches(memory_ids):
        query = sa.select(memory_sources).where(_COLUMNS.scope_id == scope_id, _COLUMNS.memory_id.in_(batch))
        for row in connection.execute(query.order_by(_COLUMNS.seen_us, _COLUMNS.source, _COLUMNS.place)):
            found.setdefault(row.memory_id, []).append(_said(row))
    return found


def from_source(connection: sa.Connection, scope_id: str, source: str) -> list[Said]:
    """Return what one source said."""
    query = sa.select(memory_sources).where(_COLUMNS.scope_id == scope_id, _COLUMNS.source == source)
    return [_said(row) for row in connection.execute(query.order_by(_COLUMNS.place))]


def places(connection: sa.Connection, scope_id: str, source: str) -> list[str]:
    """Return the places at which one source said something."""
    return list(connection.execute(_PLACES, {"in_scope": scope_id, "of_source": source}).scalars())


def beginning(connection: sa.Connection, scope_id: str, start: str) -> list[str]:
    """Return the sources whose names begin with `start`."""
    query = sa.select(_COLUMNS.source).where(_COLUMNS.scope_id == scope_id)
    query = query.where(_COLUMNS.source.startswith(start, autoescape=True)).distinct().order_by(_COLUMNS.source)
    return list(connection.execute(query).scalars())


def remove(connection: sa.Connection, scope_id: str, said: Sequence[Said]) -> None:
    """Take places of one source away, so that it says them no more."""
    for source in {each.source for each in said}:
        for batch in batches([each.place for each in said if each.source == source]):
            connection.execute(
                sa.delete(memory_sources).where(
                    _COLUMNS.scope_id == scope_id, _COLUMNS.source == source, _COLUMNS.place.in_(batch)
                )
            )


def counts(connection: sa.Connection, scope_id: str, memory_ids: Sequence[str]) -> dict[str, int]:
    """Return how many places say each of the memories; 0 where none does any more."""
    found = dict.fromkeys(memory_ids, 0)
    for batch in batches(memory_ids):
        query = sa.select(_COLUMNS.memory_id, sa.func.count()).where(
            _COLUMNS.scope_id == scope_id, _COLUMNS.memory_id.in_(batch)
        )
        found |= {row[0]: row[1] for row in connection.execute(query.group_by(_COLUMNS.memory_id))}
    return found


def listed(connection: sa.Connection, scope_id: str, limit: int, after: str) -> list[tuple[str, int]]:
    """Return up to `limit` sources behind the one called `after`, each with the number of memories that it said."""
    query = sa.select(_COLUMNS.source, sa.func.count(sa.distinct(_COLUMNS.memory_id)))
    query = query.where(_COLUMNS.scope_id == scope_id, _COLUMNS.source > after, _COLUMNS.origin != "text")
    query = query.group_by(_COLUMNS.source).order_by(_COLUMNS.source).limit(limit)
    return [(source, number) for source, number in connection.execute(query)]


def _said(row: sa.Row[Any]) -> Said:
    return Said(
        source=row.source,
        place=row.place,
        memory_id=row.memory_id,
        identity=row.identity,
        origin=row.origin,
        url=row.url or "",
        author_class=row.author_class,
        author=row.author or "",
        seen_at=time.from_microseconds(row.seen_us),
        updated_at=None if row.updated_us is None else time.from_microseconds(row.updated_us),
    )
