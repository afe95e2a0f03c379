"""Every format in its shape of today: recognised by its content, read whole, damage named, the same each time."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.base.errors import InvalidInput
from segue.conversions.interchange.formats import FORMATS, detect, read_items
from segue.conversions.interchange.item import fraction, pieces
from segue.memories.item import MAX_CONTENT, Item
from segue.transcripts.conversation import Problem

if TYPE_CHECKING:
    from pathlib import Path

MEMORY = {
    "id": "m-1",
    "type": "preference",
    "custom_type": None,
    "content": "Prefers rye bread.",
    "temporal": {"created_at": "2026-09-01T08:00:00Z"},
    "provenance": {"platform": "claude"},
}
PAM = {"schema": "portable-ai-memory", "schema_version": "1.0", "owner": {"id": "ana"}, "memories": [MEMORY]}
CHAT = {
    "id": "c-1",
    "current_node": "a",
    "mapping": {
        "a": {
            "id": "a",
            "parent": None,
            "message": {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Rye, please."]}},
        }
    },
}
TALK = {"uuid": "t-1", "chat_messages": [{"uuid": "m", "sender": "human", "content": [], "text": "Rye, please."}]}
NOTE = "---\ntitle: Bread\ntype: note\npermalink: bread\n---\n# Bread\n\n- [preference] Rye only #rye\n"
PACKET = {
    "ltm_version": "0.2",
    "id": "01J9ZZ8Q4M3T7W5X2Y6B1C0D9E",
    "created_at": "2026-09-01T08:00:00Z",
    "goal": "Move the bakery.",
    "next_step": "Measure the oven.",
}
CAPSULE = (
    "===PCSF:v1.2===\nMETA: Bread | baking | WORKING | 2026-09-01T08:00Z\n\nL1:SKELETON\nCHOICE | Rye | It keeps\n\n"
    "L2:NEGATIVE\n\nL3:INTERNAL\n\nL4:RELATION\n\nL5:LOOPS\n\nSEED: Bake rye.\n===END===\n"
)
CODEX = {
    "timestamp": "2026-09-01T08:00:00Z",
    "type": "response_item",
    "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Rye, please."}]},
}
CLAUDE_CODE = {"type": "user", "sessionId": "s", "uuid": "u", "message": {"role": "user", "content": "Rye, please."}}
LETTA = {"agents": [], "blocks": [{"id": "block-0", "label": "human", "value": "Likes rye."}], "created_at": None}
SAMPLES: dict[str, bytes] = {
    "chatgpt": orjson.dumps([CHAT]),
    "claude": orjson.dumps([TALK]),
    "claude-code": orjson.dumps(CLAUDE_CODE) + b"\n",
    "codex": orjson.dumps(CODEX) + b"\n",
    "pam": orjson.dumps(PAM, option=orjson.OPT_INDENT_2),
    "basic-memory": NOTE.encode(),
    "mcp-memory": b'{"type":"entity","name":"Ana","entityType":"person","observations":["likes rye"]}',
    "mem0": orjson.dumps({"results": [{"id": "1", "memory": "Likes rye"}]}),
    "letta": orjson.dumps(LETTA),
    "packet": orjson.dumps(PACKET),
    "capsule": CAPSULE.encode(),
    "markdown": b"---\ntitle: Bread\n---\n# Rye\n\nRye keeps.\n",
}


def items(path: Path) -> list[Item]:
    return [found for found in read_items(path) if isinstance(found, Item)]


def test_every_format_has_a_sample() -> None:
    assert set(SAMPLES) == set(FORMATS)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_format_is_told_by_content_and_read_the_same_each_time(tmp_path: Path, form: str, mark: bytes) -> None:
    path = tmp_path / "file.dat"
    path.write_bytes(mark + SAMPLES[form])
    if form == "packet" and mark:
        pytest.skip("a packet has no byte order mark")
    assert detect(path) == form
    found = list(read_items(path))
    assert found == list(read_items(path))
    assert all(isinstance(item, Item) for item in found)
    texts = " ".join(item.content for item in found if isinstance(item, Item)).lower()
    assert "rye" in texts or "bakery" in texts
    refs = [item.provenance.ref for item in found if isinstance(item, Item)]
    assert len(refs) == len(set(refs))


def test_folders(tmp_path: Path) -> None:
    for name, file, form in (
        ("a", "memory-store.json", "pam"),
        ("b", "memory.json", "mcp-memory"),
        ("c", "notes/bread.md", "basic-memory"),
        ("d", "notes/rye.md", "markdown"),
        ("e", "conversations.json", "chatgpt"),
        ("f", "x/s.jsonl", "claude-code"),
    ):
        path = tmp_path / name / file
        path.parent.mkdir(parents=True)
        path.write_bytes(SAMPLES[form])
        assert detect(tmp_path / name) == form
        assert items(tmp_path / name)


def test_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "export.bin"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", SAMPLES["claude"])
    assert detect(path) == "claude"
    assert [item.content for item in items(path)] == ["Rye, please."]


def test_a_session_whose_first_line_is_long(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(SAMPLES["claude-code"].replace(b"Rye, please.", b"Rye. " * 30_000))
    assert detect(path) == "claude-code"
    assert len(items(path)) == 4


@pytest.mark.parametrize("data", [b'{"a": 1}', b"\x89PNG\r\n\0\0", b"plain words"])
def test_what_is_none_of_them_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "file.dat"
    path.write_bytes(data)
    with pytest.raises(InvalidInput, match="nothing that can be imported") as caught:
        detect(path)
    assert caught.value.code == "import.unknown"
    with pytest.raises(InvalidInput, match="cannot read"):
        detect(tmp_path / "none")


def packed(name: str, data: bytes) -> bytes:
    """A zip archive with one file."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return written.getvalue()


