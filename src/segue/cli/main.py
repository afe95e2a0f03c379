"""The command tree, and what happens around every command: streams, errors, exit codes."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Annotated, TextIO

import typer
from typer.exceptions import Abort, TyperException

from segue.base.errors import SegueError
from segue.cli import agents, chains, inspection, listing, output, saving, storing

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
for register in (
    saving.register,
    agents.register_hosts,
    listing.register,
    chains.register,
    inspection.register,
    saving.register_prompt,
    storing.register,
    agents.register,
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
    if arguments == ["--version"]:  # the one call that scripts make in loops
        print_version()
        return 0
    try:
        code = _dispatch(arguments)
        _flush()
    except BrokenPipeError:
        _abandon(sys.stdout)
        return 0  # the reader had enough
    except OSError as error:
        _abandon(sys.stdout)
        output.note(f"segue: {error.strerror or error}")
        return 1
    return code


def _dispatch(arguments: list[str]) -> int:
    as_json = "--json" in arguments
    command = typer.main.get_command(app)
    try:
        code = command.main(saving.with_continue_value(arguments), prog_name="segue", standalone_mode=False)
    except SegueError as error:
        return _report(error.code, error.message, error.details, error.exit_code, as_json=as_json)
    except Abort:
        return _report("cli.aborted", "stopped; nothing was changed", {}, 1, as_json=as_json)
    except TyperException as error:
        return _usage(error, as_json=as_json)
    return code if isinstance(code, int) else 0


def _usage(error: TyperException, *, as_json: bool) -> int:
    code = int(getattr(error, "exit_code", 2))
    if as_json or not hasattr(error, "show"):
        said = error.format_message() if hasattr(error, "format_message") else str(error)
        return _report("cli.usage", said, {}, code, as_json=as_json)
    with contextlib.redirect_stdout(sys.stderr):
        error.show()
    return code


def _report(code: str, message: str, details: dict[str, object], exit_code: int, *, as_json: bool) -> int:
    if as_json:
        output.as_json({"error": {"code": code, "message": message, "details": details}})
        _flush()
    else:
        output.note(f"segue: {message}")
    return exit_code


def _prepare_streams() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]


def _flush() -> None:
    if sys.stdout is not None:
        sys.stdout.flush()


def _abandon(stream: TextIO | None) -> None:
    """Point a stream that takes no more at nothing, so that the interpreter's last flush is silent."""
    if stream is not None:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
