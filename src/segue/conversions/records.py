"""Records of a source as items: what somebody else claims, under the name of the source that it comes from.

Whatever a record says of itself, its items are those of an external author, of a record, of that source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from segue.base import time
from segue.memories.item import KINDS, LAYER_OF, MAX_CONTENT, Item, Provenance
from segue.memories.making import MAX_NAME, MAX_SUMMARY, MAX_URL
from segue.memories.source import source_of
from segue.sources import moments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from segue.memories.item import Kind
    from segue.sources.record import Record


def source_named(name: str) -> str:
    """Return what stands before the `#` in the refs of a source's memories."""
    return source_of("source", name)


def place_of(record_id: str, part: int = 0) -> str:
    """Return what stands behind the `#` for a record; a long one has several parts, counted from 0."""
    return f"{record_id}/{part + 1}" if part else record_id


def record_of(place: str) -> str:
    """Return the id of the record at a place."""
    return place.partition("/")[0]


def from_record(record: Record, *, source: str, title: str = "", base: str = "") -> tuple[Item, ...]:
    """Return the items of a record of the source of that name; more than one where it is longer than a memory.

    `title` is the source's own; `base` is its address, which ends in a slash, "" for a folder.
    """
    kind = kind_of(record.kind)
    url = base + quote(record.path) if base else ""
    named = source_named(source)
    return tuple(
        Item(
            content=content,
            kind=kind,
            layer=LAYER_OF[kind],
            provenance=Provenance(
                origin="record",
                ref=f"{named}#{place_of(record.id, part)}",
                author_class="external",
                url=url if len(url) <= MAX_URL else "",
                author=(title or source)[:MAX_NAME],
            ),
            summary=record.title[:MAX_SUMMARY],
            entities=record.entities,
            tags=record.tags,
            project=record.project,
            occurred_at=_written(record.occurred_at),
            valid_to=_written(record.expires),
            confidence=record.confidence,
            supersedes=tuple(f"{named}#{each}" for each in record.supersedes) if part == 0 else (),
        )
        for part, content in enumerate(_pieces(record.body))
    )


def kind_of(given: str) -> Kind:
    """Return the kind of a memory for the kind that a record gives: a claim for one that is not known.

    A constraint is a hard rule in every pack, and nobody else sets rules here: a record's is a claim.
    """
    return next((each for each in KINDS if each == given and each != "constraint"), "claim")


def _written(moment: str) -> str | None:
    instant = moments.instant(moment) if moment else None
    return None if instant is None else time.to_text(instant)


def _pieces(body: str) -> Iterator[str]:
    """The body in parts that are each one memory: cut between paragraphs, else between lines, else between words."""
    rest = body.strip()
    while len(rest) > MAX_CONTENT:
        head = rest[:MAX_CONTENT]
        cut = max(head.rfind("\n\n"), 0) or max(head.rfind("\n"), 0) or max(head.rfind(" "), 0) or MAX_CONTENT
        yield rest[:cut].strip()
        rest = rest[cut:].strip()
    yield rest
