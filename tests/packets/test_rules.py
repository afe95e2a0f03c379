"""The writing rules as warnings: each where it is broken, and silent where it is kept."""

from __future__ import annotations

from typing import Any

import pytest

from segue.packets import rules
from segue.packets.model import Packet

from .examples import full, minimal, old, packet


def advice(document: dict[str, Any], parent: Packet | None = None) -> list[tuple[str, str]]:
    return [(item.code, item.path) for item in rules.check(Packet.from_document(document), parent)]


def test_a_well_written_packet_has_no_warning() -> None:
    assert advice(full()) == []


# -- rule 1 -------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("packets-6", "packets-7", "packets-25")
@pytest.mark.parametrize("name", ["goal", "next_step"])
@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("First this. Then that.", 2),
        ("Ship it! Now.", 2),
        ("Is it done? Not yet. Go on.", 3),
        ('He said "stop." Then he left', 2),
        ("First this.\nThen that", 2),
        ("先做这个。然后做那个。", 2),
        ("これを。次にあれを", 2),
    ],
)
def test_more_than_one_sentence(name: str, text: str, count: int) -> None:
    (item,) = rules.check(packet(**{name: text}))
    assert (item.code, item.path) == ("rule.sentence", name)
    assert str(count) in item.message


@pytest.mark.requirement("packets-6", "packets-7", "packets-25")
@pytest.mark.parametrize(
    "text",
    [
        "Ship the importer.",
        "Ship the importer",
        "Move to v1.2.3 of the parser.",
        "Support formats, e.g. CSV and TSV.",
        "Ask Dr. Who about it, i.e. the doctor.",
        "Call ApiClient.sendEventToApi from app.py first.",
        "Does it work?",
        "发布导入器。",
        "Upload to example.org/x.y now.",
    ],
)
def test_one_sentence(text: str) -> None:
    assert advice(minimal(goal=text, next_step=text)) == []


def test_lists_may_hold_several_sentences() -> None:
    assert advice(minimal(constraints=["One. Two. Three."], open_questions=["A? B?"])) == []


# -- rule 2 -------------------------------------------------------------------------------------------------------

BODY = "def main():\n    for item in items:\n        print(item)"
PLACES = [
    "goal",
    "next_step",
    "success_criteria[0]",
    "constraints[0]",
    "open_questions[0]",
    "decisions[0].what",
    "decisions[0].why",
    "decisions[0].consequences",
    "methods[0].when_applicable",
    "attempts[0].tried",
    "attempts[0].learned",
]


def placed(path: str, text: str) -> dict[str, Any]:
    document = full()
    name, _, rest = path.partition("[0]")
    if not rest:
        document[name] = [text] if isinstance(document[name], list) else text
    else:
        document[name][0][rest[1:]] = text
    return document


@pytest.mark.requirement("packets-26")
@pytest.mark.parametrize("path", PLACES)
@pytest.mark.parametrize("text", [BODY, "Paste ```x = 1``` there", "~~~\nx\n~~~", "function f() {\n  return 1;\n}"])
def test_code_is_named_where_it_stands(path: str, text: str) -> None:
    assert ("rule.code", path) in advice(placed(path, text))


@pytest.mark.requirement("packets-26")
@pytest.mark.parametrize(
    "text",
    [
        "Call ApiClient.sendEventToApi first",
        "The function return_code() and `make warm` are named, not pasted",
        "First line\nsecond line\n- a list",
        "if it fails, try again; for now, wait",
        "Import the rows\nfrom the old table\nwhile it is quiet",
    ],
)
def test_names_and_prose_are_no_code(text: str) -> None:
    assert [item for item in advice(placed("constraints[0]", text)) if item[0] == "rule.code"] == []


@pytest.mark.requirement("packets-27")
@pytest.mark.parametrize(
    "how", ["make warm", "```\nbrew install ltm\n```", "run ```make warm``` twice", "sudo x && y | z"]
)
def test_a_short_command_line_may_stand_in_how(how: str) -> None:
    method = {"name": "a", "when_applicable": "w", "how": how}
    assert advice(minimal(methods=[method])) == []


@pytest.mark.requirement("packets-27")
@pytest.mark.parametrize("how", [BODY, f"```\n{BODY}\n```", "```" + "x" * 201 + "```"])
def test_more_than_a_command_in_how_is_code(how: str) -> None:
    method = {"name": "a", "when_applicable": "w", "how": how}
    assert advice(minimal(methods=[method])) == [("rule.code", "methods[0].how")]


# -- rules 6, 8, 9 --------------------------------------------------------------------------------------------------


