"""Items checked and made into memories. A value that breaks its rule is refused, never clamped (decision M9)."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from segue.base import jsontext, own, redaction, text, time
from segue.base.errors import InvalidInput, Refused
from segue.memories.identity import content_hash
from segue.memories.item import AUTHOR_CLASSES, KIND_OF, KINDS, LAYER_OF, LAYERS, MAX_CONTENT, ORIGINS, Item, Provenance
from segue.memories.memory import TRUST, Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from segue.memories.item import AuthorClass, Kind, Layer, Origin
    from segue.memories.memory import Status

MAX_ENTITIES, MAX_ENTITY = 50, 160
MAX_TAGS, MAX_TAG = 50, 64
MAX_SUMMARY = 1_000
MAX_NAME = 320  # characters of a project, thread, speaker, author
MAX_REF = 512
MAX_URL = 2_048
MAX_POSITION = 2**53

_URL = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
_EDITABLE = frozenset("kind layer summary entities tags project confidence occurred_at valid_from valid_to".split())
_TIMES = ("occurred_at", "valid_from", "valid_to")


def item(
    content: str,
    *,
    kind: str | None = None,
    layer: str | None = None,
    origin: Origin = "text",
    ref: str = "",
    author_class: AuthorClass = "user",
    author: str = "",
    url: str = "",
    entities: Iterable[str] = (),
    tags: Iterable[str] = (),
    project: str = "",
    summary: str = "",
    occurred_at: datetime | str | None = None,
    valid_from: datetime | str | None = None,
    valid_to: datetime | str | None = None,
    confidence: float | None = None,
    thread: str = "",
    position: int | None = None,
    speaker: str = "",
) -> Item:
    """Return the item of what a person or an agent says. Kind and layer follow from one another (decision M2).

    Without either it is a claim. In a thread the one entity that is named is the speaker, unless another is.
    Raises InvalidInput `memory.kind` or `memory.layer`; the other values are checked by `checked`.
    """
    chosen_kind, chosen_layer = classified(kind, layer)
    named = _several(entities)
    return Item(
        content=content,
        kind=chosen_kind,
        layer=chosen_layer,
        provenance=Provenance(origin=origin, ref=ref, author_class=author_class, url=url, author=author),
        summary=summary,
        entities=named,
        tags=_several(tags),
        project=project,
        occurred_at=_written(occurred_at),
        valid_from=_written(valid_from),
        valid_to=_written(valid_to),
        confidence=confidence,
        thread=thread,
        position=position,
        speaker=speaker or (named[0] if thread and len(named) == 1 else ""),
    )


def classified(kind: str | None, layer: str | None) -> tuple[Kind, Layer]:
    """Return kind and layer, the one that is not named from the other. Raises InvalidInput `memory.kind`, `….layer`."""
    chosen_kind = next((each for each in KINDS if each == kind), None)
    chosen_layer = next((each for each in LAYERS if each == layer), None)
    if kind is not None and chosen_kind is None:
        raise InvalidInput(
            "memory.kind", f"no kind is called '{redaction.shown(kind, 40)}'; there are {', '.join(KINDS)}"
        )
    if layer is not None and chosen_layer is None:
        raise InvalidInput(
            "memory.layer", f"no layer is called '{redaction.shown(layer, 40)}'; there are {', '.join(LAYERS)}"
        )
    if chosen_kind is None:
        chosen_kind = KIND_OF[chosen_layer] if chosen_layer else "claim"
    return chosen_kind, chosen_layer or LAYER_OF[chosen_kind]


def made(
    source: Item, *, memory_id: str, now: datetime, status: Status = "active", supersedes: tuple[str, ...] = ()
) -> Memory:
    """Return the memory of an item that went through `checked`; `supersedes` are ids."""
    valid_to = instant("valid_to", source.valid_to)
    return Memory(
        id=memory_id,
        content=source.content,
        kind=source.kind,
        layer=source.layer,
        provenance=source.provenance,
        captured_at=now,
        content_hash=content_hash(source.content),
        status="retired" if source.retired else status,
        trust=TRUST[source.provenance.author_class],
        summary=source.summary,
        entities=source.entities,
        tags=source.tags,
        project=source.project,
        confidence=source.confidence,
        occurred_at=instant("occurred_at", source.occurred_at),
        valid_from=instant("valid_from", source.valid_from),
        valid_to=valid_to,
        retired_at=(valid_to or now) if source.retired else None,
        supersedes=supersedes,
        thread=source.thread,
        position=source.position,
        speaker=source.speaker,
    )


def changed(before: Memory, content: str | None, details: Mapping[str, Any], clean: Callable[[Item], Item]) -> Memory:
    """Return a memory with another text or other details; `clean` checks what it says then.

    Of kind and layer the one that is not given follows from the other. Raises InvalidInput `memory.…`.
    """
    unknown = sorted(set(details) - _EDITABLE)
    if unknown:
        raise InvalidInput("memory.value", f"{', '.join(unknown)}: no detail of a memory that can be edited")
    times: dict[str, Any] = {
        name: _written(details[name]) if name in details else _written(getattr(before, name)) for name in _TIMES
    }
    kind, layer = before.kind, before.layer
    if details.get("kind") is not None or details.get("layer") is not None:
        kind, layer = classified(details.get("kind"), details.get("layer"))
    item_now = clean(
        Item(
            content=before.content if content is None else content,
            kind=kind,
            layer=layer,
            provenance=before.provenance,
            summary=details.get("summary", before.summary),
            entities=_several(details.get("entities", before.entities)),
            tags=_several(details.get("tags", before.tags)),
            project=details.get("project", before.project),
            confidence=details.get("confidence", before.confidence),
            thread=before.thread,
            position=before.position,
            speaker=before.speaker,
            **times,
        )
    )
    return replace(
        before,
        content=item_now.content,
        content_hash=content_hash(item_now.content),
        kind=kind,
        layer=layer,
        summary=item_now.summary,
        entities=item_now.entities,
        tags=item_now.tags,
        project=item_now.project,
        confidence=item_now.confidence,
        occurred_at=instant("occurred_at", item_now.occurred_at),
        valid_from=instant("valid_from", item_now.valid_from),
        valid_to=instant("valid_to", item_now.valid_to),
    )


def checked(source: Item) -> Item:
    """Return an item with its texts as they are stored: ends trimmed, NUL replaced, lists without repetition.

    Raises InvalidInput `memory.content`, `memory.value`, `memory.time`: empty or too long, not Unicode, out of range;
    Refused `memory.own_pack` for one of Segue's own context packs: memory must not feed on itself.
    """
    if own.holds_pack(source.content):
        raise Refused("memory.own_pack", "this is a context pack that Segue made; its memories are stored already")
    content = _text("content", source.content, MAX_CONTENT)
    if not content:
        raise InvalidInput("memory.content", "there is nothing to remember: the text is empty")
    written = source.provenance
    for name, value, allowed in (
        ("kind", source.kind, KINDS),
        ("layer", source.layer, LAYERS),
        ("origin", written.origin, ORIGINS),
        ("author_class", written.author_class, AUTHOR_CLASSES),
    ):
        if value not in allowed:
            raise InvalidInput(
                f"memory.{name}", f"{name}: one of {', '.join(allowed)}, not '{redaction.shown(str(value), 40)}'"
            )
    if source.confidence is not None and not 0 <= source.confidence <= 1:  # a NaN is neither
        raise InvalidInput("memory.value", f"confidence lies between 0 and 1, not at {source.confidence}")
    if source.position is not None and not 0 <= source.position <= MAX_POSITION:
        raise InvalidInput("memory.value", "position counts from 0")
    if source.position is not None and not source.thread:
        raise InvalidInput("memory.value", "a position needs the thread that it counts in")
    _require_times(source)
    url = _text("url", written.url, MAX_URL)
    if url and not _URL.fullmatch(url):
        raise InvalidInput("memory.value", "url: give an address that begins with http:// or https://")
    return replace(
        source,
        content=content,
        summary=_text("summary", source.summary, MAX_SUMMARY),
        entities=_list("entities", source.entities, MAX_ENTITIES, MAX_ENTITY),
        tags=_list("tags", [each.lower() for each in source.tags], MAX_TAGS, MAX_TAG),
        project=_text("project", source.project, MAX_NAME),
        thread=_text("thread", source.thread, MAX_NAME),
        speaker=_text("speaker", source.speaker, MAX_NAME),
        provenance=replace(
            written,
            url=url,
            ref=_text("ref", written.ref, MAX_REF),
            author=_text("author", written.author, MAX_NAME),
            receipt=_text("receipt", written.receipt, MAX_NAME),
        ),
    )


def _text(name: str, value: str, limit: int) -> str:
    if not value:
        return value
    value = value.strip().replace("\0", "\ufffd")
    if not jsontext.is_unicode(value):
        raise InvalidInput("memory.value", f"{name} holds half a character; it is no Unicode text")
    if len(value) > limit:
        hint = "; keep a longer text in a file and `segue ingest` it" if name == "content" else ""
        raise InvalidInput(
            f"memory.{'content' if name == 'content' else 'value'}",
            f"{name} has {len(value):,} characters, at most {limit:,} are kept{hint}",
        )
    return value


def _list(name: str, values: Iterable[str], most: int, longest: int) -> tuple[str, ...]:
    found = {text.fold(value): value for each in values if (value := _text(name, " ".join(each.split()), longest))}
    if len(found) > most:
        raise InvalidInput("memory.value", f"{name}: at most {most}, not {len(found)}")
    return tuple(found.values())


def _several(values: Iterable[str]) -> tuple[str, ...]:
    """The texts of a list; a single text is one, not its letters."""
    return (values,) if isinstance(values, str) else tuple(values)


def _require_times(source: Item) -> None:
    instant("occurred_at", source.occurred_at)
    begins, ends = instant("valid_from", source.valid_from), instant("valid_to", source.valid_to)
    if begins is not None and ends is not None and time.microseconds(ends) < time.microseconds(begins):
        raise InvalidInput("memory.time", "valid_to lies before valid_from")


def _written(instant: datetime | str | None) -> str | None:
    if instant is None or isinstance(instant, str):
        return instant
    if instant.utcoffset() is None:
        raise InvalidInput("memory.time", "a time needs its offset from UTC")
    return time.to_text(instant)


def instant(name: str, written: str | None) -> datetime | None:
    """Return the instant of an RFC 3339 time, None for None. Raises InvalidInput `memory.time`."""
    if written is None:
        return None
    try:
        return _parsed(written)
    except ValueError:
        raise InvalidInput(
            "memory.time", f"{name}: not an RFC 3339 time with its offset: '{redaction.shown(written, 40)}'"
        ) from None


_parsed = lru_cache(maxsize=256)(time.parse)  # what is read together often has one time
