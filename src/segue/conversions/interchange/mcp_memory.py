"""Reader of the memory file of MCP's reference server (section 8.3 of the host facts): a graph in JSON Lines.

Each observation is an item that names its entity; so is each relation, as a sentence. An entity without observations
says what it is. The answer of its `read_graph` tool, saved as one object, is read too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from segue.conversions.interchange import source
from segue.conversions.interchange.item import Found, headed, string, strings
from segue.memories.item import Item, Provenance
from segue.transcripts.conversation import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from segue.transcripts.lines import Record

FILES = ("memory.jsonl", "memory.json")


def read(path: Path) -> Iterator[Found]:
    """Yield the observations and relations of the memory file at `path`, or of the folder that holds it."""
    path = source.single(path, FILES)
    for element in source.elements(path):
        if isinstance(element, Problem):
            yield element
        elif element.value is not None:
            yield from _records(element.value, path.name, element.index)


def _records(value: Record, file: str, index: int) -> Iterator[Found]:
    if is_graph(value):
        for key, kind in (("entities", "entity"), ("relations", "relation")):
            items = value.get(key)
            for number, item in enumerate(items if isinstance(items, list) else []):
                if isinstance(item, dict):
                    yield from _record(item | {"type": kind}, f"{file}/{key}", number)
                else:
                    yield Problem("import.element", "it is no JSON object", f"{file}/{key}", index=number)
        return
    yield from _record(value, file, index)


def is_graph(value: Record) -> bool:
    """Whether `value` is a whole graph in one object."""
    return "type" not in value and isinstance(value.get("entities"), list) and isinstance(value.get("relations"), list)


def _record(value: Record, file: str, index: int) -> Iterator[Found]:
    kind = value.get("type")
    if kind == "entity":
        name = _either(value, "name", "entityName", "id")
        if name:
            yield from _entity(value, name)
            return
        yield Problem("import.value", "the entity has no name", file, index=index)
    elif kind == "relation":
        start, end = _either(value, "from", "from_id"), _either(value, "to", "to_id")
        relation = _either(value, "relationType", "relation_type")
        if start and end and relation:
            ref = f"mcp-memory:{start}/{relation}/{end}"
            yield _item(f"{start} {relation.replace('_', ' ')} {end}", ref, (start, end), ("relation",))
            return
        yield Problem("import.value", "the relation lacks an end or its type", file, index=index)
    else:
        yield Problem("import.element", "it is neither an entity nor a relation", file, index=index)


def _entity(value: Record, name: str) -> Iterator[Item]:
    what = _either(value, "entityType", "entity_type")
    tags = strings([what])
    observations = strings(value.get("observations"))
    if not observations and what:
        yield _item(f"{name} is of the type {what}", f"mcp-memory:{name}", (name,), tags)
    for number, observation in enumerate(observations):
        head = "" if observation.casefold().startswith(name.casefold()) else name
        for order, named in enumerate(headed(head, observation, ": ")):
            ref = f"mcp-memory:{name}#{number}"
            yield _item(named, f"{ref}.{order}" if order else ref, (name,), tags)


def _item(content: str, ref: str, entities: tuple[str, ...], tags: tuple[str, ...]) -> Item:
    return Item(
        content=content,
        kind="claim",
        layer="semantic",
        entities=tuple(dict.fromkeys(entities)),
        tags=tags,
        provenance=Provenance(origin="import", ref=ref, author_class="agent"),
    )


def _either(value: dict[str, Any], *names: str) -> str:
    return next((text for name in names if (text := string(value.get(name)))), "")
