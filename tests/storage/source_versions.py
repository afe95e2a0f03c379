"""A source that says another version of itself in each folder, for runs that are killed (see `killing`)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import segue
from segue.services.source_reading import Readers
from segue.sources import snapshot as snapshots
from segue.sources.limits import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from segue.sources.snapshot import Snapshot

PLACE = "/made-up/notes"


class Version(Readers):
    """Reads a source whose records all say one version: two that change, and one that no other version has."""

    def __init__(self, version: str) -> None:
        super().__init__()
        self._version = version

    def read(self, *_: Any, **__: Any) -> Snapshot:
        texts = {f"{name}.md": f"{name} of version {self._version}.\n" for name in ("a", "b", f"only-{self._version}")}
        manifest = json.dumps({"memories_version": "0.1", "records": list(texts)}).encode()
        records = [snapshots.resource(path, text.encode()) for path, text in texts.items()]
        return snapshots.assembled(snapshots.resource("memories.json", manifest), records, DEFAULT)


def refresh(folder: Path, location: str, acknowledge: Callable[[], None]) -> None:
    """Refresh the source to the version that the folder's name is."""
    with segue.open(location or folder / "segue.db", directory=folder, embedder="none") as opened:
        opened.sources.reading(Version(folder.name)).refresh("notes")
        acknowledge()
