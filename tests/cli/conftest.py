"""A shell with an empty home, and the same in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cli.shell import InPlace, Shell

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """The installed program in an empty home."""
    return Shell(tmp_path)


@pytest.fixture
def cli(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> InPlace:
    """The commands in this process, in an empty home."""
    return InPlace(shell, monkeypatch)
