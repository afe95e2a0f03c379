"""capsule: the state of a session in 1,200 characters. Most of it needs no store and opens none."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from segue.base import ids, time
from segue.base.errors import NotFound
from segue.base.untrusted import one_line, shorten
from segue.cli import output
from segue.cli.arguments import PACKETS, AsJson, Copy, Now, clock, opened, read_input
from segue.cli.table import print_table

if TYPE_CHECKING:
    from segue.base.redaction import Finding
    from segue.capsules import Capsule, Reading
    from segue.conversions.reports import Loss
    from segue.packets.model import Packet
    from segue.storage.capsules import StoredCapsule

_Source = Annotated[
    str, typer.Argument(metavar="FILE|-|ID", show_default=False, help="A file, `-`, or the id of a stored capsule.")
]
_Integrity = Annotated[
    bool | None, typer.Option("--integrity/--no-integrity", help="With or without an INTEGRITY line.")
]
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
    """Return a capsule's text and, where it came from the store, its id."""
    if name == "-" or Path(name).exists():
        return read_input(name), ""
    if not _may_be_id(name):
        return read_input(name), ""  # says what is wrong with the file
    with opened() as segue:
        try:
            stored = segue.capsules.get(name)
        except NotFound as error:
            raise type(error)(error.code, f"{name}: no such file, and {error.message}", error.details) from None
    return stored.text.encode("ascii"), stored.id


def _may_be_id(name: str) -> bool:
    return all(char.isalnum() or char in "_…" for char in name)


def check(
    source: _Source,
    lenient: Annotated[bool, typer.Option("--lenient", help="Undo what a clipboard does to a text first.")] = False,
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


def show(source: _Source, now: Now = None, as_json: AsJson = False) -> int:
    """Show a capsule as a careful reader reads it: age, contradictions, gaps, and every entry."""
    reading = _read(source, now)
    if as_json:
        output.as_json(reading.to_json())
    else:
        output.data("\n".join(_reading_lines(reading)))
    return 0


def _read(source: str, now: str | None) -> Reading:
    from segue import capsules

    data, _ = _load(source)
    return capsules.read(data, clock(now)())


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
    questions = [each.question for each in reading.conflicts] + [each.question for each in reading.gaps]
    if questions:
        lines += ["", "To ask the user", *(f"  {question}" for question in questions)]
    return lines + [f"warning: {warning}" for warning in reading.warnings]


def resume(
    source: _Source,
    copy: Copy = False,
    allow_unredacted: _AllowUnredacted = False,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Print a prompt that makes a model go on from a capsule, its text marked as data."""
    reading = _read(source, now)
    _require_clean(reading.capsule, allow_unredacted)
    if as_json:
        output.as_json({"prompt": reading.prompt})
    else:
        output.data(reading.prompt.rstrip("\n"))
    if copy:
        from segue.cli.saving import copy_text

        copy_text(reading.prompt)
    return 0


def _require_clean(capsule: Capsule, allow_unredacted: bool) -> None:
    """Refuse a capsule with findings before it is shown for copying (decision C-9)."""
    from segue.base.redaction import RedactionRefused
    from segue.capsules.travel import require_clean

    try:
        require_clean(capsule, allow_unredacted=allow_unredacted)
    except RedactionRefused as error:
        _echo(error.findings)
        raise


def _echo(findings: tuple[Finding, ...]) -> None:
    output.notes(f"  • {finding.kind}: {finding.found}" for finding in findings)


def fit(source: _Source, integrity: _Integrity = None, as_json: AsJson = False) -> int:
    """Cut a capsule to 1,200 characters in the format's order of sacrifice, and say what went."""
    from segue import capsules

    data, _ = _load(source)
    fitted = capsules.fit(data, integrity=integrity)
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

    old_text, old_id = _load(old)
    new_text, _ = _load(new)
    stitched = capsules.stitch(old_text, new_text, integrity=integrity, policy=policy)  # type: ignore[arg-type]
    if keep:
        _store(stitched.capsule, old_id, allow_unredacted=allow_unredacted, now=now)
    if as_json:
        output.as_json(stitched.to_json())
        return 0
    output.data(stitched.capsule.text.rstrip("\n"))
    output.notes(f"replaced {line.layer}: {line.entry}" for line in stitched.replaced)
    output.notes(f"dropped {line.layer}: {line.entry}" for line in stitched.dropped)
    output.notes(f"warning: {warning}" for warning in stitched.warnings)
    return 0


def save(
    source: _Source,
    origin: Annotated[
        str | None, typer.Option("--from", metavar="ID", help="The packet or capsule that it was made from.")
    ] = None,
    allow_unredacted: _AllowUnredacted = False,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Check a capsule and store it. Prints its id."""
    data, _ = _load(source)
    saved = _store(data, origin or "", allow_unredacted=allow_unredacted, now=now)
    if as_json:
        output.as_json(_stored_json(saved))
    else:
        output.data(saved.id)
    return 0


def _store(source: Capsule | bytes, origin: str, *, allow_unredacted: bool, now: str | None) -> StoredCapsule:
    from segue.base.redaction import RedactionRefused

    with opened(now) as segue:
        try:
            return segue.capsules.save(source, origin=origin, allow_unredacted=allow_unredacted).capsule
        except RedactionRefused as error:
            _echo(error.findings)
            raise


def ls(
    project: Annotated[
        str | None, typer.Option(metavar=".", help="`.`: only those that were saved in this project.")
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
        output.as_json({"capsules": [_stored_json(each) for each in page.capsules], "cursor": page.cursor})
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


def _stored_json(stored: StoredCapsule) -> dict[str, Any]:
    shown = asdict(stored) | {"created": time.to_text(stored.created), "saved_at": time.to_text(stored.saved_at)}
    return shown | {"origin": stored.origin or None}


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
    from segue.conversions.to_capsule import to_capsule

    packet, origin = _load_packet(source)
    converted = to_capsule(packet)
    _require_clean(converted.capsule, allow_unredacted)
    if keep:
        _store(converted.capsule, origin, allow_unredacted=allow_unredacted, now=now)
    _say_converted("capsule", converted.capsule.text, converted.losses, as_json=as_json)
    return 0


def _load_packet(source: str) -> tuple[Packet, str]:
    """Return a packet and, where it came from the store, its id."""
    from segue.packets import schema

    if source == "-" or Path(source).exists():
        return schema.parse(read_input(source)), ""
    with opened() as segue:
        packet = segue.packets.get(source)
    return packet, packet.id


def to_packet(source: _Source, keep: _Save = False, now: Now = None, as_json: AsJson = False) -> int:
    """Make a packet from a capsule: the same capsule always gives the same packet."""
    from segue import capsules
    from segue.conversions.to_packet import to_packet as convert

    data, _ = _load(source)
    converted = convert(capsules.parse(data))
    if keep:
        with opened(now) as segue:
            segue.packets.save(converted.packet)
    _say_converted("packet", converted.packet.canonical.decode(), converted.losses, as_json=as_json)
    return 0


def _say_converted(name: str, text: str, losses: list[Loss], *, as_json: bool) -> None:
    if as_json:
        output.as_json({name: text, "losses": [loss.to_json() for loss in losses]})
    else:
        output.data(text.rstrip("\n"))
        output.notes(f"{loss.kind}: {loss.path}: {one_line(loss.text)}" for loss in losses)


def prompt(
    name: Annotated[str, typer.Argument(metavar="compress|continue", show_default=False, help="Which prompt.")],
) -> int:
    """Print a prompt: compress a session into a capsule, or continue from one."""
    from segue import capsules

    output.data(capsules.prompt(name).rstrip("\n"))
    return 0
