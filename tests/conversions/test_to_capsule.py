"""Packet to capsule: decision C-10 line by line, and nothing goes without a word in the report."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from conversion_samples import documents, largest
from hypothesis import given

import packets.examples as examples
from segue.base.errors import InvalidInput
from segue.capsules import MAX_CHARS, check, parse
from segue.conversions.reports import Loss
from segue.conversions.to_capsule import HARD_LIMIT, to_capsule
from segue.conversions.to_packet import to_packet
from segue.packets import schema
from segue.packets.model import Packet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from segue.capsules import Capsule

TRIED = {"tried": "Tried it.", "outcome": "succeeded"}
_PARTS = ("", ".what", ".why", ".locked", ".tried", ".learned", ".confidence")


def capsule_of(**members: Any) -> Capsule:
    return to_capsule(examples.packet(**members)).capsule


def losses_of(**members: Any) -> list[tuple[str, str, str]]:
    return [(loss.kind, loss.path, loss.text) for loss in to_capsule(examples.packet(**members)).losses]


def short(count: int, name: str = "Decision") -> list[dict[str, str]]:
    return [{"what": f"{name} {number}", "why": "So."} for number in range(count)]


def test_a_whole_packet() -> None:
    converted = to_capsule(Packet.from_document(examples.full()))
    assert converted.capsule.text == (
        "===PCSF:v1.2===\n"
        "META: importer | db | WORKING | 2026-05-04T09:30Z\n\n"
        "L1:SKELETON\n"
        "CHOICE | Use WAL. | Readers block.\n"
        "CHOICE | Batch by day. | Simple.\n"
        "CONSTRAINT | Must run on Linux. | stated as a hard limit\n"
        "OUTCOME | A queue. | It drains in order.\n\n"
        "L2:NEGATIVE\n"
        "A bigger timeout. | failed, high | The lock is the cause.\n\n"
        "L3:INTERNAL\n\n"
        "L4:RELATION\n\n"
        "L5:LOOPS\n"
        "INCOMPLETE_TASK | Write the failing test. | HIGH\n"
        "DEFERRED_QUESTION | Which region comes first? | MED\n"
        "PROMISE | The route /healthz returns 200. | LOW\n\n"
        "SEED: Ship the importer.\n"
        "===END===\n"
    )
    assert converted.losses == [
        Loss("no place", "decisions[0].consequences", "No network file systems."),
        Loss("no place", "decisions[0].locked", "that it is locked"),
        Loss("no place", "decisions[1].consequences", "Late rows wait."),
        Loss("no place", "methods[0]", "warm-cache"),
        Loss("no place", "tags[1]", "wal-2"),
        Loss("no place", "project.ref", "example.org/importer"),
        Loss("no place", "provenance.author_model", "model-7"),
        Loss("no place", "provenance.author_human", "Mira"),
        Loss("no place", "provenance.source_hash", "sha256:" + "0a" * 32),
        Loss("no place", "provenance.confidence", "low"),
        Loss("no place", "parent_id", "01JZ7Q4M8N2V6W0X3Y5A9B1C00"),
    ]


def test_the_smallest_packet_loses_nothing() -> None:
    converted = to_capsule(examples.packet())
    assert converted.losses == []
    assert converted.capsule.layers[:4] == ((), (), (), ())
    assert to_capsule(Packet.from_document(examples.old())).capsule == converted.capsule


@pytest.mark.parametrize(
    ("members", "topic"),
    [
        ({"project": {"name": "importer"}}, "importer"),
        ({"project": {"name": "  two\nlines "}}, "two lines"),
        ({"project": {"name": "a|b — é"}}, "a/b - e"),
        ({"project": {}}, "Ship the importer."),
        ({"project": {"name": " "}}, "Ship the importer."),
        ({"goal": "x" * 41}, "x" * 40),
        ({"goal": "y" * 39 + " zz"}, "y" * 39),
        ({"goal": "a|b. Then é."}, "a/b. Then e."),
        ({"goal": "\u200b"}, "work"),
        ({"project": {"name": "\u200b"}}, "work"),
    ],
)
def test_the_topic(members: dict[str, Any], topic: str) -> None:
    assert capsule_of(**members).meta.topic == topic


@pytest.mark.parametrize(("tags", "domain"), [([], "software"), (["law", "db"], "law")])
def test_the_domain(tags: list[str], domain: str) -> None:
    assert capsule_of(tags=tags).meta.domain == domain


@pytest.mark.parametrize(
    ("decisions", "attempts", "depth"),
    [
        (0, 0, "SURFACE"), (1, 0, "SURFACE"), (0, 1, "SURFACE"),
        (2, 0, "WORKING"), (1, 1, "WORKING"), (0, 2, "WORKING"), (4, 3, "WORKING"),
        (8, 0, "DEEP"), (0, 8, "DEEP"), (4, 4, "DEEP"), (64, 64, "DEEP"),
    ],
)  # fmt: skip
def test_the_depth(decisions: int, attempts: int, depth: str) -> None:
    assert capsule_of(decisions=short(decisions), attempts=[TRIED] * attempts).meta.depth == depth


@pytest.mark.parametrize(
    ("created", "minute"),
    [
        ("2026-05-04T09:30:59.999999999Z", "2026-05-04T09:30Z"),
        ("2026-05-04T01:15:00+02:00", "2026-05-03T23:15Z"),
        ("2024-02-28T23:59:00-00:01", "2024-02-29T00:00Z"),
        ("1969-07-20t20:17:40z", "1969-07-20T20:17Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00Z"),
        ("0001-01-01T00:00:00+23:59", "0001-01-01T00:00Z"),
        ("9999-12-31T23:59:59-23:59", "9999-12-31T23:59Z"),
    ],
)
def test_the_time_to_the_minute(created: str, minute: str) -> None:
    assert capsule_of(created_at=created).meta.timestamp == minute


def test_locked_decisions_come_first_then_limits_then_what_worked() -> None:
    decisions = [{"what": f"D{number}", "why": "y", "locked": number % 2 == 1} for number in range(4)]
    attempts = [
        {"tried": "A0", "outcome": "failed"},
        {"tried": "A1", "outcome": "succeeded", "learned": "l", "confidence": "low"},
    ]
    capsule = capsule_of(attempts=attempts, constraints=["C0", "C1"], decisions=decisions)
    assert [node.line for node in capsule.skeleton] == [
        *(f"CHOICE | {name} | y" for name in ("D1", "D3", "D0", "D2")),
        *(f"CONSTRAINT | {name} | {HARD_LIMIT}" for name in ("C0", "C1")),
        "OUTCOME | A1 | l",
    ]


@pytest.mark.parametrize(
    ("attempt", "line"),
    [
        ({"outcome": "failed", "learned": "l", "confidence": "high"}, "t | failed, high | l"),
        ({"outcome": "partial", "learned": "l", "confidence": "low"}, "t | partial, low | l"),
        ({"outcome": "partial", "learned": "l"}, "t | partial | l"),
        ({"outcome": "failed"}, "t | failed | nothing was noted"),
    ],
)
def test_what_failed(attempt: dict[str, str], line: str) -> None:
    capsule = capsule_of(attempts=[{"tried": "t"} | attempt])
    assert [entry.line for entry in capsule.negative] == [line]
    assert capsule.skeleton == ()


def test_loops_stand_in_the_order_of_their_priorities() -> None:
    capsule = capsule_of(success_criteria=["S0", "S1"], open_questions=["Q0", "Q1"], next_step="N")
    assert [loop.line for loop in capsule.loops] == [
        "INCOMPLETE_TASK | N | HIGH",
        "DEFERRED_QUESTION | Q0 | MED",
        "DEFERRED_QUESTION | Q1 | MED",
        "PROMISE | S0 | LOW",
        "PROMISE | S1 | LOW",
    ]


@pytest.mark.parametrize(
    ("goal", "seed", "losses"),
    [
        ("Ship it.", "Ship it.", []),
        ("Ship it", "Ship it", []),
        ("Ship v1.2 now! Then rest. Then sleep.", "Ship v1.2 now!", [("cut", "Then rest. Then sleep.")]),
        ("Why? Because.", "Why?", [("cut", "Because.")]),
        ("Use e.g. a queue.", "Use e.g a queue.", [("replaced", "stops inside the sentence are left out")]),
        ("... then ship it.", "then ship it.", [("replaced", "stops inside the sentence are left out")]),
        ("?! . Go on. Stop.", "Go on.", [("cut", "Stop."), ("replaced", "stops inside the sentence are left out")]),
        ("Ship it ...", "Ship it ...", []),
        ("...", "...", []),
        (". ! ?", "?", [("replaced", "stops inside the sentence are left out")]),
        ('Say "stop." Then go.', 'Say "stop."', [("cut", "Then go.")]),
        ("A|B.", "A/B.", [("replaced", "| as /")]),
        ("One\nline.", "One line.", [("replaced", "line breaks and tabs as spaces")]),
        (" \n ", "Go on with the work.", [("filled", "Go on with the work.")]),
    ],
)
def test_the_seed_is_the_first_sentence_of_the_goal(goal: str, seed: str, losses: list[tuple[str, str]]) -> None:
    assert capsule_of(goal=goal).seed == seed
    assert losses_of(goal=goal) == [(kind, "goal", text) for kind, text in losses]


def test_a_pipe_becomes_a_slash_and_is_reported() -> None:
    members: dict[str, Any] = {
        "goal": "g|g", "next_step": "n||n", "constraints": ["c | c"], "project": {"name": "p|p"},
        "decisions": [{"what": "|", "why": "y|"}], "open_questions": ["q|q"], "success_criteria": ["｜"],
        "attempts": [{"tried": "|t", "outcome": "failed", "learned": "l|l"}],
    }  # fmt: skip
    capsule = capsule_of(**members)
    assert [entry.line for layer in capsule.layers for entry in layer] == [
        "CHOICE | / | y/",
        f"CONSTRAINT | c / c | {HARD_LIMIT}",
        "/t | failed | l/l",
        "INCOMPLETE_TASK | n//n | HIGH",
        "DEFERRED_QUESTION | q/q | MED",
        "PROMISE | / | LOW",
    ]
    assert (capsule.meta.topic, capsule.seed) == ("p/p", "g/g")
    paths = [path for kind, path, text in losses_of(**members) if kind == "replaced" and text.endswith("| as /")]
    assert sorted(paths) == [
        "attempts[0].learned", "attempts[0].tried", "constraints[0]", "decisions[0].what", "decisions[0].why",
        "goal", "next_step", "open_questions[0]", "project.name", "success_criteria[0]",
    ]  # fmt: skip


def test_what_is_transliterated_is_reported_once_for_each_text() -> None:
    assert losses_of(constraints=["“é” é\n|"]) == [
        ("replaced", "constraints[0]", "“ as \", é as e, ” as \", line breaks and tabs as spaces, | as /")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("members", "path", "position"),
    [
        ({"goal": "Ship 漢字."}, "goal", 6),
        ({"next_step": "Шаг"}, "next_step", 1),
        ({"project": {"name": "p 🙂"}}, "project.name", 3),
        ({"constraints": ["ok", "x α"]}, "constraints[1]", 3),
        ({"decisions": [{"what": "w", "why": "y ∞"}]}, "decisions[0].why", 3),
        (
            {"attempts": [examples.ATTEMPT, {"tried": "t", "outcome": "failed", "learned": "漢"}]},
            "attempts[1].learned",
            1,
        ),
        ({"open_questions": ["¬x?"]}, "open_questions[0]", 1),
        ({"success_criteria": ["x", "y", "d\u0336"]}, "success_criteria[2]", 2),
        # Refused also where the entry would not have found room.
        ({"decisions": [*short(30), {"what": "漢", "why": "y"}]}, "decisions[30].what", 1),
    ],
)
def test_what_ascii_cannot_say_is_refused_with_its_place(members: dict[str, Any], path: str, position: int) -> None:
    with pytest.raises(InvalidInput) as refused:
        to_capsule(examples.packet(**members))
    assert refused.value.code == "capsule.transliteration"
    assert (refused.value.details["path"], refused.value.details["position"]) == (path, position)


def test_what_does_not_travel_may_be_in_any_script() -> None:
    members: dict[str, Any] = {
        "methods": [{"name": "m", "when_applicable": "漢", "how": "字"}],
        "decisions": [{"what": "w", "why": "y", "consequences": "漢字"}],
        "provenance": {"author_human": "Ж"},
    }
    assert ("no place", "decisions[0].consequences", "漢字") in losses_of(**members)


def test_empty_texts_get_a_stand_in_or_go() -> None:
    members: dict[str, Any] = {
        "next_step": "\n", "constraints": ["", "\u200b"], "open_questions": [" "], "success_criteria": ["\ufeff", "s"],
        "decisions": [{"what": "", "why": ""}], "attempts": [{"tried": " ", "outcome": "succeeded"}],
    }  # fmt: skip
    capsule = capsule_of(**members)
    assert [entry.line for layer in capsule.layers for entry in layer] == [
        "CHOICE | a decision without a text | no reason was given",
        "OUTCOME | an attempt without a text | nothing was noted",
        "INCOMPLETE_TASK | - | HIGH",
        "PROMISE | s | LOW",
    ]
    found = losses_of(**members)
    assert [path for kind, path, _ in found if kind == "filled"] == [
        "decisions[0].what", "decisions[0].why", "attempts[0].tried", "attempts[0].learned", "next_step",
    ]  # fmt: skip
    assert [path for kind, path, _ in found if kind == "dropped"] == [
        "constraints[0]", "constraints[1]", "open_questions[0]", "success_criteria[0]",
    ]  # fmt: skip


@pytest.mark.parametrize("word", ["CHAIN:", "INTEGRITY:", "SEED:"])
def test_an_attempt_that_looks_like_another_line(word: str) -> None:
    attempts = [{"tried": f"{word} x: y", "outcome": "failed"}, {"tried": f"a {word} z", "outcome": "failed"}]
    capsule = capsule_of(attempts=attempts)
    assert [entry.option for entry in capsule.negative] == [f"{word[:-1]} - x: y", f"a {word} z"]
    assert ("replaced", "attempts[0].tried", ": as -") in losses_of(attempts=attempts)


def test_caps_drop_the_last_and_say_so() -> None:
    members: dict[str, Any] = {
        "decisions": [*short(11), {"what": "Locked", "why": "So.", "locked": True}],
        "constraints": ["C0", "C1"],
        "attempts": [{"tried": f"A{number}", "outcome": "failed", "learned": "l"} for number in range(10)],
        "open_questions": [f"Q{number}" for number in range(6)],
        "success_criteria": ["S0", "S1", "S2"],
    }
    capsule = capsule_of(**members)
    assert [node.fact for node in capsule.skeleton] == ["Locked", *(f"Decision {number}" for number in range(11))]
    assert [entry.option for entry in capsule.negative] == [f"A{number}" for number in range(8)]
    assert [loop.description for loop in capsule.loops] == [
        examples.minimal()["next_step"],
        *(f"Q{n}" for n in range(6)),
        "S0",
    ]
    assert [(path, text) for kind, path, text in losses_of(**members) if kind == "dropped"] == [
        ("constraints[1]", f"CONSTRAINT | C1 | {HARD_LIMIT}"),
        ("constraints[0]", f"CONSTRAINT | C0 | {HARD_LIMIT}"),
        ("attempts[9]", "A9 | failed | l"),
        ("attempts[8]", "A8 | failed | l"),
        ("success_criteria[2]", "PROMISE | S2 | LOW"),
        ("success_criteria[1]", "PROMISE | S1 | LOW"),
    ]


def test_the_budget_takes_in_the_order_of_the_format_and_says_so() -> None:
    members: dict[str, Any] = {
        "decisions": [{"what": "w" * 170, "why": f"{number}"} for number in range(4)],
        "attempts": [{"tried": "t" * 90 + str(number), "outcome": "failed"} for number in range(2)],
        "open_questions": ["q" * 90 + "0", "q" * 90 + "1"],
        "success_criteria": ["s" * 90 + "0"],
    }
    capsule = capsule_of(**members)
    dropped = [path for kind, path, _ in losses_of(**members) if kind == "dropped"]
    assert dropped == ["success_criteria[0]", "open_questions[1]", "open_questions[0]", "attempts[1]"]
    assert len(capsule.skeleton) == 4
    assert len(capsule.negative) == 1
    assert len(capsule.text) <= MAX_CHARS


def test_where_l1_alone_is_too_long_the_last_of_it_goes() -> None:
    members: dict[str, Any] = {"decisions": [{"what": "w" * 300 + str(number), "why": "y"} for number in range(6)]}
    capsule = capsule_of(**members)
    assert [node.fact[-1] for node in capsule.skeleton] == ["0", "1", "2"]
    assert [path for kind, path, _ in losses_of(**members) if kind == "dropped"] == [
        "decisions[5]", "decisions[4]", "decisions[3]",
    ]  # fmt: skip
    assert capsule.loops[0].priority == "HIGH"


def test_a_long_goal_and_next_step_are_cut() -> None:
    goal, step = "Ship " + "the importer " * 70 + "now.", "Write " + "the test " * 100
    capsule = capsule_of(goal=goal, next_step=step)
    assert capsule.seed.startswith("Ship the importer the importer ")
    assert capsule.seed.endswith("...")
    assert capsule.loops[0].description.endswith("...")
    assert len(capsule.seed) <= 300
    assert len(capsule.loops[0].description) <= 400
    for kind, path, text in losses_of(goal=goal, next_step=step):
        kept = capsule.seed if path == "goal" else capsule.loops[0].description
        whole = " ".join((goal if path == "goal" else step).split())
        assert kind == "cut"
        assert kept.removesuffix("...") + " " + text == whole


@pytest.mark.parametrize("text", ["word ", "x", "|", "é", "§", "…", "‰", ". ", "?", "e.g. ", "CHAIN: ", " \n", "½"])
def test_the_largest_packet_becomes_a_capsule(text: str) -> None:
    converted = to_capsule(largest(text))
    assert check(converted.capsule.text).errors == ()
    assert converted.capsule.loops[0].type == "INCOMPLETE_TASK"
    assert to_capsule(largest(text)) == converted


def test_entries_that_became_the_same_are_reported_each_by_its_own_path() -> None:
    same = [{"what": "w" * 400, "why": "y"}] * 4
    assert [path for kind, path, _ in losses_of(decisions=same) if kind == "dropped"] == [
        "decisions[3]",
        "decisions[2]",
    ]
    found = losses_of(open_questions=["Q"] * 9, success_criteria=["Q"])
    assert [path for _, path, _ in found] == ["success_criteria[0]", "open_questions[8]", "open_questions[7]"]


def test_no_secret_stands_in_the_report() -> None:
    members: dict[str, Any] = {
        "decisions": [{"what": "w", "why": "y", "consequences": f"Uses {examples.AWS_KEY} there."}],
        "goal": f"Ship it. Then {examples.AWS_KEY}.",
    }
    found = losses_of(**members)
    assert ("no place", "decisions[0].consequences", "Uses [redacted:aws-key] there.") in found
    assert not any(examples.AWS_KEY in text for _, _, text in found)


@given(documents)
def test_any_packet_becomes_a_valid_capsule_the_same_each_time(document: dict[str, Any]) -> None:
    packet = Packet.from_document(document)
    converted = to_capsule(packet)
    assert check(converted.capsule.text).errors == ()
    assert parse(converted.capsule.text) == converted.capsule
    assert to_capsule(Packet.from_document(document)) == converted
    for loss in converted.losses:
        assert _at(packet.document(), loss.path) or loss.kind in ("filled", "dropped"), loss


@given(documents)
def test_there_and_back_keeps_every_entry_that_the_report_did_not_list(document: dict[str, Any]) -> None:
    packet = Packet.from_document(document)
    converted = to_capsule(packet)
    back = to_packet(converted.capsule).packet
    schema.require_valid(back.document())
    listed = {loss.path for loss in converted.losses}
    for names, kept in _kept(back).items():
        before = Counter(entry for name in names for entry in _unlisted(document, name, listed))
        assert not before - Counter(kept), (names, listed)
    first = document.get("tags", [])[:1]
    assert list(back.tags) == (first or ["software"])
    name = document.get("project", {}).get("name", "")
    if name.strip() and "project.name" not in listed:
        assert back.project is not None
        assert back.project.name == _folded(name)
    for member in ("methods", "provenance", "parent_id"):  # whatever has no place
        value = document.get(member, "")
        said = any(value.values()) if isinstance(value, dict) else bool(value)
        assert said == any(path.startswith(member) for path in listed)
    assert {f"tags[{index}]" for index in range(1, len(document.get("tags", [])))} <= listed


def _folded(text: str) -> str:
    return " ".join(text.split())


def _kept(back: Packet) -> dict[tuple[str, ...], Iterable[Any]]:
    """What the packet holds now, by the members that it held it in before."""
    return {
        ("goal",): [back.goal],
        ("next_step",): [back.next_step],
        ("constraints",): back.constraints,
        ("open_questions", "success_criteria"): back.open_questions,
        ("decisions",): [(each.what, each.why, False) for each in back.decisions],
        ("attempts",): [(each.tried, each.outcome, each.learned, each.confidence) for each in back.attempts],
    }


def _unlisted(document: dict[str, Any], name: str, listed: set[str]) -> Iterable[Any]:
    """The entries of one member of which the report says nothing, as `_kept` shows them."""
    value = document.get(name, [])
    if isinstance(value, str):
        return [] if name in listed else [_folded(value)]
    found: list[Any] = []
    for index, entry in enumerate(value):
        path = f"{name}[{index}]"
        if any(
            re.fullmatch(rf"{re.escape(path)}(\.(what|why|locked|tried|learned|confidence))?", each) for each in listed
        ):
            continue
        if name == "decisions":
            found.append((_folded(entry["what"]), _folded(entry["why"]), entry.get("locked", False)))
        elif name == "attempts":
            found.append(_attempt(entry))
        else:
            found.append(_folded(entry))
    return found


def _attempt(entry: dict[str, Any]) -> tuple[str, str, str, str]:
    learned = _folded(entry.get("learned", ""))
    if entry["outcome"] == "succeeded":
        return _folded(entry["tried"]), "succeeded", learned, ""
    if entry["outcome"] == "partial":
        learned += " (it worked in part)"
    return _folded(entry["tried"]), "failed", learned, entry.get("confidence", "")


def _at(document: dict[str, Any], path: str) -> Any:
    """The value that a path of the report names; KeyError or IndexError where there is none."""
    value: Any = document
    for name, index in re.findall(r"(\w+)|\[(\d+)\]", path):
        value = value[int(index)] if index else value.get(name, "") if name == "learned" else value[name]
    return value
