"""How a tool call ended, from what the hosts record about it.

Claude Code marks failures by `is_error` and begins the text with "Exit code N"; Codex writes the exit status into a
header above "Output:", into the metadata of a JSON text, or nowhere. Only headers are believed: what a program
printed may say anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import orjson

from segue.transcripts.events import RESULT_LIMIT, clip

_CLAUDE_EXIT = re.compile(r"(?:Error: )?Exit code (-?\d{1,10})\b")
_CLAUDE_REFUSED = re.compile(
    r"The user doesn't want to|The tool use was rejected|\[Request interrupted|"
    r"Claude requested permissions|Permission (?:to use|for this tool use)|The agent proposed a plan that was rejected|"
    r".{0,200}operation blocked by hook",
    re.IGNORECASE,
)
_CLAUDE_UNENDED = re.compile(
    r"Command timed out|Command running in background|Command was manually backgrounded", re.IGNORECASE
)
_CLAUDE_REMARK = re.compile(r"the user said:\s*+(?!The user wants to clarify these questions)", re.IGNORECASE)
_CODEX_EXIT = re.compile(r"^(?:Process exited with code|Exit code:)[ \t]*(-?\d{1,10})\b", re.MULTILINE)
_CODEX_RUNNING = re.compile(r"^Process running with session ID[ \t]*(\d{1,18})\b", re.MULTILINE)
_CODEX_REFUSED = re.compile(
    r"apply_patch verification failed|patch rejected|exec_command failed|failed to parse", re.IGNORECASE
)
_CODEX_HEADER = 800


@dataclass(frozen=True, slots=True)
class Outcome:
    """The text of a result and what it says about the end; `running` is the session that goes on in the background.

    `refused` is what the human wrote when turning the call down (empty where nothing); None where nobody did.
    """

    text: str
    ok: bool | None = None
    exit_code: int | None = None
    running: str | None = None
    refused: str | None = None


def of_claude(content: Any, is_error: bool, structured: Any) -> Outcome:
    """Return the outcome of a Claude Code `tool_result` with that `content`; `structured` is its `toolUseResult`."""
    text = clip(text_of(content), RESULT_LIMIT)
    if isinstance(structured, dict) and (structured.get("interrupted") is True or structured.get("backgroundTaskId")):
        return Outcome(text)
    if _CLAUDE_REFUSED.match(text):
        remark = _CLAUDE_REMARK.search(text)
        said = text[remark.end() :].split("\n\nNote: The user's next message", 1)[0] if remark else ""
        return Outcome(text, refused=said.strip())
    if _CLAUDE_UNENDED.match(text):
        return Outcome(text)
    exit_code = _CLAUDE_EXIT.match(text)
    if exit_code:
        return Outcome(text, int(exit_code[1]) == 0, int(exit_code[1]))
    return Outcome(text, not is_error)


def of_codex(output: Any) -> Outcome:
    """Return the outcome of a Codex call from the `output` of its `…_output` item."""
    if isinstance(output, str) and output.startswith("{"):
        output = _json_object(output) or output
    if isinstance(output, dict):
        return _of_codex_object(output)
    text = text_of(output)
    head = text[:_CODEX_HEADER].split("\nOutput:", 1)[0]
    running = _CODEX_RUNNING.search(head)
    found = _CODEX_EXIT.search(head)
    exit_code = int(found[1]) if found else None
    ok = exit_code == 0 if exit_code is not None else (False if _CODEX_REFUSED.match(head) else None)
    return Outcome(clip(text, RESULT_LIMIT), ok, exit_code, running[1] if running else None)


def _of_codex_object(output: dict[str, Any]) -> Outcome:
    inner = next((output[key] for key in ("output", "content", "body") if output.get(key) is not None), "")
    within = of_codex(inner) if isinstance(inner, (str, list)) else Outcome("")
    metadata = output.get("metadata")
    exit_code = metadata.get("exit_code") if isinstance(metadata, dict) else None
    if isinstance(exit_code, int):
        return Outcome(within.text, exit_code == 0, exit_code)
    success = output.get("success")
    if isinstance(success, bool) and within.ok is None and within.running is None:
        return Outcome(within.text, success)
    return within


def text_of(content: Any) -> str:
    """Return the text of `content`: a string, or the `text` of the blocks of a list; anything else is empty."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (block.get("text") for block in content if isinstance(block, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


def _json_object(text: str) -> dict[str, Any] | None:
    try:
        value = orjson.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
