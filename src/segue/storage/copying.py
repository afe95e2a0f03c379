"""Copying a whole store into another database: what backup and restore are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from segue.storage import scopes
from segue.storage.tables import metadata, settings

if TYPE_CHECKING:
    from collections.abc import Mapping

_BATCH = 500


def copy_all(
    source: sa.Connection, target: sa.Connection, *, renamed: Mapping[str, str] | None = None
) -> dict[str, int]:
    """Replace every row of `target` by the rows of `source`; return the number of rows of each table.

    Both have the schema of this version. What either transaction sees is one state; nothing stays half copied.
    `renamed` maps ids of scopes in `source` to those that they get in `target`.
    """
    for table in reversed(metadata.sorted_tables):
        target.execute(sa.delete(table))
    return {table.name: _copy_table(source, target, table, renamed or {}) for table in metadata.sorted_tables}


def _copy_table(source: sa.Connection, target: sa.Connection, table: sa.Table, renamed: Mapping[str, str]) -> int:
    count = 0
    query = sa.select(table).execution_options(yield_per=_BATCH)
    with source.execute(query) as rows:
        for batch in rows.mappings().partitions(_BATCH):
            target.execute(sa.insert(table), [_renamed(table, row, renamed) for row in batch])
            count += len(batch)
    return count


def _renamed(table: sa.Table, row: sa.RowMapping, renamed: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = dict(row)
    for column in table.columns:
        if column.info.get("scope"):
            values[column.name] = renamed.get(values[column.name], values[column.name])
    if table is settings and values["name"] == scopes.SETTING:
        values["value"] = renamed.get(values["value"], values["value"])
    return values


def counts(connection: sa.Connection) -> dict[str, int]:
    """Return the number of rows of each table."""
    return {
        table.name: connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
        for table in metadata.sorted_tables
    }
