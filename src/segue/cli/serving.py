"""server: what an operator does for those who share a store over the network."""

from __future__ import annotations

import contextlib
import os
import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from segue.base import time
from segue.base.errors import InvalidInput
from segue.base.untrusted import one_line
from segue.cli import output
from segue.cli.arguments import MORE, AsJson, Limit, Now, Usage, clock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from segue.app import Segue
    from segue.services.accounts import Offboarded, TokenInfo

_FROM_NOW = re.compile(r"\s*\d{1,5}\s*[mhdw]\s*", re.ASCII)
_LEAST_WIDTHS = {"LAST USED": 100, "EXPIRES": 80, "MAY": 60}

Db = Annotated[
    str | None,
    typer.Option(
        "--db", metavar="URL", help="A path, sqlite:///FILE or postgresql+psycopg://…; else SEGUE_DB, else your store."
    ),
]
Rescan = Annotated[
    str, typer.Option(metavar="POLICY", help="What the server's own redactor refuses: core, extended or off.")
]


def register(app: typer.Typer) -> None:
    server = typer.Typer(
        no_args_is_help=True, help="Serve packets and memories to people and teams: users, tokens, upkeep."
    )
    from segue.cli.running import run

    for command in (init, run, issue_token, tokens, revoke, offboard, events, migrate, check, retention):
        server.command()(command)
    app.add_typer(server, name="server", rich_help_panel=MORE)


@contextlib.contextmanager
def opened(db: str | None, now: str | None) -> Iterator[Segue]:
    """Open the store that a server is to serve."""
    import segue

    with segue.open(db, clock=clock(now), actor="operator") as store:
        yield store


def init(db: Db = None, rescan: Rescan = "core", now: Now = None, as_json: AsJson = False) -> int:
    """Make the root user and print its token: once, and alone on stdout.

    Whatever clients let pass, the server refuses packets with secrets in them, unless --rescan says off.
    """
    with opened(db, now) as segue:
        token = segue.accounts.init(rescan=rescan)
        name = segue.store.name
    if as_json:
        output.as_json({"token": token, "store": name, "rescan": rescan})
        return 0
    output.data(token)
    output.note(f"This is the root token for {name}. It is shown this once; keep it as you keep a password.")
    output.note("Give each person one of their own with `segue server issue-token NAME`.")
    return 0


def issue_token(
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False, help="Whom or what it is for.")],
    email: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Whose it is: a user with that address gets another token.")
    ] = None,
    user: Annotated[
        str | None, typer.Option(metavar="USER", help="Whose it is, by id, address or name; `root` for the root user.")
    ] = None,
    expires: Annotated[
        str | None, typer.Option(metavar="TIME", help="Until when it is good: 2027-05-04, RFC 3339, or 90d from now.")
    ] = None,
    permission: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="read, propose, write or admin; may be repeated. Else read and write."),
    ] = None,
    db: Db = None,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Print a new token, alone on stdout: for the user who is named, or has that address, else for a new one."""
    if email is not None and user is not None:
        raise Usage("--email and --user both say whose it is; give one of them")
    from segue.services.callers import USUAL

    with opened(db, now) as segue:
        until = _moment(expires, segue.now()) if expires is not None else None
        allowed = tuple(permission or USUAL)
        token = segue.accounts.issue(name, email=email, user=user, expires=until, permissions=allowed)
    if as_json:
        output.as_json({"token": token, "expires_at": None if until is None else time.to_text(until)})
        return 0
    output.data(token)
    output.note("It is shown this once. Its owner runs `segue auth HOST`, and pastes it when asked.")
    return 0


def tokens(db: Db = None, now: Now = None, as_json: AsJson = False) -> int:
    """List all tokens: whose they are, what they may do, when each was used last. The tokens themselves are nowhere."""
    with opened(db, now) as segue:
        found, moment = segue.accounts.tokens(), segue.now()
    if as_json:
        output.as_json({"tokens": [each.to_json() for each in found]})
        return 0
    from segue.cli.table import print_table

    rows = [_row(each, moment) for each in found]
    print_table(rows, _LEAST_WIDTHS, empty="no tokens yet; `segue server init` makes the first")
    return 0


def _row(token: TokenInfo, now: datetime) -> dict[str, str]:
    return {
        "ID": token.id,
        "STATE": token.state,
        "MAY": ", ".join(token.permissions),
        "LAST USED": time.ago(token.last_used_at, now) if token.last_used_at else "never",
        "EXPIRES": time.to_text(token.expires_at)[:10] if token.expires_at else "never",
        "USER": one_line(token.display),
        "NAME": one_line(token.name),
    }


def revoke(
    token: Annotated[
        str, typer.Argument(metavar="ID", show_default=False, help="A token's id, or how it begins; see `tokens`.")
    ],
    db: Db = None,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Take a token back: from then on it is refused."""
    with opened(db, now) as segue:
        ended = segue.accounts.revoke(token)
    if as_json:
        output.as_json(ended.to_json())
        return 0
    output.data(f"revoked {ended.id}")
    output.note(f"It was {one_line(ended.display)}'s; what that person has stays. `offboard` ends all access.")
    return 0


