"""`segue hosts`: install, uninstall, status, print."""

from __future__ import annotations

import json
import subprocess
import tomllib
from typing import TYPE_CHECKING

import pytest

from cli.shell import PROGRAM, InPlace, Shell

if TYPE_CHECKING:
    from pathlib import Path

USER_FILES = {
    "claude-code": ".claude.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
    "codex": ".codex/config.toml",
}
PROJECT_FILES = {
    "claude-code": ".mcp.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".vscode/mcp.json",
    "codex": ".codex/config.toml",
}
SETTINGS = ".claude/settings.json"
BEFORE = {
    "claude-code": b'{\n\t"theme": "dark", // mine\n\t"mcpServers": {"other": {"command": "x"}},\n}\n',
    "codex": b'model = "m" # mine\n\n[mcp_servers.other]\ncommand = "x"\n',
}


def user_file(shell: Shell, host: str) -> Path:
    return shell.home / USER_FILES[host]


def servers(path: Path, host: str) -> dict[str, dict[str, object]]:
    """The servers in a host's file."""
    text = path.read_text("utf-8")
    value = tomllib.loads(text) if host == "codex" else json.loads(text)
    found: dict[str, dict[str, object]] = value[{"vscode": "servers", "codex": "mcp_servers"}.get(host, "mcpServers")]
    return found


@pytest.fixture
def repository(shell: Shell) -> Shell:
    """A shell whose project is a git repository, as yet without a commit."""
    subprocess.run(["git", "init", "--quiet"], cwd=shell.project, check=True, env=shell.environment)
    return shell


@pytest.fixture
def here(repository: Shell, cli: InPlace, monkeypatch: pytest.MonkeyPatch) -> InPlace:
    """The same in this process, where the program is the installed one."""
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setattr("sys.argv", [PROGRAM])
    return cli


@pytest.mark.parametrize("host", BEFORE)
def test_install_is_idempotent_and_uninstall_gives_back_the_bytes(shell: Shell, host: str) -> None:
    file = user_file(shell, host)
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(BEFORE[host])
    options = ("--no-hooks",) if host == "claude-code" else ()
    planned = shell.run("hosts", "install", host, *options, "--dry-run")
    assert planned.lines[0] == f"would write Segue's entry into: {file}"
    assert file.read_bytes() == BEFORE[host]
    installed = shell.run("hosts", "install", host, *options)
    assert (installed.code, installed.lines[0]) == (0, f"Segue's entry written into: {file}")
    assert "the file before: " in installed.err
    after = file.read_bytes()
    assert b" mine\n" in after
    assert json.dumps(PROGRAM).encode() in after
    assert shell.run("hosts", "install", host, *options, "--dry-run").lines[0] == f"unchanged: {file}"
    again = shell.run("hosts", "install", host, "--user", *options, "--json")
    assert (again.code, again.json["files"][0]["action"], again.json["files"][0]["path"]) == (0, "unchanged", str(file))
    assert file.read_bytes() == after
    removed = shell.run("hosts", "uninstall", host)
    assert (removed.code, removed.lines[0]) == (0, f"Segue's entry taken out of: {file}")
    assert file.read_bytes() == BEFORE[host]
    assert {each["action"] for each in shell.run("hosts", "uninstall", host, "--json").json["files"]} == {"unchanged"}


def test_a_file_that_was_not_there_is_written_and_taken_away(here: InPlace) -> None:
    file = user_file(here.shell, "vscode")
    assert here("hosts", "install", "vscode").out == f"written, with Segue's entry: {file}\n"
    assert here("hosts", "install", "vscode").out == f"unchanged: {file}\n"
    assert here("hosts", "uninstall", "vscode", "--dry-run").lines[0] == f"would take Segue's entry out of: {file}"
    assert here("hosts", "uninstall", "vscode").out == f"Segue's entry taken out of: {file}\n"
    assert list(here.shell.home.iterdir()) == []


