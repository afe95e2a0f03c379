"""memories edit and supersede: what was remembered, corrected or replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from segue.base.errors import Conflict, InvalidInput, Refused
from segue.cli import editor, output
from segue.cli.arguments import (
    AsJson,
    Confidence,
    Entity,
    Kind,
    Layer,
    Mask,
    MemoryId,
    Now,
    OccurredAt,
    Project,
    Tag,
    Usage,
    details,
    opened,
    policy,
    read_text,
)
from segue.cli.remembering import say

if TYPE_CHECKING:
    from segue.app import Segue
    from segue.memories.memory import Memory


def edit(
    memory_id: MemoryId,
    content: Annotated[str | None, typer.Option(metavar="TEXT|-", help="The new text; `-` reads it.")] = None,
    kind: Kind = None,
    layer: Layer = None,
    summary: Annotated[str | None, typer.Option(help="A shorter text that stands for it.")] = None,
    entity: Entity = None,
    tag: Tag = None,
    project: Project = None,
    occurred_at: OccurredAt = None,
    valid_from: Annotated[str | None, typer.Option(metavar="TIME", help="From when on it holds.")] = None,
    valid_to: Annotated[str | None, typer.Option(metavar="TIME", help="Until when it holds.")] = None,
    confidence: Annotated[str | None, typer.Option(metavar="0..1", help="How sure it is.")] = None,
    mask: Mask = False,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Correct a memory: its text opens in your editor, unless options say what to change.

    Of a list all is replaced; "" empties a field. What it said before stays in its history.
    """
    with opened(now) as segue, output.echoed(as_json):
        changes = details(
            segue,
            kind=kind,
            layer=layer,
            entity=entity,
            tag=tag,
            project=project,
            confidence=None,
            occurred_at=occurred_at,
            valid_from=valid_from,
            valid_to=valid_to,
        )
        changes |= {} if confidence is None else {"confidence": _number(confidence)}
        changes |= {} if summary is None else {"summary": summary}
        if content is not None:
            changes["content"] = read_text(content)
        before = segue.memories.get(memory_id)
        after = _edited(segue, before, mask) if not changes else _changed(segue, before, changes, mask)
    if as_json:
        output.as_json(after.to_json())
        return 0
    if after == before:
        output.note("nothing was changed")
    output.data(after.id)
    return 0


def _number(text: str) -> float | None:
    """A number, None for an emptied field. Raises InvalidInput `cli.value`."""
    try:
        return float(text) if text.strip() else None
    except ValueError:
        from segue.base.redaction import shown

        raise InvalidInput("cli.value", f"--confidence takes a number from 0 to 1, not '{shown(text, 40)}'") from None


def _changed(segue: Segue, before: Memory, changes: dict[str, Any], mask: bool) -> Memory:
    return segue.memories.edit(before.id, redaction=policy(mask), **changes)


def _edited(segue: Segue, before: Memory, mask: bool) -> Memory:
    if not output.is_terminal():
        raise Refused("memory.no_terminal", "an editor needs a terminal; say what to change with --content or others")
    text = edited_text(before.content)
    if text == before.content:
        return before
    if not text:
        raise Refused("memory.empty", "the text was emptied; nothing was changed. `segue forget` forgets a memory")
    try:
        if segue.memories.get(before.id).content_hash != before.content_hash:
            raise Conflict("memory.changed", f"{before.id} was changed meanwhile; look at it again")
        return _changed(segue, before, {"content": text}, mask)
    except Exception:
        keep_text(segue, text)
        raise


def edited_text(text: str) -> str:
    """Let the person edit a text and return what they left. Raises Failed `editor.…`, InvalidInput `file.encoding`."""
    left = editor.edit(text.encode() + b"\n", "memory.txt", instead="`segue memories edit ID --content TEXT`")
    try:
        return left.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise InvalidInput("file.encoding", "the editor left no UTF-8 text; nothing was changed") from None


def keep_text(segue: Segue, text: str) -> None:
    """An edited text that was refused is somebody's work: keep it, without the secrets in it, and say where."""
    from segue.base.redaction import Field, mask

    without, found = mask(Field("text", text, True), core_only=True, credentials=True)
    kept = editor.keep(segue.home, without.encode(), segue.now())
    said = ", what is secret in it masked" if found else ""
    output.note(f"your text is kept in {kept}{said}; `segue vacuum` removes it after a day")


def supersede(
    memory_id: MemoryId,
    text: Annotated[
        str | None, typer.Argument(metavar="TEXT|-", show_default=False, help="The new text; `-` reads it.")
    ] = None,
    by: Annotated[
        str | None, typer.Option(metavar="ID", help="The memory that replaces it, in the place of TEXT.")
    ] = None,
    kind: Kind = None,
    layer: Layer = None,
    entity: Entity = None,
    tag: Tag = None,
    project: Project = None,
    occurred_at: OccurredAt = None,
    confidence: Confidence = None,
    mask: Mask = False,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Replace a memory by another: the old one does not hold any more. Prints the id of the new one.

    What is not given is as the old memory has it.
    """
    if (text is None) == (by is None):
        raise Usage("give the new text, or --by and the memory that replaces it")
    content = "" if text is None else read_text(text)
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
        if by is not None and given:
            raise Usage("with --by the memory that replaces it stays as it is; `segue memories edit` changes it")
        done = segue.memories.supersede(memory_id, content, by=by or "", redaction=policy(mask), **given)
    say(done, as_json=as_json)
    return 0
