"""The person's own editor."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from segue.base import files
from segue.base.errors import Failed

if TYPE_CHECKING:
    from datetime import datetime


_STAMP = "%Y%m%dT%H%M%S"
_KEPT = re.compile(r"memory-\d{8}T\d{6}\.txt")


def edit(data: bytes, name: str, *, instead: str) -> bytes:
    """Let the person edit `data` in a file called `name` and return what they left.

    The editor is $VISUAL, else $EDITOR, else the first usual one that is installed; `instead` says what a person
    without one can do. Raises Failed `editor.missing` or `editor.failed`.
    """
    command = _editor(instead)
    with tempfile.TemporaryDirectory(prefix="segue-") as folder:
        file = Path(folder) / name
        file.touch(mode=0o600)
        file.write_bytes(data)
        try:
            code = subprocess.run([*command, str(file)], check=False).returncode
        except OSError as error:
            raise Failed("editor.failed", f"the editor {command[0]} did not start: {error.strerror}") from None
        if code != 0:
            raise Failed("editor.failed", f"the editor ended with {code}; nothing was saved")
        return file.read_bytes()


def keep(home: Path, data: bytes, now: datetime) -> Path:
    """Keep a text that was edited and refused, and return where."""
    kept = home / f"memory-{now.strftime(_STAMP)}.txt"
    files.write_bytes(kept, data)
    return kept


def kept_texts(home: Path, *, before: datetime | None = None) -> list[Path]:
    """Return the files that `keep` wrote, oldest first; with `before` those that are older than that."""
    found = sorted(each for each in home.glob("memory-*.txt") if _KEPT.fullmatch(each.name) and each.is_file())
    return [each for each in found if before is None or each.name < f"memory-{before.strftime(_STAMP)}.txt"]


def _editor(instead: str) -> list[str]:
    chosen = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if chosen and chosen.strip():
        try:
            return shlex.split(chosen)
        except ValueError:
            raise Failed("editor.failed", f"$EDITOR cannot be read ({chosen[:60]!a}); mend its quotes") from None
    for name in ("sensible-editor", "editor", "nano", "vim", "vi", "notepad"):
        if shutil.which(name):
            return [name]
    raise Failed("editor.missing", f"set EDITOR to your editor, or use {instead}")
