"""Recorded sessions as conversations: what was said, nothing that was taken back, nothing of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from segue.transcripts.conversation import Conversation, Problem
from segue.transcripts.exports import read_conversations

FIXTURES = Path(__file__).parent.parent / "conversions" / "fixtures"


def line(kind: str, content: Any, name: str, parent: str | None, **more: Any) -> bytes:
    record = {"type": kind, "uuid": name, "parentUuid": parent, "sessionId": "s-1", "cwd": "/home/ana/shop"}
    return (
        orjson.dumps(record | {"timestamp": "2026-09-01T08:00:00.000Z", "message": {"content": content}} | more) + b"\n"
    )


def only(path: Path) -> Conversation:
    (found,) = (item for item in read_conversations(path) if isinstance(item, Conversation))
    return found


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.jsonl")), ids=lambda path: path.stem)
def test_every_recorded_session_is_a_conversation(path: Path) -> None:
    found = only(path)
    assert found.origin == ("codex" if path.stem.startswith("codex") else "claude-code")
    assert found.turns
    assert {turn.thread for turn in found.turns} == {found.id}
    assert {turn.role for turn in found.turns} == {"user", "assistant"}


def test_a_session_without_its_tools_and_without_what_was_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "7d3c.jsonl"
    call = [{"type": "text", "text": "I look."}, {"type": "tool_use", "id": "t", "name": "Read", "input": {}}]
    path.write_bytes(
        line("user", "Use tabs.", "u1", None)
        + line("assistant", call, "a1", "u1")
        + line("user", [{"type": "tool_result", "tool_use_id": "t", "content": "file"}], "r1", "a1")
        + line("user", "Wrong turn.", "u2", "r1")
        + line("assistant", "Wrong answer.", "a2", "u2")
        + line("user", "Better turn.", "u3", "r1")
        + b"{cut"
    )
    found = only(path)
    assert [(turn.position, turn.role, turn.text) for turn in found.turns] == [
        (0, "user", "Use tabs."),
        (1, "assistant", "I look."),
        (2, "user", "Better turn."),
    ]
    assert (found.id, found.project, found.created) == ("s-1", "shop", "2026-09-01T08:00:00Z")
    problems = [item for item in read_conversations(path) if isinstance(item, Problem)]
    assert [(item.code, item.place) for item in problems] == [("import.element", "7d3c.jsonl")]


def test_blocks_of_our_own_are_dropped(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    capsule = "===PCSF:v1===\nMETA: a | b | DEEP | 2026-09-01T08:00Z\n===END==="
    path.write_bytes(line("user", capsule, "u1", None) + line("user", f"Go on.\n{capsule}", "u2", "u1"))
    assert [turn.text for turn in only(path).turns] == ["Go on."]


def test_a_folder_of_sessions_and_a_file_of_no_agent(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(line("user", "One.", "u1", None))
    (tmp_path / "b.jsonl").write_bytes(b'{"x": 1}\n')
    found = list(read_conversations(tmp_path))
    assert isinstance(found[0], Conversation)
    assert found[1] == Problem("import.read", "it is no transcript of a known agent", "b.jsonl")
