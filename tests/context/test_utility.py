"""Utility: the formula of section 4, with values worked out by hand."""

from __future__ import annotations

import math
from datetime import timedelta

import pytest
from packing_samples import NOW, candidate

from segue.context.profiles import CLAUDE, CURSOR, Weights
from segue.context.utility import recency, utility, value

WEIGHTS = Weights(0.5, 0.3, 0.2)
FRESH = timedelta()


@pytest.mark.requirement("context-knapsack")
@pytest.mark.parametrize(("days", "left"), [(0, 1), (30, 0.5), (60, 0.25), (15, math.sqrt(0.5)), (-400, 1)])
def test_freshness_halves_in_thirty_days_and_is_never_more_than_whole(days: int, left: float) -> None:
    assert recency(timedelta(days=days)) == pytest.approx(left)


@pytest.mark.requirement("context-knapsack")
@pytest.mark.parametrize(
    ("relevance", "days", "trust", "prior", "expected"),
    [
        (1.0, 0, 1.0, 1.0, 1.0),
        (0.5, 30, 0.25, 0.4, 0.4 * (0.25 + 0.15 + 0.05)),
        (None, 0, 0.9, 1.0, 0.3 + 0.18),  # not searched for: nothing for relevance
        (0.0, 0, None, 1.0, 0.3 + 0.1),  # unknown trust: 0.5
        (1.0, 0, 1.0, 0.0, 0.0),
    ],
)
def test_the_formula(relevance: float | None, days: int, trust: float | None, prior: float, expected: float) -> None:
    found = utility(relevance, timedelta(days=days), trust, prior=prior, weights=WEIGHTS)
    assert found == pytest.approx(expected)


@pytest.mark.requirement("context-knapsack")
def test_layer_and_reader_decide_what_a_candidate_is_worth() -> None:
    aged = NOW - timedelta(days=30)
    fact = candidate("Text", "facts", relevance=0.5, trust=0.9, captured_at=aged, occurred_at=NOW)
    loop = candidate("Text", "open_loops", relevance=0.5, trust=0.9, captured_at=aged)
    items = value([fact, loop], profile=CLAUDE, intent="answer", now=NOW)
    mixed = 0.58 * 0.5 + 0.27 * 0.5 + 0.15 * 0.9
    assert [item.utility for item in items] == pytest.approx([0.40 * mixed, 0.05 * mixed])
    assert [item.cost for item in items] == [CLAUDE.cost("Text")] * 2
    items = value([fact, loop], profile=CURSOR, intent="plan", now=NOW)
    mixed = 0.72 * 0.5 + 0.14 * 0.5 + 0.14 * 0.9
    assert [item.utility for item in items] == pytest.approx([0.20 * mixed, 0.25 * mixed])


def test_a_memory_from_after_now_is_fresh() -> None:
    late = candidate("Text", captured_at=NOW + timedelta(days=90))
    fresh = candidate("Text", captured_at=NOW)
    one, two = value([late, fresh], profile=CLAUDE, intent="answer", now=NOW)
    assert one.utility == two.utility
