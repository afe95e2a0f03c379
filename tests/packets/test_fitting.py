"""The resume block that is cut to fit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from segue.packets import fitting, resume
from segue.packets.model import Attempt, Decision, Method, Packet

PACKET = Packet(
    ltm_version="0.2",
    id="01K6Q2V9D4W7XJ3T5N8RBZC1HA",
    created_at="2026-05-04T09:30:00Z",
    goal="Ship the importer.",
    next_step="Run the tests.",
    success_criteria=tuple(f"Criterion {number}." for number in range(6)),
    constraints=tuple(f"Constraint {number}." for number in range(12)),
    decisions=tuple(
        Decision(what=f"Decision {number}.", why="A reason. " * 9, locked=number % 2 == 0) for number in range(12)
    ),
    methods=(Method(name="a-method", when_applicable="Always.", how="So."),),
    attempts=tuple(
        Attempt(tried=f"Attempt {number}.", outcome="succeeded" if number % 2 else "failed") for number in range(12)
    ),
    open_questions=tuple(f"Question {number}?" for number in range(6)),
)
WHOLE = resume.render(PACKET)
CORE = resume.render(replace(Packet.new(goal=PACKET.goal, next_step=PACKET.next_step), id=PACKET.id))


def cut(length: int) -> str:
    return fitting.fitted(PACKET, lambda block: len(block) <= length)


def test_what_fits_is_not_cut() -> None:
    assert cut(len(WHOLE)) == WHOLE


@pytest.mark.parametrize("length", range(len(CORE) + 900, len(WHOLE), 97))
def test_it_fits_and_keeps_what_is_needed(length: int) -> None:
    block = cut(length)
    assert 0 < len(block) <= length
    for kept in (resume.TITLE, "Ship the importer.", "Run the tests.", f"Packet:    {PACKET.id}"):
        assert kept in block
    assert "a-method" not in block


def test_what_is_needed_least_goes_first() -> None:
    block = cut(len(WHOLE) - 1)
    assert "a-method" not in block
    assert "Attempt 1." in block
    block = cut(len(WHOLE) - 200)
    assert "Attempt 1." not in block
    assert "Attempt 0." in block
    block = cut(len(CORE) + 1_000)
    assert "Decision 0." in block
    assert "Decision 11." not in block


def test_texts_are_cut_where_leaving_out_is_not_enough() -> None:
    long = replace(PACKET, goal="word " * 200, next_step="step " * 200)
    block = fitting.fitted(long, lambda each: len(each) <= 1_900)
    assert 0 < len(block) <= 1_900
    assert "word word" in block
    assert "…" in block


def test_where_nothing_fits_there_is_nothing() -> None:
    assert cut(100) == ""
