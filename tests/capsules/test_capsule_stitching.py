"""Stitching: the merge, the caps, the budget, the lineage, and the balanced policy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from capsule_samples import BASE, META, capsule, edited

from segue.base.errors import InvalidInput
from segue.capsules import HEADERS, Stitched, check, parse, render, stamp, stitch

NEWER = META.replace("2026-05-04", "2026-05-06")


def layer(result: Stitched, number: int) -> list[str]:
    return [entry.line for entry in result.capsule.layers[number - 1]]


def replaced(result: Stitched) -> list[str]:
    return [line.entry for line in result.replaced]


def dropped(result: Stitched) -> list[str]:
    return [line.entry for line in result.dropped]


def stitched(old: dict[str, Any], new: dict[str, Any], **options: Any) -> Stitched:
    result = stitch(capsule(**old), capsule(**({"head": NEWER} | new)), **options)
    assert check(render(result.capsule)).valid
    return result


@pytest.mark.requirement("capsules-31")
@pytest.mark.requirement("capsules-33")
@pytest.mark.parametrize(
    ("name", "number", "old", "same", "other"),
    [
        ("skeleton", 1, "CHOICE | a | b", "CHOICE | a | c", "PIVOT | a | b"),
        ("skeleton", 1, "CHOICE | a | b", "CHOICE | a | c", "CHOICE | b | b"),
        ("negative", 2, "a | b | c", "a | b | d", "a | x | c"),
        ("negative", 2, "a | b | c", "a | b | d", "x | b | c"),
        ("internal", 3, "DIRECTION: a", "DIRECTION: b", "INTUITION: a"),
        ("relation", 4, "STYLE: a", "STYLE: b", "TRUST: a"),
        ("loops", 5, "PROMISE | a | LOW", "INCOMPLETE_TASK | a | LOW", "PROMISE | b | LOW"),
        ("loops", 5, "PROMISE | a | LOW", "PROMISE | a | HIGH", "PROMISE | b | LOW"),
    ],
)
def test_keys(name: str, number: int, old: str, same: str, other: str) -> None:
    result = stitched({name: (old,)}, {name: (same,)})
    assert layer(result, number) == [same]
    assert [line.to_json() for line in result.replaced] == [{"layer": HEADERS[number - 1], "entry": old}]
    result = stitched({name: (old,)}, {name: (other,)})
    assert layer(result, number) == [old, other]
    assert result.replaced == ()


@pytest.mark.requirement("capsules-33")
@pytest.mark.requirement("capsules-34")
def test_newer_stands_in_the_older_ones_place() -> None:
    result = stitched(
        {"skeleton": ("CHOICE | a | 1", "CHOICE | b | 1", "CHOICE | c | 1")},
        {"skeleton": ("CHOICE | d | 2", "CHOICE | b | 2", "CHOICE | e | 2")},
    )
    assert layer(result, 1) == [
        "CHOICE | a | 1",
        "CHOICE | b | 2",
        "CHOICE | c | 1",
        "CHOICE | d | 2",
        "CHOICE | e | 2",
    ]
    assert replaced(result) == ["CHOICE | b | 1"]


@pytest.mark.requirement("capsules-33")
def test_all_new_entries_of_a_key_replace_all_old_ones() -> None:
    result = stitched(
        {"internal": ("UNRESOLVED: a", "DIRECTION: x", "UNRESOLVED: b", "UNRESOLVED: c")},
        {"internal": ("UNRESOLVED: d", "UNRESOLVED: b")},
    )
    assert layer(result, 3) == ["UNRESOLVED: d", "UNRESOLVED: b", "DIRECTION: x"]
    assert replaced(result) == ["UNRESOLVED: a", "UNRESOLVED: c"]


@pytest.mark.requirement("capsules-33")
def test_entries_of_one_capsule_do_not_replace_each_other() -> None:
    result = stitched({"internal": ("UNRESOLVED: a", "UNRESOLVED: b")}, {"relation": ("MODE: c", "MODE: d")})
    assert layer(result, 3) == ["UNRESOLVED: a", "UNRESOLVED: b"]
    assert layer(result, 4) == ["MODE: c", "MODE: d"]
    assert result.replaced == ()


@pytest.mark.requirement("capsules-32")
def test_exact_duplicates_become_one() -> None:
    result = stitched(
        {"negative": ("a | b | c", "a | b | c", "d | e | f", "d | e | f")},
        {"negative": ("a | b | c", "g | h | i", "g | h | i", "d | e | x", "d | e | x")},
    )
    assert layer(result, 2) == ["a | b | c", "d | e | x", "g | h | i"]
    assert replaced(result) == ["d | e | f"]


@pytest.mark.requirement("capsules-35")
def test_loops_are_sorted_and_capped() -> None:
    old = ("PROMISE | 1 | LOW", "PROMISE | 2 | HIGH", "PROMISE | 3 | MED", "PROMISE | 4 | MED", "PROMISE | 5 | LOW")
    new = ("PROMISE | 6 | HIGH", "PROMISE | 7 | MED", "PROMISE | 8 | MED", "PROMISE | 9 | MED", "PROMISE | 0 | MED")
    result = stitched({"loops": old}, {"loops": new})
    assert [line.split(" | ")[1] for line in layer(result, 5)] == ["2", "6", "3", "4", "7", "8", "9", "0"]
    assert dropped(result) == ["PROMISE | 5 | LOW", "PROMISE | 1 | LOW"]
    result = stitched({"loops": old[1:4]}, {"loops": (*new, "PROMISE | a | MED")})
    assert dropped(result) == ["PROMISE | a | MED"]


@pytest.mark.requirement("capsules-36")
def test_l1_keeps_the_most_recent() -> None:
    old = tuple(f"PIVOT | {n} | r" for n in range(8))
    new = tuple(f"PIVOT | {n} | r" for n in range(10, 17))
    result = stitched({"skeleton": old}, {"skeleton": new})
    assert layer(result, 1) == [*old[3:], *new]
    assert dropped(result) == list(old[:3])


@pytest.mark.requirement("capsules-37")
@pytest.mark.parametrize(
    ("name", "number", "cap", "form"),
    [("negative", 2, 8, "{} | r | l"), ("internal", 3, 6, "INTUITION: {}"), ("relation", 4, 5, "D_{}: s")],
)
def test_other_layers_keep_the_earliest(name: str, number: int, cap: int, form: str) -> None:
    old = tuple(form.format(letter * 2) for letter in "abcdefgh"[: cap - 1])
    new = tuple(form.format(letter * 3) for letter in "wxy")
    if name == "internal":  # four types only: what the new capsule adds has other types
        new = ("UNRESOLVED: w", "DIRECTION: x", "UNCERTAINTY: y")
    result = stitched({name: old}, {name: new})
    assert layer(result, number) == [*old, new[0]]
    assert dropped(result) == [new[2], new[1]]


def test_the_layers_are_capped_in_their_order() -> None:
    def many(mark: str) -> dict[str, Any]:
        return {
            "skeleton": tuple(f"PIVOT | {mark}{n} | r" for n in range(7)),
            "negative": tuple(f"{mark}{n} | r | l" for n in range(5)),
            "relation": tuple(f"{mark}_{n}: s" for n in "abc"),
            "loops": tuple(f"PROMISE | {mark}{n} | MED" for n in range(5)),
        }

    result = stitched(many("x"), many("y"))
    assert [line.layer[:2] for line in result.dropped] == ["L1"] * 2 + ["L2"] * 2 + ["L4"] + ["L5"] * 2


WIDE = "w" * 70


@pytest.mark.requirement("capsules-38")
@pytest.mark.parametrize("integrity", [False, True])
def test_a_long_stitch_is_fitted(integrity: bool) -> None:
    old = {"skeleton": tuple(f"PIVOT | {n} | {WIDE}" for n in range(8)), "loops": ("PROMISE | a | LOW",)}
    new = {"negative": tuple(f"{n} | r | {WIDE}" for n in range(5)), "internal": ("DIRECTION: d",)}
    result = stitched(old, new, integrity=integrity)
    assert dropped(result)[:3] == ["PROMISE | a | LOW", "DIRECTION: d", f"4 | r | {WIDE}"]
    assert result.capsule.stamped is integrity
    # One entry fewer given up would have been too long.
    size = len(render(result.capsule))
    assert size <= 1200 < size + len(dropped(result)[-1]) + 1
    assert len(layer(result, 1)) == 8


@pytest.mark.requirement("capsules-46")
def test_the_last_resort_takes_l1_from_the_front_and_then_l4_from_the_back() -> None:
    old: dict[str, Any] = {
        "skeleton": tuple(f"PIVOT | {n} | {WIDE}" for n in range(9)),
        "loops": ("PROMISE | a | HIGH",),
    }
    new: dict[str, Any] = {
        "skeleton": tuple(f"CHOICE | {n} | {WIDE}" for n in range(9)),
        "relation": ("STYLE: a", "MODE: b"),
    }
    result = stitched(old, new)
    every = [*old["skeleton"], *new["skeleton"]]
    assert layer(result, 1) == every[-11:]
    assert layer(result, 4) == ["STYLE: a", "MODE: b"]
    assert dropped(result) == [*every[:6], "PROMISE | a | HIGH", every[6]]
    topic = "t" * 975
    head = NEWER.replace("report export", topic)
    relation = tuple(f"{name}: {'r' * 20}" for name in ("STYLE", "TRUST"))
    result = stitched({"skeleton": ("PIVOT | a | b",), "relation": relation}, {"head": head})
    assert dropped(result) == ["PIVOT | a | b", f"TRUST: {'r' * 20}"]


@pytest.mark.requirement("capsules-43")
def test_a_header_that_leaves_no_room_is_an_error() -> None:
    new = capsule(seed="x" * (1190 - len(capsule(seed=""))))
    with pytest.raises(InvalidInput) as caught:
        stitch(BASE, new)
    assert caught.value.code == "capsule.cannot_fit"
    assert caught.value.details == {"over": 29}


@pytest.mark.requirement("capsules-39")
@pytest.mark.requirement("capsules-40")
def test_lineage() -> None:
    heads = [META.replace("05-04", f"05-0{day}") for day in (4, 5, 6, 7)]
    current = parse(capsule(head=heads[0]))
    for hops, head in enumerate(heads[1:], 1):
        result = stitch(current, capsule(head=head))
        assert (result.hops, result.origin) == (hops, "2026-05-04T09:30Z")
        assert f"\nCHAIN: hops={hops} origin=2026-05-04T09:30Z\n" in render(result.capsule)
        current = result.capsule


@pytest.mark.requirement("capsules-39")
def test_hops_come_from_the_old_capsule_and_end_at_nine_digits() -> None:
    chained = META + "CHAIN: hops={} origin=2026-01-01T00:00Z\n"
    result = stitch(capsule(head=chained.format(7)), capsule(head=chained.format(40)))
    assert result.hops == 8
    assert "CHAIN of its own" in result.warnings[0]
    result = stitch(capsule(head=chained.format(999_999_999)), capsule(head=NEWER))
    assert result.hops == 999_999_999
    assert check(render(result.capsule)).valid
    assert "999999999" in result.warnings[0]


@pytest.mark.requirement("capsules-41")
@pytest.mark.requirement("capsules-42")
@pytest.mark.requirement("capsules-45")
@pytest.mark.parametrize(
    ("old", "new", "deepest"),
    [("SURFACE", "WORKING", "WORKING"), ("DEEP", "WORKING", "DEEP"), ("WORKING", "SURFACE", "WORKING")],
)
def test_the_header_of_the_successor(old: str, new: str, deepest: str) -> None:
    head = f"META: other topic | law | {new} | 2026-05-06T00:00Z\n"
    result = stitch(
        capsule(head=META.replace("WORKING", old), token="v1", seed="Old."),
        capsule(head=head, token="v1.1", seed="New."),
    )
    assert render(result.capsule).startswith(
        f"===PCSF:v1.2===\nMETA: other topic | law | {deepest} | 2026-05-06T00:00Z\nCHAIN: hops=1 "
    )
    assert result.capsule.seed == "New."


@pytest.mark.parametrize("stamped", [(True, False), (False, True), (True, True), (False, False)])
@pytest.mark.parametrize("integrity", [None, True, False])
def test_the_line_is_inherited_unless_it_is_refused(stamped: tuple[bool, bool], integrity: bool | None) -> None:
    old, new = (replace(parse(BASE), stamped=value) for value in stamped)
    result = stitch(old, new, integrity=integrity)
    assert result.capsule.stamped is (any(stamped) if integrity is None else integrity)


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (edited(("CHOICE |", "WISH |")), "capsule.C7"),
        (edited(("Export by pages because the replica cannot hold a snapshot.", "")), "capsule.C1"),
        (edited(("\nSEED: Export by pages because the replica cannot hold a snapshot.\n", "")), "capsule.C9"),
        (render(stamp(BASE)).replace("read in pages", "read by pages"), "capsule.C11"),
        (capsule(seed="x" * 1100), "capsule.C2"),
    ],
)
def test_both_are_validated_first(side: int, bad: str, code: str) -> None:
    pair = [BASE, BASE]
    pair[side] = bad
    with pytest.raises(InvalidInput) as caught:
        stitch(*pair)
    assert caught.value.code == code


def test_a_value_made_by_hand_is_validated_too() -> None:
    good = parse(BASE)
    smuggled = replace(good.loops[0], description="a | HIGH\nPROMISE | b")
    for bad, code in (
        (replace(good, loops=(smuggled,)), "capsule.C7"),
        (replace(good, seed=""), "capsule.C1"),
        (replace(good, seed="x" * 1200), "capsule.C2"),
    ):
        with pytest.raises(InvalidInput) as caught:
            stitch(good, bad)
        assert caught.value.code == code


def test_a_compact_capsule_stays_valid_as_a_value() -> None:
    text = capsule(head=META, seed="x" * (1206 - len(capsule(seed=""))))
    compact = text.replace("\n\n", "\n").replace("\nL1:", "\n\nL1:").removesuffix("\n")
    assert len(compact) == 1200
    assert stitch(parse(compact), BASE).capsule == stitch(compact, BASE).capsule


def test_warnings() -> None:
    assert stitch(BASE, BASE).warnings == ()
    (warning,) = stitch(capsule(head=NEWER), BASE).warnings
    assert "older" in warning
    old: dict[str, Any] = {"negative": tuple(f"{n} | r | l" for n in range(8))}
    (warning,) = stitched(old, {"negative": ("new | r | l",)}).warnings
    assert "found no room: 1" in warning


def test_the_report_as_json() -> None:
    result = stitch(BASE, edited(("DIRECTION: I was", "DIRECTION: I am"), (META, NEWER)))
    assert result.to_json() == {
        "capsule": render(result.capsule),
        "replaced": [{"layer": "L3:INTERNAL", "entry": "DIRECTION: I was moving to keyset pages"}],
        "dropped": [],
        "hops": 1,
        "origin": "2026-05-04T09:30Z",
        "warnings": [],
    }


def test_there_is_no_third_policy() -> None:
    with pytest.raises(InvalidInput) as caught:
        stitch(BASE, BASE, policy="fair")  # type: ignore[arg-type]
    assert caught.value.code == "capsule.policy"


def test_exact_gives_up_loops_for_l1_and_balanced_does_not() -> None:
    skeleton = tuple(f"PIVOT | {n} | {WIDE}" for n in range(12))
    old = {"skeleton": skeleton, "loops": ("PROMISE | old | HIGH",)}
    new = {"negative": ("n | r | l" + WIDE,), "loops": ("PROMISE | new | HIGH",)}
    exact = stitched(old, new)
    assert layer(exact, 1) == list(skeleton[1:])
    assert layer(exact, 2) + layer(exact, 5) == []
    balanced = stitched(old, new, policy="balanced")
    assert layer(balanced, 1) == list(skeleton[2:])
    assert layer(balanced, 2) == ["n | r | l" + WIDE]
    assert layer(balanced, 5) == ["PROMISE | old | HIGH", "PROMISE | new | HIGH"]


def test_balanced_gives_up_what_the_new_capsule_does_not_name() -> None:
    old = {
        "negative": tuple(f"{n} | r | l" for n in range(8)),
        "loops": tuple(f"PROMISE | {n} | HIGH" for n in range(8)),
    }
    new = {"negative": ("new | r | l", "0 | r | l"), "loops": ("PROMISE | new | HIGH", "PROMISE | 0 | HIGH")}
    result = stitched(old, new, policy="balanced")
    assert dropped(result) == ["1 | r | l", "PROMISE | 1 | HIGH"]
    assert layer(result, 2)[-1] == "new | r | l"
    assert result.warnings == ()


def test_balanced_gives_up_the_last_of_what_the_new_capsule_names() -> None:
    new = {"skeleton": tuple(f"PIVOT | {n} | {WIDE}" for n in range(12)), "relation": ("A: b",)}
    old = {"skeleton": new["skeleton"][5:]}
    result = stitched(old, new, policy="balanced")
    assert dropped(result) == [new["skeleton"][11]]
