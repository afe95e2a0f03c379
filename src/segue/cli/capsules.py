"""capsule: the state of a session in 1,200 characters. Most of it needs no store and opens none."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from segue.base import ids, time
from segue.base.errors import Ambiguous, InvalidInput, NotFound
from segue.base.untrusted import one_line, shorten
from segue.cli import output
from segue.cli.arguments import PACKETS, AsJson, Copy, Now, Usage, clock, opened, read_input
from segue.cli.table import print_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from segue.base.redaction import Finding
    from segue.capsules import Capsule, Reading
    from segue.conversions.reports import Loss
    from segue.packets.model import Packet

_Source = Annotated[
    str, typer.Argument(metavar="FILE|-|ID", show_default=False, help="A file, `-`, or the id of a stored capsule.")
]
_Integrity = Annotated[
    bool | None, typer.Option("--integrity/--no-integrity", help="With or without an INTEGRITY line.")
]
_Lenient = Annotated[bool, typer.Option("--lenient", help="Undo what a clipboard does to a text first.")]
_Save = Annotated[bool, typer.Option("--save", help="Also store the result, linked to what it came from.")]
_AllowUnredacted = Annotated[bool, typer.Option("--allow-unredacted", help="Go on whatever the redactor finds.")]
_TOPIC_WIDTH, _SEED_WIDTH = 28, 72


def register(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True, help="Capsules: the same in 1,200 characters, for copy and paste.")
    commands = (check, show, resume, fit, stamp, stitch, save, ls, rm, from_packet, to_packet, prompt)
    for command in commands:
        group.command(command.__name__.replace("_", "-"))(command)
    app.add_typer(group, name="capsule", rich_help_panel=PACKETS)


def _load(name: str) -> tuple[bytes, str]:
    """Return a capsule's text and, where it came from the store, its id. A file of that name goes before an id."""
    if _is_file(name) or not _may_be_id(name):
        return read_input(name), ""
    with opened() as segue, _file_or_id(name):
        stored = segue.capsules.get(name)
    return stored.text.encode("utf-8"), stored.id


def _pasted(name: str, lenient: bool) -> bytes:
    """Return a capsule's text; with `lenient` as it was before a clipboard had it, and say what was undone."""
    data, _ = _load(name)
    if not lenient:
        return data
    from segue import capsules

    cleaned = capsules.clean(data)
    output.notes(f"changed: {change}" for change in cleaned.changes)
    return cleaned.text.encode("utf-8", "surrogateescape")


def _is_file(name: str) -> bool:
    try:
        return name == "-" or Path(name).exists()
    except OSError:  # a name that is too long for one
        return False


def _may_be_id(name: str) -> bool:
    ending = ids.unshortened(name)
    return ending.isascii() and ending.replace("_", "").isalnum()


@contextlib.contextmanager
def _file_or_id(name: str) -> Iterator[None]:
    """Say of a name that is in no store that it is no file either."""
    try:
        yield
    except NotFound as error:
        if isinstance(error, Ambiguous):
            raise
        from segue.base.redaction import shown

        raise NotFound(error.code, f"{shown(name, 64)}: no such file, and {error.message}", error.details) from None


def check(
    source: _Source,
    lenient: _Lenient = False,
    as_json: AsJson = False,
) -> int:
    """Check a capsule against every rule of the format. Exit code 0 valid, 3 invalid."""
    from segue import capsules

    data, _ = _load(source)
    changes: tuple[str, ...] = ()
    if lenient:
        cleaned = capsules.clean(data)
        data, changes = cleaned.text.encode("utf-8", "surrogateescape"), cleaned.changes
    report = capsules.check(data)
    if as_json:
        output.as_json(report.to_json() | ({"changed": list(changes)} if lenient else {}))
    else:
        state = "valid" if report.valid else "invalid"
        output.data(f"{state}{f' {report.version}' if report.version else ''} capsule, {report.chars:,} characters")
        output.notes(f"changed: {change}" for change in changes)
        output.notes(f"{e.code} line {e.line}, column {e.column}: {e.message}" for e in report.errors)
        output.notes(f"warning: {warning}" for warning in report.warnings)
    return 0 if report.valid else 3


def show(source: _Source, lenient: _Lenient = False, now: Now = None, as_json: AsJson = False) -> int:
    """Show a capsule as a careful reader reads it: age, contradictions, gaps, and every entry."""
    reading = _read(source, lenient, now)
    if as_json:
        from segue.capsules.travel import findings

        # The prompt is there to be copied (decision C-9); `resume` says what holds it back.
        output.as_json(reading.to_json() | ({"prompt": None} if findings(reading.capsule) else {}))
    else:
        output.data("\n".join(_reading_lines(reading)))
    return 0


def _read(source: str, lenient: bool, now: str | None) -> Reading:
    from segue import capsules

    return capsules.read(_pasted(source, lenient), clock(now)())


