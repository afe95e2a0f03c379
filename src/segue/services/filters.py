"""Filters as callers describe them, made into what the rows are compared with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from segue.base import jsontext, text, time
from segue.base.errors import InvalidInput
from segue.base.redaction import shown
from segue.memories.filter import Filter
from segue.memories.item import AUTHOR_CLASSES, KINDS, LAYERS, ORIGINS
from segue.memories.memory import STATUSES
from segue.search import entities as names
from segue.services import paging
from segue.storage import memory_entities as entity_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    import sqlalchemy as sa

    from segue.services.projects import Project

_MOST = 50  # of each list


def filtered(
    project_here: Callable[[], Project],
    *,
    statuses: Iterable[str] = (),
    kinds: Iterable[str] = (),
    layers: Iterable[str] = (),
    entities: Iterable[str] = (),
    tags: Iterable[str] = (),
    projects: Iterable[str] = (),
    origins: Iterable[str] = (),
    author_classes: Iterable[str] = (),
    sources: Iterable[str] = (),
    threads: Iterable[str] = (),
    since: datetime | None = None,
    until: datetime | None = None,
    minimum_trust: float | None = None,
    minimum_confidence: float | None = None,
    minimum_assurance: float | None = None,
    mentions: Iterable[str] = (),
) -> Filter:
    """Return a filter: of each list any one must fit, and all of the conditions.

    Names are literal: `*` and `%` are characters like others. A project is a name, "." the one that one is in.
    Raises InvalidInput `filter.invalid` for a value that nothing can have.
    """
    shares = {
        "minimum_trust": minimum_trust,
        "minimum_confidence": minimum_confidence,
        "minimum_assurance": minimum_assurance,
    }
    for name, value in shares.items():
        if value is not None and not 0 <= value <= 1:
            raise InvalidInput("filter.invalid", f"{name} lies between 0 and 1, not at {value}")
    named = [project_here().name if each == "." else each for each in _texts("project", projects)]
    return Filter(
        statuses=_among("status", statuses, STATUSES),
        kinds=_among("kind", kinds, KINDS),
        layers=_among("layer", layers, LAYERS),
        entities=tuple(dict.fromkeys(key for each in _texts("entity", entities) if (key := names.key(each)))),
        tags=tuple(each.strip().lower() for each in _texts("tag", tags)),
        projects=tuple(text.fold(each) for each in named),
        origins=_among("origin", origins, ORIGINS),
        author_classes=_among("author_class", author_classes, AUTHOR_CLASSES),
        sources=_texts("source", sources),
        threads=_texts("thread", threads),
        since_us=time.microseconds(since) if since else None,
        until_us=time.microseconds(until) if until else None,
        minimum_trust=minimum_trust,
        minimum_confidence=minimum_confidence,
        minimum_assurance=minimum_assurance,
        mentions=tuple(dict.fromkeys(key for each in _texts("entity", mentions) if (key := names.key(each)))),
    )


def resolved(connection: sa.Connection, scope_id: str, wanted: Filter) -> Filter:
    """Return a filter with other names of entities replaced by their own."""
    if not wanted.entities:
        return wanted
    aliases = {each.alias: each.key for each in entity_rows.aliases(connection, scope_id)}
    return replace(wanted, entities=tuple(dict.fromkeys(aliases.get(each, each) for each in wanted.entities)))


def _among(name: str, values: Iterable[str], allowed: tuple[str, ...]) -> tuple[str, ...]:
    given = _texts(name, values)
    for each in given:
        if each not in allowed:
            raise InvalidInput("filter.invalid", f"{name}: one of {', '.join(allowed)}, not '{shown(each, 40)}'")
    return given


def _texts(name: str, values: Iterable[str]) -> tuple[str, ...]:
    given = (values,) if isinstance(values, str) else tuple(values)
    if len(given) > _MOST:
        raise InvalidInput("filter.invalid", f"{name}: at most {_MOST} at a time")
    for each in given:
        if len(each) > paging.MAX_TEXT or not jsontext.is_unicode(each):
            raise InvalidInput("filter.invalid", f"{name}: give at most {paging.MAX_TEXT} characters of Unicode text")
    return tuple(dict.fromkeys(each.replace("\0", "\ufffd") for each in given))
