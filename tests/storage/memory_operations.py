"""What is killed at each of its writes: changes of a project's memory store (see `killing`)."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import filelock  # noqa: F401 - imported here, so that no fork has to
import ruamel.yaml  # noqa: F401

import segue
from segue.services import artifacts, project_memory, receipts  # noqa: F401

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from segue.services.project_memory import ProjectMemory

NOW = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
LEDGER = "PROJECT_STUDY_LOG.md"
BODY = "Why: it was asked for.\nHow to apply: {}.\n"


def opened(folder: Path) -> segue.Segue:
    """A Segue whose project, store and home are all in `folder`."""
    os.environ["SEGUE_HOME"] = str(folder / "home")
    return segue.open(folder / "segue.db", directory=folder, clock=lambda: NOW)


def keep(memory: ProjectMemory, name: str, kind: str, body: str) -> None:
    """Keep a fact on the first receipt, which is for the ledger."""
    memory.upsert(name, kind=kind, description=f"About {name}", body=body, receipt="TX-0001", sources=[LEDGER])


def init(folder: Path, _: str, acknowledge: Callable[[], None]) -> None:
    with opened(folder) as one:
        one.continuity.memory.init(consent=True)
        acknowledge()


def add(folder: Path, _: str, acknowledge: Callable[[], None]) -> None:
    with opened(folder) as one:
        keep(one.continuity.memory, "third", "project", BODY.format("so"))
        acknowledge()


def update(folder: Path, _: str, acknowledge: Callable[[], None]) -> None:
    with opened(folder) as one:
        keep(one.continuity.memory, "first", "project", BODY.format("otherwise"))
        acknowledge()


def archive(folder: Path, _: str, acknowledge: Callable[[], None]) -> None:
    with opened(folder) as one:
        one.continuity.memory.archive("first", "not any more")
        acknowledge()
