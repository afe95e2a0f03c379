"""What is killed at each of its writes: a receipt, and a release (see `killing`)."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import filelock  # noqa: F401 - imported here, so that no fork has to

import segue
from segue.services import continuity_place, projects, receipts, releases  # noqa: F401

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FILES = ("qa.md", "log.md", "memory.md", "guide.md")
MANIFEST: dict[str, Any] = {
    "doc_tx_id": "DOC-TX-001",
    "artifact_paths": dict(zip(("qa", "log", "memory", "document"), FILES, strict=True)),
    "source_revision": "git:0123abc",
    "readiness_manifest": {"ready": True},
    "validator_results": {"qa_log": "pass", "memory": "pass", "document": "pass"},
    "cold_start_result": {"status": "pass", "report_hash": "a" * 64},
    "not_run": [],
    "current_step": "STEP-1",
    "current_node": "NODE-001",
}


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[segue.Segue]:
    """Yield a Segue whose project, store and home are all in `folder`."""
    # Git is not asked: the project has its id in its settings.
    around = {"SEGUE_HOME": str(folder / "home"), "PATH": ""}
    with patch.dict(os.environ, around), segue.open(folder / "segue.db", directory=folder) as one:
        yield one


def issue(folder: Path, _: str, acknowledge: Callable[[], None]) -> None:
    with opened(folder) as one:
        one.continuity.receipts.issue(["log.md"], b"It is saved.")
        acknowledge()


def release(folder: Path, _: str, acknowledge: Callable[[], None]) -> None:
    with opened(folder) as one:
        one.continuity.releases.prepare(MANIFEST)
        one.continuity.releases.commit()
        acknowledge()
