"""Rows of publications: which packets anybody may read who has the address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from segue.base import time
from segue.storage.tables import publications

if TYPE_CHECKING:
    from datetime import datetime

_COLUMNS = publications.c


@dataclass(frozen=True, slots=True)
class Published:
    """A packet's publication: `slug` is the secret part of its address."""

    slug: str
    scope_id: str
    packet_id: str
    published_at: datetime


def insert(connection: sa.Connection, published: Published) -> None:
    """Publish a packet that is not published yet."""
    connection.execute(
        sa.insert(publications).values(
            slug=published.slug,
            scope_id=published.scope_id,
            packet_id=published.packet_id,
            published_us=time.microseconds(published.published_at),
        )
    )


def get(connection: sa.Connection, slug: str) -> Published | None:
    """Return the publication with that slug, None where there is none."""
    return _one(connection, _COLUMNS.slug == slug)


def of(connection: sa.Connection, scope_id: str, packet_id: str) -> Published | None:
    """Return the publication of a packet, None where it is not published."""
    return _one(connection, *_is(scope_id, packet_id))


def delete(connection: sa.Connection, scope_id: str, packet_id: str) -> bool:
    """Take a packet's publication back; return whether there was one."""
    return connection.execute(sa.delete(publications).where(*_is(scope_id, packet_id))).rowcount > 0


def delete_all(connection: sa.Connection, scope_id: str) -> int:
    """Take back the publications of a scope; return how many there were."""
    return connection.execute(sa.delete(publications).where(_COLUMNS.scope_id == scope_id)).rowcount


def move(connection: sa.Connection, scope_id: str, packet_id: str, target: str) -> None:
    """Let a publication, where there is one, go with its packet into another scope."""
    connection.execute(sa.update(publications).where(*_is(scope_id, packet_id)).values(scope_id=target))


def _is(scope_id: str, packet_id: str) -> tuple[sa.ColumnElement[bool], ...]:
    return _COLUMNS.scope_id == scope_id, _COLUMNS.packet_id == packet_id


def _one(connection: sa.Connection, *conditions: sa.ColumnElement[bool]) -> Published | None:
    row: sa.Row[Any] | None = connection.execute(sa.select(publications).where(*conditions)).one_or_none()
    if row is None:
        return None
    return Published(row.slug, row.scope_id, row.packet_id, time.from_microseconds(row.published_us))
