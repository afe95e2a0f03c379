"""Claude Code transcripts: what becomes an event, what is dropped, how branches and compactions are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from segue.packets.resume import TITLE
from segue.transcripts import tools
from segue.transcripts.events import (
    AgentText,
    Event,
    Meta,
    Plan,
    RolledBack,
    Todo,
    Todos,
    ToolCall,
    ToolResult,
    UserText,
)
from segue.transcripts.reader import read, read_file

FIXTURES = Path(__file__).parent.parent / "conversions" / "fixtures"
SESSION = "7d3c1a52-0c1e-4a39-9a57-0d6f5d3f1b11"


def line(kind: str, message: Any = None, **fields: Any) -> dict[str, Any]:
    record: dict[str, Any] = {"type": kind, "sessionId": SESSION, **fields}
    if message is not None:
        record["message"] = message
    return record


def human(text: Any, **fields: Any) -> dict[str, Any]:
    return line("user", {"role": "user", "content": text}, **fields)


def agent(*blocks: Any, message: str = "m1", **fields: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    return line("assistant", {"id": message, "role": "assistant", "model": "claude-x", "content": content}, **fields)


def call(name: str, arguments: Any, identifier: str = "t1") -> dict[str, Any]:
    return agent({"type": "tool_use", "id": identifier, "name": name, "input": arguments})


def result(content: Any, identifier: str = "t1", **fields: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": identifier, "content": content, **fields.pop("block", {})}
    return human([block], **fields)


def events_of(*records: Any) -> list[Event]:
    return list(read((orjson.dumps(record) + b"\n" for record in records), "claude-code"))


def spoken(*records: Any) -> list[str]:
    return [event.text for event in events_of(*records) if isinstance(event, UserText | AgentText)]


def test_the_parts_of_a_session_become_events_in_order() -> None:
    kinds = [type(event).__name__ for event in read_file(FIXTURES / "claude-coupons.jsonl")]
    told = [kind for kind in kinds if kind != "Meta"]
    assert told[:8] == [
        "UserText",
        "AgentText",
        "ToolCall",
        "ToolResult",
        "Todos",
        "ToolResult",
        "ToolCall",
        "ToolResult",
    ]
    assert kinds[-1] == "Meta"
    assert kinds.count("UserText") == 2


def test_the_last_meta_is_complete() -> None:
    *_, meta = read_file(FIXTURES / "claude-coupons.jsonl")
    assert isinstance(meta, Meta)
    assert (meta.host, meta.title, meta.cwd) == ("claude-code", "Coupon codes in the checkout", "/home/ana/shop")
    assert (meta.branch, meta.model, meta.skipped) == ("feature/coupon-codes", "claude-x-5", 0)
    assert meta.started is not None
    assert meta.ended is not None
    assert meta.started < meta.ended


@pytest.mark.parametrize(
    "text",
    [
        "<local-command-stdout>done</local-command-stdout>",
        "<local-command-caveat>Caveat</local-command-caveat>",
        "<command-name>/clear</command-name>\n<command-message>clear</command-message>",
        "<command-message>review</command-message>\n<command-name>/review</command-name>",
        "<command-args>x</command-args>",
        "<session-start-hook>hello</session-start-hook>",
        "<tick>1</tick>",
        "<goal>stand still</goal>",
        "<task-notification>a task ended</task-notification>",
        "[Request interrupted by user]",
        "[Request interrupted by user for tool use]",
        "<ide_opened_file>The user opened a.py.</ide_opened_file>",
        "<ide_selection>x = 1</ide_selection>",
        "<system-reminder>be kind</system-reminder>",
        "<system-reminder>never closed",
        "   ",
    ],
)
def test_what_the_host_writes_is_no_human_speech(text: str) -> None:
    assert spoken(human(text)) == []
    assert spoken(human([{"type": "text", "text": text}])) == []


@pytest.mark.parametrize(
    "marks",
    [{"isMeta": True}, {"isSidechain": True}, {"teamName": "t"}, {"isCompactSummary": True}],
)
def test_marked_lines_are_no_human_speech(marks: dict[str, Any]) -> None:
    assert spoken(human("Build the shop.", **marks)) == []


def test_reminders_are_cut_out_of_what_a_human_wrote() -> None:
    text = "Add a<system-reminder>x</system-reminder> basket.<ide_opened_file>a.py</ide_opened_file>"
    assert spoken(human(text)) == ["Add a basket."]


def test_text_beside_a_tool_result_is_no_human_turn() -> None:
    content = [{"type": "tool_result", "tool_use_id": "t1", "content": "x"}, {"type": "text", "text": "Hello there"}]
    assert spoken(human(content)) == []


def test_a_resume_block_is_dropped_and_what_stands_around_it_stays() -> None:
    block = f"{TITLE}\n\n## Goal\n\nOld goal.\n\nPacket:    01J (spec v0.2)\nCreated:   x\nTags:      a\n"
    assert spoken(human(f"Before.\n{block}After.")) == ["Before.\nAfter."]
    assert spoken(human(f"{TITLE}\n\n## Goal\n\nA block without an end")) == []
    assert spoken(agent(f"{block}I go on.")) == ["I go on."]


def test_text_blocks_of_one_message_are_one() -> None:
    assert spoken(agent("One.", message="m1"), agent("Two.", message="m1"), agent("Three.", message="m2")) == [
        "One.\n\nTwo.",
        "Three.",
    ]


def test_thinking_and_local_errors_are_not_said() -> None:
    error = agent("API Error")
    error["message"]["model"] = "<synthetic>"
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    assert spoken(agent(thinking, {"type": "redacted_thinking", "data": "x"}), error) == []


def test_a_rewind_takes_back_the_turns_after_its_parent() -> None:
    told = events_of(
        human("First.", uuid="u1", parentUuid=None),
        agent("A.", uuid="a1", parentUuid="u1"),
        human("Second.", uuid="u2", parentUuid="a1"),
        agent("B.", message="m2", uuid="a2", parentUuid="u2"),
        human("Third.", uuid="u3", parentUuid="a2"),
        human("Second, edited.", uuid="u4", parentUuid="a1"),
        human("Fourth.", uuid="u5", parentUuid="u4"),
    )
    assert [event.turns for event in told if isinstance(event, RolledBack)] == [2]
    assert isinstance(told[-3], UserText)
    assert isinstance(told[-4], RolledBack)


def test_an_edited_first_prompt_takes_back_everything() -> None:
    told = events_of(human("One.", uuid="u1", parentUuid=None), human("One again.", uuid="u2", parentUuid=None))
    assert RolledBack(1) in told


def test_parallel_tool_results_and_unknown_parents_take_nothing_back() -> None:
    told = events_of(
        human("First.", uuid="u1", parentUuid=None),
        agent("A.", uuid="a1", parentUuid="u1"),
        result("x", uuid="r1", parentUuid="a1"),
        result("y", "t2", uuid="r2", parentUuid="a1"),
        human("Second.", uuid="u2", parentUuid="r1"),
        human("Third.", uuid="u3", parentUuid="not-in-this-file"),
        human("Fourth."),
    )
    assert not [event for event in told if isinstance(event, RolledBack)]


def test_a_compaction_takes_nothing_back_and_its_summary_is_dropped() -> None:
    told = events_of(
        human("First.", uuid="u1", parentUuid=None),
        line("system", subtype="compact_boundary", uuid="b0", parentUuid=None, logicalParentUuid="u1", content="x"),
        human("The summary.", uuid="b1", parentUuid="b0", isCompactSummary=True, isVisibleInTranscriptOnly=True),
        human("Second.", uuid="u2", parentUuid="b1"),
        human("Third.", uuid="u3", parentUuid=None),
    )
    assert [event.text for event in told if isinstance(event, UserText)] == ["First.", "Second.", "Third."]
    assert not [event for event in told if isinstance(event, RolledBack)]


def test_lines_with_a_known_uuid_are_read_once_and_a_line_may_be_its_own_parent() -> None:
    first = human("First.", uuid="u1", parentUuid="u1")
    assert spoken(first, first) == ["First."]


def test_titles_by_rank_and_the_last_of_each() -> None:
    told = events_of(
        {"type": "summary", "summary": "Old", "leafUuid": "x"},
        {"type": "custom-title", "customTitle": "Mine", "sessionId": SESSION},
        {"type": "ai-title", "aiTitle": "Theirs", "sessionId": SESSION},
        {"type": "custom-title", "customTitle": "Mine, later", "sessionId": SESSION},
    )
    assert isinstance(told[-1], Meta)
    assert told[-1].title == "Mine, later"


@pytest.mark.parametrize(
    ("content", "is_error", "structured", "ok", "exit_code"),
    [
        ("fine", False, None, True, None),
        ("Exit code 2\nboom", True, "Error: Exit code 2\nboom", False, 2),
        ("Error: Exit code 1", True, None, False, 1),
        ("The program said: Exit code 7", False, None, True, None),
        ("something broke", True, None, False, None),
        ("The user doesn't want to proceed with this tool use.", True, None, None, None),
        ("Command timed out after 2m 0.0s", True, None, None, None),
        ("Command running in background with ID: b1", False, None, None, None),
        ("half", False, {"interrupted": True}, None, None),
        ([{"type": "text", "text": "Exit code 3"}, {"type": "image"}], True, None, False, 3),
        (None, False, None, True, None),
    ],
)
def test_how_a_command_ended(content: Any, is_error: bool, structured: Any, ok: bool | None, exit_code: Any) -> None:
    told = events_of(
        call("Bash", {"command": "make"}), result(content, block={"is_error": is_error}, toolUseResult=structured)
    )
    outcome = next(event for event in told if isinstance(event, ToolResult))
    assert (outcome.ok, outcome.exit_code) == (ok, exit_code)


@pytest.mark.parametrize(
    ("content", "refused"),
    [
        ("The user doesn't want to proceed with this tool use. STOP what you are doing.", ""),
        ("The user doesn't want to proceed. To tell you how to proceed, the user said:\nuse tabs", "use tabs"),
        ("Permission for this tool use was denied. The user said:\nno\n\nNote: The user's next message may", "no"),
        ("The user doesn't want to. the user said:\nThe user wants to clarify these questions.\n Answer: A", ""),
        ("The program wrote: the user said: yes", None),
        ("Command timed out after 2m 0.0s", None),
    ],
)
def test_what_a_human_wrote_on_turning_a_call_down(content: str, refused: str | None) -> None:
    told = events_of(call("Bash", {"command": "make"}), result(content, block={"is_error": True}))
    assert next(event.refused for event in told if isinstance(event, ToolResult)) == refused


def test_a_prompt_that_was_queued_while_the_agent_worked_is_heard() -> None:
    def queued(prompt: str, **fields: Any) -> dict[str, Any]:
        return line("attachment", attachment={"type": "queued_command", "prompt": prompt} | fields)

    assert spoken(
        human("Add a shop."),
        queued("also add tests", commandMode="prompt", origin={"kind": "human"}),
        queued("no docs"),
        queued("a report", origin={"kind": "peer"}),
        queued("<task-notification>done</task-notification>", commandMode="task-notification"),
        line("attachment", attachment={"type": "todo"}),
        human("from an agent", origin={"kind": "peer"}),
    ) == ["Add a shop.", "also add tests", "no docs"]


def test_a_queued_prompt_takes_nothing_back_and_can_be_taken_back() -> None:
    queued = line("attachment", uuid="q", parentUuid="a1", attachment={"type": "queued_command", "prompt": "and B"})
    records = (human("A", uuid="a1", parentUuid=None), queued, human("C", uuid="c1", parentUuid="q"))
    assert not any(isinstance(event, RolledBack) for event in events_of(*records))
    again = human("A, better", uuid="d1", parentUuid=None)
    assert RolledBack(3) in events_of(*records, again)


def test_long_results_keep_their_ends() -> None:
    told = events_of(call("Bash", {"command": "make"}), result("a" * 50_000 + "z"))
    outcome = next(event for event in told if isinstance(event, ToolResult))
    assert len(outcome.text) < 7_000
    assert outcome.text.endswith("z")


def test_to_do_lists_and_single_tasks_become_whole_lists() -> None:
    told = events_of(
        call("TodoWrite", {"todos": [{"content": "A", "status": "completed"}, {"content": "B", "status": "odd"}, 7]}),
        call("TaskCreate", {"subject": "One"}, "c1"),
        result("Task #1 created successfully: One", "c1"),
        call("TaskCreate", {"subject": "Two"}, "c2"),
        result("done", "c2", toolUseResult={"task": {"id": "9", "subject": "Two"}}),
        call("TaskUpdate", {"taskId": "1", "status": "completed"}, "c3"),
        call("TaskUpdate", {"taskId": "9", "status": "in_progress", "subject": "Two, better"}, "c4"),
        call("TaskUpdate", {"taskId": "1", "status": "deleted"}, "c5"),
        call("TaskUpdate", {"taskId": "77", "status": "completed"}, "c6"),
    )
    lists = [event.items for event in told if isinstance(event, Todos)]
    assert lists[0] == (Todo("A", "completed"), Todo("B", "pending"))
    assert lists[1:3] == [(Todo("One", "pending"),), (Todo("One", "pending"), Todo("Two", "pending"))]
    assert lists[4] == (Todo("One", "completed"), Todo("Two, better", "in_progress"))
    assert lists[5] == (Todo("Two, better", "in_progress"),)
    assert len(lists) == 6


def test_a_plan_is_shown_with_its_call() -> None:
    told = events_of(call("ExitPlanMode", {"plan": "# Plan\n1. Go"}))
    assert Plan("t1", "# Plan\n1. Go") in told


@pytest.mark.parametrize(
    ("name", "arguments", "files"),
    [
        ("Edit", {"file_path": "/home/ana/shop/a.py"}, ("/home/ana/shop/a.py",)),
        ("Write", {"file_path": "a.py"}, ("a.py",)),
        ("MultiEdit", {"file_path": "a.py", "edits": []}, ("a.py",)),
        ("NotebookEdit", {"notebook_path": "n.ipynb"}, ("n.ipynb",)),
        ("Read", {"file_path": "a.py"}, ()),
        ("Edit", {"file_path": 7}, ()),
    ],
)
def test_files_that_a_call_changes(name: str, arguments: dict[str, Any], files: tuple[str, ...]) -> None:
    assert tools.files(ToolCall("t", name, arguments)) == files


def test_questions_of_a_call() -> None:
    asked = ToolCall("t", "AskUserQuestion", {"questions": [{"question": "Which one?"}, {"question": None}, 3]})
    assert tools.questions(asked) == ("Which one?",)
    assert tools.questions(ToolCall("t", "AskUserQuestion", {"questions": "x"})) == ()


@pytest.mark.parametrize(
    "record",
    [
        human(None),
        human(7),
        human([None, 3, {"type": "text"}, {"type": "text", "text": None}]),
        line("assistant", {"content": [None, {"type": "tool_use"}, {"type": "tool_use", "id": 1, "name": "x"}]}),
        line("assistant", "text"),
        line("user"),
        {"type": ["user"], "sessionId": SESSION},
        {"type": "summary", "summary": 4, "leafUuid": 4},
        {"type": "brand-new", "sessionId": SESSION},
    ],
)
def test_malformed_lines_say_nothing(record: Any) -> None:
    assert [event for event in events_of(record) if not isinstance(event, Meta)] == []
