"""The agent hosts: where each keeps its MCP servers and hooks, and what an entry looks like there.

Paths and entry forms follow the hosts' own documentation as of 2026. Entries hold the command alone. Cursor is
said to expand `${workspaceFolder}` in an entry, but not by its documentation, so the workspace is not passed:
an unexpanded placeholder would name a project that does not exist.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from segue.base.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Scope = Literal["project", "user"]
Format = Literal["jsonc", "toml"]

SCOPES: tuple[Scope, ...] = ("project", "user")
ENTRY = "segue"
TEAM_COMMAND = "segue"
SERVER_ARGUMENTS = ("mcp",)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the caller knows about the machine, so that nothing here asks it.

    `home` is the user's folder, `environment` the process's variables, `root` the project (None outside of one),
    `executable` the absolute path of the program that a user's own configuration shall start, `platform` the system's
    name as in `sys.platform`.
    """

    home: Path
    environment: Mapping[str, str]
    root: Path | None
    executable: str
    platform: str = sys.platform


@dataclass(frozen=True, slots=True)
class Host:
    """One agent host.

    `keys` lead from the outermost object of its file to the table of servers; `files` gives the file of a scope;
    `entry` makes the entry for a command; `notes` says what a person has to know after an installation. `settings`
    gives the file of a scope that holds hooks; it is empty where Segue writes none.
    """

    name: str
    title: str
    keys: tuple[str, ...]
    files: Mapping[Scope, Callable[[Surroundings], Path]]
    entry: Callable[[str], dict[str, Any]]
    notes: Mapping[Scope, str]
    format: Format = "jsonc"
    settings: Mapping[Scope, Callable[[Surroundings], Path]] = field(default_factory=dict)


def find(name: str) -> Host:
    """Return the host with that name. Raises NotFound `hosts.unknown`."""
    try:
        return HOSTS[name]
    except KeyError:
        known = ", ".join(HOSTS)
        raise NotFound("hosts.unknown", f"no host is named {name[:40]!a}; known are: {known}") from None


def base_of(scope: Scope, around: Surroundings) -> Path:
    """Return the folder that the scope's file belongs to. Raises InvalidInput `hosts.no_project`."""
    if scope == "user":
        return around.home
    if around.root is None:
        raise InvalidInput("hosts.no_project", "there is no project here; go into one, or install for the user")
    return around.root


def command_for(scope: Scope, around: Surroundings) -> str:
    """Return the command to write: plain in a file that a team shares, an absolute path in the user's own.

    Raises InvalidInput `hosts.command` for a relative path, or one that is not text.
    """
    if scope == "project":
        return TEAM_COMMAND
    if not Path(around.executable).is_absolute():
        raise InvalidInput("hosts.command", "the program for a user's configuration needs its absolute path")
    try:
        around.executable.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidInput("hosts.command", "the path of the program is not UTF-8, so no file can hold it") from None
    return around.executable


def _project(*parts: str) -> Callable[[Surroundings], Path]:
    return lambda around: base_of("project", around).joinpath(*parts)


def _folder_of(around: Surroundings, variable: str) -> Path | None:
    """Return the folder that a variable names, None where it names none. Raises InvalidInput `hosts.config_dir`."""
    folder = around.environment.get(variable)
    if not folder:
        return None
    if not Path(folder).is_absolute():
        # A host takes it relative to wherever it is started, so there is no single file to write to.
        message = f"{variable} is a relative path; set it to an absolute one"
        raise InvalidInput("hosts.config_dir", message, {"path": folder})
    return Path(folder)


def _claude_user(around: Surroundings) -> Path:
    return (_folder_of(around, "CLAUDE_CONFIG_DIR") or around.home) / ".claude.json"


def _claude_settings(around: Surroundings) -> Path:
    return (_folder_of(around, "CLAUDE_CONFIG_DIR") or around.home / ".claude") / "settings.json"


def _code_user(around: Surroundings) -> Path:
    """The file of VS Code's default profile."""
    if around.platform == "darwin":
        settings = around.home / "Library" / "Application Support"
    elif around.platform == "win32":
        settings = _folder_of(around, "APPDATA") or around.home / "AppData" / "Roaming"
    else:
        settings = _folder_of(around, "XDG_CONFIG_HOME") or around.home / ".config"
    return settings / "Code" / "User" / "mcp.json"


def _codex_user(around: Surroundings) -> Path:
    return (_folder_of(around, "CODEX_HOME") or around.home / ".codex") / "config.toml"


def _typed_entry(command: str) -> dict[str, Any]:
    return {"type": "stdio", "command": command, "args": list(SERVER_ARGUMENTS)}


def _plain_entry(command: str) -> dict[str, Any]:
    return {"command": command, "args": list(SERVER_ARGUMENTS)}


def _codex_entry(command: str) -> dict[str, Any]:
    # Codex starts its servers with few variables of its own: those that say where the store is are to be handed on.
    return {"command": command, "args": list(SERVER_ARGUMENTS), "env_vars": ["SEGUE_HOME", "SEGUE_DB"]}


CLAUDE_CODE = Host(
    name="claude-code",
    title="Claude Code",
    keys=("mcpServers",),
    files={"project": _project(".mcp.json"), "user": _claude_user},
    entry=_typed_entry,
    notes={
        "project": "Claude Code asks once for approval of a project's servers when it starts next.",
        "user": "A running Claude Code may write its file again from memory; restart it, then check the status.",
    },
    settings={"project": _project(".claude", "settings.json"), "user": _claude_settings},
)

CURSOR = Host(
    name="cursor",
    title="Cursor",
    keys=("mcpServers",),
    files={"project": _project(".cursor", "mcp.json"), "user": lambda around: around.home / ".cursor" / "mcp.json"},
    entry=_plain_entry,
    notes={
        "project": "Cursor shows the server in its MCP settings, where it may have to be switched on.",
        "user": "Cursor shows the server in its MCP settings, where it may have to be switched on.",
    },
)

VS_CODE = Host(
    name="vscode",
    title="VS Code",
    keys=("servers",),
    files={"project": _project(".vscode", "mcp.json"), "user": _code_user},
    entry=_typed_entry,
    notes={
        "project": "VS Code asks for your trust before it starts the server for the first time.",
        "user": "VS Code asks for your trust before it starts the server for the first time.",
    },
)

CODEX = Host(
    name="codex",
    title="Codex",
    keys=("mcp_servers",),
    files={"project": _project(".codex", "config.toml"), "user": _codex_user},
    entry=_codex_entry,
    notes={
        "project": "Codex reads a project's file only where you trust the project.",
        "user": "Codex starts the server with its next session.",
    },
    format="toml",
)

HOSTS: Mapping[str, Host] = {host.name: host for host in (CLAUDE_CODE, CURSOR, VS_CODE, CODEX)}
