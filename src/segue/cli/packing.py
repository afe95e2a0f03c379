"""context, query, expand: the memories that suit a task, precise questions, and the way on from any result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from segue.base import ids, time
from segue.base.errors import Ambiguous, InvalidInput, NotFound
from segue.base.untrusted import one_line
from segue.cli import output
from segue.cli.arguments import CONTEXT, AsJson, Cursor, Now, TeamCopy, Usage, opened
from segue.cli.memory_lines import said
from segue.cli.pack_lines import pack_lines
from segue.cli.table import print_table

if TYPE_CHECKING:
    from datetime import datetime

    from segue.app import Segue
    from segue.services.pins import Verification
    from segue.services.querying import Answer
    from segue.services.serving import Serving

FORMATS = ("smp", "json", "markdown")
_LEAST = {"WHEN": 40, "LAYER": 70, "REL.": 60}
_CONTENT_WIDTH = 120


def register(app: typer.Typer) -> None:
    for command in (context, query, expand):
        app.command(rich_help_panel=CONTEXT)(command)


AsOf = Annotated[
    str | None, typer.Option(metavar="TIME", help="What held and was known then: 2026-05-04, RFC 3339 or 7d.")
]
Model = Annotated[str, typer.Option(metavar="NAME", help="The model that reads it: claude, gpt-5, cursor …")]


def context(
    task: Annotated[
        str, typer.Argument(metavar="[TASK]", show_default=False, help="What is to be done; without it, what is new.")
    ] = "",
    model: Model = "",
    surface: Annotated[
        str, typer.Option(metavar="NAME", help="Where it is read, where the model does not say.")
    ] = "agent",
    budget: Annotated[int, typer.Option(metavar="TOKENS", help="At least 300; at most what suits the model.")] = 2_000,
    intent: Annotated[
        str | None, typer.Option(metavar="INTENT", help="answer, act, draft, plan or recall; else told from the task.")
    ] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Your name for this conversation: it is told what is new.")
    ] = None,
    items: Annotated[
        str, typer.Option(metavar="WHICH", help="all, or new: only what the session has not had.")
    ] = "all",
    since: Annotated[
        str | None, typer.Option(metavar="CURSOR", help="Tell the session again what came after this cursor.")
    ] = None,
    as_of: AsOf = None,
    project: Annotated[
        str | None, typer.Option(metavar="NAME", help="Leave out what belongs to other projects; `.` is this one.")
    ] = None,
    shape: Annotated[
        str | None, typer.Option("--format", metavar="FORM", help="smp (as --json), json or markdown.")
    ] = None,
    pin: Annotated[
        bool, typer.Option("--pin", help="Keep the pack under its hash, for --replay and --verify.")
    ] = False,
    replay: Annotated[str | None, typer.Option(metavar="SHA", help="Print a pinned pack again.")] = None,
    verify: Annotated[
        str | None,
        typer.Option(metavar="SHA", help="Whether a pinned pack comes out the same: match, drift, tampered."),
    ] = None,
    graph: Annotated[bool, typer.Option("--graph", help="Add the entities around the items.")] = False,
    cursor: Cursor = None,
    team: TeamCopy = None,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Give a model the memories that suit a task, within its budget, and in a session only what is new."""
    if shape not in (None, *FORMATS):
        raise InvalidInput("context.format", f"format: one of {', '.join(FORMATS)}", {"field": "format"})
    if as_json and shape not in (None, "smp"):
        raise Usage("--json is --format smp; give one of them")
    if replay is not None or verify is not None:
        other = (task, model, intent, session, since, as_of, project, shape, cursor)
        if (replay is not None and verify is not None) or any(other) or pin or graph:
            raise Usage("--replay and --verify take a hash and nothing else")
    with opened(now, team=team) as segue:
        if replay is not None:
            output.as_json(segue.context.replay(replay))
            return 0
        if verify is not None:
            return _verified(segue.context.verify(verify), as_json=as_json)
        moment = segue.now()
        serving = segue.context.assemble(
            task,
            model=model,
            surface=surface,
            budget=budget,
            intent=intent,
            session=session,
            items=items,
            since=since,
            as_of=None if as_of is None else time.parse_moment(as_of, moment),
            project=project,
            graph=graph,
            pin=pin,
            cursor=cursor,
            now=moment,
        )
    _print(serving, "smp" if as_json else shape, moment)
    return 0


def _print(serving: Serving, shape: str | None, now: datetime) -> None:
    if shape == "smp":
        output.as_json(serving.envelope())
    elif shape == "json":
        output.as_json(serving.to_json())
    elif shape == "markdown" or not output.is_terminal():
        output.data(serving.to_markdown().removesuffix("\n"))
    else:
        output.data("\n".join(pack_lines(serving, now)))
    if shape not in ("smp", "json"):
        if serving.pack.cursor:
            output.note(f"more: --cursor {serving.pack.cursor}")
        if serving.pin:
            output.note(f"pinned: {serving.pin['pack_sha']}")


def _verified(found: Verification, *, as_json: bool) -> int:
    if as_json:
        output.as_json(found.to_json())
    else:
        output.data(found.status)
        for sign, listed in (("-", found.missing), ("+", found.new)):
            output.notes(f"{sign} {ref} ({layer})" for layer, ref in listed)
        output.notes(f"~ {ref} (another text)" for ref in found.changed)
        output.notes(f"x {ref} (forgotten)" for ref in found.forgotten)
    return 0 if found.status == "match" else 3


