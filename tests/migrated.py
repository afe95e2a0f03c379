"""New embedded stores without Alembic: its statements are recorded once in each process, and repeated.

Alembic takes forty milliseconds for what SQLite does in one, and a run of all tests makes thousands of stores. A store
that has a revision already, and whatever asks for the fixture `own_migrations`, is Alembic's as it is for a user.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from alembic import command

if TYPE_CHECKING:
    from alembic.config import Config

upgrade = command.upgrade
_recorded: list[tuple[str, Any]] = []


def replay(config: Config, revision: str) -> None:
    """Stand for `alembic.command.upgrade`, of which Segue uses these two arguments."""
    connection: sa.Connection = config.attributes["connection"]
    if connection.dialect.name != "sqlite" or revision != "head" or sa.inspect(connection).get_table_names():
        upgrade(config, revision)
    elif not _recorded:
        _record(connection, config, revision)
    else:
        for statement, parameters in _recorded:
            connection.exec_driver_sql(statement, parameters)


def _record(connection: sa.Connection, config: Config, revision: str) -> None:
    seen: list[tuple[str, Any]] = []

    def listen(_: Any, __: Any, statement: str, parameters: Any, *___: Any) -> None:
        if not statement.lstrip().startswith(("SELECT", "PRAGMA")):
            seen.append((statement, parameters))

    sa.event.listen(connection, "before_cursor_execute", listen)
    try:
        upgrade(config, revision)
    finally:
        sa.event.remove(connection, "before_cursor_execute", listen)
    _recorded.extend(seen)
