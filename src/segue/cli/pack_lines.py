"""A pack as a person reads it in a terminal: a bar for the budget, then layer by layer."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from segue.base import ids
from segue.base.untrusted import one_line
from segue.cli.memory_lines import said, source_name, when
from segue.cli.output import counted
from segue.context.document import HEADINGS
from segue.context.layers import PACK_LAYERS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from segue.services.serving import Serving

_BAR, _LEAST_BAR = 24, 4
_BESIDE_BAR = 26  # columns that the figures take
_LEAST_WIDTH, _MOST_WIDTH = 20, 120
_WITH_TIMES = 50  # columns from which on an item says when it was


def pack_lines(serving: Serving, now: datetime) -> Iterator[str]:
    """Yield the lines that show a pack."""
    pack = serving.pack
    width = min(max(shutil.get_terminal_size((100, 24)).columns, _LEAST_WIDTH), _MOST_WIDTH)
    yield f"{pack.profile.name} · {pack.intent} · {pack.status} · {counted(len(serving.items), 'item')}"
    long = min(max(width - _BESIDE_BAR, _LEAST_BAR), _BAR)
    yield f"{bar(pack.used, pack.tokens, long)} {pack.used:,} of {pack.tokens:,} tokens"
    for layer in PACK_LAYERS:
        items = [each for each in serving.items if each.candidate.layer == layer]
        if not items:
            continue
        yield ""
        yield HEADINGS[layer]
        for each in items:
            mark = "…" if each.compressed else " "
            at = f"{when(each.candidate.memory, now):>10}  " if width >= _WITH_TIMES else ""
            head = f" {mark}{ids.short(each.candidate.ref)}  {at}"
            yield head + _within(said(each.content, source_name(each.candidate.memory.provenance)), width - len(head))
    yield from _remarks(serving)


def bar(used: int, tokens: int, long: int = _BAR) -> str:
    """Return how full a budget is, as a bar of `long` columns."""
    full = min(round(long * used / tokens), long) if tokens else 0
    return "█" * full + "░" * (long - full)


def _within(text: str, columns: int) -> str:
    """As much of a text as fits into `columns` of a terminal, where some characters take two."""
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= columns:
        return text
    return set_cell_size(text, max(columns - 1, 0)).rstrip() + "…"


def _remarks(serving: Serving) -> Iterator[str]:
    pack = serving.pack
    remarks = []
    if pack.selection.dropped:
        remarks.append(f"{counted(len(pack.selection.dropped), 'more memory', 'more memories')} did not fit")
    if pack.pending:
        remarks.append(f"{counted(pack.pending, 'memory waits', 'memories wait')} for review (segue review)")
    remarks += [
        f"{ids.short(each.current.id)} contradicts {ids.short(each.stale.id)}; the first holds"
        for each in pack.conflicts
    ]
    if serving.delta:
        delta = serving.delta
        remarks.append(
            f"session: {len(delta.new)} new, {len(delta.evicted)} to forget, {len(delta.superseded)} superseded,"
            f" cursor {delta.cursor}"
        )
    remarks += [*pack.notes, *serving.notes]
    if remarks:
        yield ""
        yield from map(one_line, remarks)
