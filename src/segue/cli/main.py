"""The command tree, and what happens around every command: streams, errors, exit codes."""

from __future__ import annotations

import contextlib
import os
import sys
from functools import cache
from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import Abort, TyperException

from segue.base.errors import SegueError
from segue.base.untrusted import one_line
from segue.cli import (
    agents,
    capsules,
    chains,
    continuity,
    entities,
    guard,
    handoffs,
    hosting,
    hosts,
    ingesting,
    inspection,
    listing,
    memories,
    output,
    packing,
    pins,
    receipts,
    remembering,
    reviewing,
    saving,
    searching,
    serving,
    sessions,
    signing,
    sources,
    storing,
    teams,
    tending,
    transferring,
)

_HELP = """Portable memory for AI agents: save where the work stands, resume it anywhere.

Start with `segue demo`, then `segue hosts install claude-code`.
"""

app = typer.Typer(
    name="segue",
    help=_HELP,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_tree = cache(typer.main.get_command)  # made once, however often a process runs commands
for register in (
    saving.register,
    hosts.register,
    listing.register,
    chains.register,
    inspection.register,
    saving.register_prompt,
    capsules.register,
    remembering.register,
    searching.register,
    packing.register,
    sessions.register,
    pins.register,
    reviewing.register,
    memories.register,
    entities.register,
    remembering.register_forget,
    ingesting.register,
    sources.register,
    continuity.register,
    receipts.register,
    handoffs.register,
    guard.register,
    signing.register,
    hosting.register,
    teams.register,
    storing.register,
    transferring.register,
    tending.register,
    agents.register,
    serving.register,
):
    register(app)


@app.callback()
def _main(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False,
) -> None:
    if version:
        print_version()
        raise typer.Exit


def print_version() -> None:
    """Print the version alone on stdout."""
    from segue import __version__

    output.data(__version__)


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code (0 done, 1 failed, 2 usage, 3 invalid, 4 refused, 5 not found)."""
    _prepare_streams()
    try:
        code = _dispatch(arguments)
        _flush()
    except BrokenPipeError:
        output.abandon(sys.stdout)
        return 0  # the reader had enough
    except OSError as error:
        output.abandon(sys.stdout)
        return _report("cli.io", str(error.strerror or error), {}, 1, as_json=False)
    return code


def _dispatch(arguments: list[str]) -> int:
    if arguments == ["--version"]:  # the one call that scripts make in loops
        print_version()
        return 0
    as_json = "--json" in arguments
    command = _tree(app)
    try:
        code = command.main(saving.with_continue_value(arguments), prog_name="segue", standalone_mode=False)
    except SegueError as error:
        return _report(error.code, error.message, error.details, error.exit_code, as_json=as_json)
    except Abort:
        return _report("cli.aborted", "stopped; nothing was changed", {}, 1, as_json=as_json)
    except TyperException as error:
        return _usage(error, as_json=as_json)
    except OSError:
        raise
    except Exception as error:
        if os.environ.get("SEGUE_DEBUG"):
            raise
        message = f"internal error ({type(error).__name__}); please report it. SEGUE_DEBUG=1 shows where it happened"
        return _report("cli.internal", message, {}, 1, as_json=as_json)
    except SystemExit as error:  # Typer's own answer to a pipe without reader
        raise BrokenPipeError from error
    return code if isinstance(code, int) else 0


def _usage(error: TyperException, *, as_json: bool) -> int:
    error.message = _harmless(error.message)
    # A missing argument is usage; a value of the wrong type or range is invalid input.
    value = isinstance(error, typer.BadParameter) and not hasattr(error, "param_type")
    code, exit_code = ("cli.value", 3) if value else ("cli.usage", error.exit_code)
    if as_json or not hasattr(error, "show"):
        return _report(code, error.format_message(), {}, exit_code, as_json=as_json)
    with output.people_may_be_gone(), contextlib.redirect_stdout(sys.stderr):
        error.show()
    return exit_code


def _report(code: str, message: str, details: dict[str, object], exit_code: int, *, as_json: bool) -> int:
    message = _harmless(message)
    if as_json:
        try:
            output.as_json({"error": {"code": code, "message": message, "details": details}})
            _flush()
        except BrokenPipeError:  # the error's exit code stands, whoever reads it
            output.abandon(sys.stdout)
    else:
        output.note(f"segue: {one_line(message)}")
        further = details.get("errors")
        if isinstance(further, list):
            output.notes(f"also: {one_line(str(each['message']))}" for each in further[1:] if "message" in each)
    return exit_code


def _harmless(message: str) -> str:
    """A message repeats what was typed, and people paste a key where a name belongs."""
    from segue.base.redaction import harmless

    return harmless(message)


def _prepare_streams() -> None:
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started this
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - open until the end
        getattr(sys, name).reconfigure(encoding="utf-8", errors="backslashreplace")


def _flush() -> None:
    sys.stdout.flush()
