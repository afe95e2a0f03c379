"""Packing as a whole: what must hold for any candidates, readers and rooms."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packing_samples import INTENT, NOW, PROFILE, RELEVANT, candidate, candidates

from segue.context import folding, knapsack
from segue.context.layers import PACK_LAYERS
from segue.context.packing import pack
from segue.context.profiles import CLAUDE, CURSOR, GENERIC, PROFILES
from segue.context.utility import value

if TYPE_CHECKING:
    from segue.context.candidate import Candidate, Packed, Selection
    from segue.context.layers import Intent
    from segue.context.profiles import Profile

HEADER = 120  # the least room that a pack ever has
ROOMS = st.integers(0, 700)


def refs(selection: Selection) -> list[str]:
    return [_ref(each) for each in selection.packed]


def _ref(each: Packed) -> str:
    return each.candidate.ref


@pytest.mark.requirement("context-budget")
@given(candidates(), ROOMS, PROFILE, INTENT)
@settings(max_examples=120, deadline=None)
def test_a_model_never_gets_more_than_its_room(
    arrived: list[Candidate], room: int, profile: Profile, intent: Intent
) -> None:
    selection = pack(arrived, room, profile=profile, intent=intent, now=NOW)
    assert selection.used <= room
    for each in selection.packed:
        assert each.cost == profile.cost(each.content)
        assert each.content
        assert (each.content == each.candidate.memory.content) == (each.compressed == "")


@pytest.mark.requirement("context-budget", "context-folding")
@given(candidates(), ROOMS, st.sampled_from([*PROFILES, GENERIC]), INTENT)
@settings(max_examples=120, deadline=None)
def test_each_candidate_is_accounted_for_once(
    arrived: list[Candidate], room: int, profile: Profile, intent: Intent
) -> None:
    selection = pack(arrived, room, profile=profile, intent=intent, now=NOW)
    folded = [memory.id for each in selection.packed for memory in each.candidate.folded]
    dropped = [each.ref for each, _ in selection.dropped]
    assert Counter([*refs(selection), *folded, *dropped]) == Counter(each.ref for each in arrived)
    assert {reason for _, reason in selection.dropped} <= {"budget"}


@given(candidates(), ROOMS, st.sampled_from([*PROFILES, GENERIC]), INTENT)
@settings(max_examples=60, deadline=None)
def test_what_is_packed_stands_by_layer_and_as_it_arrived(
    arrived: list[Candidate], room: int, profile: Profile, intent: Intent
) -> None:
    selection = pack(arrived, room, profile=profile, intent=intent, now=NOW)
    places = {each.ref: place for place, each in enumerate(arrived)}
    for listed in ([each.candidate for each in selection.packed], [each for each, _ in selection.dropped]):
        order = [(PACK_LAYERS.index(each.layer), places[each.ref]) for each in listed]
        assert order == sorted(order)


@pytest.mark.requirement("context-knapsack-superset")
@given(candidates(), ROOMS, ROOMS, PROFILE, INTENT)
@settings(max_examples=120, deadline=None)
def test_a_larger_room_begins_with_what_a_smaller_one_took(
    arrived: list[Candidate], one: int, other: int, profile: Profile, intent: Intent
) -> None:
    smaller, larger = sorted((one, other))
    ordered = sorted(arrived, key=lambda each: PACK_LAYERS.index(each.layer))
    told = [folding.folded([ordered[place] for place in group]) for group in folding.groups(ordered)]
    items = value(told, profile=profile, intent=intent, now=NOW)
    common, left = set(), smaller
    for place in knapsack.order(items, knapsack.protected(items)):
        left -= items[place].cost
        if left < 0:
            break
        common.add(items[place].candidate.ref)
    for room in (smaller, larger):
        selection = pack(arrived, room, profile=profile, intent=intent, now=NOW)
        assert common <= {each.candidate.ref for each in selection.packed if not each.compressed}


@pytest.mark.requirement("context-knapsack-floor")
@given(candidates(), st.integers(HEADER, 700), PROFILE, INTENT)
@settings(max_examples=120, deadline=None)
def test_the_most_useful_constraint_is_never_lost(
    arrived: list[Candidate], room: int, profile: Profile, intent: Intent
) -> None:
    constraints = [each for each in arrived if each.layer == "constraints"]
    items = value(constraints, profile=profile, intent=intent, now=NOW)
    selection = pack(arrived, room, profile=profile, intent=intent, now=NOW)
    if items:
        assert max(items, key=lambda item: item.utility).candidate.ref in refs(selection)


@pytest.mark.requirement("context-knapsack-floor")
@pytest.mark.parametrize("profile", PROFILES)
def test_a_constraint_that_is_too_long_is_shortened_not_lost(profile: Profile) -> None:
    rule = candidate("Never deploy on a Friday. " + "The reasons are told in the minutes. " * 60, "constraints")
    others = [candidate(f"Fact {number} about the queue of the importer.", relevance=1.0) for number in range(20)]
    selection = pack([*others, rule], HEADER, profile=profile, intent="answer", now=NOW)
    kept = selection.packed[0]
    assert (kept.candidate, kept.content, kept.compressed) == (rule, "Never deploy on a Friday.", "head")
    assert len(selection.packed) > 1  # the rest of the room is used
    assert selection.used <= HEADER

    endless = candidate("Never deploy on a Friday and " * 100, "constraints")
    selection = pack([*others, endless], HEADER, profile=profile, intent="answer", now=NOW)
    assert selection.packed[0].candidate == endless
    assert selection.packed[0].compressed == "cut"
    assert selection.packed[0].content.startswith("Never deploy on a Friday and Never")
    assert selection.used <= HEADER


@pytest.mark.requirement("context-knapsack-floor")
def test_of_a_constraint_even_a_few_letters_are_kept() -> None:
    rule = candidate("Never deploy on a Friday.", "constraints")
    selection = pack([rule], CLAUDE.cost("Never…"), profile=CLAUDE, intent="answer", now=NOW)
    assert [(each.content, each.compressed) for each in selection.packed] == [("Never…", "cut")]
    other = candidate("Never deploy on a Friday.", "decisions")
    assert pack([other], CLAUDE.cost("Never…"), profile=CLAUDE, intent="answer", now=NOW).packed == ()


@pytest.mark.requirement("context-knapsack-floor")
def test_the_floor_is_the_most_useful_constraint_and_the_others_compete() -> None:
    arrived = [
        candidate("Keep every log for ninety days in the archive.", "constraints", relevance=0.0),
        candidate("Never write to the production table by hand.", "constraints", relevance=0.1),
        candidate("Facts that are asked for and short.", relevance=1.0),
    ]
    costs = [RELEVANT.cost(each.memory.content) for each in arrived]
    selection = pack(arrived, costs[1] + costs[2], profile=RELEVANT, intent="answer", now=NOW)
    assert refs(selection) == [arrived[1].ref, arrived[2].ref]
    selection = pack(arrived, costs[1] + costs[2] - 20, profile=RELEVANT, intent="answer", now=NOW)
    assert refs(selection) == [arrived[1].ref]
    assert [each for each, _ in selection.dropped] == [arrived[0], arrived[2]]


@pytest.mark.requirement("context-knapsack")
def test_all_layers_compete_for_one_room() -> None:
    # Of 100 an answer gives facts 40, open loops 5, recency 10: worth 0.4, 0.05 and 0.1 for the same relevance.
    arrived = [
        candidate("Alpha beta gamma delta.", "recency", relevance=1.0),
        candidate("Epsilon zeta eta theta.", "open_loops", relevance=1.0),
        candidate("Iota kappa lambda mu nu.", "facts", relevance=1.0),
    ]
    one = max(RELEVANT.cost(each.memory.content) for each in arrived)
    for room, expected in ((one, [2]), (2 * one, [2, 0]), (3 * one, [2, 1, 0])):
        selection = pack(arrived, room, profile=RELEVANT, intent="answer", now=NOW)
        assert refs(selection) == [arrived[place].ref for place in expected]
    # For a plan open loops count 25, facts 20, recency 10.
    selection = pack(arrived, one, profile=RELEVANT, intent="plan", now=NOW)
    assert refs(selection) == [arrived[1].ref]


@pytest.mark.requirement("context-knapsack")
def test_a_restated_fact_makes_room_for_another() -> None:
    arrived = [
        candidate("The importer retries a failed call five times.", relevance=1.0),
        candidate("The importer retries each failed call five times.", relevance=0.9),
        candidate("Invoices are numbered by tenant since March now.", relevance=0.8),
    ]
    costs = [RELEVANT.cost(each.memory.content) for each in arrived]
    selection = pack(arrived, costs[0] + max(costs[1:]), profile=RELEVANT, intent="answer", now=NOW)
    assert refs(selection) == [arrived[0].ref, arrived[2].ref]


@pytest.mark.requirement("context-folding")
def test_facts_are_folded_for_models_only() -> None:
    said = ["The importer retries a failed call five times.", "Note: the importer retries a failed call FIVE times"]
    arrived = [candidate(text, relevance=0.9) for text in said]
    selection = pack(arrived, 500, profile=CLAUDE, intent="answer", now=NOW)
    assert refs(selection) == [arrived[0].ref]
    assert [memory.id for memory in selection.packed[0].candidate.folded] == [arrived[1].ref]
    assert selection.dropped == ()
    selection = pack(arrived, 500, profile=GENERIC, intent="answer", now=NOW)
    assert refs(selection) == [each.ref for each in arrived]
    assert not any(each.candidate.folded for each in selection.packed)
    selection = pack(arrived, 500, profile=CLAUDE, intent="answer", now=NOW, conflicting={arrived[1].ref})
    assert refs(selection) == [each.ref for each in arrived]


def test_a_group_that_finds_no_room_is_dropped_one_by_one() -> None:
    said = "The importer retries a failed call five times"
    arrived = [candidate(text) for text in (said, said + ".", said + "!")]
    selection = pack(arrived, 13, profile=CLAUDE, intent="answer", now=NOW)
    assert selection.packed == ()
    assert selection.dropped == tuple((each, "budget") for each in arrived)


@pytest.mark.requirement("context-ladder")
def test_what_loses_comes_back_in_fewer_words() -> None:
    winner = candidate("Short and most wanted.", relevance=1.0)
    told = candidate("The queue holds calls. " * 30, relevance=0.9, summary="Calls are queued.")
    other = candidate("The archive keeps all logs. " * 30, relevance=0.8)
    room = CLAUDE.cost(winner.memory.content) + CLAUDE.cost("Calls are queued.") + CLAUDE.cost("The archive keeps all.")
    selection = pack([winner, told, other], room, profile=CLAUDE, intent="answer", now=NOW)
    assert [(each.content, each.compressed) for each in selection.packed[:2]] == [
        ("Short and most wanted.", ""),
        ("Calls are queued.", "summary"),
    ]
    assert refs(selection) == [winner.ref, told.ref]
    assert selection.dropped == ((other, "budget"),)
    selection = pack([winner, told, other], room + 2, profile=CLAUDE, intent="answer", now=NOW)
    assert (selection.packed[2].content, selection.packed[2].compressed) == ("The archive keeps all logs.", "head")


def test_nothing_at_all() -> None:
    for profile in (CLAUDE, GENERIC):
        selection = pack([], 500, profile=profile, intent="recall", now=NOW)
        assert (selection.packed, selection.dropped, selection.used) == ((), (), 0)


@given(candidates(), ROOMS, st.sampled_from([*PROFILES, GENERIC]), INTENT)
@settings(max_examples=40, deadline=None)
def test_the_same_twice_is_the_same(arrived: list[Candidate], room: int, profile: Profile, intent: Intent) -> None:
    one, two = (pack(arrived, room, profile=profile, intent=intent, now=NOW) for _ in range(2))
    assert one == two


@given(st.permutations(range(12)), st.integers(60, 400))
@settings(max_examples=60, deadline=None)
def test_the_order_of_arrival_does_not_decide_between_unequal_items(shuffled: list[int], room: int) -> None:
    arrived = [
        candidate(
            f"Item {number} is about {'word ' * number}.", relevance=(number * 7 % 12 + 1) / 13, id=f"mem_{number}"
        )
        for number in range(12)
    ]
    expected = pack(arrived, room, profile=CLAUDE, intent="answer", now=NOW)
    selection = pack([arrived[place] for place in shuffled], room, profile=CLAUDE, intent="answer", now=NOW)
    assert sorted(selection.packed, key=_ref) == sorted(expected.packed, key=_ref)


def test_equal_items_come_by_layer_and_arrival() -> None:
    # Decisions and the entity count 15 each for an answer.
    texts = ["Alpha one.", "Bravo two.", "Gamma six.", "Delta ten."]
    layers = ["entity", "decisions", "entity", "decisions"]
    arrived = [candidate(text, layer, relevance=0.5) for text, layer in zip(texts, layers, strict=True)]  # type: ignore[arg-type]
    cost = CLAUDE.cost("Alpha one.")
    for count, expected in enumerate([[1], [1, 3], [1, 3, 0], [1, 3, 0, 2]], 1):
        selection = pack(arrived, count * cost, profile=CLAUDE, intent="answer", now=NOW)
        assert refs(selection) == [arrived[place].ref for place in expected]


def test_neither_hash_seed_nor_imports_of_numpy_matter() -> None:
    script = """
