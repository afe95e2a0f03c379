"""Checking and reading: places, mends, warnings, and the value that a text becomes."""

from __future__ import annotations

import time
from typing import Any

import pytest
from capsule_samples import BASE, CHAIN, EMPTY, META, capsule, edited

from segue.base.errors import InvalidInput
from segue.capsules import Capsule, Chain, Loop, Meta, Node, Rejection, Relation, State, check, clean, parse, render


def places(text: str | bytes) -> list[tuple[str, int, int]]:
    return [(problem.code, problem.line, problem.column) for problem in check(text).errors]


def test_a_text_becomes_a_value() -> None:
    assert parse(edited((META, META + CHAIN))) == Capsule(
        version="v1.2",
        meta=Meta("report export", "software", "WORKING", "2026-05-04T09:30Z"),
        chain=Chain(4, "2026-01-02T03:04Z"),
        stamped=False,
        skeleton=(
            Node("CHOICE", "stream rows to disk", "memory ran out at a million rows"),
            Node("CONSTRAINT", "exports stay under a minute", "the gateway cuts longer calls"),
        ),
        negative=(
            Rejection("one big query", "locks the table", "read in pages"),
            Rejection("temp tables", "the replica is read-only", "never write on a replica"),
        ),
        internal=(
            State("UNCERTAINTY", "I doubt the row order is stable"),
            State("DIRECTION", "I was moving to keyset pages"),
        ),
        relation=(Relation("STYLE", "short: no preamble"), Relation("TRUST", "high on queries")),
        loops=(
            Loop("INCOMPLETE_TASK", "measure keyset pages on the replica", "HIGH"),
            Loop("PROMISE", "write the operations page", "MED"),
        ),
        seed="Export by pages because the replica cannot hold a snapshot.",
    )


@pytest.mark.requirement("capsules-4")
@pytest.mark.requirement("capsules-5")
@pytest.mark.parametrize("text", [BASE, EMPTY, edited((META, META + CHAIN))])
def test_the_canonical_text_is_the_given_one(text: str) -> None:
    assert render(parse(text)) == text
    assert check(text).warnings == ()


@pytest.mark.requirement("capsules-4")
def test_a_compact_text_is_written_with_blank_lines() -> None:
    compact = BASE.replace("\n\n", "\n").replace("\nL1:", "\n\nL1:").removesuffix("\n")
    assert check(compact).errors == ()
    assert check(compact).warnings == (
        "blank lines between sections are missing; the canonical form has one before each",
    )
    assert render(parse(compact)) == BASE


@pytest.mark.requirement("capsules-6")
def test_the_first_colon_divides() -> None:
    parsed = parse(edited(("STYLE: short", "STYLE: a: b"), ("DIRECTION: I was", "DIRECTION: I: was")))
    assert parsed.relation[0] == Relation("STYLE", "a: b: no preamble")
    assert parsed.internal[1] == State("DIRECTION", "I: was moving to keyset pages")


@pytest.mark.requirement("capsules-C2")
@pytest.mark.requirement("capsules-17")
@pytest.mark.parametrize("head", [META, META + CHAIN])
def test_the_limit_counts_every_byte_of_the_file(head: str) -> None:
    room = 1200 - len(capsule(head=head, seed=""))
    assert check(capsule(head=head, seed="x" * room)).valid
    assert check(capsule(head=head, seed="x" * (room + 1)).removesuffix("\n")).valid
    report = check(capsule(head=head, seed="x" * (room + 1)))
    assert report.chars == 1201
    assert [(problem.code, problem.message) for problem in report.errors] == [
        ("C2", "the file has 1201 characters, 1 over 1200; shorten it or fit it")
    ]


def test_the_limit_is_one_of_bytes() -> None:
    text = capsule(seed="x" * 900 + "é" * 100)
    assert len(text) < 1200
    assert check(text).chars == len(text.encode())
    assert {problem.code for problem in check(text).errors} == {"C1", "C2"}


@pytest.mark.requirement("capsules-C6")
@pytest.mark.parametrize(
    ("layer", "cap", "line"),
    [
        ("skeleton", 12, "PIVOT | a | b"),
        ("negative", 8, "a | b | c"),
        ("internal", 6, "INTUITION: a"),
        ("relation", 5, "MODE: a"),
        ("loops", 8, "PROMISE | a | LOW"),
    ],
)
def test_the_caps(layer: str, cap: int, line: str) -> None:
    full: dict[str, Any] = {layer: (line,) * cap}
    over: dict[str, Any] = {layer: (line,) * (cap + 2)}
    assert check(capsule(**full)).errors == ()
    report = check(capsule(**over))
    assert [problem.code for problem in report.errors] == ["C6"]
    assert "remove 2" in report.errors[0].message


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("read in pages", "read in\tpages", ("C1", 9, 42)),
        ("read in pages", "read|in pages", ("C8", 9, 39)),
        ("CHOICE |", "WISH |", ("C7", 5, 1)),
        ("| MED", "| SOON", ("C7", 22, 39)),
        ("| software |", "|  software |", ("C4", 2, 23)),
        ("WORKING", "FULL", ("C4", 2, 34)),
        ("09:30Z", "9:30Z", ("C4", 2, 44)),
        ("a snapshot.", "a snapshot. Go!", ("C9", 24, 69)),
        ("table |", "table  |", ("C7", 9, 32)),
        ("STYLE: short", "STYLE:  short", ("C7", 17, 8)),
        ("no preamble", "no | preamble", ("C8", 17, 18)),
    ],
)
def test_a_problem_has_a_place(old: str, new: str, place: tuple[str, int, int]) -> None:
    assert places(edited((old, new))) == [place]


