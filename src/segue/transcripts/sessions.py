"""Recorded agent sessions as conversations: what was said, without the calls of tools and what they returned."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from segue.transcripts import moments
from segue.transcripts.conversation import Conversation, Problem, Role, Turn
from segue.transcripts.events import AgentText, Meta, Plan, RolledBack, UserText
from segue.transcripts.own import without_own
from segue.transcripts.reader import read as read_events

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import IO

    from segue.transcripts.events import Event


def read(file: IO[bytes], name: str) -> Iterator[Conversation | Problem]:
    """Yield the conversation that the session in `file` is, where anything was said, and what was passed over.

    A session without an id is named after its file. Texts are cut as `segue.transcripts.events` says.
    """
    meta, said = _said(read_events(file))
    if meta is None:
        yield Problem("import.read", "it is no transcript of a known agent", name)
        return
    if meta.skipped:
        yield Problem("import.element", f"{meta.skipped} lines could not be read", name)
    thread = meta.session or name.rsplit("/", 1)[-1].removesuffix(".jsonl")
    turns = tuple(
        Turn(thread=thread, position=position, role=role, text=text, at=at)
        for position, (role, text, at) in enumerate(said)
    )
    if turns:
        yield Conversation(
            origin="codex" if meta.host == "codex" else "claude-code",
            id=thread,
            place=name,
            title=meta.title,
            created=moments.from_iso(meta.started),
            updated=moments.from_iso(meta.ended),
            project=_folder(meta.cwd),
            turns=turns,
        )


def _said(events: Iterable[Event]) -> tuple[Meta | None, list[tuple[Role, str, str | None]]]:
    """Return the last state of the session, and what was said and not taken back."""
    meta: Meta | None = None
    said: list[tuple[Role, str, str | None]] = []
    begins: list[int] = []  # where each human turn begins in `said`
    for event in events:
        if isinstance(event, Meta):
            meta = event
        elif isinstance(event, RolledBack):
            kept = max(len(begins) - event.turns, 0)
            if kept < len(begins):
                del said[begins[kept] :], begins[kept:]
        elif isinstance(event, (UserText, AgentText, Plan)):
            role: Role = "user" if isinstance(event, UserText) else "assistant"
            if role == "user":
                begins.append(len(said))
            text = without_own(event.text)
            if text:
                said.append((role, text, moments.from_iso(event.at)))
    return meta, said


def _folder(cwd: str | None) -> str | None:
    """The name of the working directory; its path says where somebody's machine keeps it, and stays behind."""
    names = [name for name in re.split(r"[/\\]", cwd or "") if name]
    return names[-1] if names else None