def query(
    find: Annotated[str | None, typer.Option(metavar="TEXT", help="Search for this.")] = None,
    ask: Annotated[str | None, typer.Option(metavar="TEXT", help="Take what a pack for this would hold.")] = None,
    layers: Annotated[list[str] | None, typer.Option(metavar="LAYERS", help="Only these, by commas.")] = None,
    entities: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Only what mentions any of these.")] = None,
    as_of: AsOf = None,
    everything: Annotated[bool, typer.Option("--all", help="Also what was replaced or is over.")] = False,
    min_relevance: Annotated[float | None, typer.Option(metavar="0..1", help="Only what matches that well.")] = None,
    min_trust: Annotated[float | None, typer.Option(metavar="0..1", help="Only what is that sure or trusted.")] = None,
    budget: Annotated[int | None, typer.Option(metavar="TOKENS", help="Of the pack, for --ask: 300 to 6000.")] = None,
    model: Model = "",
    direction: Annotated[
        str | None, typer.Option("--expand", metavar="WAY", help="Suggest document, neighbors or more of the best.")
    ] = None,
    k: Annotated[int | None, typer.Option("--k", "-k", metavar="N", help="How many, 1 to 50; 8 by default.")] = None,
    cursor: Cursor = None,
    team: TeamCopy = None,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Ask precisely: what to find, and what to leave out. Filters never change a relevance."""
    with opened(now, team=team) as segue:
        moment = segue.now()
        if cursor is not None:
            given = (find, ask, layers, entities, as_of, min_relevance, min_trust, budget, model, direction, k)
            if everything or any(each not in (None, "") for each in given):
                raise Usage("a cursor holds its query already; give nothing else")
            answer = segue.queries.more(cursor)
        else:
            at = None if as_of is None else time.to_text(time.parse_moment(as_of, moment))
            answer = segue.queries.query(
                {
                    "find": find,
                    "ask": ask,
                    "layers": _by_commas(layers),
                    "entities": entities,
                    "as_of": at,
                    "valid_only": not everything,
                    "min_relevance": min_relevance,
                    "min_trust": min_trust,
                    "budget_tokens": budget,
                    "model": model,
                    "expand": direction,
                    "k": k,
                }
            )
        _print_answer(answer, moment, as_json=as_json)
    return 0


def _by_commas(given: list[str] | None) -> list[str] | None:
    return None if given is None else [part.strip() for each in given for part in each.split(",")]


def _print_answer(answer: Answer, now: datetime, *, as_json: bool) -> None:
    if as_json:
        output.as_json(answer.to_json())
        return
    print_table([_cells(each, now) for each in answer.items], _LEAST, empty="nothing found", last=_CONTENT_WIDTH)
    if answer.items:
        output.note(f"{len(answer.items)} of {answer.narrowed:,}; {answer.considered:,} before filters")
    output.notes(answer.notes)
    if answer.cursor:
        output.note(f"more: --cursor {answer.cursor}")


def _cells(item: dict[str, Any], now: datetime) -> dict[str, str]:
    relevance = item["relevance"]
    return {
        "ID": ids.short(item["ref"]),
        "WHEN": time.ago(time.parse(item["occurred_at"]), now),
        "LAYER": item["layer"],
        "REL.": "" if relevance is None else f"{relevance:.2f}",
        "CONTENT": said(item["content"], _source_name(item["source_url"])),
    }


def _source_name(url: str | None) -> str:
    """The name of the source that an item was read from, empty for none."""
    before, found, rest = (url or "").partition("segue://source/")
    return rest.partition("/")[0] if found and not before else ""


def expand(
    ref: Annotated[
        str, typer.Argument(metavar="REF", show_default=False, help="A memory's id, an entity's name, or a cursor.")
    ],
    direction: Annotated[str, typer.Option(metavar="WAY", help="document, neighbors or more.")] = "document",
    limit: Annotated[int, typer.Option(metavar="N", help="How many neighbours, 1 to 50.")] = 8,
    team: TeamCopy = None,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Go on from a result: all of it, what stands around it, or the next page."""
    with opened(now, team=team) as segue:
        moment = segue.now()
        found = segue.queries.expand(_whole_id(segue, ref) if direction != "more" else ref, direction, limit)
    if as_json:
        output.as_json(found)
        return 0
    if not found["found"]:
        output.note("nothing there")
    elif direction == "document":
        _print_document(found["document"])
    else:
        if direction == "neighbors":
            output.data("beside " + ", ".join(map(one_line, found["seed_entities"])))
            output.data("\n".join(f"  {one_line(each['name'])}  {each['memories']}" for each in found["entities"]))
        print_table(
            [_cells(each, moment) for each in found["items"]], _LEAST, empty="nothing else", last=_CONTENT_WIDTH
        )
    return 0


def _whole_id(segue: Segue, ref: str) -> str:
    """The id that a person has shortened; what is none stays as it is, a name too."""
    if len(ids.unshortened(ref)) < ids.SHORT_LENGTH:
        return ref
    try:
        return segue.memories.get(ref).id
    except (NotFound, Ambiguous):
        return ref


def _print_document(document: dict[str, Any]) -> None:
    output.data(document["content"])
    about = [document["id"], document["layer"], document["kind"], document["captured_at"]]
    if document["provenance"]["origin"] == "record":
        about.append(document["provenance"]["ref"])
    output.note(" · ".join(one_line(str(each)) for each in about))
