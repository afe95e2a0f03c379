"""An empty place to work in, and servers in it.

This is a plugin and no conftest: its folder has the SDK's name, so it cannot be a package that holds one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from agent import Place, Start, Wire, place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def where(tmp_path: Path) -> Place:
    """An empty home and a project."""
    return place(tmp_path)


@pytest.fixture
def start(where: Place) -> Iterator[Start]:
    """A function that starts a server, which is gone after the test."""
    started: list[Wire] = []

    def new(*arguments: str, **options: Any) -> Wire:
        started.append(Wire(where, *arguments, **options))
        return started[-1]

    yield new
    for wire in started:
        wire.kill()


@pytest.fixture
def wire(start: Start) -> Wire:
    """A server that is running."""
    started = start()
    started.start()
    return started


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """One running server for all tests of a module that leave nothing behind in its store."""
    wire = Wire(place(tmp_path_factory.mktemp("server")))
    wire.start()
    yield wire
    wire.kill()