def test_dry_run_changes_nothing(here: InPlace) -> None:
    result = here("hosts", "install", "claude-code", "--with-guard", "--dry-run")
    assert result.code == 0
    first = [line for line in result.lines if line.startswith("would")]
    assert first == [
        f"would write, with Segue's entry: {user_file(here.shell, 'claude-code')}",
        f"would write, with Segue's hooks: {here.shell.home / SETTINGS} (session-start, pre-compact, stop)",
    ]
    assert any(line.startswith("+") and "mcpServers" in line for line in result.lines)
    assert any(line.startswith("+") and "hook stop" in line for line in result.lines)
    assert list(here.shell.home.iterdir()) == []
    found = here("hosts", "install", "claude-code", "--dry-run", "--json").json
    assert list(found) == ["dry_run", "files"]
    assert found["dry_run"] is True
    assert [list(each) for each in found["files"]] == [
        ["part", "path", "action", "hooks", "diff", "backup", "note"]
    ] * 2
    assert [(each["part"], each["hooks"]) for each in found["files"]] == [
        ("server", []),
        ("hooks", ["session-start", "pre-compact"]),
    ]


@pytest.mark.parametrize("host", PROJECT_FILES)
def test_a_projects_file_holds_no_path_of_this_machine(here: InPlace, host: str) -> None:
    assert here("hosts", "install", host, "--project").code == 0
    file = here.shell.project / PROJECT_FILES[host]
    assert servers(file, host)["segue"]["command"] == "segue"
    assert all(
        str(here.shell.root) not in path.read_text("utf-8")
        for path in (file, here.shell.project / SETTINGS)
        if path.exists()
    )
    assert list(here.shell.home.iterdir()) == []
    here("hosts", "uninstall", host, "--project")
    assert [path.name for path in here.shell.project.iterdir()] == [".git"]


def test_hooks_follow_their_options(here: InPlace) -> None:
    settings = here.shell.home / SETTINGS

    def hooks() -> list[str]:
        groups = json.loads(settings.read_bytes())["hooks"].values()
        return [handler["command"] for group in groups for each in group for handler in each["hooks"]]

    for options, names in {
        (): ["session-start", "pre-compact"],
        ("--with-recall",): ["session-start", "user-prompt-submit", "pre-compact"],
        ("--with-recall", "--with-guard", "--block"): [
            "session-start", "user-prompt-submit", "pre-compact", "stop --block",
        ],
        ("--with-guard",): ["session-start", "pre-compact", "stop"],
    }.items():  # fmt: skip
        assert here("hosts", "install", "claude-code", *options).code == 0
        assert hooks() == [f"{PROGRAM} hook {name}" for name in names]
    found = here("hosts", "install", "claude-code", "--no-hooks", "--json").json["files"]
    assert [(each["part"], each["action"]) for each in found] == [("server", "unchanged"), ("hooks", "removed")]
    assert not settings.exists()


def test_status(repository: Shell) -> None:
    rows = [line.split()[:4] for line in repository.run("hosts", "status").lines]
    assert rows == [
        ["claude-code", "project", "server", "no"],
        ["claude-code", "project", "hooks", "no"],
        ["claude-code", "user", "server", "no"],
        ["claude-code", "user", "hooks", "no"],
        *([host, scope, "server", "no"] for host in ("cursor", "vscode", "codex") for scope in ("project", "user")),
    ]
    repository.run("hosts", "install", "claude-code", "--with-guard")
    found = repository.run("hosts", "status", "--json").json
    assert list(found) == ["claude-code", "cursor", "vscode", "codex"]
    assert found["claude-code"][2:] == [
        {
            "scope": "user", "part": "server", "path": str(user_file(repository, "claude-code")), "installed": "yes",
            "detail": None, "hooks": [], "program": "answers", "differs": False,
        },
        {
            "scope": "user", "part": "hooks", "path": str(repository.home / SETTINGS), "installed": "yes",
            "detail": None, "hooks": ["session-start", "pre-compact", "stop"], "program": "answers", "differs": False,
        },
    ]  # fmt: skip
    only = repository.run("hosts", "status", "cursor")
    assert [line.split()[0] for line in only.lines] == ["cursor", "cursor"]


def test_status_says_what_is_wrong(here: InPlace) -> None:
    user_file(here.shell, "claude-code").write_text(
        '{"mcpServers": {"segue": {"command": "/gone/segue", "args": ["mcp"]}}}'
    )
    settings = here.shell.home / SETTINGS
    settings.parent.mkdir()
    settings.write_text("{ broken")
    server, hooks = here("hosts", "status", "claude-code").lines[2:]
    assert "other command (/gone/segue; the program is missing; differs from what `install` writes)" in server
    assert "unreadable (it is not JSON with comments: " in hooks


