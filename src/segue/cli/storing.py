"""status, where, backup, restore and doctor: the store and the project that a folder belongs to."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from segue.base import ids, time
from segue.base.errors import NotFound
from segue.base.untrusted import one_line
from segue.cli import output
from segue.cli.arguments import STORE, AsJson, Now, opened


def register(app: typer.Typer) -> None:
    for command in (status, where, backup, restore, doctor):
        app.command(rich_help_panel=STORE)(command)


def status(now: Now = None, as_json: AsJson = False) -> int:
    """Show the store, this project, and its newest packet."""
    with opened(now) as segue:
        project = segue.project
        try:
            newest = segue.packets.newest()
        except NotFound:
            newest = None
        counted = segue.packets.count()
        here = segue.packets.count(project=".")
        moment = segue.now()
        store = segue.store.name
    if as_json:
        shown = {"id": newest.id, "created_at": newest.created_at, "goal": newest.goal} if newest else None
        output.as_json(
            {"store": store, "packets": counted, "project": project.name, "project_key": project.key}
            | {"project_packets": here, "newest": shown}
        )
        return 0
    lines = [f"Store:    {store} ({_count(counted)})", f"Project:  {one_line(project.name)} ({_count(here)})"]
    if newest:
        lines.append(f"Newest:   {ids.short(one_line(newest.id))}, {time.ago(newest.created, moment)}")
        lines.append(f"          {one_line(newest.goal)}")
    else:
        lines.append("Newest:   none yet; `segue save` makes one")
    output.data("\n".join(lines))
    return 0


def _count(number: int) -> str:
    return f"{number} packet" + ("" if number == 1 else "s")


def where(as_json: AsJson = False) -> int:
    """Explain which project this folder belongs to, and where things are stored."""
    with opened() as segue:
        project, store, home = segue.project, segue.store.name, segue.home
    if as_json:
        fields = asdict(project) | {"root": str(project.root), "store": store, "home": str(home)}
        output.as_json(fields)
        return 0
    rows = {
        "Project": project.name,
        "Identity": project.key,
        "Decided by": project.source,
        "Ref": project.ref,
        "Branch": project.branch,
        "Root": str(project.root),
        "Store": store,
        "Home": str(home),
    }
    output.data("\n".join(f"{label + ':':<12}{one_line(value)}" for label, value in rows.items() if value))
    output.note("To name the project yourself, put `[project]` with an `id` into segue.toml in its root.")
    return 0


def backup(
    file: Annotated[
        Path | None, typer.Argument(show_default=False, help="The new file; else one in `backups` in Segue's home.")
    ] = None,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Write the whole store to one file, consistent while others go on writing."""
    with opened(now) as segue:
        copied = segue.store.backup(file)
    if as_json:
        output.as_json(copied.to_json())
    else:
        output.data(str(copied.path))
        output.note(f"{_count(copied.packets)}, {copied.events} events")
    return 0


def restore(
    file: Annotated[Path, typer.Argument(show_default=False, help="A file that `segue backup` wrote.")],
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Replace what the store holds by a backup. The state before is kept as a backup of its own."""
    with opened(now) as segue:
        copied = segue.store.restore(file)
    if as_json:
        output.as_json(copied.to_json())
    else:
        output.data(f"restored {_count(copied.packets)}")
        output.notes([f"what was there before is kept in {copied.kept}"] if copied.kept else [])
    return 0


def doctor(
    repair: Annotated[bool, typer.Option("--repair", help="Mend what can be mended.")] = False,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Examine the store. Exit code 0 healthy, 3 where something is left to mend."""
    with opened(now) as segue:
        found = segue.store.doctor(repair=repair)
        counted = segue.packets.count()
    left = [each for each in found if not each.repaired]
    if as_json:
        output.as_json({"ok": not left, "packets": counted, "findings": [asdict(each) for each in found]})
        return 3 if left else 0
    for each in found:
        output.note(f"{'mended' if each.repaired else 'wrong'}: {each.message}")
    if left:
        output.data(f"{len(left)} to mend" + ("" if repair else "; try `segue doctor --repair`"))
    else:
        output.data(f"healthy: {_count(counted)}")
    return 3 if left else 0
