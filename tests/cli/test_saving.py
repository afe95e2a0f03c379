"""`segue save FILE`: what it stores, prints and refuses."""

from __future__ import annotations

import json

import pytest

from cli.shell import FIRST, FIRST_ID, SECOND, SECOND_ID, InPlace, Shell, full, packet

AWS_KEY = "AKIA" + "Q" * 16
LONG_PATH = "/home/" + "ana/" + "deep/" * 10


def test_save_prints_the_id_alone(shell: Shell) -> None:
    result = shell.run("save", FIRST)
    assert (result.code, result.stdout, result.stderr) == (0, f"{FIRST_ID}\n".encode(), b"")
    assert shell.run("show", "--raw", FIRST_ID).json == json.loads(FIRST.read_bytes())


def test_save_reads_standard_input(shell: Shell) -> None:
    result = shell.run("save", "-", stdin=SECOND.read_bytes())
    assert (result.code, result.out) == (0, f"{SECOND_ID}\n")
    assert "parent_id" in result.err  # the packet that it continues is not here


def test_a_draft_gets_id_and_time_from_now(cli: InPlace) -> None:
    result = cli("save", cli.write("draft.json", packet()), "--now", "2026-05-04T09:30:00Z")
    assert result.code == 0
    assert len(result.out) == 27
    shown = cli("show", "--json", result.out.strip()).json
    assert shown["created_at"] == "2026-05-04T09:30:00Z"


@pytest.mark.parametrize("now", ["yesterday", "2026-05-04", "2026-02-30T00:00:00Z"])
def test_now_is_a_real_time(cli: InPlace, now: str) -> None:
    result = cli("save", FIRST, "--now", now, "--json")
    assert (result.code, result.error["code"]) == (3, "time.invalid")
    assert cli.ids() == []


def test_json(cli: InPlace) -> None:
    locked = {"what": "One transaction.", "why": "No half imports.", "locked": True}
    result = cli("save", cli.write("draft.json", packet(decisions=[locked])), "--json")
    assert list(result.json) == ["id", "outcome", "redaction", "warnings"]
    assert result.json["outcome"] == "created"
    assert result.json["redaction"] == []
    assert [list(each) for each in result.json["warnings"]] == [["code", "path", "message"]]
    assert result.json["warnings"][0]["code"] == "rule.consequences"
    assert result.err == ""


def test_warnings_go_to_stderr_and_change_nothing(cli: InPlace) -> None:
    result = cli("save", cli.write("draft.json", packet(goal="Ship it. Then rest.")))
    assert result.code == 0
    assert len(result.lines) == 1
    assert result.err.startswith("warning: goal: ")


def test_the_same_packet_twice_is_one_packet(cli: InPlace) -> None:
    assert cli("save", FIRST).err == ""
    again = cli("save", FIRST)
    assert (again.code, again.out) == (0, f"{FIRST_ID}\n")
    assert again.err.startswith("unchanged: ")
    assert cli("save", FIRST, "--json").json["outcome"] == "unchanged"
    spaced = cli.write("spaced.json", json.dumps(json.loads(FIRST.read_bytes()), indent=7).encode())
    assert cli("save", spaced, "--json").json["outcome"] == "unchanged"
    assert cli.ids() == [FIRST_ID]


def test_the_same_draft_twice_is_one_packet(cli: InPlace) -> None:
    draft = cli.write("draft.json", packet())
    first = cli("save", draft).out
    assert cli("save", draft).out == first
    assert cli.ids() == [first.strip()]


