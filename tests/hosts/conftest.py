"""A home and a project of the test's own; a host that calls hooks, and the store that they read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import segue
from hosts.hook_samples import NOW, Host
from segue.hosts import Surroundings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    home, root = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    root.mkdir()
    return Surroundings(home=home, environment={}, root=root, executable="/opt/tools/bin/segue")


@pytest.fixture
def host(tmp_path: Path) -> Host:
    (tmp_path / "shop").mkdir()
    return Host(tmp_path / "shop", tmp_path / "segue.db")


@pytest.fixture
def store(host: Host) -> Iterator[segue.Segue]:
    with segue.open(host.store, directory=host.folder, clock=lambda: NOW) as opened:
        yield opened
