"""Labelled sessions: what the draft says about them is right, and little of what it should say is missing."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from segue.conversions.draft import NO_GOAL, NO_NEXT_STEP, draft
from segue.transcripts.reader import read_file

FIXTURES = Path(__file__).parent / "fixtures"
LABELS: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "labels.json").read_text(encoding="utf-8"))
FIELDS = ("goal", "next_step", "constraints", "decisions", "attempts", "open_questions")
NOW = datetime(2026, 9, 2, tzinfo=UTC)


def drafted(name: str) -> dict[str, Any]:
    events = read_file(FIXTURES / f"{name}.jsonl")
    return draft(events, now=NOW, project_name="shop", project_ref="example.org/ana/shop", branch=None)


def said(packet: dict[str, Any], field: str) -> list[Any]:
    """What the draft claims in `field`; the sentences that say "nothing was recorded" claim nothing."""
    value = packet.get(field, [])
    if isinstance(value, str):
        return [] if value in (NO_GOAL, NO_NEXT_STEP) else [value]
    return list(value)


def wanted(label: dict[str, Any], field: str) -> list[Any]:
    value = label[field]
    return value if isinstance(value, list) else [value] if value else []


def agrees(claim: Any, label: Any) -> bool:
    """Whether a claim says what a label asks for, in every part of it."""
    if isinstance(label, str):
        return isinstance(claim, str) and label in claim.lower()
    return all(label[part] in claim[part].lower() if label[part] else not claim[part] for part in label)


def score(name: str, field: str) -> tuple[int, int, int]:
    """Return how many claims are right, how many there are, and how many were wanted."""
    claims, labels = said(drafted(name), field), wanted(LABELS[name], field)
    return sum(any(agrees(claim, label) for label in labels) for claim in claims), len(claims), len(labels)


def test_every_fixture_is_labelled() -> None:
    assert sorted(path.stem for path in FIXTURES.glob("*.jsonl")) == sorted(LABELS)
    assert min(sum(name.startswith(host) for name in LABELS) for host in ("claude", "codex")) >= 6


@pytest.mark.parametrize("field", FIELDS)
def test_precision_and_recall_of_each_field(field: str) -> None:
    scores = [score(name, field) for name in LABELS]
    right, claimed, asked = (sum(column) for column in zip(*scores, strict=True))
    assert claimed >= 3, "too few claims to judge"
    assert right / claimed >= 0.9, f"{field}: {right} of {claimed} claims are right"
    assert right / asked >= 0.8, f"{field}: {right} of {asked} wanted claims are made"


@pytest.mark.parametrize("name", sorted(LABELS))
def test_no_session_is_drafted_badly(name: str) -> None:
    scores = [score(name, field) for field in FIELDS]
    right, claimed, _ = (sum(column) for column in zip(*scores, strict=True))
    assert right >= 0.8 * claimed, said(drafted(name), "attempts")


@pytest.mark.parametrize("name", sorted(LABELS))
def test_drafts_name_no_place_on_this_machine(name: str) -> None:
    text = json.dumps(drafted(name), ensure_ascii=False)
    assert "/home/" not in text
    assert "C:\\" not in text
    assert "/etc/" not in text


def test_the_scorer_sees_wrong_claims() -> None:
    assert not agrees("Use Rust.", "use python")
    assert not agrees({"what": "Use Rust.", "why": "It is fast."}, {"what": "use rust", "why": ""})
    assert agrees({"what": "Use Rust.", "why": "It is fast."}, {"what": "use rust", "why": "fast"})
