"""memories: what is in the store of memories, listed, shown, corrected, replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from segue.base import ids
from segue.base.untrusted import one_line
from segue.cli import output
from segue.cli.arguments import (
    MEMORIES,
    AsJson,
    Cursor,
    Entities,
    Kinds,
    Layers,
    Limit,
    MemoryId,
    MinTrust,
    Now,
    Projects,
    Since,
    Tags,
    TeamCopy,
    Until,
    filters,
    opened,
)
from segue.cli.correcting import edit, supersede
from segue.cli.memory_lines import history_lines, portrait, said, source_name, when
from segue.cli.table import print_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from segue.memories.memory import Memory

_LEAST = {"WHEN": 40, "STATUS": 60, "LAYER": 70}


def register(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True, help="What is remembered: listed, shown, corrected, replaced.")
    for command in (ls, show, edit, supersede, history, sources):
        group.command()(command)
    app.add_typer(group, name="memories", rich_help_panel=MEMORIES)


def ls(
    status: Annotated[
        list[str] | None,
        typer.Option(metavar="STATUS", help="Only pending, active or retired ones; may be repeated."),
    ] = None,
    kind: Kinds = None,
    layer: Layers = None,
    entity: Entities = None,
    tag: Tags = None,
    project: Projects = None,
    source: Annotated[
        list[str] | None, typer.Option(metavar="REF", help="Only what was read from this source; may be repeated.")
    ] = None,
    since: Since = None,
    until: Until = None,
    min_trust: MinTrust = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    team: TeamCopy = None,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """List memories, newest first: also those that wait for review, and those that do not hold any more."""
    with opened(now, team=team) as segue:
        moment = segue.now()
        wanted = filters(
            moment,
            since=since,
            until=until,
            min_trust=min_trust,
            statuses=status,
            kinds=kind,
            layers=layer,
            entities=entity,
            tags=tag,
            projects=project,
            sources=source,
        )
        page = segue.memories.ls(limit=limit, cursor=cursor, **wanted)
    if as_json:
        output.as_json(page.to_json())
    else:
        print_memories(page.memories, moment, empty="no memories")
        if page.cursor:
            output.note(f"more: --cursor {page.cursor}")
    return 0


def print_memories(memories: Sequence[Memory], now: datetime, *, empty: str) -> None:
    """Print memories as a table."""
    rows = [
        {
            "ID": ids.short(each.id),
            "WHEN": when(each, now),
            "STATUS": each.status,
            "LAYER": each.layer,
            "CONTENT": said(each.content, source_name(each.provenance)),
        }
        for each in memories
    ]
    print_table(rows, _LEAST, empty=empty, last=100)


def show(memory_id: MemoryId, team: TeamCopy = None, now: Now = None, as_json: AsJson = False) -> int:
    """Show a memory with every field it has, and what says it."""
    with opened(now, team=team) as segue:
        story = segue.memories.history(memory_id)
    if as_json:
        output.as_json(
            story.memory.to_json()
            | {"sources": [each.to_json() for each in story.sources]}
            | {"conflicts": [each.to_json() for each in story.conflicts]}
        )
    else:
        output.data("\n".join(portrait(story)))
    return 0


def history(memory_id: MemoryId, now: Now = None, as_json: AsJson = False) -> int:
    """Show what a memory said before, what it replaces and what replaced it, and what contradicts it."""
    with opened(now) as segue:
        story = segue.memories.history(memory_id)
    if as_json:
        output.as_json(story.to_json())
    else:
        output.data("\n".join(history_lines(story)))
    return 0


def sources(
    limit: Limit = 50,
    after: Annotated[str, typer.Option(metavar="REF", help="Go on behind this source.")] = "",
    as_json: AsJson = False,
) -> int:
    """List what memories were read from, with the number that each says."""
    with opened() as segue:
        found = segue.memories.sources(after=after, limit=limit)
    if as_json:
        output.as_json({"sources": [{"source": source, "memories": number} for source, number in found]})
        return 0
    rows = [{"SOURCE": one_line(source), "MEMORIES": f"{number:,}"} for source, number in found]
    print_table(rows, {}, empty="nothing was read from anywhere")
    if len(found) == limit:
        output.note(f"perhaps more: --after '{one_line(found[-1][0])}'")
    return 0
