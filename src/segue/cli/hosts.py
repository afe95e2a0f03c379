"""hosts: what is installed into an agent host."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from segue.base.errors import Failed, InvalidInput
from segue.base.untrusted import one_line, shorten
from segue.cli import output
from segue.cli.arguments import EVERY_DAY, AsJson, Usage, user_home

if TYPE_CHECKING:
    from collections.abc import Sequence

    from segue.hosts import Change, State, Surroundings
    from segue.hosts.host import Scope
    from segue.hosts.settings import Hook

_DIFF_WIDTH = 160
_PARTS = {"server": "entry", "hooks": "hooks"}
_ACTIONS = {
    "created": "written, with Segue's {part}",
    "changed": "Segue's {part} written into",
    "removed": "Segue's {part} taken out of",
    "unchanged": "unchanged",
}
_PLANS = {
    "created": "would write, with Segue's {part}",
    "changed": "would write Segue's {part} into",
    "removed": "would take Segue's {part} out of",
    "unchanged": "unchanged",
}

_HostName = Annotated[
    str, typer.Argument(metavar="HOST", show_default=False, help="claude-code, cursor, vscode or codex.")
]
_InProject = Annotated[bool, typer.Option("--project", help="In this project's files, which a team shares.")]
_ForUser = Annotated[bool, typer.Option("--user", help="In your own files, for all projects (the default).")]
_DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change and change nothing.")]
_Force = Annotated[bool, typer.Option("--force", help="Also touch an entry named segue that is not ours.")]
_NoHooks = Annotated[bool, typer.Option("--no-hooks", help="Without hooks; those that are installed go.")]
_WithRecall = Annotated[
    bool, typer.Option("--with-recall", help="Also a hook that brings what is new about each prompt.")
]
_WithGuard = Annotated[
    bool, typer.Option("--with-guard", help="Also a hook that warns of claims that something was saved.")
]
_Block = Annotated[bool, typer.Option("--block", help="With --with-guard: send the agent back once.")]


def register(app: typer.Typer) -> None:
    hosts = typer.Typer(no_args_is_help=True, help="Connect an agent host: install, uninstall, status, print.")
    for command in (install, uninstall, status):
        hosts.command()(command)
    hosts.command("print")(print_entry)
    app.add_typer(hosts, name="hosts", rich_help_panel=EVERY_DAY)


def _surroundings() -> Surroundings:
    from segue.hosts import Surroundings
    from segue.location import current_directory
    from segue.services.projects import identify

    project = identify(current_directory())
    # A folder alone is no project: a file there would be read by nobody.
    root = None if project.key.startswith("folder:") and not (project.root / ".git").exists() else project.root
    home = user_home()
    if home is None:
        raise Failed("home.missing", "this user has no home folder; set HOME to the folder with the hosts' files")
    return Surroundings(home=home, environment=os.environ, root=root, executable=_executable())


def _executable() -> str:
    """The absolute path of this program, for hosts that start it with a bare PATH."""
    started = Path(sys.argv[0])
    found = str(started.absolute()) if started.name == "segue" and started.is_file() else shutil.which("segue")
    return found or str(Path(sys.executable).with_name("segue"))


def _scope(in_project: bool, for_user: bool) -> Scope:
    if in_project and for_user:
        raise Usage("give --project or --user, not both")
    return "project" if in_project else "user"


def _hooks(*, without: bool, recall: bool, guard: bool, block: bool) -> Sequence[Hook] | None:
    """The hooks that the options ask for; None for the usual ones, where the host has any."""
    from segue import hosts

    if without and (recall or guard or block):
        raise Usage("--no-hooks leaves every hook out; give it alone")
    if block and not guard:
        raise Usage("--block goes with --with-guard")
    if without:
        return ()
    return hosts.chosen(recall=recall, guard=guard, block=block) if recall or guard else None


def install(
    host: _HostName,
    in_project: _InProject = False,
    for_user: _ForUser = False,
    with_recall: _WithRecall = False,
    with_guard: _WithGuard = False,
    block: _Block = False,
    no_hooks: _NoHooks = False,
    dry_run: _DryRun = False,
    force: _Force = False,
    as_json: AsJson = False,
) -> int:
    """Write Segue's MCP entry, and hooks for Claude Code, into the host's own files. All else there stays as it is."""
    from segue import hosts

    scope = _scope(in_project, for_user)
    wanted = _hooks(without=no_hooks, recall=with_recall, guard=with_guard, block=block)
    changes = hosts.install(host, scope, _surroundings(), hooks=wanted, force=force, dry_run=dry_run)
    _say(changes, dry_run=dry_run, as_json=as_json)
    return 0


def uninstall(
    host: _HostName,
    in_project: _InProject = False,
    for_user: _ForUser = False,
    dry_run: _DryRun = False,
    force: _Force = False,
    as_json: AsJson = False,
) -> int:
    """Take Segue's entry and hooks out of the host's files again."""
    from segue import hosts

    changes = hosts.uninstall(host, _scope(in_project, for_user), _surroundings(), force=force, dry_run=dry_run)
    _say(changes, dry_run=dry_run, as_json=as_json)
    return 0


def _say(changes: Sequence[Change], *, dry_run: bool, as_json: bool) -> None:
    if as_json:
        output.as_json({"dry_run": dry_run, "files": [_change(change) for change in changes]})
        return
    for change in changes:
        said = (_PLANS if dry_run else _ACTIONS)[change.action].format(part=_PARTS[change.part])
        hooks = f" ({one_line(', '.join(change.hooks))})" if change.hooks else ""
        output.data(f"{said}: {_shown(change.path)}{hooks}")
        if dry_run and change.diff:
            # A host may keep its whole configuration, secrets of others too, on one line.
            output.data("\n".join(shorten(line, _DIFF_WIDTH) for line in change.diff.rstrip("\n").split("\n")))
        elif change.backup:
            output.note(f"the file before: {_shown(change.backup)}")
        if change.note and not dry_run:
            output.note(change.note)


def _shown(path: Path) -> str:
    """A path on one line: folders have names with line feeds in them, too."""
    return one_line(str(path))


def _change(change: Change) -> dict[str, Any]:
    return {
        "part": change.part,
        "path": str(change.path),
        "action": change.action,
        "hooks": list(change.hooks),
        "diff": change.diff,
        "backup": str(change.backup) if change.backup else None,
        "note": change.note or None,
    }


def status(
    host: Annotated[str | None, typer.Argument(metavar="HOST", show_default=False, help="One host only.")] = None,
    as_json: AsJson = False,
) -> int:
    """Show where Segue is installed, whether the program there answers, and what an installation would change."""
    from segue import hosts

    around = _surroundings()
    states = {name: hosts.status(name, around) for name in ([host] if host else hosts.HOSTS)}
    if as_json:
        output.as_json({name: [_state(state) for state in found] for name, found in states.items()})
        return 0
    for name, found in states.items():
        for state in found:
            output.data(f"{name:<12} {state.scope:<8} {state.part:<7} {_standing(state)}  {_shown(state.path)}")
    return 0


def _standing(state: State) -> str:
    said = [", ".join(state.hooks), state.detail]
    if state.program in ("missing", "fails"):
        said.append("the program is missing" if state.program == "missing" else "the program does not answer")
    if state.differs:
        said.append("differs from what `install` writes")
    told = "; ".join(one_line(each) for each in said if each)
    return f"{state.installed} ({told})" if told else state.installed


def _state(state: State) -> dict[str, Any]:
    return {
        "scope": state.scope,
        "part": state.part,
        "path": str(state.path),
        "installed": state.installed,
        "detail": state.detail or None,
        "hooks": list(state.hooks),
        "program": state.program,
        "differs": state.differs,
    }


def print_entry(
    host: Annotated[
        str | None, typer.Argument(metavar="HOST", show_default=False, help="The text for this host's files.")
    ] = None,
    in_project: _InProject = False,
    for_user: _ForUser = False,
    with_recall: _WithRecall = False,
    with_guard: _WithGuard = False,
    block: _Block = False,
    no_hooks: _NoHooks = False,
    as_json: AsJson = False,
) -> int:
    """Print the entry for any other host, or the text for a host's files, to be put there by hand."""
    from segue import hosts

    around, scope = _surroundings(), _scope(in_project, for_user)
    wanted = _hooks(without=no_hooks, recall=with_recall, guard=with_guard, block=block)
    if host is None:
        if wanted:
            raise InvalidInput("hosts.no_hooks", "hooks are for one host: name it, or leave the options of hooks out")
        output.as_json(hosts.entry(scope, around))
        return 0
    files = hosts.preview(host, scope, around, hooks=wanted)
    if as_json:
        output.as_json({"files": [{"path": str(path), "text": text} for path, text in files]})
        return 0
    for path, text in files:
        output.note(f"for {_shown(path)}:")
        output.data(text.rstrip("\n"))
    return 0
