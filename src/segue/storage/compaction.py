"""Writing the files of a database anew, so that what was deleted is not in them any more."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

import sqlalchemy as sa

from segue.base.errors import Failed
from segue.storage.failures import translated
from segue.storage.tables import metadata

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from segue.storage.database import Database

WAIT_SECONDS = 60.0
_STEP_SECONDS = 0.1
_NO_LOCK = "55P03"  # of PostgreSQL: a lock did not come in time


def compact(database: Database) -> tuple[int, int]:
    """Write the database anew; return how many bytes it had before and has now, its log included.

    Others may have it open, but have to let go of it within a minute. Raises Failed `store.busy` where they do not,
    `store.read_only`, `store.full` where there is no room for a second copy.
    """
    if database.read_only:
        raise Failed("store.read_only", f"the store {database.name} cannot be written; nothing was changed")
    with translated(database.name):
        return _sqlite(database, database.path) if database.path else _postgres(database)


def _sqlite(database: Database, path: Path) -> tuple[int, int]:
    before = _size(path)
    with contextlib.closing(database.engine.raw_connection()) as held:
        connection: sqlite3.Connection = held.dbapi_connection  # type: ignore[assignment]
        usual = connection.execute("PRAGMA busy_timeout").fetchone()[0]
        connection.execute(f"PRAGMA busy_timeout = {round(WAIT_SECONDS * 1_000)}")
        try:
            connection.execute("VACUUM")
            # The pages from before are in the log until it is emptied, which no reader may hold up.
            end = time.monotonic() + WAIT_SECONDS
            while connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                if time.monotonic() >= end:
                    raise _busy(database)
                time.sleep(_STEP_SECONDS)
        finally:
            connection.execute(f"PRAGMA busy_timeout = {usual}")
    return before, _size(path)


def _size(path: Path) -> int:
    beside = path.with_name(path.name + "-wal")
    return path.stat().st_size + (beside.stat().st_size if beside.exists() else 0)


def _postgres(database: Database) -> tuple[int, int]:
    names = [str(table.name) for table in metadata.sorted_tables]
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        before = _total(connection, names)
        connection.exec_driver_sql(f"SET lock_timeout = {round(WAIT_SECONDS * 1_000)}")
        try:
            connection.exec_driver_sql(f"VACUUM (FULL, ANALYZE) {', '.join(names)}")
        except sa.exc.DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) == _NO_LOCK:
                raise _busy(database) from error
            raise
        finally:
            connection.exec_driver_sql("RESET lock_timeout")
        return before, _total(connection, names)


def _total(connection: sa.Connection, names: list[str]) -> int:
    sizes = sa.text("SELECT sum(pg_total_relation_size(each::regclass)) FROM unnest(CAST(:names AS text[])) AS each")
    return int(connection.execute(sizes, {"names": names}).scalar_one())


def _busy(database: Database) -> Failed:
    return Failed("store.busy", f"the store {database.name}: others are reading it; run `segue vacuum` again")