def _reading_lines(reading: Reading) -> list[str]:
    from segue.capsules import HEADERS

    capsule = reading.capsule
    lines = [
        f"{'Topic:':<9}{capsule.meta.topic} ({capsule.meta.domain}, {capsule.meta.depth})",
        f"{'Written:':<9}{capsule.meta.timestamp}, {reading.freshness}",
        f"{'Format:':<9}{capsule.version}, {len(capsule.text):,} of 1,200 characters",
    ]
    lines += [f"{'Chain:':<9}{capsule.chain.hops} hops since {capsule.chain.origin}"] if capsule.chain else []
    lines += [f"{'Seed:':<9}{capsule.seed}"]
    for header, entries in zip(HEADERS, capsule.layers, strict=True):
        if entries:
            lines += ["", header, *(f"  {entry.line}" for entry in entries)]
    if reading.conflicts or reading.gaps:
        lines += ["", "To ask the user"]
    for conflict in reading.conflicts:
        lines += [f"  {conflict.question}", f"    {conflict.first.entry}", f"    {conflict.second.entry}"]
    for gap in reading.gaps:
        lines += [f"  {gap.question}", f"    {gap.loop.entry}"]
    return lines + [f"warning: {warning}" for warning in reading.warnings]


def resume(
    source: _Source,
    copy: Copy = False,
    lenient: _Lenient = False,
    allow_unredacted: _AllowUnredacted = False,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Print a prompt that makes a model go on from a capsule, its text marked as data."""
    from segue.capsules.travel import require_clean

    reading = _read(source, lenient, now)
    with output.echoed(as_json):
        require_clean(reading.capsule, allow_unredacted=allow_unredacted)
    if as_json:
        output.as_json({"prompt": reading.prompt})
    else:
        output.data(reading.prompt.rstrip("\n"))
    if copy:
        from segue.cli.saving import copy_text

        copy_text(reading.prompt)
    return 0


def fit(source: _Source, integrity: _Integrity = None, lenient: _Lenient = False, as_json: AsJson = False) -> int:
    """Cut a capsule to 1,200 characters in the format's order of sacrifice, and say what went."""
    from segue import capsules

    fitted = capsules.fit(_pasted(source, lenient), integrity=integrity)
    if as_json:
        output.as_json(fitted.to_json())
    else:
        output.data(fitted.capsule.text.rstrip("\n"))
        output.notes(f"dropped {line.layer}: {line.entry}" for line in fitted.dropped)
    return 0


def stamp(source: _Source, as_json: AsJson = False) -> int:
    """Print a capsule with a fresh INTEGRITY line, which makes damage on the way visible."""
    from segue import capsules

    data, _ = _load(source)
    text = capsules.stamp(data).text
    if as_json:
        output.as_json({"capsule": text})
    else:
        output.data(text.rstrip("\n"))
    return 0


def stitch(
    old: _Source,
    new: _Source,
    integrity: _Integrity = None,
    policy: Annotated[
        str, typer.Option(help="exact: the specification's; balanced: no layer takes the room of another.")
    ] = "exact",
    keep: _Save = False,
    allow_unredacted: _AllowUnredacted = False,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Fold a new capsule into an old one: one capsule that is no larger, however long the chain."""
    from segue import capsules

    if old == new == "-":
        raise Usage("only one of the two capsules can come from standard input")
    (prior, old_id), (latest, new_id) = _parsed(old), _parsed(new)
    stitched = capsules.stitch(prior, latest, integrity=integrity, policy=policy)  # type: ignore[arg-type]
    if keep:
        _keep(stitched.capsule, old_id or new_id, allow_unredacted, now, as_json=as_json)
    if as_json:
        output.as_json(stitched.to_json())
        return 0
    output.data(stitched.capsule.text.rstrip("\n"))
    output.notes(f"replaced {line.layer}: {line.entry}" for line in stitched.replaced)
    output.notes(f"dropped {line.layer}: {line.entry}" for line in stitched.dropped)
    output.notes(f"warning: {warning}" for warning in stitched.warnings)
    return 0


def _parsed(name: str) -> tuple[Capsule, str]:
    """Return a capsule and its id in the store; an error says which of two files it is about."""
    from segue import capsules

    data, capsule_id = _load(name)
    try:
        return capsules.parse(data), capsule_id
    except InvalidInput as error:
        raise InvalidInput(error.code, f"{shorten(name, 64)}: {error.message}", error.details) from None


def save(
    source: _Source,
    origin: Annotated[
        str | None, typer.Option("--from", metavar="ID", help="The packet or capsule that it was made from.")
    ] = None,
    lenient: _Lenient = False,
    allow_unredacted: _AllowUnredacted = False,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Check a capsule and store it. Prints its id."""
    data = _pasted(source, lenient)
    with opened(now) as segue, output.echoed(as_json):
        saved = segue.capsules.save(data, origin=origin or "", allow_unredacted=allow_unredacted)
    if as_json:
        output.as_json({"outcome": saved.outcome} | saved.capsule.to_json())
        return 0
    _note_findings(saved.findings)
    if saved.outcome != "created":
        output.note(f"{saved.outcome}: {saved.capsule.seed}")
    output.data(saved.capsule.id)
    return 0


def _keep(capsule: Capsule, origin: str, allow_unredacted: bool, now: str | None, *, as_json: bool) -> None:
    """Store what a command made, and say so beside what it prints."""
    with opened(now) as segue, output.echoed(as_json):
        try:
            saved = segue.capsules.save(capsule, origin=origin, allow_unredacted=allow_unredacted)
        except NotFound:  # made from a file of a packet that is not stored: there is nothing to link
            saved = segue.capsules.save(capsule, allow_unredacted=allow_unredacted)
    if not as_json:
        _note_findings(saved.findings)
    output.note(f"saved as {saved.capsule.id}")


def _note_findings(findings: Iterable[Finding]) -> None:
    output.notes(f"stored unredacted: {finding.kind}: {finding.found}" for finding in findings)


def ls(
    project: Annotated[
        str | None, typer.Option(metavar="REF", help="Only those saved in one project; `.` is this one.")
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="How many at most, 1 to 500.")] = 50,
    cursor: Annotated[str | None, typer.Option(help="Go on where an earlier list ended.")] = None,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """List stored capsules, newest first."""
    with opened(now) as segue:
        page = segue.capsules.ls(project=project, limit=limit, cursor=cursor)
        moment = segue.now()
    if as_json:
        output.as_json(page.to_json())
        return 0
    rows = [
        {
            "ID": ids.short(each.id),
            "CREATED": time.ago(each.created, moment),
            "HOPS": str(each.hops),
            "TOPIC": shorten(each.topic, _TOPIC_WIDTH),
            "SEED": each.seed,
        }
        for each in page.capsules
    ]
    print_table(rows, {"CREATED": 40, "HOPS": 60, "TOPIC": 70}, empty="no capsules")
    if page.cursor:
        output.note(f"more: --cursor {page.cursor}")
    return 0


def rm(
    capsule_id: Annotated[str, typer.Argument(metavar="ID", show_default=False, help="A capsule's id or its ending.")],
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Remove a stored capsule for good."""
    with opened(now) as segue:
        full = segue.capsules.rm(capsule_id)
    if as_json:
        output.as_json({"deleted": full})
    else:
        output.data(f"deleted {full}")
    return 0


def from_packet(
    source: Annotated[
        str, typer.Argument(metavar="ID|FILE|-", show_default=False, help="A stored packet, a file, or `-`.")
    ],
    keep: _Save = False,
    allow_unredacted: _AllowUnredacted = False,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Make a capsule from a packet, and say what did not come along."""
    from segue.capsules.travel import require_clean
    from segue.conversions.to_capsule import to_capsule

    packet = _load_packet(source, now)
    converted = to_capsule(packet)
    with output.echoed(as_json):
        require_clean(converted.capsule, allow_unredacted=allow_unredacted)
    if keep:
        _keep(converted.capsule, packet.id, allow_unredacted, now, as_json=as_json)
    _say_converted("capsule", converted.capsule.text, converted.losses, as_json)
    return 0


def _load_packet(source: str, now: str | None) -> Packet:
    """Return a stored packet, or the one in a file, which may be a draft without id."""
    from segue.packets import drafts

    if _is_file(source):
        return drafts.finished(read_input(source), clock(now)())[0]
    with opened() as segue, _file_or_id(source):
        return segue.packets.get(source)


def to_packet(
    source: _Source,
    keep: _Save = False,
    allow_unredacted: _AllowUnredacted = False,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Make a packet from a capsule: the same capsule always gives the same packet."""
    from segue import capsules
    from segue.conversions.to_packet import to_packet as convert

    data, _ = _load(source)
    converted = convert(capsules.parse(data))
    packet = converted.packet
    if keep:
        with opened(now) as segue, output.echoed(as_json):
            saved = segue.packets.submit(packet, allow_unredacted=allow_unredacted)
        if not as_json:
            _note_findings(saved.findings)
        output.note(f"saved as {saved.packet.id}")
    _say_converted("packet", packet.document() if as_json else packet.canonical.decode(), converted.losses, as_json)
    return 0


def _say_converted(name: str, result: Any, losses: list[Loss], as_json: bool) -> None:
    if as_json:
        output.as_json({name: result, "losses": [loss.to_json() for loss in losses]})
    else:
        output.data(result.rstrip("\n"))
        output.notes(f"{loss.kind}: {loss.path}: {one_line(loss.text)}" for loss in losses)


def prompt(
    name: Annotated[str, typer.Argument(metavar="compress|continue", show_default=False, help="Which prompt.")],
    as_json: AsJson = False,
) -> int:
    """Print a prompt: compress a session into a capsule, or continue from one."""
    from segue import capsules

    text = capsules.prompt(name)
    if as_json:
        output.as_json({"prompt": text})
    else:
        output.data(text.rstrip("\n"))
    return 0
