"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import contextlib
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.exceptions import TyperException

from segue.base import files, time
from segue.base.errors import Failed, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from segue.app import Segue
    from segue.services.cleaning import Policy

EVERY_DAY = "Every day"
PACKETS = "Packets"
MEMORIES = "Memories"
CONTEXT = "Context"
CONTINUITY = "Continuity"
SHARING = "Sharing"
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
TeamCopy = Annotated[
    str | None, typer.Option("--team", "-t", metavar="TEAM", help="In the copy of a team that `segue sync` keeps here.")
]
Copy = Annotated[bool, typer.Option("--copy", help="Also put it on the clipboard.")]

MemoryId = Annotated[
    str, typer.Argument(metavar="ID", show_default=False, help="A memory's id, or an unambiguous ending of it.")
]
Text = Annotated[
    str, typer.Argument(metavar="TEXT|-", show_default=False, help="The text; `-` reads it from standard input.")
]
Kind = Annotated[
    str | None,
    typer.Option(
        metavar="KIND",
        help="claim, decision, event, preference, observation, action, question, summary, style, negative, procedure or"
        " constraint; else what the layer says.",
    ),
]
Layer = Annotated[
    str | None,
    typer.Option(
        metavar="LAYER",
        help="semantic, episodic, style, decision, preference, negative or procedural; else what the kind says.",
    ),
]
Entity = Annotated[
    list[str] | None, typer.Option(metavar="NAME", help="Whom or what it is about; may be given more than once.")
]
Tag = Annotated[list[str] | None, typer.Option(metavar="TAG", help="A tag; may be given more than once.")]
Project = Annotated[
    str | None, typer.Option(metavar="NAME", help="The project that it belongs to; `.` is this one, none by default.")
]
OccurredAt = Annotated[
    str | None, typer.Option(metavar="TIME", help="When it happened: 2026-05-04, RFC 3339, or 7d for a week ago.")
]
Confidence = Annotated[float | None, typer.Option(metavar="0..1", help="How sure it is.")]
Mask = Annotated[bool, typer.Option("--mask", help="Mask secrets that are found in it; else it is refused.")]

Kinds = Annotated[list[str] | None, typer.Option("--kind", metavar="KIND", help="Only this kind; may be repeated.")]
Layers = Annotated[list[str] | None, typer.Option("--layer", metavar="LAYER", help="Only this layer; may be repeated.")]
Entities = Annotated[
    list[str] | None, typer.Option("--entity", metavar="NAME", help="Only what names this entity; may be repeated.")
]
Tags = Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="Only with this tag; may be repeated.")]
Projects = Annotated[
    list[str] | None,
    typer.Option("--project", metavar="NAME", help="Only of this project, `.` for this one; may be repeated."),
]
Since = Annotated[
    str | None, typer.Option(metavar="TIME", help="Only what happened from then on: 2026-05-04, RFC 3339 or 7d.")
]
Until = Annotated[str | None, typer.Option(metavar="TIME", help="Only what happened before then.")]
MinTrust = Annotated[float | None, typer.Option(metavar="0..1", help="Only what is trusted that far.")]
Limit = Annotated[int, typer.Option(metavar="N", help="How many at most, 1 to 500.")]
Cursor = Annotated[str | None, typer.Option(help="Go on where an earlier list ended.")]


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
        from segue.base.redaction import shown

        raise InvalidInput("time.invalid", f"--now takes an RFC 3339 time, not '{shown(now, 40)}'") from None
    if not 0 <= time.microseconds(instant) <= _LAST_MOMENT:
        raise InvalidInput("time.invalid", "--now takes a time between 1970 and 9999 in UTC")
    return lambda: instant


def opened(now: str | None = None, *, embedder: str = "", team: str | None = None) -> Segue:
    """Open the user's store, or the copy of a team in it; `embedder` is another than the store's own."""
    import segue

    own = segue.open(clock=clock(now), actor="cli", embedder=embedder)
    if team is None:
        return own
    try:
        return own.team(team)
    except BaseException:
        own.close()
        raise


def holding(segue: Segue, packet_id: str) -> Segue:
    """Return who has the packet that a person means: the user, else the copy of a team that has it, by name."""
    from segue.base.errors import Ambiguous, NotFound

    replicas = segue.replicas.ls()
    for each in (segue, *map(segue.copy_of, replicas)) if replicas else ():
        try:
            each.packets.stored(packet_id)
        except Ambiguous:
            return each
        except NotFound:
            continue
        return each
    return segue


def user_home() -> Path | None:
    """Return the user's own folder, None for a user who has none."""
    try:
        return Path.home()
    except RuntimeError:
        return None


def read_input(name: str) -> bytes:
    """Return the bytes of a file, or of standard input for `-`: all of them, or none.

    Raises InvalidInput `file.read`, `file.size` for more than 64 MiB: cut short it would be another text.
    """
    if name != "-":
        data = files.read_bytes(Path(name), _MAX_INPUT)
    elif sys.stdin is None:
        raise InvalidInput("file.read", "there is no standard input to read")
    else:
        data = sys.stdin.buffer.read(_MAX_INPUT + 1)
    if len(data) > _MAX_INPUT:
        raise InvalidInput("file.size", f"there is more to read than {_MAX_INPUT:,} bytes")
    return data


def read_text(text: str) -> str:
    """Return a text that was given, or standard input for `-`. Raises InvalidInput `file.encoding`."""
    if text != "-":
        return text
    try:
        return read_input(text).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput("file.encoding", "standard input is no UTF-8 text") from None


def policy(mask: bool) -> Policy | None:
    """Return what becomes of a text with a secret in it: None leaves that to the store."""
    return "mask" if mask else None


def project_name(segue: Segue, given: str) -> str:
    """Return the name of a project; `.` is the one of this folder."""
    return segue.project.name if given == "." else given


def details(
    segue: Segue,
    *,
    kind: str | None,
    layer: str | None,
    entity: list[str] | None,
    tag: list[str] | None,
    project: str | None,
    confidence: float | None,
    **times: str | None,
) -> dict[str, Any]:
    """Return what a person said about a memory as the services take it, without what was not given."""
    given = {"kind": kind, "layer": layer, "entities": entity or None, "tags": tag or None, "confidence": confidence}
    found: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if project is not None:
        found["project"] = project_name(segue, project)
    for name, value in times.items():
        if value is not None:
            found[name] = time.parse_moment(value, segue.now()) if value else None
    return found


def filters(
    moment: datetime, *, since: str | None, until: str | None, min_trust: float | None, **lists: list[str] | None
) -> dict[str, Any]:
    """Return filters as the services take them, without what was not given."""
    found: dict[str, Any] = {name: values for name, values in lists.items() if values}
    found |= {
        name: time.parse_moment(value, moment)
        for name, value in (("since", since), ("until", until))
        if value is not None
    }
    return found if min_trust is None else found | {"minimum_trust": min_trust}


@contextlib.contextmanager
def resumable(noun: str) -> Iterator[None]:
    """Say of work in many transactions that was stopped, or failed, that what is done is done.

    Raises Failed `cli.stopped`, or what the store failed with.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise Failed("cli.stopped", f"stopped; what was {noun} until then is kept, run it again to go on") from None
    except Failed as error:
        from segue.storage import failures

        raise failures.resumable(error, noun) from error
