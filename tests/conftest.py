"""Fixtures for every test that needs a store: on both databases, with a clock that is told what to say."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

import postgres
import segue

if TYPE_CHECKING:
    from pathlib import Path

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
        patch.setenv("HOME", str(home))
        patch.setenv("SEGUE_HOME", str(home / "segue"))
        yield


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> postgres.Server:
    """The server of this run, shared by all of its workers."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    try:
        return postgres.running(shared)
    except postgres.Unavailable as error:
        if postgres.SUPPORTED:
            raise
        pytest.skip(f"no PostgreSQL for this platform: {error}")


@pytest.fixture
def locate(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Locate]:
    """A function that gives the location of a new, empty store: of "sqlite" or of "postgres"."""
    made: list[str] = []

    def new(kind: str) -> str:
        if kind == "sqlite":
            return str(tmp_path / f"store-{secrets.token_hex(4)}" / "segue.db")
        server: postgres.Server = request.getfixturevalue("postgres_server")
        made.append(server.take())
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
