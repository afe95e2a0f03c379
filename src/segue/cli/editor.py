"""The person's own editor."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from segue.base.errors import Failed


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
