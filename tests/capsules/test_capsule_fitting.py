"""Fitting: the order of section 5."""

from __future__ import annotations

from typing import Any

import pytest
from capsule_samples import BASE, META, capsule, edited

from segue.base.errors import InvalidInput
from segue.capsules import check, fit, parse, render, stamp

TAIL = " " + "x" * 20
LAYERS: dict[str, Any] = {
    "skeleton": ("CHOICE | s1 | r", "PIVOT | s2 | r"),
    "negative": ("n1 | r | lesson", "n2 | r | lesson"),
    "internal": (f"DIRECTION: i1{TAIL}", f"INTUITION: i2{TAIL}", f"UNRESOLVED: i3{TAIL}"),
    "relation": ("STYLE: a1", "TRUST: a2", "VOCAB: a3", "MODE: a4"),
    "loops": (
        "PROMISE | p1 | LOW",
        "PROMISE | p2 | HIGH",
        "PROMISE | p3 | MED",
        "PROMISE | p4 | LOW",
        "PROMISE | p5 | MED",
        "PROMISE | p6 | HIGH",
    ),
}
# Worked out by hand from section 5.
ORDER = [
    ("L5:LOOPS", "PROMISE | p4 | LOW"),
    ("L5:LOOPS", "PROMISE | p1 | LOW"),
    ("L4:RELATION", "MODE: a4"),
    ("L4:RELATION", "VOCAB: a3"),
    ("L3:INTERNAL", f"UNRESOLVED: i3{TAIL}"),
    ("L3:INTERNAL", f"INTUITION: i2{TAIL}"),
    ("L3:INTERNAL", f"DIRECTION: i1{TAIL}"),
    ("L5:LOOPS", "PROMISE | p5 | MED"),
    ("L5:LOOPS", "PROMISE | p3 | MED"),
    ("L2:NEGATIVE", "n2 | r | lesson"),
    ("L2:NEGATIVE", "n1 | r | lesson"),
    ("L5:LOOPS", "PROMISE | p6 | HIGH"),
    ("L5:LOOPS", "PROMISE | p2 | HIGH"),
]


def over_by(count: int) -> str:
    """Return a capsule that is too long by `count` characters."""
    base = len(capsule(seed="", **LAYERS))
    return capsule(seed="x" * (1200 + count - base), **LAYERS)


def needed(drops: int) -> int:
    """Return how many characters the first `drops` entries of the order take."""
    return sum(len(entry) + 1 for _, entry in ORDER[:drops])


@pytest.mark.requirement("capsules-21")
@pytest.mark.requirement("capsules-22")
@pytest.mark.requirement("capsules-23")
@pytest.mark.requirement("capsules-25")
@pytest.mark.parametrize("drops", range(1, len(ORDER) + 1))
def test_the_order_and_where_it_stops(drops: int) -> None:
    for over in (needed(drops - 1) + 1, needed(drops)):
        text = over_by(over)
        assert len(text) == 1200 + over
        result = fit(text)
        assert [(line.layer, line.entry) for line in result.dropped] == ORDER[:drops]
        expected = text
        for _, entry in ORDER[:drops]:
            expected = expected.replace(f"{entry}\n", "", 1)
        assert render(result.capsule) == expected
        assert check(expected).valid


@pytest.mark.requirement("capsules-22")
def test_what_fits_is_left_alone() -> None:
    assert fit(BASE).to_json() == {"capsule": BASE, "dropped": []}
    assert fit(over_by(0)).dropped == ()


@pytest.mark.requirement("capsules-24")
def test_what_has_to_stay_may_be_too_long() -> None:
    with pytest.raises(InvalidInput) as caught:
        fit(over_by(needed(len(ORDER)) + 7))
    assert caught.value.code == "capsule.cannot_fit"
    assert caught.value.details == {"over": 7}
    assert "7 bytes over" in caught.value.message


@pytest.mark.requirement("capsules-24")
def test_l1_seed_and_two_relations_stay() -> None:
    kept = fit(over_by(needed(len(ORDER)))).capsule
    given = parse(over_by(0))
    assert kept.skeleton == given.skeleton
    assert kept.relation == given.relation[:2]
    assert kept.negative + kept.internal + kept.loops == ()


def test_the_line_is_reserved() -> None:
    text = over_by(-10)
    result = fit(text, integrity=True)
    assert [line.entry for line in result.dropped] == ["PROMISE | p4 | LOW", "PROMISE | p1 | LOW"]
    assert result.capsule.stamped
    assert check(render(result.capsule)).valid


def test_the_line_is_kept_renewed_or_left_out() -> None:
    stale = render(stamp(BASE)).replace("read in pages", "read by key")
    assert render(fit(stale).capsule) == render(stamp(stale))
    assert render(fit(stale, integrity=False).capsule) == BASE.replace("read in pages", "read by key")


def test_the_token_is_kept() -> None:
    assert fit(capsule(token="v1", **LAYERS)).capsule.version == "v1"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (edited(("CHOICE |", "WISH |")), "capsule.C7"),
        (capsule(internal=("DIRECTION: a",) * 7), "capsule.C6"),
        (edited((META, META.replace("WORKING", "FULL"))), "capsule.C4"),
        ("", "capsule.C3"),
    ],
)
def test_other_rules_are_not_forgiven(text: str, code: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        fit(text)
    assert caught.value.code == code
