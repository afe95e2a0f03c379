"""Rows as the driver gives them, for reading very many: to make something of each takes longer than to fetch it."""

from __future__ import annotations

import contextlib
from itertools import count
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

if TYPE_CHECKING:
    from collections.abc import Iterator

_SOME = 500  # rows at a time: they are let go of before they leave the processor's cache
_MORE = 4_000  # from a server, which is asked for each lot
_NUMBERS = count()


def fetched(connection: sa.Connection, query: sa.Select[Any]) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the rows of a query, some at a time, as tuples; values are what the driver makes of them.

    Bytes are bytes; true and false may be 1 and 0.
    """
    compiled = query.compile(dialect=connection.dialect)
    driver: Any = connection.connection.driver_connection
    server = connection.dialect.name == "postgresql"
    values = compiled.params if server else [compiled.params[name] for name in compiled.positiontup or ()]
    try:
        # A named cursor stays on the server; without one the whole answer would lie in memory, twice as large.
        cursor = driver.cursor(f"rows_{next(_NUMBERS)}", binary=True) if server else driver.cursor()
        with contextlib.closing(cursor):
            cursor.execute(str(compiled), values)
            while part := cursor.fetchmany(_MORE if server else _SOME):
                yield part
    except connection.dialect.loaded_dbapi.Error as error:
        raise sa.exc.DBAPIError(None, None, error) from error
