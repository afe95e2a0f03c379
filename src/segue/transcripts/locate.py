"""Where the newest recorded session of a project lies.

Claude Code keeps a directory for each working directory, named after it in a way that cannot be undone (section 1.1
of the host facts); Codex keeps all sessions in one tree by date (section 4.4). In both the working directory that
the lines name decides; the newest files are looked at first, and only the head of each.
"""

from __future__ import annotations

import os
import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from segue.base.files import open_ordinary
from segue.transcripts import codex, results
from segue.transcripts.lines import Records

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from segue.transcripts.lines import Record
    from segue.transcripts.reader import Host

MAX_OPENED = 200
MAX_LISTED = 5_000

_NAME_LIMIT = 200
_LONGEST_LINE = 1_048_576
_HEAD_RECORDS = 60
_TAIL_BYTES = 131_072
_ROLLOUT = re.compile(r"rollout-.*\.jsonl", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Found:
    """A recorded session: its file, the host that wrote it, and when it was last written to."""

    path: Path
    host: Host
    modified: datetime


def find_newest(
    project_dir: Path,
    claude_dir: Path | None,
    codex_home: Path | None,
    *,
    project_dir_name: str | None = None,
    worktrees: Sequence[Path] = (),
) -> Found | None:
    """Return the newest recorded session of the project, or None.

    `claude_dir` is Claude Code's configuration directory and `codex_home` that of Codex (None: not looked at).
    `project_dir_name` is the value of `CLAUDE_CODE_PROJECT_DIR_NAME`, where set. `worktrees` are further directories
    that count as the project. Sessions started below one of these directories count too; sessions of sub-agents do
    not. Directories that cannot be read count as empty.
    """
    roots = tuple(dict.fromkeys(_real(path) for path in (project_dir, *worktrees)))
    candidates: list[tuple[float, str, Path, Host, bool]] = []
    if claude_dir is not None:
        candidates += [(*item, "claude-code", exact) for item, exact in _of_claude(claude_dir, roots, project_dir_name)]
    if codex_home is not None:
        candidates += [(*item, "codex", False) for item in _of_codex(codex_home)]
    candidates.sort(key=lambda item: (-item[0], item[1]))
    for modified, _, path, host, exact in candidates[:MAX_OPENED]:
        belongs = _claude_belongs(path, roots, exact) if host == "claude-code" else _codex_belongs(path, roots)
        if belongs:
            return Found(path, host, datetime.fromtimestamp(modified, UTC))
    return None


def claude_project_name(directory: str) -> str:
    """Return the name that Claude Code gives to the directory of a project, before it is cut at 200 characters."""
    return re.sub(r"[^A-Za-z0-9]", "-", unicodedata.normalize("NFC", directory))


def _of_claude(
    claude_dir: Path, roots: Sequence[str], given_name: str | None
) -> Iterator[tuple[tuple[float, str, Path], bool]]:
    names = [claude_project_name(root).casefold() for root in roots]
    for directory in _entries(claude_dir / "projects"):
        name = directory.name.casefold()
        exact = name in names or (given_name is not None and name == given_name.casefold())
        if not exact and not any(_could_hold(name, wanted) for wanted in names):
            continue
        for file in _entries(Path(directory.path)):
            if file.name.endswith(".jsonl") and _is_uuid(file.name.removesuffix(".jsonl")):
                yield from ((item, exact) for item in _stamped(file))


def _could_hold(name: str, wanted: str) -> bool:
    """Whether the directory `name` may be the project's, under its cut name, or that of one of its sub-directories."""
    return name.startswith(wanted[:_NAME_LIMIT] + "-")


def _of_codex(codex_home: Path) -> Iterator[tuple[float, str, Path]]:
    listed = 0
    for folder in _codex_folders(codex_home):
        for file in _entries(folder):
            if _ROLLOUT.fullmatch(file.name):
                listed += 1
                yield from _stamped(file)
        if listed >= MAX_LISTED:
            return


def _codex_folders(codex_home: Path) -> Iterator[Path]:
    """Yield the folders of days, newest first, then that of archived sessions."""
    for year in _numbered(codex_home / "sessions"):
        for month in _numbered(year):
            yield from _numbered(month)
    yield codex_home / "archived_sessions"


def _numbered(folder: Path) -> list[Path]:
    return [Path(item.path) for item in reversed(_entries(folder)) if item.name.isascii() and item.name.isdigit()]


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _stamped(file: os.DirEntry[str]) -> Iterator[tuple[float, str, Path]]:
    try:
        if file.is_file():
            yield file.stat().st_mtime, file.path, Path(file.path)
    except OSError:
        return


def _claude_belongs(path: Path, roots: Sequence[str], exact: bool) -> bool:
    spoken = False
    for record in _head(path):
        cwd = record.get("cwd")
        if isinstance(cwd, str):
            return record.get("isSidechain") is not True and _inside(cwd, roots)
        spoken = spoken or record.get("type") in ("user", "assistant")
    return exact and spoken


def _codex_belongs(path: Path, roots: Sequence[str]) -> bool:
    directories: list[str] = []
    for record in _head(path):
        if _of_subagent(record):
            return False
        directories += _codex_cwds(record)
    if any(_inside(cwd, roots) for cwd in directories):
        return True
    return any(_inside(cwd, roots) for record in _tail(path) for cwd in _codex_cwds(record))


def _of_subagent(record: Record) -> bool:
    payload = record.get("payload")
    if record.get("type") != "session_meta" or not isinstance(payload, dict):
        return False
    source = payload.get("source")
    return isinstance(source, dict) and "subagent" in source


def _codex_cwds(record: Record) -> Iterable[str]:
    payload = record.get("payload")
    if isinstance(payload, dict):
        cwd = payload.get("cwd") if record.get("type") in ("session_meta", "turn_context") else None
    elif record.get("type") == "message" and record.get("role") == "user":
        cwd = codex.environment_cwd(results.text_of(record.get("content")))
    else:
        cwd = None
    return [cwd] if isinstance(cwd, str) else []


def _head(path: Path) -> Iterator[Record]:
    try:
        with open_ordinary(path) as file:
            yield from islice(Records(file, _LONGEST_LINE), _HEAD_RECORDS)
    except OSError:
        return


def _tail(path: Path) -> Iterator[Record]:
    try:
        with open_ordinary(path) as file:
            file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
            data = file.read(_TAIL_BYTES)
    except OSError:
        return
    yield from Records(data.split(b"\n"))


def _inside(directory: str, roots: Sequence[str]) -> bool:
    real = _real(directory)
    return any(real == root or real.startswith(root.rstrip(os.sep) + os.sep) for root in roots)


def _real(path: Any) -> str:
    try:
        real = os.path.realpath(path)
    except (OSError, ValueError):
        real = os.path.abspath(str(path).replace("\0", ""))  # noqa: PTH100 - pathlib would ask the disk again
    return os.path.normcase(unicodedata.normalize("NFC", real))


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text.lower()
    except ValueError:
        return False
