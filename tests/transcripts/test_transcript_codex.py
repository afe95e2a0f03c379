"""Codex rollouts: the current format and the flat one of 2025."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orjson
import pytest

from segue.transcripts import tools
from segue.transcripts.events import AgentText, Event, Meta, RolledBack, Todo, Todos, ToolCall, ToolResult, UserText
from segue.transcripts.reader import read, read_file

FIXTURES = Path(__file__).parent.parent / "conversions" / "fixtures"


def row(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": "2026-09-01T08:00:00.000Z", "type": kind, "payload": payload}


def item(role: str, text: str) -> dict[str, Any]:
    part = "input_text" if role == "user" else "output_text"
    return row("response_item", {"type": "message", "role": role, "content": [{"type": part, "text": text}]})


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return row("event_msg", {"type": kind, **fields})


def called(name: str, arguments: Any, call: str = "c1") -> dict[str, Any]:
    fields = {"type": "function_call", "name": name, "arguments": json.dumps(arguments), "call_id": call}
    return row("response_item", fields)


def returned(output: Any, call: str = "c1") -> dict[str, Any]:
    return row("response_item", {"type": "function_call_output", "call_id": call, "output": output})


def events_of(*records: Any) -> list[Event]:
    return list(read((orjson.dumps(record) + b"\n" for record in records), "codex"))


def spoken(*records: Any) -> list[str]:
    return [told.text for told in events_of(*records) if isinstance(told, UserText | AgentText)]


def test_each_message_is_told_once_in_either_order() -> None:
    told = spoken(
        item("user", "Go."),
        event("user_message", message="Go."),
        event("agent_message", message="Gone."),
        item("assistant", "Gone."),
    )
    assert told == ["Go.", "Gone."]


def test_the_same_words_said_twice_are_told_twice() -> None:
    both = (item("user", "continue"), event("user_message", message="continue"))
    assert spoken(*both, *both, *both) == ["continue"] * 3


def test_messages_that_exist_only_as_event_or_only_as_item_are_told() -> None:
    assert spoken(event("agent_message", message="Narration."), item("assistant", "Answer.")) == [
        "Narration.",
        "Answer.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "# AGENTS.md instructions for /home/ana/shop\n\nx",
        "<environment_context>\n<cwd>/home/ana/shop</cwd>\n</environment_context>",
        "<user_instructions>x</user_instructions>",
        "<permissions instructions>x",
        "<turn_aborted>\nstopped\n</turn_aborted>",
        "<subagent_notification>{}</subagent_notification>",
    ],
)
def test_scaffolding_is_no_human_speech(text: str) -> None:
    assert spoken(item("user", text), event("user_message", message=text)) == []


@pytest.mark.parametrize("role", ["developer", "system", "tool", None])
def test_other_roles_are_not_told(role: Any) -> None:
    assert spoken(item(role, "Obey.")) == []


def test_reasoning_and_summaries_are_not_told() -> None:
    reasoning = row("response_item", {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]})
    compacted = row("compacted", {"message": "Summary.", "replacement_history": [item("user", "x")["payload"]]})
    assert spoken(reasoning, event("agent_reasoning", text="hm"), compacted) == []


def test_an_editor_preamble_is_cut_off() -> None:
    text = "# Context from my IDE setup:\n\n## Active file: a.py\n\n## My request for Codex:\nFix it all.\n"
    assert spoken(item("user", text)) == ["Fix it all."]
    assert spoken(item("user", "# Files mentioned by the user:\n\n## a.png: x\n\n## My request:\nLook.")) == ["Look."]
    assert spoken(item("user", "# Heading of mine\n\nText.")) == ["# Heading of mine\n\nText."]


def test_the_first_head_counts_and_the_directory_may_move() -> None:
    told = events_of(
        row("session_meta", {"id": "s1", "cwd": "/home/ana/shop", "timestamp": "t", "git": {"branch": "b1"}}),
        row("session_meta", {"id": "s0", "cwd": "/home/ana/old", "git": {"branch": "b0"}}),
        row("turn_context", {"cwd": "/home/ana/shop/web", "model": "gpt-x"}),
        event("thread_name_updated", thread_name="Name"),
    )
    assert next(meta.cwd for meta in told if isinstance(meta, Meta)) == "/home/ana/shop"
    last = told[-1]
    assert isinstance(last, Meta)
    assert (last.session, last.branch, last.cwd) == ("s1", "b1", "/home/ana/shop/web")
    assert (last.model, last.title) == ("gpt-x", "Name")


def test_a_rollback_is_told() -> None:
    assert RolledBack(2) in events_of(event("thread_rolled_back", num_turns=2))
    assert not any(isinstance(told, RolledBack) for told in events_of(event("thread_rolled_back", num_turns="x")))


@pytest.mark.parametrize(
    ("output", "ok", "exit_code"),
    [
        ("Chunk ID: a\nWall time: 1.0 seconds\nProcess exited with code 0\nOutput:\nx", True, 0),
        ("Exit code: 3\nWall time: 0.1 seconds\nOutput:\nExit code: 0", False, 3),
        ("Wall time: 0.1 seconds\nOutput:\nProcess exited with code 1", None, None),
        (json.dumps({"output": "boom", "metadata": {"exit_code": 2, "duration_seconds": 0.1}}), False, 2),
        ({"content": "x", "success": False}, False, None),
        ({"content": [{"type": "input_text", "text": "Process exited with code 0"}], "success": True}, True, 0),
        ([{"type": "input_text", "text": "Exit code: 1"}], False, 1),
        ("{not json", None, None),
        ("apply_patch verification failed: no such line", False, None),
        (None, None, None),
        (12, None, None),
    ],
)
def test_how_a_command_ended(output: Any, ok: bool | None, exit_code: int | None) -> None:
    told = events_of(called("exec_command", {"cmd": "make"}), returned(output))
    outcome = next(told for told in told if isinstance(told, ToolResult))
    assert (outcome.ok, outcome.exit_code) == (ok, exit_code)


def test_a_command_that_goes_on_in_the_background_ends_with_its_last_poll() -> None:
    told = list(read_file(FIXTURES / "codex-background.jsonl"))
    commands = {told.call: tools.command(told) for told in told if isinstance(told, ToolCall)}
    ended = {commands[told.call]: told.exit_code for told in told if isinstance(told, ToolResult)}
    assert ended["cargo test --workspace"] == 101
    assert ended["cargo test -p price"] == 0


def test_step_plans_are_lists() -> None:
    told = events_of(called("update_plan", {"plan": [{"step": "A", "status": "in_progress"}, {"status": "pending"}]}))
    assert [todos.items for todos in told if isinstance(todos, Todos)] == [(Todo("A", "in_progress"),)]


@pytest.mark.parametrize(
    ("name", "arguments", "command"),
    [
        ("exec_command", {"cmd": "ls -l"}, "ls -l"),
        ("shell", {"command": ["bash", "-lc", "cd a && ls"]}, "cd a && ls"),
        ("shell", {"command": ["ls", "a b"]}, "ls 'a b'"),
        ("shell", {"command": "ls"}, "ls"),
        ("local_shell", {"command": ["ls"]}, "ls"),
        ("shell", {"command": [1]}, None),
        ("shell", {"command": ["apply_patch", "*** Begin Patch\n*** End Patch"]}, None),
        ("web_search", {"command": "ls"}, None),
    ],
)
def test_commands(name: str, arguments: dict[str, Any], command: str | None) -> None:
    assert tools.command(ToolCall("c", name, arguments)) == command


def test_files_of_patches_in_all_forms() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@\n*** Add File: c.py\n*** End Patch"
    custom = row("response_item", {"type": "custom_tool_call", "name": "apply_patch", "input": patch, "call_id": "c"})
    function = called("apply_patch", {"input": patch})
    shell = called("shell", {"command": ["apply_patch", patch]})
    heredoc = called("exec_command", {"cmd": f"apply_patch <<'EOF'\n{patch}\nEOF"})
    for record in (custom, function, shell, heredoc):
        call = next(told for told in events_of(record) if isinstance(told, ToolCall))
        assert tools.files(call) == ("a.py", "b.py", "c.py")


def test_local_shell_calls() -> None:
    action = {"type": "exec", "command": ["bash", "-lc", "make"], "timeout_ms": None}
    record = row("response_item", {"type": "local_shell_call", "call_id": "c", "status": "completed", "action": action})
    call = next(told for told in events_of(record) if isinstance(told, ToolCall))
    assert tools.command(call) == "make"


def test_the_flat_format_of_2025() -> None:
    told = list(read_file(FIXTURES / "codex-flat.jsonl"))
    assert [type(event).__name__ for event in told if not isinstance(event, Meta)] == [
        "UserText",
        *("ToolCall", "ToolResult") * 3,
        "AgentText",
    ]
    last = told[-1]
    assert isinstance(last, Meta)
    assert (last.cwd, last.started, last.branch) == ("/home/ana/shop", "2025-06-10T08:00:00.000Z", "main")


@pytest.mark.parametrize(
    "record",
    [
        row("response_item", {"type": "message", "role": "user", "content": [None, 3, {"text": 4}]}),
        row("response_item", {"type": "function_call", "name": "x", "arguments": "{oops", "call_id": 4}),
        row("response_item", {"type": "function_call_output"}),
        row("event_msg", {"type": "user_message", "message": None}),
        row("turn_context", {"cwd": 4}),
        row("world_state", {"x": 1}),
        {"payload": "x", "type": 3},
        {},
    ],
)
def test_malformed_lines_say_nothing(record: Any) -> None:
    assert [told for told in events_of(record) if not isinstance(told, Meta)] == []
