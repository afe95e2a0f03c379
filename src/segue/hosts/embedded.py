"""The embedded store as hooks open it: by the standard library alone, and only where it is of this version.

A hook starts at each prompt, so nothing that takes long to import serves it. It reads, and writes two things: what a
session was told, and a draft. It makes no store and migrates none.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from segue.base.errors import Failed
from segue.storage.location import embedded_path
from segue.storage.revision import HEAD

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

READ_SECONDS = 0.3  # that a lock is waited for: a person waits for the hook
WRITE_SECONDS = 1.0
_MAPPED = 1 << 30  # bytes of the file that are read without a copy
_SAID = {  # with the codes of `segue.storage.failures`
    sqlite3.SQLITE_BUSY: ("store.busy", "another process holds it"),
    sqlite3.SQLITE_LOCKED: ("store.busy", "another connection holds it"),
    sqlite3.SQLITE_CORRUPT: ("store.corrupt", "the file is damaged; see `segue doctor`"),
    sqlite3.SQLITE_NOTADB: ("store.corrupt", "the file is not a Segue store"),
    sqlite3.SQLITE_READONLY: ("store.read_only", "it cannot be written"),
    sqlite3.SQLITE_PERM: ("store.read_only", "access is denied"),
    sqlite3.SQLITE_CANTOPEN: ("store.cannot_open", "it, or its folder, cannot be opened"),
    sqlite3.SQLITE_FULL: ("store.full", "the disk is full"),
    sqlite3.SQLITE_IOERR: ("store.io", "the disk failed to read or write"),
    sqlite3.SQLITE_INTERRUPT: ("store.failed", "it takes too long"),
}
# What keeps a healthy store from being written, now or at all.
UNWRITABLE = frozenset({"store.busy", "store.read_only", "store.full"})


class Embedded:
    """An open embedded store. `scope` is the local scope; parameters of statements are named."""

    def __init__(self, connection: sqlite3.Connection, name: str, scope: str) -> None:
        self._connection = connection
        self._name = name
        self.scope = scope

    def rows(self, statement: str, **values: Any) -> list[tuple[Any, ...]]:
        """Return all rows of a query; `:scope` is the local scope. Raises Failed `store.…`."""
        with translated(self._name):
            return self._connection.execute(statement, {"scope": self.scope, **values}).fetchall()

    def change(self, statement: str, **values: Any) -> int:
        """Execute a statement and return how many rows it changed. Raises Failed `store.…`."""
        with translated(self._name):
            return self._connection.execute(statement, {"scope": self.scope, **values}).rowcount

    def insert(self, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add rows to a table, each by its columns."""
        for row in rows:
            names, marks = ", ".join(row), ", ".join(f":{name}" for name in row)
            self.change(f"INSERT INTO {table} ({names}) VALUES ({marks})", **row)  # noqa: S608 - names of ours

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """See one state of the store in the block."""
        with self._transaction("BEGIN"):
            yield

    @contextlib.contextmanager
    def writing(self, seconds: float | None = None) -> Iterator[None]:
        """Store all of what the block writes, or nothing. Raises Failed `store.busy` after that time (else 1 s)."""
        milliseconds = int(1000 * (WRITE_SECONDS if seconds is None else seconds))
        with translated(self._name):
            self._connection.execute(f"PRAGMA busy_timeout = {milliseconds}")
        with self._transaction("BEGIN IMMEDIATE"):
            yield

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with translated(self._name):
            self._connection.execute(begin)
        try:
            yield
            with translated(self._name):
                self._connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise


@contextlib.contextmanager
def opened(location: str | Path) -> Iterator[Embedded]:
    """Yield the store at a location, as `segue.open` takes it.

    Raises Failed `store.not_embedded`, `store.missing`, `store.older`, `store.newer`, `store.…`, InvalidInput.
    """
    path = embedded_path(location)
    if path is None:
        raise Failed("store.not_embedded", "hooks read the embedded store alone, and SEGUE_DB names a server")
    name = os.fsencode(path).decode("utf-8", "backslashreplace")
    try:
        is_there, mode = path.is_file(), _mode(path)
    except OSError as error:  # in a folder of somebody else, or no path at all
        raise Failed("store.cannot_open", f"the store {name}: {error.strerror or 'it cannot be opened'}") from error
    if not is_there:
        raise Failed("store.missing", "there is no store yet; the first `segue save` or `segue remember` makes it")
    with translated(name):
        connection = sqlite3.connect(
            f"file:{quote(os.fsencode(path))}?{mode}", uri=True, timeout=READ_SECONDS, isolation_level=None
        )
    try:
        with translated(name):
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute(f"PRAGMA mmap_size = {_MAPPED}")
            scope = _checked(connection, name)
        yield Embedded(connection, name, scope)
    finally:
        connection.close()


def _mode(path: Path) -> str:
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        return "mode=rw"
    newest = path.with_name(path.name + "-wal")
    return "mode=ro" if newest.exists() and newest.stat().st_size else "mode=ro&immutable=1"


def _checked(connection: sqlite3.Connection, name: str) -> str:
    """Return the local scope of a store whose schema is that of this version."""
    known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone()
    revision = known and connection.execute("SELECT version_num FROM alembic_version").fetchone()
    if not revision:
        raise Failed("store.foreign", f"{name} holds no Segue store")
    if revision[0] != HEAD:
        older = str(revision[0]) < HEAD
        raise Failed(
            "store.older" if older else "store.newer",
            "the store is of an earlier version; any `segue` command brings it up to date"
            if older
            else "the store is of a later version of Segue; upgrade this one",
        )
    scope = connection.execute("SELECT value FROM settings WHERE name = 'local_scope'").fetchone()
    if scope is None:
        raise Failed("store.missing", "the store has no local scope yet; nothing was saved in it")
    return str(scope[0])


@contextlib.contextmanager
def translated(name: str) -> Iterator[None]:
    """Raise Failed `store.…` for what SQLite, or a value of the wrong type, raises inside the block."""
    try:
        yield
    except sqlite3.Error as error:
        primary = (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF
        code, said = _SAID.get(primary, ("store.failed", "it failed"))
        raise Failed(code, f"the store {name}: {said}") from error


@contextlib.contextmanager
def legible() -> Iterator[None]:
    """Raise Failed `store.corrupt` for a row that cannot be taken apart: SQLite takes any type in any column."""
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        raise Failed("store.corrupt", "the store holds a row that does not read; see `segue doctor`") from error
