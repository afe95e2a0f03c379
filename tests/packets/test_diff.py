"""What changed between two packets, and what became of each locked decision."""

from __future__ import annotations

import json
from typing import Any

import pytest

from segue.packets import diff
from segue.packets.diff import Answer, Diff, LockedChange
from segue.packets.model import Packet

from .examples import full, minimal, packet


def compare(older: dict[str, Any], newer: dict[str, Any]) -> Diff:
    return diff.compare(packet(id="older-packet", **older), packet(id="newer-packet", **newer))


def locked(*texts: str) -> list[dict[str, Any]]:
    return [{"what": text, "why": "y", "consequences": "c", "locked": True} for text in texts]


def decided(*texts: str) -> list[dict[str, Any]]:
    return [{"what": text, "why": "y"} for text in texts]


def test_a_packet_and_itself() -> None:
    one = Packet.from_document(full())
    same = diff.compare(one, one)
    assert same.empty
    assert (same.older, same.newer) == (one.id, one.id)


def test_case_space_and_a_final_stop_are_no_change() -> None:
    older = {
        "constraints": ["Must run on Linux."],
        "open_questions": ["Which region?"],
        "decisions": decided("Use WAL."),
    }
    newer = {
        "constraints": ["must  run on\nlinux"],
        "open_questions": ["which region?"],
        "decisions": decided("use WAL"),
    }
    assert compare(older, newer).empty


def test_goal_and_next_step_are_told_where_they_changed() -> None:
    changed = compare({"goal": "Ship it."}, {"goal": "Ship all of it.", "next_step": "Write the failing test."})
    assert (changed.goal, changed.next_step) == ("Ship all of it.", "")
    assert compare({}, {"next_step": "Deploy."}).next_step == "Deploy."


def test_what_was_decided_and_dropped() -> None:
    changed = compare(
        {"decisions": decided("Use WAL.", "Batch by day.")}, {"decisions": decided("Use WAL.", "Ship on Monday.")}
    )
    assert changed.decided == ["Ship on Monday."]
    assert changed.dropped == {"decisions": ["Batch by day."]}
    assert changed.locked == []


def test_a_decision_whose_reason_changed() -> None:
    older = decided("Use WAL.", "Batch by day.")
    newer = [older[0] | {"why": "other"}, older[1]]
    assert compare({"decisions": older}, {"decisions": newer}).changed == ["Use WAL."]
    newer = [older[0], older[1] | {"locked": True}]
    assert compare({"decisions": older}, {"decisions": newer}).changed == ["Batch by day."]


def test_what_was_tried() -> None:
    attempt = {"tried": "A queue.", "outcome": "failed", "learned": "l"}
    other = {"tried": "Another queue.", "outcome": "partial"}
    changed = compare({"attempts": [attempt]}, {"attempts": [attempt | {"outcome": "succeeded"}, attempt, other]})
    assert changed.tried == ["[succeeded] A queue.", "[partial] Another queue."]


def test_what_was_tried_and_is_not_recorded_any_more() -> None:
    attempt = {"tried": "A queue.", "outcome": "failed", "learned": "l"}
    other = {"tried": "Another queue.", "outcome": "partial"}
    changed = compare({"attempts": [attempt, other]}, {"attempts": [attempt]})
    assert changed.dropped == {"attempts": ["[partial] Another queue."]}
    assert (changed.tried, changed.empty) == ([], False)
    assert compare({"attempts": [attempt]}, {"attempts": [attempt, other]}).dropped == {}


def test_questions_answered_opened_and_dropped() -> None:
    older = {"open_questions": ["Which region comes first?", "Do we keep the nightly export?", "Who owns it?"]}
    newer = {
        "open_questions": ["What about backups?"],
        "decisions": decided("The first region is eu-west."),
        "attempts": [
            {"tried": "Ran the nightly export twice.", "outcome": "succeeded", "learned": "We keep the export."}
        ],
    }
    changed = compare(older, newer)
    assert changed.answered == [
        Answer("Which region comes first?", "The first region is eu-west."),
        Answer("Do we keep the nightly export?", "Ran the nightly export twice. We keep the export."),
    ]
    assert changed.opened == ["What about backups?"]
    assert changed.dropped == {"open_questions": ["Who owns it?"]}


def test_an_old_decision_answers_no_question() -> None:
    same = decided("The first region is eu-west.")
    changed = compare({"open_questions": ["Which region comes first?"], "decisions": same}, {"decisions": same})
    assert changed.answered == []
    assert changed.dropped == {"open_questions": ["Which region comes first?"]}


def test_lists_and_methods_added_and_dropped() -> None:
    method = {"name": "a", "when_applicable": "w", "how": "h"}
    changed = compare(
        {"constraints": ["Linux."], "success_criteria": ["One."], "methods": [method]},
        {"constraints": ["Linux.", "No network."], "success_criteria": ["Two."], "methods": [method | {"name": "b"}]},
    )
    assert changed.added == {"success_criteria": ["Two."], "constraints": ["No network."], "methods": ["b"]}
    assert changed.dropped == {"success_criteria": ["One."], "methods": ["a"]}


