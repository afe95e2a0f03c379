"""Sources and their records as they are shown: what is known of each, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from segue.base import time

if TYPE_CHECKING:
    from collections import Counter

    from segue.memories.memory import Memory
    from segue.sources import adapters
    from segue.sources.problems import Problem
    from segue.sources.record import Record
    from segue.sources.snapshot import Snapshot
    from segue.storage.sources import Kind, StoredSource

COUNTED = ("new", "changed", "unchanged", "removed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A source as lists show it: what is known of it, and how many records its snapshot has."""

    stored: StoredSource
    records: int

    @property
    def name(self) -> str:
        """What the user calls it."""
        return self.stored.name

    def to_json(self) -> dict[str, Any]:
        """Return the shape of an entry of `segue source ls --json`."""
        kept = self.stored
        fault = {"code": kept.fault, "message": kept.fault_message} if kept.fault else None
        return {
            "name": kept.name,
            "kind": kept.kind,
            "place": kept.place,
            "title": kept.title or None,
            "records": self.records,
            "withheld": kept.withheld,
            "added_at": time.to_text(kept.added_at),
            "refreshed_at": time.to_text(kept.refreshed_at),
            "changed_at": time.to_text(kept.changed_at),
            "attempted_at": time.to_text(kept.attempted_at),
            "fault": fault,
            "digest": kept.digest,
            "exports": [each.to_json() for each in kept.exports],
        }


@dataclass(frozen=True, slots=True)
class Offer:
    """What a place holds, read but not used yet; `name` is what it would be called."""

    kind: Kind
    place: str
    name: str
    snapshot: Snapshot

    def to_json(self) -> dict[str, Any]:
        """Return what there is to decide about."""
        manifest = self.snapshot.manifest
        return {
            "name": self.name,
            "kind": self.kind,
            "place": self.place,
            "title": manifest.title or None,
            "description": manifest.description or None,
            "records": [{"id": each.id, "title": each.title or None} for each in self.snapshot.records],
            "remarks": [each.to_json() for each in self.snapshot.remarks],
        }


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What became of a source that was read: how many of its records are new, changed, unchanged and removed."""

    source: Source
    counts: Counter[str]
    remarks: tuple[Problem, ...] = ()
    returned: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue source refresh --json`; `returned` says that it was withheld before."""
        return {
            "source": self.source.to_json(),
            "counts": {name: self.counts[name] for name in COUNTED},
            "returned": self.returned,
            "remarks": [each.to_json() for each in self.remarks],
        }


@dataclass(frozen=True, slots=True)
class Shown:
    """One record of a source with its memories, and whether these are served."""

    source: Source
    record: Record
    memories: tuple[Memory, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue source show NAME RECORD --json`."""
        record = self.record
        return {
            "source": self.source.to_json(),
            "record": record_json(record) | {"body": record.body, "unknown": record.unknown},
            "memories": [{"id": each.id, "status": each.status} for each in self.memories],
        }


@dataclass(frozen=True, slots=True)
class Removed:
    """A source that was removed, how many memories went with it, and where its records were written to."""

    source: StoredSource
    memories: int

    def to_json(self) -> dict[str, Any]:
        """Return `{"removed", "memories", "exports"}`."""
        exports = [each.to_json() for each in self.source.exports]
        return {"removed": self.source.name, "memories": self.memories, "exports": exports}


@dataclass(frozen=True, slots=True)
class Exported:
    """What other tools may be told of a source, the ids of records that are left out, and whether it is withheld."""

    shown: adapters.Shown
    left_out: tuple[str, ...]
    withheld: bool


def record_json(record: Record) -> dict[str, Any]:
    """Return what a record says of itself, without its text; absent texts are null."""
    names = ("title", "kind", "scope", "project", "created", "updated", "occurred_at", "expires", "source")
    lists = ("tags", "entities", "supersedes")
    return {
        "id": record.id,
        "path": record.path,
        "sha256": record.sha256,
        "bytes": record.bytes,
        **{name: getattr(record, name) or None for name in names},
        **{name: list(getattr(record, name)) for name in lists},
        "confidence": record.confidence,
    }
