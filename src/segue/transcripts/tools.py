"""What a tool call did, for the tools of the known hosts: the command it ran, the files it changed, what it asked."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from segue.transcripts.events import ToolCall

_COMMAND_KEYS = {
    "Bash": "command",
    "PowerShell": "command",
    "exec_command": "cmd",
    "shell": "command",
    "shell_command": "command",
    "container.exec": "command",
    "local_shell": "command",
}
_WRITERS = {"Edit", "Write", "MultiEdit", "NotebookEdit"}
_SHELLS = {"bash", "sh", "zsh", "dash", "/bin/bash", "/bin/sh", "/bin/zsh", "/usr/bin/bash"}
_PATCHED = re.compile(r"^\*\*\* (?:Update File|Add File|Delete File|Move to): ([^\r\n]{1,1000})", re.MULTILINE)
_PATCH_START = "*** Begin Patch"


def command(call: ToolCall) -> str | None:
    """Return the shell command that the call ran, or None where it ran none (a patch is none)."""
    key = _COMMAND_KEYS.get(call.name)
    text = None if key is None else _joined(call.input.get(key))
    return None if not text or _PATCH_START in text else text


def files(call: ToolCall) -> tuple[str, ...]:
    """Return the paths of the files that the call changes, as they were given."""
    if call.name in _WRITERS:
        path = call.input.get("file_path") or call.input.get("notebook_path")
        return (path,) if isinstance(path, str) else ()
    if call.name == "apply_patch":
        patch = _joined(call.input.get("input") or call.input.get("patch"))
    else:
        key = _COMMAND_KEYS.get(call.name)
        patch = None if key is None else _joined(call.input.get(key))
    if not patch or _PATCH_START not in patch:
        return ()
    return tuple(dict.fromkeys(path.strip() for path in _PATCHED.findall(patch)))


def questions(call: ToolCall) -> tuple[str, ...]:
    """Return what the call asks the human: the questions of `AskUserQuestion` or `request_user_input`."""
    if call.name not in ("AskUserQuestion", "request_user_input"):
        return ()
    listed = call.input.get("questions")
    asked = [item.get("question") for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    return tuple(text for text in asked if isinstance(text, str) and text.strip())


def _joined(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
        return None
    if len(value) == 3 and value[0] in _SHELLS and value[1] in ("-c", "-lc"):
        return str(value[2])
    if any(_PATCH_START in part for part in value):
        return "\n".join(value)
    return shlex.join(value)
