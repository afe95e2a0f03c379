"""source: memories of others, read from a folder or over HTTPS, and one's own published for others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from segue.base.errors import Refused, SegueError
from segue.base.untrusted import one_line
from segue.cli import output, progress, source_tokens
from segue.cli.arguments import MEMORIES, AsJson, Now, Usage, opened, project_name
from segue.cli.source_lines import (
    offer_lines,
    portrait,
    print_records,
    print_sources,
    problem_lines,
    publication_lines,
    record_lines,
    refreshed_line,
    served_as,
    written_lines,
)

if TYPE_CHECKING:
    from segue.app import Segue
    from segue.services.source_exporting import Written
    from segue.services.source_views import Offer, Refreshed

Place = Annotated[
    str, typer.Argument(metavar="DIR|URL", show_default=False, help="A folder, or an address that begins with https://")
]
Name = Annotated[str, typer.Argument(metavar="NAME", show_default=False, help="As `segue source ls` shows it.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do it without asking.")]
Bearer = Annotated[
    str | None,
    typer.Option(metavar="-", help="A token for the address: `-` asks for it, or reads it from standard input."),
]
Into = Annotated[Path | None, typer.Option("--into", metavar="DIR", help="The project's folder; else the current one.")]


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        no_args_is_help=True, help="Memories of others, read without being trusted; and one's own, published."
    )
    for command in (add, ls, refresh, show, check, rm, export, publish):
        group.command()(command)
    app.add_typer(group, name="source", rich_help_panel=MEMORIES)


def add(
    place: Place,
    name: Annotated[str, typer.Option(metavar="NAME", help="What to call it; else it is called after its place.")] = "",
    yes: Yes = False,
    bearer: Bearer = None,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Use the memories of a folder or an address from now on.

    An address is read only after you agreed to its origin and path, and used only after you saw what came; --yes says
    both. Nothing reads it again by itself: `segue source refresh` does.
    """
    with opened(now) as segue:
        source_tokens.require_hidden(bearer)
        kind, there = segue.sources.place(_place(place))
        asks = kind == "https" and not yes
        if asks:
            _consent(f"Read memories from {there}, and from nowhere else?")
        token = source_tokens.given(bearer, there)
        offer = _look(segue, there, name, token)
        if asks:
            output.notes(offer_lines(offer))
            _consent("Use them? They are somebody's claims, served under that name and trusted little.")
        done = segue.sources.add(offer)
        if token:
            source_tokens.keep(there, token)
    if as_json:
        output.as_json(done.to_json())
        return 0
    output.data(refreshed_line(done))
    output.notes(problem_lines(done.remarks))
    return 0


def _look(segue: Segue, there: str, name: str, token: str) -> Offer:
    with progress.shown("records") as tell:
        return segue.sources.look(there, name=name, bearer=token, on_progress=tell)


def _place(given: str) -> str:
    """A folder may be given relative to the current one, and may be a link; an address is as it is."""
    if "://" in given:
        return given
    path = Path(given).expanduser().absolute()
    return str(path.resolve() if ".." in path.parts else path)


def _consent(question: str) -> None:
    """Ask on the terminal. Raises Refused `source.consent` where nobody can be asked, or says no."""
    if not output.is_terminal():
        raise Refused("source.consent", "an address is read only with consent; ask at a terminal, or say --yes")
    if not typer.confirm(question, err=True):
        raise Refused("source.consent", "not agreed to; nothing was kept")


def ls(now: Now = None, as_json: AsJson = False) -> int:
    """List sources: how old each snapshot is, and why the last attempt to read it failed."""
    with opened(now) as segue:
        found = segue.sources.ls()
        moment = segue.now()
    if as_json:
        output.as_json({"sources": [each.to_json() for each in found]})
    else:
        print_sources(found, moment)
    return 0


