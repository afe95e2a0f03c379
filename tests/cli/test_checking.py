"""`segue check`, `example` and `prompt handoff`: packets without a store."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cli.shell import FIRST, SECOND, SECOND_ID, InPlace, Shell, full
from segue.packets import schema

AWS_KEY = "AKIA" + "Q" * 16


def leaking(**members: Any) -> dict[str, Any]:
    return full(1, goal=f"Use {AWS_KEY} now.", constraints=["Read /" + "etc/passwd first."]) | members


def test_a_clean_packet(shell: Shell) -> None:
    result = shell.run("check", FIRST)
    assert (result.code, result.err) == (0, "")
    assert result.out == f"valid v0.2 packet, {FIRST.stat().st_size:,} bytes\n"
    assert not shell.segue_home.exists()  # nothing is stored


def test_json_of_a_clean_packet(cli: InPlace) -> None:
    result = cli("check", FIRST, "--json")
    assert result.code == 0
    size = FIRST.stat().st_size
    assert list(result.json.items()) == [
        ("valid", True),
        ("version", "0.2"),
        ("bytes", size),
        ("errors", []),
        ("redaction", []),
        ("warnings", []),
    ]


def test_an_invalid_packet(cli: InPlace) -> None:
    cli.write("bad.json", full(1, goal="", tags=["NOT A TAG"]))
    result = cli("check", "bad.json")
    assert (result.code, result.lines[0].split(",")[0]) == (3, "invalid v0.2 packet")
    assert [line[:7] for line in result.err.splitlines()] == ["error: "] * 2
    found = cli("check", "bad.json", "--json")
    assert found.code == 3
    assert found.json["valid"] is False
    assert [list(each) for each in found.json["errors"]] == [["code", "path", "message"]] * 2
    assert {each["path"] for each in found.json["errors"]} == {"goal", "tags[0]"}


def test_findings_only(cli: InPlace) -> None:
    cli.write("leak.json", leaking())
    result = cli("check", "leak.json")
    assert (result.code, result.lines[0].split(",")[0]) == (4, "valid v0.2 packet")
    assert f"  • goal/aws-key: {AWS_KEY}" in result.err.splitlines()
    assert any("redactable" in line for line in result.err.splitlines())
    found = cli("check", "leak.json", "--json")
    assert found.code == 4
    assert found.json["valid"] is True  # speaks of the schema only
    assert [each["kind"] for each in found.json["redaction"]] == ["goal/aws-key", "constraints[0]/abs-path"]
    assert [list(each) for each in found.json["redaction"]] == [["kind", "found"]] * 2


def test_invalid_wins_over_findings_and_both_are_said(cli: InPlace) -> None:
    result = cli("check", cli.write("both.json", leaking(next_step="")), "--json")
    assert result.code == 3
    assert result.json["errors"]
    assert result.json["redaction"]


def test_warnings_leave_it_clean(cli: InPlace) -> None:
    path = cli.write("w.json", full(1, created_at="2026-05-01T11:30:00+02:00", goal="Ship it. Then rest."))
    result = cli("check", path, "--json")
    assert result.code == 0
    assert [list(each) for each in result.json["warnings"]] == [["code", "path", "message"]] * 2
    assert {each["path"] for each in result.json["warnings"]} == {"created_at", "goal"}
    assert cli("check", path).err.count("warning: ") == 2


def test_a_draft_is_invalid_and_told_that_it_is_a_draft(cli: InPlace) -> None:
    draft = {key: value for key, value in full(1).items() if key not in ("id", "created_at")}
    result = cli("check", cli.write("draft.json", draft))
    assert result.code == 3
    assert result.err.splitlines()[-1] == "as a draft it is fine: `segue save` fills in id and created_at"
    leak = cli("check", cli.write("leak.json", draft | {"goal": f"Use {AWS_KEY} now."}), "--fix")
    assert (leak.code, leak.err.splitlines()[-1]) == (3, result.err.splitlines()[-1])
    assert cli("save", "leak.json").code == 0
    for changes in ({"goal": ""}, {"tags": ["NOT A TAG"]}):
        assert "as a draft" not in cli("check", cli.write("bad.json", draft | changes)).err
    assert "as a draft" not in cli("check", FIRST).err


def test_the_parent_is_compared(cli: InPlace) -> None:
    method = {"name": "dry-run", "when_applicable": "Before a release.", "how": "Run it with --dry."}
    cli.write("parent.json", full(1, methods=[method]))
    cli.write("child.json", full(2, parent_id="packet-0001", methods=[method | {"name": "dry-runs"}]))
    assert cli("check", "child.json", "--json").json["warnings"] == []
    result = cli("check", "child.json", "--parent", "parent.json", "--json")
    assert (result.code, [each["path"] for each in result.json["warnings"]]) == (0, ["methods[0].name"])
    assert "warning: methods[0].name: " in cli("check", "child.json", "--parent", "parent.json").err
    missing = cli("check", "child.json", "--parent", "nothing.json", "--json")
    assert (missing.code, missing.error["code"]) == (3, "file.read")
    cli.write("broken.json", b"{")
    assert cli("check", "child.json", "--parent", "broken.json", "--json").error["code"] == "packet.json"


def test_an_output_without_a_fix_is_usage(cli: InPlace) -> None:
    for file in ("-", FIRST):
        result = cli("check", file, "-o", "out.json", "--json", stdin=SECOND.read_bytes())
        assert (result.code, result.error["code"]) == (2, "cli.usage")
    assert list(cli.shell.project.iterdir()) == []


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf{}", b"nonsense", b"[1]", b"{}", b"\x00" * 40_000])
def test_what_is_no_packet(cli: InPlace, data: bytes) -> None:
    result = cli("check", "-", "--json", stdin=data)
    assert result.code == 3
    assert result.json["valid"] is False
    assert result.json["version"] == ""
    assert result.json["bytes"] == len(data)
    assert len(result.json["errors"]) == 1


def test_standard_input(shell: Shell) -> None:
    assert shell.run("check", "-", stdin=SECOND.read_bytes()).code == 0
    assert shell.run("check", "-", stdin=json.dumps(leaking()).encode()).code == 4
    assert shell.script("segue check - <&-").code == 3


def test_core_only(cli: InPlace) -> None:
    path = cli.write("local.json", full(1, goal="Serve http://localhost:8080/ again."))
    assert cli("check", path).code == 4
    assert cli("check", path, "--core-only").code == 0


def test_no_file(cli: InPlace) -> None:
    result = cli("check", "missing.json", "--json")
    assert (result.code, result.error["code"]) == (3, "file.read")
    assert cli("check").code == 2


def test_fix_in_place(cli: InPlace) -> None:
    cli.write("leak.json", leaking())
    path = cli.shell.project / "leak.json"
    path.chmod(0o640)
    result = cli("check", "leak.json", "--fix")
    assert (result.code, result.out) == (0, "")
    assert f"replaced goal/aws-key: {AWS_KEY}" in result.err.splitlines()
    fixed = json.loads(path.read_bytes())
    assert fixed == leaking(goal="Use [redacted:aws-key] now.", constraints=["Read [redacted:abs-path] first."])
    assert path.stat().st_mode & 0o777 == 0o640
    assert cli("check", "leak.json").code == 0


def test_fix_to_another_file(cli: InPlace) -> None:
    cli.write("leak.json", leaking())
    before = (cli.shell.project / "leak.json").read_bytes()
    assert cli("check", "leak.json", "--fix", "-o", "fixed.json").code == 0
    assert (cli.shell.project / "leak.json").read_bytes() == before
    assert cli("check", "fixed.json").code == 0
    assert (cli.shell.project / "fixed.json").stat().st_mode & 0o777 == 0o600


def test_fix_of_standard_input(cli: InPlace) -> None:
    result = cli("check", "-", "--fix", stdin=json.dumps(leaking()).encode())
    assert result.code == 0
    assert result.json["goal"] == "Use [redacted:aws-key] now."
    assert cli("check", "-", stdin=result.stdout).code == 0


def test_fix_as_json(cli: InPlace) -> None:
    result = cli("check", "-", "--fix", "--json", stdin=json.dumps(leaking()).encode())
    assert result.code == 0
    assert (result.json["valid"], result.json["redaction"]) == (True, [])
    assert [each["kind"] for each in result.json["replaced"]] == ["goal/aws-key", "constraints[0]/abs-path"]
    assert result.json["written"] is None
    assert json.loads(result.json["packet"])["goal"] == "Use [redacted:aws-key] now."
    cli.write("leak.json", leaking())
    written = cli("check", "leak.json", "--fix", "--json").json
    assert (written["written"], written["packet"]) == ("leak.json", None)


@pytest.mark.parametrize("extra", [(), ("-o", "copy.json")])
def test_fix_of_a_clean_packet(cli: InPlace, extra: tuple[str, ...]) -> None:
    data = SECOND.read_bytes()
    cli.write("clean.json", data)
    assert cli("check", "clean.json", "--fix", *extra).code == 0
    assert (cli.shell.project / "clean.json").read_bytes() == data
    if extra:
        assert json.loads((cli.shell.project / "copy.json").read_bytes()) == json.loads(data)


def test_fix_of_clean_standard_input_passes_it_on(cli: InPlace) -> None:
    result = cli("check", "-", "--fix", stdin=SECOND.read_bytes())
    assert result.code == 0
    assert result.json == json.loads(SECOND.read_bytes())


def test_example(shell: Shell) -> None:
    result = shell.run("example")
    assert (result.code, result.err) == (0, "")
    assert schema.parse(result.stdout.rstrip(b"\n")).id == SECOND_ID
    assert shell.run("check", "-", stdin=result.stdout).code == 0
    block = shell.run("example", "--resume")
    assert block.lines[0].startswith("# Resume context")
    as_json = shell.run("example", "--json")
    assert as_json.json == result.json
    as_block = shell.run("example", "--resume", "--json").json
    assert list(as_block) == ["id", "resume"]
    assert (as_block["id"], as_block["resume"].rstrip("\n")) == (SECOND_ID, block.out.rstrip("\n"))
    assert not shell.segue_home.exists()


def test_the_prompt(shell: Shell) -> None:
    result = shell.run("prompt", "handoff")
    assert (result.code, result.err) == (0, "")
    for name in ("ltm_version", "goal", "next_step", "decisions", "attempts"):
        assert name in result.out
    assert not shell.segue_home.exists()
