"""The program as a whole: version, help, usage errors, the shape of errors."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from cli.shell import FIRST, InPlace, Shell
from segue.services.packets import Packets

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = (
    "save resume hosts ls show rm chain diff check example prompt status where backup restore doctor mcp demo remember"
    " propose search review forget ingest source memories entities export import vacuum reindex"
    " auth whoami logout config push pull sync publish unpublish teams invite join".split()
)


def test_version(shell: Shell) -> None:
    named = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["version"]["path"]
    (version,) = re.findall(r'^__version__ = "(.+)"$', (ROOT / named).read_text("utf-8"), re.MULTILINE)
    result = shell.run("--version")
    assert (result.code, result.stdout, result.stderr) == (0, f"{version}\n".encode(), b"")
    assert not shell.segue_home.exists()


def test_help_has_a_panel_for_each_field(shell: Shell) -> None:
    result = shell.run("--help", env={"COLUMNS": "100"})
    assert result.code == 0
    panels = re.split(r"╭─ ", result.out)[1:]
    titles = [panel.split(" ─")[0] for panel in panels]
    fields = ["Every day", "Packets", "Memories", "Context", "Continuity", "Sharing", "Store", "Agents and more"]
    assert titles == ["Options", *fields]
    verbs = [re.findall(r"^│ (\w+) ", panel, re.MULTILINE) for panel in panels[1:]]
    assert verbs[0] == ["save", "resume", "hosts"]
    assert set(COMMANDS) <= {verb for panel in verbs for verb in panel}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(cli: InPlace, command: str) -> None:
    for option in ("--help", "-h"):
        result = cli(command, option)
        assert (result.code, result.err) == (0, "")
        assert f"segue {command}" in result.out
    assert not cli.shell.segue_home.exists()


def test_without_arguments_it_shows_help(cli: InPlace) -> None:
    result = cli()
    assert result.code == 2
    assert "Every day" in result.out


@pytest.mark.parametrize(
    "arguments",
    [
        ("--nope",),
        ("nope",),
        ("save", "--nope"),
        ("ls", "extra"),
        ("show",),
        ("diff", "one"),
        ("check",),
        ("restore",),
        ("hosts", "nope"),
        ("prompt", "nope"),
        ("ls", "--limit"),
        ("save", "a", "b"),
    ],
)
def test_usage_errors(cli: InPlace, arguments: tuple[str, ...]) -> None:
    result = cli(*arguments)
    assert (result.code, result.out) == (2, "")
    assert "Error: " in result.err
    as_json = cli(*arguments[:1], "--json", *arguments[1:])
    assert (as_json.code, as_json.err) == (2, "")
    assert as_json.error["code"] == "cli.usage"
    assert not cli.shell.segue_home.exists()


def test_errors_are_json_on_stdout_only_when_asked_for(shell: Shell) -> None:
    plain = shell.run("show", "nothing")
    assert (plain.code, plain.out) == (5, "")
    assert plain.err == "segue: no packet has the id 'nothing', or ends in it; see `segue ls`\n"
    as_json = shell.run("show", "nothing", "--json")
    assert (as_json.code, as_json.err) == (5, "")
    assert as_json.error == {
        "code": "packet.not_found",
        "message": "no packet has the id 'nothing', or ends in it; see `segue ls`",
        "details": {"id": "nothing"},
    }


def test_every_command_that_prints_data_takes_json(cli: InPlace) -> None:
    cli("save", FIRST)
    for arguments in (
        ("save", FIRST),
        ("resume",),
        ("ls",),
        ("show", "8RBZC1HA"),
        ("chain",),
        ("diff", "8RBZC1HA", "8RBZC1HA"),
        ("check", FIRST),
        ("example",),
        ("status",),
        ("where",),
        ("backup",),
        ("doctor",),
        ("hosts", "status"),
    ):
        result = cli(*arguments, "--json")
        assert result.code == 0, arguments
        assert isinstance(result.json, dict), arguments
        assert result.out.isascii() or arguments[0] in ("show", "example"), arguments
        assert result.err == "", arguments


def test_what_nobody_expected_is_an_error_like_others(cli: InPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a value of somebody")

    monkeypatch.setattr(Packets, "ls", broken)
    monkeypatch.delenv("SEGUE_DEBUG", raising=False)
    result = cli("ls")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("segue: internal error (ZeroDivisionError)")
    assert "SEGUE_DEBUG=1" in result.err
    assert len(result.err.splitlines()) == 1
    assert "somebody" not in result.err
    as_json = cli("ls", "--json")
    assert (as_json.code, as_json.error["code"], as_json.err) == (1, "cli.internal", "")
    monkeypatch.setenv("SEGUE_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        cli("ls")


def test_the_module_runs_like_the_program(shell: Shell) -> None:
    result = shell.script(f"exec python -m segue check '{FIRST}'")
    assert (result.code, result.out.split(",")[0]) == (0, "valid v0.2 packet")
