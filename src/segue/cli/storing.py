"""status, where, backup, restore and doctor: the store and the project that a folder belongs to."""

from __future__ import annotations

import os
import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segue.base import ids, time
from segue.base.errors import Failed, NotFound
from segue.base.untrusted import one_line
from segue.cli import continuity, output
from segue.cli.arguments import STORE, AsJson, Now, clock, opened
from segue.continuity.files import FOLDER

if TYPE_CHECKING:
    from segue.services.store import Copied


_URL = re.compile(r"[^/]*://|(?:sqlite|postgres(?:ql)?)(?:\+\w+)?:", re.IGNORECASE)
_PLACE = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[\w.\-,]*)(?::\d{1,5})?(?:/[^@:#]*)?")

_UNREADABLE = "store.corrupt"


def register(app: typer.Typer) -> None:
    for command in (status, where, backup, restore, doctor):
        app.command(rich_help_panel=STORE)(command)


def status(now: Now = None, as_json: AsJson = False) -> int:
    """Show the store, this project, its newest packet, and how many memories there are and wait for review."""
    with opened(now) as segue:
        project = segue.project
        try:
            newest = segue.packets.newest()
        except NotFound:
            newest = None
        counted = segue.packets.count()
        here = segue.packets.count(project=".")
        active = segue.memories.count(statuses=("active",))
        waiting = segue.memories.count(statuses=("pending",))
        candidates = len(continuity.waiting(segue))
        moment = segue.now()
        store = segue.store.name
    if as_json:
        shown = {"id": newest.id, "created_at": newest.created_at, "goal": newest.goal} if newest else None
        output.as_json(
            {"store": store, "packets": counted, "project": project.name, "project_key": project.key}
            | {"project_packets": here, "newest": shown, "memories": active, "memories_waiting": waiting}
            | {"candidates_waiting": candidates}
        )
        return 0
    lines = [f"Store:    {store} ({_count(counted)})", f"Project:  {one_line(project.name)} ({_count(here)})"]
    if newest:
        lines.append(f"Newest:   {ids.short(one_line(newest.id))}, {time.ago(newest.created, moment)}")
        lines.append(f"          {one_line(newest.goal)}")
    else:
        lines.append("Newest:   none yet; `segue save` makes one")
    waiting += candidates
    lines.append(f"Memories: {active:,}" + (f", {waiting:,} to review (`segue review`)" if waiting else ""))
    output.data("\n".join(lines))
    return 0


def shown_location(location: str | Path) -> str:
    """Return the path of an embedded store, or the URL of a database without what stands before its host.

    Of a URL that is none, only the scheme: nobody knows where its password is.
    """
    text = str(location)
    if text.startswith("sqlite:///") or not _URL.match(text):
        return text
    scheme, _, rest = text.partition(":")
    place = rest.partition("?")[0].removeprefix("//").rpartition("@")[2]
    return f"{scheme}://{place if rest.startswith('//') and _PLACE.fullmatch(place) else '…'}"


def _count(number: int, noun: str = "packet") -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def where(as_json: AsJson = False) -> int:
    """Explain which project this folder belongs to, and where things are stored."""
    from segue.location import current_directory, default_location, home
    from segue.services.projects import branch, identify

    project = identify(current_directory())
    places = {"store": shown_location(default_location(os.environ)), "home": str(home(os.environ))}
    if as_json:
        fields = asdict(project) | {"root": str(project.root), "branch": branch(project.root)} | places
        output.as_json(fields)
        return 0
    rows = {
        "Project": project.name,
        "Identity": project.key,
        "Decided by": project.source,
        "Ref": project.ref,
        "Branch": branch(project.root),
        "Root": str(project.root),
        "Store": places["store"],
        "Home": places["home"],
    }
    output.data("\n".join(f"{label + ':':<12}{one_line(value)}" for label, value in rows.items() if value))
    if not project.key.startswith("set:"):
        output.note("To name the project yourself, put `[project]` with an `id` into segue.toml in its root.")
    return 0


def backup(
    file: Annotated[
        Path | None, typer.Argument(show_default=False, help="The new file; else one in `backups` beside the store.")
    ] = None,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Write the whole store to one file, consistent while others go on writing."""
    with opened(now) as segue:
        copied = segue.store.backup(file)
        apart = segue.home / FOLDER
    if as_json:
        output.as_json(copied.to_json())
    else:
        output.data(str(copied.path))
        output.note(_contents(copied))
        if apart.is_dir():
            output.note(f"not in it: journals, receipts and handoffs of continuity; copy {one_line(str(apart))} too")
    return 0


def restore(
    file: Annotated[Path, typer.Argument(show_default=False, help="A file that `segue backup` wrote.")],
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Replace what the store holds by a backup. The state before is kept as a backup of its own."""
    try:
        with opened(now) as segue:
            copied = segue.store.restore(file)
    except Failed as error:
        copied = _replaced_damaged(error, file, now)
    if as_json:
        output.as_json(copied.to_json())
    else:
        output.data(f"restored {_contents(copied)}")
        output.notes([f"what was there before is kept in {copied.kept}"] if copied.kept else [])
    return 0


def _replaced_damaged(error: Failed, file: Path, now: str | None) -> Copied:
    """Restore an embedded store that is too damaged to be opened; any other failure is raised again."""
    from segue.location import default_location
    from segue.services.store import replace_damaged
    from segue.storage.location import embedded_path

    store = embedded_path(default_location(os.environ))
    if error.code != _UNREADABLE or store is None:
        raise error
    return replace_damaged(store, file, clock(now)())


def _contents(copied: Copied) -> str:
    nouns = {"packets": "packet", "capsules": "capsule", "memories": "memory"}
    shown = [output.counted(copied.counts[name], noun, name) for name, noun in nouns.items() if copied.counts.get(name)]
    return ", ".join(shown) or "an empty store"


def doctor(
    repair: Annotated[bool, typer.Option("--repair", help="Mend what can be mended.")] = False,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Examine the store. Exit code 0 healthy, 3 where something is left to mend."""
    try:
        with opened(now) as segue:
            found = segue.store.doctor(repair=repair)
            counted, memories = segue.packets.count(), segue.memories.count()
    except Failed as error:
        if error.code != _UNREADABLE:
            raise
        from segue.storage.findings import Finding

        found, counted, memories = [Finding(error.code, error.message)], 0, 0
    left = [each for each in found if not each.repaired]
    if as_json:
        holds = {"packets": counted, "memories": memories}
        output.as_json({"ok": not left} | holds | {"findings": [asdict(each) for each in found]})
        return 3 if left else 0
    for each in found:
        output.note(f"{'mended' if each.repaired else 'wrong'}: {each.message}")
    if any(each.code == _UNREADABLE for each in left):
        output.data(
            "the store cannot be mended; `segue restore FILE` puts a backup in its place and keeps the damaged file"
        )
    elif left:
        output.data(f"{len(left)} to mend" + ("" if repair else "; try `segue doctor --repair`"))
    else:
        output.data(f"healthy: {_count(counted)}, {output.counted(memories, 'memory', 'memories')}")
    return 3 if left else 0
