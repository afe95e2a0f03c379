"""`segue demo` and the start of `mcp`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cli.shell import InPlace, Shell


def test_the_server_needs_its_folder(shell: Shell) -> None:
    shell.write("a-file", b"")
    for name in ("nothing", "a-file"):
        result = shell.run("mcp", "--project-dir", name)
        assert (result.code, result.out) == (3, "")
        assert result.err == f"segue: there is no folder {name}; name the project's folder\n"
    hosted = shell.run("mcp", env={"CLAUDE_PROJECT_DIR": str(shell.root / "nothing")})
    assert (hosted.code, hosted.err.startswith("segue: there is no folder ")) == (3, True)
    assert not shell.segue_home.exists()


def test_demo(shell: Shell) -> None:
    result = shell.run("demo")
    assert result.code == 0
    commands = [line.removeprefix("$ segue ") for line in result.lines if line.startswith("$ ")]
    assert [command.split()[0] for command in commands] == ["save", "save", "ls", "chain", "resume"]
    assert "01K6T9M3E8Y2QH6P0V4KFGD7SB" in result.lines
    assert "## Your first action" in result.lines
    assert "segue hosts install" in result.err
    assert not shell.segue_home.exists()
    assert list(shell.project.iterdir()) == []


def test_demo_as_json_leaves_the_surroundings_alone(cli: InPlace) -> None:
    result = cli("demo", "--json")
    assert result.code == 0
    assert [list(each) for each in result.json["steps"]] == [["title", "command", "output"]] * 5
    assert Path.cwd() == cli.shell.project
    assert cli("status", "--json").json["packets"] == 0
