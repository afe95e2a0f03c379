"""check and example: packets without a store. They start fast and import no database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segue.cli import output
from segue.cli.arguments import PACKETS, AsJson, CoreOnly, Usage, read_input

if TYPE_CHECKING:
    from segue.packets.checking import Report

_DRAFT = "as a draft it is fine: `segue save` fills in id and created_at"


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel=PACKETS)(check)
    app.command(rich_help_panel=PACKETS)(example)


def check(
    file: Annotated[
        str, typer.Argument(metavar="FILE|-", show_default=False, help="A packet; `-` reads standard input.")
    ],
    fix: Annotated[
        bool, typer.Option("--fix", help="Replace each finding by [redacted:…]: in FILE, or on stdout for `-`.")
    ] = False,
    to: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="With --fix: write to this file instead.")
    ] = None,
    parent: Annotated[
        str | None, typer.Option(metavar="FILE", help="The packet that it continues: method names are compared.")
    ] = None,
    core_only: CoreOnly = False,
    as_json: AsJson = False,
) -> int:
    """Check a packet and store nothing. Exit code 0 clean, 3 invalid, 4 findings only."""
    from segue.packets import checking, schema

    if to is not None and not fix:
        raise Usage("--output goes with --fix")
    data = read_input(file)
    above = schema.parse(read_input(parent)) if parent is not None else None
    report = checking.check(data, core_only=core_only, parent=above)
    # A packet without findings passes through where the result goes elsewhere: into a pipe, or another file.
    if fix and report.document is not None and (report.findings or to or file == "-"):
        return _fix(report, file, to, core_only=core_only, as_json=as_json)
    if as_json:
        output.as_json(report.to_json())
    else:
        _print_report(report)
    return report.exit_code


def _print_report(report: Report) -> None:
    state = "invalid" if report.errors else "valid"
    version = f" v{report.version}" if report.version else ""
    output.data(f"{state}{version} packet, {report.bytes:,} bytes")
    output.notes(f"error: {each.message}" for each in report.errors)
    if report.is_draft:
        output.note(_DRAFT)
    if report.findings:
        texts = "text" if len(report.findings) == 1 else "texts"
        output.note(f"{len(report.findings)} redactable {texts} that nobody else should see:")
        output.notes(f"  • {finding.kind}: {finding.found}" for finding in report.findings)
        output.note("replace what was found with `segue check --fix`, or reword it")
    output.notes(f"warning: {each.path}: {each.message}" for each in report.warnings)


def _fix(report: Report, file: str, to: str | None, *, core_only: bool, as_json: bool) -> int:
    """Write the packet with every finding replaced, and say what was replaced. The result is checked once more."""
    from segue.base import files, jsontext
    from segue.packets import checking

    assert report.document is not None  # noqa: S101 - the caller saw to it
    document, replaced = checking.mask(report.document, core_only=core_only)
    fixed = jsontext.dump(document, indent=True)
    again = checking.check(fixed, core_only=core_only)
    if again.packet is not None:
        fixed = again.packet.canonical
    target = to or (None if file == "-" else file)
    if target is not None:
        path = Path(target)
        files.write_bytes(path, fixed + b"\n", mode=path.stat().st_mode & 0o777 if path.exists() else 0o600)
    elif not as_json:
        output.stored_bytes(fixed)
    if as_json:
        kinds = [{"kind": each.kind, "found": each.found} for each in replaced]
        text = None if target is not None else fixed.decode()
        output.as_json(again.to_json() | {"replaced": kinds, "written": target, "packet": text})
    else:
        output.notes(f"replaced {finding.kind}: {finding.found}" for finding in replaced)
        output.notes(f"left: {finding.kind}: give the packet another value there" for finding in again.findings)
        output.notes(f"error: {each.message}" for each in again.errors)
        if again.is_draft:
            output.note(_DRAFT)
    return again.exit_code


def example(
    resume: Annotated[bool, typer.Option("--resume", help="Print its resume block instead.")] = False,
    as_json: AsJson = False,
) -> int:
    """Print a valid example packet, offline."""
    from segue import examples
    from segue.packets import schema
    from segue.packets.resume import render

    data = examples.read(examples.SECOND)
    if resume and as_json:
        packet = schema.parse(data)
        output.as_json({"id": packet.id, "resume": render(packet)})
    elif resume:
        output.data(render(schema.parse(data)).rstrip("\n"))
    else:
        output.stored_bytes(schema.parse(data).canonical)
    return 0
