"""Rows of packets. Columns beside the body are derived from it and follow it."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from segue.base import time
from segue.storage import bulk, packet_words, publications
from segue.storage.packet_row import Lists, StoredPacket, columns, derived, project_entry, wanted_lists
from segue.storage.tables import packet_projects, packet_tags, packets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from segue.packets.model import Packet

__all__ = [
    "Lists",
    "StoredPacket",
    "all_ids",
    "all_parents",
    "count",
    "count_owned",
    "delete",
    "derive_again",
    "derived",
    "get",
    "has_children",
    "insert",
    "known",
    "lists_of",
    "parents",
    "parents_across",
    "project_entry",
    "replace",
    "versions",
    "wanted_lists",
    "with_content",
    "with_ending",
]

_COLUMNS = packets.c
_INSERT = sa.insert(packets)
_IN_SCOPE = _COLUMNS.scope_id == sa.bindparam("in_scope")
_GET = sa.select(packets).where(_IN_SCOPE, _COLUMNS.id == sa.bindparam("of_id"))
_WITH_CONTENT = sa.select(_COLUMNS.id, _COLUMNS.created_us).where(
    _IN_SCOPE,
    _COLUMNS.content_hash == sa.bindparam("of_content"),
    _COLUMNS.project_key.in_(sa.bindparam("of_projects", expanding=True)),
)
_BATCH = 500

_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def insert(connection: sa.Connection, stored: StoredPacket, packet: Packet) -> None:
    """Add a row; its id must be free in its scope."""
    values = columns(stored) | derived(packet)
    connection.execute(_INSERT, values)
    packet_words.add(connection, stored.scope_id, stored.id, values["created_us"], values["search_text"])
    _write_lists(connection, stored.scope_id, packet, stored.project_key, stored.project_label, fresh=True)


def replace(connection: sa.Connection, stored: StoredPacket, packet: Packet) -> None:
    """Put another body, and all that follows from it, into the row of the same scope and id."""
    _change(connection, stored.scope_id, stored.id, columns(stored) | derived(packet))
    _write_lists(connection, stored.scope_id, packet, stored.project_key, stored.project_label)


def derive_again(
    connection: sa.Connection, scope_id: str, packet: Packet, project_key: str | None, project_label: str | None
) -> None:
    """Write the columns and lists that follow from a packet's body once more."""
    _change(connection, scope_id, packet.id, derived(packet))
    _write_lists(connection, scope_id, packet, project_key, project_label)


def _change(connection: sa.Connection, scope_id: str, packet_id: str, values: dict[str, Any]) -> None:
    packet_words.remove(connection, scope_id, packet_id)
    connection.execute(sa.update(packets).where(*_is(scope_id, packet_id)).values(**values))
    packet_words.add(connection, scope_id, packet_id, values["created_us"], values["search_text"])


def _write_lists(
    connection: sa.Connection,
    scope_id: str,
    packet: Packet,
    project_key: str | None,
    project_label: str | None,
    *,
    fresh: bool = False,
) -> None:
    tags, projects = wanted_lists(packet, project_key, project_label)
    common = {"scope_id": scope_id, "packet_id": packet.id}
    for table, column, entries in ((packet_tags, "tag", tags), (packet_projects, "project", projects)):
        if not fresh:
            connection.execute(sa.delete(table).where(table.c.scope_id == scope_id, table.c.packet_id == packet.id))
        bulk.insert(connection, table, [common | {column: name, "created_us": at_us} for name, at_us in entries])


def _is(scope_id: str, packet_id: str) -> tuple[sa.ColumnElement[bool], ...]:
    return _COLUMNS.scope_id == scope_id, _COLUMNS.id == packet_id


def delete(connection: sa.Connection, scope_id: str, packet_id: str) -> bool:
    """Remove a packet, body and all, and its publication; return whether it was there."""
    publications.delete(connection, scope_id, packet_id)
    packet_words.remove(connection, scope_id, packet_id)
    return connection.execute(sa.delete(packets).where(*_is(scope_id, packet_id))).rowcount > 0


