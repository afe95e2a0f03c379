"""The agent hosts: where each keeps its MCP servers, and what an entry looks like there.

Paths and entry forms follow the hosts' own documentation as of 2026. Entries hold the command alone. Cursor is
said to expand `${workspaceFolder}` in an entry, but not by its documentation, so the workspace is not passed:
an unexpanded placeholder would name a project that does not exist.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from segue.base.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Scope = Literal["project", "user"]

SCOPES: tuple[Scope, ...] = ("project", "user")
ENTRY = "segue"
TEAM_COMMAND = "segue"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the caller knows about the machine, so that nothing here asks it.

    `home` is the user's folder, `environment` the process's variables, `root` the project (None outside of one),
    `executable` the absolute path of the program that a user's own configuration shall start.
    """

    home: Path
    environment: Mapping[str, str]
    root: Path | None
    executable: str


@dataclass(frozen=True, slots=True)
class Host:
    """One agent host.

    `keys` lead from the outermost object of its file to the table of servers; `files` gives the file of a scope;
    `entry` makes the entry for a command; `notes` says what a person has to know after an installation.
    """

    name: str
    title: str
    keys: tuple[str, ...]
    files: Mapping[Scope, Callable[[Surroundings], Path]]
    entry: Callable[[str], dict[str, Any]]
    notes: Mapping[Scope, str]


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
        raise InvalidInput("hosts.command", "the path of the program is not UTF-8, so JSON cannot hold it") from None
    return around.executable


def _project(*parts: str) -> Callable[[Surroundings], Path]:
    return lambda around: base_of("project", around).joinpath(*parts)


def _claude_user(around: Surroundings) -> Path:
    folder = around.environment.get("CLAUDE_CONFIG_DIR")
    if not folder:
        return around.home / ".claude.json"
    if not Path(folder).is_absolute():
        # A host takes it relative to wherever it is started, so there is no single file to write to.
        message = "CLAUDE_CONFIG_DIR is a relative path; set it to an absolute one"
        raise InvalidInput("hosts.config_dir", message, {"path": folder})
    return Path(folder) / ".claude.json"


def _claude_entry(command: str) -> dict[str, Any]:
    return {"type": "stdio", "command": command, "args": ["mcp"]}


def _cursor_entry(command: str) -> dict[str, Any]:
    return {"command": command, "args": ["mcp"]}


CLAUDE_CODE = Host(
    name="claude-code",
    title="Claude Code",
    keys=("mcpServers",),
    files={"project": _project(".mcp.json"), "user": _claude_user},
    entry=_claude_entry,
    notes={
        "project": "Claude Code asks once for approval of a project's servers when it starts next.",
        "user": "A running Claude Code may write its file again from memory; restart it, then check the status.",
    },
)

CURSOR = Host(
    name="cursor",
    title="Cursor",
    keys=("mcpServers",),
    files={"project": _project(".cursor", "mcp.json"), "user": lambda around: around.home / ".cursor" / "mcp.json"},
    entry=_cursor_entry,
    notes={
        "project": "Cursor shows the server in its MCP settings, where it may have to be switched on.",
        "user": "Cursor shows the server in its MCP settings, where it may have to be switched on.",
    },
)

HOSTS: Mapping[str, Host] = {host.name: host for host in (CLAUDE_CODE, CURSOR)}