def offboard(
    user: Annotated[
        str, typer.Argument(metavar="USER", show_default=False, help="A user's id, address or name; see `tokens`.")
    ],
    db: Db = None,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """End all tokens and memberships of somebody who leaves, and say what the person's packets become."""
    with opened(db, now) as segue:
        ended = segue.accounts.offboard(user)
    if as_json:
        output.as_json(ended.to_json())
        return 0
    output.data(f"offboarded {one_line(ended.display)} ({ended.user_id})")
    output.notes(_fate(ended))
    return 0


def _fate(ended: Offboarded) -> list[str]:
    ends = [output.counted(ended.invites, "open invite"), output.counted(ended.publications, "public page")]
    lines = [f"{output.counted(ended.tokens, 'token')} revoked, {' and '.join(ends)} ended"]
    lines.append(f"left: {', '.join(ended.left) or 'no team'}")
    lines += [f"the team {name} belongs to {heir} now" for name, heir in ended.handed_over.items()]
    lines.append(
        f"own packets: {ended.packets:,}; they stay where they are, and nobody else reads them. "
        f"In teams: {ended.team_packets:,}; they stay with the teams."
    )
    return lines


def events(
    whose: Annotated[
        str, typer.Argument(metavar="TEAM|USER", show_default=False, help="A team's name, or a user's id or address.")
    ],
    limit: Limit = 50,
    db: Db = None,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Show what happened in a team, or to a user and the user's own packets: the newest first, no contents."""
    from segue.services.paging import require_limit

    require_limit(limit)
    with opened(db, now) as segue:
        found = segue.tenancy.events(whose, limit)
    if as_json:
        told = [{"at": time.to_text(each.at), "kind": each.kind, "subject": each.subject} for each in found]
        more = ({"actor": each.actor, "details": each.details} for each in found)
        output.as_json({"events": [first | second for first, second in zip(told, more, strict=True)]})
        return 0
    for each in found:
        output.data(f"{time.to_text(each.at)}  {each.kind:<18}  {one_line(each.subject)}  by {one_line(each.actor)}")
    return 0


def migrate(db: Db = None, now: Now = None, as_json: AsJson = False) -> int:
    """Bring the database to this version's schema. Whoever opens it does that too; one process at a time does it."""
    from segue.location import default_location
    from segue.services import tenancy

    location = db if db is not None else default_location(os.environ)
    before = tenancy.revision(location)
    with opened(db, now) as segue:
        after, name = tenancy.HEAD, segue.store.name
    if as_json:
        output.as_json({"store": name, "before": before, "after": after})
        return 0
    if before == after:
        output.data(f"{name} has schema {after} already")
    else:
        output.data(f"{name} has schema {after} now" + (f", it had {before}" if before else ""))
    return 0


def check(db: Db = None, now: Now = None, as_json: AsJson = False) -> int:
    """Say whether the database answers, which schema it has, whether there is a root user, and how its clock goes.

    It changes nothing. Exit code 3 where something is not as it should be.
    """
    from segue.location import default_location
    from segue.services import tenancy

    health = tenancy.examine(db if db is not None else default_location(os.environ), clock(now))
    if as_json:
        output.as_json(health.to_json())
    else:
        schema = health.schema or "none"
        root = "yes" if health.root else "no"
        output.data(f"Database:  {health.database}\nSchema:    {schema}\nRoot user: {root}\nClock:     {health.clock}")
        output.notes(health.problems)
    return 3 if health.problems else 0


def retention(
    events: Annotated[
        int | None, typer.Option(min=1, max=36_500, metavar="DAYS", help="Also what the event log holds of before.")
    ] = None,
    db: Db = None,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Delete what is over: ended tokens and invites, answers older than a day, counts of past minutes.

    With --events also events that are older than so many days. To be run daily, by a timer.
    """
    with opened(db, now) as segue:
        before = None if events is None else segue.now() - timedelta(days=events)
        swept = segue.tenancy.sweep(events_before=before).to_json()
    if as_json:
        output.as_json(swept)
        return 0
    output.data("deleted " + ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in swept.items()))
    return 0


def _moment(text: str, now: datetime) -> datetime:
    """Return when something ends: a time, a day, or so long from now."""
    moment = time.parse_moment(text, now)
    try:
        return now + (now - moment) if _FROM_NOW.fullmatch(text) else moment
    except OverflowError:
        raise InvalidInput("time.invalid", "that is too far away") from None
