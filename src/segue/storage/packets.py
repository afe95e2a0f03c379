"""Rows of packets. Columns beside the body are derived from it and follow it."""

from __future__ import annotations

import string
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from segue.base import text, time
from segue.packets import fields
from segue.storage.tables import packet_tags, packets

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from segue.packets.model import Packet

_COLUMNS = packets.c
_BATCH = 500
# Digits of these would be found by every other search for a number.
_UNSEARCHED = frozenset({"ltm_version", "created_at", "provenance.source_hash"})
_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


@dataclass(frozen=True, slots=True)
class StoredPacket:
    """A packet as it lies in the store.

    `revision` counts its bodies from 1; `flagged` says that it was stored with findings, by its writer's choice.
    """

    scope_id: str
    id: str
    owner_id: str
    revision: int
    saved_at: datetime
    project_key: str | None
    content_hash: str
    flagged: bool
    body: bytes


@dataclass(frozen=True, slots=True)
class Listed:
    """A line of a list of packets."""

    id: str
    created_at: str
    created_us: int
    goal: str
    project_name: str
    project_ref: str
    parent_id: str
    tags: tuple[str, ...]
    flagged: bool


@dataclass(frozen=True, slots=True)
class Filter:
    """What a list shows: `project` (name, ref or key) or one of `project_keys`; `tag`; instants in microseconds;
    `words` folded, all of them; `parent`.
    """

    project: str | None = None
    project_keys: tuple[str, ...] | None = None
    tag: str | None = None
    since_us: int | None = None
    until_us: int | None = None
    words: tuple[str, ...] = ()
    parent: str | None = None


def derived(packet: Packet, ref_key: str | None) -> dict[str, Any]:
    """Return the columns that follow from a packet's body; `ref_key` identifies the project that its ref names."""
    project = packet.project
    written = fields.texts(packet.document())
    return {
        "ltm_version": packet.ltm_version,
        "parent_id": packet.parent_id or None,
        "created_at": packet.created_at,
        "created_us": time.microseconds(packet.created),
        "goal": packet.goal,
        "project_name": project.name if project and project.name else None,
        "project_ref": project.ref if project and project.ref else None,
        "ref_key": ref_key,
        "content_hash": packet.content_hash,
        "search_text": text.fold("\n".join(each.text for each in written if each.path not in _UNSEARCHED)),
    }


def insert(connection: sa.Connection, stored: StoredPacket, packet: Packet, ref_key: str | None) -> None:
    """Add a row; its id must be free in its scope."""
    connection.execute(sa.insert(packets).values(**_row(stored), **derived(packet, ref_key)))
    _write_tags(connection, stored.scope_id, packet)


def replace(connection: sa.Connection, stored: StoredPacket, packet: Packet, ref_key: str | None) -> None:
    """Put another body, and all that follows from it, into the row of the same scope and id."""
    update = sa.update(packets).where(*_is(stored.scope_id, stored.id))
    connection.execute(update.values(**_row(stored), **derived(packet, ref_key)))
    _write_tags(connection, stored.scope_id, packet)


def _row(stored: StoredPacket) -> dict[str, Any]:
    return {
        "scope_id": stored.scope_id,
        "id": stored.id,
        "owner_id": stored.owner_id,
        "revision": stored.revision,
        "saved_us": time.microseconds(stored.saved_at),
        "project_key": stored.project_key,
        "flagged": stored.flagged,
        "body": stored.body,
    }


def _write_tags(connection: sa.Connection, scope_id: str, packet: Packet) -> None:
    mine = (packet_tags.c.scope_id == scope_id, packet_tags.c.packet_id == packet.id)
    connection.execute(sa.delete(packet_tags).where(*mine))
    rows = [{"scope_id": scope_id, "packet_id": packet.id, "tag": tag} for tag in dict.fromkeys(packet.tags)]
    if rows:
        connection.execute(sa.insert(packet_tags), rows)


