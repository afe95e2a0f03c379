"""Packets and capsules as items."""

from __future__ import annotations

from datetime import UTC, datetime

from segue.capsules import parse
from segue.conversions.memories import from_capsule, from_packet
from segue.packets.model import Attempt, Decision, Method, Packet, Project, Provenance

NOW = datetime(2026, 9, 1, 8, tzinfo=UTC)
PACKET = Packet.new(
    goal="Move the bakery.",
    next_step="Measure the oven.",
    now=NOW,
    id="01J9ZZ8Q4M3T7W5X2Y6B1C0D9E",
    project=Project(name="bakery", ref="https://example.org/bakery"),
    success_criteria=("Bread by six.",),
    constraints=("No gas.",),
    decisions=(
        Decision(what="Electric oven", why="No gas line", consequences="New wiring", locked=True),
        Decision(what="Two shifts", why=""),
    ),
    methods=(Method(name="proof", when_applicable="cold days", how="longer"),),
    attempts=(
        Attempt(tried="Old oven", outcome="failed", learned="Too wide", confidence="high"),
        Attempt(tried="Small oven", outcome="partial"),
        Attempt(tried="Van", outcome="succeeded", learned="Fits"),
    ),
    open_questions=("Who wires it?",),
    tags=("move",),
    provenance=Provenance(author_model="model-x", confidence="medium"),
)


def test_every_entry_of_a_packet_has_its_kind_and_layer() -> None:
    found = [
        (item.provenance.ref.partition("#")[2], item.content, item.kind, item.layer) for item in from_packet(PACKET)
    ]
    assert found == [
        ("goal", "Goal: Move the bakery.", "claim", "semantic"),
        ("success_criteria[0]", "Done when: Bread by six.", "claim", "semantic"),
        ("constraints[0]", "No gas.", "constraint", "negative"),
        ("decisions[0]", "Electric oven\nWhy: No gas line\nConsequences: New wiring", "decision", "decision"),
        ("decisions[1]", "Two shifts", "decision", "decision"),
        ("methods[0]", "proof\nWhen: cold days\nHow: longer", "procedure", "procedural"),
        ("attempts[0]", "Tried, and it failed: Old oven\nLearned: Too wide", "observation", "negative"),
        ("attempts[1]", "Tried, and it worked in part: Small oven", "observation", "negative"),
        ("attempts[2]", "Tried, and it worked: Van\nLearned: Fits", "observation", "episodic"),
        ("open_questions[0]", "Who wires it?", "question", "episodic"),
        ("next_step", "Next step: Measure the oven.", "action", "episodic"),
    ]


def test_items_belong_to_the_project_that_the_packet_names_or_was_saved_in() -> None:
    assert {item.project for item in from_packet(PACKET, saved_in="kitchen")} == {"bakery"}
    unnamed = Packet.new(goal="Move.", next_step="Pack.", now=NOW, project=Project(name="", ref="example.org/x"))
    assert {item.project for item in from_packet(unnamed, saved_in="kitchen")} == {"kitchen"}
    assert {item.project for item in from_packet(unnamed)} == {""}


def test_what_a_packet_says_of_itself_comes_along() -> None:
    items = from_packet(PACKET, "external")
    assert {(item.project, item.occurred_at) for item in items} == {("bakery", "2026-09-01T08:00:00Z")}
    provenance = items[3].provenance
    assert (provenance.origin, provenance.url, provenance.author) == ("packet", "https://example.org/bakery", "model-x")
    assert (provenance.ref, provenance.author_class) == (f"packet:{PACKET.id}#decisions[0]", "external")
    assert (items[3].tags, items[4].tags) == (("move", "locked"), ("move",))
    assert (items[6].confidence, items[7].confidence) == (0.9, 0.6)
    assert items == from_packet(PACKET, "external")


def test_empty_texts_are_nothing_to_remember() -> None:
    packet = Packet.new(goal=" ", next_step="Go.", now=NOW, constraints=("", " "), open_questions=("",))
    assert [item.content for item in from_packet(packet)] == ["Next step: Go."]


def test_every_entry_of_a_capsule_has_its_kind_and_layer() -> None:
    capsule = parse(
        "===PCSF:v1.2===\nMETA: Bakery | baking | WORKING | 2026-09-01T08:00Z\n\n"
        "L1:SKELETON\nCHOICE | Electric oven | No gas line\nPIVOT | Two shifts | Demand\n"
        "CONSTRAINT | No gas | stated as a hard limit\nDISCOVERY | Door is narrow | Measured\nOUTCOME | Van | Fits\n\n"
        "L2:NEGATIVE\nOld oven | failed, high | Too wide\n\n"
        "L3:INTERNAL\nUNCERTAINTY: Wiring\nDIRECTION: Small steps\nINTUITION: Rye sells\nUNRESOLVED: Colour\n\n"
        "L4:RELATION\nSTYLE: terse\nTRUST: high\n\n"
        "L5:LOOPS\nINCOMPLETE_TASK | Measure | HIGH\nDEFERRED_QUESTION | Who wires it | MED\n"
        "HYPOTHESIS_UNTESTED | Steam helps | MED\nPROMISE | Bread by six | LOW\n\n"
        "SEED: Move the bakery.\n===END===\n"
    )
    items = from_capsule(capsule)
    assert [(item.provenance.ref.partition("#")[2], item.content, item.kind, item.layer) for item in items] == [
        ("SEED", "Goal: Move the bakery.", "claim", "semantic"),
        ("L1[0]", "Electric oven\nWhy: No gas line", "decision", "decision"),
        ("L1[1]", "Two shifts\nWhy: Demand", "decision", "decision"),
        ("L1[2]", "No gas", "constraint", "negative"),
        ("L1[3]", "Door is narrow\nWhy: Measured", "claim", "semantic"),
        ("L1[4]", "Van\nWhy: Fits", "observation", "episodic"),
        ("L2[0]", "Tried and rejected: Old oven\nWhy: failed, high\nLearned: Too wide", "observation", "negative"),
        ("L3[0]", "Uncertain: Wiring", "question", "episodic"),
        ("L3[1]", "Direction: Small steps", "observation", "episodic"),
        ("L3[2]", "Intuition: Rye sells", "observation", "episodic"),
        ("L3[3]", "Unresolved: Colour", "question", "episodic"),
        ("L4[0]", "STYLE: terse", "style", "style"),
        ("L4[1]", "TRUST: high", "style", "style"),
        ("L5[0]", "To do: Measure", "action", "episodic"),
        ("L5[1]", "Who wires it", "question", "episodic"),
        ("L5[2]", "To be tested: Steam helps", "question", "episodic"),
        ("L5[3]", "Promised: Bread by six", "action", "episodic"),
    ]
    assert {item.project for item in items} == {"Bakery"}
    assert {item.occurred_at for item in items} == {"2026-09-01T08:00:00Z"}
    assert {item.provenance.author_class for item in items} == {"agent"}
