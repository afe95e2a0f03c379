"""The heads of the chains of receipts: what the newest receipt of a project is, kept apart from the receipts' files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from segue.storage.tables import receipt_heads

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEADS = receipt_heads.c


@dataclass(frozen=True, slots=True)
class Head:
    """The number, name and hash of a project's newest receipt."""

    number: int
    tx_id: str
    receipt_hash: str


def get(connection: sa.Connection, scope_id: str, project_key: str) -> Head | None:
    """Return a project's head, None before its first receipt."""
    query = sa.select(_HEADS.number, _HEADS.tx_id, _HEADS.receipt_hash).where(*_is(scope_id, project_key))
    row = connection.execute(query).one_or_none()
    return None if row is None else Head(row.number, row.tx_id, row.receipt_hash)


def every(connection: sa.Connection) -> list[tuple[str, str, Head]]:
    """Return the heads of all scopes and projects: scope id, project key and head."""
    rows = connection.execute(sa.select(receipt_heads))
    return [(row.scope_id, row.project_key, Head(row.number, row.tx_id, row.receipt_hash)) for row in rows]


def put(connection: sa.Connection, scope_id: str, project_key: str, head: Head) -> None:
    """Set a project's head."""
    drop(connection, scope_id, project_key)
    values = {"number": head.number, "tx_id": head.tx_id, "receipt_hash": head.receipt_hash}
    connection.execute(sa.insert(receipt_heads).values(scope_id=scope_id, project_key=project_key, **values))


def drop(connection: sa.Connection, scope_id: str, project_key: str) -> None:
    """Have no head for a project."""
    connection.execute(sa.delete(receipt_heads).where(*_is(scope_id, project_key)))


def _is(scope_id: str, project_key: str) -> Sequence[sa.ColumnElement[bool]]:
    return _HEADS.scope_id == scope_id, _HEADS.project_key == project_key
