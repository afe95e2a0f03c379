"""PAM, the MCP server's graph, mem0 and Letta, with what their facts warn of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from segue.conversions.interchange import formats, letta, mcp_memory, mem0, pam
from segue.memories.item import Item
from segue.transcripts.conversation import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from segue.conversions.interchange.item import Found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file.json"


def write(path: Path, *values: Any) -> Path:
    path.write_bytes(b"\n".join(value if isinstance(value, bytes) else orjson.dumps(value) for value in values))
    return path


def parted(found: Iterable[Found]) -> tuple[list[Item], list[tuple[str, str]]]:
    listed = list(found)
    items = [item for item in listed if isinstance(item, Item)]
    return items, [(item.place, item.message) for item in listed if isinstance(item, Problem)]


def memory(name: str, content: str = "Text.", **more: Any) -> dict[str, Any]:
    value = {"id": name, "type": "fact", "content": content, "temporal": {"created_at": "2026-09-01T08:00:00Z"}}
    return value | {"provenance": {"platform": "claude"}} | more


def store(*memories: Any, **more: Any) -> dict[str, Any]:
    return {"schema": "portable-ai-memory", "owner": {"id": "a"}, "memories": list(memories), **more}


def test_pam_fields_are_taken_over(path: Path) -> None:
    full = memory(
        "m1",
        "  Prefers   Rye. ",
        type="custom",
        custom_type="taste",
        summary="Rye.",
        tags=["bread", "bread"],
        confidence={"initial": 0.9, "current": 0.4},
        temporal={
            "created_at": "2026-09-01T08:00:00+02:00",
            "valid_from": "2026-01-01T00:00:00Z",
            "valid_until": "2027-01-01T00:00:00Z",
        },
        provenance={"platform": "chatgpt", "extraction_method": "explicit_user_input"},
        content_hash=pam.content_hash("prefers rye."),
    )
    (item,), problems = parted(pam.read(write(path, store(full))))
    assert problems == []
    assert (item.content, item.summary, item.kind, item.layer) == ("Prefers   Rye.", "Rye.", "claim", "semantic")
    assert (item.tags, item.confidence) == (("custom", "taste", "bread"), 0.4)
    assert (item.occurred_at, item.valid_from) == ("2026-09-01T06:00:00Z", "2026-01-01T00:00:00Z")
    assert item.valid_to == "2027-01-01T00:00:00Z"
    assert (item.provenance.ref, item.provenance.author_class, item.provenance.author) == ("pam:m1", "user", "chatgpt")


def test_pam_hash_is_that_of_the_published_example() -> None:
    known = "sha256:42bdcb1ef8a06a402be9783b16b71e79364194e90c226552197716ba80499d8f"
    assert pam.content_hash("  prefers METRIC\n units.") == known


def test_pam_supersession_comes_from_both_ends_and_retired_ones_are_kept(path: Path) -> None:
    old = memory("old", status="superseded", temporal={"superseded_by": "new"})
    relations = [{"type": "supersedes", "from": "new", "to": name} for name in ("old", "older", "new")]
    relations.append({"type": "supports", "from": "new", "to": "x"})
    value = store(old, memory("new"), memory("older", status="retracted"), relations=relations)
    items, _ = parted(pam.read(write(path, value)))
    assert [(item.retired, item.supersedes) for item in items] == [
        (True, ()),
        (False, ("pam:old", "pam:older")),
        (True, ()),
    ]


def test_pam_damage_is_named(path: Path) -> None:
    items, problems = parted(
        pam.read(write(path, store(memory("a", content_hash="sha256:0"), None, memory(""), 5, memory("b"))))
    )
    assert [item.provenance.ref for item in items] == ["pam:a", "pam:b"]
    assert [place for place, _ in problems] == ["file.json[0]", "file.json[1]", "file.json[2]", "file.json[3]"]
    assert "does not match" in problems[0][1]


def test_pam_without_memories_is_said(path: Path) -> None:
    assert parted(pam.read(write(path, {"schema": "portable-ai-memory"})))[1] == [
        ("file.json[0]", "the memory has no id or no content")
    ]
    assert parted(pam.read(path.with_name("none.json")))[1][0][0] == "none.json"


def test_the_graph_of_the_mcp_server(path: Path) -> None:
    items, problems = parted(
        mcp_memory.read(
            write(
                path,
                {
                    "type": "entity",
                    "name": "Ana",
                    "entityType": "person",
                    "observations": ["likes rye", "Ana bakes", 3],
                },
                {"type": "entity", "entityName": "Shop", "entityType": "project"},
                {"type": "relation", "from_id": "Ana", "to_id": "Shop", "relation_type": "works_at"},
                b'{"type": "entity", "name":',
            )
        )
    )
    assert [(item.content, item.entities, item.tags) for item in items] == [
        ("Ana: likes rye", ("Ana",), ("person",)),
        ("Ana bakes", ("Ana",), ("person",)),
        ("Shop is of the type project", ("Shop",), ("project",)),
        ("Ana works at Shop", ("Ana", "Shop"), ("relation",)),
    ]
    assert problems == [("file.json[3]", "the file ends inside it")]


def test_the_saved_answer_of_read_graph(path: Path) -> None:
    graph = {
        "entities": [{"name": "Ana", "observations": ["likes rye"]}, {"observations": ["x"]}, 7],
        "relations": [{"from": "Ana", "to": "Shop", "relationType": "owns"}, {"from": "Ana"}],
    }
    items, problems = parted(mcp_memory.read(write(path, graph)))
    assert [item.content for item in items] == ["Ana: likes rye", "Ana owns Shop"]
    assert [place for place, _ in problems] == [
        "file.json/entities[1]",
        "file.json/entities[2]",
        "file.json/relations[1]",
    ]


def test_a_line_that_is_neither_is_named(path: Path) -> None:
    assert parted(mcp_memory.read(write(path, {"type": "other"}, {"type": "relation", "from": "a"})))[1] == [
        ("file.json[0]", "it is neither an entity nor a relation"),
        ("file.json[1]", "the relation lacks an end or its type"),
    ]


@pytest.mark.parametrize("bare", [True, False])
def test_mem0_answers(path: Path, bare: bool) -> None:
    results = [
        {
            "id": "1",
            "memory": "Likes rye",
            "user_id": "ana",
            "metadata": None,
            "categories": None,
            "created_at": "2026-09-01T01:00:00.000000-07:00",
        },
        {
            "id": "2",
            "memory": "Chose rye",
            "metadata": {"type": "decision", "confidence": "high", "project": "shop"},
            "categories": ["food"],
            "created_at": None,
        },
        {"id": "3", "memory": None},
    ]
    items, problems = parted(mem0.read(write(path, results if bare else {"count": 3, "results": results})))
    assert [(item.content, item.kind, item.layer, item.tags) for item in items] == [
        ("Likes rye", "claim", "semantic", ()),
        ("Chose rye", "decision", "decision", ("food", "decision")),
    ]
    assert (items[0].occurred_at, items[0].provenance.author) == ("2026-09-01T08:00:00Z", "ana")
    assert (items[1].occurred_at, items[1].confidence, items[1].project) == (None, 0.9, "shop")
    assert problems == [("file.json[2]", "it has no text under `memory`")]


def test_mem0_relations_of_the_graph_store(path: Path) -> None:
    relations = [{"source": "ana", "relationship": "works_at", "target": "shop"}, {"source": "x"}, None]
    items, _ = parted(mem0.read(write(path, {"results": [{"id": "1", "memory": "Bakes"}], "relations": relations})))
    assert [item.content for item in items] == ["Bakes", "ana works at shop"]


def test_mem0_markdown_with_a_rule_inside_a_text(tmp_path: Path) -> None:
    path = tmp_path / "mem0-export-shop-2026-09-01.md"
    head = "---\nid: {}\ncreated_at: 2026-09-01T08:00:00Z\ntype: {}\nconfidence: 0.8\n"
    head += "branch: \nfiles: a.py, b.py\ncategories: food, work\n---\n"
    path.write_text(
        head.format("1", "decision")
        + "One.\n\n---\n\nStill one.\n"
        + head.format("2", "")
        + "\n"
        + head.format("3", "x")
        + "Three."
    )
    assert mem0.is_markdown(path.read_text())
    items, problems = parted(mem0.read(path))
    assert [(item.content, item.kind, item.tags, item.confidence) for item in items] == [
        ("One.\n\n---\n\nStill one.", "decision", ("food", "work", "decision"), 0.8),
        ("Three.", "claim", ("food", "work", "x"), 0.8),
    ]
    assert problems == [("mem0-export-shop-2026-09-01.md:15", "the memory has no text")]


def test_letta_blocks_and_messages_and_nothing_else(path: Path) -> None:
    messages = [
        {"id": "message-0", "role": "system", "content": "You are."},
        {
            "id": "message-1",
            "role": "user",
            "content": [{"type": "text", "text": "Rye?"}],
            "created_at": "2026-09-01T08:00:00Z",
        },
        {"id": "message-2", "role": "assistant", "content": "Yes.", "created_at": None},
        {"id": "message-3", "role": "user", "content": '{"type": "heartbeat", "reason": "x"}'},
        {"id": "message-4", "role": "user", "content": '{"type": "user_message", "message": "Thanks."}'},
        {
            "id": "message-5",
            "role": "assistant",
            "content": None,
            "tool_calls": [{"function": {"name": "send_message", "arguments": '{"message": "Sure."}'}}],
        },
        {"id": "message-6", "role": "tool", "content": "done"},
        None,
    ]
    agent = {
        "id": "agent-0",
        "name": "helper",
        "block_ids": ["block-1"],
        "messages": messages,
        "tool_exec_environment_variables": [{"key": "K", "value": "hidden value"}],
    }
    blocks = [
        {"id": "block-0", "label": "persona", "value": "Calm."},
        {"id": "block-1", "label": "human", "value": "Bakes rye.\n\nLives in Oslo."},
        {"id": "block-2", "label": "human", "value": None},
    ]
    value = {
        "agents": [agent],
        "blocks": blocks,
        "tools": [{"source_code": "hidden value"}],
        "created_at": "2026-09-01T08:00:00Z",
    }
    items, problems = parted(letta.read(write(path, value)))
    assert [(item.content, item.layer, item.provenance.author) for item in items[:3]] == [
        ("Calm.", "style", ""),
        ("Bakes rye.", "semantic", "helper"),
        ("Lives in Oslo.", "semantic", "helper"),
    ]
    assert [(item.content, item.provenance.author_class, item.position) for item in items[3:]] == [
        ("Rye?", "user", 0),
        ("Yes.", "agent", 1),
        ("Thanks.", "user", 2),
        ("Sure.", "agent", 3),
    ]
    assert {item.thread for item in items[3:]} == {"letta:agent-0"}
    assert problems == [
        ("file.json/blocks[2]", "the block has no value"),
        ("file.json/agent-0/messages[7]", "it is no JSON object"),
    ]
    assert "hidden" not in str(items)


def test_letta_of_2025(path: Path) -> None:
    value = {
        "name": "old",
        "core_memory": [{"label": "human", "value": "Bakes."}],
        "messages": [{"role": "user", "content": "Hi."}],
    }
    items, _ = parted(letta.read(write(path, value)))
    assert [(item.content, item.provenance.ref) for item in items] == [
        ("Bakes.", "letta:block-0#0"),
        ("Hi.", "letta:old/0#0"),
    ]
    assert parted(letta.read(write(path, {"x": 1})))[1] == [("file.json[0]", "it is no agent file")]


_SAID = b'{"uuid": "%s", "chat_messages": [{"sender": "human", "text": "%s"}]}'


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("memories.json", b'{"results": [{"id": "1", "memory": "Rye."}, {"id": "2", "memory": "caf\xe9"}]}'),
        (
            "memory-store.json",
            b'{"memories": [{"id": "1", "content": "Rye.", "temporal": {}}, {"id": "2", "content": "caf\xe9"}]}',
        ),
        (
            "conversations.json",
            b"[" + b", ".join(_SAID % (text, text) for text in (b"Rye.", b"caf\xe9", b"th\xe9")) + b"]",
        ),
    ],
    ids=["mem0", "pam", "claude"],
)
def test_bytes_that_are_no_utf_8_are_said_once_for_a_file(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    found = list(formats.read_items(path))
    (problem,) = [each for each in found if isinstance(each, Problem)]
    assert (problem.code, problem.place, "UTF-8" in problem.message) == ("import.value", f"{name}[1]", True)
    assert any(isinstance(each, Item) and each.content == "caf\ufffd" for each in found)
    path.write_bytes(data.replace(b"\xe9", "\ufffd".encode()))
    assert not [each for each in formats.read_items(path) if isinstance(each, Problem)]