import sys
from packing_samples import NOW, candidate
from segue.context.packing import pack
from segue.context.profiles import CLAUDE
words = "importer queue retries port never twice".split()
arrived = [candidate(" ".join(words[(n * m) % 6] for m in range(n % 9 + 2)), relevance=n % 7 / 7) for n in range(60)]
selection = pack(arrived, 400, profile=CLAUDE, intent="answer", now=NOW)
assert len(selection.packed) > 5 and selection.dropped
print([(each.candidate.ref, each.content) for each in selection.packed], "numpy" in sys.modules)
"""
    folders = os.pathsep.join((str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])))
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": folders},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1
    assert outputs.pop().endswith(" False\n")


@pytest.mark.parametrize("profile", [CURSOR, CLAUDE, GENERIC])
def test_five_thousand_candidates_take_no_time(profile: Profile) -> None:
    source = random.Random(5)
    words = [f"{chr(97 + number % 26)}word{number}" for number in range(3_000)]
    arrived = [
        candidate(
            " ".join(words[int(source.paretovariate(0.6)) % 3_000] for _ in range(source.randint(4, 40))) + ".",
            source.choice(("facts", "facts", "decisions", "constraints", "entity")),
            relevance=source.random(),
            captured_at=NOW - timedelta(days=source.randrange(300)),
        )
        for _ in range(5_000)
    ]
    started = time.process_time()
    selection = pack(arrived, profile.pack_budget - HEADER, profile=profile, intent="answer", now=NOW)
    assert time.process_time() - started < 1.5  # a tenth of it, as a rule
    assert len(selection.packed) > 40


def test_looking_at_everything_takes_little_time() -> None:
    # Two short items of no use are all that fits at the end, so the whole order is walked.
    source = random.Random(6)
    arrived = [
        candidate(" ".join(f"w{int(source.paretovariate(0.5)) % 2_000}" for _ in range(20)), relevance=source.random())
        for _ in range(800)
    ]
    arrived += [candidate(text, "procedures", relevance=0.0) for text in ("so", "no")]
    cost = RELEVANT.cost("no")
    started = time.process_time()
    selection = pack(arrived, cost, profile=RELEVANT, intent="answer", now=NOW)
    assert time.process_time() - started < 3
    assert refs(selection) == [arrived[-2].ref]
