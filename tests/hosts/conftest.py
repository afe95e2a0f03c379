"""A home and a project of the test's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from segue.hosts import Surroundings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    home, root = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    root.mkdir()
    return Surroundings(home=home, environment={}, root=root, executable="/opt/tools/bin/segue")
