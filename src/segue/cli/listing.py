"""ls, show and rm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from segue.base import ids, time
from segue.base.untrusted import one_line, shorten
from segue.cli import output
from segue.cli.arguments import PACKETS, AsJson, Now, PacketId, TeamCopy, holding, opened
from segue.cli.table import print_table

if TYPE_CHECKING:
    from datetime import datetime

    from segue.storage.packet_lines import Listed

_GOAL_WIDTH = 72
_LEAST = {"CREATED": 40, "PROJECT": 70}


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel=PACKETS)(ls)
    app.command(rich_help_panel=PACKETS)(show)
    app.command(rich_help_panel=PACKETS)(rm)


def ls(
    project: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only this project: a name or ref, `.` for the current one.")
    ] = None,
    tag: Annotated[str | None, typer.Option(help="Only packets with this tag.")] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only packets from this time on: 2026-05-04, RFC 3339 or 7d.")
    ] = None,
    search: Annotated[
        str | None, typer.Option(metavar="WORDS", help="Only packets that hold words which begin with each of these.")
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="How many at most, 1 to 500.")] = 50,
    cursor: Annotated[str | None, typer.Option(help="Go on where an earlier list ended.")] = None,
    team: TeamCopy = None,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """List packets, newest first."""
    with opened(now, team=team) as segue:
        moment = segue.now()
        bound = time.parse_moment(since, moment) if since else None
        page = segue.packets.ls(project=project, tag=tag, since=bound, search=search, limit=limit, cursor=cursor)
    if as_json:
        output.as_json(page.to_json())
    else:
        print_table([_cells(each, moment) for each in page.packets], _LEAST, empty="no packets")
        if page.cursor:
            output.note(f"more: --cursor {page.cursor}")
    return 0


def line(listed: Listed, now: datetime) -> str:
    """Return one packet as a line: short id, age, goal."""
    return f"{ids.short(one_line(listed.id))}  {_age(listed, now)}  {shorten(one_line(listed.goal), _GOAL_WIDTH)}"


def _cells(each: Listed, now: datetime) -> dict[str, str]:
    return {
        "ID": ids.short(one_line(each.id)),
        "CREATED": _age(each, now),
        "PROJECT": one_line(each.project_name or each.project_ref),
        "GOAL": one_line(each.goal),
    }


def _age(listed: Listed, now: datetime) -> str:
    return time.ago(time.from_microseconds(listed.created_us), now)


def show(
    packet_id: PacketId,
    raw: Annotated[bool, typer.Option("--raw", help="Print the stored bytes.")] = False,
    team: TeamCopy = None,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Show a packet with every field it has: one of yours, else of a team whose copy is here."""
    from segue.packets import summary

    with opened(now, team=team) as own:
        segue = holding(own, packet_id) if team is None else own
        stored = segue.packets.stored(packet_id)
        if raw or as_json:
            output.stored_bytes(stored.body)
            return 0
        packet = segue.packets.get(stored.id)
        notes = [f"Revision:   {stored.revision}"] if stored.revision > 1 else []
        notes += ["Flagged:    stored with findings (--allow-unredacted)"] if stored.flagged else []
        output.data(summary.render(packet, segue.now(), notes))
    return 0


def rm(packet_id: PacketId, now: Now = None, as_json: AsJson = False) -> int:
    """Remove a packet for good. An ending of its id must have four characters here."""
    with opened(now) as segue:
        removed = segue.packets.rm(packet_id)
    if as_json:
        output.as_json({"deleted": removed.id, "goal": removed.goal})
    else:
        output.data(f"deleted {one_line(removed.id)}")
        output.note(f"it was: {shorten(one_line(removed.goal), _GOAL_WIDTH)}")
    return 0
