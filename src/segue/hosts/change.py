"""What was done to a host's file, or would be, and how things stand there."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pathlib import Path

    from segue.hosts.host import Scope
    from segue.hosts.part import Kind
    from segue.hosts.program import Answer

Action = Literal["created", "changed", "unchanged", "removed"]
Installed = Literal["yes", "no", "other command", "unreadable"]

_CONTEXT = 3
_NO_NEWLINE = "\n\\ No newline at end of file\n"


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to the file at `path`, which holds that part.

    `created`: the file is new; `changed`: the part was written into it; `removed`: the part is gone from it (and the
    file too, where it held nothing else and there was none before); `unchanged`: no byte is different. `diff` is a
    unified diff, empty where nothing changed. `backup` is the file with the bytes from before, None where there is
    none. `note` says what a person has to know afterwards. `hooks` names the hooks that the file holds now.
    """

    part: Kind
    path: Path
    action: Action
    diff: str
    backup: Path | None
    note: str = ""
    hooks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """How things stand with one part in one scope of a host.

    `installed`: "other command" for an entry that starts something else, or Segue from another path. `detail` is the
    program of such an entry, why the file cannot be read, or what keeps hooks from running; it comes from the file:
    show it as untrusted text. `program` says whether the program of an entry of ours is there and answers; it is not
    tried where the entry is not ours, or a file that came with a project names it by a path. `differs` says whether an
    installation with the same hooks would change the file. `hooks` names the hooks that are installed.
    """

    scope: Scope
    part: Kind
    path: Path
    installed: Installed
    detail: str = ""
    program: Answer = "not tried"
    differs: bool = False
    hooks: tuple[str, ...] = ()


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
