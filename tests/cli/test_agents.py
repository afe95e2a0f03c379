"""`segue hosts`, `demo` and the start of `mcp`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from cli.shell import PROGRAM, InPlace, Shell


def user_file(shell: Shell, host: str) -> Path:
    return shell.home / {"claude-code": ".claude.json", "cursor": ".cursor/mcp.json"}[host]


@pytest.fixture
def repository(shell: Shell) -> Shell:
    """A shell whose project is a git repository, as yet without a commit."""
    subprocess.run(["git", "init", "--quiet"], cwd=shell.project, check=True, env=shell.environment)
    return shell


@pytest.mark.parametrize("host", ["claude-code", "cursor"])
def test_install_is_idempotent_and_uninstall_gives_back_the_bytes(shell: Shell, host: str) -> None:
    file = user_file(shell, host)
    file.parent.mkdir(exist_ok=True)
    before = b'{\n\t"theme": "dark", // mine\n\t"mcpServers": {"other": {"command": "x"}},\n}\n'
    file.write_bytes(before)
    planned = shell.run("hosts", "install", host, "--dry-run")
    assert planned.lines[0] == f"would write Segue's entry into: {file}"
    assert file.read_bytes() == before
    installed = shell.run("hosts", "install", host)
    assert (installed.code, installed.out) == (0, f"Segue's entry written into: {file}\n")
    assert "the file before: " in installed.err
    after = file.read_bytes()
    assert b"// mine" in after
    assert json.dumps(PROGRAM).encode() in after
    assert shell.run("hosts", "install", host, "--dry-run").out == f"unchanged: {file}\n"
    again = shell.run("hosts", "install", host, "--user", "--json")
    assert (again.code, again.json["action"], again.json["path"]) == (0, "unchanged", str(file))
    assert file.read_bytes() == after
    removed = shell.run("hosts", "uninstall", host)
    assert (removed.code, removed.out) == (0, f"Segue's entry taken out of: {file}\n")
    assert file.read_bytes() == before
    assert shell.run("hosts", "uninstall", host, "--json").json["action"] == "unchanged"
    assert shell.run("hosts", "uninstall", host, "--dry-run").out == f"unchanged: {file}\n"


def test_a_file_that_was_not_there_is_written_and_taken_away(cli: InPlace) -> None:
    file = user_file(cli.shell, "cursor")
    file.parent.mkdir()
    assert cli("hosts", "install", "cursor").out == f"written, with Segue's entry: {file}\n"
    assert cli("hosts", "install", "cursor").out == f"unchanged: {file}\n"
    assert cli("hosts", "uninstall", "cursor", "--dry-run").lines[0] == f"would take Segue's entry out of: {file}"
    assert cli("hosts", "uninstall", "cursor").out == f"Segue's entry taken out of: {file}\n"
    assert not file.exists()


def test_dry_run_changes_nothing(shell: Shell) -> None:
    result = shell.run("hosts", "install", "claude-code", "--dry-run")
    assert result.code == 0
    assert result.lines[0] == f"would write, with Segue's entry: {user_file(shell, 'claude-code')}"
    assert any(line.startswith("+") and "mcpServers" in line for line in result.lines)
    assert list(shell.home.iterdir()) == []
    found = shell.run("hosts", "install", "claude-code", "--dry-run", "--json").json
    assert list(found) == ["path", "action", "dry_run", "diff", "backup", "note"]
    assert (found["dry_run"], found["backup"]) == (True, None)


@pytest.mark.parametrize(("host", "name"), [("claude-code", ".mcp.json"), ("cursor", ".cursor/mcp.json")])
def test_a_projects_file_holds_no_path_of_this_machine(repository: Shell, host: str, name: str) -> None:
    result = repository.run("hosts", "install", host, "--project")
    assert result.code == 0
    text = (repository.project / name).read_text("utf-8")
    assert json.loads(text)["mcpServers"]["segue"]["command"] == "segue"
    assert str(repository.root) not in text
    assert list(repository.home.iterdir()) == []
    repository.run("hosts", "uninstall", host, "--project")
    assert not (repository.project / name).exists()


def test_status(repository: Shell) -> None:
    assert [line.split()[:3] for line in repository.run("hosts", "status").lines] == [
        ["claude-code", "project", "no"],
        ["claude-code", "user", "no"],
        ["cursor", "project", "no"],
        ["cursor", "user", "no"],
    ]
    repository.run("hosts", "install", "cursor")
    found = repository.run("hosts", "status", "--json").json
    assert list(found) == ["claude-code", "cursor"]
    assert [(each["scope"], each["installed"]) for each in found["cursor"]] == [("project", "no"), ("user", "yes")]
    only = repository.run("hosts", "status", "cursor")
    assert [line.split()[0] for line in only.lines] == ["cursor", "cursor"]


def test_a_folder_that_is_no_project_has_no_file_for_a_team(cli: InPlace) -> None:
    found = cli("hosts", "status", "--json").json
    assert [[each["scope"] for each in states] for states in found.values()] == [["user"], ["user"]]
    for verb in ("install", "uninstall"):
        result = cli("hosts", verb, "claude-code", "--project", "--json")
        assert (result.code, result.error["code"]) == (3, "hosts.no_project")
    assert list(cli.shell.project.iterdir()) == []
    (cli.shell.project / "segue.toml").write_text('[project]\nid = "shop"\n', "utf-8")
    assert cli("hosts", "install", "claude-code", "--project").code == 0  # a file says that it is one
    assert (cli.shell.project / ".mcp.json").is_file()


def test_what_was_installed_starts_a_server(shell: Shell) -> None:
    shell.run("hosts", "install", "claude-code")
    entry = json.loads(user_file(shell, "claude-code").read_bytes())["mcpServers"]["segue"]
    assert entry == {"type": "stdio", "command": PROGRAM, "args": ["mcp"]}
    assert shell.run(*entry["args"]).code == 0  # no client: stdin is at its end


def test_another_programs_entry_is_left_alone(shell: Shell) -> None:
    before = json.dumps({"mcpServers": {"segue": {"command": "/opt/other"}}}).encode()
    user_file(shell, "claude-code").write_bytes(before)
    result = shell.run("hosts", "install", "claude-code", "--json")
    assert (result.code, result.error["code"]) == (4, "hosts.other_entry")
    assert "--force" in result.error["message"]
    assert user_file(shell, "claude-code").read_bytes() == before
    assert shell.run("hosts", "install", "claude-code", "--force").code == 0


def test_the_server_needs_its_folder(shell: Shell) -> None:
    shell.write("a-file", b"")
    for name in ("nothing", "a-file"):
        result = shell.run("mcp", "--project-dir", name)
        assert (result.code, result.out) == (3, "")
        assert result.err == f"segue: there is no folder {name}; name the project's folder\n"
    hosted = shell.run("mcp", env={"CLAUDE_PROJECT_DIR": str(shell.root / "nothing")})
    assert (hosted.code, hosted.err.startswith("segue: there is no folder ")) == (3, True)
    assert not shell.segue_home.exists()


def test_a_file_that_is_no_json(shell: Shell) -> None:
    user_file(shell, "claude-code").write_bytes(b"{ broken")
    result = shell.run("hosts", "install", "claude-code", "--json")
    assert (result.code, result.error["code"]) == (3, "hosts.unreadable")
    assert user_file(shell, "claude-code").read_bytes() == b"{ broken"


def test_usage(cli: InPlace) -> None:
    unknown = cli("hosts", "install", "emacs", "--json")
    assert (unknown.code, unknown.error["code"]) == (5, "hosts.unknown")
    both = cli("hosts", "install", "cursor", "--user", "--project", "--json")
    assert (both.code, both.error["code"]) == (2, "cli.usage")
    assert cli("hosts", "install").code == 2


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
