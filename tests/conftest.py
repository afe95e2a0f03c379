"""Fixtures for every test that needs a store: on both databases, with a clock that is told what to say."""

from __future__ import annotations

import os
import secrets
import signal
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from hypothesis import settings

import migrated
import postgres
import segue

MEMORY = Path("/dev/shm")


def _memory_has_room() -> bool:
    """Whether files can lie in memory, and programs run from there: many a container forbids that, or gives little."""
    if not os.access(MEMORY, os.W_OK):
        return False
    there = os.statvfs(MEMORY)
    return there.f_bavail * there.f_frsize > 4 << 30 and not there.f_flag & os.ST_NOEXEC


# A store waits for the disk at each save, which proves nothing in tests.
if "TMPDIR" not in os.environ and _memory_has_room():
    tempfile.tempdir = os.environ["TMPDIR"] = str(MEMORY)

# Started in the background, a process ignores interrupts, and so would the programs that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples in each run, however busy the machine is.
settings.register_profile("steady", derandomize=True, deadline=None, database=None)
settings.load_profile("steady")

Draft = Callable[..., dict[str, Any]]
Locate = Callable[[str], str]


class Clock:
    """A clock that goes on by one second at each look."""

    def __init__(self) -> None:
        self.now = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture(scope="session", autouse=True)
def _own_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep every test away from the store, the project and the git settings of whoever runs it."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("SEGUE_", "GIT_"))]:
            patch.delenv(name)
        patch.setattr(command, "upgrade", migrated.replay)
        patch.setenv("HOME", str(home))
        patch.setenv("SEGUE_HOME", str(home / "segue"))
        yield


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[postgres.Server]:
    """The server of this run, shared by all of its workers."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    try:
        server = postgres.running(shared)
    except postgres.Unavailable as error:
        if postgres.SUPPORTED:
            raise
        pytest.skip(f"no PostgreSQL for this platform: {error}")
    yield server
    server.close()


@pytest.fixture
def own_migrations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let new stores come into being as they do for a user, by Alembic and no copy: for what tries just that."""
    monkeypatch.setattr(command, "upgrade", migrated.upgrade)


@pytest.fixture
def locate(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Locate]:
    """A function that gives the location of a new, empty store: of "sqlite" or of "postgres"."""
    copied = "own_migrations" not in request.fixturenames
    made: list[str] = []

    def new(kind: str) -> str:
        if kind == "sqlite":
            return str(tmp_path / f"store-{secrets.token_hex(4)}" / "segue.db")
        server: postgres.Server = request.getfixturevalue("postgres_server")
        made.append(server.take(migrated=copied))
        return server.url(made[-1])

    yield new
    for name in made:
        request.getfixturevalue("postgres_server").give(name)


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    """Each kind of database in turn."""
    return str(request.param)


@pytest.fixture
def location(kind: str, locate: Locate) -> str:
    """What `segue.open` takes: a new, empty store on each kind of database in turn."""
    return locate(kind)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def project_directory(tmp_path: Path) -> Path:
    """A folder that is no repository."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def segue_(location: str, clock: Clock, project_directory: Path) -> Iterator[segue.Segue]:
    """An open Segue over a new store, on each kind of database in turn."""
    with segue.open(location, directory=project_directory, clock=clock) as opened:
        yield opened


@pytest.fixture
def draft() -> Draft:
    """A function that gives the document of a small packet without id, with the members that it is given."""

    def new(**members: Any) -> dict[str, Any]:
        return {"ltm_version": "0.2", "goal": "Ship the importer.", "next_step": "Run the tests."} | members

    return new
