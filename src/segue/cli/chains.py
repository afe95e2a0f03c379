"""chain and diff: how packets follow one another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from segue.base import ids, time
from segue.base.untrusted import one_line, shorten
from segue.cli import output
from segue.cli.arguments import PACKETS, AsJson, Now, OptionalId, PacketId, opened
from segue.cli.listing import listed_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from segue.packets.diff import Diff
    from segue.services.packets import Chain

_WIDTH = 100
_LABELS = {"success_criteria": "criterion", "constraints": "constraint", "methods": "method"}


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel=PACKETS)(chain)
    app.command(rich_help_panel=PACKETS)(diff)


def chain(packet_id: OptionalId = None, now: Now = None, as_json: AsJson = False) -> int:
    """Show the chain of a packet: its ancestors, oldest first, and what continues it."""
    with opened(now) as segue:
        found = segue.packets.chain(packet_id)
        moment = segue.now()
    if as_json:
        output.as_json(
            {
                "packets": [listed_json(each) for each in found.packets],
                "children": [listed_json(each) for each in found.children],
                "missing": found.missing or None,
            }
        )
    else:
        output.data("\n".join(_chain_lines(found, moment)))
    return 0


def _chain_lines(found: Chain, now: datetime) -> Iterator[str]:
    if found.missing:
        yield f"?  {one_line(found.missing)}  (not in this store)"
    start = found.packets[0].id
    for number, each in enumerate([*reversed(found.packets), *found.children]):
        mark = "●" if each.id == start else "○"
        joint = "   " if number == 0 and not found.missing else "└─ "
        age = time.ago(time.from_microseconds(each.created_us), now)
        yield f"{joint}{mark} {ids.short(one_line(each.id))}  {age}  {shorten(one_line(each.goal), _WIDTH)}"


def diff(older: PacketId, newer: PacketId, as_json: AsJson = False) -> int:
    """Show what was decided, tried, answered and dropped between two packets."""
    with opened() as segue:
        found = segue.packets.diff(older, newer)
    if as_json:
        output.as_json(found.to_json())
    else:
        output.data("\n".join(_diff_lines(found)))
    return 0


def _diff_lines(found: Diff) -> Iterator[str]:
    yield f"{ids.short(one_line(found.older))} → {ids.short(one_line(found.newer))}"
    if found.empty:
        yield "no difference"
    for change in found.locked:
        yield f"! locked decision {change.status}: {one_line(change.decision)}"
        if change.by:
            yield f"      by: {one_line(change.by)}"
    yield from (f"~ goal: {one_line(text)}" for text in [found.goal] if text)
    yield from (f"+ decided: {one_line(text)}" for text in found.decided)
    yield from (f"~ decision changed: {one_line(text)}" for text in found.changed)
    yield from (f"+ tried: {one_line(text)}" for text in found.tried)
    for answer in found.answered:
        yield f"✓ answered: {one_line(answer.question)}"
        yield f"      by: {one_line(answer.by)}"
    yield from (f"+ open question: {one_line(text)}" for text in found.opened)
    for name, texts in found.added.items():
        yield from (f"+ {_LABELS[name]}: {one_line(text)}" for text in texts)
    for name, texts in found.dropped.items():
        label = {"decisions": "decision", "open_questions": "open question"} | _LABELS
        yield from (f"- {label[name]}: {one_line(text)}" for text in texts)
    yield from (f"~ next step: {one_line(text)}" for text in [found.next_step] if text)
