"""Many rows added at once, handed to the driver as they are: looking at each value takes longer than storing it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import sqlalchemy as sa


def insert(connection: sa.Connection, table: sa.Table, rows: Sequence[Mapping[str, Any]], otherwise: str = "") -> None:
    """Add rows to a table; all of them name the same columns in the same order.

    Values are those that both drivers store as they are: texts without NUL, numbers, truth values, bytes, None.
    `otherwise` is what the statement ends with, such as an `ON CONFLICT`.
    """
    if rows:
        # "qmark" marks a value with ?, the others that we use take %s.
        mark = "?" if connection.dialect.paramstyle == "qmark" else "%s"
        statement = _statement(table.name, tuple(rows[0]), mark, otherwise)
        connection.exec_driver_sql(statement, [tuple(row.values()) for row in rows])


@lru_cache(maxsize=64)
def _statement(table: str, columns: tuple[str, ...], mark: str, otherwise: str) -> str:
    names = ", ".join(f'"{column}"' for column in columns)
    return f'INSERT INTO "{table}" ({names}) VALUES ({", ".join([mark] * len(columns))}) {otherwise}'  # noqa: S608 - names of ours
