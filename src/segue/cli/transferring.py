"""export and import: the whole store as JSON Lines, and back."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from segue.base import files
from segue.base.errors import InvalidInput
from segue.base.untrusted import one_line
from segue.cli import output, progress
from segue.cli.arguments import STORE, AsJson, Now, Usage, opened, resumable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from segue.app import Segue
    from segue.services.transfer import Loaded

_SHOWN_PROBLEMS = 10


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel=STORE)(export)
    app.command("import", rich_help_panel=STORE)(import_)


def export(
    file: Annotated[
        str, typer.Argument(metavar="[FILE|-]", show_default=False, help="The file to write; else standard output.")
    ] = "-",
    as_json: AsJson = False,
) -> int:
    """Write all packets, capsules and memories as JSON Lines, which `segue import` reads into any store.

    Events and what search keeps do not travel. The same content gives the same bytes.
    """
    if file == "-" and as_json:
        raise Usage("--json goes with a FILE; standard output gets the lines")
    with opened() as segue:
        counts = _to_stdout(segue) if file == "-" else _to_file(segue, Path(file))
    if as_json:
        output.as_json({"path": _harmless(file), "counts": counts})
    else:
        if file != "-":
            output.data(_harmless(file))
        output.note(_listed(counts) or "an empty store")
    return 0


def _harmless(name: str) -> str:
    from segue.base.redaction import harmless

    return harmless(name)


def _to_stdout(segue: Segue) -> dict[str, int]:
    return segue.transfer.export(lambda line: output.stored_bytes(line.removesuffix(b"\n")))


def _to_file(segue: Segue, path: Path) -> dict[str, int]:
    with files.staged(path) as partial, partial.open("wb") as stream:
        return segue.transfer.export(stream.write)


def import_(
    file: Annotated[
        str, typer.Argument(metavar="FILE|-", show_default=False, help="What `segue export` wrote; `-` reads it.")
    ],
    allow_unredacted: Annotated[
        bool, typer.Option("--allow-unredacted", help="Take what was stored with findings on purpose.")
    ] = False,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Add what an export holds to the store. What is there already stays as it is.

    Exit code 0, or 3 where lines were not taken because they break a rule or say something else than the store.
    """
    label = one_line(_harmless(Path(file).name))
    with opened(now) as segue, resumable("imported"), _opened(file) as stream, progress.shown(label) as tell:
        done = segue.transfer.load(_lines(stream), allow_unredacted=allow_unredacted, on_progress=tell)
    if as_json:
        output.as_json(done.to_json())
    else:
        _say(done)
    return 3 if done.refused or done.conflicting else 0


def _opened(file: str) -> AbstractContextManager[IO[bytes]]:
    if file == "-":
        if sys.stdin is None:
            raise InvalidInput("file.read", "there is no standard input to read")
        return nullcontext(sys.stdin.buffer)
    try:
        return files.open_ordinary(Path(file))
    except OSError as error:
        raise InvalidInput("file.read", f"cannot read {file}: {error.strerror or error}") from None


def _lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of a stream; of one that is too long its beginning, which is refused by its length."""
    from segue.services.transfer import MAX_LINE

    while line := stream.readline(MAX_LINE + 2):
        yield line
        while len(line) == MAX_LINE + 2 and not line.endswith(b"\n"):
            line = stream.readline(MAX_LINE + 2)


def _say(done: Loaded) -> None:
    counts = done.counts()
    others = {name: counts.pop(name) for name in ("unchanged", "conflicting", "forgotten", "refused")}
    said = [f"{number:,} {name}" for name, number in others.items() if number]
    output.data(f"imported {_listed(counts) or 'nothing'}" + (f"; {', '.join(said)}" if said else ""))
    if done.added["tombstones"]:
        output.note("what was forgotten in the other store is known here by its id alone: read anew, it is remembered")
    output.notes(f"  line {each.line}: {one_line(each.message)}" for each in done.problems[:_SHOWN_PROBLEMS])
    left = others["conflicting"] + others["forgotten"] + others["refused"] - _SHOWN_PROBLEMS
    if left > 0:
        output.note(f"  … and {left:,} more (--json names them)")


def _listed(counts: Mapping[str, int]) -> str:
    singular = {"memories": "memory", "aliases": "alias"}
    return ", ".join(
        output.counted(number, singular.get(name, name.removesuffix("s")), name)
        for name, number in counts.items()
        if number
    )
