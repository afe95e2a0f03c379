"""Each file of each host: where it lies, and all of a host's files or none."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from segue.base import files
from segue.base.errors import Failed, InvalidInput, Refused
from segue.hosts import HOSTS, Surroundings, chosen, entry, install, preview, status, uninstall
from segue.hosts.host import SCOPES, Scope

if TYPE_CHECKING:
    from collections.abc import Callable

posix = pytest.mark.skipif(os.name == "nt", reason="POSIX modes")


def every_file() -> list[tuple[str, Scope, str]]:
    """Each host, scope and kind of file."""
    found: list[tuple[str, Scope, str]] = []
    for name, host in HOSTS.items():
        kinds = ["files", "settings"] if host.settings else ["files"]
        found += [(name, scope, kind) for scope in SCOPES for kind in kinds]
    return found


each_file = pytest.mark.parametrize(("host", "scope", "kind"), every_file())


def path_of(host: str, scope: Scope, kind: str, around: Surroundings) -> Path:
    path: Path = getattr(HOSTS[host], kind)[scope](around)
    return path


def start(host: str) -> bytes:
    return b'# mine\nx = "1"\n' if HOSTS[host].format == "toml" else b'{\n  // mine\n  "x": "1"\n}\n'


def tree(around: Surroundings) -> dict[str, bytes | None]:
    top = around.home.parent
    return {str(p.relative_to(top)): p.read_bytes() if p.is_file() else None for p in top.rglob("*")}


# Places


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {}, ".config/Code/User/mcp.json"),
        ("linux", {"XDG_CONFIG_HOME": "/x/config"}, "/x/config/Code/User/mcp.json"),
        ("linux", {"XDG_CONFIG_HOME": "", "APPDATA": "/x"}, ".config/Code/User/mcp.json"),
        ("darwin", {"XDG_CONFIG_HOME": "/x"}, "Library/Application Support/Code/User/mcp.json"),
        ("win32", {}, "AppData/Roaming/Code/User/mcp.json"),
        ("win32", {"APPDATA": "/x/Roaming"}, "/x/Roaming/Code/User/mcp.json"),
    ],
)
def test_the_users_file_of_vs_code(
    platform: str, environment: dict[str, str], expected: str, around: Surroundings
) -> None:
    there = Surroundings(around.home, environment, around.root, around.executable, platform)
    assert HOSTS["vscode"].files["user"](there) == around.home / expected


def test_the_files_of_a_project_and_of_a_user(around: Surroundings) -> None:
    root, home = around.root, around.home
    assert root is not None
    here = Surroundings(home, {}, root, around.executable, "linux")
    found = {(host, scope, kind): path_of(host, scope, kind, here) for host, scope, kind in every_file()}
    assert found == {
        ("claude-code", "project", "files"): root / ".mcp.json",
        ("claude-code", "user", "files"): home / ".claude.json",
        ("claude-code", "project", "settings"): root / ".claude" / "settings.json",
        ("claude-code", "user", "settings"): home / ".claude" / "settings.json",
        ("cursor", "project", "files"): root / ".cursor" / "mcp.json",
        ("cursor", "user", "files"): home / ".cursor" / "mcp.json",
        ("vscode", "project", "files"): root / ".vscode" / "mcp.json",
        ("vscode", "user", "files"): home / ".config" / "Code" / "User" / "mcp.json",
        ("codex", "project", "files"): root / ".codex" / "config.toml",
        ("codex", "user", "files"): home / ".codex" / "config.toml",
    }


@pytest.mark.parametrize(
    ("host", "variable", "name"),
    [("codex", "CODEX_HOME", "config.toml"), ("claude-code", "CLAUDE_CONFIG_DIR", ".claude.json")],
)
def test_a_variable_names_the_folder(host: str, variable: str, name: str, around: Surroundings, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    moved = Surroundings(around.home, {variable: str(folder)}, around.root, around.executable)
    before = tree(around)
    assert install(host, "user", moved)[0].path == folder / name
    assert status(host, moved, ask=lambda *_: "answers")[-1].installed == "yes"
    uninstall(host, "user", moved)
    assert tree(around) == before
    relative = Surroundings(around.home, {variable: "elsewhere"}, around.root, around.executable)
    with pytest.raises(InvalidInput, match=f"{variable} is a relative path"):
        install(host, "user", relative)


# Each file


@each_file
def test_a_link_stays_a_link(host: str, scope: Scope, kind: str, around: Surroundings) -> None:
    path = path_of(host, scope, kind, around)
    path.parent.mkdir(parents=True, exist_ok=True)
    real = path.with_name("real")
    real.write_bytes(start(host))
    path.symlink_to("real")
    before = tree(around)
    install(host, scope, around)
    assert path.is_symlink() and b"segue" in real.read_bytes()
    uninstall(host, scope, around)
    assert path.is_symlink() and tree(around) == before


@each_file
def test_a_link_out_of_the_project_is_refused(
    host: str, scope: Scope, kind: str, around: Surroundings, tmp_path: Path
) -> None:
    path = path_of(host, scope, kind, around)
    path.parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "outside").write_bytes(start(host))
    path.symlink_to(tmp_path / "outside")
    before = tree(around)
    if scope == "project":
        with pytest.raises(Refused, match="out of the project") as caught:
            install(host, scope, around)
        assert (caught.value.code, caught.value.details["path"]) == ("hosts.outside", str(path))
    else:
        install(host, scope, around)
        uninstall(host, scope, around)
    assert tree(around) == before


@posix
@each_file
@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_is_read_only_is_named_and_nothing_is_half_done(
    what: str, host: str, scope: Scope, kind: str, around: Surroundings
) -> None:
    path = path_of(host, scope, kind, around)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(start(host))
    closed, mode = (path, 0o444) if what == "file" else (path.parent, 0o555)
    before, original = tree(around), closed.stat().st_mode
    closed.chmod(mode)
    try:
        with pytest.raises(Failed, match="read-only") as caught:
            install(host, scope, around)
        assert caught.value.code == "hosts.not_writable" and str(closed) in caught.value.message
        assert tree(around) == before
        closed.chmod(original)
        install(host, scope, around)
        installed = tree(around)
        closed.chmod(mode)
        with pytest.raises(Failed, match="read-only"):
            uninstall(host, scope, around)
        assert tree(around) == installed
    finally:
        closed.chmod(original)


def test_huge_files(around: Surroundings) -> None:
    sessions = {f"/p/{number}": {"history": ["x" * 80] * 10, "mcpServers": {}} for number in range(500)}
    lines = "".join(f'[projects."/p/{number}"]\ntrust_level = "trusted" # {number}\n' for number in range(2000))
    for host, data in (("claude-code", json.dumps({"projects": sessions}).encode()), ("codex", lines.encode())):
        path = path_of(host, "user", "files", around)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        install(host, "user", around)
        assert install(host, "user", around)[0].action == "unchanged"
        uninstall(host, "user", around)
        assert path.read_bytes() == data


# All files or none


class Trouble:
    """Something happens whenever the file at `path` is about to be written or removed."""

    def __init__(self, patch: pytest.MonkeyPatch, path: Path, happens: Callable[[], None]) -> None:
        staged, unlink = files.staged, Path.unlink

        def stage(target: Path, *, mode: int = 0o600) -> object:
            if target == path:
                happens()
            return staged(target, mode=mode)

        def take(target: Path, missing_ok: bool = False) -> None:
            if target == path:
                happens()
            unlink(target, missing_ok=missing_ok)

        patch.setattr(files, "staged", stage)
        patch.setattr(Path, "unlink", take)


def full_disk() -> None:
    raise OSError(28, "No space left on device")


def interrupted() -> None:
    raise KeyboardInterrupt


def replaced(path: Path) -> None:
    path.write_bytes(b"{}")


def in_a_folder_of_its_own(around: Surroundings) -> Surroundings:
    """The same, with a folder for Claude Code that is not there yet."""
    environment = {"CLAUDE_CONFIG_DIR": str(around.home / "own" / "claude")}
    return Surroundings(around.home, environment, around.root, around.executable)


def both_files(around: Surroundings) -> tuple[Path, Path]:
    """Claude Code's two files of the user."""
    return path_of("claude-code", "user", "files", around), path_of("claude-code", "user", "settings", around)


