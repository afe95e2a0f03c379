"""The memory: what is kept of an item, who said it, when it holds, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from segue.base import time

if TYPE_CHECKING:
    from datetime import datetime

    from segue.memories.item import AuthorClass, Kind, Layer, Provenance

Status = Literal["pending", "active", "retired"]
STATUSES: tuple[Status, ...] = get_args(Status)
PREFIX = "mem_"

# How far a memory is trusted before anything else is known of it: by who said it (decision M1).
TRUST: dict[AuthorClass, float] = {"user": 0.9, "agent": 0.6, "external": 0.3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One memory. `id` is `mem_` and a ULID; texts that are absent are "", times None.

    `confidence` (0 to 1) is what the source says of itself, `trust` (0 to 1) what is thought of the source.
    `occurred_at` is when it happened, `captured_at` when it was stored, `valid_from` and `valid_to` bound when it
    holds; `retired_at` is when it was replaced or taken back. `supersedes` and `superseded_by` are ids of memories.
    `occurrences` counts the sources that say it, at least 1; `revision` counts its texts from 1. `content_hash` is
    `sha256:` and 64 hex digits; `thread` and `position` are its place in a conversation, `speaker` who said it there.
    Only active memories are served.
    """

    id: str
    content: str
    kind: Kind
    layer: Layer
    provenance: Provenance
    captured_at: datetime
    content_hash: str
    status: Status
    trust: float
    summary: str = ""
    entities: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    project: str = ""
    confidence: float | None = None
    occurred_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    retired_at: datetime | None = None
    supersedes: tuple[str, ...] = ()
    superseded_by: str = ""
    occurrences: int = 1
    revision: int = 1
    thread: str = ""
    position: int | None = None
    speaker: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue memories show --json`: times as RFC 3339 in UTC, absent texts as null."""
        written = self.provenance
        return {
            "id": self.id,
            "content": self.content,
            "summary": self.summary or None,
            "kind": self.kind,
            "layer": self.layer,
            "entities": list(self.entities),
            "tags": list(self.tags),
            "project": self.project or None,
            "confidence": self.confidence,
            "trust": self.trust,
            "occurred_at": _text(self.occurred_at),
            "captured_at": time.to_text(self.captured_at),
            "valid_from": _text(self.valid_from),
            "valid_to": _text(self.valid_to),
            "retired_at": _text(self.retired_at),
            "supersedes": list(self.supersedes),
            "superseded_by": self.superseded_by or None,
            "status": self.status,
            "occurrences": self.occurrences,
            "revision": self.revision,
            "content_hash": self.content_hash,
            "thread": self.thread or None,
            "position": self.position,
            "speaker": self.speaker or None,
            "provenance": {
                "origin": written.origin,
                "ref": written.ref,
                "url": written.url or None,
                "author_class": written.author_class,
                "author": written.author or None,
                "receipt": written.receipt or None,
            },
        }


def _text(instant: datetime | None) -> str | None:
    return None if instant is None else time.to_text(instant)