def test_another_body_is_refused_unless_it_replaces(cli: InPlace) -> None:
    cli("save", cli.write("one.json", full(1)))
    other = cli.write("other.json", full(1, goal="Another goal."))
    refused = cli("save", other)
    assert (refused.code, refused.out) == (4, "")
    assert "packet-0001" in refused.err
    assert cli("save", other, "--json").error["code"] == "packet.exists"
    assert cli("show", "--json", "packet-0001").json["goal"] == "Ship the importer."
    replaced = cli("save", other, "--replace", "--json")
    assert (replaced.code, replaced.json["outcome"]) == (0, "replaced")
    assert cli("show", "--json", "packet-0001").json["goal"] == "Another goal."
    assert "Revision:   2" in cli("show", "packet-0001").lines


def test_findings_store_nothing(cli: InPlace) -> None:
    leaking = cli.write("leak.json", packet(goal=f"Use {AWS_KEY}.", constraints=[f"Read {LONG_PATH} first."]))
    result = cli("save", leaking)
    assert (result.code, result.out) == (4, "")
    assert cli.ids() == []
    assert any("redactable" in line for line in result.err.splitlines())
    bullets = [line.removeprefix("  • ") for line in result.err.splitlines() if line.startswith("  • ")]
    assert bullets[0] == f"goal/aws-key: {AWS_KEY}"
    kind, _, found = bullets[1].partition(": ")
    assert kind == "constraints[0]/abs-path"
    assert found == LONG_PATH[:32] + "…"  # cut at 32 characters


def test_findings_as_json_hold_no_secret(cli: InPlace) -> None:
    leaking = cli.write("leak.json", packet(goal=f"Use {AWS_KEY}.", next_step=f"Read {LONG_PATH} first."))
    result = cli("save", leaking, "--json")
    assert (result.code, result.error["code"]) == (4, "packet.redaction")
    assert result.error["details"] == {"redaction": ["goal/aws-key", "next_step/abs-path"]}
    assert AWS_KEY not in result.out + result.err
    assert LONG_PATH[:20] not in result.out + result.err


def test_allow_unredacted_stores_and_says_so(cli: InPlace) -> None:
    leaking = cli.write("leak.json", full(1, goal=f"Use {AWS_KEY}."))
    result = cli("save", leaking, "--allow-unredacted")
    assert (result.code, result.out) == (0, "packet-0001\n")
    assert f"stored unredacted: goal/aws-key: {AWS_KEY}" in result.err
    assert cli("ls", "--json").json["packets"][0]["flagged"] is True
    assert "Flagged:" in cli("show", "packet-0001").out
    report = cli("save", cli.write("two.json", full(2, goal=f"Use {AWS_KEY}.")), "--allow-unredacted", "--json").json
    assert report["redaction"] == [{"kind": "goal/aws-key", "found": AWS_KEY}]


def test_core_only_looks_for_the_ten_patterns(cli: InPlace) -> None:
    local = cli.write("local.json", packet(goal="Serve http://localhost:8080/ again."))
    extended = cli("save", local)
    assert extended.code == 4
    assert "/ext/" in extended.err
    assert cli("save", local, "--core-only").code == 0
    assert cli("save", cli.write("key.json", packet(goal=f"Use {AWS_KEY}.")), "--core-only").code == 4


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "packet.json"),
        (b"{", "packet.json"),
        (b'{"a": 1, "a": 2}', "packet.json"),
        (b"\xff", "packet.json"),
        (b"[]", "packet.type"),
        (b"{}", "packet.version"),
        (b'{"ltm_version": "9"}', "packet.version"),
        (b'{"ltm_version": "0.2", "next_step": "x"}', "packet.schema"),
        (b" " * 32_769, "packet.size"),
        (b'{"ltm_version": "0.2", "goal": ' + b"[" * 4_000, "packet.json"),
        (b'{"ltm_version": "0.2", "goal": ' + b"9" * 5_000 + b"}", "packet.json"),
        (b'{"ltm_version": "0.2", "goal": "\\ud800", "next_step": "x"}', "packet.json"),
    ],
)
def test_invalid_packets(cli: InPlace, data: bytes, code: str) -> None:
    result = cli("save", "-", "--json", stdin=data)
    assert (result.code, result.error["code"]) == (3, code)
    said = cli("save", "-", stdin=data)
    assert (said.code, said.out) == (3, "")
    assert said.err.startswith("segue: ")
    assert "Traceback" not in said.err
    assert cli.ids() == []


