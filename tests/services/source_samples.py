"""Sources for tests: folders of records as files in memory, and readers that hand them over as they are told."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from segue.services.source_reading import Readers
from segue.sources import snapshot as snapshots
from segue.sources.limits import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from segue.base.errors import SegueError
    from segue.sources.snapshot import Snapshot

MANIFEST = "memories.json"


def record(body: str, **head: Any) -> str:
    """A record's file; lists in `head` are written as YAML lists."""
    lines = [f"{key}: {json.dumps(value)}" for key, value in head.items()]
    return "\n".join(["---", *lines, "---", "", body, ""]) if lines else f"{body}\n"


def source(records: Mapping[str, str], **manifest: Any) -> dict[str, bytes]:
    """The files of a source: of each record, by its id, the text of its file."""
    listed = [{"id": each, "path": f"records/{each}.md"} for each in records]
    document = {"memories_version": "0.1", "title": "Team notes", **manifest, "records": listed}
    files = {f"records/{each}.md": text.encode() for each, text in records.items()}
    return {MANIFEST: json.dumps(document).encode(), **files}


class Scripted(Readers):
    """Readers of places that are kept in memory; `during` is called while a place is read, `fault` is raised then."""

    def __init__(self, places: Mapping[str, Mapping[str, bytes]]) -> None:
        super().__init__()
        self.places = dict(places)
        self.fault: SegueError | None = None
        self.during: Callable[[], object] | None = None
        self.read_with: list[dict[str, Any]] = []

    def read(self, kind: Any, place: str, *, before: Any = None, bearer: str = "", on_progress: Any = None) -> Snapshot:
        self.read_with.append({"place": place, "before": dict(before or {}), "bearer": bearer})
        if self.during is not None:
            self.during()
        if self.fault is not None:
            raise self.fault
        found = [snapshots.resource(path, data) for path, data in self.places[place].items()]
        return snapshots.assembled(found[0], found[1:], DEFAULT)
