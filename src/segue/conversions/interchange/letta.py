"""Reader of Letta's agent files, `.af` (section 8.5 of the host facts), and of their form of 2025 with `core_memory`.

Taken are the memory blocks, a paragraph each, and what was said in the messages; never tools, environment variables
or settings of servers. Unverified: the 2025 form, and messages that wrap their text in JSON or in a call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from segue.conversions.interchange import source
from segue.conversions.interchange.item import Found, pieces, string, strings
from segue.memories.item import AuthorClass, Item, Kind, Layer, Provenance
from segue.transcripts import moments
from segue.transcripts.conversation import Problem
from segue.transcripts.own import without_own

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from segue.transcripts.lines import Record

_LABELS: dict[str, tuple[Kind, Layer]] = {"persona": ("style", "style"), "human": ("claim", "semantic")}
_SPEAKERS: dict[str, AuthorClass] = {"user": "user", "assistant": "agent"}
_WRAPPED = ("user_message",)


def is_agent_file(value: Record) -> bool:
    """Whether `value` is an agent file, of either form."""
    return (isinstance(value.get("agents"), list) and isinstance(value.get("blocks"), list)) or isinstance(
        value.get("core_memory"), list
    )


def read(path: Path) -> Iterator[Found]:
    """Yield the memory blocks and messages of the agent file at `path`."""
    for element in source.elements(path):
        if isinstance(element, Problem):
            yield element
        elif element.value is not None and is_agent_file(element.value):
            yield from _file(element.value, path.name)
        else:
            yield Problem("import.element", "it is no agent file", path.name, index=element.index)


def _file(value: Record, file: str) -> Iterator[Found]:
    at = moments.from_iso(value.get("created_at"))
    if isinstance(value.get("core_memory"), list):
        yield from _blocks(value["core_memory"], f"{file}/core_memory", string(value.get("name")), at)
        yield from _messages(value, string(value.get("name")) or "agent", f"{file}/messages")
        return
    agents = [agent for agent in value["agents"] if isinstance(agent, dict)]
    owners = {
        block: string(agent.get("name")) for agent in reversed(agents) for block in strings(agent.get("block_ids"))
    }
    for number, block in enumerate(value["blocks"]):
        owner = owners.get(string(block.get("id")), "") if isinstance(block, dict) else ""
        yield from _blocks([block], f"{file}/blocks", owner, at, number)
    for agent in agents:
        name = string(agent.get("id")) or string(agent.get("name")) or "agent"
        yield from _messages(agent, name, f"{file}/{name}/messages")


def _blocks(blocks: list[Any], file: str, agent: str, at: str | None, first: int = 0) -> Iterator[Found]:
    for number, block in enumerate(blocks, first):
        if not isinstance(block, dict) or not isinstance(block.get("value"), str):
            yield Problem("import.value", "the block has no value", file, index=number)
            continue
        label = string(block.get("label"))
        kind, layer = _LABELS.get(label, ("claim", "semantic"))
        ref = f"letta:{string(block.get('id')) or f'block-{number}'}"
        for order, text in enumerate(_paragraphs(block["value"])):
            yield Item(
                content=text,
                kind=kind,
                layer=layer,
                tags=strings([label]),
                occurred_at=at,
                provenance=Provenance(origin="import", ref=f"{ref}#{order}", author_class="agent", author=agent),
            )


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in without_own(text).split("\n\n"):
        yield from pieces(paragraph)


def _messages(agent: Record, name: str, file: str) -> Iterator[Found]:
    messages = agent.get("messages")
    position = 0
    for number, message in enumerate(messages if isinstance(messages, list) else []):
        if not isinstance(message, dict):
            yield Problem("import.element", "it is no JSON object", file, index=number)
            continue
        author_class = _SPEAKERS.get(string(message.get("role")))
        if author_class is None:
            continue
        for text in pieces(without_own(_spoken(message))):
            yield Item(
                content=text,
                kind="observation",
                layer="episodic",
                occurred_at=moments.from_iso(message.get("created_at")),
                thread=f"letta:{name}",
                position=position,
                provenance=Provenance(
                    origin="import",
                    ref=f"letta:{name}/{string(message.get('id')) or number}#{position}",
                    author_class=author_class,
                    author=string(agent.get("name")) if author_class == "agent" else "",
                ),
            )
            position += 1


def _spoken(message: Record) -> str:
    content = message.get("content")
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
        content = "\n\n".join(string(part.get("text")) for part in parts)
    text = string(content)
    if message.get("role") == "user":
        return _unwrapped(text)
    return "\n\n".join(filter(None, [text, *_sent(message)]))


def _unwrapped(text: str) -> str:
    """The text inside a wrapper that the server put around a message; what it wrote itself is nothing that was said."""
    wrapper = _object(text)
    if wrapper is None or "type" not in wrapper:
        return text
    return string(wrapper.get("message")) if wrapper["type"] in _WRAPPED else ""


def _sent(message: Record) -> Iterator[str]:
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict) and function.get("name") == "send_message":
            arguments = _object(function.get("arguments"))
            yield string(arguments.get("message")) if arguments else ""


def _object(text: Any) -> dict[str, Any] | None:
    if not isinstance(text, str) or not text.startswith("{"):
        return None
    try:
        value = orjson.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
