"""teams, invite, join: who shares packets with whom on the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from segue.base.errors import Refused
from segue.base.untrusted import one_line
from segue.cli import connecting, output, settings
from segue.cli.arguments import SHARING, AsJson, Usage
from segue.cli.connecting import TheTeam, connected
from segue.cli.table import print_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Name = Annotated[str, typer.Argument(metavar="TEAM", show_default=False, help="The team's name.")]


def register(app: typer.Typer) -> None:
    teams = typer.Typer(no_args_is_help=True, help="Teams of the host: who shares packets with whom.")
    for command in (create, rm, ls, members, remove, hand_over, policy, leave):
        teams.command()(command)
    app.add_typer(teams, name="teams", rich_help_panel=SHARING)
    app.command(rich_help_panel=SHARING)(invite)
    app.command(rich_help_panel=SHARING)(join)


def create(name: Name, as_json: AsJson = False) -> int:
    """Make a team that you own. Names are global to a host."""
    with connected() as host:
        team = host.create_team(name)
    if as_json:
        output.as_json({"team": {"id": team.id, "name": team.name, "owner_id": team.owner_id}})
    else:
        output.data(f"created {one_line(team.name)}")
        output.note(f"`segue invite -t {one_line(team.name)}` makes an address that brings somebody in")
    return 0


def rm(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
    as_json: AsJson = False,
) -> int:
    """Delete a team that you own, with its packets and memories."""
    if not yes:
        if not output.is_terminal():
            raise Refused("team.confirm", "this deletes the team's packets for everybody; say --yes")
        typer.confirm(f"Delete team {one_line(name)} with all its packets, for everybody?", abort=True, err=True)
    with connected() as host:
        host.rm_team(name)
    return _said({"deleted": name}, f"deleted {one_line(name)}", as_json=as_json)


def ls(as_json: AsJson = False) -> int:
    """List your teams, the oldest first."""
    with connected() as host:
        found = host.teams()
    columns = {"NAME": "name", "CREATED": "created_at", "OWNER": "owner_id"}
    return _listed("teams", found, columns, as_json=as_json)


def members(name: Name, as_json: AsJson = False) -> int:
    """List who belongs to a team, the oldest first."""
    with connected() as host:
        found = host.members(name)
    columns = {"USER": "user_id", "DISPLAY": "display", "ROLE": "role", "JOINED": "joined_at"}
    return _listed("members", found, columns, as_json=as_json)


def remove(
    name: Name,
    user_id: Annotated[str, typer.Argument(metavar="USER", show_default=False, help="As `teams members` shows it.")],
    as_json: AsJson = False,
) -> int:
    """Take somebody out of a team that you own."""
    with connected() as host:
        host.remove_member(name, user_id)
    told = f"removed {one_line(user_id)} from {one_line(name)}"
    return _said({"removed": user_id, "team": name}, told, as_json=as_json)


def hand_over(
    name: Name,
    user_id: Annotated[str, typer.Argument(metavar="USER", show_default=False, help="As `teams members` shows it.")],
    as_json: AsJson = False,
) -> int:
    """Make another member the owner of a team that you own; you stay a member."""
    with connected() as host:
        host.hand_over(name, user_id)
    told = f"{one_line(user_id)} owns {one_line(name)} now"
    return _said({"owner": user_id, "team": name}, told, as_json=as_json)


def policy(
    name: Name,
    redaction: Annotated[
        str, typer.Argument(metavar="POLICY", show_default=False, help="core, extended, or off for nothing.")
    ],
    as_json: AsJson = False,
) -> int:
    """Say what the host's own redactor refuses in a team that you own."""
    with connected() as host:
        host.set_redaction(name, redaction)
    told = f"the host refuses in {one_line(name)}: {one_line(redaction)}"
    return _said({"redaction": redaction, "team": name}, told, as_json=as_json)


def leave(name: Name, as_json: AsJson = False) -> int:
    """Leave a team; the next sync drops its copy here."""
    with connected() as host:
        host.leave(name)
    return _said({"left": name}, f"left {one_line(name)}", as_json=as_json)


def invite(
    team: TheTeam,
    listed: Annotated[bool, typer.Option("--list", help="List the team's invites.")] = False,
    revoke: Annotated[str | None, typer.Option(metavar="ID", help="Take an invite back.")] = None,
    as_json: AsJson = False,
) -> int:
    """Make an invite into a team: an address that is good once, for a week. Prints it."""
    if listed and revoke is not None:
        raise Usage("--list and --revoke do not go together")
    if listed:
        return _invites(team, as_json=as_json)
    with connected() as host:
        if revoke is not None:
            host.revoke_invite(team, revoke)
            return _said({"revoked": revoke}, f"revoked {one_line(revoke)}", as_json=as_json)
        made = host.invite(team)
    if as_json:
        output.as_json({"url": made.url, "expires_at": made.expires_at})
    else:
        output.data(one_line(made.url))
        output.note(f"expires: {one_line(made.expires_at)}")
    return 0


def _invites(team: str, *, as_json: bool) -> int:
    with connected() as host:
        found = host.invites(team)
    columns = {"ID": "id", "STATE": "state", "EXPIRES": "expires_at", "BY": "created_by"}
    return _listed("invites", found, columns, as_json=as_json)


def join(
    url: Annotated[
        str, typer.Argument(metavar="URL", show_default=False, help="An invite's address, or its code for your host.")
    ],
    display: Annotated[
        str, typer.Option("--name", metavar="NAME", help="How the team sees you, where you are new to the host.")
    ] = "",
    as_json: AsJson = False,
) -> int:
    """Come into a team by an invite. A token goes along only to the host that it is for.

    Whoever has none for that host gets one, which is kept for it.
    """
    from segue.client import addresses
    from segue.client.contract import PacketServer
    from segue.client.credentials import checked

    found = settings.read(connecting.home())
    kept = connecting.credentials(found)
    address = addresses.invite(url, found.host or None)
    credential = kept.get(address.host)
    if credential is None:
        kept.prepare()
    with PacketServer(address.host, credential.token if credential else None, timeout=found.timeout) as host:
        joined = host.accept(address.code, display)
    if joined.token is not None:
        kept.put(address.host, checked(joined.token))
        if not found.host:
            settings.put(connecting.home(), "host", address.host)
    told = {"host": address.host, "team": joined.team, "user": {"id": joined.user_id, "display": joined.display}}
    if as_json:
        output.as_json(told | {"new": joined.token is not None})
        return 0
    output.data(f"joined {one_line(joined.team)} at {address.host} as {one_line(joined.display or joined.user_id)}")
    if found.host not in ("", address.host):
        output.note(f"your host is {found.host}; `segue config set host {address.host}` makes it this one")
    else:
        output.note("`segue sync` brings the team's packets here")
    return 0


def _listed(what: str, found: Sequence[Any], columns: Mapping[str, str], *, as_json: bool) -> int:
    """Show what a host sent, a line each: `columns` names the attribute that each heading stands over."""
    if as_json:
        output.as_json({what: [each.to_json() for each in found]})
        return 0
    rows = [{title: one_line(getattr(each, name)) for title, name in columns.items()} for each in found]
    print_table(rows, {}, empty=f"no {what}")
    return 0


def _said(document: dict[str, str], text: str, *, as_json: bool) -> int:
    if as_json:
        output.as_json(document)
    else:
        output.data(text)
    return 0
