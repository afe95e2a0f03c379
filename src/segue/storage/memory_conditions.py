"""What a query over memories must ask for to find those that pass a filter."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import sqlalchemy as sa

from segue.storage import folded
from segue.storage.tables import memories, memory_entities, memory_sources, memory_tags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from segue.memories.filter import Filter

_COLUMNS = memories.c


def conditions(scope_id: str, wanted: Filter) -> list[sa.ColumnElement[bool]]:
    """Return what a query over `memories` must ask for besides its scope."""
    return [
        *_listed(wanted),
        *_beside(scope_id, wanted),
        *_bounds(wanted),
        *_holding(wanted.holds_us),
    ]


def _listed(wanted: Filter) -> Iterator[sa.ColumnElement[bool]]:
    lists = (
        (_COLUMNS.status, wanted.statuses),
        (_COLUMNS.kind, wanted.kinds),
        (_COLUMNS.layer, wanted.layers),
        (_COLUMNS.origin, wanted.origins),
        (_COLUMNS.author_class, wanted.author_classes),
        (_COLUMNS.thread, wanted.threads),
    )
    yield from (column.in_(values) for column, values in lists if values)
    if wanted.projects:
        inside = _COLUMNS.project_key.in_(wanted.projects)
        yield sa.or_(inside, _COLUMNS.project_key.is_(None)) if wanted.unassigned else inside


def _beside(scope_id: str, wanted: Filter) -> Iterator[sa.ColumnElement[bool]]:
    """What stands in tables of its own."""
    sides = (
        (memory_tags, memory_tags.c.tag, wanted.tags),
        (memory_entities, memory_entities.c.key, wanted.entities),
    )
    for table, column, values in sides:
        if values:
            ids = sa.select(table.c.memory_id).where(table.c.scope_id == scope_id, column.in_(values))
            yield _COLUMNS.id.in_(ids)
    if wanted.sources:
        named = [query for each in wanted.sources for query in _read_from(scope_id, each)]
        yield _COLUMNS.id.in_(sa.union_all(*named))
    if wanted.mentions:
        yield sa.or_(*(_mentions(scope_id, key) for key in wanted.mentions))


def _read_from(scope_id: str, ref: str) -> Iterator[sa.Select[tuple[str]]]:
    """Yield queries for what a source, or the one place in it that a ref names, says, and for what it said before."""
    source, joint, place = ref.partition("#")
    said = memory_sources.c
    query = sa.select(said.memory_id).where(said.scope_id == scope_id, said.source == source)
    yield query.where(said.place == place) if joint else query
    yield said_no_more(scope_id, ref)


def said_no_more(scope_id: str, ref: str) -> sa.Select[tuple[str]]:
    """Return the query for the memories that a source, or one place in it, said first and no place says any more."""
    read = memories.alias("read_first").c
    # "$" follows "#": one range of the index, with little in it that is no place of the source.
    near = sa.and_(read.ref >= ref, read.ref < f"{ref}$")
    first = sa.or_(read.ref == ref, read.ref >= f"{ref}#")
    return sa.select(read.id).where(read.scope_id == scope_id, near, first, ~is_said(scope_id, read.id))


def is_said(scope_id: str, memory_id: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
    """Return the condition that some place says a memory."""
    said = memory_sources.c
    return sa.exists().where(said.scope_id == scope_id, said.memory_id == memory_id)


def _mentions(scope_id: str, key: str) -> sa.ColumnElement[bool]:
    named = memory_entities.c.key
    whole = sa.or_(
        named == key,
        named.startswith(key + " ", autoescape=True),
        named.endswith(" " + key, autoescape=True),
        named.contains(f" {key} ", autoescape=True),
    )
    ids = sa.select(memory_entities.c.memory_id).where(memory_entities.c.scope_id == scope_id, whole)
    return sa.or_(_COLUMNS.id.in_(ids), folded.holds(_COLUMNS.content, key))


def _bounds(wanted: Filter) -> Iterator[sa.ColumnElement[bool]]:
    happened = sa.func.coalesce(_COLUMNS.occurred_us, _COLUMNS.captured_us)
    least = (
        (happened, wanted.since_us),
        (_COLUMNS.trust, wanted.minimum_trust),
        (_COLUMNS.confidence, wanted.minimum_confidence),
        (sa.func.coalesce(_COLUMNS.confidence, _COLUMNS.trust), wanted.minimum_assurance),
    )
    yield from (value >= bound for value, bound in least if bound is not None)
    if wanted.until_us is not None:
        yield happened < wanted.until_us
    if wanted.known_us is not None:
        yield _COLUMNS.captured_us <= wanted.known_us


@lru_cache(maxsize=16)  # a pack asks a dozen times about one time
def _holding(at_us: int | None) -> tuple[sa.ColumnElement[bool], ...]:
    """The conditions that a memory holds at a time: begun by then, and neither over nor retired."""
    if at_us is None:
        return ()
    begins, ends = _COLUMNS.valid_from_us, (_COLUMNS.valid_to_us, _COLUMNS.retired_us)
    return (sa.or_(begins.is_(None), begins <= at_us), *(sa.or_(each.is_(None), each > at_us) for each in ends))
