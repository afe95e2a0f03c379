"""ingest: memories made of files and folders, and of the packets and capsules of the store."""

from __future__ import annotations

import contextlib
import hashlib
import re
import sys
import tempfile
from datetime import UTC, timedelta, timezone, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from segue.base.errors import InvalidInput
from segue.base.untrusted import one_line
from segue.cli import output, progress
from segue.cli.arguments import MEMORIES, AsJson, Now, Usage, opened, policy, project_name, resumable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from segue.app import Segue
    from segue.conversions.interchange.formats import Format
    from segue.services.taking import Report

_SHOWN_PROBLEMS = 10
_PIECE = 1 << 20  # bytes
_STDIN = Path("-")
_ZONE = re.compile(r"([+-])(\d\d):([0-5]\d)", re.ASCII)
_SAID = {
    "new": "new",
    "merged": "said before",
    "known": "known",
    "replaced": "replaced",
    "retired": "gone from there",
    "forgotten": "forgotten before",
}


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel=MEMORIES)(ingest)


def ingest(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[PATH|-]...",
            show_default=False,
            help="Files and folders, `-` for standard input; without any, all packets and capsules of the store.",
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="chatgpt, claude, claude-code, codex, pam, basic-memory, mcp-memory, mem0, letta, packet, capsule or"
            " markdown; else what their content says.",
        ),
    ] = None,
    project: Annotated[
        str | None, typer.Option(metavar="NAME", help="The project of what names none; `.` is this one.")
    ] = None,
    mask: Annotated[bool, typer.Option("--mask", help="Mask secrets; else what holds one is passed over.")] = False,
    zone: Annotated[
        str, typer.Option(metavar="±HH:MM", help="The offset from UTC of times that name none.")
    ] = "+00:00",
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Make memories of notes, conversations and what other tools have exported. Once more adds nothing.

    Exit code 0, or 3 where something could not be read at all; the others are read all the same.
    """
    chosen, offset = _format(form), _zone(zone)
    wanted: list[Path | None] = list(paths) if paths else [None]
    if wanted.count(_STDIN) > 1:
        raise Usage("`-` can be read once")
    several = len(wanted) > 1
    with opened(now) as segue, resumable("read"):
        name = project_name(segue, project or "")
        done = []
        for path in wanted:
            done.append(_one(segue, path, chosen, name, offset, mask, alone=not several))
            if not as_json:
                _say(path, done[-1], several=several)
    if as_json:
        output.as_json({"ingested": [_to_json(path, each) for path, each in zip(wanted, done, strict=True)]})
    return 3 if any(map(_unread, done)) else 0


def _one(
    segue: Segue,
    path: Path | None,
    form: Format | None,
    project: str,
    zone: tzinfo,
    mask: bool,
    *,
    alone: bool,
) -> Report | InvalidInput:
    """Return what became of one path; of several, why one of them could not be read."""
    label = "the store" if path is None else _harmless(path.name or path)
    with progress.shown(label) as tell:
        if path is None:
            return segue.ingestion.stored(redaction=policy(mask), on_progress=tell)
        try:
            with _read(path) as (file, name):
                return segue.ingestion.ingest(
                    file, form=form, project=project, zone=zone, redaction=policy(mask), label=name, on_progress=tell
                )
        except InvalidInput as error:
            if alone:
                raise
            return error


@contextlib.contextmanager
def _read(path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the file that is to be read and the name of the source, "" for its own.

    Standard input is read to its end first: readers look more than once. It is a source by what it holds, so that one
    text replaces no other. Raises InvalidInput `file.read`, and what the reading raises, with the name that was given.
    """
    if path != _STDIN:
        yield path, ""
        return
    if sys.stdin is None:
        raise InvalidInput("file.read", "there is no standard input to read")
    with tempfile.TemporaryDirectory(prefix="segue-") as folder:
        piece = sys.stdin.buffer.read(_PIECE)
        if not piece:
            raise InvalidInput("import.empty", "standard input is empty")
        file = Path(folder, "stdin.json" if piece.lstrip().startswith((b"{", b"[")) else "stdin.md")
        digest = hashlib.sha256()
        with file.open("wb") as stream:
            while piece:
                digest.update(piece)
                stream.write(piece)
                piece = sys.stdin.buffer.read(_PIECE)
        try:
            yield file, f"stdin-{digest.hexdigest()[:16]}"
        except InvalidInput as error:
            raise InvalidInput(error.code, error.message.replace(str(file), "standard input"), error.details) from None


def _unread(done: Report | InvalidInput) -> bool:
    return isinstance(done, InvalidInput) or bool(done.passed_over and not done.counts.total())


def _say(path: Path | None, done: Report | InvalidInput, *, several: bool) -> None:
    if isinstance(done, InvalidInput):
        output.note(f"segue: {_harmless(done.message)}")
        return
    counts = {name: done.counts[name] for name in _SAID if done.counts[name] or name == "new"}
    line = ", ".join(f"{number:,} {_SAID[name]}" for name, number in counts.items())
    line += f"; {done.passed_over:,} passed over" if done.passed_over else ""
    output.data(f"{f'{_harmless(path)} ({done.form})' if several and path else done.form}: {line}")
    shown = done.problems[:_SHOWN_PROBLEMS]
    output.notes(f"  {one_line(each.place)}: {one_line(each.message)}" for each in shown)
    if done.passed_over > len(shown):
        output.note(f"  … and {done.passed_over - len(shown):,} more (--json names them)")


def _to_json(path: Path | None, done: Report | InvalidInput) -> dict[str, Any]:
    from segue.base.redaction import harmless
    from segue.services.taking import Report

    named = {"path": None if path is None else harmless(str(path)), "error": None}
    if isinstance(done, InvalidInput):
        error = {"code": done.code, "message": harmless(done.message), "details": done.details}
        return named | Report().to_json() | {"format": None, "error": error}
    return named | done.to_json()


def _harmless(text: object) -> str:
    from segue.base.redaction import harmless

    return one_line(harmless(str(text)))


def _format(name: str | None) -> Format | None:
    if name is None:
        return None
    from segue.base.redaction import shown
    from segue.conversions.interchange.formats import FORMATS

    for each in FORMATS:
        if each == name:
            return each
    raise InvalidInput("import.format", f"no format is called '{shown(name, 40)}'; there are {', '.join(FORMATS)}")


def _zone(text: str) -> tzinfo:
    match = _ZONE.fullmatch(text)
    if text in ("Z", "UTC"):
        return UTC
    if match is None or int(match[2]) > 23:
        from segue.base.redaction import shown

        raise InvalidInput("time.invalid", f"--zone takes an offset like +02:00, not '{shown(text, 40)}'")
    offset = timedelta(hours=int(match[2]), minutes=int(match[3]))
    return timezone(-offset if match[1] == "-" else offset)
