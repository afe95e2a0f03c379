"""A memory as a row: its columns. Plain values, for whichever driver writes and reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from segue.base import text, time
from segue.memories.item import Provenance
from segue.memories.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime


def columns(memory: Memory, identity: str, *, with_id: bool = True) -> dict[str, Any]:
    """Return the columns of a memory beside those that say whose it is."""
    written = memory.provenance
    values = {
        "id": memory.id,
        "content": memory.content,
        "summary": memory.summary or None,
        "kind": memory.kind,
        "layer": memory.layer,
        "entities": orjson.dumps(memory.entities).decode(),
        "tags": orjson.dumps(memory.tags).decode(),
        "project": memory.project or None,
        "project_key": text.fold(memory.project) or None,
        "confidence": memory.confidence,
        "trust": memory.trust,
        "occurred_us": _us(memory.occurred_at),
        "captured_us": time.microseconds(memory.captured_at),
        "valid_from_us": _us(memory.valid_from),
        "valid_to_us": _us(memory.valid_to),
        "retired_us": _us(memory.retired_at),
        "supersedes": orjson.dumps(memory.supersedes).decode() if memory.supersedes else None,
        "superseded_by": memory.superseded_by or None,
        "status": memory.status,
        "occurrences": memory.occurrences,
        "revision": memory.revision,
        "content_hash": memory.content_hash,
        "identity": identity,
        "thread": memory.thread or None,
        "position": memory.position,
        "speaker": memory.speaker or None,
        "origin": written.origin,
        "ref": written.ref,
        "url": written.url or None,
        "author_class": written.author_class,
        "author": written.author or None,
        "receipt": written.receipt or None,
    }
    if not with_id:
        del values["id"]
    return values


def stored(row: Sequence[Any]) -> Memory:
    """Return the memory of a row that has all columns, in the order of the table (read by place: it is done often)."""
    (
        _scope, memory_id, _owner, content, summary, kind, layer, entities, tags, project, _project_key, confidence,
        trust, occurred, captured, valid_from, valid_to, retired, supersedes, superseded_by, status, occurrences,
        revision, content_hash, _identity, thread, position, speaker, origin, ref, url, author_class, author, receipt,
    ) = tuple(row)  # fmt: skip
    return Memory(
        id=memory_id,
        content=content,
        summary=summary or "",
        kind=kind,
        layer=layer,
        entities=_list(entities),
        tags=_list(tags),
        project=project or "",
        confidence=confidence,
        trust=trust,
        occurred_at=_instant(occurred),
        captured_at=time.from_microseconds(captured),
        valid_from=_instant(valid_from),
        valid_to=_instant(valid_to),
        retired_at=_instant(retired),
        supersedes=_list(supersedes) if supersedes else (),
        superseded_by=superseded_by or "",
        status=status,
        occurrences=occurrences,
        revision=revision,
        content_hash=content_hash,
        thread=thread or "",
        position=position,
        speaker=speaker or "",
        provenance=Provenance(
            origin=origin,
            ref=ref,
            author_class=author_class,
            url=url or "",
            author=author or "",
            receipt=receipt or "",
        ),
    )


def _list(text: str) -> tuple[str, ...]:
    return () if text == "[]" else tuple(orjson.loads(text))


def _us(instant: datetime | None) -> int | None:
    return None if instant is None else time.microseconds(instant)


def _instant(value: int | None) -> datetime | None:
    return None if value is None else time.from_microseconds(value)
