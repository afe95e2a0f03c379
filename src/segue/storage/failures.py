"""What went wrong in a database, said so that a person can act on it. No message holds a password or a value."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING

import sqlalchemy as sa

from segue.base.errors import Failed

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROWS = ("segue.storage.", "segue.search.entry", "segue.services.indexes")
_AROUND = ("segue.storage.database", "segue.storage.failures")
_NOTHING = "nothing was saved"
_WAITED = ("55P03", "57014")  # SQLSTATE: a lock was not to be had, or took too long
_SQLITE = {
    sqlite3.SQLITE_FULL: ("store.full", "the disk is full; " + _NOTHING),
    sqlite3.SQLITE_READONLY: ("store.read_only", "it cannot be written; " + _NOTHING),
    sqlite3.SQLITE_PERM: ("store.read_only", "access is denied; " + _NOTHING),
    sqlite3.SQLITE_CANTOPEN: ("store.cannot_open", "it, or its folder, cannot be opened for writing; " + _NOTHING),
    sqlite3.SQLITE_BUSY: ("store.busy", "another process holds it; " + _NOTHING + ", try again"),
    sqlite3.SQLITE_LOCKED: ("store.busy", "another connection holds it; " + _NOTHING + ", try again"),
    sqlite3.SQLITE_CORRUPT: ("store.corrupt", "the file is damaged; see `segue doctor`, or restore a backup"),
    sqlite3.SQLITE_NOTADB: ("store.corrupt", "the file is not a Segue store"),
    sqlite3.SQLITE_IOERR: ("store.io", "the disk failed to read or write; " + _NOTHING),
}


def resumable(error: Failed, noun: str) -> Failed:
    """Return what to say of a failure that ended work in many transactions: those before it are kept."""
    if _NOTHING not in error.message:
        return error
    kept = f"what was {noun} until then is kept, run it again to go on"
    return Failed(
        error.code, error.message.replace(f"{_NOTHING}, try again", kept).replace(_NOTHING, kept), error.details
    )


@contextlib.contextmanager
def translated(name: str) -> Iterator[None]:
    """Raise Failed `store.…` for what the database of that name raises inside the block."""
    try:
        yield
    except sa.exc.TimeoutError as error:
        raise Failed("store.busy", f"the store {name}: too many calls at once; {_NOTHING}, try again") from error
    except sa.exc.DBAPIError as error:
        raise _failed(name, error.orig) from error
    except sa.exc.PendingRollbackError as error:  # the connection broke before
        raise Failed("store.unreachable", f"the database {name} does not answer; {_NOTHING}") from error
    except sa.exc.StatementError as error:  # a value of another type than its column's
        raise Failed("store.corrupt", f"the store {name} holds a value that cannot be; see `segue doctor`") from error
    except sqlite3.Error as error:
        raise _failed(name, error) from error
    except (TypeError, ValueError, OverflowError) as error:  # SQLite takes any type in any column
        if not _is_of_a_row(error):
            raise
        raise Failed("store.corrupt", f"the store {name} holds a row that does not read; see `segue doctor`") from error


def _is_of_a_row(error: Exception) -> bool:
    """Whether rows were being read or taken apart, not something else that happens while the database is open."""
    trace = error.__traceback__
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__"))
        if module.startswith(_ROWS) and module not in _AROUND:
            return True
        trace = trace.tb_next
    return False


def _failed(name: str, error: BaseException | None) -> Failed:
    if isinstance(error, sqlite3.Error):
        primary = (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF
        code, said = _SQLITE.get(primary, ("store.failed", f"it failed ({type(error).__name__}); {_NOTHING}"))
        return Failed(code, f"the store {name}: {said}")
    state = getattr(error, "sqlstate", None)
    # 57P: it stops, starts, or ended the connection; 08: the connection broke.
    if state is None or state.startswith(("57P", "08")):
        return Failed("store.unreachable", f"the database {name} does not answer; {_NOTHING}")
    if state.startswith("53"):
        return Failed("store.full", f"the database {name} is out of resources; {_NOTHING}")
    if state.startswith("40") or state in _WAITED:
        return Failed("store.busy", f"the database {name}: others wrote the same; {_NOTHING}, try again")
    return Failed("store.failed", f"the database {name} refused (SQLSTATE {state}); {_NOTHING}")
