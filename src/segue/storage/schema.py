"""Whether a database has the schema of this version, and bringing it there.

Alembic takes a third of a second to import, so the stored revision is read by hand and Alembic is imported only
where it differs from HEAD.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa

from segue.base import files
from segue.base.errors import Failed
from segue.storage import revision, settings
from segue.storage.database import Database, pragma

if TYPE_CHECKING:
    from collections.abc import Iterator

    from alembic.config import Config

HEAD = revision.HEAD
_LOCK_SECONDS = 120
_MIGRATIONS = Path(__file__).parent / "migrations"


def ensure(database: Database) -> None:
    """Bring the database to HEAD: create its tables, or migrate them, in one transaction under a lock.

    Raises Failed `store.newer` where another version of Segue has moved it further, `store.foreign` where the
    tables are not Segue's.
    """
    with database.read() as connection:
        revision = stored_revision(connection)
        ready = revision == HEAD and (not database.is_sqlite or journal_mode(connection) == "wal")
    if ready or (revision == HEAD and database.read_only):
        return
    if database.read_only:
        raise Failed("store.read_only", f"the store {database.name} needs a migration and cannot be written")
    with _exclusive(database):
        _keep_before_upgrade(database)
        with database.write() as connection:
            migrate(connection, database.name)


def _keep_before_upgrade(database: Database) -> None:
    """Copy an embedded store before it is migrated, to `backups` beside it, once for each revision."""
    if database.path is None:
        return
    with database.read() as connection:  # once more: another process may have migrated it meanwhile
        revision = stored_revision(connection)
    if revision in (None, HEAD) or revision not in _known_revisions(_config()):
        return
    kept = database.path.parent / "backups" / f"{database.path.stem}-schema-{revision}.db"
    if not kept.exists():
        with files.staged(kept) as partial:
            database.copy_file(partial)


def stored_revision(connection: sa.Connection) -> str | None:
    """Return the revision that the database says it has, None where it has no tables of ours."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    value = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
    return None if value is None else str(value)


def migrate(connection: sa.Connection, name: str) -> None:
    """Upgrade inside the transaction of `connection`; nothing of it stays if it fails."""
    revision = stored_revision(connection)
    if revision == HEAD:
        return
    config = _config()
    if revision is not None and revision not in _known_revisions(config):
        raise Failed(
            "store.newer",
            f"the store {name} has schema {revision}, which this version of Segue does not know; upgrade Segue",
            {"revision": revision, "supported": HEAD},
        )
    if revision is None and sa.inspect(connection).get_table_names():
        raise Failed("store.foreign", f"the database {name} holds tables that are not Segue's; name another one")
    _upgrade(connection, config)


def _config() -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    return config


def _known_revisions(config: Config) -> set[str]:
    from alembic.script import ScriptDirectory

    return {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}


def _upgrade(connection: sa.Connection, config: Config) -> None:
    from alembic import command

    config.attributes["connection"] = connection
    command.upgrade(config, "head")
    if settings.get(connection, settings.KEY) is None:
        settings.make_key(connection)


@contextlib.contextmanager
def _exclusive(database: Database) -> Iterator[None]:
    """Let one process at a time create or migrate an embedded store, and put it into WAL mode."""
    if database.path is None:
        yield
        return
    from filelock import FileLock, Timeout

    lock = FileLock(f"{database.path}.lock", mode=0o600)
    try:
        lock.acquire(timeout=_LOCK_SECONDS)
    except Timeout:
        raise Failed("store.busy", f"another process is creating or migrating {database.name}; try again") from None
    except OSError as error:
        said = error.strerror or str(error)
        raise Failed("store.cannot_open", f"cannot lock the store {database.name} ({lock.lock_file}): {said}") from None
    try:
        database.set_wal()
        yield
    finally:
        lock.release()


def journal_mode(connection: sa.Connection) -> str:
    """Return the journal mode of an embedded store."""
    return str(pragma(connection, "journal_mode"))