def fill(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(start("claude-code"))


@pytest.mark.parametrize("happens", [full_disk, interrupted])
@pytest.mark.parametrize("change", [install, uninstall])
@pytest.mark.parametrize("there", ["files", "no files", "no folder"])
def test_when_the_last_file_cannot_be_written_the_first_is_put_back(
    there: str,
    change: Callable[..., object],
    happens: Callable[[], None],
    around: Surroundings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if there == "no folder":
        around = in_a_folder_of_its_own(around)
    server, settings = both_files(around)
    if there == "files":
        fill(server, settings)
    if change is uninstall:
        install("claude-code", "user", around)
    before = tree(around)
    with monkeypatch.context() as patch:
        Trouble(patch, settings if change is install else server, happens)
        with pytest.raises((Failed, OSError, KeyboardInterrupt)):
            change("claude-code", "user", around)
    assert tree(around) == before
    change("claude-code", "user", around)
    assert tree(around) != before


def test_when_another_program_writes_the_last_file_the_first_is_put_back(
    around: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, settings = both_files(around)
    fill(server, settings)
    with monkeypatch.context() as patch:
        Trouble(patch, settings, lambda: replaced(settings))
        with pytest.raises(Failed) as caught:
            install("claude-code", "user", around)
    assert caught.value.code == "hosts.changed" and str(settings) in caught.value.message
    assert (server.read_bytes(), settings.read_bytes()) == (start("claude-code"), b"{}")


def test_what_another_program_wrote_into_the_first_meanwhile_is_not_put_back(
    around: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, settings = both_files(around)
    fill(server, settings)

    def meanwhile() -> None:
        server.write_bytes(b"{}")
        full_disk()

    Trouble(monkeypatch, settings, meanwhile)
    with pytest.raises((Failed, OSError)):
        install("claude-code", "user", around)
    assert (server.read_bytes(), settings.read_bytes()) == (b"{}", start("claude-code"))


def test_what_could_not_be_put_back_is_named(around: Surroundings, monkeypatch: pytest.MonkeyPatch) -> None:
    server, settings = (path_of("claude-code", "project", kind, around) for kind in ("files", "settings"))
    server.write_bytes(start("claude-code"))
    real = Path.replace
    written = []

    def replace(self: Path, target: Path) -> Path:
        if target == settings or target in written:
            raise OSError(28, "No space left on device")
        written.append(target)
        return real(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(Failed) as caught:
        install("claude-code", "project", around)
    assert caught.value.code == "hosts.half_done"
    assert str(server) in caught.value.message and str(settings) in caught.value.message
    assert server.with_name(".mcp.json.segue-backup").read_bytes() == start("claude-code")


# Before anything is written


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("host", HOSTS)
def test_a_preview_is_what_an_installation_writes_where_nothing_is(
    host: str, scope: Scope, around: Surroundings
) -> None:
    before = tree(around)
    hooks = chosen(recall=True, guard=True) if HOSTS[host].settings else None
    shown = preview(host, scope, around, hooks=hooks)
    assert tree(around) == before
    changes = install(host, scope, around, hooks=hooks)
    assert shown == tuple((change.path, change.path.read_text("utf-8")) for change in changes)
    assert len(preview(host, scope, around, hooks=())) == 1


def test_the_entry_for_any_host(around: Surroundings) -> None:
    assert entry("project", around) == {"mcpServers": {"segue": {"command": "segue", "args": ["mcp"]}}}
    assert entry("user", around)["mcpServers"]["segue"]["command"] == around.executable


def test_a_dry_run_plans_every_file_and_writes_none(around: Surroundings) -> None:
    before = tree(around)
    planned = install("claude-code", "user", around, dry_run=True)
    assert tree(around) == before
    assert planned == install("claude-code", "user", around)
    assert [change.part for change in planned] == ["server", "hooks"]
    before = tree(around)
    planned = uninstall("claude-code", "user", around, dry_run=True)
    assert tree(around) == before
    done = uninstall("claude-code", "user", around)
    assert [(each.path, each.action, each.diff) for each in planned] == [
        (each.path, each.action, each.diff) for each in done
    ]
