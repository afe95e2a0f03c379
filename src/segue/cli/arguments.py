"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.exceptions import TyperException

from segue.base import files, time
from segue.base.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from segue.app import Segue

EVERY_DAY = "Every day"
PACKETS = "Packets"
STORE = "Store"
MORE = "Agents and more"

_MAX_INPUT = 64 << 20
_LAST_MOMENT = 253_402_300_799_999_999

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on stdout, errors too.")]
Now = Annotated[
    str | None,
    typer.Option("--now", metavar="TIME", help="Take this RFC 3339 time for now (for replays and tests)."),
]
PacketId = Annotated[
    str, typer.Argument(metavar="ID", show_default=False, help="A packet's id, or an unambiguous ending of it.")
]
OptionalId = Annotated[
    str | None,
    typer.Argument(metavar="ID", show_default=False, help="A packet's id or its ending; else this project's newest."),
]
CoreOnly = Annotated[
    bool, typer.Option("--core-only", help="Look for the specification's ten patterns only, not the extended set.")
]
Copy = Annotated[bool, typer.Option("--copy", help="Also put it on the clipboard.")]


class Usage(TyperException):
    """Options that do not go together."""

    exit_code = 2


def clock(now: str | None) -> Callable[[], datetime]:
    """Return the clock that a command goes by: the system's, or one that stands at `now`."""
    if now is None:
        return time.utc_now
    try:
        instant = time.parse(now)
    except ValueError:
        raise InvalidInput("time.invalid", f"--now takes an RFC 3339 time, not {now[:40]!a}") from None
    if not 0 <= time.microseconds(instant) <= _LAST_MOMENT:
        raise InvalidInput("time.invalid", "--now takes a time between 1970 and 9999 in UTC")
    return lambda: instant


def opened(now: str | None = None) -> Segue:
    """Open the user's store."""
    import segue

    return segue.open(clock=clock(now), actor="cli")


def user_home() -> Path | None:
    """Return the user's own folder, None for a user who has none."""
    try:
        return Path.home()
    except RuntimeError:
        return None


def read_input(name: str) -> bytes:
    """Return the bytes of a file, or of standard input for `-`. Raises InvalidInput `file.read`."""
    if name == "-":
        if sys.stdin is None:
            raise InvalidInput("file.read", "there is no standard input to read")
        return sys.stdin.buffer.read(_MAX_INPUT)
    return files.read_bytes(Path(name), _MAX_INPUT)