def test_a_name_of_a_folder_makes_no_line_of_its_own(cli: InPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = cli.shell.project / "shop\x1b[31m\nclaude-code  user  server  yes"
    folder.mkdir()
    (folder / "segue.toml").write_text('[project]\nid = "shop"\n', "utf-8")
    monkeypatch.chdir(folder)
    for command in (["status", "claude-code"], ["print", "cursor", "--project"], ["install", "cursor", "--project"]):
        result = cli("hosts", *command)
        assert result.code == 0
        assert "shop\\x1b[31m ⏎ claude-code" in result.out + result.err
        assert not any(
            line.startswith("claude-code  user  server  yes") for line in (result.out + result.err).split("\n")
        )


def test_print(here: InPlace) -> None:
    assert here("hosts", "print").json == {"mcpServers": {"segue": {"command": PROGRAM, "args": ["mcp"]}}}
    assert here("hosts", "print", "--project").json["mcpServers"]["segue"]["command"] == "segue"
    codex = here("hosts", "print", "codex")
    assert tomllib.loads(codex.out)["mcp_servers"]["segue"]["command"] == PROGRAM
    assert codex.err == f"for {user_file(here.shell, 'codex')}:\n"
    files = here("hosts", "print", "claude-code", "--with-recall", "--json").json["files"]
    assert [each["path"] for each in files] == [
        str(user_file(here.shell, "claude-code")),
        str(here.shell.home / SETTINGS),
    ]
    assert list(here.shell.home.iterdir()) == []
    here("hosts", "install", "claude-code", "--with-recall")
    for each in files:
        with open(each["path"], encoding="utf-8") as file:  # noqa: PTH123 - a text from JSON
            assert file.read() == each["text"]


def test_a_folder_that_is_no_project_has_no_file_for_a_team(cli: InPlace) -> None:
    found = cli("hosts", "status", "--json").json
    assert {each["scope"] for states in found.values() for each in states} == {"user"}
    for verb in ("install", "uninstall", "print"):
        result = cli("hosts", verb, "claude-code", "--project", "--json")
        assert (result.code, result.error["code"]) == (3, "hosts.no_project")
    assert list(cli.shell.project.iterdir()) == []
    (cli.shell.project / "segue.toml").write_text('[project]\nid = "shop"\n', "utf-8")
    assert cli("hosts", "install", "claude-code", "--project").code == 0  # a file says that it is one
    assert (cli.shell.project / ".mcp.json").is_file()


@pytest.mark.parametrize("host", USER_FILES)
def test_what_was_installed_starts_a_server(shell: Shell, host: str) -> None:
    shell.run("hosts", "install", host)
    entry = servers(user_file(shell, host), host)["segue"]
    assert (entry["command"], entry["args"]) == (PROGRAM, ["mcp"])
    assert shell.real.run("mcp").code == 0  # no client: stdin is at its end


def test_another_programs_entry_is_left_alone(here: InPlace) -> None:
    file = user_file(here.shell, "claude-code")
    before = json.dumps({"mcpServers": {"segue": {"command": "/opt/other"}}}).encode()
    file.write_bytes(before)
    result = here("hosts", "install", "claude-code", "--json")
    assert (result.code, result.error["code"]) == (4, "hosts.other_entry")
    assert "--force" in result.error["message"]
    assert file.read_bytes() == before
    assert not (here.shell.home / SETTINGS).exists()
    assert here("hosts", "install", "claude-code", "--force").code == 0


@pytest.mark.parametrize("host", USER_FILES)
def test_a_broken_file_is_named(here: InPlace, host: str) -> None:
    file = user_file(here.shell, host)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"{ broken")
    result = here("hosts", "install", host, "--json")
    assert (result.code, result.error["code"]) == (3, "hosts.unreadable")
    assert str(file) in result.error["message"]
    assert file.read_bytes() == b"{ broken"


def test_usage(here: InPlace) -> None:
    unknown = here("hosts", "install", "emacs", "--json")
    assert (unknown.code, unknown.error["code"]) == (5, "hosts.unknown")
    for wrong in ("cursor --user --project", "claude-code --block", "claude-code --no-hooks --with-recall"):
        result = here("hosts", "install", *wrong.split(), "--json")
        assert (result.code, result.error["code"]) == (2, "cli.usage")
    for hookless in ("install cursor --with-recall", "print --with-guard", "print codex --with-guard"):
        result = here("hosts", *hookless.split(), "--json")
        assert (result.code, result.error["code"]) == (3, "hosts.no_hooks")
    assert here("hosts", "install").code == 2
    assert list(here.shell.home.iterdir()) == []
