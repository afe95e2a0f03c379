"""Rows about hosts: which scopes are copies of a team's, and what was the same on both sides after the last sync."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from segue.base import ids, time
from segue.storage.tables import metadata, packet_tags, packets, replicas, replicated_packets, scopes

if TYPE_CHECKING:
    from datetime import datetime

KIND = "replica"
_BATCH = 500
_REPLICAS = replicas.c
_KNOWN = replicated_packets.c


@dataclass(frozen=True, slots=True)
class Replica:
    """A scope that is synced with a host: the user's own, whose `team_id` is "", or the copy of a team's."""

    scope_id: str
    host: str
    team_id: str
    name: str
    account: str
    synced_at: datetime


@dataclass(frozen=True, slots=True)
class Known:
    """The SHA-256 of a packet that was the same on both sides, and its etag on the host ("" where it told none)."""

    digest: str
    etag: str


def own(connection: sa.Connection, scope_id: str, host: str) -> Replica | None:
    """Return what is known of the host for the user's own scope, None before the first sync."""
    row = connection.execute(sa.select(replicas).where(*_is(scope_id, host))).one_or_none()
    return None if row is None else _replica(row)


def of_teams(connection: sa.Connection, host: str | None = None) -> list[Replica]:
    """Return the copies of teams' scopes, by name; of one host, or of all."""
    query = sa.select(replicas).where(_REPLICAS.team_id != "")
    if host is not None:
        query = query.where(_REPLICAS.host == host)
    return [_replica(row) for row in connection.execute(query.order_by(_REPLICAS.name, _REPLICAS.host))]


def put(connection: sa.Connection, replica: Replica) -> None:
    """Write what is known of a host for a scope, in the place of what was known."""
    connection.execute(sa.delete(replicas).where(*_is(replica.scope_id, replica.host)))
    connection.execute(
        sa.insert(replicas).values(
            scope_id=replica.scope_id,
            host=replica.host,
            team_id=replica.team_id,
            name=replica.name,
            account=replica.account,
            synced_us=time.microseconds(replica.synced_at),
        )
    )


def make_scope(connection: sa.Connection, name: str, now: datetime) -> str:
    """Make the scope that is to be the copy of a team's, and return its id."""
    scope_id = ids.new(now)
    values = {"scope_id": scope_id, "kind": KIND, "name": name, "created_us": time.microseconds(now)}
    connection.execute(sa.insert(scopes).values(values))
    return scope_id


def drop(connection: sa.Connection, scope_id: str) -> None:
    """Remove the copy of a team's scope with all that it holds."""
    for table in reversed(metadata.sorted_tables):
        if "scope_id" in table.c:
            connection.execute(sa.delete(table).where(table.c.scope_id == scope_id))


def digests(connection: sa.Connection, scope_id: str) -> dict[str, str]:
    """Return the SHA-256 of each packet's bytes, by id."""
    query = sa.select(packets.c.id, packets.c.body).where(packets.c.scope_id == scope_id)
    with connection.execute(query.execution_options(yield_per=_BATCH)) as rows:
        return {row.id: hashlib.sha256(row.body).hexdigest() for row in rows}


def tagged(connection: sa.Connection, scope_id: str, tag: str) -> set[str]:
    """Return the ids of the packets with a tag."""
    query = sa.select(packet_tags.c.packet_id).where(packet_tags.c.scope_id == scope_id, packet_tags.c.tag == tag)
    return set(connection.execute(query).scalars())


def known(connection: sa.Connection, scope_id: str, host: str) -> dict[str, Known]:
    """Return what was the same on both sides, by packet id."""
    query = sa.select(replicated_packets).where(_KNOWN.scope_id == scope_id, _KNOWN.host == host)
    return {row.packet_id: Known(row.digest, row.etag) for row in connection.execute(query)}


def remember(connection: sa.Connection, scope_id: str, host: str, packet_id: str, known: Known) -> None:
    """Note that a packet is the same on both sides now."""
    forget(connection, scope_id, host, packet_id)
    values = {"scope_id": scope_id, "host": host, "packet_id": packet_id}
    connection.execute(sa.insert(replicated_packets).values(**values, digest=known.digest, etag=known.etag))


def forget(connection: sa.Connection, scope_id: str, host: str, packet_id: str) -> None:
    """Know nothing of a packet any more."""
    mine = (_KNOWN.scope_id == scope_id, _KNOWN.host == host, _KNOWN.packet_id == packet_id)
    connection.execute(sa.delete(replicated_packets).where(*mine))


def forget_all(connection: sa.Connection, scope_id: str, host: str) -> None:
    """Know nothing of the host's packets any more: the next sync compares all of them."""
    connection.execute(sa.delete(replicated_packets).where(_KNOWN.scope_id == scope_id, _KNOWN.host == host))


def _is(scope_id: str, host: str) -> tuple[sa.ColumnElement[bool], ...]:
    return _REPLICAS.scope_id == scope_id, _REPLICAS.host == host


def _replica(row: sa.Row[Any]) -> Replica:
    synced_at = time.from_microseconds(row.synced_us)
    return Replica(row.scope_id, row.host, row.team_id, row.name, row.account, synced_at)
