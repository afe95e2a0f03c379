"""What happened in a recorded session, whichever agent host wrote it down.

A reader yields these values in the order of the file. Texts are cut to `TEXT_LIMIT` (results to `RESULT_LIMIT`)
characters, so that a consumer holds little whatever a session pasted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

TEXT_LIMIT = 24_000
RESULT_LIMIT = 6_000

Status = Literal["pending", "in_progress", "completed"]


@dataclass(frozen=True, slots=True)
class Meta:
    """What is known of the session so far; the last one of a stream is complete.

    `branch` is the git branch, `started` and `ended` are times as the host wrote them, `skipped` counts the lines
    that could not be read.
    """

    host: str
    session: str | None = None
    title: str | None = None
    cwd: str | None = None
    branch: str | None = None
    model: str | None = None
    started: str | None = None
    ended: str | None = None
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class UserText:
    """What the human wrote, without what the host or Segue put beside it. It begins a turn."""

    text: str
    at: str | None = None


@dataclass(frozen=True, slots=True)
class AgentText:
    """What the agent said; the text blocks of one message are one."""

    text: str
    at: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the agent called; `input` is as the host recorded it."""

    call: str
    name: str
    input: Mapping[str, Any]
    at: str | None = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came back for the call of that id. `ok` is None where the record does not say how it ended.

    `refused` is what the human wrote when turning the call down (empty where nothing); None where nobody did.
    """

    call: str
    text: str
    ok: bool | None = None
    exit_code: int | None = None
    at: str | None = None
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Todo:
    """One item of a to-do list."""

    text: str
    status: Status


@dataclass(frozen=True, slots=True)
class Todos:
    """The whole to-do list (or step plan) of the agent, as of now."""

    items: tuple[Todo, ...]
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan that was shown to the human for approval; the result of `call` says what became of it."""

    call: str
    text: str
    at: str | None = None


@dataclass(frozen=True, slots=True)
class RolledBack:
    """The last `turns` human turns, and all that followed from them, were taken back: a rewind or an edited prompt."""

    turns: int


Event: TypeAlias = Meta | UserText | AgentText | ToolCall | ToolResult | Todos | Plan | RolledBack


def clip(text: str, limit: int) -> str:
    """Return `text`, or its first and last half where it is longer than `limit` characters."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return text[:half] + "\n…\n" + text[-half:]
