"""ChatGPT's export: branches, hidden and missing things, notes, and hundreds of megabytes."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from export_samples import START, chat, said
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.capsules import prompt
from segue.transcripts import chatgpt, moments
from segue.transcripts.conversation import Attachment, Conversation, Note, Problem
from segue.transcripts.exports import read_conversations

if TYPE_CHECKING:
    from pathlib import Path


def read(value: dict[str, Any]) -> list[Any]:
    return list(chatgpt.read(value, "conversations.json", 0))


def spoken(value: dict[str, Any]) -> list[tuple[str, str]]:
    (conversation,) = (item for item in read(value) if isinstance(item, Conversation))
    assert [turn.position for turn in conversation.turns] == list(range(len(conversation.turns)))
    return [(turn.role, turn.text) for turn in conversation.turns]


def test_the_branch_that_ends_in_the_current_node_is_read() -> None:
    value = chat(said("user", "One?"), said("assistant", "old"))
    value["mapping"]["n2"] = {"id": "n2", "parent": "n0", "message": said("assistant", "new"), "children": []}
    assert spoken(value | {"current_node": "n2"}) == [("user", "One?"), ("assistant", "new")]
    assert spoken(value | {"current_node": "n1"}) == [("user", "One?"), ("assistant", "old")]


@pytest.mark.parametrize("node", [None, "gone", 7])
def test_without_a_current_node_the_newest_leaf_decides(node: Any) -> None:
    value = chat(said("user", "One?"), said("assistant", "newer", create_time=START + 9))
    value["mapping"]["n2"] = {"id": "n2", "parent": "n0", "message": said("assistant", "older"), "children": []}
    assert spoken(value | {"current_node": node})[1] == ("assistant", "newer")


def test_a_circle_of_parents_ends() -> None:
    value = chat(said("user", "One."), said("assistant", "Two."))
    value["mapping"]["n0"]["parent"] = "n1"
    assert spoken(value) == [("user", "One."), ("assistant", "Two.")]


def test_what_was_not_said_or_heard_is_left_out() -> None:
    value = chat(
        said("system", "You are a model."),
        said("user", "Keep."),
        said("user", "hidden", metadata={"is_visually_hidden_from_conversation": True}),
        said("user", "weightless", weight=0),
        said("assistant", "search()", recipient="browser"),
        said("tool", "result"),
        said("assistant", None, content={"content_type": "thoughts", "thoughts": [{"summary": "s", "content": "c"}]}),
        said("assistant", "inner", channel="analysis"),
        None,
        {"author": {"role": "assistant"}},
        said("assistant", "Kept.", channel="final"),
    )
    assert spoken(value) == [("user", "Keep."), ("assistant", "Kept.")]


def test_messages_without_metadata_recipient_and_parts_are_read() -> None:
    bare = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Bare.", None, {"x": 1}]}}
    empty = {"author": {"role": "user"}, "content": {"content_type": "text"}}
    assert spoken(chat(bare, empty)) == [("user", "Bare.")]


def test_titles_and_times_may_be_missing() -> None:
    value = chat(
        said("user", "a", create_time=None),
        said("assistant", "b", create_time=START + 1.5),
        said("user", "c", create_time=0),
        title=None,
        update_time=None,
    )
    (conversation,) = read(value)
    assert (conversation.title, conversation.updated) == (None, None)
    assert [turn.at for turn in conversation.turns] == [
        "2026-05-28T20:26:40Z",
        "2026-05-28T20:26:41.5Z",
        "2026-05-28T20:26:41.5Z",
    ]
    (timeless,) = read(chat(said("user", "a", create_time=None), create_time=0))
    assert timeless.turns[0].at is None


def test_images_voice_and_named_files() -> None:
    image = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_1", "size_bytes": 1}
    voice = {"content_type": "audio_transcription", "text": "Spoken."}
    parts = {"content_type": "multimodal_text", "parts": ["Look.", image, voice, None]}
    only = {"content_type": "multimodal_text", "parts": [image]}
    value = chat(
        said("user", "", content=parts),
        said("user", "", content=only),
        said("user", "Read it.", metadata={"attachments": [{"name": "a.pdf"}, None]}),
    )
    (conversation,) = read(value)
    first, second, third = conversation.turns
    assert (first.text, first.attachments) == ("Look.\n\nSpoken.", (Attachment("sediment://file_1"),))
    assert (second.text, second.attachments) == ("", (Attachment("sediment://file_1"),))
    assert third.attachments == (Attachment("a.pdf"),)


def test_citation_marks_are_taken_out() -> None:
    text = (
        'Oslo \ue200entity\ue202["city","Oslo","Norway"]\ue201 is cold\ue200cite\ue202turn0search0\ue201【12†source】.'
    )
    assert spoken(chat(said("assistant", text))) == [("assistant", "Oslo Oslo is cold.")]


def test_instructions_and_memories_become_notes_and_no_turns() -> None:
    profile = {"content_type": "user_editable_context", "user_profile": "Ana, baker.", "user_instructions": "Be brief."}
    kept = {"content_type": "model_editable_context", "model_set_context": "Likes rye."}
    system = said(
        "system",
        "",
        metadata={"is_user_system_message": True, "user_context_message_data": {"about_user_message": "Ana."}},
    )
    value = chat(
        said("user", "", content=profile),
        said("assistant", "", content=kept),
        said("assistant", "Bakes at night.", recipient="bio"),
        system,
        said("user", "Hello."),
    )
    found = read(value)
    notes = [(note.kind, note.text) for note in found if isinstance(note, Note)]
    assert notes == [
        ("instruction", "Ana, baker."),
        ("instruction", "Be brief."),
        ("memory", "Likes rye."),
        ("memory", "Bakes at night."),
        ("instruction", "Ana."),
    ]
    assert len({note.id for note in found if isinstance(note, Note)}) == 5
    assert spoken(value) == [("user", "Hello.")]


def test_what_segue_injected_is_taken_out() -> None:
    resume = "# Resume context — ltm Core Memory Packet\n\n## Goal\n\nMove.\n\nPacket:    x\nCreated:   y\n"
    capsule = "```text\n===PCSF:v1.2===\nMETA: a | b | DEEP | 2026-09-01T08:00Z\n\nSEED: s\n===END===\n```"
    value = chat(
        said("user", f"{resume}\nGo on."), said("user", prompt("continue") + capsule), said("user", f"Hi {capsule}!")
    )
    assert spoken(value) == [("user", "Go on."), ("user", "Hi !")]


def test_a_conversation_that_is_not_to_be_remembered_is_kept_out() -> None:
    (problem,) = read(chat(said("user", "Secret plan."), is_do_not_remember=True))
    assert isinstance(problem, Problem)
    assert (problem.code, problem.place) == ("import.kept_out", "conversations.json[0]")


def test_a_conversation_without_an_id_has_a_stable_one() -> None:
    value = chat(said("user", "a"), id=None, conversation_id=None)
    assert read(value)[0].id == read(orjson.loads(orjson.dumps(value)))[0].id
    assert len(read(value)[0].id) == 32


def _write(path: Path, size: int) -> tuple[int, int]:
    words = 'Some words with "quotes", {brackets} and a line\nbreak. ' * 12
    written = count = 0
    with path.open("wb") as file:
        file.write(b"[")
        while written < size:
            messages = [said("user" if number % 2 == 0 else "assistant", f"{number} {words}") for number in range(60)]
            value = chat(*messages, id=None, conversation_id=f"c-{count}", title=None if count % 3 else "T")
            written += file.write((b",\n" if count else b"") + orjson.dumps(value))
            count += 1
        file.write(b"]")
    return count, count * 60


@pytest.mark.parametrize("size", [10_000_000, pytest.param(100_000_000, marks=pytest.mark.soak)])
def test_a_large_export_is_read_in_bounded_memory(tmp_path: Path, size: int) -> None:
    path = tmp_path / "conversations.json"
    count, turns = _write(path, size)
    told: list[tuple[int, int]] = []
    conversations = heard = 0
    tracemalloc.start()
    try:
        for found in read_conversations(path, lambda done, total: told.append((done, total))):
            assert isinstance(found, Conversation)
            conversations += 1
            heard += len(found.turns)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (conversations, heard) == (count, turns)
    assert peak < 5_000_000
    assert told[-1] == (path.stat().st_size, path.stat().st_size)
    assert len(told) > 5
    assert told == sorted(told)


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(data=st.data())
def test_any_value_in_any_place_is_read_without_an_exception(data: st.DataObject) -> None:
    image = {"content_type": "multimodal_text", "parts": ["a", {"content_type": "image_asset_pointer"}]}
    value = chat(said("user", "Hello."), said("assistant", "", content=image), said("assistant", "b", recipient="bio"))
    spot = value
    for _ in range(data.draw(st.integers(0, 5))):
        inner = [key for key, item in spot.items() if isinstance(item, dict)]
        if not inner:
            break
        spot = spot[data.draw(st.sampled_from(inner))]
    spot[data.draw(st.sampled_from(sorted(spot) or ["x"]))] = data.draw(_ANY)
    if chatgpt.is_conversation(value):
        read(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (START * 1_000, moments.from_epoch(START)),
        (1e12, "2001-09-09T01:46:40Z"),
        (99_999_999_999, "5138-11-16T09:46:39Z"),
        (100_000_000_000, "1973-03-03T09:46:40Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        *((value, None) for value in (253_402_300_800_000, 1e15, 1e20, 1e308, 10**400, -1, 0)),
        *((value, None) for value in (float("inf"), float("nan"), True, "1e9", None)),
    ],
)
def test_times_in_milliseconds_and_beyond_the_calendar(value: Any, text: str | None) -> None:
    (conversation,) = read(chat(said("user", "a", create_time=value), create_time=value))
    assert (conversation.turns[0].at, conversation.created) == (text, text)
