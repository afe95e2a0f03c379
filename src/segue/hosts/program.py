"""Whether the program that an entry starts is there and answers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Answer = Literal["answers", "missing", "fails", "not tried"]

_PATIENCE_SECONDS = 10


def ask(program: str, environment: Mapping[str, str]) -> Answer:
    """Start `program --version`, a name on the search path or an absolute path, and say how it went.

    Only for a program that the user's own configuration names, or a plain name: whoever asks starts what is written.
    """
    found = shutil.which(program, path=environment.get("PATH"))
    if found is None or (Path(program).name != program and not Path(program).is_absolute()):
        return "missing"
    try:
        done = subprocess.run(
            [found, "--version"], env=dict(environment), capture_output=True, stdin=subprocess.DEVNULL,
            timeout=_PATIENCE_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return "fails"
    return "answers" if done.returncode == 0 else "fails"
