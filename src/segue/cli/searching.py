"""search: the memories that answer a question, best first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from segue.base import ids, time
from segue.base.untrusted import one_line
from segue.cli import output
from segue.cli.arguments import (
    MEMORIES,
    AsJson,
    Cursor,
    Entities,
    Kinds,
    Layers,
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
from segue.cli.memory_lines import said, source_name, when
from segue.cli.table import print_table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from segue.search.ranking import Found
    from segue.services.search import Hit

_LEAST = {"WHEN": 40, "LAYER": 70, "REL.": 60}
_CONTENT_WIDTH = 120


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel=MEMORIES)(search)


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", show_default=False, help="A question, or words of it.")],
    k: Annotated[int, typer.Option("-k", metavar="N", help="How many, 1 to 500.")] = 10,
    kind: Kinds = None,
    layer: Layers = None,
    entity: Entities = None,
    tag: Tags = None,
    project: Projects = None,
    since: Since = None,
    until: Until = None,
    as_of: Annotated[
        str | None, typer.Option(metavar="TIME", help="What held and was known then: 2026-05-04, RFC 3339 or 7d.")
    ] = None,
    min_trust: MinTrust = None,
    cursor: Cursor = None,
    why: Annotated[bool, typer.Option("--why", help="Say how each was found, and by which words.")] = False,
    team: TeamCopy = None,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Find the memories that answer a question, best first: by rank the best has relevance 1, by meaning alone less."""
    with opened(now, team=team) as segue:
        moment = segue.now()
        wanted = filters(
            moment,
            since=since,
            until=until,
            min_trust=min_trust,
            kinds=kind,
            layers=layer,
            entities=entity,
            tags=tag,
            projects=project,
        )
        at = time.parse_moment(as_of, moment) if as_of is not None else None
        found = segue.search.find(query, k=k, as_of=at, cursor=cursor, **wanted)
    if as_json:
        output.as_json(found.to_json())
        return 0
    if why and found.hits:
        output.data("\n".join(line for each in found for line in _explained(each, moment)))
    else:
        print_table([_cells(each, moment) for each in found], _LEAST, empty="nothing found", last=_CONTENT_WIDTH)
    output.notes(found.notes)
    if found.cursor:
        output.note(f"more: --cursor {found.cursor}")
    return 0


def _cells(hit: Hit, now: datetime) -> dict[str, str]:
    return {
        "ID": ids.short(hit.memory.id),
        "WHEN": when(hit.memory, now),
        "LAYER": hit.memory.layer,
        "REL.": f"{hit.relevance:.2f}",
        "CONTENT": said(hit.memory.content, source_name(hit.memory.provenance)),
    }


def _explained(hit: Hit, now: datetime) -> Iterator[str]:
    memory = hit.memory
    yield f"{ids.short(memory.id)}  {when(memory, now)}  {memory.layer}  {hit.relevance:.2f} ({hit.relevance_basis})"
    yield f"  {said(memory.content, source_name(memory.provenance))}"
    yield from (f"  · {_reason(each)}" for each in hit.why)


def _reason(found: Found) -> str:
    terms = f": {', '.join(map(one_line, found.terms))}" if found.terms else ""
    near = f"; near: {', '.join(map(one_line, found.near))}" if found.near else ""
    return f"{found.retriever}, rank {found.rank}, score {found.score:.3f}{terms}{near}"
