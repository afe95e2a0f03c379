"""remember, propose and forget: what goes into the store of memories by hand, and out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from segue.base.errors import Refused
from segue.base.untrusted import one_line
from segue.cli import output
from segue.cli.arguments import (
    MEMORIES,
    AsJson,
    Confidence,
    Entity,
    Kind,
    Layer,
    Mask,
    Now,
    OccurredAt,
    Project,
    Tag,
    Text,
    Usage,
    details,
    opened,
    policy,
    read_text,
)
from segue.cli.editor import kept_texts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from segue.app import Segue
    from segue.memories.memory import Memory
    from segue.services.memories import Remembered

MOST_AT_ONCE = 20  # memories that go without being asked for twice

_SourceUrl = Annotated[str | None, typer.Option(metavar="URL", help="The address that it was read at.")]


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel=MEMORIES)(remember)
    app.command(rich_help_panel=MEMORIES)(propose)


def register_forget(app: typer.Typer) -> None:
    app.command(rich_help_panel=MEMORIES)(forget)


def remember(
    text: Text,
    kind: Kind = None,
    layer: Layer = None,
    entity: Entity = None,
    tag: Tag = None,
    project: Project = None,
    source_url: _SourceUrl = None,
    occurred_at: OccurredAt = None,
    confidence: Confidence = None,
    mask: Mask = False,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Remember a text: a fact, a decision, a preference. Prints its id.

    The same text once more is the same memory, said twice.
    """
    content = read_text(text)
    with opened(now) as segue, output.echoed(as_json):
        given = details(
            segue,
            kind=kind,
            layer=layer,
            entity=entity,
            tag=tag,
            project=project,
            confidence=confidence,
            occurred_at=occurred_at,
        )
        done = segue.memories.remember(content, redaction=policy(mask), **_with_url(given, source_url))
    say(done, as_json=as_json)
    return 0


def propose(
    text: Text,
    kind: Kind = None,
    layer: Layer = None,
    entity: Entity = None,
    tag: Tag = None,
    project: Project = None,
    source_url: _SourceUrl = None,
    occurred_at: OccurredAt = None,
    confidence: Confidence = None,
    mask: Mask = False,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Put a text on the list for review, as an agent does; it is not found before you approve it. Prints its id."""
    content = read_text(text)
    with opened(now) as segue, output.echoed(as_json):
        given = details(
            segue,
            kind=kind,
            layer=layer,
            entity=entity,
            tag=tag,
            project=project,
            confidence=confidence,
            occurred_at=occurred_at,
        )
        done = segue.memories.propose(content, redaction=policy(mask), **_with_url(given, source_url))
    say(done, as_json=as_json)
    return 0


def _with_url(given: dict[str, Any], url: str | None) -> dict[str, Any]:
    return given if url is None else given | {"url": url}


def say(done: Remembered, *, as_json: bool) -> None:
    """Print the id of what was remembered, and what became of it."""
    if as_json:
        output.as_json(done.to_json())
        return
    if done.verdict == "approved":
        output.note("approved: it was waiting for review")
    elif done.memory.status == "retired":
        output.note(f"{_gone(done.memory)}; nothing was changed, `segue remember` makes it hold again")
    elif done.verdict != "new":
        times = done.memory.occurrences
        output.note(f"said before, {times:,} times now" if times > 1 else "known already")
    if done.memory.status == "pending":
        output.note("it waits for review; see `segue review`")
    output.notes(f"replaced {each}" for each in done.replaced)
    output.notes(f"contradicts {each}; see `segue memories show {each}`" for each in done.conflicts)
    output.data(done.memory.id)


def _gone(memory: Memory) -> str:
    by = f": {memory.superseded_by} replaced it" if memory.superseded_by else ""
    return f"said before, and it does not hold any more{by}"


def forget(
    memory_ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", show_default=False, help="Ids of memories, or unambiguous endings of them."),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(metavar="REF", help="Forget what was read from this source alone; see `segue memories sources`."),
    ] = None,
    reason: Annotated[str, typer.Option(help="Why; it is kept, the memory is not.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do it, however many they are.")] = False,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Forget memories for good: gone from lists, search, history and exports.

    What a source alone says is forgotten with --source, what others say too stays. That, and more than 20 memories at
    once, need --yes; without it the number is printed and nothing happens.
    """
    if bool(memory_ids) == (source is not None):
        raise Usage("give the ids of memories, or --source and what they were read from")
    with opened(now) as segue:
        if source is None:
            gone, still = _by_id(segue, memory_ids or [], reason, yes)
        else:
            gone, still = _by_source(segue, source, reason, yes)
        drafts = kept_texts(segue.home)
    if as_json:
        output.as_json({"forgotten": gone, "still_in": [f"{kind}:{name}" for kind, name in still]})
    elif source is None:
        output.data("\n".join(f"forgotten {each}" for each in gone))
    else:
        output.data(f"forgotten {output.counted(len(gone), 'memory', 'memories')}")
    if not as_json and gone:
        output.notes(_still(still))
        if drafts:
            output.note(f"texts of edits that were refused lie beside the store and may hold it: {_names(drafts)}")
        output.note("`segue vacuum` takes what was forgotten out of the file too")
    return 0


def _still(places: list[tuple[str, str]]) -> Iterator[str]:
    """What a person must know who wants a text to be gone: forgetting a memory does not touch what it was made of."""
    commands = {"packet": "segue rm", "capsule": "segue capsule rm"}
    for kind, name in places[:MOST_AT_ONCE]:
        output_name = one_line(name)
        if kind == "candidate":
            folder, _, candidate = output_name.partition("#")
            yield (
                f"its text still stands in the journal of {folder}; in that project `segue continuity forget "
                f"{candidate}` takes it out"
            )
            continue
        yield f"its text still stands in {kind} {output_name}; `{commands[kind]} {output_name}` removes that"
    if len(places) > MOST_AT_ONCE:
        yield f"  … and in {len(places) - MOST_AT_ONCE:,} more (--json names them)"


def _names(files: list[Path]) -> str:
    return ", ".join(one_line(str(each)) for each in files[:MOST_AT_ONCE]) + (" …" if len(files) > MOST_AT_ONCE else "")


def _by_id(segue: Segue, memory_ids: list[str], reason: str, yes: bool) -> tuple[list[str], list[tuple[str, str]]]:
    if len(memory_ids) > MOST_AT_ONCE and not yes:
        raise _unconfirmed(len(memory_ids), "")
    still = segue.memories.still_in(*memory_ids)  # it is known while they are there
    return segue.memories.forget(*memory_ids, reason=reason), still


def _by_source(segue: Segue, source: str, reason: str, yes: bool) -> tuple[list[str], list[tuple[str, str]]]:
    said, alone = segue.memories.said_by(source)
    kept = f"; {said - alone:,} that others say too would stay" if said > alone else ""
    if not yes:
        raise _unconfirmed(alone, kept)
    output.note(f"{output.counted(alone, 'memory', 'memories')} from {one_line(source)}{kept.replace('would ', '')}")
    still = segue.memories.still_in(source=source)
    return segue.memories.forget_source(source, confirmed=alone, reason=reason), still


def _unconfirmed(number: int, kept: str) -> Refused:
    counted = output.counted(number, "memory", "memories")
    return Refused(
        "memory.confirm",
        f"{counted} would be forgotten{kept}; nothing was. Give --yes to forget {'it' if number == 1 else 'them'}",
        {"memories": number},
    )
