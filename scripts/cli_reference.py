"""Writes docs/cli.md, the reference of the command line, from the commands themselves; `--check` only compares."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import typer

from segue.cli.main import app

TARGET = Path(__file__).parents[1] / "docs" / "cli.md"
HEAD = """# Command line

<!-- Written by scripts/cli_reference.py; change the commands, then run `make docs`. -->

Data goes to stdout, everything for people to stderr. Every command that prints data takes `--json`; an error is then
`{"error": {"code", "message", "details"}}` on stdout. Exit codes: 0 done, 1 failed, 2 usage, 3 invalid input or
findings of `doctor`, 4 refused (redaction, conflict, no terminal), 5 not found or ambiguous.

An id may be shortened to any ending that only one has; lists print the last eight characters.
"""


def render() -> str:
    """Return the reference as Markdown."""
    command = typer.main.get_command(app)
    return HEAD + "".join(_section(each, name) for name, each in _leaves(command, "segue"))


def _leaves(command: Any, name: str) -> list[tuple[str, Any]]:
    children = getattr(command, "commands", None)
    if not children:
        return [(name, command)]
    return [leaf for child, each in children.items() for leaf in _leaves(each, f"{name} {child}")]


def _section(command: Any, name: str) -> str:
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    options = [param for param in command.params if param.param_type_name == "option" and param.name != "help"]
    usage = " ".join([name, *(_metavar(param) for param in arguments), *(["[OPTIONS]"] if options else [])])
    lines = [f"\n## {name}\n", f"    {usage}\n", _text(command.help) + "\n"]
    rows = [(_metavar(param), param.help) for param in arguments if param.help]
    rows += [(_names(param), _text(param.help or "")) for param in options]
    if rows:
        lines.append("| | |\n|---|---|")
        lines += [f"| `{_cell(left)}` | {_cell(_text(right))} |" for left, right in rows]
        lines.append("")
    return "\n".join(lines)


def _metavar(param: Any) -> str:
    given = str(param.metavar or param.name.upper())
    return given if param.required or given.startswith("[") else f"[{given}]"


def _names(param: Any) -> str:
    names = ", ".join(param.opts)
    return names if param.is_flag else f"{names} {param.metavar or 'TEXT'}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _text(text: str) -> str:
    paragraphs = re.split(r"\n\s*\n", text.strip())
    return "\n\n".join(" ".join(each.split()) for each in paragraphs)


def main() -> int:
    """Write the file, or compare it. Returns the exit code."""
    text = render()
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(text, encoding="utf-8")
        return 0
    if TARGET.exists() and TARGET.read_text(encoding="utf-8") == text:
        return 0
    print("docs/cli.md is not up to date: run `make docs`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
