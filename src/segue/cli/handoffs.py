"""handoff: the state of the work, whole, over a compaction or to another session."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from segue.base import files, jsontext
from segue.base.untrusted import one_line
from segue.cli import output
from segue.cli.arguments import CONTINUITY, AsJson, Now, OptionalId, opened, read_input

if TYPE_CHECKING:
    from segue.conversions.reports import Loss
    from segue.services.handoffs import Created

_Source = Annotated[
    str | None,
    typer.Argument(metavar="FILE|-", show_default=False, help="A handoff; else this project's newest."),
]
_Out = Annotated[str | None, typer.Option("--out", metavar="FILE", help="Also write it to this file.")]
_ANEW = "`segue handoff create --state FILE` makes one of the state as it is now"
_AllowUnredacted = Annotated[bool, typer.Option("--allow-unredacted", help="Go on whatever the redactor finds.")]


def register(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True, help="Handoffs: the whole state of the work, restored as it was or not.")
    for command in (create, restore, to_packet, from_packet):
        group.command(command.__name__.replace("_", "-"))(command)
    app.add_typer(group, name="handoff", rich_help_panel=CONTINUITY)


def create(
    state: Annotated[
        str, typer.Option("--state", metavar="FILE|-", help="The state, as a JSON object of eleven keys.")
    ],
    out: _Out = None,
    allow_unredacted: _AllowUnredacted = False,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Make a handoff of a state, with the hashes of the ledgers and the states of all candidates, and keep it."""
    given = jsontext.parse(read_input(state), code="handoff.state")
    with opened(now) as segue, output.echoed(as_json):
        made = segue.continuity.handoffs.create(given, allow_unredacted=allow_unredacted)
    _say_created(made, out, as_json=as_json)
    return 0


def _say_created(made: Created, out: str | None, losses: list[Loss] | None = None, *, as_json: bool) -> None:
    document = made.handoff.to_json()
    if out is not None:
        files.write_bytes(Path(out), jsontext.dump(document, indent=True) + b"\n")
    if as_json:
        whole: dict[str, Any] = {"handoff": document, "path": str(made.path), "dropped": list(made.dropped)}
        whole["sync"] = made.synced.to_json() if made.synced is not None else {"error": made.fault}
        output.as_json(whole | ({"losses": [each.to_json() for each in losses]} if losses is not None else {}))
        return
    output.data(str(made.path))
    output.note(f"next: {one_line(made.handoff.next_action)}")
    output.notes([f"left out, no key of a handoff: {one_line(', '.join(made.dropped))}"] if made.dropped else [])
    output.notes([f"the memory store is not in order: {made.fault}; `segue continuity doctor`"] if made.fault else [])
    output.notes(f"{each.kind}: {each.path}: {one_line(each.text)}" for each in losses or [])


def restore(
    source: _Source = None,
    older: Annotated[bool, typer.Option("--older", help="Restore it although a newer one was made.")] = False,
    as_json: AsJson = False,
) -> int:
    """Restore a handoff, if it is whole and nothing has changed; else REPAIR_REQUIRED with the reason (exit code 3)."""
    data = None if source is None else read_input(source)
    with opened() as segue:
        restored = segue.continuity.handoffs.restore(data, older=older)
    if as_json:
        output.as_json(restored.to_json())
        return 0 if restored.is_ready else 3
    if restored.handoff is None:
        output.data(f"REPAIR_REQUIRED: {one_line(restored.reason)}")
        output.notes(f"  {one_line(each)}" for each in restored.mismatched)
        output.note("--older restores it all the same" if restored.newer else _ANEW)
        return 3
    output.data(f"ready: made {restored.handoff.created_at}")
    for name, value in restored.handoff.state.items():
        output.data(f"  {name}: {_shown(value)}")
    for each in restored.handoff.memory_candidates:
        output.data(f"  {each['candidate_id']}: {each['status']}")
    output.notes([f"a newer one was made at {restored.newer.created_at}"] if restored.newer else [])
    return 0


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return one_line(value)
    return "-" if value in (None, []) else one_line(jsontext.dump(value).decode())


def to_packet(
    source: _Source = None,
    goal: Annotated[str, typer.Option(metavar="TEXT", help="The packet's goal; else the step that is worked on.")] = "",
    keep: Annotated[bool, typer.Option("--save", help="Also store the packet.")] = False,
    allow_unredacted: _AllowUnredacted = False,
    as_json: AsJson = False,
) -> int:
    """Make a packet of a handoff, and say what it has no place for."""
    from segue.conversions.handoffs import to_packet as convert

    data = None if source is None else read_input(source)
    with opened() as segue:
        converted = convert(segue.continuity.handoffs.get(data), project=segue.project.name, goal=goal)
        packet = converted.packet
        if keep:
            with output.echoed(as_json):
                saved = segue.packets.submit(packet, allow_unredacted=allow_unredacted)
            output.note(f"saved as {saved.packet.id}")
    if as_json:
        losses = [each.to_json() for each in converted.losses]
        output.as_json({"packet": packet.document(), "losses": losses})
    else:
        output.data(packet.canonical.decode())
        output.notes(f"{each.kind}: {each.path}: {one_line(each.text)}" for each in converted.losses)
    return 0


def from_packet(
    packet_id: OptionalId = None,
    out: _Out = None,
    allow_unredacted: _AllowUnredacted = False,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Make a handoff of a stored packet, and say what it has no place for."""
    from segue.conversions.handoffs import from_packet as convert

    with opened(now) as segue, output.echoed(as_json):
        packet = segue.packets.get(packet_id) if packet_id is not None else segue.packets.newest()
        converted = convert(packet)
        made = segue.continuity.handoffs.create(converted.state, allow_unredacted=allow_unredacted)
    _say_created(made, out, converted.losses, as_json=as_json)
    return 0
