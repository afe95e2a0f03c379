"""The store as a whole: where it is, backup and restore, its doctor."""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from segue.base import files, ids, time
from segue.base.errors import Failed, InvalidInput, Refused
from segue.storage import (
    compaction,
    copying,
    events,
    examination,
    invites,
    kept_queries,
    memory_index,
    receipt_heads,
    schema,
    scopes,
    settings,
    tokens,
)
from segue.storage.database import Database, open_database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime
    from pathlib import Path

    from segue.search.vectors import WordVectors
    from segue.services.embedding import Embedding
    from segue.storage.findings import Finding

_SQLITE_HEADER = b"SQLite format 3\0"
_HEADER_LENGTH = 100
_SIDECARS = ("-wal", "-shm", "-journal")
# What every store has, whatever was put into it; and what a server counts for a moment.
_ALWAYS_THERE = frozenset({"settings", "scopes", "events", "rate_windows"})


@dataclass(frozen=True, slots=True)
class Copied:
    """A finished backup or restore: the file, what it holds, and where the state before a restore was kept."""

    path: Path
    counts: dict[str, int]
    kept: Path | None = None

    def to_json(self) -> dict[str, Any]:
        """Return `{"path", "counts", "kept"}`; counts are rows by table."""
        return {"path": str(self.path), "counts": self.counts, "kept": str(self.kept) if self.kept else None}


@dataclass(frozen=True, slots=True)
class Vacuumed:
    """A store written anew: bytes `before` and `after`; `backups` beside it may hold what was forgotten since."""

    before: int
    after: int
    backups: int = 0

    def to_json(self) -> dict[str, int]:
        """Return `{"before", "after", "backups"}`."""
        return {"before": self.before, "after": self.after, "backups": self.backups}


class Store:
    """The database behind a Segue."""

    def __init__(
        self,
        database: Database,
        scope_id: str,
        *,
        clock: Callable[[], datetime],
        home: Callable[[], Path],
        actor: str = "local",
        embedding: Embedding | None = None,
    ) -> None:
        self._database = database
        self._scope = scope_id
        self._clock = clock
        self._embedding = embedding
        self._home = home
        self._actor = actor

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
        with self._database.read() as source:
            return Copied(target, _copy_to(target, source))

    def restore(self, path: Path) -> Copied:
        """Replace all that the store holds by what the backup at `path` holds, in one transaction.

        The state before is kept as a backup first, where there was any. The store keeps its local scope, so that
        those who have it open go on with it; tokens and invites that had ended here do not come back to life, and the
        newest receipt of each project, whose files are in no backup, stays the newest.

        Raises InvalidInput `restore.invalid` where the file is no backup, Failed `store.newer` where a later version
        made it; nothing has changed then.
        """
        _require_store(path)
        copied = _readable_copy(path, self._backups())
        with copied as source, source.read() as reading, self._database.write() as writing:
            kept = self._keep_state(writing)
            ended = tokens.revoked(writing), invites.ended(writing)
            heads = receipt_heads.every(writing)
            with _dropped_on_error(kept), _refused(path):
                counted = copying.copy_all(reading, writing, renamed=self._renamed(reading))
                _require_sound(writing, path)
            tokens.revoke_again(writing, ended[0])
            invites.revoke_again(writing, ended[1])
            for scope_id, project_key, head in heads:
                receipt_heads.put(writing, scope_id, project_key, head)
            memory_index.renew(writing, self._clock())  # whoever searches holds what was there before
            name = path.name.encode("utf-8", "backslashreplace").decode()
            events.append(writing, self._scope, "store.restored", name, actor=self._actor, now=self._clock())
        return Copied(path, counted, kept)

    def _keep_state(self, writing: sa.Connection) -> Path | None:
        # In the transaction that replaces it: what is saved meanwhile waits, instead of being in neither.
        content = {name: number for name, number in copying.counts(writing).items() if name not in _ALWAYS_THERE}
        if not any(content.values()):
            return None
        target = self._backups() / f"before-restore-{_stamp(self._clock())}-{ids.new(self._clock())[-6:]}.db"
        _copy_to(target, writing)
        return target

    def _backups(self) -> Path:
        return (self.path.parent if self.path else self._home()) / examination.BACKUPS

    def _renamed(self, backup: sa.Connection) -> dict[str, str]:
        theirs = settings.get(backup, scopes.SETTING)
        return {theirs: self._scope} if theirs else {}

    def doctor(self, *, repair: bool = False) -> list[Finding]:
        """Examine the store; with `repair` mend what can be mended. An empty list says that all is well."""
        found = examination.examine_files(self._database, self._clock(), repair=repair)
        words = self._embedder.words  # loaded before the lock is held
        with self._database.write() if repair else self._database.read() as connection:
            return found + self._examine(connection, words, repair=repair)

    def _examine(self, connection: sa.Connection, words: WordVectors, *, repair: bool) -> list[Finding]:
        from segue.services import memory_examination, pin_examination  # they need NumPy, and the parts of packs

        found = examination.examine(connection, repair=repair)
        if not examination.missing_tables(connection) and not any(each.code == "doctor.damaged" for each in found):
            found += pin_examination.examine(connection, repair=repair)
        unread = any(each.code in ("doctor.damaged", "doctor.memory") for each in found)
        if unread or examination.missing_tables(connection):
            return found  # what search keeps is compared once the rest can be read
        return found + memory_examination.examine(connection, self._clock(), words, repair=repair)

    def _mend_index(self, connection: sa.Connection, words: WordVectors) -> None:
        from segue.services import memory_examination

        try:
            memory_examination.examine(connection, self._clock(), words)
        except (TypeError, ValueError, OverflowError):  # SQLite takes any type in any column
            raise Failed("store.corrupt", "a memory does not read; run `segue doctor` first") from None

    @property
    def _embedder(self) -> Embedding:
        from segue.services.embedding import Embedding

        return self._embedding or Embedding(self._database)

    def vacuum(self) -> Vacuumed:
        """Take what was forgotten out of the files too: the file is written anew, and its log is emptied.

        Sessions that were not used for 30 days, and kept queries whose hour is over, go as well.

        What search keeps is compared with the memories first, so that no word of a forgotten text is left there. It
        takes as much free space as the store has bytes, and has the store alone for a moment. Backups keep what they
        hold. Raises Failed `store.busy` where others do not let go of the store, `store.corrupt` where the doctor is
        needed first.
        """
        from segue.services import sessions  # most commands do without

        words = self._embedder.words
        with self._database.write() as connection:
            self._mend_index(connection, words)
            now = self._clock()
            sessions.sweep(connection, self._scope, now)
            kept_queries.expire(connection, self._scope, now=now)
            events.append(connection, self._scope, "store.vacuumed", "", actor=self._actor, now=now)
        before, after = compaction.compact(self._database)
        folder = self._backups() if self.path else None
        kept = len(list(folder.glob("*.db"))) if folder else 0
        return Vacuumed(before, after, kept)


