"""Surroundings that nobody expects: names that are no text, a broken $EDITOR, pipes, links that lead elsewhere."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

import forks
from cli.shell import InPlace, Shell
from segue import hosts
from segue.base.errors import Failed, InvalidInput, Refused
from segue.cli import editor
from segue.hosts.host import Surroundings
from segue.mcp.server import sendable
from segue.storage.database import open_database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOT_UTF8 = os.fsdecode(b"caf\xe9-\xff")


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InPlace:
    return InPlace(Shell(tmp_path), monkeypatch)


@contextmanager
def ends_soon(seconds: int = 20) -> Iterator[None]:
    """Fail instead of waiting for ever."""

    def fail(*_: object) -> None:
        raise AssertionError(f"not done after {seconds} seconds")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


# -- names that are no text -----------------------------------------------------------------------------------------


def ask(folder: Path, environment: dict[str, str], *calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Start the MCP server in `folder`, call tools in turn, and return the results."""
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    requests: list[dict[str, Any]] = [{"method": "initialize", "params": client, "id": 0}]
    requests.append({"method": "notifications/initialized"})
    for number, (tool, arguments) in enumerate(calls, 1):
        requests.append({"method": "tools/call", "params": {"name": tool, "arguments": arguments}, "id": number})
    found: list[dict[str, Any]] = []
    with subprocess.Popen(
        [forks.program("segue"), "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environment,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            for request in requests:
                server.stdin.write(json.dumps({"jsonrpc": "2.0"} | request).encode() + b"\n")
                server.stdin.flush()
                if "id" in request:
                    line = server.stdout.readline()
                    assert line, "the server ended"
                    found.append(json.loads(line))
        finally:
            server.stdin.close()
            server.stdout.read()
            assert server.wait(30) == 0
    assert all("error" not in each for each in found), found
    return [each["result"] for each in found[1:]]


@pytest.mark.skipif(sys.platform == "darwin", reason="file names are UTF-8 there")
def test_an_agent_works_in_a_folder_whose_name_is_no_text(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    folder = tmp_path / NOT_UTF8
    folder.mkdir()
    environment = shell.environment | {"SEGUE_HOME": str(folder / "home")}
    packet = {"ltm_version": "0.2", "goal": "Ship it.", "next_step": "Test it."}
    with ends_soon(60):
        answers = ask(
            folder,
            environment,
            ("whoami", {}),
            ("save", {"packet": packet}),
            ("resume", {}),
            ("ls", {}),
            ("whoami", {}),
        )
    assert [each.get("isError", False) for each in answers] == [False] * 5
    first, last = (answers[number]["structuredContent"] for number in (0, -1))
    assert "\\udce9" in first["store"]
    assert first["project"] == "caf\ufffd-\ufffd"
    assert (first["project_packets"], last["project_packets"]) == (0, 1)
    assert "Ship it." in answers[2]["content"][0]["text"]


def test_an_answer_holds_nothing_that_json_cannot_carry() -> None:
    answer = sendable({NOT_UTF8: [NOT_UTF8, {"a": (NOT_UTF8, 1, None)}]})
    assert json.dumps(answer, ensure_ascii=False).encode()
    assert list(answer) == ["caf\\udce9-\\udcff"]


@pytest.mark.skipif(sys.platform == "darwin", reason="file names are UTF-8 there")
def test_commands_work_in_a_folder_whose_name_is_no_text(cli: InPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = cli.shell.root / NOT_UTF8
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SEGUE_HOME", str(folder / "home"))
    (folder / "packet.json").write_text(json.dumps({"ltm_version": "0.2", "goal": "Ship it.", "next_step": "Test."}))
    for arguments in (
        ["where"],
        ["where", "--json"],
        ["save", "packet.json"],
        ["save", "--print"],
        ["status"],
        ["status", "--json"],
        ["ls", "--json"],
        ["resume"],
        ["backup", str(folder / "backup.db")],
        ["restore", str(folder / "backup.db"), "--json"],
        ["doctor", "--json"],
        ["hosts", "status", "--json"],
    ):
        result = cli(*arguments)
        assert result.code == 0, (arguments, result.err)
        assert result.stdout.decode("utf-8")


# -- the editor -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chosen", ["'code --wait", 'vim "', "vim \\", '"'])
def test_an_editor_with_broken_quotes_is_refused(monkeypatch: pytest.MonkeyPatch, chosen: str) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", chosen)
    with pytest.raises(Failed) as failed:
        editor.edit(b"{}", "packet.json", instead="a file")
    assert failed.value.code == "editor.failed"
    assert "quotes" in failed.value.message


@pytest.mark.parametrize("chosen", [" ", "\t  ", "''", '""', "# vim"])
@pytest.mark.parametrize("variable", ["EDITOR", "VISUAL"])
def test_an_editor_of_blanks_is_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str, chosen: str
) -> None:
    for name in ("EDITOR", "VISUAL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, chosen)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Failed) as failed:
        editor.edit(b"{}", "packet.json", instead="a file")
    assert failed.value.code in ("editor.missing", "editor.failed")


# -- documents and files --------------------------------------------------------------------------------------------


def test_large_integers_pass_through_a_fix(cli: InPlace) -> None:
    secret = "gh" + "p_" + "aB3dE5fG7h" * 4
    numbers = [2**64, -(2**64), 10**300]
    document = {"ltm_version": "0.2", "goal": f"Use {secret}.", "next_step": "Test.", "numbers": numbers}
    file = cli.write("packet.json", document)
    result = cli("check", "--fix", file)
    assert result.code == 3  # an unknown member, and no id
    assert "internal error" not in result.err
    fixed = json.loads((cli.shell.project / file).read_bytes())
    assert fixed["numbers"] == numbers
    assert secret not in fixed["goal"]
    for options in (["--json"], ["-o", "other.json"], ["-o", "other.json", "--json"]):
        assert cli("check", "--fix", cli.write("packet.json", document), *options).code == 3


def test_a_search_for_letters_that_unfold_is_answered(cli: InPlace) -> None:
    cli.save()
    for words in ("\ufdfa" * 400, "\ufdfa " * 400, "ﬃ" * 1_000, "x" * 1_024, "\u0130" * 1_000):
        result = cli("ls", "--search", words, "--json")
        assert result.code in (0, 3), result.err
        assert "internal error" not in result.out
        if result.code == 3:
            assert result.error["code"] == "filter.invalid"
        else:
            assert result.json["packets"] == []


def test_a_pipe_is_no_target(cli: InPlace) -> None:
    pipe = cli.shell.project / "pipe"
    os.mkfifo(pipe)
    secret = "gh" + "p_" + "aB3dE5fG7h" * 4
    document = {"ltm_version": "0.2", "goal": f"Use {secret}.", "next_step": "Test."}
    with ends_soon():
        result = cli("check", "--fix", cli.write("packet.json", document), "-o", "pipe", "--json")
    assert result.code == 1
    assert result.error["code"] == "file.write"
    assert pipe.is_fifo()
    assert sorted(each.name for each in cli.shell.project.iterdir()) == ["packet.json", "pipe"]


@pytest.mark.parametrize(
    "location",
    [
        "postgresql:/x",
        "postgres:x",
        "postgresql+psycopg:/u@h/x",
        "sqlite:/x.db",
        "sqlite://x.db",
        "SQLITE:x",
        "mysql://h/x",
    ],
)
def test_a_misspelt_url_is_no_file_name(cli: InPlace, monkeypatch: pytest.MonkeyPatch, location: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        open_database(location)
    assert refused.value.code == "store.url"
    monkeypatch.setenv("SEGUE_DB", location)
    assert cli("ls", "--json").error["code"] == "store.url"
    assert not list(cli.shell.project.iterdir())


# -- configuration files of hosts -----------------------------------------------------------------------------------


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    for name in ("home", "project", "elsewhere"):
        (tmp_path / name).mkdir()
    return Surroundings(tmp_path / "home", {}, tmp_path / "project", "/usr/bin/segue")


def led_out(host: str, around: Surroundings, elsewhere: Path, way: str) -> None:
    """Make the project's file of a host lead elsewhere, by its own link or by its folder's."""
    assert around.root is not None
    file = around.root / (".mcp.json" if host == "claude-code" else ".cursor/mcp.json")
    target = elsewhere / "target.json"
    if way == "folder":
        file.parent.symlink_to(elsewhere)
        (elsewhere / "mcp.json").write_text("{}")
        return
    file.parent.mkdir(exist_ok=True)
    if way != "missing":
        target.write_text("{}")
    file.symlink_to(os.path.relpath(target, file.parent) if way == "relative" else target)


@pytest.mark.parametrize(
    ("host", "way"),
    [
        ("claude-code", "absolute"),
        ("claude-code", "relative"),
        ("claude-code", "missing"),
        ("cursor", "absolute"),
        ("cursor", "folder"),
    ],
)
def test_a_projects_file_that_leads_out_is_left_alone(
    around: Surroundings, tmp_path: Path, host: str, way: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    led_out(host, around, elsewhere, way)
    before = {each.name: each.read_bytes() for each in elsewhere.iterdir()}
    for force in (False, True):
        for dry_run in (False, True):
            with pytest.raises(Refused) as refused:
                hosts.install(host, "project", around, force=force, dry_run=dry_run)
            assert refused.value.code == "hosts.outside"
        with pytest.raises(Refused) as refused:
            hosts.uninstall(host, "project", around, force=force)
        assert refused.value.code == "hosts.outside"
    assert {each.name: each.read_bytes() for each in elsewhere.iterdir()} == before
    state = next(each for each in hosts.status(host, around) if each.scope == "project")
    assert state.installed == "unreadable"


def test_links_inside_the_project_and_of_the_user_still_work(around: Surroundings, tmp_path: Path) -> None:
    assert around.root is not None
    (around.root / "configuration.json").write_text("{}")
    (around.root / ".mcp.json").symlink_to("configuration.json")
    hosts.install("claude-code", "project", around)
    assert b"mcpServers" in (around.root / "configuration.json").read_bytes()
    (tmp_path / "elsewhere" / "claude.json").write_text("{}")
    (around.home / ".claude.json").symlink_to(tmp_path / "elsewhere" / "claude.json")
    hosts.install("claude-code", "user", around)
    assert b"mcpServers" in (tmp_path / "elsewhere" / "claude.json").read_bytes()
    for path in (around.root / ".mcp.json", around.home / ".claude.json"):
        assert path.is_symlink()


def test_a_project_that_is_reached_by_a_link_is_inside(around: Surroundings, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "project")
    linked = Surroundings(around.home, {}, tmp_path / "link", around.executable)
    hosts.install("claude-code", "project", linked)
    assert (tmp_path / "project" / ".mcp.json").is_file()
