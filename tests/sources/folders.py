"""Source folders for tests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

RECORDS = {
    "records/test-command.md": "---\ntitle: How to test\nkind: procedure\n---\nRun `make test`.\n",
    "records/style.md": "Names are nouns.\n",
}


def manifest(*records: Any, **more: Any) -> bytes:
    """The bytes of a manifest."""
    return json.dumps({"memories_version": "0.1", **more, "records": list(records)}).encode()


def write(folder: Path, records: dict[str, str] | None = None, **more: Any) -> Path:
    """Write a source that lists `records`, and return its folder."""
    given = RECORDS if records is None else records
    for path, text in given.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memories.json").write_bytes(manifest(*given, **more))
    return folder