def get(connection: sa.Connection, scope_id: str, packet_id: str) -> StoredPacket | None:
    """Return the packet of that exact id, None where the scope has none."""
    row = connection.execute(_GET, {"in_scope": scope_id, "of_id": packet_id}).one_or_none()
    return None if row is None else _stored(row)


def _stored(row: sa.Row[Any]) -> StoredPacket:
    return StoredPacket(
        scope_id=row.scope_id,
        id=row.id,
        owner_id=row.owner_id,
        revision=row.revision,
        saved_at=time.from_microseconds(row.saved_us),
        project_key=row.project_key,
        project_label=row.project_label,
        content_hash=row.content_hash,
        flagged=row.flagged,
        body=bytes(row.body),
    )


def with_ending(connection: sa.Connection, scope_id: str, ending: str, limit: int) -> list[str]:
    """Return up to `limit` ids of the scope that end in `ending`, whatever the case of its ASCII letters."""
    # Both databases lower ASCII letters alone: SQLite always, PostgreSQL by the column's collation.
    matches = sa.func.lower(_COLUMNS.id).endswith(ending.translate(_ASCII_LOWER), autoescape=True)
    query = sa.select(_COLUMNS.id).where(_COLUMNS.scope_id == scope_id, matches).order_by(_COLUMNS.id)
    return list(connection.execute(query.limit(limit)).scalars())


def with_content(
    connection: sa.Connection, scope_id: str, content_hash: str, project_keys: tuple[str, ...]
) -> StoredPacket | None:
    """Return the newest packet that records the same state and was saved in a project of one of the keys."""
    wanted = {"in_scope": scope_id, "of_content": content_hash, "of_projects": project_keys}
    # Sorted here: asked for the newest, SQLite would go through all packets in the order of time.
    newest = max(((row.created_us, row.id) for row in connection.execute(_WITH_CONTENT, wanted)), default=None)
    return None if newest is None else get(connection, scope_id, newest[1])


def lists_of(connection: sa.Connection, scope_id: str, packet_ids: Sequence[str]) -> dict[str, Lists]:
    """Return what each of the packets is listed by, as the lists say."""
    found = []
    for table, column in ((packet_tags, packet_tags.c.tag), (packet_projects, packet_projects.c.project)):
        query = sa.select(table.c.packet_id, column, table.c.created_us)
        query = query.where(table.c.scope_id == scope_id, table.c.packet_id.in_(packet_ids))
        entries: dict[str, list[tuple[str, int]]] = {}
        for packet_id, name, created_us in connection.execute(query):
            entries.setdefault(packet_id, []).append((name, created_us))
        found.append(entries)
    tags, projects = found
    return {each: (tuple(sorted(tags.get(each, ()))), tuple(sorted(projects.get(each, ())))) for each in packet_ids}


def versions(connection: sa.Connection, scope_id: str, packet_ids: Sequence[str]) -> dict[str, tuple[int, bytes]]:
    """Return revision and bytes of those of the packets that the scope has, by id."""
    found: dict[str, tuple[int, bytes]] = {}
    for start in range(0, len(packet_ids), _BATCH):
        batch = list(packet_ids[start : start + _BATCH])
        query = sa.select(_COLUMNS.id, _COLUMNS.revision, _COLUMNS.body)
        query = query.where(_COLUMNS.scope_id == scope_id, _COLUMNS.id.in_(batch))
        found |= {row.id: (row.revision, bytes(row.body)) for row in connection.execute(query)}
    return found


def parents(connection: sa.Connection, scope_id: str, packet_id: str) -> dict[str, str]:
    """Return each packet from `packet_id` up to the oldest known one with its parent's id ("" for none)."""
    start = sa.select(_COLUMNS.id, _COLUMNS.parent_id).where(*_is(scope_id, packet_id))
    chain = start.cte("chain", recursive=True)
    above = packets.alias("above")
    step = sa.select(above.c.id, above.c.parent_id).where(above.c.scope_id == scope_id, above.c.id == chain.c.parent_id)
    chain = chain.union(step)  # UNION, not UNION ALL: a cycle ends it
    return {row.id: row.parent_id or "" for row in connection.execute(sa.select(chain.c.id, chain.c.parent_id))}


