"""Capsule to packet: decision C-11 line by line; every packet is valid, and says what a capsule alone can say."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest
from conversion_samples import capsules
from hypothesis import given
from ulid import ULID

from segue.capsules import Capsule, Chain, Loop, Meta, Node, Rejection, Relation, State, parse
from segue.capsules.identity import identity
from segue.conversions.reports import Loss
from segue.conversions.to_packet import NO_NEXT_STEP, to_packet
from segue.packets import schema

WHOLE = Capsule(
    version="v1.2",
    meta=Meta("report export", "software", "WORKING", "2026-05-04T09:30Z"),
    chain=Chain(4, "2026-01-02T03:04Z"),
    stamped=True,
    skeleton=(
        Node("CHOICE", "stream rows", "memory ran out"),
        Node("CONSTRAINT", "under a minute", "the gateway cuts longer calls"),
        Node("CONSTRAINT", "no new service", "stated as a hard limit"),
        Node("DISCOVERY", "the replica lags", "seen at noon"),
        Node("PIVOT", "pages, not cursors", "cursors time out"),
        Node("OUTCOME", "a queue", "it drains in order"),
    ),
    negative=(
        Rejection("one big query", "locks the table", "read in pages"),
        Rejection("temp tables", "failed, high", "never write there"),
        Rejection("snapshots", "failed", "too slow"),
        Rejection("batches", "partial, low", "only at night"),
    ),
    internal=(
        State("UNCERTAINTY", "I doubt the order"),
        State("DIRECTION", "keyset pages"),
        State("INTUITION", "it is the index"),
        State("UNRESOLVED", "who owns it"),
    ),
    relation=(Relation("STYLE", "short: no preamble"), Relation("TRUST", "high")),
    loops=(
        Loop("PROMISE", "write the page", "MED"),
        Loop("HYPOTHESIS_UNTESTED", "pages are faster", "HIGH"),
        Loop("INCOMPLETE_TASK", "measure it", "HIGH"),
        Loop("DEFERRED_QUESTION", "which region", "LOW"),
    ),
    seed="Export by pages.",
)
BARE = replace(
    WHOLE, chain=None, stamped=False, skeleton=(), negative=(), internal=(), relation=(), loops=(), seed="One."
)


def test_a_whole_capsule() -> None:
    document = to_packet(WHOLE).packet.document()
    assert document == {
        "ltm_version": "0.2",
        "id": identity(WHOLE),
        "created_at": "2026-05-04T09:30:00Z",
        "project": {"name": "report export"},
        "goal": "Export by pages.",
        "constraints": [
            "under a minute (the gateway cuts longer calls)",
            "no new service",
            "DIRECTION: keyset pages",
            "INTUITION: it is the index",
            "STYLE: short: no preamble",
            "TRUST: high",
        ],
        "decisions": [
            {"what": "stream rows", "why": "memory ran out"},
            {"what": "pages, not cursors", "why": "cursors time out"},
        ],
        "attempts": [
            {"tried": "the replica lags", "outcome": "succeeded", "learned": "seen at noon"},
            {"tried": "a queue", "outcome": "succeeded", "learned": "it drains in order"},
            {"tried": "one big query", "outcome": "failed", "learned": "read in pages (locks the table)"},
            {"tried": "temp tables", "outcome": "failed", "learned": "never write there", "confidence": "high"},
            {"tried": "snapshots", "outcome": "failed", "learned": "too slow"},
            {
                "tried": "batches",
                "outcome": "failed",
                "learned": "only at night (it worked in part)",
                "confidence": "low",
            },
        ],
        "open_questions": ["write the page", "measure it", "which region", "I doubt the order", "who owns it"],
        "next_step": "pages are faster",
        "tags": ["software"],
        "provenance": {"source_hash": "sha256:" + hashlib.sha256(WHOLE.text.encode()).hexdigest()},
    }


def test_the_report_of_a_whole_capsule() -> None:
    assert to_packet(WHOLE).losses == [
        Loss("no place", "META", "depth WORKING"),
        Loss("no place", "CHAIN", "CHAIN: hops=4 origin=2026-01-02T03:04Z"),
        Loss("no place", "L1:SKELETON[3]", "type DISCOVERY"),
        Loss("no place", "L1:SKELETON[4]", "type PIVOT"),
        Loss("replaced", "L2:NEGATIVE[3]", "partial as failed"),
        Loss("no place", "L3:INTERNAL[0]", "type UNCERTAINTY"),
        Loss("no place", "L3:INTERNAL[3]", "type UNRESOLVED"),
        Loss("no place", "L5:LOOPS[0]", "type PROMISE, priority MED"),
        Loss("no place", "L5:LOOPS[1]", "type HYPOTHESIS_UNTESTED, priority HIGH"),
        Loss("no place", "L5:LOOPS[2]", "type INCOMPLETE_TASK, priority HIGH"),
        Loss("no place", "L5:LOOPS[3]", "type DEFERRED_QUESTION, priority LOW"),
    ]


def test_a_bare_capsule() -> None:
    converted = to_packet(BARE)
    assert set(converted.packet.document()) == {
        "ltm_version", "id", "created_at", "project", "goal", "next_step", "tags", "provenance",
    }  # fmt: skip
    assert converted.packet.next_step == NO_NEXT_STEP
    assert converted.losses == [Loss("no place", "META", "depth WORKING")]


@pytest.mark.parametrize(
    ("priorities", "chosen"),
    [("LOW MED HIGH HIGH", 2), ("LOW MED", 0), ("MED", 0), ("HIGH LOW", 0), ("MED LOW HIGH", 2)],
)
def test_the_next_step_is_the_first_high_loop_else_the_first(priorities: str, chosen: int) -> None:
    loops = tuple(Loop("PROMISE", f"step {n}", word) for n, word in enumerate(priorities.split()))
    packet = to_packet(replace(BARE, loops=loops)).packet
    assert packet.next_step == f"step {chosen}"
    assert packet.open_questions == tuple(loop.description for n, loop in enumerate(loops) if n != chosen)


def test_two_loops_that_are_the_same_are_one_step_and_one_question() -> None:
    loop = Loop("PROMISE", "twice", "HIGH")
    packet = to_packet(replace(BARE, loops=(loop, loop))).packet
    assert (packet.next_step, packet.open_questions) == ("twice", ("twice",))


@pytest.mark.parametrize(
    ("domain", "tags", "losses"),
    [
        ("law", ("law",), []),
        ("Data Science", ("data-science",), [("replaced", "domain Data Science as data-science")]),
        ("C++", (), [("no place", "domain C++")]),
        ("-", (), [("no place", "domain -")]),
        ("x" * 33, (), [("no place", "domain " + "x" * 33)]),
    ],
)
def test_the_domain_is_the_tag_where_it_can_be_one(
    domain: str, tags: tuple[str, ...], losses: list[tuple[str, str]]
) -> None:
    converted = to_packet(replace(BARE, meta=replace(BARE.meta, domain=domain)))
    assert converted.packet.tags == tags
    found = [(loss.kind, loss.text) for loss in converted.losses if loss.path == "META" and "depth" not in loss.text]
    assert found == losses


@pytest.mark.parametrize(
    ("member", "value", "path"),
    [
        ("meta", replace(BARE.meta, topic="x" * 200), "META"),
        ("seed", "s" * 1030, "SEED"),
        ("skeleton", (Node("CHOICE", "f" * 1030, "r"),), "L1:SKELETON[0]"),
        ("skeleton", (Node("OUTCOME", "f", "r" * 1030),), "L1:SKELETON[0]"),
        ("skeleton", (Node("CONSTRAINT", "f" * 1020, "reason"),), "L1:SKELETON[0]"),
        ("negative", (Rejection("o", "r" * 500, "l" * 530),), "L2:NEGATIVE[0]"),
        ("negative", (Rejection("o", "partial", "l" * 1020),), "L2:NEGATIVE[0]"),
        ("internal", (State("DIRECTION", "c" * 1020),), "L3:INTERNAL[0]"),
        ("relation", (Relation("STYLE", "s" * 1030),), "L4:RELATION[0]"),
        ("loops", (Loop("PROMISE", "d" * 1030, "HIGH"),), "L5:LOOPS[0]"),
    ],
)
def test_a_text_that_is_too_long_for_a_packet_is_cut_and_reported(member: str, value: Any, path: str) -> None:
    short = replace(BARE.meta, topic="t", domain="d", depth="DEEP")
    members: dict[str, Any] = {"meta": short, "seed": "s"} | {member: value}
    capsule = parse(replace(BARE, **members).text)
    converted = to_packet(capsule)
    schema.require_valid(converted.packet.document())
    [cut] = [loss for loss in converted.losses if loss.kind == "cut"]
    assert cut.path == path
    texts = json.dumps(converted.packet.document(), ensure_ascii=False)
    assert "…" in texts
    assert len(cut.text) > 1


@pytest.mark.parametrize(
    ("timestamp", "milliseconds"),
    [
        ("2026-05-04T09:30Z", 1_777_887_000_000),
        ("1970-01-01T00:00Z", 0),
        ("1969-12-31T23:59Z", 0),
        ("0001-01-01T00:00Z", 0),
        ("9999-12-31T23:59Z", 253_402_300_740_000),
    ],
)
def test_the_id_is_the_time_and_eighty_bits_of_the_text(timestamp: str, milliseconds: int) -> None:
    capsule = replace(WHOLE, meta=replace(WHOLE.meta, timestamp=timestamp))
    converted = to_packet(capsule).packet
    schema.require_valid(converted.document())
    assert converted.created_at == timestamp.replace("Z", ":00Z")
    parsed = ULID.from_str(converted.id)
    assert parsed.milliseconds == milliseconds
    assert parsed.bytes[6:] == hashlib.sha256(capsule.text.encode()).digest()[:10]


def test_another_text_has_another_id_and_the_same_one_the_same() -> None:
    assert identity(parse(WHOLE.text)) == identity(WHOLE)
    # Without the blank lines that a writer puts, it is still the same capsule.
    head, body = WHOLE.text.split("\n\n", 1)
    unstamped = replace(WHOLE, stamped=False)
    head, body = unstamped.text.split("\n\n", 1)
    compact = parse(head + "\n\n" + body.replace("\n\n", "\n"))
    assert to_packet(compact) == to_packet(unstamped)
    assert identity(unstamped) != identity(WHOLE)
    assert identity(replace(WHOLE, seed="Export by page.")) != identity(WHOLE)


def test_no_secret_stands_in_the_report() -> None:
    secret = "AK" + "IA" + "Q7Z2" * 4
    converted = to_packet(replace(BARE, meta=replace(BARE.meta, domain=f"C++ {secret}")))
    assert Loss("no place", "META", "domain C++ [redacted:aws-key]") in converted.losses


@given(capsules)
def test_any_capsule_becomes_a_valid_packet_the_same_each_time(capsule: Capsule) -> None:
    converted = to_packet(capsule)
    schema.require_valid(converted.packet.document())
    assert schema.parse(converted.packet.canonical) == converted.packet
    assert to_packet(parse(capsule.text)) == converted


@given(capsules)
def test_every_entry_of_the_capsule_stands_in_the_packet(capsule: Capsule) -> None:
    packet = to_packet(capsule).packet
    facts = [each.what for each in packet.decisions] + [each.tried for each in packet.attempts]
    reasons = [each.why for each in packet.decisions] + [each.learned for each in packet.attempts]
    for node in capsule.skeleton:
        if node.type == "CONSTRAINT":
            assert f"{node.fact} ({node.reason})" in packet.constraints
        else:
            assert (node.fact, node.reason) in zip(facts, reasons, strict=True)
    for entry in capsule.negative:
        learned = [reason for fact, reason in zip(facts, reasons, strict=True) if fact == entry.option]
        # Where it reads as one of C-10, the reason is outcome and confidence.
        read = entry.reason.startswith(("failed", "partial"))
        assert any(each.startswith(entry.lesson) and (entry.reason in each or read) for each in learned)
    open_texts = (*packet.open_questions, packet.next_step)
    assert all(loop.description in open_texts for loop in capsule.loops)
    for state in capsule.internal:
        asks = state.type in ("UNCERTAINTY", "UNRESOLVED")
        assert state.content in open_texts if asks else state.line in packet.constraints
    assert all(relation.line in packet.constraints for relation in capsule.relation)
    assert packet.goal == capsule.seed
    assert len(packet.decisions) + len(packet.attempts) + len(packet.constraints) + len(open_texts) == sum(
        map(len, capsule.layers)
    ) + (not capsule.loops)
