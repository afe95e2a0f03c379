"""Single keys of a person at a terminal."""

from __future__ import annotations

import sys

from segue.cli import output


def pressed(prompt: str, keys: str) -> str:
    """Print `prompt` and return the first of `keys` that is pressed then; other keys are passed over.

    What was typed before the prompt stands there does not count: nobody has seen what it would be about. The end of
    the input is the last one of the keys. Raises KeyboardInterrupt for Ctrl-C.
    """
    if sys.platform == "win32":
        return _on_windows(prompt, keys)
    import os
    import termios
    import tty

    stream = sys.stdin.fileno()
    before = termios.tcgetattr(stream)
    try:
        tty.setcbreak(stream, termios.TCSAFLUSH)
        output.prompt(prompt)
        while True:
            read = os.read(stream, 32).decode("utf-8", "replace")  # an arrow key comes as several characters
            key = read.lower() if read else keys[-1]
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
