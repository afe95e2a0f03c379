"""Claude.ai's export, of all its generations."""

from __future__ import annotations

from typing import Any

import pytest
from export_samples import message, talk
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.transcripts import claude_export
from segue.transcripts.conversation import Attachment, Note, Problem


def read(value: dict[str, Any]) -> list[Any]:
    assert claude_export.is_ours(value)
    return list(claude_export.read(value, "conversations.json", 3))


def spoken(value: dict[str, Any]) -> list[tuple[str, str]]:
    return [(turn.role, turn.text) for turn in read(value)[0].turns]


def test_a_flat_conversation() -> None:
    (conversation,) = read(talk(message("m1", "human", "Metric, please."), message("m2", "assistant", "Noted.")))
    assert [(turn.role, turn.text, turn.at) for turn in conversation.turns] == [
        ("user", "Metric, please.", "2026-09-01T08:00:00.123456Z"),
        ("assistant", "Noted.", "2026-09-01T08:00:00.123456Z"),
    ]
    assert (conversation.title, conversation.created, conversation.updated, conversation.place) == (
        None,
        "2026-09-01T08:00:00Z",
        "2026-09-01T09:00:00Z",
        "conversations.json[3]",
    )


def test_the_branch_of_the_newest_leaf_is_read() -> None:
    zero = "00000000-0000-4000-8000-000000000000"
    late = {"created_at": "2026-09-01T10:00:00Z"}
    value = talk(
        message("m1", "human", "One?", zero),
        message("m2", "assistant", "kept", "m1", **late),
        message("m3", "assistant", "retried", "m1"),
    )
    assert spoken(value) == [("user", "One?"), ("assistant", "kept")]


def test_parents_in_a_circle_end() -> None:
    value = talk(message("m1", "human", "a", "m2"), message("m2", "assistant", "b", "m1"))
    assert spoken(value) == [("user", "a"), ("assistant", "b")]


def test_blocks_win_over_the_flat_text() -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "First."},
        {"type": "tool_use", "name": "search", "input": {}},
        {"type": "tool_result", "content": [{"type": "text", "text": "found"}]},
        {"type": "token_budget"},
        {"type": "text", "text": None},
        None,
        {"type": "text", "text": "Second."},
    ]
    value = talk(
        message("m1", "assistant", "flat copy", content=blocks),
        message("m2", "human", "old", content=[]),
        message("m3", "assistant", "thoughts, flattened", content=blocks[:1]),
    )
    assert spoken(value) == [("assistant", "First.\n\nSecond."), ("user", "old")]


def test_filler_is_no_text() -> None:
    filler = "```\nThis block is not supported on your current device yet.\n```"
    assert spoken(talk(message("m1", "human", "Hi."), message("m2", "assistant", filler))) == [("user", "Hi.")]


def test_attachments_and_files_come_along() -> None:
    attached = [
        {"file_name": "n.txt", "extracted_content": "abc"},
        None,
        {"file_name": "", "extracted_content": "pasted"},
    ]
    value = talk(message("m1", "human", "", attachments=attached, files=[{"file_name": "p.png", "file_uuid": "u"}]))
    assert read(value)[0].turns[0].attachments == (
        Attachment("n.txt", "abc"),
        Attachment("", "pasted"),
        Attachment("p.png"),
    )


def test_empty_conversations_and_null_messages_give_nothing() -> None:
    assert read(talk()) == []
    assert read(talk(None, 3, {"sender": "alien", "text": "?"})) == []


def test_a_conversation_without_a_uuid_is_a_problem() -> None:
    assert read(talk(message("m1", "human", "a"), uuid=None)) == [
        Problem("import.value", "the conversation has no uuid", "conversations.json", index=3)
    ]


def test_design_chats_have_keys_of_their_own() -> None:
    value = {
        "uuid": "d1",
        "title": "Logo",
        "created_at": "2026-09-01T08:00:00Z",
        "project": {"uuid": "p", "name": "Shop"},
        "messages": [{"uuid": "x", "role": "user", "content": "Rounder.", "created_at": "2026-09-01T08:00:01Z"}],
    }
    (conversation,) = read(value)
    assert (conversation.title, conversation.project, conversation.turns[0].text) == ("Logo", "Shop", "Rounder.")


def test_projects_give_their_instructions_and_documents() -> None:
    value = {
        "uuid": "p1",
        "name": "Shop",
        "description": "The shop.",
        "prompt_template": "Answer in metric.",
        "created_at": "2026-09-01T08:00:00Z",
        "docs": [{"uuid": "d", "filename": "a.md", "content": "Text.", "created_at": "2026-09-02T08:00:00Z"}, None],
    }
    assert [(note.kind, note.text, note.title, note.project, note.at) for note in read(value)] == [
        ("document", "The shop.", "", "Shop", "2026-09-01T08:00:00Z"),
        ("instruction", "Answer in metric.", "", "Shop", "2026-09-01T08:00:00Z"),
        ("document", "Text.", "a.md", "Shop", "2026-09-02T08:00:00Z"),
    ]


@pytest.mark.parametrize(
    "files", [None, [{"path": "/a.md", "content": "Metric.", "updated_at": "2026-09-01T08:00:00Z"}]]
)
def test_memories_are_cut_at_headings_and_blank_lines(files: Any) -> None:
    value = {
        "account_uuid": "u",
        "conversations_memory": "**Work context**\n\nAna runs a shop.\n\nShe bakes.\n\n**Taste**\nRye **only**.",
        "project_memories": {"p1": "Opens at six."},
        "memory_files": files,
    }
    found = read(value)
    assert [(note.title, note.text) for note in found][:4] == [
        ("Work context", "Ana runs a shop."),
        ("Work context", "She bakes."),
        ("Taste", "Rye **only**."),
        ("", "Opens at six."),
    ]
    assert found[3].project == "p1"
    assert [note.text for note in found[4:]] == ([] if files is None else ["Metric."])
    assert all(isinstance(note, Note) and note.kind == "memory" for note in found)


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(data=st.data())
def test_any_value_in_any_place_is_read_without_an_exception(data: st.DataObject) -> None:
    said = message("m1", "human", "a", "m0", attachments=[{"file_name": "x"}])
    samples: list[dict[str, Any]] = [
        talk(said, message("m2", "assistant", "b", "m1")),
        {"uuid": "p", "name": "n", "docs": [{"content": "x"}], "created_at": "2026-09-01"},
        {"account_uuid": "u", "conversations_memory": "x", "memory_files": [{"path": "a"}], "project_memories": {}},
    ]
    value = data.draw(st.sampled_from(samples))
    spot = said if value is samples[0] and data.draw(st.booleans()) else value
    spot[data.draw(st.sampled_from(sorted(spot)))] = data.draw(_ANY)
    if claude_export.is_ours(value):
        read(value)
