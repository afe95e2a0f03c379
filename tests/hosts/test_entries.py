"""Entries that are there already, places, scopes and status."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from hosts.single import install, status, uninstall
from segue.base.errors import Conflict, Failed, InvalidInput, NotFound
from segue.hosts import HOSTS, Surroundings, editor
from segue.hosts.host import SCOPES, Scope

if TYPE_CHECKING:
    from pathlib import Path

EVERYWHERE = [(host.name, scope) for host in HOSTS.values() if host.format == "jsonc" for scope in SCOPES]
everywhere = pytest.mark.parametrize(("host", "scope"), EVERYWHERE)


def file_of(host: str, scope: Scope, around: Surroundings) -> Path:
    path = HOSTS[host].files[scope](around)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


# Entries that are there already


FOREIGN = '{\n  "mcpServers": {\n    "segue": {"command": "node", "args": ["x.js"]}, // mine\n    "b": {}\n  }\n}\n'


@everywhere
def test_an_entry_of_another_program_is_replaced_only_by_force(host: str, scope: Scope, around: Surroundings) -> None:
    path = file_of(host, scope, around)
    (key,) = HOSTS[host].keys
    foreign = FOREIGN.replace("mcpServers", key)
    path.write_text(foreign)
    for change in (install, uninstall):
        with pytest.raises(Conflict) as caught:
            change(host, scope, around)
        assert (caught.value.code, caught.value.exit_code) == ("hosts.other_entry", 4)
        assert "node" in caught.value.message and str(path) in caught.value.message
    assert path.read_text() == foreign
    state = next(state for state in status(host, around) if state.scope == scope)
    assert (state.installed, state.detail) == ("other command", "node")

    assert install(host, scope, around, force=True).action == "changed"
    text = path.read_text()
    assert list(json.loads(text.replace("// mine", ""))[key]) == ["segue", "b"]
    assert "// mine" in text and "node" not in text
    uninstall(host, scope, around)
    assert path.read_text() == foreign

    uninstall(host, scope, around, force=True)
    assert path.read_text() == f'{{\n  "{key}": {{ // mine\n    "b": {{}}\n  }}\n}}\n'


@pytest.mark.parametrize(
    "entry",
    [
        "null",
        "1",
        "[]",
        '{"url": "http://localhost"}',
        '{"command": "segue"}',
        '{"type": "http", "command": "segue", "args": ["mcp"]}',
    ],
)
def test_an_entry_that_starts_something_else_is_not_ours(entry: str, around: Surroundings) -> None:
    path = file_of("cursor", "project", around)
    path.write_text(f'{{"mcpServers": {{"segue": {entry}}}}}')
    with pytest.raises(Conflict):
        install("cursor", "project", around)
    assert status("cursor", around)[0].installed == "other command"
    install("cursor", "project", around, force=True)
    assert status("cursor", around)[0].installed == "yes"


def test_arguments_of_another_entry_are_not_repeated(around: Surroundings) -> None:
    path = file_of("cursor", "project", around)
    path.write_text('{"mcpServers": {"segue": {"command": "x\\u001b[31m", "args": ["--token", "hush"]}}}')
    with pytest.raises(Conflict) as caught:
        install("cursor", "project", around)
    assert "hush" not in str(caught.value.details) + caught.value.message
    assert "\x1b" not in caught.value.message and "x\\x1b[31m" in caught.value.message


def test_our_entry_from_an_older_place_is_brought_up_to_date_and_keeps_its_other_keys(around: Surroundings) -> None:
    path = file_of("claude-code", "user", around)
    text = '{"mcpServers": {"segue": {"command": "/old/bin/segue", "args": ["mcp", "--x"], "env": {"A": "b"}}}}\n'
    path.write_text(text)
    assert status("claude-code", around)[1].installed == "other command"
    assert install("claude-code", "user", around).action == "changed"
    assert path.read_text() == text.replace("/old/bin/segue", "/opt/tools/bin/segue")


def test_bringing_up_to_date_keeps_the_first_backup(around: Surroundings) -> None:
    path = file_of("claude-code", "user", around)
    path.write_text('{"a": 1}\n')
    install("claude-code", "user", around)
    moved = Surroundings(around.home, {}, around.root, "/new/segue")
    change = install("claude-code", "user", moved)
    assert change.action == "changed" and change.backup is not None
    assert change.backup.read_text() == '{"a": 1}\n'
    uninstall("claude-code", "user", moved)
    assert path.read_text() == '{"a": 1}\n'


# Names, places, status


def test_bad_names_and_places(around: Surroundings, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="claude-code, cursor"):
        install("emacs", "user", around)
    with pytest.raises(InvalidInput, match="no scope 'team'"):
        install("cursor", "team", around)  # type: ignore[arg-type]
    outside = Surroundings(around.home, {}, None, "/bin/segue")
    with pytest.raises(InvalidInput, match="no project here"):
        install("cursor", "project", outside)
    gone = Surroundings(tmp_path / "gone", {}, tmp_path / "gone", "/bin/segue")
    for scope in SCOPES:
        with pytest.raises(InvalidInput, match="no folder"):
            install("cursor", scope, gone)
    for program in ("segue", "/bin/\udce9/segue"):
        with pytest.raises(InvalidInput) as caught:
            install("cursor", "user", Surroundings(around.home, {}, None, program))
        assert caught.value.code == "hosts.command"
    assert not (tmp_path / "gone").exists()


def test_an_edit_that_goes_wrong_is_not_written(around: Surroundings, monkeypatch: pytest.MonkeyPatch) -> None:
    path = file_of("cursor", "project", around)
    path.write_text('{"a": 1}')
    monkeypatch.setattr(editor, "_render", lambda *_: b"}")
    with pytest.raises(Failed, match="not made"):
        install("cursor", "project", around)
    assert path.read_text() == '{"a": 1}'


def test_the_folder_of_the_environment_holds_the_users_file(around: Surroundings, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere" / "claude"
    moved = Surroundings(around.home, {"CLAUDE_CONFIG_DIR": str(folder)}, around.root, around.executable)
    before = sorted(tmp_path.rglob("*"))
    assert install("claude-code", "user", moved).path == folder / ".claude.json"
    assert status("claude-code", moved)[1].path == folder / ".claude.json"
    uninstall("claude-code", "user", moved)
    assert sorted(tmp_path.rglob("*")) == before
    relative = Surroundings(around.home, {"CLAUDE_CONFIG_DIR": "claude"}, around.root, around.executable)
    with pytest.raises(InvalidInput, match="absolute"):
        install("claude-code", "user", relative)
    assert status("claude-code", relative)[1].installed == "unreadable"
    unset = Surroundings(around.home, {"CLAUDE_CONFIG_DIR": ""}, around.root, around.executable)
    assert status("claude-code", unset)[1].path == around.home / ".claude.json"


def test_status_speaks_of_each_scope(around: Surroundings) -> None:
    install("cursor", "user", around)
    states = [(state.scope, state.installed, state.path) for state in status("cursor", around)]
    assert states == [
        ("project", "no", around.root and around.root / ".cursor/mcp.json"),
        ("user", "yes", around.home / ".cursor/mcp.json"),
    ]
    outside = Surroundings(around.home, {}, None, around.executable)
    assert [state.scope for state in status("cursor", outside)] == ["user"]


def test_an_entry_that_came_with_the_repository_is_not_given_back(around: Surroundings) -> None:
    path = file_of("claude-code", "project", around)
    text = '{"mcpServers": {"segue": {"command": "/old/bin/segue", "args": ["mcp"]}}}\n'
    path.write_text(text)
    change = install("claude-code", "project", around)
    assert change.backup is not None and change.backup.read_text() == text
    uninstall("claude-code", "project", around)
    assert not path.exists() and not change.backup.exists()


def test_a_link_is_not_taken_for_a_backup(around: Surroundings) -> None:
    path = file_of("claude-code", "project", around)
    path.write_text("{}")
    backup = install("claude-code", "project", around).backup
    assert backup is not None
    backup.rename(path.with_name("elsewhere"))
    backup.symlink_to("elsewhere")
    again = install("claude-code", "project", around)
    assert (again.action, again.backup) == ("unchanged", None)
