"""pin: the packs that were kept under their hash, listed, shown and removed."""

from __future__ import annotations

from typing import Annotated

import typer

from segue.base import ids, time
from segue.base.untrusted import one_line
from segue.cli import output
from segue.cli.arguments import CONTEXT, AsJson, Cursor, Limit, Now, opened
from segue.cli.table import print_table

Sha = Annotated[
    str, typer.Argument(metavar="SHA", show_default=False, help="A pack's hash, or an unambiguous ending of it.")
]
_LEAST = {"WHEN": 40, "SESSION": 70, "SIZE": 80}


def register(app: typer.Typer) -> None:
    pin = typer.Typer(no_args_is_help=True, help="List, show and remove pinned packs.")
    for command in (ls, show, rm):
        pin.command()(command)
    app.add_typer(pin, name="pin", rich_help_panel=CONTEXT)


def ls(limit: Limit = 50, cursor: Cursor = None, now: Now = None, as_json: AsJson = False) -> int:
    """List the pinned packs, last pinned first."""
    with opened(now) as segue:
        moment = segue.now()
        page = segue.pins.ls(limit=limit, cursor=cursor)
    if as_json:
        output.as_json(page.to_json())
        return 0
    rows = [
        {
            "SHA": ids.short(each.sha),
            "WHEN": time.ago(each.pinned_at, moment),
            "SIZE": f"{each.size:,}",
            "SESSION": one_line(each.session_id),
            "TASK": one_line(each.task),
        }
        for each in page.pins
    ]
    print_table(rows, _LEAST, empty="no pinned packs")
    if page.cursor:
        output.note(f"more: --cursor {page.cursor}")
    return 0


def show(sha: Sha, now: Now = None, as_json: AsJson = False) -> int:
    """Show what a pinned pack was asked for; `segue context --replay` prints it. Exit code 3 where it was changed."""
    with opened(now) as segue:
        moment = segue.now()
        found = segue.pins.show(sha)
    if as_json:
        output.as_json(found.to_json())
        return 0 if found.intact else 3
    output.data(found.pin.sha)
    if not found.intact:
        output.note("it is not as it was pinned and is not shown; `segue pin rm` removes it")
        return 3
    output.data(
        f"pinned {time.ago(found.pin.pinned_at, moment)}, {len(found.pin.body):,} bytes, "
        f"{output.counted(len(found.memories), 'memory', 'memories')}"
    )
    for name, value in sorted(found.pin.asked.items()):
        output.data(f"  {name}: {one_line(str(value))}")
    output.notes(f"  {each} was forgotten" for each in found.pin.forgotten)
    return 0


def rm(sha: Sha, now: Now = None, as_json: AsJson = False) -> int:
    """Remove a pinned pack. The memories in it stay."""
    with opened(now) as segue:
        removed = segue.pins.rm(sha)
    if as_json:
        output.as_json({"removed": removed})
    else:
        output.data(f"removed {removed}")
    return 0
