"""Reader of Codex rollouts (section 4.4 of the host facts), and of the flat files of 2025.

Each message stands in a rollout twice, as response item and as event, in either order, and some only once: the first
of the two is taken, counted by text, so that a human who writes "continue" twice is heard twice.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import orjson

from segue.transcripts import results, speech
from segue.transcripts.events import TEXT_LIMIT, AgentText, Event, RolledBack, ToolCall, ToolResult, UserText, clip
from segue.transcripts.progress import Progress
from segue.transcripts.todos import TodoBoard

if TYPE_CHECKING:
    from collections.abc import Iterator

    from segue.transcripts.lines import Record

HOST = "codex"

_ENVIRONMENT_CWD = re.compile(r"<cwd>([^<\n]{1,4096})</cwd>|^Current working directory: ([^\n]{1,4096})$", re.MULTILINE)
_MAX_REMEMBERED = 20_000


def environment_cwd(text: str) -> str | None:
    """Return the working directory that an `<environment_context>` text names."""
    if "<environment_context>" not in text:
        return None
    found = _ENVIRONMENT_CWD.search(text)
    return None if found is None else (found[1] or found[2]).strip()


class _Twice:
    """Lets each text through once, although it is recorded in two ways."""

    def __init__(self) -> None:
        self._seen: Counter[bytes] = Counter()
        self._passed: Counter[bytes] = Counter()

    def passes(self, way: str, role: str, text: str) -> bool:
        key = hashlib.blake2b("".join(text.split()).encode("utf-8", "replace") + role.encode(), digest_size=12).digest()
        seen = key + way.encode()
        self._seen[seen] += 1
        if self._seen[seen] <= self._passed[key]:
            return False
        if len(self._passed) >= _MAX_REMEMBERED:
            self._seen.clear()
            self._passed.clear()
            self._seen[seen] = 1
        self._passed[key] = self._seen[seen]
        return True


class CodexReader:
    """Turns the records of one rollout into events. One reader for one file."""

    def __init__(self) -> None:
        self._progress = Progress(HOST)
        self._board = TodoBoard()
        self._twice = _Twice()
        self._met = False
        self._polls: dict[str, str] = {}  # a call that polls a running command -> the call that started it
        self._running: dict[str, str] = {}  # background session -> the call that started it

    def feed(self, record: Record) -> Iterator[Event]:
        """Yield what `record` adds."""
        payload = record.get("payload")
        at = self._progress.saw(record.get("timestamp"))
        if not isinstance(payload, dict):
            yield from self._flat(record, at)
            return
        kind = record.get("type")
        if kind == "response_item":
            yield from self._item(payload, at)
        elif kind == "event_msg":
            yield from self._event(payload, at)
        elif kind == "session_meta" and not self._met:
            yield from self._head(payload)
        elif kind == "turn_context":
            yield from self._progress.learn(cwd=payload.get("cwd"), model=payload.get("model"))

    def finish(self, skipped: int) -> Iterator[Event]:
        """Yield the final Meta."""
        yield self._progress.finished(skipped)

    def _flat(self, record: Record, at: str | None) -> Iterator[Event]:
        """The 2025 format: a bare head, then bare items."""
        if isinstance(record.get("type"), str):
            yield from self._item(record, at)
        elif isinstance(record.get("id"), str) and not self._met:
            yield from self._head(record)

    def _head(self, payload: dict[str, Any]) -> Iterator[Event]:
        self._met = True
        self._progress.saw(payload.get("timestamp"))
        git = payload.get("git")
        branch = git.get("branch") if isinstance(git, dict) else None
        yield from self._progress.learn(session=payload.get("id"), cwd=payload.get("cwd"), branch=branch)

    def _event(self, payload: dict[str, Any], at: str | None) -> Iterator[Event]:
        kind, message = payload.get("type"), payload.get("message")
        if kind == "user_message":
            yield from self._human("event", message, at)
        elif kind == "agent_message":
            yield from self._agent("event", message, at)
        elif kind == "thread_name_updated":
            yield from self._progress.learn(title=payload.get("thread_name") or payload.get("name"))
        elif kind == "thread_rolled_back":
            turns = payload.get("num_turns")
            if isinstance(turns, int) and turns > 0:
                yield RolledBack(turns)

    def _item(self, item: dict[str, Any], at: str | None) -> Iterator[Event]:
        kind = item.get("type")
        if kind == "message":
            yield from self._message(item, at)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            yield from self._call(item, at)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            yield from self._output(item, at)

    def _message(self, item: dict[str, Any], at: str | None) -> Iterator[Event]:
        role, text = item.get("role"), results.text_of(item.get("content"))
        if role == "user":
            if self._progress.meta.cwd is None:
                yield from self._progress.learn(cwd=environment_cwd(text))
            yield from self._human("item", text, at)
        elif role == "assistant":
            yield from self._agent("item", text, at)

    def _human(self, way: str, text: Any, at: str | None) -> Iterator[Event]:
        spoken = speech.from_codex(text) if isinstance(text, str) else ""
        if spoken and self._twice.passes(way, "user", spoken):
            yield UserText(clip(spoken, TEXT_LIMIT), at)

    def _agent(self, way: str, text: Any, at: str | None) -> Iterator[Event]:
        spoken = speech.without_own_blocks(text).strip() if isinstance(text, str) else ""
        if spoken and self._twice.passes(way, "agent", spoken):
            yield AgentText(clip(spoken, TEXT_LIMIT), at)

    def _call(self, item: dict[str, Any], at: str | None) -> Iterator[Event]:
        call, name, arguments = item.get("call_id") or item.get("id"), item.get("name"), _arguments(item)
        if item.get("type") == "local_shell_call":
            name = "local_shell"
        if not isinstance(call, str) or not isinstance(name, str):
            return
        started = self._running.get(str(arguments.get("session_id"))) if name == "write_stdin" else None
        if started is not None:
            self._polls[call] = started
            return
        yield self._board.called(call, name, arguments, at) or ToolCall(call, name, arguments, at)

    def _output(self, item: dict[str, Any], at: str | None) -> Iterator[Event]:
        call = item.get("call_id")
        if not isinstance(call, str):
            return
        outcome = results.of_codex(item.get("output"))
        call = self._polls.pop(call, call)
        if outcome.running is not None and outcome.exit_code is None:
            if len(self._running) < _MAX_REMEMBERED:
                self._running[outcome.running] = call
            return
        yield ToolResult(call, outcome.text, outcome.ok, outcome.exit_code, at)


def _arguments(item: dict[str, Any]) -> dict[str, Any]:
    if item.get("type") == "custom_tool_call":
        return {"input": item.get("input")}
    given = item.get("action") if item.get("type") == "local_shell_call" else item.get("arguments")
    if isinstance(given, str):
        try:
            given = orjson.loads(given)
        except ValueError:
            return {}
    return given if isinstance(given, dict) else {}
