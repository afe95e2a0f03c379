"""push, pull, sync, publish, unpublish: packets to a host and from it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from segue.base import ids
from segue.base.errors import NotFound
from segue.base.untrusted import one_line, shorten
from segue.cli import output, progress
from segue.cli.arguments import SHARING, AsJson, CoreOnly, Now, opened, read_input, resumable
from segue.cli.connecting import Team, connected

if TYPE_CHECKING:
    from segue.app import Segue
    from segue.client.syncing import Conflict
    from segue.services.synced import Synced

_DRIFT = 3
_WIDTH = 60
_REASONS = {
    "changed_both": "changed here and on the host",
    "gone_here": "removed here, changed on the host",
    "gone_there": "removed on the host, changed here",
}

RemoteId = Annotated[str, typer.Argument(metavar="ID", show_default=False, help="The packet's id, as the host has it.")]
Replace = Annotated[bool, typer.Option("--replace", help="Put it in the place of another body under its id.")]
Unredacted = Annotated[
    bool, typer.Option("--allow-unredacted", help="Whatever the redactor finds here; the host may refuse it still.")
]


def register(app: typer.Typer) -> None:
    for command in (push, pull, sync, publish, unpublish):
        app.command(rich_help_panel=SHARING)(command)


def push(
    packet: Annotated[
        str, typer.Argument(metavar="FILE|ID|-", show_default=False, help="A file, or a packet of the store.")
    ],
    team: Team = None,
    replace_existing: Replace = False,
    allow_unredacted: Unredacted = False,
    core_only: CoreOnly = False,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Check a packet and store it on the host. Prints its id."""
    options: dict[str, Any] = {
        "team": team,
        "replace_existing": replace_existing,
        "allow_unredacted": allow_unredacted,
        "core_only": core_only,
    }
    with connected() as host, opened(now) as segue, output.echoed(as_json):
        if packet == "-" or Path(packet).is_file():
            stored = segue.delivery.send(host, read_input(packet), **options)
        else:
            try:
                stored = segue.delivery.push(host, packet, **options)
            except NotFound:
                if Path(packet).suffix:  # who names a file is told of the file
                    read_input(packet)
                raise
    if as_json:
        output.as_json({"id": stored.id, "host": host.address, "team": team})
    else:
        output.data(one_line(stored.id))
    return 0


def pull(
    packet_id: RemoteId,
    team: Team = None,
    replace_existing: Replace = False,
    allow_unredacted: Unredacted = False,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Fetch a packet from the host into the store. Prints its id; `segue show --raw` prints its bytes."""
    with connected() as host, opened(now) as segue, output.echoed(as_json):
        saved = segue.delivery.pull(
            host, packet_id, team=team, replace_existing=replace_existing, allow_unredacted=allow_unredacted
        )
    if as_json:
        output.as_json(saved.to_json())
        return 0
    output.notes(f"stored unredacted: {finding.kind}: {finding.found}" for finding in saved.findings)
    output.note(f"{saved.outcome}: {one_line(saved.packet.goal)}")
    output.data(saved.packet.id)
    return 0


def sync(
    delete: Annotated[
        bool, typer.Option("--delete", help="Remove on one side what was removed on the other; else it is shown.")
    ] = False,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Make your packets the same here and on the host, and bring your teams' packets here, to be read offline.

    What was changed on both sides stays as it is on both, and is shown; the exit code is 3 then. Stopped in between,
    the next sync goes on.
    """
    with connected() as host, opened(now) as segue, resumable("synced"), progress.shown("syncing") as tell:
        done = segue.syncing.sync(host, delete=delete, on_progress=tell)
    if as_json:
        output.as_json(done.to_json())
    else:
        output.data("\n".join(_summary(done)))
        output.notes(_left(done))
    return _DRIFT if done.conflicts else 0


def _summary(done: Synced) -> Iterator[str]:
    deleted = f", deleted {done.deleted:,}" if done.deleted else ""
    yield f"yours: pushed {done.pushed:,}, pulled {done.pulled:,}{deleted}, {done.unchanged:,} the same"
    for team in done.teams:
        removed = f", removed {team.removed:,}" if team.removed else ""
        yield f"team {one_line(team.name)}: pulled {team.pulled:,}{removed}, {team.unchanged:,} the same"
    yield from (f"dropped team {one_line(each)}: it is not yours any more" for each in done.dropped)
    yield from (_conflict(each) for each in done.conflicts)


def _conflict(each: Conflict) -> str:
    goal = f": {shorten(one_line(each.goal), _WIDTH)}" if each.goal else ""
    return f"conflict {one_line(each.id)} ({_REASONS[each.reason]}){goal}"


def _left(done: Synced) -> Iterator[str]:
    if done.conflicts:
        yield "Of each conflict, `segue pull ID --replace` takes the host's, `segue push ID --replace` gives yours."
    for each in done.held:
        whose = f" of team {one_line(each.team)}" if each.team else ""
        yield f"not taken over: {one_line(each.id)}{whose}: {one_line(each.message)}"
    for where, said in (("here", "removed here, still on the host"), ("host", "removed on the host, still here")):
        found = [ids.short(one_line(each.id)) for each in done.removed if each.where == where]
        if found:
            more = " …" if len(found) > 5 else ""
            yield f"{said}: {', '.join(found[:5])}{more}; `segue sync --delete` removes them there too"


def publish(packet_id: RemoteId, team: Team = None, as_json: AsJson = False) -> int:
    """Let anybody read a packet of the host who has its address. Prints the address."""
    with connected() as host, opened() as segue:
        full = _full(segue, packet_id)
        url = host.publish(full, team=team)
    if as_json:
        output.as_json({"id": full, "public_url": url or None})
    else:
        output.data(one_line(url) or f"published {one_line(full)}")
    return 0


def unpublish(packet_id: RemoteId, team: Team = None, as_json: AsJson = False) -> int:
    """Take the address of a published packet back for good."""
    with connected() as host, opened() as segue:
        full = _full(segue, packet_id)
        host.unpublish(full, team=team)
    if as_json:
        output.as_json({"unpublished": full})
    else:
        output.data(f"unpublished {one_line(full)}")
    return 0


def _full(segue: Segue, given: str) -> str:
    """The id that somebody means: an ending is one of a packet here; the host knows ids alone."""
    try:
        return segue.packets.stored(given).id
    except NotFound:
        return given
