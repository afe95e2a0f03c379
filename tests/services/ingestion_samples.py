"""Small invented files of every format that becomes memories, and a long conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from pathlib import Path

START = 1_780_000_000.0
CAPSULE = (
    "===PCSF:v1.2===\nMETA: Bread | baking | WORKING | 2026-09-01T08:00Z\n\nL1:SKELETON\nCHOICE | Rye | It keeps\n\n"
    "L2:NEGATIVE\n\nL3:INTERNAL\n\nL4:RELATION\n\nL5:LOOPS\n\nSEED: Bake rye.\n===END===\n"
)
BASIC = b"""---
title: Bread
type: note
permalink: bread
---
# Bread

Keep it dry.

- [preference] Rye only #rye
- part_of [[Shop]]
"""
PACKET: dict[str, Any] = {
    "ltm_version": "0.2",
    "id": "01J9ZZ8Q4M3T7W5X2Y6B1C0D9E",
    "created_at": "2026-09-01T08:00:00Z",
    "goal": "Move the bakery.",
    "next_step": "Measure the oven.",
    "constraints": ["The oven stays under 300 degrees."],
    "decisions": [{"what": "Bake rye first.", "why": "It keeps."}, {"what": "Close on Mondays.", "why": "Rest."}],
    "attempts": [
        {"tried": "Gas.", "outcome": "failed", "learned": "Too hot."},
        {"tried": "Wood.", "outcome": "succeeded", "learned": "Even heat."},
    ],
    "open_questions": ["Who delivers the flour?"],
}


def packet(**changes: Any) -> bytes:
    return orjson.dumps(PACKET | changes)


def chat(turns: list[str], name: str = "c-1") -> dict[str, Any]:
    """A conversation of ChatGPT's export: the user and the assistant in turn."""
    mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    parent = "root"
    for number, text in enumerate(turns):
        key = f"n{number}"
        message = {
            "author": {"role": "assistant" if number % 2 else "user"},
            "create_time": START + number,
            "content": {"content_type": "text", "parts": [text]},
            "weight": 1.0,
            "recipient": "all",
        }
        mapping[key] = {"id": key, "message": message, "parent": parent, "children": []}
        mapping[parent]["children"].append(key)
        parent = key
    return {"id": name, "title": None, "create_time": START, "current_node": parent, "mapping": mapping}


def long_chat(turns: int) -> bytes:
    """Turns of which some repeat word for word, in three conversations."""
    texts = [f"Turn {number} asks about loaf {number % 97} and oven {number % 7}." for number in range(turns)]
    texts[5::50] = ["Yes."] * len(texts[5::50])
    third = turns // 3
    parts = [texts[:third], texts[third : 2 * third], texts[2 * third :]]
    return orjson.dumps([chat(part, f"c-{number}") for number, part in enumerate(parts)])


def talk(*texts: str, name: str = "t-1") -> dict[str, Any]:
    """A conversation of Claude.ai's export."""
    messages = [
        {
            "uuid": f"m{number}",
            "text": text,
            "content": [{"type": "text", "text": text}],
            "sender": "assistant" if number % 2 else "human",
            "created_at": "2026-09-01T08:00:00Z",
        }
        for number, text in enumerate(texts)
    ]
    return {"uuid": name, "name": "", "created_at": "2026-09-01T08:00:00Z", "chat_messages": messages}


def session(*texts: str) -> bytes:
    """A session of Claude Code."""
    lines, parent = [], None
    for number, text in enumerate(texts):
        record = {
            "type": "assistant" if number % 2 else "user",
            "uuid": f"u{number}",
            "parentUuid": parent,
            "sessionId": "s-1",
            "cwd": "/srv/shop",
            "timestamp": "2026-09-01T08:00:00.000Z",
            "message": {"content": [{"type": "text", "text": text}] if number % 2 else text},
        }
        lines.append(orjson.dumps(record))
        parent = record["uuid"]
    return b"\n".join(lines) + b"\n"


def codex(*texts: str) -> bytes:
    """A session of Codex."""
    lines = []
    for number, text in enumerate(texts):
        role, kind = ("assistant", "output_text") if number % 2 else ("user", "input_text")
        payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        lines.append(orjson.dumps({"timestamp": "2026-09-01T08:00:00Z", "type": "response_item", "payload": payload}))
    return b"\n".join(lines) + b"\n"


def pam(*memories: dict[str, Any], **more: Any) -> bytes:
    whole = [
        {"type": "fact", "temporal": {"created_at": "2026-09-01T08:00:00Z"}, "provenance": {"platform": "claude"}}
        | each
        for each in memories
    ]
    return orjson.dumps({"schema": "portable-ai-memory", "owner": {"id": "ana"}, "memories": whole, **more})


def letta(*values: str) -> bytes:
    blocks = [{"id": f"block-{number}", "label": "human", "value": each} for number, each in enumerate(values)]
    messages = [{"id": "message-0", "role": "user", "content": [{"type": "text", "text": "Rye, please."}]}]
    agents = [{"id": "agent-0", "name": "Baker", "block_ids": ["block-0"], "messages": messages}]
    return orjson.dumps({"agents": agents, "blocks": blocks, "created_at": None})


def mem0(*texts: str) -> bytes:
    return orjson.dumps({"results": [{"id": str(number), "memory": text} for number, text in enumerate(texts)]})


def graph(*observations: str) -> bytes:
    return (
        orjson.dumps({"type": "entity", "name": "Ana", "entityType": "person", "observations": list(observations)})
        + b"\n"
        + orjson.dumps({"type": "relation", "from": "Ana", "to": "Shop", "relationType": "owns"})
        + b"\n"
    )


# The name of the file, what is in it, how many memories that makes, and one of their texts.
SAMPLES: dict[str, tuple[str, bytes, int, str]] = {
    "chatgpt": ("conversations.json", orjson.dumps([chat(["Rye?", "Yes.", "Sure?", "Yes."])]), 4, "Rye?"),
    "claude": ("conversations.json", orjson.dumps([talk("Rye?", "Yes.", "Sure?", "Yes.")]), 4, "Sure?"),
    "claude-code": ("7d3c.jsonl", session("Use tabs.", "I do.", "Rye?", "Yes."), 4, "Use tabs."),
    "codex": ("rollout.jsonl", codex("Use tabs.", "I do.", "Rye?", "Yes."), 4, "I do."),
    "pam": ("memory-store.json", pam({"id": "a", "content": "Rye."}, {"id": "b", "content": "Oats."}), 2, "Oats."),
    "basic-memory": (
        "bread.md",
        BASIC,
        3,
        "Rye only #rye",
    ),
    "mcp-memory": ("memory.jsonl", graph("likes rye", "bakes"), 3, "Ana: likes rye"),
    "mem0": ("mem0.json", mem0("Likes rye", "Bakes"), 2, "Likes rye"),
    "letta": ("baker.af", letta("Likes rye.\n\nBakes on Sundays."), 3, "Bakes on Sundays."),
    "packet": ("packet.json", packet(), 8, "The oven stays under 300 degrees."),
    "capsule": ("work.pcsf", CAPSULE.encode(), 2, "Rye\nWhy: It keeps"),
    "markdown": ("bread.md", b"# Rye\n\nRye keeps.\n\n## Oats\n\nOats do not.\n", 2, "Rye\n\nRye keeps."),
}


def written(folder: Path, form: str) -> Path:
    """Write the sample of a format and return its path."""
    name, data, _, _ = SAMPLES[form]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)
    return folder / name