def replace_damaged(store: Path, backup: Path, now: datetime) -> Copied:
    """Put what the backup at `backup` holds in the place of an embedded store that cannot be read any more.

    The damaged files stay beside it, under names that say so (`kept`). Raises InvalidInput `restore.invalid`.
    """
    _require_store(backup)
    aside = store.with_name(f"{store.name}.damaged-{_stamp(now)}")
    with _readable_copy(backup, store.parent) as source, files.staged(store) as partial:
        with _refused(backup), source.read() as reading:
            counted = _fill(partial, reading)
        with contextlib.closing(open_database(partial)) as copy, _refused(backup), copy.write() as writing:
            _require_sound(writing, backup)
        _remove_sidecars(partial)
        shutil.copyfile(store, aside)
        aside.chmod(0o600)
        # The newest pages of the damaged file must not be taken for those of the new one.
        for suffix in _SIDECARS:
            beside = store.with_name(store.name + suffix)
            if beside.exists():
                beside.replace(aside.with_name(aside.name + suffix))
    return Copied(backup, counted, aside)


def _copy_to(target: Path, source: sa.Connection) -> dict[str, int]:
    """Write what `source` sees to a new store at `target`, whole or not at all; return the rows of each table."""
    with files.staged(target) as partial:
        return _fill(partial, source)


def _fill(partial: Path, source: sa.Connection) -> dict[str, int]:
    try:
        with _new_store(partial) as copy, copy.write() as writing:
            return copying.copy_all(source, writing)
    finally:
        _remove_sidecars(partial)


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
    for suffix in _SIDECARS:
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
def _readable_copy(path: Path, folder: Path) -> Iterator[Database]:
    """Yield the backup as a database of this version: a copy of it in `folder`, so that the file never changes."""
    copy = folder / files.partial_name("restore")
    try:
        _copy_store(path, copy)
        database = open_database(copy)
        try:
            _check_backup(database, path)
            yield database
        finally:
            database.close()
    finally:
        _remove_sidecars(copy)
        copy.unlink(missing_ok=True)


@contextlib.contextmanager
def _dropped_on_error(kept: Path | None) -> Iterator[None]:
    """Remove what was kept of a state that stays, because nothing is restored after all."""
    try:
        yield
    except BaseException:
        if kept is not None:
            kept.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _refused(path: Path) -> Iterator[None]:
    """Raise InvalidInput `restore.invalid` for values in the backup that no store can hold: SQLite takes any type."""
    try:
        yield
    except (TypeError, ValueError, OverflowError, sa.exc.StatementError, Failed) as error:
        if not _is_about_values(error):
            raise
        message = f"{path} holds a value of the wrong type; nothing was changed"
        raise InvalidInput("restore.invalid", message) from None


def _is_about_values(error: Exception) -> bool:
    if isinstance(error, Failed):
        return error.code in ("store.corrupt", "store.failed")
    if isinstance(error, sa.exc.DBAPIError):  # not the disk's or the connection's failures
        return isinstance(
            error, sa.exc.DataError | sa.exc.IntegrityError | sa.exc.ProgrammingError | sa.exc.InterfaceError
        )
    return True


def _require_sound(connection: sa.Connection, path: Path) -> None:
    """Mend what can be mended of what was restored. Raises InvalidInput `restore.invalid` for what cannot."""
    left = [found for found in examination.examine(connection, repair=True) if not found.repaired]
    if left:
        raise InvalidInput("restore.invalid", f"{path} is no sound store ({left[0].message}); nothing was changed")


def _copy_store(path: Path, copy: Path) -> None:
    try:
        copy.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        copy.touch(mode=0o600)
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
        with database.write() as connection:  # nobody else has this copy: no lock beside it, no copy of the copy
            schema.migrate(connection, str(path))
        with database.read() as connection:
            named = settings.get(connection, scopes.SETTING)
            whole = not examination.missing_tables(connection) and named and scopes.exists(connection, named)
        if not whole:
            raise InvalidInput("restore.invalid", f"{path} is not a whole store; nothing was changed")
    except Failed as error:
        if error.code in ("store.corrupt", "store.foreign", "store.failed"):
            said = f"{path} is damaged or not a store; nothing was changed"
            raise InvalidInput("restore.invalid", said) from None
        # Said of the file that was named, not of its copy.
        raise Failed(error.code, error.message.replace(database.name, str(path)), error.details) from None
