"""The journal: what it takes, what it refuses, and that it comes out as it came in."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from continuity.samples import HASH, LATER, NOW, TEXT, TEXTS, candidates, foreign, journal_file, keyed
from segue.base.errors import InvalidInput, NotFound
from segue.continuity import journal, lifecycle
from segue.continuity.candidate import content_hash
from segue.continuity.journal import Journal

APPROVED = {"status": "approved", "approved_by": "user", "approved_at": "2026-05-04T09:31:00+00:00"}
SAVED = APPROVED | {"status": "saved", "release_tx_id": "TX-7", "receipt_hash": HASH, "saved_at": "2026-05-04"}
STALE = SAVED | {"status": "stale", "reason": "old", "stale_at": "2026-05-06"}
REJECTED = {"status": "rejected", "content": None, "reason": "no", "rejected_at": "2026-05-05T09:30:00+00:00"}


@pytest.mark.requirement("continuity-journal")
def test_entries_of_the_reference_load_unchanged() -> None:
    entries = [
        foreign(1, "始终逐行讲解"),
        foreign(2, "two", reason=None),
        foreign(3, "three", **APPROVED),
        foreign(4, "four", **SAVED, unknown=[1, {"a": 1.5}]),
        foreign(5, "five", **STALE),
        foreign(12345, "six", kind="project", trigger="step_complete"),
    ]
    loaded = journal.parse(journal_file(entries), keyed)
    assert [list(each.to_json().items()) for each in loaded.candidates] == [list(each.items()) for each in entries]
    written = json.loads(journal.dump(loaded, NOW))
    assert written["candidates"] == entries
    assert journal_file(entries, updated_at="2026-05-04T09:30:00Z") == journal.dump(loaded, NOW)


@pytest.mark.requirement("continuity-rejected")
@pytest.mark.parametrize("content", [None, "it was this"])
def test_rejected_entries_are_reduced(content: str | None) -> None:
    entry = foreign(1, "it was this", **REJECTED | {"content": content}, approved_by="user")
    (rejected,) = journal.parse(journal_file([entry]), keyed).candidates
    assert rejected.to_json() == {
        "candidate_id": "M-001",
        "status": "rejected",
        "content_hash": keyed(content_hash("it was this")),
        "rejected_at": "2026-05-05T09:30:00+00:00",
        "reason": "no",
    }
    again = journal.parse(journal.dump(Journal((rejected,)), NOW), keyed)
    assert again.candidates == (rejected,)


@pytest.mark.requirement("continuity-journal")
@pytest.mark.parametrize(
    "entries",
    [
        [foreign(1, TEXT, candidate_id="M-1x")],
        [foreign(1, TEXT, candidate_id="m-001")],
        [foreign(1, TEXT, candidate_id=None)],
        [foreign(1, TEXT), foreign(1, "another")],
        [foreign(1, TEXT), foreign(1, "another", candidate_id="M-1")],
        [foreign(1, TEXT, status="waiting")],
        [foreign(1, TEXT, status=None)],
        [foreign(1, TEXT, status=["saved"])],
        [foreign(1, TEXT, content_hash=None)],
        [foreign(1, TEXT, content_hash="AB" * 32)],
        [foreign(1, TEXT, content_hash=content_hash("another"))],
        [foreign(1, TEXT, content=None)],
        [foreign(1, TEXT, content=3)],
        [foreign(1, TEXT, kind="opinion")],
        [foreign(1, TEXT, created_at=3)],
        [foreign(1, TEXT, **APPROVED | {"approved_by": "agent"})],
        [foreign(1, TEXT, **SAVED | {"release_tx_id": "7"})],
        [foreign(1, TEXT, **SAVED | {"receipt_hash": None})],
        [foreign(1, TEXT, **STALE | {"reason": ""})],
        [foreign(1, TEXT, **REJECTED | {"reason": " "})],
        ["M-001"],
        {"M-001": {}},
    ],
)
def test_entries_that_are_refused(entries: Any) -> None:
    with pytest.raises(InvalidInput) as invalid:
        journal.parse(journal_file(entries), keyed)
    assert invalid.value.code == "continuity.journal"
    assert TEXT not in invalid.value.message


@pytest.mark.requirement("continuity-journal")
@pytest.mark.parametrize(
    "data",
    [
        journal_file([], schema_version="5.0"),
        journal_file([], updated_at=None),
        journal_file([], more=1),
        journal_file([foreign(1, TEXT, **REJECTED)]).replace(b'"no"', b'"yes"'),
        journal_file([]).replace(b"2026", b"2027"),
        journal_file([])[:-20],
        b"",
        b"[]",
        b"{}",
        b"\xff",
    ],
)
def test_files_that_are_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput) as invalid:
        journal.parse(data, keyed)
    assert invalid.value.code == "continuity.journal"
    assert invalid.value.message.startswith("the journal of candidates cannot be used: ")


def test_a_journal_that_would_be_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    full = Journal((candidates()["saved"],))
    monkeypatch.setattr(journal, "MAX_BYTES", len(journal.dump(full, NOW)) - 1)
    with pytest.raises(InvalidInput):
        journal.dump(full, NOW)
    with pytest.raises(InvalidInput):
        journal.parse(journal_file([foreign(1, "x" * 3_000)]), keyed)


def test_ids() -> None:
    held = Journal()
    assert held.next_id() == "M-0001"
    for number in (1, 41):
        made = lifecycle.propose(f"M-{number:03}", f"Text {number}.", kind="project", trigger="message", now=NOW)
        held = held.with_(made)
    assert held.next_id() == "M-0042"
    assert held.get("m-41") == held.get("M-041") == held.candidates[1]
    for missing in ("M-2", "41", "M-", "", "MEM-041", "-41"):
        with pytest.raises(NotFound):
            held.get(missing)


def test_a_changed_candidate_takes_its_own_place() -> None:
    one, two = (lifecycle.propose(f"M-{n}", f"T{n}", kind="project", trigger="message", now=NOW) for n in (1, 2))
    held = Journal().with_(one).with_(two)
    rejected = lifecycle.reject(one, reason="no", keyed=keyed, now=LATER)
    assert held.with_(rejected).candidates == (rejected, two)
    assert held.candidates == (one, two)
    assert held.with_(rejected).of("candidate") == [two]


@given(st.lists(TEXTS, max_size=6, unique=True))
@settings(max_examples=60)
def test_what_is_written_is_read_again(texts: list[str]) -> None:
    held = Journal()
    for text in texts:
        held = held.with_(lifecycle.propose(held.next_id(), text, kind="feedback", trigger="message", now=NOW))
    data = journal.dump(held, NOW)
    assert journal.parse(data, keyed) == held
    assert data == journal_file([each.to_json() for each in held.candidates], updated_at="2026-05-04T09:30:00Z")
