"""hosts, mcp and demo: what agents use, and a first look for people."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segue.base.errors import Failed, InvalidInput
from segue.base.untrusted import one_line, shorten
from segue.cli import output
from segue.cli.arguments import EVERY_DAY, MORE, AsJson, Usage, user_home

if TYPE_CHECKING:
    from segue.hosts import Change, Surroundings
    from segue.hosts.host import Scope

_DIFF_WIDTH = 160
_ACTIONS = {
    "created": "written, with Segue's entry",
    "changed": "Segue's entry written into",
    "removed": "Segue's entry taken out of",
    "unchanged": "unchanged",
}
_PLANS = {
    "created": "would write, with Segue's entry",
    "changed": "would write Segue's entry into",
    "removed": "would take Segue's entry out of",
    "unchanged": "unchanged",
}

_HostName = Annotated[str, typer.Argument(metavar="HOST", show_default=False, help="claude-code or cursor.")]
_InProject = Annotated[bool, typer.Option("--project", help="In this project's file, which a team shares.")]
_ForUser = Annotated[bool, typer.Option("--user", help="In your own file, for all projects (the default).")]
_DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change and change nothing.")]
_Force = Annotated[bool, typer.Option("--force", help="Also touch an entry named segue that is not ours.")]


def register_hosts(app: typer.Typer) -> None:
    hosts = typer.Typer(no_args_is_help=True, help="Connect an agent host: install, uninstall, status.")
    for command in (install, uninstall, status):
        hosts.command()(command)
    app.add_typer(hosts, name="hosts", rich_help_panel=EVERY_DAY)


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel=MORE)(mcp)
    app.command(rich_help_panel=MORE)(demo)


def _surroundings() -> Surroundings:
    from segue.app import current_directory
    from segue.hosts import Surroundings
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


def install(
    host: _HostName,
    in_project: _InProject = False,
    for_user: _ForUser = False,
    dry_run: _DryRun = False,
    force: _Force = False,
    as_json: AsJson = False,
) -> int:
    """Write Segue's MCP entry into the host's own configuration. Everything else in the file stays as it is."""
    from segue import hosts

    change = hosts.install(host, _scope(in_project, for_user), _surroundings(), force=force, dry_run=dry_run)
    _say(change, dry_run=dry_run, as_json=as_json)
    return 0


def uninstall(
    host: _HostName,
    in_project: _InProject = False,
    for_user: _ForUser = False,
    dry_run: _DryRun = False,
    force: _Force = False,
    as_json: AsJson = False,
) -> int:
    """Take Segue's entry out of the host's configuration again."""
    from segue import hosts

    change = hosts.uninstall(host, _scope(in_project, for_user), _surroundings(), force=force, dry_run=dry_run)
    _say(change, dry_run=dry_run, as_json=as_json)
    return 0


def _say(change: Change, *, dry_run: bool, as_json: bool) -> None:
    if as_json:
        output.as_json(
            {
                "path": str(change.path),
                "action": change.action,
                "dry_run": dry_run,
                "diff": change.diff,
                "backup": str(change.backup) if change.backup else None,
                "note": change.note or None,
            }
        )
        return
    output.data(f"{(_PLANS if dry_run else _ACTIONS)[change.action]}: {change.path}")
    if dry_run and change.diff:
        # A host may keep its whole configuration, secrets of others too, on one line.
        output.data("\n".join(shorten(line, _DIFF_WIDTH) for line in change.diff.rstrip("\n").split("\n")))
    elif change.backup:
        output.note(f"the file before: {change.backup}")
    if change.note and not dry_run:
        output.note(change.note)


def status(
    host: Annotated[str | None, typer.Argument(metavar="HOST", show_default=False, help="One host only.")] = None,
    as_json: AsJson = False,
) -> int:
    """Show where Segue is installed."""
    from segue import hosts

    around = _surroundings()
    states = {name: hosts.status(name, around) for name in ([host] if host else hosts.HOSTS)}
    if as_json:
        output.as_json(
            {
                name: [
                    {"scope": s.scope, "path": str(s.path), "installed": s.installed, "detail": s.detail or None}
                    for s in found
                ]
                for name, found in states.items()
            }
        )
        return 0
    for name, found in states.items():
        for state in found:
            detail = f" ({one_line(state.detail)})" if state.detail else ""
            output.data(f"{name:<12} {state.scope:<8} {state.installed}{detail}  {state.path}")
    return 0


def mcp(
    project_dir: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The project's folder, where the host starts this elsewhere.")
    ] = None,
) -> int:
    """Serve agents over stdio (MCP). Hosts start this by themselves; see `segue hosts install`."""
    from segue.app import current_directory
    from segue.mcp.server import serve

    chosen = project_dir or os.environ.get("CLAUDE_PROJECT_DIR") or current_directory()
    if not Path(chosen).is_dir():
        raise InvalidInput("directory.invalid", f"there is no folder {chosen}; name the project's folder")
    if output.is_terminal():
        output.note("serving MCP over stdin and stdout; an agent host starts this by itself. Ctrl-D ends it.")
    serve(None, Path(chosen))
    return 0


def demo(
    part: Annotated[
        str, typer.Argument(metavar="[context]", show_default=False, help="Show context packs instead.")
    ] = "",
    as_json: AsJson = False,
) -> int:
    """Hand a session over, or give a model its context, for real, in a store that is gone afterwards."""
    import tempfile

    from segue.cli import demonstration_context
    from segue.cli.demonstration import run

    if part not in ("", "context"):
        raise InvalidInput("demo.part", f"there is `segue demo` and `segue demo context`, not {part[:40]!a}")
    if part:
        return demonstration_context.run(as_json=as_json)

    with tempfile.TemporaryDirectory(prefix="segue-demo-") as folder:
        return run(Path(folder), as_json=as_json)
