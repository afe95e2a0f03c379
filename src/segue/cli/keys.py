"""Single keys of a person at a terminal."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from segue.cli import output

if TYPE_CHECKING:
    from collections.abc import Callable

_TOGETHER = 0.05
_TOGETHER_UNFINISHED = 0.5
_UNFINISHED = re.compile(r"\x1b(\[[0-?]*[ -/]*|O)?")


def burst(read: Callable[[float | None], str]) -> str:
    """Read what was typed with one stroke or pasted at once; empty at the end of the input.

    `read` takes the seconds to wait (None: for ever) and returns what has come, empty for nothing. A cursor key is
    several characters, and a slow line hands them over one by one: its last one alone would pass for a letter.
    """
    typed = latest = read(None)
    while latest:
        latest = read(_TOGETHER_UNFINISHED if _UNFINISHED.fullmatch(typed) else _TOGETHER)
        typed += latest
    return typed


def pressed(prompt: str, keys: str) -> str:
    """Print `prompt` and return the first of `keys` that is pressed then; other keys are passed over.

    What was typed before the prompt stands there does not count: nobody has seen what it would be about. The end of
    the input is the last one of the keys. Raises KeyboardInterrupt for Ctrl-C.
    """
    if sys.platform == "win32":
        return _on_windows(prompt, keys)
    import os
    import select
    import termios
    import tty

    stream = sys.stdin.fileno()
    before = termios.tcgetattr(stream)

    def read(seconds: float | None) -> str:
        ready, _, _ = select.select([stream], [], [], seconds)
        return os.read(stream, 32).decode("utf-8", "replace") if ready else ""

    try:
        tty.setcbreak(stream, termios.TCSAFLUSH)
        output.prompt(prompt)
        while True:
            key = burst(read).lower() or keys[-1]
            if len(key) == 1 and key in keys:
                return key
    finally:
        termios.tcsetattr(stream, termios.TCSADRAIN, before)
        output.prompt("\n")


def _on_windows(prompt: str, keys: str) -> str:
    if sys.platform != "win32":
        raise AssertionError
    import msvcrt

    while msvcrt.kbhit():
        msvcrt.getwch()
    output.prompt(prompt)
    while True:
        key = msvcrt.getwch().lower()
        if key == "\x03":
            raise KeyboardInterrupt
        if key in keys:
            output.prompt("\n")
            return key
