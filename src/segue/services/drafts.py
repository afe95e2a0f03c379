"""Drafts of packets, made from what a project already says: its repository, and its newest recorded session."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segue.base import jsontext
from segue.conversions.draft import draft as draft_of
from segue.packets import checking
from segue.services.projects import branch
from segue.transcripts import locate, reader

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from segue.services.projects import Project
    from segue.transcripts.events import Event


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft packet, without id, as indented JSON, and the recorded session that it was made from, if any."""

    data: bytes
    source: Path | None


def draft(project: Project, environment: Mapping[str, str], home: Path, now: datetime) -> Draft:
    """Return a draft packet of a project's newest session.

    It is made by rules from the newest recorded session of Claude Code or Codex in this project; without one it says
    only what the repository says. What the redactor finds in it is replaced by `[redacted:…]`.
    """
    found = locate.find_newest(
        project.root,
        Path(environment.get("CLAUDE_CONFIG_DIR") or home / ".claude"),
        Path(environment.get("CODEX_HOME") or home / ".codex"),
        project_dir_name=environment.get("CLAUDE_CODE_PROJECT_DIR_NAME"),
    )
    events = reader.read_file(found.path, found.host) if found else iter(())
    return Draft(jsontext.dump(masked(events, project, now), indent=True), found.path if found else None)


def masked(events: Iterable[Event], project: Project, now: datetime) -> dict[str, Any]:
    """Return the draft, without id, that a session's events give in a project; what the redactor finds is replaced."""
    document = draft_of(
        events,
        now=now,
        project_name=project.name,
        project_ref=project.ref or None,
        branch=branch(project.root) or None,
        project_dir=str(project.root),
    )
    return checking.mask(document)[0]
