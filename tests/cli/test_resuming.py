"""`segue resume`: the block, the newest of a project, the picker, the clipboard."""

from __future__ import annotations

import pytest

from cli.shell import FIRST, FIRST_ID, SECOND, SECOND_ID, InPlace, Shell, full


@pytest.fixture
def stocked(shell: Shell) -> Shell:
    shell.stock(FIRST, SECOND)
    return shell


def test_the_newest_of_the_project(stocked: Shell) -> None:
    result = stocked.run("resume")
    assert (result.code, result.err) == (0, "")
    assert result.lines[0] == "# Resume context — ltm Core Memory Packet"
    assert f"Packet:    {SECOND_ID} (spec v0.2)" in result.lines
    assert f"Continues: {FIRST_ID}" in result.lines
    assert result.out.endswith("\n")
    assert not result.out.endswith("\n\n")
    headings = [line for line in result.lines if line.startswith("## ")]
    assert headings[0] == "## Goal"
    assert headings[-1] == "## Reminder"


def test_an_empty_id_is_no_id(cli: InPlace) -> None:
    cli("save", FIRST)
    for command in ("resume", "show", "chain"):
        result = cli(command, "", "--json")
        assert (result.code, result.error["code"]) == (5, "packet.not_found"), command


def test_an_id_or_its_ending(cli: InPlace) -> None:
    cli("save", FIRST)
    cli("save", SECOND)
    whole = cli("resume", FIRST_ID)
    assert f"Packet:    {FIRST_ID} (spec v0.2)" in whole.lines
    assert cli("resume", FIRST_ID[-4:]) == whole
    assert cli("resume", f"…{FIRST_ID[-8:]}") == whole


def test_json(cli: InPlace) -> None:
    cli("save", FIRST)
    result = cli("resume", "--json")
    assert list(result.json) == ["id", "resume"]
    assert result.json["id"] == FIRST_ID
    assert result.json["resume"].rstrip("\n") + "\n" == cli("resume").out


def test_the_newest_is_by_the_packets_own_time(cli: InPlace) -> None:
    cli("save", cli.write("new.json", full(9)))
    cli("save", cli.write("old.json", full(3)))
    assert cli("resume", "--json").json["id"] == "packet-0009"


def test_another_project_has_its_own_newest(stocked: Shell) -> None:
    other = stocked.root / "other"
    other.mkdir()
    result = stocked.run("resume", "--json", cwd=other)
    assert (result.code, result.error["code"]) == (5, "packet.none")
    assert "segue ls" in result.error["message"]


@pytest.mark.parametrize(
    ("given", "code"), [("ZZZZ", "packet.not_found"), ("", "packet.none"), ("01", "packet.ambiguous")]
)
def test_what_is_not_there(cli: InPlace, given: str, code: str) -> None:
    if code == "packet.ambiguous":
        cli("save", cli.write("1.json", full(1, id="aaaaaaaa-01")))
        cli("save", cli.write("2.json", full(2, id="bbbbbbbb-01")))
    result = cli("resume", *([given] if given else []), "--json")
    assert (result.code, result.error["code"], result.err) == (5, code, "")


def test_copy_without_a_clipboard_warns_and_still_prints(stocked: Shell) -> None:
    # No display and none of the helper programs: a PATH with the program alone.
    result = stocked.run("resume", "--copy", env={"PATH": str(stocked.root), "WAYLAND_DISPLAY": "", "DISPLAY": ""})
    assert result.code == 0
    assert result.stdout == stocked.run("resume").stdout
    assert result.err.startswith("warning: no clipboard")


def test_pick_never_asks_without_a_terminal(cli: InPlace) -> None:
    cli("save", FIRST)
    result = cli("resume", "--pick", "--json")
    assert (result.code, result.error["code"]) == (4, "resume.no_terminal")
    assert cli("resume", "--pick", FIRST_ID).code == 0  # nothing to ask


def test_pick_on_a_terminal(stocked: Shell) -> None:
    first = stocked.terminal("resume", "--pick", answers=((b"Resume which packet?", b"\r"),))
    assert first.code == 0
    assert f"Packet:    {SECOND_ID}" in first.out
    second = stocked.terminal("resume", "--pick", answers=((b"Resume which packet?", b"\x1b[B\r"),))
    assert f"Packet:    {FIRST_ID}" in second.out


def test_a_pick_that_is_called_off(stocked: Shell) -> None:
    result = stocked.terminal("resume", "--pick", answers=((b"Resume which packet?", b"\x03"),))
    assert result.code == 0
    assert "# Resume context" not in result.out


def test_a_pick_from_nothing(shell: Shell) -> None:
    result = shell.terminal("resume", "--pick")
    assert result.code == 5
    assert "segue save" in result.out


def test_what_the_picker_shows_is_escaped(stocked: Shell) -> None:
    hostile = full(1, goal="Take \x1b]0;me\x07 \u202eover", created_at="2026-12-01T00:00:00Z")
    stocked.stock(hostile)
    result = stocked.terminal("resume", "--pick", answers=((b"Resume which packet?", b"\x03"),), columns=120)
    assert b"\x1b]0;me" not in result.stdout
    assert rb"\x1b]0;me\x07 \u202eover" in result.stdout
