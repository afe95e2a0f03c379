"""Memories read back from the JSON that `Memory.to_json` gives, by somebody who trusts nothing in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from segue.base import members
from segue.base.members import MAX_COUNT, invalid
from segue.memories import making
from segue.memories.identity import content_hash
from segue.memories.item import Item, Provenance
from segue.memories.memory import PREFIX, STATUSES, Memory

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

MAX_LINKS = 10_000

_ID = re.compile(PREFIX + "[0-7][0-9A-HJKMNP-TV-Z]{25}")
_PROVENANCE = frozenset(("origin", "ref", "url", "author_class", "author", "receipt"))
_MEMBERS = frozenset(
    "id content summary kind layer entities tags project confidence trust occurred_at captured_at valid_from valid_to"
    " retired_at supersedes superseded_by status occurrences revision content_hash thread position speaker"
    " provenance".split()
)


def from_json(document: object) -> Memory:
    """Return the memory that `document` describes: exactly the members that `Memory.to_json` writes, as it does.

    Nothing is mended: a text with white space at its ends, a time in another offset, the hash of another text are
    refused. Raises InvalidInput `value.invalid`, `memory.…`; the message names the member and never quotes its text.
    """
    given = members.exactly(document, _MEMBERS, "a memory")
    item = _item(given)
    digest = content_hash(item.content)
    if members.text(given, "content_hash") != digest:
        raise invalid("content_hash is not the hash of content")
    memory = Memory(
        id=identifier(given["id"], "id"),
        content=item.content,
        kind=item.kind,
        layer=item.layer,
        provenance=item.provenance,
        captured_at=members.instant(given, "captured_at"),
        content_hash=digest,
        status=members.text(given, "status"),  # type: ignore[arg-type]  # compared by `_require_agreement`
        trust=members.share(given, "trust"),
        summary=item.summary,
        entities=_texts(given, "entities", making.MAX_ENTITIES, making.MAX_ENTITY),
        tags=_texts(given, "tags", making.MAX_TAGS, making.MAX_TAG),
        project=item.project,
        confidence=item.confidence,
        occurred_at=_instant(given, "occurred_at"),
        valid_from=_instant(given, "valid_from"),
        valid_to=_instant(given, "valid_to"),
        retired_at=_instant(given, "retired_at"),
        supersedes=_links(given),
        superseded_by="" if given["superseded_by"] is None else identifier(given["superseded_by"], "superseded_by"),
        occurrences=members.whole(given, "occurrences", 1, MAX_COUNT),
        revision=members.whole(given, "revision", 1, MAX_COUNT),
        thread=item.thread,
        position=item.position,
        speaker=item.speaker,
    )
    _require_agreement(memory)
    return memory


def identifier(value: object, name: str) -> str:
    """Return what must be the id of a memory; `name` says what it is. Raises InvalidInput `value.invalid`."""
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise invalid(f"{name} is not the id of a memory")
    return value


def _item(given: Mapping[str, Any]) -> Item:
    item = Item(
        content=members.text(given, "content"),
        kind=members.text(given, "kind"),  # type: ignore[arg-type]  # `checked` compares it with those there are
        layer=members.text(given, "layer"),  # type: ignore[arg-type]
        summary=members.optional(given, "summary"),
        project=members.optional(given, "project"),
        confidence=None if given["confidence"] is None else members.share(given, "confidence"),
        thread=members.optional(given, "thread"),
        position=None if given["position"] is None else members.whole(given, "position", 0, making.MAX_POSITION),
        speaker=members.optional(given, "speaker"),
        provenance=_provenance(members.exactly(given["provenance"], _PROVENANCE, "provenance")),
    )
    if making.checked(item) != item:
        raise invalid("a text has white space at its ends, or a NUL in it")
    return item


def _provenance(given: Mapping[str, Any]) -> Provenance:
    return Provenance(
        origin=members.text(given, "origin"),  # type: ignore[arg-type]  # `checked` compares both
        ref=members.text(given, "ref"),
        author_class=members.text(given, "author_class"),  # type: ignore[arg-type]
        url=members.optional(given, "url"),
        author=members.optional(given, "author"),
        receipt=members.optional(given, "receipt"),
    )


def _require_agreement(memory: Memory) -> None:
    """Raise InvalidInput where the members of a memory contradict each other."""
    if memory.status not in STATUSES:
        raise invalid(f"status is none of {', '.join(STATUSES)}")
    if (memory.status == "retired") != (memory.retired_at is not None):
        raise invalid("a memory has retired_at where it is retired, and only there")
    if memory.superseded_by and memory.status != "retired":
        raise invalid("a memory that was replaced is retired")
    if memory.id in (memory.superseded_by, *memory.supersedes):
        raise invalid("a memory does not replace itself")
    if any(tag != tag.lower() for tag in memory.tags):
        raise invalid("tags are in lower case")


def _instant(given: Mapping[str, Any], name: str) -> datetime | None:
    return None if given[name] is None else members.instant(given, name)


def _texts(given: Mapping[str, Any], name: str, most: int, longest: int) -> tuple[str, ...]:
    values = members.items(given, name, most)
    for value in values:
        if not isinstance(value, str) or not 0 < len(value) <= longest or "\0" in value:
            raise invalid(f"{name}: each is a text of 1 to {longest} characters without NUL")
        if value != " ".join(value.split()):
            raise invalid(f"{name}: a text has white space that is not needed")
    if len(set(values)) != len(values):
        raise invalid(f"{name}: a text stands there twice")
    return tuple(values)


def _links(given: Mapping[str, Any]) -> tuple[str, ...]:
    values = members.items(given, "supersedes", MAX_LINKS)
    if len({identifier(value, "supersedes") for value in values}) != len(values):
        raise invalid("supersedes: an id stands there twice")
    return tuple(values)
