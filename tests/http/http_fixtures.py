"""Servers that run for a module's tests: a plugin and no conftest, as `mcp_fixtures` is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from http_live import Live, served

from segue.http.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import postgres


@pytest.fixture(scope="module")
def places(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """A function that gives the location of a new store of a kind, for all of a module."""
    made: list[str] = []

    def new(kind: str) -> str:
        if kind == "sqlite":
            folder: Path = tmp_path_factory.mktemp("served")
            return str(folder / "segue.db")
        server: postgres.Server = request.getfixturevalue("postgres_server")
        made.append(server.take(migrated=True))
        return server.url(made[-1])

    yield new
    for name in made:
        request.getfixturevalue("postgres_server").give(name)


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def live(request: pytest.FixtureRequest, places: Callable[[str], str]) -> Iterator[Live]:
    """A running server for all tests of a module, on each kind of database in turn."""
    with served(places(str(request.param)), Settings(accepts=100_000, writes=100_000)) as running:
        yield running


@pytest.fixture(scope="module")
def single(places: Callable[[str], str]) -> Iterator[Live]:
    """A running server over an embedded store, for what does not depend on the database."""
    with served(places("sqlite"), Settings(accepts=100_000, writes=100_000)) as running:
        yield running
