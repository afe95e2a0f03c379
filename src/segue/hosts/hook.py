"""The door that an agent host knocks at: `segue hook EVENT`, with the host's JSON on standard input.

Whatever goes wrong, the host goes on: one line on standard error, exit code 0, and on standard output nothing or one
JSON object. Nothing heavy is imported; each event's module is, when it is asked for.
"""

from __future__ import annotations

import contextlib
import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

import orjson

from segue.base import time
from segue.base.errors import InvalidInput, SegueError
from segue.base.untrusted import one_line, shorten
from segue.hosts.calling import Call
from segue.hosts.deadline import Expired, limited

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_INPUT = 8 * 1024 * 1024  # bytes
_PIECE = 65_536
_LINE = 300  # characters of what is said on standard error
# The module that answers each event, and the seconds that it has.
EVENTS: Mapping[str, tuple[str, float]] = {
    "session-start": ("segue.hosts.session_start", 8.0),
    "user-prompt-submit": ("segue.hosts.recall", 5.0),
    "pre-compact": ("segue.hosts.pre_compact", 20.0),
    "stop": ("segue.hosts.stop", 5.0),
}
_USAGE = f"usage: segue hook {'|'.join(EVENTS)} [--block] [--now TIME], with the host's JSON on standard input"


def main(arguments: Sequence[str]) -> int:
    """Answer one call from a host, on the process's own streams and environment. The exit code is always 0."""
    if not arguments or arguments[0] not in EVENTS:
        _note(_USAGE)
        return 0
    event, options = arguments[0], list(arguments[1:])
    try:
        with limited(EVENTS[event][1], lambda: _note(f"{event}: it took too long")):
            said, note = answer(event, options, read(), os.environ)
    except Expired:
        said, note = b"", f"{event}: it took too long"
    except KeyboardInterrupt:
        return 0
    if note:
        _note(note)
    _write(said)
    return 0


def answer(event: str, options: list[str], data: bytes, environment: Mapping[str, str]) -> tuple[bytes, str]:
    """Return what is printed for a call, and what is said on standard error; "" for nothing.

    Raises nothing for what `data` holds.
    """
    try:
        call = _call(options, data, environment)
        said: dict[str, Any] | None = import_module(EVENTS[event][0]).answer(call)
        return (orjson.dumps(said) if said else b""), ""
    except SegueError as error:
        return b"", f"{event}: {error.message}"
    except Exception as error:
        if environment.get("SEGUE_DEBUG"):
            raise
        return b"", f"{event}: internal error ({type(error).__name__})"


def _call(options: list[str], data: bytes, environment: Mapping[str, str]) -> Call:
    from segue.location import default_location
    from segue.transcripts.lines import BOM, parse_object

    if len(data) > MOST_INPUT:
        raise InvalidInput("hook.input", f"the host sent more than {MOST_INPUT} bytes")
    given = parse_object(data.removeprefix(BOM))
    if given is None:
        raise InvalidInput("hook.input", "standard input holds no JSON object")
    now, block = time.utc_now(), False
    while options:
        option = options.pop(0)
        if option == "--block":
            block = True
        elif option == "--now" and options:
            now = _time(options.pop(0))
        else:
            raise InvalidInput("hook.usage", _USAGE)
    return Call(given, environment, default_location(environment), now, block)


def _time(given: str) -> Any:
    try:
        return time.parse(given)
    except ValueError:
        raise InvalidInput("hook.usage", "--now takes a time as 2026-05-04T12:00:00Z") from None


def read() -> bytes:
    """Return what stands on standard input: to its end, or as soon as it is a whole JSON object.

    A host may forget to close it. At most one byte more than MOST_INPUT is returned.
    """
    from segue.transcripts.lines import parse_object

    data = bytearray()
    with contextlib.suppress(OSError):  # it is closed
        while len(data) <= MOST_INPUT and (piece := os.read(0, _PIECE)):
            data += piece
            if piece.rstrip().endswith(b"}") and parse_object(bytes(data)) is not None:
                break
    return bytes(data[: MOST_INPUT + 1])


def _note(message: str) -> None:
    with contextlib.suppress(OSError):
        os.write(2, f"segue: {shorten(one_line(message), _LINE)}\n".encode("utf-8", "backslashreplace"))


def _write(said: bytes) -> None:
    if not said:
        return
    with contextlib.suppress(OSError):  # nobody reads it
        left = memoryview(said + b"\n")
        while left:
            left = left[os.write(1, left) :]
