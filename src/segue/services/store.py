"""The store as a whole: where it is, backup and restore, its doctor."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segue.base import files, ids, time
from segue.base.errors import Failed, InvalidInput, Refused
from segue.services.projects import remote_key
from segue.storage import copying, events, examination, schema, scopes, settings
from segue.storage.database import Database, lock_scope, open_database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    import sqlalchemy as sa

    from segue.storage.examination import Finding

_BACKUPS = "backups"
_SQLITE_HEADER = b"SQLite format 3\0"
_HEADER_LENGTH = 100


@dataclass(frozen=True, slots=True)
class Copied:
    """A finished backup or restore: the file, what it holds, and where the state before a restore was kept."""

    path: Path
    packets: int
    events: int
    kept: Path | None = None

    def to_json(self) -> dict[str, Any]:
        return {key: str(value) if isinstance(value, Path) else value for key, value in asdict(self).items()}


class Store:
    """The database behind a Segue."""

    def __init__(
        self, database: Database, scope_id: str, *, clock: Callable[[], datetime], home: Callable[[], Path]
    ) -> None:
        self._database = database
        self._scope = scope_id
        self._clock = clock
        self._home = home

    @property
    def name(self) -> str:
        """The path of the embedded store, or the URL of the database without its password."""
        return self._database.name

    @property
    def path(self) -> Path | None:
        """The file of the embedded store, None on PostgreSQL."""
        return self._database.path

    def counts(self) -> dict[str, int]:
        """Return the number of rows of each table."""
        with self._database.read() as connection:
            return copying.counts(connection)

    def events(self, limit: int = 50) -> list[events.Event]:
        """Return the newest events of the log, newest first."""
        with self._database.read() as connection:
            return events.newest(connection, self._scope, limit)

    def backup(self, path: Path | None = None) -> Copied:
        """Write the whole store, as it is at one moment, to a new file that opens as a store by itself.

        Others may go on writing. Without `path` the file goes to `backups` beside the embedded store, with PostgreSQL
        in Segue's home folder. It appears under its name only when it is complete, mode 0600. Raises Refused
        `backup.exists` rather than overwrite, Failed `file.write` or `store.…` where the disk does not take it.
        """
        target = path or self._backups() / f"segue-{_stamp(self._clock())}.db"
        if target.exists():
            raise Refused("backup.exists", f"{target} exists already; name another file")
        with files.staged(target) as partial:
            try:
                with _new_store(partial) as copy, self._database.read() as source, copy.write() as connection:
                    counted = copying.copy_all(source, connection)
            finally:
                _remove_sidecars(partial)
        return Copied(target, counted["packets"], counted["events"])

    def restore(self, path: Path) -> Copied:
        """Replace all that the store holds by what the backup at `path` holds, in one transaction.

        The state before is kept as a backup first, where there was any. The store keeps its local scope, so that
        those who have it open go on with it. Raises InvalidInput `restore.invalid` where the file is no backup, Failed
        `store.newer` where a later version made it; nothing has changed then.
        """
        _require_store(path)
        with _readable_copy(path) as source:
            kept = self._keep_state()
            with source.read() as reading, self._database.write() as writing:
                lock_scope(writing, self._scope)
                counted = copying.copy_all(reading, writing, renamed=self._renamed(reading))
                name = path.name.encode("utf-8", "backslashreplace").decode()
                events.append(writing, self._scope, "store.restored", name, actor="local", now=self._clock())
        return Copied(path, counted["packets"], counted["events"], kept)

    def _keep_state(self) -> Path | None:
        if not self.counts()["packets"]:
            return None
        name = f"before-restore-{_stamp(self._clock())}-{ids.new(self._clock())[-6:]}.db"
        return self.backup(self._backups() / name).path

    def _backups(self) -> Path:
        return (self.path.parent if self.path else self._home()) / _BACKUPS

    def _renamed(self, backup: sa.Connection) -> dict[str, str]:
        theirs = settings.get(backup, scopes.SETTING)
        return {theirs: self._scope} if theirs else {}

    def doctor(self, *, repair: bool = False) -> list[Finding]:
        """Examine the store; with `repair` mend what can be mended. An empty list says that all is well."""
        found = examination.examine_files(self._database, repair=repair)
        if repair:
            with self._database.write() as connection:
                return found + examination.examine(connection, repair=True, ref_key=remote_key)
        with self._database.read() as connection:
            return found + examination.examine(connection, repair=False, ref_key=remote_key)


def _stamp(now: datetime) -> str:
    return time.to_text(now.replace(microsecond=0)).replace("-", "").replace(":", "")


@contextlib.contextmanager
def _new_store(path: Path) -> Iterator[Database]:
    database = open_database(path)
    try:
        with database.write() as connection:
            schema.migrate(connection, database.name)
        yield database
    finally:
        database.close()


def _remove_sidecars(path: Path) -> None:
    for suffix in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _require_store(path: Path) -> None:
    """Raise InvalidInput `restore.invalid` unless the file begins as a SQLite database and is as long as it says.

    SQLite itself takes a file whose last page is cut for whole where nothing is missed yet.
    """
    header = files.read_bytes(path, _HEADER_LENGTH - 1)
    if header[: len(_SQLITE_HEADER)] != _SQLITE_HEADER or len(header) < _HEADER_LENGTH:
        raise InvalidInput("restore.invalid", f"{path} is not a backup made by Segue")
    page_size = int.from_bytes(header[16:18], "big")
    pages = int.from_bytes(header[28:32], "big")
    whole = pages * (65_536 if page_size == 1 else page_size)
    if path.stat().st_size < whole and not path.with_name(path.name + "-wal").exists():
        raise InvalidInput("restore.invalid", f"{path} is shorter than it should be; nothing was changed")


@contextlib.contextmanager
def _readable_copy(path: Path) -> Iterator[Database]:
    """Yield the backup as a database of this version: a copy of it, so that the file itself never changes."""
    with tempfile.TemporaryDirectory(prefix="segue-restore-") as folder:
        copy = Path(folder) / "backup.db"
        _copy_store(path, copy)
        database = open_database(copy)
        try:
            _check_backup(database, path)
            yield database
        finally:
            database.close()


def _copy_store(path: Path, copy: Path) -> None:
    try:
        shutil.copyfile(path, copy)
        for suffix in ("-wal", "-journal"):  # a store that is copied as it is may have its newest pages there
            beside = path.with_name(path.name + suffix)
            if beside.exists():
                shutil.copyfile(beside, copy.with_name(copy.name + suffix))
    except OSError as error:
        raise Failed("file.write", f"could not copy {path} to look at it: {error.strerror or error}") from error


def _check_backup(database: Database, path: Path) -> None:
    """Raise InvalidInput unless the copy of `path` is a whole store, then bring it to this version's schema."""
    try:
        with database.read() as connection:
            damage = examination.integrity(connection)
            revision = schema.stored_revision(connection)
        if damage:
            raise InvalidInput("restore.invalid", f"{path} is damaged ({damage[0]}); nothing was changed")
        if revision is None:
            raise InvalidInput("restore.invalid", f"{path} holds no Segue store; nothing was changed")
        schema.ensure(database)
        with database.read() as connection:
            whole = not examination.missing_tables(connection) and settings.get(connection, scopes.SETTING)
        if not whole:
            raise InvalidInput("restore.invalid", f"{path} is not a whole store; nothing was changed")
    except Failed as error:
        if error.code in ("store.corrupt", "store.foreign", "store.failed"):
            said = f"{path} is damaged or not a store; nothing was changed"
            raise InvalidInput("restore.invalid", said) from None
        # Said of the file that was named, not of its copy.
        raise Failed(error.code, error.message.replace(database.name, str(path)), error.details) from None