def test_a_field_too_many_is_found_where_it_begins() -> None:
    assert places(edited(("read in pages", "read | in pages"))) == [("C7", 9, 1), ("C8", 9, 40)]


def test_the_origin_has_a_place() -> None:
    bad = "CHAIN: hops=12 origin=2026-13-01T00:00Z\n"
    assert places(edited((META, META + bad))) == [("C12", 3, 23)]


@pytest.mark.requirement("capsules-2")
@pytest.mark.parametrize("token", ["v1.3", "v2", "V1", "v1.20", ""])
def test_of_another_version_nothing_else_is_said(token: str) -> None:
    text = edited(("v1.2", token), ("WORKING", "FULL"), ("CHOICE |", "WISH |"), ("\nL5:LOOPS", ""))
    assert places(text) == [("C3", 1, 1)]
    assert check(text).version is None
    with pytest.raises(InvalidInput) as caught:
        parse(text)
    assert caught.value.code == "capsule.C3"


@pytest.mark.requirement("capsules-1")
@pytest.mark.parametrize("token", ["v1", "v1.1", "v1.2"])
def test_known_versions(token: str) -> None:
    text = capsule(token=token, head=META + CHAIN)
    assert check(text).to_json() | {"warnings": []} == {
        "valid": True,
        "version": token,
        "chars": len(text),
        "errors": [],
        "warnings": [],
    }
    assert render(parse(text)) == text
    assert bool(check(text).warnings) is (token != "v1.2")


@pytest.mark.requirement("capsules-3")
def test_the_order_of_the_header_lines() -> None:
    stamp = "INTEGRITY: crc32=00000000 chars=1\n"
    assert {code for code, _, _ in places(edited((META, META + CHAIN + stamp)))} == {"C11"}
    assert {code for code, _, _ in places(edited((META, META + stamp + CHAIN)))} == {"C10", "C11", "C12"}


@pytest.mark.requirement("capsules-14")
@pytest.mark.parametrize("order", ["LOW MED", "HIGH LOW MED", "MED HIGH", "HIGH HIGH LOW HIGH"])
def test_loops_out_of_order_are_a_warning(order: str) -> None:
    def loops(priorities: list[str]) -> str:
        return capsule(loops=tuple(f"PROMISE | {n} | {priority}" for n, priority in enumerate(priorities)))

    assert check(loops(order.split())).valid
    words = "loops are not in the order HIGH, MED, LOW; they are resumed as they stand"
    assert check(loops(order.split())).warnings == (words,)
    assert check(loops(sorted(order.split()))).warnings == (() if "MED" not in order else (words,) * ("LOW" in order))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (edited((META, META + CHAIN.replace("2026-01", "2027-01"))), "origin"),
        (edited(("TRUST: high on queries", "STYLE: short: no preamble")), "L4:RELATION"),
    ],
)
def test_other_warnings(text: str, word: str) -> None:
    (warning,) = check(text).warnings
    assert word in warning


def test_of_one_rule_twenty_places_are_listed() -> None:
    text = capsule(negative=("a|b",) * 30)
    report = check(text)
    listed = [problem.code for problem in report.errors]
    assert listed.count("C7") == 20
    assert listed.count("C8") == 20
    assert report.warnings == (
        "C7: 10 more places are not listed; mend these and check again",
        "C8: 10 more places are not listed; mend these and check again",
    )


def test_messages_quote_little() -> None:
    report = check(edited(("CHOICE |", "X" * 200 + " |")))
    assert "X" * 21 + "..." in report.errors[0].message
    assert all("X" * 30 not in problem.message for problem in report.errors)


@pytest.mark.parametrize(
    "text", ["", "\n", "\n\n\n", "hello", "===PCSF:v1.2===", "===END===", b"\xff\xfe\x00", "\ud800"]
)
def test_what_is_no_capsule_at_all(text: str | bytes) -> None:
    report = check(text)
    assert not report.valid
    assert "C3" in {problem.code for problem in report.errors}


def test_a_quoted_text_points_to_lenient() -> None:
    assert "--lenient" in check("> " + BASE.replace("\n", "\n> ")).errors[0].message


def test_the_error_names_the_first_rule_and_counts_the_others() -> None:
    with pytest.raises(InvalidInput) as caught:
        parse(edited(("CHOICE |", "WISH |"), ("WORKING", "FULL")))
    assert caught.value.code == "capsule.C4"
    assert caught.value.message.startswith("C4, line 2, column 34: the depth is one of SURFACE, WORKING, DEEP")
    assert caught.value.message.endswith("(and 1 more)")


def test_to_json_of_a_capsule() -> None:
    value = parse(edited((META, META + CHAIN))).to_json()
    assert value["version"] == "v1.2"
    assert value["meta"]["topic"] == "report export"
    assert value["chain"] == {"hops": 4, "origin": "2026-01-02T03:04Z"}
    assert value["layers"]["L4:RELATION"][0] == {"dimension": "STYLE", "state": "short: no preamble"}
    assert parse(EMPTY).to_json()["chain"] is None


@pytest.mark.parametrize(
    "filling",
    [
        ".",
        " ",
        "|",
        " | ",
        ": ",
        "> ",
        "\n",
        "x\n",
        "\r\n",
        "=",
        "INTEGRITY: crc32=00000000 chars=1\n",
        "===PCSF:v1===\n",
    ],
)
def test_a_large_file_is_refused_in_linear_time(filling: str) -> None:
    body = filling * (100_000 // len(filling))
    for text in (body, edited(("a snapshot.", f"{body} a")), edited(("read in pages", f"{body} a"))):
        start = time.process_time()
        assert not check(text).valid
        assert not check(clean(text).text).valid
        assert time.process_time() - start < 5  # it takes a tenth of a second; what is quadratic takes minutes
