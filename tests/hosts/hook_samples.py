"""Calls of hooks as a host makes them, answered in this process, and a transcript as a host writes it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from segue.hosts import hook

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

NOW = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
SESSION = "7d3c1a52-0c1e-4a39-9a57-0d6f5d3f1b11"
EVENTS: dict[str, dict[str, Any]] = {
    "session-start": {"hook_event_name": "SessionStart", "source": "startup", "model": "claude-x"},
    "user-prompt-submit": {"hook_event_name": "UserPromptSubmit", "prompt": "Which database holds the orders?"},
    "pre-compact": {"hook_event_name": "PreCompact", "trigger": "auto", "custom_instructions": None},
    "stop": {"hook_event_name": "Stop", "stop_hook_active": False, "last_assistant_message": "Done."},
}


@dataclass(frozen=True)
class Host:
    """A host that works in `folder`, over the store at `store`."""

    folder: Path
    store: Path

    def given(self, event: str, **members: Any) -> dict[str, Any]:
        """Return what the host says on standard input; a member that is None is left out."""
        common = {
            "session_id": SESSION,
            "transcript_path": str(self.folder / "none.jsonl"),
            "cwd": str(self.folder),
            "permission_mode": "default",
        }
        said = {**common, **EVENTS[event], **members}
        return {name: value for name, value in said.items() if value is not None}

    def calls(self, event: str, *options: str, **members: Any) -> tuple[dict[str, Any] | None, str]:
        """Return what a hook answers, and what it says on standard error."""
        return self.sends(event, json.dumps(self.given(event, **members)).encode(), *options)

    def sends(self, event: str, data: bytes, *options: str) -> tuple[dict[str, Any] | None, str]:
        """Do the same with any bytes on standard input."""
        environment = {"SEGUE_DB": str(self.store), "SEGUE_HOME": str(self.folder), "SEGUE_DEBUG": "1"}
        timed = options if "--now" in options else (*options, "--now", NOW.isoformat())
        said, note = hook.answer(event, list(timed), data, environment)
        assert "\n" not in note
        return (json.loads(said) if said else None), note

    def told(self, event: str, **members: Any) -> str:
        """Return what a hook puts before the model, "" for nothing."""
        said, note = self.calls(event, **members)
        assert not note
        if said is None:
            return ""
        (name, inner), *others = said.items()
        assert name == "hookSpecificOutput"
        assert not others
        assert inner.keys() == {"hookEventName", "additionalContext"}
        assert inner["hookEventName"] == EVENTS[event]["hook_event_name"]
        return str(inner["additionalContext"])


def lines(records: Iterable[dict[str, Any]]) -> bytes:
    """Return the bytes of a transcript."""
    return b"".join(json.dumps(each, separators=(",", ":")).encode() + b"\n" for each in records)


def transcript(*requests: str, session: str = SESSION, cwd: str = "/home/ana/shop") -> list[dict[str, Any]]:
    """Return the records of a conversation in which each request is answered, and a command fails and then passes."""
    records: list[dict[str, Any]] = [{"type": "permission-mode", "permissionMode": "default", "sessionId": session}]

    def add(kind: str, role: str, content: Any, **more: Any) -> None:
        number = len(records)
        envelope = {
            "isSidechain": False,
            "userType": "external",
            "cwd": cwd,
            "sessionId": session,
            "version": "2.1.240",
        }
        message = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": f"msg_{number}", "type": "message", "model": "claude-x"}
        record = {"parentUuid": f"u{number - 1}" if number > 1 else None, **envelope, "type": kind, "message": message}
        records.append(record | {"uuid": f"u{number}", "timestamp": f"2026-05-04T08:{number:02}:00.000Z"} | more)

    for request in requests:
        add("user", "user", request)
        for ok in (False, True):
            call = f"toolu_{len(records)}"
            command = {"command": "pytest -q tests/test_shop.py", "description": "Run the tests"}
            add("assistant", "assistant", [{"type": "tool_use", "id": call, "name": "Bash", "input": command}])
            shown = "3 passed" if ok else "Exit code 1\n1 failed"
            result = {"type": "tool_result", "tool_use_id": call, "content": shown, "is_error": not ok}
            add("user", "user", [result], toolUseResult={"stdout": shown, "stderr": ""})
        add("assistant", "assistant", [{"type": "text", "text": "The tests pass now."}])
    return records