# -- locked decisions -----------------------------------------------------------------------------------------------


@pytest.mark.requirement("packets-32")
def test_a_locked_decision_that_is_kept_is_not_named() -> None:
    kept = locked("Use SQLite in WAL mode for the store.")
    assert compare({"decisions": kept}, {"decisions": kept + decided("Ship on Monday.")}).locked == []


@pytest.mark.requirement("packets-32")
@pytest.mark.parametrize(
    "newer",
    [
        "Do not use SQLite in WAL mode for the store.",
        "Use SQLite in rollback mode for the store.",
        "Use PostgreSQL instead of SQLite in WAL mode for the store.",
    ],
)
def test_a_locked_decision_that_is_contradicted(newer: str) -> None:
    old = "Use SQLite in WAL mode for the store."
    for replacement in (decided(newer), locked(newer)):
        changed = compare({"decisions": locked(old)}, {"decisions": replacement})
        assert changed.locked == [LockedChange(old, "contradicted", newer)]
        assert changed.decided == [newer]


@pytest.mark.requirement("packets-32")
def test_a_locked_decision_that_is_kept_and_contradicted_beside() -> None:
    old = "Use SQLite in WAL mode for the store."
    against = "No longer use WAL mode in the SQLite store."
    changed = compare({"decisions": locked(old)}, {"decisions": locked(old) + decided(against)})
    assert changed.locked == [LockedChange(old, "contradicted", against)]


@pytest.mark.requirement("packets-32")
def test_a_locked_decision_that_is_dropped() -> None:
    changed = compare({"decisions": locked("Use WAL.", "Support Windows first.")}, {"decisions": locked("Use WAL.")})
    assert changed.locked == [LockedChange("Support Windows first.", "dropped")]
    assert changed.dropped == {}


@pytest.mark.requirement("packets-32")
def test_a_locked_decision_that_is_unlocked() -> None:
    changed = compare({"decisions": locked("Use WAL.")}, {"decisions": decided("use WAL")})
    assert changed.locked == [LockedChange("Use WAL.", "unlocked", "use WAL")]


@pytest.mark.requirement("packets-32")
def test_a_locked_decision_that_is_reopened_as_a_question() -> None:
    old = "Use SQLite in WAL mode for the store."
    question = "Should the store really use SQLite in WAL mode?"
    for newer in ([], locked(old)):
        changed = compare({"decisions": locked(old)}, {"decisions": newer, "open_questions": [question]})
        assert changed.locked == [LockedChange(old, "reopened", question)]


def test_a_question_that_was_open_before_reopens_nothing() -> None:
    old = locked("Use SQLite in WAL mode for the store.")
    same = {"decisions": old, "open_questions": ["Should the store use SQLite in WAL mode?"]}
    assert compare(same, same).locked == []


@pytest.mark.requirement("packets-32")
def test_a_reworded_locked_decision_is_kept() -> None:
    old = locked("Use SQLite in WAL mode for the store.")
    for text in ("The store uses SQLite in WAL mode.", "Use SQLite in WAL mode for the store and for tests."):
        changed = compare({"decisions": old}, {"decisions": locked(text)})
        assert changed.locked == [], text


def test_unrelated_news_contradict_nothing() -> None:
    old = locked("Use SQLite in WAL mode for the store.")
    news = decided("Do not ship on Fridays.", "Avoid global state in the parser.", "Drop support for Python 3.9.")
    assert compare({"decisions": old}, {"decisions": old + news}).locked == []


def test_several_fates_in_the_order_of_the_older_packet() -> None:
    older = locked("Use WAL in the store.", "Support Windows first.", "Write logs to stderr.")
    newer = decided("Write logs to stdout.", "Use WAL in the store.")
    assert [(item.decision, item.status) for item in compare({"decisions": older}, {"decisions": newer}).locked] == [
        ("Use WAL in the store.", "unlocked"),
        ("Support Windows first.", "dropped"),
        ("Write logs to stderr.", "contradicted"),
    ]


def test_the_json_shape() -> None:
    changed = compare({"decisions": locked("Use WAL.")}, {"decisions": decided("Use WAL.")})
    out = json.loads(json.dumps(changed.to_json()))
    assert out["locked"] == [{"decision": "Use WAL.", "status": "unlocked", "by": "Use WAL."}]
    assert list(out) == [
        "older",
        "newer",
        "goal",
        "next_step",
        "decided",
        "changed",
        "tried",
        "answered",
        "opened",
        "added",
        "dropped",
        "locked",
    ]


def test_packets_at_the_limits_are_compared() -> None:
    words = [f"word{i} " * 4 for i in range(64)]
    older = minimal(decisions=locked(*words), open_questions=[f"{text}?" for text in words[:32]])
    newer = minimal(decisions=decided(*(f"not {text}" for text in words)))
    changed = diff.compare(Packet.from_document(older), Packet.from_document(newer))
    assert {item.status for item in changed.locked} == {"contradicted"}
    assert len(changed.locked) == 64
