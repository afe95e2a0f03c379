"""One database, SQLite or PostgreSQL: how it is opened, and its two kinds of transaction.

Every writing path begins with the write lock (`BEGIN IMMEDIATE`), so that it never fails half-way for want of it.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from threading import Lock
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy import event

from segue.base.errors import Failed, InvalidInput
from segue.storage.failures import translated
from segue.storage.location import embedded_path

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BUSY_SECONDS = 60
_WRITE = "segue_write"
_STORE_LOCK = 0x5E60E


class Database:
    """An open database. `path` is the file of an embedded one, None on PostgreSQL; `name` may be shown to people.

    `turns` is what the threads that write to an embedded one take turns by, where another value shares it.
    """

    def __init__(
        self, engine: sa.Engine, path: Path | None, *, read_only: bool = False, turns: Lock | None = None
    ) -> None:
        self.engine = engine
        self.path = path
        self.read_only = read_only
        self.turns = turns or Lock()
        # A URL's query can hold a password, and a path bytes that are no text.
        shown = str(path) if path else engine.url.set(query={}).render_as_string(hide_password=True)
        self.name = shown.encode("utf-8", "backslashreplace").decode()

    @property
    def is_sqlite(self) -> bool:
        return self.path is not None

    @contextlib.contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Yield a connection inside one read transaction: all its queries see one state."""
        options = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ"}
        with translated(self.name), self.engine.connect() as connection:
            reading = connection.execution_options(**options)
            with reading.begin():
                yield reading

    @contextlib.contextmanager
    def write(self, *scope_ids: str) -> Iterator[sa.Connection]:
        """Yield a connection inside one write transaction: all of it is stored at the end, or nothing.

        Writers of one scope follow one another, so that "look, decide, write" holds; without a scope the
        transaction has the whole store for itself (restore, repair, migration).
        """
        if self.read_only:
            raise Failed("store.read_only", f"the store {self.name} cannot be written; nothing was saved")
        with self._turn(), translated(self.name), self.engine.connect() as connection:
            writing = connection.execution_options(**{_WRITE: True})
            with writing.begin():
                _lock(writing, scope_ids)
                yield writing

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait for the other threads of this process that write: SQLite would have them poll, and in no order."""
        if not self.is_sqlite:
            yield
            return
        if not self.turns.acquire(timeout=BUSY_SECONDS):
            raise Failed("store.busy", f"the store {self.name}: other calls hold it; nothing was saved, try again")
        try:
            yield
        finally:
            self.turns.release()

    def set_wal(self) -> None:
        """Put an embedded store into WAL mode. To be called under a lock: SQLite does not wait for this."""
        with translated(self.name), contextlib.closing(self.engine.raw_connection()) as connection:
            cursor = connection.cursor()
            cursor.execute("PRAGMA journal_mode = WAL")
            cursor.close()

    def copy_file(self, target: Path) -> None:
        """Copy an embedded store page by page, as it is at one moment, whatever its schema."""
        with (
            translated(self.name),
            contextlib.closing(self.engine.raw_connection()) as connection,
            contextlib.closing(sqlite3.connect(target)) as copy,
        ):
            raw = connection.dbapi_connection
            assert isinstance(raw, sqlite3.Connection)  # noqa: S101 - this is an embedded store
            raw.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")

    def close(self) -> None:
        self.engine.dispose()


def _lock(connection: sa.Connection, scope_ids: tuple[str, ...]) -> None:
    """Hold back other writers until this transaction ends; SQLite has one writer anyway."""
    if connection.dialect.name != "postgresql":
        return
    if not scope_ids:
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_STORE_LOCK)))
        return
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock_shared(_STORE_LOCK)))
    for scope_id in sorted(set(scope_ids)):  # in one order for all, or two would wait for one another
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(scope_id, 0))))


def open_database(location: str | Path) -> Database:
    """Open the database at a path, or at a URL `sqlite:///FILE` or `postgresql+psycopg://…`. Checks no schema.

    Raises Failed where it cannot be opened, InvalidInput `store.url` for a URL of another kind.
    """
    path = embedded_path(location)
    if path is not None:
        return _open_sqlite(path)
    scheme, rest = str(location).split("://", 1)
    if scheme not in ("postgresql+psycopg", "postgresql", "postgres"):
        raise InvalidInput(
            "store.url", f"cannot open {scheme}://…; give a path, sqlite:///FILE or postgresql+psycopg://…"
        )
    before, _, query = rest.partition("?")
    if before.count("@") > 1 or "@" in query:  # taken for a user's or a host's name, a password would be shown
        raise InvalidInput(
            "store.url", "the URL cannot be read; in a password and a query write %40 for @, %2F for / and %3F for ?"
        )
    try:
        engine = sa.create_engine(
            f"postgresql+psycopg://{rest}",
            pool_pre_ping=True,
            hide_parameters=True,  # errors must not quote packets
            connect_args={"connect_timeout": 10},
        )
    except (sa.exc.ArgumentError, ValueError):  # ValueError: a port that is no number
        raise InvalidInput(
            "store.url", "this is not a database URL; give postgresql+psycopg://USER@HOST/NAME"
        ) from None
    return Database(engine, None)


def _open_sqlite(path: Path) -> Database:
    if path.is_dir():
        raise Failed("store.cannot_open", f"{path} is a folder; name the store's file in it")
    read_only = not _prepare_file(path)
    location = f"file:{_quoted(path)}?{_read_only_mode(path)}" if read_only else str(path)
    engine = sa.create_engine(
        sa.URL.create("sqlite+pysqlite"),
        creator=lambda: _connect(location, uri=read_only),
        poolclass=sa.pool.QueuePool,
        hide_parameters=True,
    )
    event.listen(engine, "begin", _begin)
    return Database(engine, path, read_only=read_only)


def _prepare_file(path: Path) -> bool:
    """Make sure that the file exists, private to its owner; return whether it can be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        if path.is_file() and os.access(path, os.R_OK):
            return False
        raise Failed("store.cannot_open", f"cannot open the store {path}: {error.strerror or error}") from error
    # SQLite needs two more files beside this one; where the folder does not take them, only reading is possible.
    return os.access(path.parent, os.W_OK)


def _read_only_mode(path: Path) -> str:
    # SQLite would make files of its own beside a store that it does not take for immutable. An immutable store is
    # read without the file of its newest pages, though, which a running or killed writer leaves there.
    newest = path.with_name(path.name + "-wal")
    return "mode=ro" if newest.exists() and newest.stat().st_size else "mode=ro&immutable=1"


def _quoted(path: Path) -> str:
    from urllib.parse import quote

    return quote(str(path))


def _connect(location: str, *, uri: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(location, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=uri)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")
    return connection


def _begin(connection: sa.Connection) -> None:
    writing = connection.get_execution_options().get(_WRITE)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def pragma(connection: sa.Connection, statement: str) -> Any:
    """Return the first value that a SQLite PRAGMA answers."""
    return connection.exec_driver_sql(f"PRAGMA {statement}").scalar()
