"""chain and diff: how packets follow one another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from segue.base import ids, time
from segue.base.untrusted import one_line, shorten
from segue.cli import output
from segue.cli.arguments import PACKETS, AsJson, Now, OptionalId, PacketId, opened

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
        output.as_json(found.to_json())
    else:
        output.data("\n".join(_chain_lines(found, moment)))
    return 0


def _chain_lines(found: Chain, now: datetime) -> Iterator[str]:
    """One packet a line, the ancestors in a row above it; only what continues it branches off."""
    if found.missing:
        yield f"? {ids.short(one_line(found.missing))}  (not in this store)"
    start = found.packets[0].id
    rows = [("●" if each.id == start else "○", each) for each in reversed(found.packets)]
    rows += [("├─ ○", each) for each in found.children[:-1]] + [("└─ ○", each) for each in found.children[-1:]]
    ages = [time.ago(time.from_microseconds(each.created_us), now) for _, each in rows]
    width = max(map(len, ages))
    for (mark, each), age in zip(rows, ages, strict=True):
        yield f"{mark} {ids.short(one_line(each.id))}  {age:<{width}}  {shorten(one_line(each.goal), _WIDTH)}"


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
        label = {"decisions": "decision", "open_questions": "open question", "attempts": "attempt"} | _LABELS
        yield from (f"- {label[name]}: {one_line(text)}" for text in texts)
    yield from (f"~ next step: {one_line(text)}" for text in [found.next_step] if text)
