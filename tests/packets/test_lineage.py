"""The chain of packets: long, broken, turned back on itself; and what a packet carries over from its parent."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.base.errors import InvalidInput
from segue.packets import lineage
from segue.packets.lineage import Lineage

from .examples import full, packet


def chain(length: int) -> dict[str, str]:
    return {f"p{i}": f"p{i - 1}" if i else "" for i in range(length)}


@pytest.mark.requirement("packets-8")
def test_trace_goes_from_the_packet_to_the_oldest() -> None:
    assert lineage.trace("p2", chain(4)) == Lineage(("p2", "p1", "p0"))
    assert lineage.trace("p0", chain(4)) == Lineage(("p0",))


@pytest.mark.requirement("packets-8")
def test_ten_thousand_links() -> None:
    parents = chain(10_000)
    traced = lineage.trace("p9999", parents)
    assert len(traced.ids) == 10_000
    assert (traced.ids[0], traced.ids[-1], traced.missing, traced.cycle) == ("p9999", "p0", "", False)
    assert lineage.closes_cycle("p0", "p9999", parents)
    assert not lineage.closes_cycle("new", "p9999", parents)
    assert lineage.in_cycles(parents) == []
    assert len(lineage.in_cycles(parents | {"p0": "p9999"})) == 10_000


@pytest.mark.requirement("packets-37")
def test_a_parent_that_nobody_has_is_named() -> None:
    parents = {"b": "a", "c": "b"}
    assert lineage.trace("c", parents) == Lineage(("c", "b"), missing="a")
    assert lineage.trace("x", parents) == Lineage((), missing="x")


@pytest.mark.requirement("packets-8")
def test_a_cycle_ends_the_trace_before_the_repetition() -> None:
    parents = {"a": "c", "b": "a", "c": "b", "d": "c"}
    assert lineage.trace("d", parents) == Lineage(("d", "c", "b", "a"), cycle=True)
    assert lineage.trace("a", {"a": "a"}) == Lineage(("a",), cycle=True)


@pytest.mark.requirement("packets-8")
@pytest.mark.parametrize(
    ("packet_id", "parent_id", "closes"),
    [
        ("a", "a", True),
        ("p0", "p3", True),
        ("p0", "p1", True),
        ("p3", "p0", False),
        ("new", "p3", False),
        ("p1", "x", False),
    ],
)
def test_closes_cycle(packet_id: str, parent_id: str, closes: bool) -> None:
    assert lineage.closes_cycle(packet_id, parent_id, chain(4)) is closes


def test_a_cycle_elsewhere_does_not_hold_up_a_packet() -> None:
    parents = {"a": "b", "b": "a"}
    assert not lineage.closes_cycle("new", "a", parents)
    assert lineage.closes_cycle("a", "b", parents)


def test_in_cycles_names_the_members_and_not_what_leads_there() -> None:
    parents = {"a": "b", "b": "c", "c": "b", "d": "d", "e": "d", "f": "missing", "g": ""}
    assert lineage.in_cycles(parents) == ["b", "c", "d"]
    assert lineage.in_cycles({}) == []


ids = st.sampled_from("abcdefgh")


@settings(derandomize=True, max_examples=200, deadline=None, database=None)
@given(st.dictionaries(ids, ids | st.just("")))
def test_in_cycles_agrees_with_following_each_id(parents: dict[str, str]) -> None:
    def returns(start: str) -> bool:
        current = parents.get(start, "")
        for _ in parents:
            if current == start:
                return True
            current = parents.get(current, "")
        return False

    assert lineage.in_cycles(parents) == sorted(identifier for identifier in parents if returns(identifier))
    for identifier in parents:
        traced = lineage.trace(identifier, parents)
        assert len(set(traced.ids)) == len(traced.ids)
        assert not (traced.cycle and traced.missing)


# -- carry ----------------------------------------------------------------------------------------------------------

PARENT = packet(
    methods=[
        {"name": "warm-cache", "when_applicable": "w", "how": "old"},
        {"name": "seed-db", "when_applicable": "w", "how": "h"},
    ],
    constraints=["Linux only.", "No network."],
    decisions=[
        {"what": "Use WAL.", "why": "y", "locked": True, "consequences": "c"},
        {"what": "Batch by day.", "why": "y"},
        {"what": "Use TOML.", "why": "y", "locked": True},
    ],
)
CHILD = packet(
    methods=[{"name": "warm-cache", "when_applicable": "w", "how": "new"}],
    constraints=["No network.", "Python 3.11."],
    decisions=[{"what": "Use TOML.", "why": "other"}],
)


def test_methods_are_carried_and_the_packet_wins() -> None:
    carried = lineage.carry(CHILD, PARENT, ("methods",))
    assert [(item.name, item.how) for item in carried.methods] == [("warm-cache", "new"), ("seed-db", "h")]
    assert (carried.constraints, carried.decisions) == (CHILD.constraints, CHILD.decisions)


def test_constraints_are_carried_once() -> None:
    carried = lineage.carry(CHILD, PARENT, ("constraints",))
    assert carried.constraints == ("No network.", "Python 3.11.", "Linux only.")
    assert (carried.methods, carried.decisions) == (CHILD.methods, CHILD.decisions)


def test_locked_decisions_alone_are_carried_whole() -> None:
    carried = lineage.carry(CHILD, PARENT, ("locked-decisions",))
    assert [(item.what, item.why, item.locked) for item in carried.decisions] == [
        ("Use WAL.", "y", True),
        ("Use TOML.", "other", False),
    ]
    assert carried.decisions[0].consequences == "c"


def test_everything_and_nothing() -> None:
    assert lineage.carry(CHILD, PARENT, ()) == CHILD
    carried = lineage.carry(CHILD, PARENT, lineage.CARRIED)
    assert lineage.carry(carried, PARENT, lineage.CARRIED) == carried
    assert (len(carried.methods), len(carried.constraints), len(carried.decisions)) == (2, 3, 2)
    assert (carried.id, carried.goal, carried.next_step) == (CHILD.id, CHILD.goal, CHILD.next_step)


@pytest.mark.parametrize("what", [("attempts",), ("methods", "tags"), ("Methods",), ("",)])
def test_another_name_is_refused(what: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput) as raised:
        lineage.carry(packet(), packet(**{k: v for k, v in full().items() if k == "tags"}), what)
    assert raised.value.code == "packet.carry"
    assert "locked-decisions" in raised.value.message
