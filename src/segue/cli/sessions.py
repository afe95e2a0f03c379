"""session: what conversations were told, shown and forgotten."""

from __future__ import annotations

from typing import Annotated

import typer

from segue.base import time
from segue.base.untrusted import one_line
from segue.cli import output
from segue.cli.arguments import CONTEXT, AsJson, Cursor, Limit, Now, opened
from segue.cli.table import print_table

SessionId = Annotated[str, typer.Argument(metavar="ID", show_default=False, help="The name of the conversation.")]


def register(app: typer.Typer) -> None:
    session = typer.Typer(no_args_is_help=True, help="Show and reset what a conversation was told.")
    for command in (ls, show, reset):
        session.command()(command)
    app.add_typer(session, name="session", rich_help_panel=CONTEXT)


def ls(limit: Limit = 50, cursor: Cursor = None, now: Now = None, as_json: AsJson = False) -> int:
    """List the conversations, last used first."""
    with opened(now) as segue:
        moment = segue.now()
        page = segue.sessions.ls(limit=limit, cursor=cursor)
    if as_json:
        output.as_json(page.to_json())
        return 0
    rows = [
        {
            "ID": one_line(each.session_id),
            "USED": time.ago(each.updated_at, moment),
            "TURNS": f"{each.turn}",
        }
        for each in page.sessions
    ]
    print_table(rows, {}, empty="no conversations")
    if page.cursor:
        output.note(f"more: --cursor {page.cursor}")
    return 0


def show(session_id: SessionId, now: Now = None, as_json: AsJson = False) -> int:
    """Show what a conversation was told."""
    with opened(now) as segue:
        moment = segue.now()
        found = segue.sessions.show(session_id)
    if as_json:
        output.as_json(found.to_json())
        return 0
    output.data(
        f"{one_line(found.session_id)}: turn {found.state.turn}, cursor {found.state.cursor}, "
        f"{output.counted(len(found.state.known), 'memory', 'memories')} known, "
        f"last used {time.ago(found.updated_at, moment)}"
    )
    for ref, each in found.state.known.items():
        output.data(f"  {ref}  last in turn {each.turn}")
    return 0


def reset(session_id: SessionId, now: Now = None, as_json: AsJson = False) -> int:
    """Forget what a conversation was told: its next call is its first."""
    with opened(now) as segue:
        known = segue.sessions.reset(session_id)
    if as_json:
        output.as_json({"session_id": session_id, "reset": known})
    else:
        output.note("forgotten; its next call is its first" if known else "there was no such conversation")
    return 0