def _is(scope_id: str, packet_id: str) -> tuple[sa.ColumnElement[bool], ...]:
    return _COLUMNS.scope_id == scope_id, _COLUMNS.id == packet_id


def delete(connection: sa.Connection, scope_id: str, packet_id: str) -> bool:
    """Remove a packet, body and all; return whether it was there."""
    return connection.execute(sa.delete(packets).where(*_is(scope_id, packet_id))).rowcount > 0


def get(connection: sa.Connection, scope_id: str, packet_id: str) -> StoredPacket | None:
    """Return the packet of that exact id, None where the scope has none."""
    row = connection.execute(sa.select(packets).where(*_is(scope_id, packet_id))).one_or_none()
    return None if row is None else _stored(row)


def _stored(row: sa.Row[Any]) -> StoredPacket:
    return StoredPacket(
        scope_id=row.scope_id,
        id=row.id,
        owner_id=row.owner_id,
        revision=row.revision,
        saved_at=time.from_microseconds(row.saved_us),
        project_key=row.project_key,
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


def with_content(connection: sa.Connection, scope_id: str, content_hash: str) -> StoredPacket | None:
    """Return the newest packet of the scope that records the same state."""
    query = sa.select(packets).where(_COLUMNS.scope_id == scope_id, _COLUMNS.content_hash == content_hash)
    row = connection.execute(query.order_by(*_NEWEST_FIRST).limit(1)).one_or_none()
    return None if row is None else _stored(row)


_NEWEST_FIRST = (_COLUMNS.created_us.desc(), _COLUMNS.id.desc())


def listed(
    connection: sa.Connection, scope_id: str, wanted: Filter, limit: int, after: tuple[int, str] | None = None
) -> list[Listed]:
    """Return up to `limit` packets, newest first, beginning behind the position `after` (created_us, id)."""
    query = _list_query(scope_id).where(*_conditions(scope_id, wanted))
    if after is not None:
        created_us, packet_id = after
        query = query.where(sa.tuple_(_COLUMNS.created_us, _COLUMNS.id) < sa.tuple_(created_us, packet_id))
    return _with_tags(connection, scope_id, connection.execute(query.order_by(*_NEWEST_FIRST).limit(limit)).all())


def _list_query(scope_id: str) -> sa.Select[Any]:
    columns = [_COLUMNS.id, _COLUMNS.created_at, _COLUMNS.created_us, _COLUMNS.goal, _COLUMNS.project_name]
    columns += [_COLUMNS.project_ref, _COLUMNS.parent_id, _COLUMNS.flagged]
    return sa.select(*columns).where(_COLUMNS.scope_id == scope_id)


def _with_tags(connection: sa.Connection, scope_id: str, rows: Sequence[sa.Row[Any]]) -> list[Listed]:
    tags = _tags(connection, scope_id, [row.id for row in rows])
    return [
        Listed(
            id=row.id,
            created_at=row.created_at,
            created_us=row.created_us,
            goal=row.goal,
            project_name=row.project_name or "",
            project_ref=row.project_ref or "",
            parent_id=row.parent_id or "",
            tags=tags.get(row.id, ()),
            flagged=row.flagged,
        )
        for row in rows
    ]


def _tags(connection: sa.Connection, scope_id: str, packet_ids: list[str]) -> dict[str, tuple[str, ...]]:
    query = sa.select(packet_tags.c.packet_id, packet_tags.c.tag).where(
        packet_tags.c.scope_id == scope_id, packet_tags.c.packet_id.in_(packet_ids)
    )
    found: dict[str, tuple[str, ...]] = {}
    for packet_id, tag in connection.execute(query.order_by(packet_tags.c.packet_id, packet_tags.c.tag)):
        found[packet_id] = (*found.get(packet_id, ()), tag)
    return found


def _conditions(scope_id: str, wanted: Filter) -> list[sa.ColumnElement[bool]]:
    conditions: list[sa.ColumnElement[bool]] = []
    keys = wanted.project_keys or ()
    if wanted.project is not None:
        keys = (wanted.project, *keys)
        named = [_COLUMNS.project_name == wanted.project, _COLUMNS.project_ref == wanted.project]
    else:
        named = []
    if keys:
        conditions.append(sa.or_(_COLUMNS.project_key.in_(keys), _COLUMNS.ref_key.in_(keys), *named))
    if wanted.tag is not None:
        tagged = sa.select(packet_tags.c.packet_id).where(
            packet_tags.c.scope_id == scope_id, packet_tags.c.tag == wanted.tag
        )
        conditions.append(_COLUMNS.id.in_(tagged))
    if wanted.since_us is not None:
        conditions.append(_COLUMNS.created_us >= wanted.since_us)
    if wanted.until_us is not None:
        conditions.append(_COLUMNS.created_us < wanted.until_us)
    if wanted.parent is not None:
        conditions.append(_COLUMNS.parent_id == wanted.parent)
    conditions += [_COLUMNS.search_text.contains(word, autoescape=True) for word in wanted.words]
    return conditions


def tags_of(connection: sa.Connection, scope_id: str, packet_id: str) -> tuple[str, ...]:
    """Return the tags of a packet, sorted."""
    return _tags(connection, scope_id, [packet_id]).get(packet_id, ())


def derive_again(connection: sa.Connection, scope_id: str, packet: Packet, columns: dict[str, Any]) -> None:
    """Write the columns and tags that follow from a packet's body once more."""
    connection.execute(sa.update(packets).where(*_is(scope_id, packet.id)).values(**columns))
    _write_tags(connection, scope_id, packet)


def by_ids(connection: sa.Connection, scope_id: str, packet_ids: Sequence[str]) -> dict[str, Listed]:
    """Return those of the packets that the scope has, by id."""
    found: dict[str, Listed] = {}
    for start in range(0, len(packet_ids), _BATCH):
        batch = list(packet_ids[start : start + _BATCH])
        rows = connection.execute(_list_query(scope_id).where(_COLUMNS.id.in_(batch))).all()
        found |= {item.id: item for item in _with_tags(connection, scope_id, rows)}
    return found


def parents(connection: sa.Connection, scope_id: str, packet_id: str) -> dict[str, str]:
    """Return each packet from `packet_id` up to the oldest known one with its parent's id ("" for none)."""
    start = sa.select(_COLUMNS.id, _COLUMNS.parent_id).where(*_is(scope_id, packet_id))
    chain = start.cte("chain", recursive=True)
    above = packets.alias("above")
    step = sa.select(above.c.id, above.c.parent_id).where(above.c.scope_id == scope_id, above.c.id == chain.c.parent_id)
    chain = chain.union(step)  # UNION, not UNION ALL: a cycle ends it
    return {row.id: row.parent_id or "" for row in connection.execute(sa.select(chain.c.id, chain.c.parent_id))}


def all_parents(connection: sa.Connection, scope_id: str) -> dict[str, str]:
    """Return every packet of the scope that has a parent, with the parent's id."""
    query = sa.select(_COLUMNS.id, _COLUMNS.parent_id).where(
        _COLUMNS.scope_id == scope_id, _COLUMNS.parent_id.is_not(None)
    )
    return {row.id: row.parent_id for row in connection.execute(query)}


def count(connection: sa.Connection, scope_id: str, project_keys: tuple[str, ...] | None = None) -> int:
    """Return how many packets the scope has, or how many of the project that has these keys."""
    conditions = _conditions(scope_id, Filter(project_keys=project_keys))
    query = sa.select(sa.func.count()).select_from(packets).where(_COLUMNS.scope_id == scope_id, *conditions)
    return connection.execute(query).scalar_one()


def known(connection: sa.Connection, scope_id: str, packet_ids: list[str]) -> set[str]:
    """Return which of the ids the scope has."""
    query = sa.select(_COLUMNS.id).where(_COLUMNS.scope_id == scope_id, _COLUMNS.id.in_(packet_ids))
    return set(connection.execute(query).scalars())
