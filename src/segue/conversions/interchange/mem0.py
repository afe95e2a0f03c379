"""Reader of mem0's memories (section 8.4 of the host facts): what `get_all` answers, saved, and its plugin's Markdown.

Unverified: `relations` of the graph store. An export by a schema of one's own cannot be known and is not read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from segue.conversions.interchange import source
from segue.conversions.interchange.item import Found, fraction, kind_of, pieces, string, strings
from segue.memories.item import LAYER_OF, Item, Provenance
from segue.transcripts import moments
from segue.transcripts.conversation import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from segue.transcripts.lines import Record

_KEYS = "id|created_at|updated_at|type|confidence|branch|files|categories"
# A block's head begins with `id:` and holds known keys only, so that a rule inside a memory's text begins no block.
_HEAD = re.compile(rf"^---[ \t]*\n(id:[^\n]*\n(?:(?:{_KEYS}):[^\n]*\n)*)---[ \t]*(?:\n|\Z)", re.MULTILINE)
_OWNERS = ("user_id", "agent_id", "app_id", "run_id")


def is_markdown(text: str) -> bool:
    """Whether `text` is an export of mem0's plugin."""
    return _HEAD.match(text.lstrip()) is not None


def is_memory(value: Record) -> bool:
    """Whether `value` is one memory of `get_all`."""
    return isinstance(value.get("memory"), str) and "id" in value


def read(path: Path) -> Iterator[Found]:
    """Yield the memories of the file at `path`, JSON or Markdown."""
    if path.suffix.lower() in (".md", ".markdown"):
        found = source.decoded(path, path.name, source.MAX_JSON)
        if isinstance(found, Problem):
            yield found
            return
        text, fault = found
        yield from [fault] if fault else []
        yield from _markdown(text, path.name)
        return
    for element in source.elements(path, "results", "memories"):
        if isinstance(element, Problem):
            yield element
        elif element.value is not None:
            yield from _memory(element.value, path.name, element.index)
    for element in source.elements(path, "relations"):
        if not isinstance(element, Problem) and element.value is not None:
            yield from _relation(element.value)


def _memory(value: Record, file: str, index: int) -> Iterator[Found]:
    text = string(value.get("memory"))
    if not text:
        yield Problem("import.value", "it has no text under `memory`", file, index=index)
        return
    metadata = value.get("metadata")
    about = metadata if isinstance(metadata, dict) else {}
    yield from _items(
        text,
        name=string(value.get("id")) or str(index),
        kind=string(about.get("type")),
        tags=strings(value.get("categories")),
        at=moments.from_iso(value.get("created_at")),
        updated=moments.from_iso(value.get("updated_at")),
        confidence=fraction(about.get("confidence")),
        project=string(about.get("project")),
        author=next((string(value.get(key)) for key in _OWNERS if string(value.get(key))), ""),
    )


def _items(
    text: str,
    *,
    name: str,
    kind: str,
    tags: tuple[str, ...],
    at: str | None,
    updated: str | None,
    confidence: float | None,
    project: str = "",
    author: str = "",
) -> Iterator[Item]:
    known = kind_of(kind)
    for order, piece in enumerate(pieces(text)):
        yield Item(
            content=piece,
            kind=known,
            layer=LAYER_OF[known],
            tags=strings([*tags, kind]),
            occurred_at=at,
            updated_at=updated or at,
            confidence=confidence,
            project=project,
            provenance=Provenance(
                origin="import",
                ref=f"mem0:{name}.{order}" if order else f"mem0:{name}",
                author_class="agent",
                author=author,
            ),
        )


def _relation(value: Record) -> Iterator[Item]:
    start, end = string(value.get("source")), string(value.get("destination")) or string(value.get("target"))
    relation = string(value.get("relationship")) or string(value.get("relation"))
    if start and end and relation:
        yield Item(
            content=f"{start} {relation.replace('_', ' ')} {end}",
            kind="claim",
            layer="semantic",
            entities=tuple(dict.fromkeys((start, end))),
            tags=("relation",),
            provenance=Provenance(origin="import", ref=f"mem0:{start}/{relation}/{end}", author_class="agent"),
        )


def _markdown(text: str, file: str) -> Iterator[Found]:
    heads = list(_HEAD.finditer(text))
    for index, head in enumerate(heads):
        end = heads[index + 1].start() if index + 1 < len(heads) else len(text)
        values: dict[str, Any] = {}
        for line in head[1].splitlines():
            key, _, value = line.partition(":")
            values[key] = value.strip()
        body = text[head.end() : end].strip()
        if not body:
            line_number = text.count("\n", 0, head.start()) + 1
            yield Problem("import.value", "the memory has no text", file, line=line_number)
            continue
        yield from _items(
            body,
            name=values["id"] or str(index),
            kind=values.get("type", ""),
            tags=strings(values.get("categories", "").split(",")),
            at=moments.from_iso(values.get("created_at")),
            updated=moments.from_iso(values.get("updated_at")),
            confidence=fraction(values.get("confidence")),
        )
