"""What people bring along from other assistants: whole conversations, and notes that stand beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Origin = Literal["chatgpt", "claude", "claude-code", "codex"]
Role = Literal["user", "assistant"]
NoteKind = Literal["instruction", "memory", "document"]


@dataclass(frozen=True, slots=True)
class Attachment:
    """Something that hung at a turn: its name, and its text where the export carries one."""

    name: str
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing that was said. `thread` and `position` place it; `at` is RFC 3339 in UTC, or None where unknown.

    `text` is whole and may be long; it is empty only where something is attached.
    """

    thread: str
    position: int
    role: Role
    text: str
    at: str | None = None
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """The turns of one conversation, on the branch that was last looked at; `place` is where it was read."""

    origin: Origin
    id: str
    place: str
    title: str | None = None
    created: str | None = None
    updated: str | None = None
    project: str | None = None
    turns: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A text that is no turn: custom instructions, what the assistant kept in its memory, a document of a project."""

    origin: Origin
    id: str
    place: str
    kind: NoteKind
    text: str
    title: str = ""
    project: str | None = None
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that was passed over, and why; the reading went on after it.

    `file` is the name as the reader knows it, `line` counts from 1, `index` (of a list) from 0. Codes:
    `import.read` (a file or archive that cannot be read), `import.element` (broken or too large), `import.kept_out`
    (left out on purpose, as the source asks), `import.value` (a value that is missing or wrong), `import.limit`.
    """

    code: str
    message: str
    file: str
    line: int | None = None
    index: int | None = None

    @property
    def place(self) -> str:
        """File and line or index, as one text."""
        place = self.file
        if self.line is not None:
            place += f":{self.line}"
        return place if self.index is None else f"{place}[{self.index}]"


def not_utf8(file: str, *, line: int | None = None, index: int | None = None) -> Problem:
    """Return what is said, once for a file, of bytes that were replaced; `line` or `index` is where the first stand."""
    message = "not all of it is UTF-8; what is none became U+FFFD"
    return Problem("import.value", message, file, line=line, index=index)


Read: TypeAlias = Conversation | Note | Problem
