"""Invented conversations in the shapes of the exports."""

from __future__ import annotations

from typing import Any

START = 1_780_000_000.0


def said(role: str, text: str | None, **changes: Any) -> dict[str, Any]:
    """A message of ChatGPT's export."""
    content = {"content_type": "text", "parts": [text]}
    message: dict[str, Any] = {
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": START,
        "content": content,
        "status": "finished_successfully",
        "weight": 1.0,
        "metadata": {},
        "recipient": "all",
        "channel": None,
    }
    return message | changes


def chat(*messages: dict[str, Any] | None, **changes: Any) -> dict[str, Any]:
    """A conversation of ChatGPT's export whose messages follow one another."""
    mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    parent = "root"
    for number, message in enumerate(messages):
        name = f"n{number}"
        mapping[name] = {"id": name, "message": message, "parent": parent, "children": []}
        mapping[parent]["children"].append(name)
        parent = name
    conversation: dict[str, Any] = {
        "id": "c-1",
        "conversation_id": "c-1",
        "title": "Units",
        "create_time": START,
        "update_time": START + 60,
        "current_node": parent,
        "mapping": mapping,
    }
    return conversation | changes


def message(name: str, sender: str, text: str, parent: str | None = None, **changes: Any) -> dict[str, Any]:
    """A message of Claude.ai's export."""
    value: dict[str, Any] = {
        "uuid": name,
        "text": text,
        "content": [{"type": "text", "text": text, "citations": []}],
        "sender": sender,
        "created_at": "2026-09-01T08:00:00.123456Z",
        "attachments": [],
        "files": [],
    }
    return value | ({} if parent is None else {"parent_message_uuid": parent}) | changes


def talk(*messages: Any, **changes: Any) -> dict[str, Any]:
    """A conversation of Claude.ai's export."""
    value: dict[str, Any] = {
        "uuid": "11111111-1111-4111-8111-111111111111",
        "name": "",
        "summary": "",
        "created_at": "2026-09-01T08:00:00.000000Z",
        "updated_at": "2026-09-01T09:00:00.000000Z",
        "account": {"uuid": "a"},
        "chat_messages": list(messages),
    }
    return value | changes
