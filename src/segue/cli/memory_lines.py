"""Memories as lines of text: in a list, and each by itself."""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING, Any

from segue.base import time
from segue.base.untrusted import one_line, visible
from segue.cli import output

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from segue.memories.item import Provenance
    from segue.memories.memory import Memory
    from segue.services.memory_reading import Story
    from segue.storage.memory_sources import Said

_SHOWN_SOURCES = 10
_LABEL_WIDTH = 13
_MOST_BLANK = 2
_NONE = "(none)"
# What `edit` can change, as `Memory.to_json` names it.
_EDITED = "content summary kind layer entities tags project confidence occurred_at valid_from valid_to".split()
BAR = "│ "  # before each line of a text that others wrote


def when(memory: Memory, now: datetime) -> str:
    """Return how long ago a memory happened, else was stored."""
    return time.ago(memory.occurred_at or memory.captured_at, now)


def said(content: str, source: str) -> str:
    """Return what a memory says in one line, behind the name of the source that it was read from (empty for none)."""
    return f"[{source}] {one_line(content)}" if source else one_line(content)


def source_name(provenance: Provenance) -> str:
    """Return the name of the source that a memory was read from, empty for one of the user's own."""
    kind, _, name = provenance.source.partition(":")
    return name if provenance.origin == "record" and kind == "source" else ""


def indented(text: str) -> list[str]:
    """Return the lines of a text behind a bar, so that none passes for one of ours; many blank ones as their number."""
    lines = visible(text.replace("\r\n", "\n").replace("\t", "    ")).split("\n")
    shown: list[str] = []
    for blank, run in groupby(lines, key=lambda line: not line.strip()):
        several = [f"{BAR}{line}".rstrip() for line in run]
        if blank and len(several) > _MOST_BLANK:
            several = [f"  ({len(several):,} blank lines)"]  # without the bar: no text can say this
        shown += several
    return shown


def listed(values: Iterable[str]) -> str:
    """Return names in one line, those in quotes that a comma would make two of."""
    return ", ".join(json.dumps(each, ensure_ascii=False) if set(each) & {",", '"'} else each for each in values)


def portrait(story: Story) -> list[str]:
    """Return all that a memory has, a field a line; what is absent is left out."""
    memory, written = story.memory, story.memory.provenance
    fields = {
        "ID": memory.id,
        "Status": memory.status + (f" since {time.to_text(memory.retired_at)}" if memory.retired_at else ""),
        "Kind": memory.kind,
        "Layer": memory.layer,
        "Summary": memory.summary,
        "Entities": listed(memory.entities),
        "Tags": listed(memory.tags),
        "Project": memory.project,
        "Thread": memory.thread + ("" if memory.position is None else f", turn {memory.position}"),
        "Speaker": memory.speaker,
        "Occurred": _time(memory.occurred_at),
        "Captured": _time(memory.captured_at),
        "Holds from": _time(memory.valid_from),
        "Holds until": _time(memory.valid_to),
        "Trust": f"{memory.trust:g}",
        "Confidence": "" if memory.confidence is None else f"{memory.confidence:g}",
        "Said": output.counted(memory.occurrences, "time"),
        "Author": f"{written.author} ({written.author_class})" if written.author else written.author_class,
        "Origin": written.origin,
        "URL": written.url,
        "Receipt": written.receipt or "",
        "Revision": str(memory.revision) if memory.revision > 1 else "",
        "Replaces": ", ".join(memory.supersedes),
        "Replaced by": memory.superseded_by,
        "Hash": memory.content_hash,
    }
    lines = [f"{label + ':':<{_LABEL_WIDTH}}{one_line(value)}" for label, value in fields.items() if value]
    lines += ["", "Content", *indented(memory.content)]
    if story.sources:
        lines += ["", "Sources", *source_lines(story.sources)]
    conflicts = conflict_lines(story)
    return [*lines, "", *conflicts] if conflicts else lines


def source_lines(sources: list[Said]) -> Iterator[str]:
    """Yield where a memory was read, a place a line; of many the first ones."""
    yield from (f"  {one_line(each.ref)}  {time.to_text(each.seen_at)}" for each in sources[:_SHOWN_SOURCES])
    if len(sources) > _SHOWN_SOURCES:
        yield f"  … and {len(sources) - _SHOWN_SOURCES:,} more"


def conflict_lines(story: Story) -> list[str]:
    """Return a line for each memory that contradicts the one of the story."""
    own = story.memory.id
    others = ((each.other_id if each.memory_id == own else each.memory_id, each.reason) for each in story.conflicts)
    return [f"Conflict:    {other} ({reason})" for other, reason in others]


def history_lines(story: Story) -> list[str]:
    """Return what became of a memory: its versions, newest first, then its neighbours in the chain."""
    memory = story.memory
    lines = [f"{memory.id}  {memory.status}, revision {memory.revision}", *indented(memory.content)]
    following = memory.to_json()
    for version in reversed(story.versions):
        lines += [
            "",
            f"Revision {version.revision}, until {time.to_text(version.replaced_at)} ({one_line(version.actor)})",
            *_differing(version.body, following),
        ]
        following = version.body
    for label, others in (("Replaced by", story.newer), ("Replaces", story.older)):
        lines += [line for each in others for line in ("", f"{label} {each.id}", *indented(each.content))]
    if story.sources:
        lines += ["", "Sources", *source_lines(story.sources)]
    conflicts = conflict_lines(story)
    return [*lines, "", *conflicts] if conflicts else lines


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a memory said that it says no more, a field a line; of its text all of it."""
    for name in _EDITED:
        if before.get(name) == after.get(name):
            continue
        value = before.get(name)
        if name == "content":
            yield from indented(str(value or ""))
        elif isinstance(value, list):
            yield f"  {name}: {one_line(listed(map(str, value))) or _NONE}"
        else:
            yield f"  {name}: {_NONE if value is None else one_line(str(value))}"


def _time(instant: datetime | None) -> str:
    return "" if instant is None else time.to_text(instant)