def refresh(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", show_default=False, help="As `segue source ls` shows it.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Read all sources again.")] = False,
    bearer: Bearer = None,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Read a source again. All that it says now takes the place of what it said, or nothing changes.

    Where access is refused (401, 403), nothing of it is used until a later refresh succeeds.
    """
    if (name is None) != everything:
        raise Usage("give the name of a source, or --all")
    if everything and bearer is not None:
        raise Usage("--bearer is for one source")
    with opened(now) as segue:
        if name is not None:
            return _refresh_one(segue, name, bearer, as_json=as_json)
        return _refresh_all(segue, as_json=as_json)


def _refresh_one(segue: Segue, name: str, bearer: str | None, *, as_json: bool) -> int:
    place = segue.sources.get(name).stored.place
    token = source_tokens.given(bearer, place)
    try:
        done = _refreshed(segue, name, token or source_tokens.kept(place))
    except SegueError:
        if segue.sources.get(name).stored.withheld:
            _say_exports(segue.sources.exporting.rewrite([name]), as_json=as_json)
        raise
    if token:
        source_tokens.keep(place, token)
    exports = segue.sources.exporting.rewrite([name])
    if as_json:
        output.as_json(done.to_json() | {"exports": [each.to_json() for each in exports]})
    else:
        output.data(refreshed_line(done))
        output.notes(problem_lines(done.remarks))
        _say_exports(exports, as_json=as_json)
    return _failed(exports)


def _refresh_all(segue: Segue, *, as_json: bool) -> int:
    names = [each.name for each in segue.sources.ls()]
    refreshed: list[dict[str, Any]] = []
    failed: list[dict[str, Any]] = []
    code = 0
    for name in names:
        try:
            done = _refreshed(segue, name, source_tokens.kept(segue.sources.get(name).stored.place))
        except SegueError as error:
            failed.append({"name": name, "error": {"code": error.code, "message": error.message}})
            code = code or error.exit_code
            output.note(f"segue: {name}: {one_line(error.message)}")
            continue
        refreshed.append(done.to_json())
        if not as_json:
            output.data(refreshed_line(done))
    exports = segue.sources.exporting.rewrite(names)
    if as_json:
        listed = [each.to_json() for each in exports]
        output.as_json({"refreshed": refreshed, "failed": failed, "exports": listed})
    else:
        _say_exports(exports, as_json=as_json)
        if not names:
            output.note("no sources; `segue source add` reads one")
    return code or _failed(exports)


def _refreshed(segue: Segue, name: str, token: str) -> Refreshed:
    with progress.shown(one_line(name)) as tell:
        return segue.sources.refresh(name, bearer=token, on_progress=tell)


def _say_exports(exports: list[Written], *, as_json: bool) -> None:
    for each in exports:
        if each.fault is not None:
            output.note(f"segue: {one_line(each.path)}: {one_line(each.fault.message)}")
        elif each.state != "unchanged" and not as_json:
            output.note(f"{each.state} {one_line(each.path)}")


def _failed(exports: list[Written]) -> int:
    return next((each.fault.exit_code for each in exports if each.fault is not None), 0)


def show(
    name: Name,
    record: Annotated[
        str | None, typer.Argument(metavar="[RECORD]", show_default=False, help="A record's id; else all are listed.")
    ] = None,
    as_html: Annotated[bool, typer.Option("--html", help="Print the record as a page, sanitised.")] = False,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Show a source and its records, or one record with who says it. Nothing is read from the source for that."""
    if as_html and record is None:
        raise Usage("--html needs a record")
    with opened(now) as segue:
        if record is None:
            return _show_source(segue, name, as_json=as_json)
        found = segue.sources.record(name, record)
        moment = segue.now()
    if as_json:
        output.as_json(found.to_json())
    elif as_html:
        from segue.base import time
        from segue.sources import rendering

        kept = found.source.stored
        page = rendering.page(found.record, source=kept.name, place=kept.place, at=time.to_text(kept.refreshed_at))
        output.data(page.rstrip("\n"))
    else:
        output.data("\n".join(record_lines(found, moment)))
    return 0


def _show_source(segue: Segue, name: str, *, as_json: bool) -> int:
    from segue.services.source_views import record_json

    source = segue.sources.get(name)
    records = () if source.stored.withheld else segue.sources.records(name)
    now = segue.now()
    states = {each: served_as(memories[0], now) for each, memories in segue.sources.states(name).items()}
    if as_json:
        listed = [record_json(each) | {"status": states.get(each.id)} for each in records]
        output.as_json({"source": source.to_json(), "records": listed})
        return 0
    output.data("\n".join(portrait(source, now)) + "\n")
    if source.stored.withheld:
        output.note(f"{name} is withheld: it refused access, and nothing of it is used")
    else:
        print_records(records, states)
    return 0


def check(place: Place, bearer: Bearer = None, now: Now = None, as_json: AsJson = False) -> int:
    """Say everything that would fail if a folder or an address were a source, each with its rule. Keeps nothing.

    Exit code 0 for nothing, 4 where something is not permitted, else 3.
    """
    with opened(now) as segue:
        there = _place(place)
        token = source_tokens.given(bearer, there)
        with progress.shown("records") as tell:
            found = segue.sources.check(there, bearer=token, on_progress=tell)
    failing = [each for each in found if each.fails]
    if as_json:
        output.as_json({"place": there, "valid": not failing, "problems": [each.to_json() for each in found]})
    else:
        for line in problem_lines(found):
            output.data(line)
        if not failing:
            output.note(f"{one_line(there)} can be a source")
    return 4 if any(each.refused for each in failing) else 3 if failing else 0


def rm(name: Name, now: Now = None, as_json: AsJson = False) -> int:
    """Stop using a source: its memories, its records here and its blocks in other tools' files go.

    What you said yourself stays, also in the same words.
    """
    with opened(now) as segue:
        place = segue.sources.get(name).stored.place
        exports = segue.sources.exporting.rewrite([name], without=name)
        removed = segue.sources.rm(name)
        source_tokens.drop(place)
    if as_json:
        output.as_json(removed.to_json() | {"exports": [each.to_json() for each in exports]})
    else:
        output.data(f"removed {name} with {output.counted(removed.memories, 'memory', 'memories')}")
    _say_exports(exports, as_json=as_json)
    output.notes(
        f"segue: {one_line(each.path)} keeps what it says of {name}: delete that by hand, nothing changes it any more"
        for each in exports
        if each.fault is not None
    )
    return _failed(exports)


def export(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", show_default=False, help="Sources; all of them by default."),
    ] = None,
    to: Annotated[str, typer.Option(metavar="TOOL", show_default=False, help="claude-code or agents-md.")] = "",
    into: Into = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Also where somebody changed the block; a backup is kept.")
    ] = False,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Write the records of sources into a file that another tool reads, inside a block that Segue keeps.

    What stands outside the block stays as it is. `refresh` and `rm` keep the block up to date.
    """
    if not to:
        raise Usage("--to says which tool: claude-code or agents-md")
    from segue.sources.adapters import target_named

    target = target_named(to)
    with opened(now) as segue:
        wanted = names or [each.name for each in segue.sources.ls()]
        if not wanted:
            raise Refused("source.none", "there are no sources to export; `segue source add` reads one")
        done = segue.sources.exporting.write(wanted, target, into or segue.directory, replace=replace)
    if as_json:
        output.as_json({"exports": [done.to_json()]})
        return 0
    records = sum(len(each.shown.records) for each in done.sources)
    output.data(f"{done.state} {one_line(done.path)}: {output.counted(records, 'record')}")
    output.notes(written_lines(done))
    return 0


def publish(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", show_default=False, help="A new folder, or a source published before.")
    ],
    memory_ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", show_default=False, help="Ids of memories, or endings.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(metavar="TAG", help="Memories with this tag; may be repeated.")
    ] = None,
    project: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Memories of this project, `.` for this one.")
    ] = None,
    title: Annotated[str, typer.Option(metavar="TEXT", help="What the source is called for its readers.")] = "",
    description: Annotated[str, typer.Option(metavar="TEXT", help="What it is about.")] = "",
    yes: Yes = False,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Write memories of your own into a folder that others can read as a source, once you have looked at them.

    Only what you said and what holds is published, and nothing in which a secret or a local path is found.
    """
    with opened(now) as segue, output.echoed(as_json):
        from segue.services.source_publishing import require_free

        publishing = segue.sources.publishing
        require_free(directory.absolute())
        projects = [project_name(segue, each) for each in project or ()]
        made = publishing.prepare(
            *(memory_ids or ()), tags=tag or (), projects=projects, title=title, description=description
        )
        if not yes:
            output.notes(publication_lines(made))
            _confirm_publication()
        done = publishing.write(made, directory.absolute())
    if as_json:
        output.as_json(done.to_json() | made.to_json())
        return 0
    output.data(f"published {output.counted(len(made.drafts), 'record')} in {one_line(str(done.directory.resolve()))}")
    if done.removed:
        output.note(f"removed {output.counted(len(done.removed), 'file')} of the version before")
    return 0


def _confirm_publication() -> None:
    if not output.is_terminal():
        raise Refused("source.review", "what leaves is looked at first; do it at a terminal, or say --yes")
    if not typer.confirm("Write them? Others will read all of it.", err=True):
        raise Refused("source.review", "not agreed to; nothing was written")