@pytest.mark.requirement("packets-33")
def test_an_attempt_without_learned() -> None:
    attempt = {"tried": "t", "outcome": "partial"}
    document = minimal(attempts=[attempt | {"learned": "l"}, attempt, attempt | {"learned": " \n"}])
    assert advice(document) == [("rule.learned", "attempts[1]"), ("rule.learned", "attempts[2]")]
    assert advice(old(attempts=[attempt])) == [("rule.learned", "attempts[0]")]


@pytest.mark.requirement("packets-35")
@pytest.mark.parametrize(
    "criterion",
    ["It feels right.", "The code is clean.", "The interface looks good", "It works well", "Performance is reasonable"],
)
def test_a_criterion_that_cannot_be_observed(criterion: str) -> None:
    assert advice(minimal(success_criteria=["x returns 1", criterion])) == [("rule.observable", "success_criteria[1]")]


@pytest.mark.requirement("packets-35")
@pytest.mark.parametrize(
    "criterion",
    [
        "/healthz returns 200",
        "A 10-second clip renders in under 2 s.",
        "The build is green.",
        "`make test` passes",
        "The table lists every row.",
        "The page loads fast: under 100 ms",
        "The page is fast: it loads in 100 ms",
        "It works well: `make test` passes",
        "It rejects an empty goal",
    ],
)
def test_a_criterion_that_can_be_observed(criterion: str) -> None:
    assert advice(minimal(success_criteria=[criterion])) == []


@pytest.mark.requirement("packets-36")
def test_a_locked_decision_without_consequences() -> None:
    decision = {"what": "w", "why": "y"}
    document = minimal(
        decisions=[decision, decision | {"locked": True}, decision | {"locked": True, "consequences": "c"}]
    )
    assert advice(document) == [("rule.consequences", "decisions[1]")]


@pytest.mark.requirement("packets-36")
def test_version_0_1_has_no_consequences_to_ask_for() -> None:
    assert advice(old(decisions=[{"what": "w", "why": "y", "locked": True}])) == []


# -- times and chains -----------------------------------------------------------------------------------------------


@pytest.mark.requirement("packets-5")
@pytest.mark.parametrize(
    ("text", "warned"),
    [
        ("2026-05-04T09:30:00Z", False),
        ("2026-05-04T09:30:00+00:00", False),
        ("2026-05-04T09:30:00+02:00", True),
        ("2026-05-04T09:30:00-00:30", True),
    ],
)
def test_an_offset_is_accepted_with_a_warning(text: str, warned: bool) -> None:
    assert advice(minimal(created_at=text)) == ([("rule.offset", "created_at")] if warned else [])


METHOD = {"name": "warm-cache", "when_applicable": "After a deploy.", "how": "make warm"}


@pytest.mark.requirement("packets-16")
@pytest.mark.parametrize(
    ("change", "renamed"),
    [
        ({"name": "heat-cache"}, True),
        ({"name": "heat-cache", "how": "make heat"}, True),
        ({"name": "heat-cache", "when_applicable": "After a restart."}, True),
        ({"name": "heat-cache", "how": "make heat", "when_applicable": "After a restart."}, False),
        ({"how": "make heat"}, False),
        ({}, False),
    ],
)
def test_a_method_renamed_along_the_chain(change: dict[str, str], renamed: bool) -> None:
    found = advice(minimal(methods=[METHOD | change]), packet(methods=[METHOD]))
    assert found == ([("rule.renamed", "methods[0].name")] if renamed else [])


@pytest.mark.requirement("packets-16")
def test_a_method_that_stands_beside_the_old_one_is_new() -> None:
    other = METHOD | {"name": "heat-cache"}
    assert advice(minimal(methods=[METHOD, other]), packet(methods=[METHOD])) == []
    assert advice(minimal(methods=[other]), packet(methods=[METHOD, other])) == []
    assert advice(minimal(methods=[other]), None) == []


@pytest.mark.requirement("packets-16")
def test_the_old_name_is_told() -> None:
    (item,) = rules.check(packet(methods=[METHOD | {"name": "x"}]), packet(methods=[METHOD]))
    assert "'warm-cache'" in item.message


def test_hostile_text_costs_no_more_than_its_length() -> None:
    texts = [". " * 512, "a.\n" * 341, "```" * 341, "~~~x" * 256, "    x = (\n" * 100, "is very " * 128, "\n" * 1024]
    for text in texts:
        rules.check(packet(goal=text, success_criteria=[text] * 16, constraints=[text] * 14))
