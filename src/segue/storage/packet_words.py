"""The words of packets: which packets of a scope may hold a word, without reading them."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from segue.base.search_words import indexed
from segue.storage import bulk
from segue.storage.tables import packet_words, packets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from segue.base.search_words import Probe

_COLUMNS = packet_words.c
_BATCH = 1_000
_ADD_AT_ONCE = sa.text(
    "INSERT INTO packet_words (scope_id, word, created_us, packet_id)"
    " SELECT :scope, word, :at, :id FROM unnest(CAST(:words AS text[])) AS word ON CONFLICT DO NOTHING"
)
_LAST = "\U0010ffff"  # sorts behind all that a word can go on with


def entries(scope_id: str, packet_id: str, created_us: int, search_text: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a packet, in the order in which they are stored."""
    for word in sorted(indexed(search_text)):
        yield {"scope_id": scope_id, "word": word, "created_us": created_us, "packet_id": packet_id}


def add(connection: sa.Connection, scope_id: str, packet_id: str, created_us: int, search_text: str) -> None:
    """Add the words of a packet; where `search_text` was damaged, some may be there already."""
    if connection.dialect.name == "postgresql":  # one statement, and not one for each word
        wanted = {"scope": scope_id, "at": created_us, "id": packet_id, "words": sorted(indexed(search_text))}
        connection.execute(_ADD_AT_ONCE, wanted)
        return
    words = list(entries(scope_id, packet_id, created_us, search_text))
    bulk.insert(connection, packet_words, words, "ON CONFLICT DO NOTHING")


def remove(connection: sa.Connection, scope_id: str, packet_id: str) -> None:
    """Take the words of a packet away, as its row says them, where there is one."""
    query = sa.select(packets.c.created_us, packets.c.search_text)
    row = connection.execute(query.where(packets.c.scope_id == scope_id, packets.c.id == packet_id)).one_or_none()
    if row is not None:
        mine = (
            _COLUMNS.scope_id == scope_id,
            _COLUMNS.created_us == row.created_us,
            _COLUMNS.packet_id == packet_id,
        )
        connection.execute(sa.delete(packet_words).where(*mine, _COLUMNS.word.in_(sorted(indexed(row.search_text)))))


def agrees(connection: sa.Connection, scope_id: str) -> bool:
    """Whether the words of a scope are those of its packets: both are gone through, whatever their number."""
    stored = sa.select(_COLUMNS.word, _COLUMNS.created_us, _COLUMNS.packet_id).where(_COLUMNS.scope_id == scope_id)
    wanted = (tuple(row.values())[1:] for row in _wanted(connection, scope_id))
    return _sum(map(tuple, connection.execute(stored.execution_options(yield_per=_BATCH)))) == _sum(wanted)


def _sum(rows: Iterable[tuple[Any, ...]]) -> tuple[int, int]:
    number = total = 0
    for row in rows:
        number, total = number + 1, (total + hash(row)) % (1 << 64)
    return number, total


def write_again(connection: sa.Connection, scope_id: str) -> None:
    """Make the words of a scope from its packets once more."""
    connection.execute(sa.delete(packet_words).where(_COLUMNS.scope_id == scope_id))
    wanted = _wanted(connection, scope_id)
    while batch := list(islice(wanted, _BATCH)):
        bulk.insert(connection, packet_words, batch)


def _wanted(connection: sa.Connection, scope_id: str) -> Iterator[dict[str, Any]]:
    last = ""
    while True:
        query = sa.select(packets.c.id, packets.c.created_us, packets.c.search_text)
        query = query.where(packets.c.scope_id == scope_id, packets.c.id > last).order_by(packets.c.id)
        batch = connection.execute(query.limit(_BATCH)).all()
        if not batch:
            return
        for row in batch:
            yield from entries(scope_id, row.id, row.created_us, row.search_text)
        last = batch[-1].id


def matches(probe: Probe) -> sa.ColumnElement[bool]:
    """The condition that a row answers a probe."""
    if probe.begins:
        return sa.and_(_COLUMNS.word >= probe.word, _COLUMNS.word < probe.word + _LAST)
    return _COLUMNS.word == probe.word


def count(connection: sa.Connection, scope_id: str, probe: Probe, most: int) -> int:
    """Return how many rows answer a probe, at most `most`."""
    found = sa.select(sa.literal(1)).where(_COLUMNS.scope_id == scope_id, matches(probe)).limit(most).subquery()
    return connection.execute(sa.select(sa.func.count()).select_from(found)).scalar_one()


def spellings(connection: sa.Connection, scope_id: str, probe: Probe, most: int) -> list[str]:
    """Return the words that begin as a probe, at most `most` of them, without reading the rows between them."""
    found: list[str] = []
    while len(found) < most:
        # One bound on each side: of two lower ones, SQLite goes from the first.
        least = _COLUMNS.word > found[-1] if found else _COLUMNS.word >= probe.word
        query = sa.select(_COLUMNS.word).where(_COLUMNS.scope_id == scope_id, least, _COLUMNS.word < probe.word + _LAST)
        word = connection.execute(query.order_by(_COLUMNS.word).limit(1)).scalar()
        if word is None:
            break
        found.append(word)
    return found
