"""PreCompact: the draft that is made of a conversation before its host forgets most of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from hosts.hook_samples import NOW, SESSION, Host, lines, transcript
from segue.packets.resume import TITLE

if TYPE_CHECKING:
    import segue

REQUEST = "Make the importer read columns by their header."
DECIDED = "Let's use orjson instead of json, because it is faster."


def compact(host: Host, content: bytes, *options: str, **members: object) -> str:
    path = host.folder.parent / "recorded.jsonl"
    path.write_bytes(content)
    said, note = host.calls("pre-compact", *options, transcript_path=str(path), **members)
    assert said is None  # its output never reaches the model
    return note


@pytest.mark.requirement("continuity-sync-point")
def test_a_draft_is_stored_as_the_library_would(host: Host, store: segue.Segue) -> None:
    assert compact(host, lines(transcript(REQUEST))) == ""
    packet = store.packets.newest()
    assert packet.goal == REQUEST
    assert "draft" in packet.tags
    assert packet.attempts
    assert packet.project is not None
    assert packet.project.name == "shop"
    assert packet.created == NOW
    assert packet.parent_id == ""
    stored = store.packets.stored(packet.id)
    assert (stored.revision, stored.flagged, stored.body) == (1, False, packet.canonical)
    assert [each.id for each in store.packets.ls(tag="draft", project=".", search="importer").packets] == [packet.id]
    event = store.store.events(1)[0]
    assert (event.kind, event.subject, event.details) == ("packet.saved", packet.id, {"flagged": False, "revision": 1})
    assert store.store.doctor() == []
    assert TITLE in host.told("session-start", source="compact")
    # Nobody reviewed it, so no memories are made of it.
    assert store.memories.ls().memories == []


def test_a_second_compaction_replaces_its_own_draft(host: Host, store: segue.Segue) -> None:
    compact(host, lines(transcript(REQUEST)))
    first = store.packets.newest()
    compact(host, lines(transcript(REQUEST, DECIDED)), "--now", "2026-05-04T10:30:00Z")
    (only,) = store.packets.ls().packets
    assert only.id == first.id
    assert only.created_at == "2026-05-04T10:30:00Z"
    assert store.packets.stored(first.id).revision == 2
    assert store.store.events(1)[0].kind == "packet.replaced"
    assert store.store.doctor() == []
    before = len(store.store.events(100))
    compact(host, lines(transcript(REQUEST, DECIDED)), "--now", "2026-05-04T11:30:00Z")
    assert len(store.store.events(100)) == before  # the same state: nothing is written


def test_another_session_has_a_draft_of_its_own(host: Host, store: segue.Segue) -> None:
    compact(host, lines(transcript(REQUEST)))
    compact(host, lines(transcript(REQUEST, session="another")), session_id="another")
    assert len(store.packets.ls().packets) == 2


def test_what_a_person_made_of_the_draft_is_continued(host: Host, store: segue.Segue) -> None:
    compact(host, lines(transcript(REQUEST)))
    draft = store.packets.newest()
    kept = store.packets.save(draft.document() | {"tags": ["reviewed"], "goal": "Reviewed."}, replace_existing=True)
    for _ in range(2):
        compact(host, lines(transcript(REQUEST, "Then write the refund endpoint.")), "--now", "2026-05-04T10:30:00Z")
    assert store.packets.get(kept.id).goal == "Reviewed."
    (following,) = store.packets.ls(parent=kept.id).packets
    assert "draft" in following.tags
    assert len(store.packets.ls().packets) == 2


@pytest.mark.requirement("continuity-sync-point")
def test_secrets_are_masked(host: Host, store: segue.Segue) -> None:
    secret = "ghp_" + "a1B2" * 9
    compact(host, lines(transcript(f"Use the token {secret} for the importer.")))
    body = store.packets.stored(store.packets.newest().id).body
    assert secret.encode() not in body
    assert b"[redacted:" in body


def test_a_session_in_which_nothing_was_said_gives_none(host: Host, store: segue.Segue) -> None:
    records = [each for each in transcript() if each["type"] != "user"]
    assert compact(host, lines(records)) == ""
    assert compact(host, b"") == ""
    assert compact(host, b"no transcript at all\n" * 40) == ""
    assert store.packets.ls().packets == []


@pytest.mark.parametrize("cut", [1, 40, 300])
def test_a_cut_transcript_gives_what_there_is(host: Host, store: segue.Segue, cut: int) -> None:
    assert compact(host, lines(transcript(REQUEST))[:-cut]) == ""
    assert store.packets.newest().goal == REQUEST


def test_bytes_that_are_no_text_do_no_harm(host: Host, store: segue.Segue) -> None:
    content = lines(transcript(REQUEST)).replace(b"3 passed", b"3 \xff\xfe passed")
    assert compact(host, b"\xff\xfe\x00\n" + content) == ""
    assert store.packets.newest().goal == REQUEST


@pytest.mark.parametrize("kind", ["missing", "folder", "fifo", "nul", "none"])
def test_what_is_no_transcript_is_said_in_a_line(host: Host, store: segue.Segue, kind: str) -> None:
    path = host.folder / kind
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    name = {"nul": "/x\0y", "none": None}.get(kind, str(path))
    said, note = host.calls("pre-compact", transcript_path=name)
    assert said is None
    assert note.startswith("pre-compact: ")
    assert store.packets.ls().packets == []


def test_a_session_is_named_by_the_host(host: Host, store: segue.Segue) -> None:
    compact(host, lines(transcript(REQUEST, session="other")), session_id=None)
    compact(host, lines(transcript(REQUEST, session=SESSION)), session_id=None)
    assert len(store.packets.ls().packets) == 2
