"""What was done to a host's file, or would be, and how things stand there."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pathlib import Path

    from segue.hosts.host import Scope

Action = Literal["created", "changed", "unchanged", "removed"]
Installed = Literal["yes", "no", "other command", "unreadable"]

_CONTEXT = 3
_NO_NEWLINE = "\n\\ No newline at end of file\n"


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to the file at `path`.

    `created`: the file is new; `changed`: the entry was written into it; `removed`: the entry is gone from it (and the
    file too, where it held nothing else and there was none before); `unchanged`: no byte is different. `diff` is a
    unified diff, empty where nothing changed. `backup` is the file with the bytes from before, None where there is
    none. `note` says what a person has to know afterwards.
    """

    path: Path
    action: Action
    diff: str
    backup: Path | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class State:
    """How things stand in one scope of a host.

    `detail` is the command of another entry, or why the file cannot be read. Both come from the file: show them as
    untrusted text.
    """

    scope: Scope
    path: Path
    installed: Installed
    detail: str = ""


def unified_diff(path: Path, before: bytes | None, after: bytes | None) -> str:
    """Return the difference as one hunk; None stands for a file that is not there.

    Only the lines between the common beginning and the common end are compared: a host's file can be large.
    """
    if before == after:
        return ""
    old, new = _lines(before), _lines(after)
    head = _common(old, new)
    tail = min(_common(old[::-1], new[::-1]), len(old) - head, len(new) - head)
    start, end = max(head - _CONTEXT, 0), max(tail - _CONTEXT, 0)
    old_part, new_part = old[start : len(old) - end], new[start : len(new) - end]
    body = list(difflib.unified_diff(old_part, new_part, n=len(old_part) + len(new_part)))[3:]
    header = f"@@ -{_range(start, len(old_part))} +{_range(start, len(new_part))} @@\n"
    names = f"--- {_name(path, before)}\n+++ {_name(path, after)}\n"
    return names + header + "".join(line if line.endswith("\n") else line + _NO_NEWLINE for line in body)


def _lines(data: bytes | None) -> list[str]:
    # Not splitlines(): that would also split at separators that may stand raw in a JSON string.
    lines = (data or b"").decode("utf-8", "replace").split("\n")
    return [line + "\n" for line in lines[:-1]] + [line for line in lines[-1:] if line]


def _common(one: list[str], other: list[str]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _range(start: int, length: int) -> str:
    return f"{start + 1 if length else start},{length}"


def _name(path: Path, data: bytes | None) -> str:
    return "/dev/null" if data is None else str(path)
