"""Packets as the lines of a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from segue.storage.tables import packet_tags, packets

if TYPE_CHECKING:
    from collections.abc import Sequence

_COLUMNS = packets.c
_BATCH = 500

COLUMNS = (
    _COLUMNS.id,
    _COLUMNS.created_at,
    _COLUMNS.created_us,
    _COLUMNS.goal,
    _COLUMNS.project_name,
    _COLUMNS.project_ref,
    _COLUMNS.project_label,
    _COLUMNS.parent_id,
    _COLUMNS.flagged,
)


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

    def to_json(self) -> dict[str, Any]:
        """Return the shape of a packet in `segue ls --json`."""
        return {
            "id": self.id,
            "created_at": self.created_at,
            "goal": self.goal,
            "project": {"name": self.project_name, "ref": self.project_ref},
            "parent_id": self.parent_id or None,
            "tags": list(self.tags),
            "flagged": self.flagged,
        }


def with_tags(connection: sa.Connection, scope_id: str, rows: Sequence[Any]) -> list[Listed]:
    """Return the lines of rows that have COLUMNS, each with its tags."""
    tags = _tags(connection, scope_id, [row.id for row in rows])
    return [
        Listed(
            id=row.id,
            created_at=row.created_at,
            created_us=row.created_us,
            goal=row.goal,
            # One that names a project of its own is not shown under the name of where it was saved.
            project_name=row.project_name or ("" if row.project_ref else row.project_label or ""),
            project_ref=row.project_ref or "",
            parent_id=row.parent_id or "",
            tags=tags.get(row.id, ()),
            flagged=row.flagged,
        )
        for row in rows
    ]


def _tags(connection: sa.Connection, scope_id: str, packet_ids: list[str]) -> dict[str, tuple[str, ...]]:
    query = sa.select(packet_tags.c.packet_id, packet_tags.c.tag).where(
        packet_tags.c.scope_id == scope_id, among(connection, packet_tags.c.packet_id, packet_ids)
    )
    found: dict[str, tuple[str, ...]] = {}
    for packet_id, tag in connection.execute(query.order_by(packet_tags.c.packet_id, packet_tags.c.tag)):
        found[packet_id] = (*found.get(packet_id, ()), tag)
    return found


def among(connection: sa.Connection, column: sa.Column[str], values: list[str]) -> sa.ColumnElement[bool]:
    """The condition that a column has one of some values.

    PostgreSQL gets them as one value: the plan that it keeps for many single ones reads all that a large scope has.
    """
    if connection.dialect.name != "postgresql":
        return column.in_(values)
    return column == sa.any_(sa.literal(values, sa.ARRAY(sa.String)))


def by_ids(connection: sa.Connection, scope_id: str, packet_ids: Sequence[str]) -> dict[str, Listed]:
    """Return those of the packets that the scope has, by id."""
    found: dict[str, Listed] = {}
    for start in range(0, len(packet_ids), _BATCH):
        batch = list(packet_ids[start : start + _BATCH])
        query = sa.select(*COLUMNS).where(_COLUMNS.scope_id == scope_id, _COLUMNS.id.in_(batch))
        rows = connection.execute(query).all()
        found |= {item.id: item for item in with_tags(connection, scope_id, rows)}
    return found


def by_places(connection: sa.Connection, places: Sequence[tuple[str, str]]) -> list[Listed]:
    """Return the packets at the places (scope, id), which exist, in their order."""
    scopes = dict.fromkeys(scope_id for scope_id, _ in places)
    found = {scope: by_ids(connection, scope, [each for place, each in places if place == scope]) for scope in scopes}
    return [found[scope_id][packet_id] for scope_id, packet_id in places]