@pytest.mark.parametrize("fence", ["```json\n{}\n```", "~~~\n{}\n~~~", "Here it is:\n\n```\n{}\n```\nGood luck!\n"])
def test_a_packet_is_taken_out_of_markdown(cli: InPlace, fence: str) -> None:
    answer = fence.replace("{}", json.dumps(full(1), indent=2)).encode()
    for result in (cli("save", "-", stdin=answer), cli("save", cli.write("answer.md", answer))):
        assert (result.code, result.out) == (0, "packet-0001\n")
        assert result.err.splitlines()[0] == "took the packet out of the Markdown around it"
    assert cli("show", "--json", "packet-0001").json == full(1)


def test_markdown_with_two_packets_is_not_guessed_at(cli: InPlace) -> None:
    one = f"```json\n{json.dumps(packet())}\n```\n"
    result = cli("save", "-", "--json", stdin=(one * 2).encode())
    assert (result.code, result.error["code"]) == (3, "packet.json")
    assert cli.ids() == []


def test_all_that_is_wrong_with_a_packet_is_said(cli: InPlace) -> None:
    wrong = cli.write("bad.json", packet(goal="", tags=["A B"], **{"x\x1b": 1}))
    said = cli("save", wrong).err.splitlines()
    assert [line.split(": ")[0] for line in said] == ["segue", "also", "also"]
    assert {word for word in ("goal", "tags[0]", "x") if any(word in line for line in said)} == {"goal", "tags[0]", "x"}
    assert "\x1b" not in "".join(said)
    assert len(cli("save", wrong, "--json").error["details"]["errors"]) == 3


