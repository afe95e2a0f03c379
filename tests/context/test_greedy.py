"""The generic packer, with values worked out by hand: an item costs a token for each four characters begun, and 12."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packing_samples import INTENT, NOW, candidate, candidates

from segue.context.packing import pack
from segue.context.profiles import GENERIC

if TYPE_CHECKING:
    from segue.context.candidate import Candidate, Selection
    from segue.context.layers import Intent, PackLayer


def sized(characters: int, layer: PackLayer) -> Candidate:
    return candidate("x" * characters, layer)


def packed(arrived: list[Candidate], room: int, intent: Intent = "answer") -> Selection:
    selection = pack(arrived, room, profile=GENERIC, intent=intent, now=NOW)
    assert [each for each, _ in selection.dropped] == sorted(
        (each for each in arrived if each.ref not in {item.candidate.ref for item in selection.packed}), key=_place
    )
    return selection


def _place(each: Candidate) -> tuple[int, str]:
    order = ["constraints", "decisions", "facts", "entity", "procedures", "identity", "open_loops", "recency"]
    return order.index(each.layer), each.ref


@pytest.mark.requirement("context-greedy")
def test_each_layer_has_its_share_and_what_was_left_before() -> None:
    constraint, another = sized(40, "constraints"), sized(4, "constraints")
    decision, later = sized(56, "decisions"), sized(4, "decisions")
    facts = [sized(100, "facts"), sized(116, "facts"), sized(4, "facts")]
    entities = [sized(80, "entity"), sized(4, "entity")]
    procedure, style, loop, recent = (
        sized(8, "procedures"),
        sized(48, "identity"),
        sized(4, "open_loops"),
        sized(64, "recency"),
    )
    arrived = [recent, loop, style, procedure, *entities, *facts, decision, later, constraint, another]
    # Of 197 tokens: 19, 29, 78, 29, 0, 9, 9, 19.
    expected = [
        (constraint, 22),  # of 19: the first constraint always; 3 too much
        (decision, 26),  # of 29 − 3
        (facts[0], 37),  # of 78
        (facts[1], 41),  # of the 41 left
        # The first entity takes 32 of 29: the layer ends, although the second would fit.
        (procedure, 14),  # of 0 + 29
        (style, 24),  # of 9 + 15
        # The loop takes 13 of 9.
        (recent, 28),  # of 19 + 9
    ]
    selection = packed(arrived, 197)
    assert [(each.candidate, each.cost) for each in selection.packed] == expected
    assert all(each.content == each.candidate.memory.content and not each.compressed for each in selection.packed)
    assert selection.used == 192


@pytest.mark.requirement("context-greedy")
@pytest.mark.parametrize(
    ("intent", "layer", "allowed"),  # of 1,000 tokens, where all layers before are empty
    [
        ("answer", "decisions", 250),
        ("answer", "entity", 800),
        ("act", "procedures", 800),
        ("draft", "identity", 850),
        ("plan", "entity", 600),
        ("plan", "open_loops", 900),
        ("recall", "identity", 400),
        ("recall", "recency", 1_000),
    ],
)
def test_the_shares_depend_on_the_intent(intent: Intent, layer: PackLayer, allowed: int) -> None:
    fits, does_not = sized(4 * (allowed - 12), layer), sized(4 * (allowed - 12) + 1, layer)
    assert [each.candidate for each in packed([fits], 1_000, intent).packed] == [fits]
    assert packed([does_not], 1_000, intent).packed == ()


@pytest.mark.requirement("context-greedy")
def test_the_first_fact_is_cut_where_none_fits() -> None:
    long, short = candidate("abcd" * 900), candidate("no")
    for room, kept in ((50, 60), (100, 65), (500, 325)):  # 65 of 100 for facts where the layers before are empty
        selection = packed([long, short], room)
        assert [(each.content, each.cost, each.compressed) for each in selection.packed] == [
            ("abcd" * kept, kept + 12, "cut")
        ]
    brief = candidate("x" * 30)  # takes 20 of 13, and is no longer than 60 tokens
    selection = packed([brief, short], 20)
    assert [(each.content, each.cost, each.compressed) for each in selection.packed] == [("x" * 30, 20, "")]


@pytest.mark.requirement("context-greedy")
def test_what_was_taken_too_much_is_missing_to_the_layers_after() -> None:
    fact, recent = sized(1_000, "facts"), sized(4, "recency")
    # The cut fact takes 77 of 10 + 15 + 40 = 65; 15 + 0 + 5 + 5 + 10 follow, so 23 are left for an item of 13.
    assert [each.candidate for each in packed([fact, recent], 100).packed] == [fact, recent]
    # At 70: 72 of 7 + 10 + 28 = 45; 10 + 0 + 3 + 3 + 7 follow, which leaves −4.
    assert [each.candidate for each in packed([fact, recent], 70).packed] == [fact]


@pytest.mark.requirement("context-greedy", "context-budget")
def test_a_constraint_over_the_budget_is_packed_and_shows_in_used() -> None:
    rule, other = sized(800, "constraints"), sized(4, "constraints")
    selection = packed([rule, other, sized(4, "decisions"), sized(4, "recency")], 150)
    assert [each.candidate for each in selection.packed] == [rule]
    assert selection.used == 212 > 150


@pytest.mark.requirement("context-greedy", "context-budget")
@given(candidates(), st.integers(120, 900), INTENT)
@settings(max_examples=80, deadline=None)
def test_only_the_first_constraint_and_the_first_fact_can_overrun(
    arrived: list[Candidate], room: int, intent: Intent
) -> None:
    selection = pack(arrived, room, profile=GENERIC, intent=intent, now=NOW)
    for layer in ("constraints", "facts"):
        of_layer = [each for each in arrived if each.layer == layer]
        kept = [each.candidate for each in selection.packed if each.candidate.layer == layer]
        assert kept[:1] == of_layer[:1]
    forced = [next((each for each in arrived if each.layer == layer), None) for layer in ("constraints", "facts")]
    others = [each.cost for each in selection.packed if each.candidate not in forced]
    assert sum(others) <= room
    if not any(forced):
        assert selection.used <= room
