"""Reader of Claude Code transcripts (section 1.1 of the host facts).

Everything that was said is read in file order, across compactions (their summaries are dropped, they repeat).
A prompt that hangs below an earlier point than the last turn is a rewind: the turns between are rolled back.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from segue.transcripts import results, speech
from segue.transcripts.events import (
    TEXT_LIMIT,
    AgentText,
    Event,
    Plan,
    RolledBack,
    ToolCall,
    ToolResult,
    UserText,
    clip,
)
from segue.transcripts.progress import Progress
from segue.transcripts.todos import TodoBoard

if TYPE_CHECKING:
    from collections.abc import Iterator

    from segue.transcripts.lines import Record

HOST = "claude-code"

_CHAINED = {"user", "assistant", "system", "attachment", "progress"}
_TITLES = {"summary": ("summary", 0), "ai-title": ("aiTitle", 1), "custom-title": ("customTitle", 2)}
_MAX_REMEMBERED = 200_000


class Branches:
    """Which human turns are still part of the conversation, from the tree that `parentUuid` spans."""

    def __init__(self) -> None:
        self._turn_of: dict[str, int] = {}
        self._alive = [0]
        self._next = 1
        self._compacted = False

    def knows(self, uuid: str) -> bool:
        """Whether a line with that uuid was read before: a resumed session may repeat lines."""
        return uuid in self._turn_of

    def attach(self, uuid: str, parent: Any) -> None:
        """Take note of a line that begins no turn."""
        self._remember(uuid, self._turn_of.get(parent, self._alive[-1]) if isinstance(parent, str) else self._alive[-1])

    def compact(self) -> None:
        """Take note of a compaction: from here on a missing parent says nothing."""
        self._compacted = True

    def prompt(self, uuid: str, parent: Any, *, root: bool) -> int:
        """Take note of a line that begins a turn; return how many turns before it that takes back.

        `root` says that the line names its parent as null: it begins the conversation anew.
        """
        if isinstance(parent, str):
            below = self._turn_of.get(parent, self._alive[-1])
        else:
            below = 0 if root and not self._compacted else self._alive[-1]
        taken_back = 0
        place = bisect_left(self._alive, below)  # turns are numbered in the order of their coming
        if place < len(self._alive) and self._alive[place] == below:
            taken_back = len(self._alive) - 1 - place
            del self._alive[len(self._alive) - taken_back :]
        self._alive.append(self._next)
        self._remember(uuid, self._next)
        self._next += 1
        return taken_back

    def queued(self, uuid: str) -> None:
        """Take note of a prompt that was written while the agent worked: a turn that takes nothing back."""
        self._alive.append(self._next)
        self._remember(uuid, self._next)
        self._next += 1

    def _remember(self, uuid: str, turn: int) -> None:
        if len(self._turn_of) >= _MAX_REMEMBERED:
            del self._turn_of[next(iter(self._turn_of))]
        self._turn_of[uuid] = turn


class ClaudeReader:
    """Turns the records of one transcript into events. One reader for one file."""

    def __init__(self) -> None:
        self._progress = Progress(HOST)
        self._branches = Branches()
        self._board = TodoBoard()
        self._title_rank = -1
        self._said: AgentText | None = None
        self._said_in: Any = None
        self._place: tuple[Any, Any, Any] = (None, None, None)

    def feed(self, record: Record) -> Iterator[Event]:
        """Yield what `record` adds."""
        kind = record.get("type")
        if not isinstance(kind, str):
            return
        if kind in _TITLES:
            yield from self._title(record, *_TITLES[kind])
        elif kind in _CHAINED and record.get("isSidechain") is not True and not record.get("teamName"):
            yield from self._chained(kind, record)

    def finish(self, skipped: int) -> Iterator[Event]:
        """Yield what was held back, then the final Meta."""
        yield from self._flush()
        yield self._progress.finished(skipped)

    def _title(self, record: Record, key: str, rank: int) -> Iterator[Event]:
        if rank >= self._title_rank and isinstance(record.get(key), str):
            self._title_rank = rank
            yield from self._progress.learn(title=record[key].strip())

    def _chained(self, kind: str, record: Record) -> Iterator[Event]:
        uuid, parent = record.get("uuid"), record.get("parentUuid")
        if isinstance(uuid, str) and self._branches.knows(uuid):
            return
        at = self._progress.saw(record.get("timestamp"))
        place = record.get("sessionId"), record.get("cwd"), record.get("gitBranch")
        if place != self._place:  # nearly always the same as on the line before
            self._place = place
            session, cwd, branch = place
            yield from self._progress.learn(session=session, cwd=cwd, branch=None if branch == "HEAD" else branch)
        if kind == "system" and record.get("subtype") == "compact_boundary":
            self._branches.compact()
        text = self._human_text(record) if kind == "user" else ""
        if text:
            yield from self._flush()
            root = isinstance(uuid, str) and parent is None and "parentUuid" in record
            taken_back = self._branches.prompt(uuid if isinstance(uuid, str) else "", parent, root=root)
            if taken_back:
                yield RolledBack(taken_back)
            yield UserText(text, at)
            return
        queued = self._queued_text(record) if kind == "attachment" else ""
        if queued:
            yield from self._flush()
            self._branches.queued(uuid if isinstance(uuid, str) else "")
            yield UserText(queued, at)
            return
        if isinstance(uuid, str):
            self._branches.attach(uuid, parent)
        if kind == "user":
            yield from self._results(record, at)
        elif kind == "assistant":
            yield from self._answer(record, at)

    def _human_text(self, record: Record) -> str:
        if any(record.get(mark) is True for mark in ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")):
            return ""
        if not _by_human(record):
            return ""
        content = _content(record)
        if isinstance(content, str):
            return clip(speech.from_claude(content), TEXT_LIMIT)
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        if any(block.get("type") == "tool_result" for block in blocks):
            return ""
        texts = [block.get("text") for block in blocks if block.get("type") == "text"]
        spoken = [speech.from_claude(text) for text in texts if isinstance(text, str)]
        return clip("\n\n".join(text for text in spoken if text), TEXT_LIMIT)

    def _queued_text(self, record: Record) -> str:
        """Return what the human wrote while the agent worked: such a prompt has no `user` line of its own."""
        attachment = record.get("attachment")
        if not isinstance(attachment, dict) or attachment.get("type") != "queued_command" or not _by_human(attachment):
            return ""
        prompt = attachment.get("prompt")
        if attachment.get("commandMode", "prompt") != "prompt" or not isinstance(prompt, str):
            return ""
        return clip(speech.from_claude(prompt), TEXT_LIMIT)

    def _results(self, record: Record, at: str | None) -> Iterator[Event]:
        content = _content(record)
        for block in content if isinstance(content, list) else []:
            if not isinstance(block, dict) or block.get("type") != "tool_result":
                continue
            call, structured = block.get("tool_use_id"), record.get("toolUseResult")
            if not isinstance(call, str):
                continue
            yield from self._flush()
            outcome = results.of_claude(block.get("content"), block.get("is_error") is True, structured)
            todos = self._board.returned(call, outcome.text, structured, outcome.ok, at)
            yield todos or ToolResult(call, outcome.text, outcome.ok, outcome.exit_code, at, outcome.refused)

    def _answer(self, record: Record, at: str | None) -> Iterator[Event]:
        message = record.get("message")
        if not isinstance(message, dict) or record.get("isApiErrorMessage") is True:
            return
        if message.get("model") == "<synthetic>":
            return
        yield from self._progress.learn(model=message.get("model"))
        content = message.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        for block in content if isinstance(content, list) else []:
            if not isinstance(block, dict):
                continue
            if block.get("type") == "text":
                yield from self._say(block.get("text"), message.get("id"), at)
            elif block.get("type") == "tool_use":
                yield from self._flush()
                yield from self._call(block, at)

    def _say(self, text: Any, message: Any, at: str | None) -> Iterator[Event]:
        spoken = speech.without_own_blocks(text).strip() if isinstance(text, str) else ""
        if not spoken:
            return
        if self._said is not None and message is not None and message == self._said_in:
            self._said = AgentText(clip(f"{self._said.text}\n\n{spoken}", TEXT_LIMIT), at)
            return
        yield from self._flush()
        self._said, self._said_in = AgentText(clip(spoken, TEXT_LIMIT), at), message

    def _call(self, block: dict[str, Any], at: str | None) -> Iterator[Event]:
        call, name, arguments = block.get("id"), block.get("name"), block.get("input")
        if not isinstance(call, str) or not isinstance(name, str):
            return
        arguments = arguments if isinstance(arguments, dict) else {}
        plan = arguments.get("plan")
        if name == "ExitPlanMode" and isinstance(plan, str):
            yield Plan(call, clip(plan, TEXT_LIMIT), at)
            return
        yield self._board.called(call, name, arguments, at) or ToolCall(call, name, arguments, at)

    def _flush(self) -> Iterator[Event]:
        if self._said is not None:
            yield self._said
        self._said = None


def _by_human(record: Record) -> bool:
    """Whether a text is the human's own, as far as the record says: agents and notices of tasks name another origin."""
    origin = record.get("origin")
    return not isinstance(origin, dict) or origin.get("kind", "human") == "human"


def _content(record: Record) -> Any:
    message = record.get("message")
    return message.get("content") if isinstance(message, dict) else None
