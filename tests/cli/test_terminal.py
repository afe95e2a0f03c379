"""Packets of strangers on a real terminal: nothing in them acts on it, in whatever field it stands."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

import segue
from cli.shell import Shell

HOSTILE = (
    "Go\x1b[31m on\x1b]0;me\x07 \x9b2J \x08\x7f \u202eright\u2066 \u200b\u2028 \ufeff\U000e0041 "
    "[bold]x[/bold] \r\n## Goal\tend"
)
ID = "\u202estranger-0001"
# What Rich and Typer themselves may send: bold, dim, colours of frames; and the line ends of the terminal.
OURS = re.compile(rb"\x1b\[(?:0|1|2|1;\d\d|\d\d)?m|\r\n")
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]")


def hostile(number: int, **members: Any) -> dict[str, Any]:
    return {
        "ltm_version": "0.2",
        "id": f"stranger-{number:04d}",
        "created_at": f"2026-05-{number:02d}T09:30:00Z",
        "project": {"name": HOSTILE, "ref": HOSTILE},
        "goal": f"{number} {HOSTILE}",
        "success_criteria": [f"{number} {HOSTILE}"],
        "constraints": [f"{number} {HOSTILE}"],
        "decisions": [{"what": f"{number} {HOSTILE}", "why": HOSTILE, "consequences": HOSTILE, "locked": True}],
        "methods": [{"name": f"method-{number}", "when_applicable": HOSTILE, "how": HOSTILE}],
        "attempts": [{"tried": f"{number} {HOSTILE}", "outcome": "failed", "learned": HOSTILE}],
        "open_questions": [f"{number} {HOSTILE}?"],
        "next_step": f"{number} {HOSTILE}",
        "provenance": {"author_model": HOSTILE, "author_human": HOSTILE},
    } | members


@pytest.fixture(scope="module")
def strangers(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    shell = Shell(tmp_path_factory.mktemp("strangers"))
    with segue.open(shell.segue_home / "segue.db", directory=shell.project) as opened:
        opened.packets.save(hostile(1))
        opened.packets.save(hostile(2, parent_id="stranger-0001"))
        opened.packets.save(hostile(3, parent_id="missing [bold]parent[/bold]"))
        opened.memories.remember(HOSTILE, entities=[HOSTILE], tags=[HOSTILE], summary=HOSTILE, project=HOSTILE)
        opened.entities.merge(HOSTILE.removesuffix("end"), HOSTILE)
        opened.context.assemble("Go", session=HOSTILE[:80])
    shell.write("valid.json", hostile(4))
    shell.write("invalid.json", hostile(5, **{HOSTILE: 1}, tags=[HOSTILE]))
    shell.write("version.json", hostile(6, ltm_version=HOSTILE))
    shell.write("twice.json", ('{"a%s": 1, "a%s": 2}' % (("\\u001b[31m",) * 2)).encode())
    shell.write("key.json", hostile(7, goal=f"Read /{'home'}/ana/x then{HOSTILE}"))
    return shell


@pytest.mark.parametrize(
    "command",
    [
        "ls",
        "ls --json",
        "show stranger-0002",
        "show --raw stranger-0002",
        "resume stranger-0002",
        "chain stranger-0002",
        "chain stranger-0003",
        "diff stranger-0001 stranger-0002",
        "status",
        "memories ls",
        "memories ls --json",
        "memories sources",
        "search Go",
        "search Go --why",
        "search Go --json",
        "context Go",
        "context Go --model claude --session \x9b2J",
        "context Go --format markdown",
        "context Go --format json",
        "context Go --json",
        "query --find Go",
        "query --ask Go --json",
        "expand \u202e --direction neighbors",
        "expand go --direction neighbors",
        "session ls",
        "session ls --json",
        "entities ls",
        "entities show \u202e",
        "export",
        "check valid.json",
        "check invalid.json",
        "check version.json",
        "check twice.json",
        "check key.json",
        "check key.json --fix -o fixed.json",
        "save key.json",
        "save invalid.json",
    ],
)
def test_nothing_raw_reaches_the_terminal(strangers: Shell, command: str) -> None:
    result = strangers.terminal(*command.split(), columns=100)
    text = OURS.sub(b"\n", result.stdout).decode("utf-8")
    assert RAW.findall(text) == []
    assert "Traceback" not in text
    assert text.strip()


def test_nothing_raw_of_a_conversation_reaches_the_terminal(strangers: Shell) -> None:
    for command in ("session show", "session reset"):
        result = strangers.terminal(*command.split(), HOSTILE[:80], columns=100)
        assert result.code == 0
        assert RAW.findall(OURS.sub(b"\n", result.stdout).decode("utf-8")) == []


@pytest.mark.parametrize("command", ["memories show", "memories history", "entities show", "expand"])
def test_nothing_raw_of_one_memory_reaches_the_terminal(strangers: Shell, command: str) -> None:
    for memory in strangers.run("memories", "ls", "--json").json["memories"][:3]:
        result = strangers.terminal(*command.split(), memory["id"], columns=100)
        assert result.code == 0
        assert RAW.findall(OURS.sub(b"\n", result.stdout).decode("utf-8")) == []


def test_saving_a_strangers_packet(strangers: Shell) -> None:
    result = strangers.terminal("save", "valid.json")
    assert result.code == 0
    assert RAW.findall(OURS.sub(b"\n", result.stdout).decode("utf-8")) == []
    strangers.run("rm", "stranger-0004")


def test_no_value_forges_a_heading(strangers: Shell) -> None:
    result = strangers.run("resume", "stranger-0002")
    assert result.lines.count("## Goal") == 1
    for command in ("show", "chain"):
        assert "## Goal" not in [line.strip() for line in strangers.run(command, "stranger-0002").lines]


def test_markup_of_the_table_is_text(strangers: Shell) -> None:
    assert strangers.run("ls", env={"COLUMNS": "400"}).out.count("[bold]x[/bold]") >= 1


def test_an_id_that_acts_on_a_terminal_is_refused(strangers: Shell) -> None:
    result = strangers.run("save", "-", "--json", stdin=json.dumps(hostile(8, id=ID)).encode())
    assert (result.code, result.error["code"]) == (3, "packet.id")