def test_the_same_draft_saved_in_another_folder_is_another_packet(
    cli: InPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = cli.save()
    assert cli.save() == first
    other = cli.shell.root / "other"
    other.mkdir()
    draft = str(cli.shell.project / cli.write("draft.json", packet()))
    monkeypatch.chdir(other)
    second = cli("save", draft, "--json").json
    assert (second["outcome"], second["id"] != first) == ("created", True)
    assert cli("save", draft, "--json").json == second | {"outcome": "unchanged"}


def test_a_warning_is_said_each_time(cli: InPlace) -> None:
    advised = cli.write("advised.json", packet(goal="Ship it. Then rest."))
    for outcome in ("created", "unchanged"):
        report = cli("save", advised, "--json").json
        assert (report["outcome"], [each["path"] for each in report["warnings"]]) == (outcome, ["goal"])


def test_a_file_that_cannot_be_read(cli: InPlace) -> None:
    missing = cli("save", "nothing.json", "--json")
    assert (missing.code, missing.error["code"]) == (3, "file.read")
    assert cli("save", ".").code == 3
    assert (
        cli("save", "\x1b[31m\nnothing").err
        == r"segue: cannot read \x1b[31m ⏎ nothing: No such file or directory" + "\n"
    )


CONTINUING = [
    ["save", "next.json", "--continue"],
    ["save", "--continue", "next.json"],
    ["save", "--continue", "packet-0001", "next.json"],
    ["save", "next.json", "--continue", "packet-0001"],
    ["save", "next.json", "--continue", "0001"],
    ["save", "next.json", "--continue=packet-0001"],
    ["save", "--continue=0001", "next.json"],
    ["save", "--continue", "--json", "next.json"],
    ["save", "next.json", "--continue", "--now", "2026-05-09T00:00:00Z"],
]


@pytest.mark.parametrize("arguments", CONTINUING, ids=lambda each: " ".join(each[1:]))
def test_continue_in_every_position(cli: InPlace, arguments: list[str]) -> None:
    cli("save", cli.write("one.json", full(1)))
    cli.write("next.json", packet(goal="Ship the importer to all."))
    result = cli(*arguments)
    assert result.code == 0, result.err
    saved = result.json["id"] if "--json" in arguments else result.out.strip()
    assert cli("show", "--json", saved).json["parent_id"] == "packet-0001"


def test_continue_with_standard_input(cli: InPlace) -> None:
    cli("save", cli.write("one.json", full(1)))
    for arguments in (["save", "--continue", "-"], ["save", "-", "--continue"]):
        goal = f"Ship it by {len(arguments)} {arguments[1]}."
        result = cli(*arguments, stdin=json.dumps(packet(goal=goal, created_at="2026-05-01T10:00:00Z")).encode())
        assert result.code == 0, result.err
        assert "parent_id" in cli("show", "--json", result.out.strip()).json


def test_continue_means_this_projects_newest(cli: InPlace) -> None:
    for number in (2, 1):
        cli("save", cli.write(f"{number}.json", full(number)))
    result = cli("save", cli.write("next.json", packet(goal="Go on.")), "--continue")
    assert cli("show", "--json", result.out.strip()).json["parent_id"] == "packet-0002"


def test_continue_what_is_not_there(cli: InPlace) -> None:
    draft = cli.write("next.json", packet())
    assert cli("save", draft, "--continue", "--json").error["code"] == "packet.none"
    missing = cli("save", draft, "--continue", "packet-9999")
    assert (missing.code, missing.out) == (5, "")
    cli("save", cli.write("one.json", full(1)))
    cli("save", cli.write("two.json", full(2, id="other-0001")))
    ambiguous = cli("save", draft, "--continue", "0001", "--json")
    assert (ambiguous.code, ambiguous.error["code"]) == (5, "packet.ambiguous")
    assert sorted(ambiguous.error["details"]["matches"]) == ["other-0001", "packet-0001"]


def test_the_older_version_cannot_continue(cli: InPlace) -> None:
    cli("save", cli.write("one.json", full(1)))
    old = cli("save", cli.write("old.json", packet(ltm_version="0.1")), "--continue", "--json")
    assert (old.code, old.error["code"]) == (3, "packet.version")


def test_a_cycle_is_refused(cli: InPlace) -> None:
    cli("save", cli.write("one.json", full(1, parent_id="packet-0002")))
    result = cli("save", cli.write("two.json", full(2, parent_id="packet-0001")), "--json")
    assert (result.code, result.error["code"]) == (4, "packet.cycle")


def test_carry_copies_what_is_named(cli: InPlace) -> None:
    parent = full(
        1,
        methods=[{"name": "dry-run", "when_applicable": "Before a release.", "how": "Run it with --dry."}],
        constraints=["Ten minutes at most."],
        decisions=[
            {"what": "One transaction.", "why": "No half imports.", "locked": True, "consequences": "No batches."},
            {"what": "Skip bad lines.", "why": "The rest must be booked."},
        ],
    )
    cli("save", cli.write("one.json", parent))
    draft = cli.write("next.json", packet(goal="Go on."))
    saved = cli("save", draft, "--continue", "--carry", "methods, constraints,locked-decisions").out.strip()
    shown = cli("show", "--json", saved).json
    assert (shown["methods"], shown["constraints"]) == (parent["methods"], parent["constraints"])
    assert shown["decisions"] == parent["decisions"][:1]


def test_carry_needs_a_parent_and_known_names(cli: InPlace) -> None:
    draft = cli.write("next.json", packet())
    alone = cli("save", draft, "--carry", "methods", "--json")
    assert (alone.code, alone.error["code"]) == (3, "packet.carry")
    cli("save", cli.write("one.json", full(1)))
    unknown = cli("save", draft, "--continue", "--carry", "goals", "--json")
    assert (unknown.code, unknown.error["code"]) == (3, "packet.carry")
    assert "locked-decisions" in unknown.error["message"]