def parents_across(connection: sa.Connection, scopes: Sequence[str], packet_id: str) -> dict[str, tuple[str, str]]:
    """Return each packet from `packet_id` up to the oldest known one: its scope, and its parent's id ("" for none).

    Of an id that several of the scopes have, the first one counts.
    """
    start = sa.select(_COLUMNS.scope_id, _COLUMNS.id, _COLUMNS.parent_id)
    chain = start.where(_COLUMNS.scope_id.in_(scopes), _COLUMNS.id == packet_id).cte("chain", recursive=True)
    above = packets.alias("above")
    step = sa.select(above.c.scope_id, above.c.id, above.c.parent_id)
    step = step.where(above.c.scope_id.in_(scopes), above.c.id == chain.c.parent_id)
    chain = chain.union(step)
    order = {scope_id: number for number, scope_id in enumerate(scopes)}
    rows = connection.execute(sa.select(chain.c.scope_id, chain.c.id, chain.c.parent_id)).all()
    found: dict[str, tuple[str, str]] = {}
    for row in sorted(rows, key=lambda row: order[row.scope_id]):
        found.setdefault(row.id, (row.scope_id, row.parent_id or ""))
    return found


def all_parents(connection: sa.Connection, scope_id: str) -> dict[str, str]:
    """Return every packet of the scope that has a parent, with the parent's id."""
    query = sa.select(_COLUMNS.id, _COLUMNS.parent_id).where(
        _COLUMNS.scope_id == scope_id, _COLUMNS.parent_id.is_not(None)
    )
    return {row.id: row.parent_id for row in connection.execute(query)}


def count(connection: sa.Connection, scope_id: str, projects: tuple[str, ...] = ()) -> int:
    """Return how many packets the scope has, or how many are listed under any of `projects`."""
    query = sa.select(sa.func.count()).select_from(packets).where(_COLUMNS.scope_id == scope_id)
    if projects:
        columns = packet_projects.c
        query = sa.select(sa.func.count(sa.distinct(columns.packet_id)))
        query = query.where(columns.scope_id == scope_id, columns.project.in_(projects))
    return connection.execute(query).scalar_one()


def count_owned(connection: sa.Connection, user_id: str) -> tuple[int, int]:
    """Return how many packets a user has in the personal scope, and how many in all others. It reads every scope."""
    mine = _COLUMNS.owner_id == user_id, _COLUMNS.scope_id != user_id
    elsewhere = sa.select(sa.func.count()).select_from(packets).where(*mine)
    return count(connection, user_id), connection.execute(elsewhere).scalar_one()


def all_ids(connection: sa.Connection, scope_id: str) -> list[str]:
    """Return the ids of all packets of the scope, the oldest first."""
    query = sa.select(_COLUMNS.id).where(_COLUMNS.scope_id == scope_id)
    return list(connection.execute(query.order_by(_COLUMNS.created_us, _COLUMNS.id)).scalars())


def has_children(connection: sa.Connection, scope_id: str, packet_id: str) -> bool:
    """Whether a packet of the scope names `packet_id` as its parent."""
    query = sa.select(_COLUMNS.id).where(_COLUMNS.scope_id == scope_id, _COLUMNS.parent_id == packet_id).limit(1)
    return connection.execute(query).first() is not None


def known(connection: sa.Connection, scope_id: str, packet_ids: list[str]) -> set[str]:
    """Return which of the ids the scope has."""
    query = sa.select(_COLUMNS.id).where(_COLUMNS.scope_id == scope_id, _COLUMNS.id.in_(packet_ids))
    return set(connection.execute(query).scalars())
