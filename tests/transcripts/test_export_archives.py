"""The door to exports: files, split files, archives and folders; doubles; damage."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from export_samples import START, chat, message, said, talk
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.base.errors import InvalidInput
from segue.transcripts.archives import Part, parts
from segue.transcripts.conversation import Conversation, Note, Problem
from segue.transcripts.exports import read_conversations, vendor_of

if TYPE_CHECKING:
    from pathlib import Path

CHAT = orjson.dumps([chat(said("user", "From ChatGPT."))])
TALK = orjson.dumps([talk(message("m1", "human", "From Claude."))])


def packed(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return data.getvalue()


def read(path: Path) -> tuple[list[str], list[tuple[str, str]]]:
    """The first text of each conversation, and code and place of each problem."""
    found = list(read_conversations(path))
    texts = [item.turns[0].text for item in found if isinstance(item, Conversation)]
    return texts, [(item.code, item.place) for item in found if isinstance(item, Problem)]


def test_a_file_is_told_by_its_content(tmp_path: Path) -> None:
    for name, data, vendor in (("a.bin", CHAT, "chatgpt"), ("b.txt", TALK, "claude")):
        path = tmp_path / name
        path.write_bytes(data)
        (part,) = parts(path)
        assert isinstance(part, Part)
        assert read(path)[0] == [f"From {'ChatGPT' if vendor == 'chatgpt' else 'Claude'}."]
        with path.open("rb") as file:
            assert vendor_of(Part(name, len(data), file)) == vendor


def test_an_object_around_the_list_and_a_single_conversation(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b'{"version": 1, "conversations": ' + CHAT + b"}")
    assert read(path) == (["From ChatGPT."], [])
    path.write_bytes(orjson.dumps(chat(said("user", "Alone.")), option=orjson.OPT_INDENT_2))
    assert read(path) == (["Alone."], [])


@pytest.mark.parametrize("names", [("000", "001"), ("001", "000")])
def test_of_split_files_the_newest_update_wins(tmp_path: Path, names: tuple[str, str]) -> None:
    older = chat(said("user", "older"), update_time=START)
    newer = chat(said("user", "newer"), update_time=START + 5)
    other = chat(said("user", "other"), conversation_id="c-2", id="c-2")
    path = tmp_path / "export.zip"
    path.write_bytes(
        packed(
            {
                f"x/conversations-{names[0]}.json": orjson.dumps([newer, other]),
                f"x/conversations-{names[1]}.json": orjson.dumps([older, newer]),
                "x/chat.html": b"<html>",
                "x/export_manifest.json": b"{}",
                "__MACOSX/x/._conversations-000.json": b"\0\1",
            }
        )
    )
    texts, problems = read(path)
    assert (sorted(texts), problems) == (["newer", "other"], [])


def test_a_folder_of_archives_and_unpacked_files(tmp_path: Path) -> None:
    memories = {"account_uuid": "u", "conversations_memory": "Bakes."}
    (tmp_path / "conversations-000(1).zip").write_bytes(packed({"conversations.json": TALK}))
    (tmp_path / "memories-000").mkdir()
    (tmp_path / "memories-000" / "u.json").write_bytes(orjson.dumps(memories))
    (tmp_path / "light_metadata-000.zip").write_bytes(packed({"login_history.json": b'[{"ip": "x"}]'}))
    (tmp_path / "photo.png").write_bytes(b"\x89PNG")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "conversations.json").write_bytes(CHAT)
    (tmp_path / "linked.jsonl").symlink_to(tmp_path / "photo.png")
    found = list(read_conversations(tmp_path))
    assert [item.text if isinstance(item, Note) else type(item).__name__ for item in found] == [
        "Conversation",
        "Bakes.",
    ]


def test_a_manifest_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "manifest-a.json"
    path.write_bytes(orjson.dumps({"version": "1.0", "total_files": 1, "data_files": [{"export_url": "https://x"}]}))
    (problem,) = read_conversations(path)
    assert isinstance(problem, Problem)
    assert "give their folder" in problem.message


def test_custom_instructions_that_repeat_come_once(tmp_path: Path) -> None:
    profile = {"content_type": "user_editable_context", "user_profile": "Ana."}
    chats = [chat(said("user", "", content=profile), said("user", "a"), conversation_id=f"c-{n}") for n in range(3)]
    path = tmp_path / "conversations.json"
    path.write_bytes(orjson.dumps(chats))
    assert sum(isinstance(item, Note) for item in read_conversations(path)) == 1


def test_damage_is_named_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_bytes(CHAT[:-1] + b', {"a": oops}, {"chats": 1}]')
    assert read(path) == (
        ["From ChatGPT."],
        [("import.element", "conversations.json[1]"), ("import.element", "conversations.json[2]")],
    )
    path.write_bytes("[]".encode("utf-16"))
    assert read(path)[1] == [("import.read", "conversations.json")]


def test_archives_that_are_cut_encrypted_or_bombs(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(packed({"conversations.json": CHAT})[:-30])
    assert read(path)[1] == [("import.read", "x.zip")]
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "y.zip").write_bytes(b"PK\x03\x04 cut")
    assert read(tmp_path / "folder")[1] == [("import.read", "y.zip")]
    path.write_bytes(packed({"conversations.json": b" " * 20_000_000}))
    assert read(path)[1] == [("import.limit", "x.zip/conversations.json")]
    path.write_bytes(packed({"conversations.json": CHAT}, zipfile.ZIP_BZIP2))
    assert read(path)[1] == [("import.read", "x.zip/conversations.json")]
    damaged = bytearray(packed({"conversations.json": CHAT}, zipfile.ZIP_STORED))
    damaged[damaged.index(b"From")] ^= 1
    path.write_bytes(damaged)
    assert [code for code, _ in read(path)[1]] == ["import.read"]


def test_a_path_that_is_missing_is_named(tmp_path: Path) -> None:
    for name in ("none.json", "a\0b"):
        with pytest.raises(InvalidInput, match="cannot read") as caught:
            list(read_conversations(tmp_path / name))
        assert caught.value.code == "transcript.read"


def test_the_same_export_is_read_the_same(tmp_path: Path) -> None:
    path = tmp_path / "e.zip"
    path.write_bytes(packed({"b/conversations.json": TALK, "a/conversations.json": CHAT}))
    first = list(read_conversations(path))
    assert first == list(read_conversations(path))
    assert [item.origin for item in first if isinstance(item, Conversation)] == ["chatgpt", "claude"]


@settings(max_examples=120, deadline=None, derandomize=True)
@given(data=st.data())
def test_bytes_changed_anywhere_are_read_without_an_exception(tmp_path_factory: Any, data: st.DataObject) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.bin"
    sample = bytearray(
        data.draw(st.sampled_from([CHAT, TALK, packed({"conversations.json": CHAT, "projects.json": TALK})]))
    )
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(sample) - 1))
        sample[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    path.write_bytes(sample)
    list(read_conversations(path))
