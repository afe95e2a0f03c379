"""Copying a whole store into another database: what backup and restore are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from segue.storage.tables import metadata

if TYPE_CHECKING:
    from collections.abc import Mapping

_BATCH = 500


def copy_all(source: sa.Connection, target: sa.Connection) -> dict[str, int]:
    """Replace every row of `target` by the rows of `source`; return the number of rows of each table.

    Both have the schema of this version. What either transaction sees is one state; nothing stays half copied.
    """
    for table in reversed(metadata.sorted_tables):
        target.execute(sa.delete(table))
    return {table.name: _copy_table(source, target, table) for table in metadata.sorted_tables}


def _copy_table(source: sa.Connection, target: sa.Connection, table: sa.Table) -> int:
    count = 0
    rows = source.execution_options(yield_per=_BATCH).execute(sa.select(table)).mappings()
    for batch in rows.partitions(_BATCH):
        _insert(target, table, batch)
        count += len(batch)
    return count


def _insert(target: sa.Connection, table: sa.Table, rows: object) -> None:
    values: list[Mapping[str, object]] = [dict(row) for row in rows]  # type: ignore[attr-defined]
    target.execute(sa.insert(table), values)


def counts(connection: sa.Connection) -> dict[str, int]:
    """Return the number of rows of each table."""
    return {
        table.name: connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
        for table in metadata.sorted_tables
    }