def encrypted(archive: bytes) -> bytes:
    """The same archive, whose directory says that its file is encrypted."""
    changed = bytearray(archive)
    changed[archive.index(b"PK\x01\x02") + 8] |= 1
    return bytes(changed)


EXPORT = packed("conversations.json", SAMPLES["chatgpt"])
FAULTS = {
    "long": ("a.md", b"Rye. " * 2_000_000, "import.limit", "longer than 4,194,304 bytes; split it"),
    "UTF-16 note": ("a.md", "# Rye\n\nIt keeps.\n".encode("utf-16"), "import.read", "UTF-16"),
    "UTF-16 export": ("conversations.json", "[{}]".encode("utf-16"), "import.read", "UTF-16"),
    "damaged archive": ("a.zip", EXPORT[:-30], "import.read", "damaged|cut off"),
    "encrypted archive": ("a.zip", encrypted(EXPORT), "import.read", "encrypted"),
    "bomb": ("a.zip", packed("conversations.json", b" " * 20_000_000), "import.limit", "more than 250 times its size"),
    "other archive": ("a.zip", packed("photo.png", b"x"), "import.empty", "no file of an export"),
    "nested": ("conversations.json", b"[" * 2_000 + b"]" * 2_000, "import.element", "nested deeper than 1000 levels"),
    "cut": ("conversations.json", SAMPLES["chatgpt"][:-40], "import.element", "the file ends inside it"),
    "list cut": ("conversations.json", b"[", "import.element", "the file ends before its list does"),
    "broken": ("conversations.json", b'[{"a": oops}]', "import.element", "it is broken"),
    "empty": ("conversations.json", b"", "import.empty", "it is empty"),
    "empty list": ("conversations.json", b" [ ]\n", "import.empty", "its list is empty"),
    "empty list below": ("conversations.json", b'\xef\xbb\xbf{"memories": []}', "import.empty", "its list is empty"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_stands_against_a_file_is_said_of_it_alone_too(tmp_path: Path, name: str) -> None:
    file, data, code, reason = FAULTS[name]
    (tmp_path / file).write_bytes(data)
    for path in (tmp_path / file, tmp_path) if name != "other archive" else (tmp_path / file,):
        with pytest.raises(InvalidInput, match=reason) as caught:
            detect(path)
        assert (caught.value.code, file in caught.value.message) == (code, True)


def test_long_texts_come_in_pieces_that_lose_nothing() -> None:
    paragraphs = [f"{number} " + "word " * 300 for number in range(40)]
    cut = list(pieces("\n\n".join(paragraphs)))
    assert max(map(len, cut)) <= MAX_CONTENT
    assert " ".join(" ".join(cut).split()) == " ".join(" ".join(paragraphs).split())
    assert list(pieces("x" * (2 * MAX_CONTENT + 1))) == ["x" * MAX_CONTENT, "x" * MAX_CONTENT, "x"]
    assert list(pieces(" \n ")) == []


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (0.5, 0.5),
        ("0.5", 0.5),
        ("High", 0.9),
        (1, 1.0),
        (2, None),
        ("nan", None),
        (True, None),
        (None, None),
        ("x", None),
    ],
)
def test_fractions(value: Any, number: float | None) -> None:
    assert fraction(value) == number


@settings(max_examples=250, deadline=None, derandomize=True)
@given(data=st.data())
def test_bytes_changed_anywhere_give_items_and_problems_only(tmp_path_factory: Any, data: st.DataObject) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.md"
    form = data.draw(st.sampled_from(FORMATS))
    sample = bytearray(SAMPLES[form])
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(sample)))
        piece = data.draw(
            st.binary(max_size=3) | st.sampled_from([b"null", b"[]", b"\n---\n", b'"', b"- [[", b"1e999"])
        )
        sample[place : place + data.draw(st.integers(0, 6))] = piece
    path.write_bytes(sample)
    for chosen in (form, None):
        try:
            assert all(isinstance(found, Item | Problem) for found in read_items(path, chosen))
        except InvalidInput as error:
            assert error.code in ("import.unknown", "import.element", "import.empty")
