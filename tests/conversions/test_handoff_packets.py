"""Handoff to packet and back: what both can say survives, the rest is reported."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.continuity import handoff
from segue.conversions import memories
from segue.conversions.handoffs import from_packet, to_packet
from segue.packets import drafts
from segue.packets.model import Attempt, Decision, Method, Packet

AT = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
STATE: dict[str, Any] = {
    "current_step": "STEP-3",
    "current_run": "RUN-002",
    "current_node": "NODE-012",
    "continuation_node": "NODE-013",
    "completed_nodes": ["NODE-010", "NODE-011"],
    "open_questions": ["Why a stride of two?"],
    "pending_user_intents": ["a summary"],
    "retest_due_questions": ["Q-007"],
    "recent_corrections": ["the importer streams"],
    "evidence_ids": ["TX-0004"],
    "unique_next_action": "Explain NODE-012.",
}


def made(hashes: dict[str, str] | None = None, candidates: Any = (), **state: Any) -> handoff.Handoff:
    return handoff.create(STATE | state, hashes or {}, candidates, AT)


@pytest.mark.requirement("continuity-handoff-packet")
def test_where_each_part_of_a_handoff_stands_in_a_packet() -> None:
    own = made()
    converted = to_packet(own, project="importer")
    packet = converted.packet
    assert (packet.goal, packet.next_step, packet.created_at) == ("STEP-3", "Explain NODE-012.", own.created_at)
    assert packet.project is not None and packet.project.name == "importer"
    assert packet.provenance is not None and packet.provenance.source_hash == f"sha256:{own.envelope_hash}"
    assert [(each.tried, each.outcome) for each in packet.attempts] == [
        ("NODE-010", "succeeded"),
        ("NODE-011", "succeeded"),
    ]
    assert packet.constraints == (
        "Run: RUN-002",
        "Node: NODE-012",
        "Continues at: NODE-013",
        "Correction: the importer streams",
        "The user wants: a summary",
        "Evidence: TX-0004",
    )
    assert packet.open_questions == ("Why a stride of two?", "Ask again: Q-007")
    assert converted.losses == []
    assert to_packet(own, project="importer").packet == packet
    assert drafts.finished(packet.canonical, AT)[0] == packet


def test_where_a_handoff_stood_is_no_rule_to_remember() -> None:
    packet = to_packet(made(), project="importer").packet
    rules = [each.content for each in memories.from_packet(packet) if each.kind == "constraint"]
    assert rules == ["Correction: the importer streams", "The user wants: a summary"]
    own = Packet.new(goal="g", next_step="n", now=AT, constraints=("Node: 20 or newer.",))
    assert [each.content for each in memories.from_packet(own) if each.kind == "constraint"] == ["Node: 20 or newer."]


@pytest.mark.requirement("continuity-handoff-packet")
def test_what_a_packet_has_no_place_for_is_reported() -> None:
    candidate = {"candidate_id": "M-0001", "status": "approved", "content_hash": "c" * 64}
    own = made({"LOG.md": "a" * 64}, [candidate], question_queue_ids=["Q-1", "Q-2"], current_question_id="Q-1")
    losses = to_packet(own, goal="Finish the course.").losses
    assert [(each.kind, each.path, each.text) for each in losses] == [
        ("no place", "current_step", "STEP-3"),
        ("no place", "question_queue_ids", "Q-1, Q-2"),
        ("no place", "current_question_id", "Q-1"),
        ("no place", "artifact_hashes", "LOG.md"),
        ("no place", "memory_candidates", "M-0001 approved"),
    ]


def test_a_handoff_without_places_has_a_goal_all_the_same() -> None:
    nowhere = dict.fromkeys(("current_step", "current_run", "current_node", "continuation_node"))
    assert to_packet(made(**nowhere)).packet.goal == "Explain NODE-012."
    assert to_packet(made(current_step=None)).packet.goal == "RUN-002"
    assert to_packet(made(), goal="Ship it.").packet.goal == "Ship it."


@pytest.mark.requirement("continuity-handoff-packet")
def test_a_handoff_of_any_size_makes_a_packet() -> None:
    own = made(
        completed_nodes=["n" * 4_000] * 100,
        open_questions=["q" * 4_000] * 50,
        recent_corrections=[{"was": "x" * 3_000, "is": "说" * 500}] * 40,
    )
    converted = to_packet(own)
    assert drafts.finished(converted.packet.canonical, AT)[0] == converted.packet
    kinds = [each.kind for each in converted.losses]
    assert kinds.count("cut") == 190
    kept = sum(len(getattr(converted.packet, name)) for name in ("attempts", "constraints", "open_questions"))
    assert kinds.count("dropped") == 190 + 6 - kept  # and nothing else goes


def test_a_secret_is_masked_in_the_report() -> None:
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    losses = to_packet(made(question_queue_ids=[key])).losses
    assert [each.text for each in losses] == ["[redacted:aws-key]"]


@pytest.mark.requirement("continuity-handoff-packet")
def test_a_packet_makes_the_state_that_it_describes() -> None:
    packet = Packet.new(
        goal="Ship the importer.",
        next_step="Write the test.\nThen run it.",
        now=AT,
        constraints=["No new dependency."],
        success_criteria=["All green."],
        decisions=[Decision(what="Stream rows.", why="They do not fit.")],
        methods=[Method(name="probe", when_applicable="always", how="probe it")],
        attempts=[
            Attempt(tried="csv", outcome="succeeded"),
            Attempt(tried="polars", outcome="failed", learned="too large"),
        ],
        open_questions=["Which encoding?"],
    )
    converted = from_packet(packet)
    assert converted.state == {
        "current_step": "Ship the importer.",
        "current_run": None,
        "current_node": None,
        "continuation_node": None,
        "completed_nodes": ["csv"],
        "open_questions": ["Which encoding?"],
        "pending_user_intents": [],
        "retest_due_questions": [],
        "recent_corrections": [],
        "evidence_ids": [packet.id],
        "unique_next_action": "Write the test. ⏎ Then run it.",
    }
    assert handoff.create(converted.state, {}, (), AT).next_action == "Write the test. ⏎ Then run it."
    assert {each.path for each in converted.losses} == {
        "constraints[0]",
        "decisions[0]",
        "methods[0]",
        "success_criteria[0]",
        "attempts[1]",
        "next_step",
    }


_words = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs")), min_size=1, max_size=40).filter(
    lambda text: text.strip() and not text.startswith(("Ask again", "Run: ", "Node: "))
)
_lists = st.lists(_words, max_size=4, unique=True)


@given(
    st.fixed_dictionaries(
        {name: _lists for name in STATE if isinstance(STATE[name], list)}
        | {name: st.none() | _words for name in ("current_run", "current_node", "continuation_node")}
        | {"current_step": _words, "unique_next_action": _words.map(str.strip)}
    )
)
@settings(max_examples=60)
@pytest.mark.requirement("continuity-handoff-packet")
def test_a_state_survives_the_way_through_a_packet(state: dict[str, Any]) -> None:
    packet = to_packet(made(**state)).packet
    back = from_packet(packet).state
    assert back["evidence_ids"] == [*state["evidence_ids"], packet.id]
    assert back | {"evidence_ids": state["evidence_ids"]} == state
