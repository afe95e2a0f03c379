"""A call of a hook: what the host says on standard input, what is known around it, and what is answered."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segue.base.errors import InvalidInput
from segue.context.conversation import is_id

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from segue.services.projects import Project


@dataclass(frozen=True, slots=True)
class Call:
    """What a hook is called with. `given` is the host's JSON object, `environment` the process's variables.

    `location` is the store, a path or a URL; `now` is the time; `block` asks the Stop hook to stop the agent.
    """

    given: Mapping[str, Any]
    environment: Mapping[str, str]
    location: str | Path
    now: datetime
    block: bool = False

    def text(self, name: str) -> str:
        """Return a member that is text, "" where it is absent or something else."""
        value = self.given.get(name)
        return value if isinstance(value, str) else ""

    @property
    def session(self) -> str:
        """The host's name of the session, "" where it has none that can be kept."""
        name = self.text("session_id")
        return name if is_id(name) else ""

    @property
    def directory(self) -> Path:
        """The folder that is worked in: the session's project where the current one lies in it.

        Raises InvalidInput `hook.directory` where the host names none that exists.
        """
        current = _folder(self.text("cwd"))
        project = _folder(self.environment.get("CLAUDE_PROJECT_DIR", ""))
        if current is None:
            current = project
        if current is None:
            raise InvalidInput("hook.directory", "the host names no folder that exists")
        return project if project is not None and current.is_relative_to(project) else current

    def project(self) -> Project:
        """Return the project that is worked on. Raises InvalidInput, Failed."""
        from segue.services.projects import identify

        return identify(self.directory)


def _folder(name: str) -> Path | None:
    if not name or "\0" in name or not Path(name).is_absolute():
        return None
    try:
        return Path(name) if Path(name).is_dir() else None
    except (OSError, ValueError):
        return None


def context(event: str, text: str) -> dict[str, Any] | None:
    """Return the answer that puts `text` before the model, None for no text."""
    if not text:
        return None
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
