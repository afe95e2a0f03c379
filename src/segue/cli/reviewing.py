"""review: what agents proposed, and candidates of continuity, approved or rejected by the person whose memory it is."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from segue.base import ids, time
from segue.base.errors import SegueError
from segue.base.untrusted import one_line
from segue.cli import candidate_lines, continuity, output
from segue.cli.arguments import MEMORIES, AsJson, Cursor, Limit, Now, Usage, opened, resumable
from segue.cli.correcting import edited_text, keep_text
from segue.cli.keys import pressed
from segue.cli.memory_lines import BAR, indented, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from segue.app import Segue
    from segue.continuity.candidate import Candidate
    from segue.memories.memory import Memory

_PAGE = 100
_KEYS = "aresq"
_PROMPT = "[a]pprove  [r]eject  [e]dit and approve  [s]kip  [q]uit: "
_KEYS_MORE = "mrsq"
_PROMPT_MORE = "[m]ore  [r]eject  [s]kip  [q]uit: "
_PROMPT_ROWS = 3
_KEYS_CANDIDATE = "arsq"
_PROMPT_CANDIDATE = "[a]pprove  [r]eject  [s]kip  [q]uit: "
_REASON = "rejected"
_CANDIDATE = re.compile(r"[Mm]-[0-9]+")
_SAID = {"a": "approved", "r": "rejected", "e": "edited and approved", "s": "skipped"}


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel=MEMORIES)(review)


def review(
    approve: Annotated[
        str | None, typer.Option(metavar="ID", help="Approve this one; --hash says which text you have seen.")
    ] = None,
    content_hash: Annotated[
        str | None, typer.Option("--hash", metavar="HASH", help="The hash that is shown beside the text.")
    ] = None,
    reject: Annotated[str | None, typer.Option(metavar="ID", help="Reject this one: it is forgotten.")] = None,
    reason: Annotated[str, typer.Option(help="Why it is rejected.")] = _REASON,
    limit: Limit = 50,
    cursor: Cursor = None,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Go through what waits for review, a key for each: approve, reject, edit, skip.

    Without a terminal, and with --json, the list is printed; --approve and --reject decide then.
    """
    if approve is not None and reject is not None:
        raise Usage("--approve and --reject do not go together")
    if (approve is None) != (content_hash is None):
        raise Usage("--approve and --hash go together")
    with opened(now) as segue:
        if approve is not None or reject is not None:
            _decide(segue, approve, content_hash or "", reject, reason, as_json=as_json)
        elif as_json or not output.is_terminal():
            _list(segue, limit, cursor, as_json=as_json)
        else:
            with resumable("decided"):
                _walk(segue)
    return 0


def _decide(
    segue: Segue, approve: str | None, content_hash: str, reject: str | None, reason: str, *, as_json: bool
) -> None:
    verdict = "rejected" if approve is None else "approved"
    memory_id = (
        _approved(segue, approve, content_hash) if approve is not None else _rejected(segue, reject or "", reason)
    )
    if as_json:
        output.as_json({"id": memory_id, "verdict": verdict})
    else:
        output.data(f"{verdict} {memory_id}")
        if approve is not None and _CANDIDATE.fullmatch(approve):
            output.note(candidate_lines.to_be_proven(memory_id))


def _approved(segue: Segue, given: str, content_hash: str) -> str:
    if _CANDIDATE.fullmatch(given):
        return segue.continuity.candidates.approve(given, content_hash).id
    return segue.memories.approve(given, content_hash).id


def _rejected(segue: Segue, given: str, reason: str) -> str:
    if _CANDIDATE.fullmatch(given):
        after, still = continuity.rejected(segue, given, reason)
        continuity.say_still(still)
        return after.id
    return segue.memories.reject(given, reason)


def _list(segue: Segue, limit: int, cursor: str | None, *, as_json: bool) -> None:
    page = segue.memories.pending(limit=limit, cursor=cursor)
    candidates = continuity.waiting(segue)
    waiting = segue.memories.count(statuses=("pending",)) + len(candidates)
    shown = candidates if cursor is None else []  # they stand on the first page
    if as_json:
        output.as_json({"waiting": waiting} | page.to_json() | {"candidates": [each.to_json() for each in shown]})
        return
    for each in shown:
        lines = candidate_lines.shown(each, segue.project.name)
        output.data("\n".join([*lines, f"  hash: {each.content_hash}", ""]))
    for memory in page.memories:
        output.data("\n".join([*_shown(segue, memory), f"  hash: {memory.content_hash}", ""]))
    if page.cursor:
        output.note(f"more: --cursor {page.cursor}")
    if waiting:
        output.note(f"{waiting:,} to review: `segue review --approve ID --hash HASH`, or `segue review --reject ID`")
    else:
        output.note("nothing waits for review")


def _shown(segue: Segue, memory: Memory) -> list[str]:
    """What a person needs to see to decide: the text, who proposed it, and what it would change."""
    written = memory.provenance
    said = [
        f"{memory.kind} ({memory.layer})",
        f"by {written.author or written.author_class}",
        time.ago(memory.captured_at, segue.now()),
    ]
    said += [f"project {memory.project}"] if memory.project else []
    said += [output.counted(number, "line")] if (number := memory.content.count("\n") + 1) > 1 else []
    lines = [f"{memory.id}  {one_line(', '.join(said))}", *indented(memory.content)]
    fields = {
        "summary": memory.summary,
        "entities": listed(memory.entities),
        "tags": listed(memory.tags),
        "url": written.url,
        "speaker": memory.speaker,
        "occurred": _time(memory.occurred_at),
        "holds from": _time(memory.valid_from),
        "holds until": _time(memory.valid_to),
        "confidence": "" if memory.confidence is None else f"{memory.confidence:g}",
    }
    lines += [f"  {label}: {one_line(value)}" for label, value in fields.items() if value]
    story = segue.memories.history(memory.id)
    lines += [f"  would replace {ids.short(each.id)}: {one_line(each.content)}" for each in story.older]
    replaced = {each.id for each in story.older}
    for conflict in story.conflicts:
        other = conflict.other_id if conflict.memory_id == memory.id else conflict.memory_id
        if other not in replaced:
            lines.append(f"  contradicts {ids.short(other)}: {one_line(segue.memories.get(other).content)}")
    return lines


def _time(instant: datetime | None) -> str:
    return "" if instant is None else time.to_text(instant)


def _walk(segue: Segue) -> None:
    """Ask about one after another. What is decided is decided at once, so that leaving loses nothing."""
    done: Counter[str] = Counter()
    unsaved = 0  # candidates that were approved: each needs a receipt yet
    candidates = continuity.waiting(segue)
    number = segue.memories.count(statuses=("pending",)) + len(candidates)
    for place, ask in enumerate(_questions(segue, candidates), 1):
        output.data(f"\n{place} of {max(number, place)}")
        said = ask()
        if not said:
            break
        done[said] += 1
        unsaved += said == _SAID["a"] and place <= len(candidates)
        output.note(said)
    left = segue.memories.count(statuses=("pending",)) + len(continuity.waiting(segue))
    counted = [f"{count} {name}" for name, count in done.items()]
    output.note(", ".join([*counted, f"{left:,} left"]) if number else "nothing waits for review")
    if unsaved:
        output.note(candidate_lines.to_be_proven("M-ID"))


def _questions(segue: Segue, candidates: list[Candidate]) -> Iterator[Callable[[], str]]:
    """Yield what asks about each in turn: the candidates of this project, then what agents proposed."""
    yield from (partial(_asked_candidate, segue, each.id) for each in candidates)
    yield from (partial(_asked, segue, each) for each in _waiting(segue))


def _waiting(segue: Segue) -> Iterator[Memory]:
    cursor = None
    while True:
        page = segue.memories.pending(limit=_PAGE, cursor=cursor)
        yield from page.memories
        cursor = page.cursor
        if cursor is None:
            return


def _asked(segue: Segue, memory: Memory) -> str:
    """Show a memory, ask until there is an answer that can be done, and return what was done; "" to leave."""
    while True:
        try:
            memory = segue.memories.get(memory.id)
            if memory.status != "pending":
                return "decided elsewhere"
            key = _read(_shown(segue, memory)) or pressed(_PROMPT, _KEYS)
            if key == "q":
                return ""
            if _done(segue, memory, key):
                return _SAID[key]
        except SegueError as error:
            if error.code == "memory.not_found":
                return "decided elsewhere"
            output.note(f"segue: {one_line(error.message)}")


def _asked_candidate(segue: Segue, candidate_id: str) -> str:
    """The same for a candidate, whose text cannot be edited: another text is another candidate."""
    while True:
        try:
            candidate = segue.continuity.candidates.get(candidate_id)
            if candidate.status != "candidate":
                return "decided elsewhere"
            key = _read(candidate_lines.shown(candidate, segue.project.name)) or pressed(
                _PROMPT_CANDIDATE, _KEYS_CANDIDATE
            )
            if key == "q":
                return ""
            if key == "a":
                segue.continuity.candidates.approve(candidate.id, candidate.content_hash)
            elif key == "r":
                continuity.say_still(continuity.rejected(segue, candidate.id, _REASON)[1])
            return _SAID[key]
        except SegueError as error:
            if error.code == "continuity.not_found":
                return "decided elsewhere"
            output.note(f"segue: {one_line(error.message)}")
            return "skipped"


def _read(lines: list[str]) -> str:
    """Show lines a screen at a time, so that none scrolls away unseen; return the key that ended it early."""
    columns, rows = shutil.get_terminal_size()
    page = max(rows - _PROMPT_ROWS, 1)
    folded = [piece for line in lines for piece in _folded(line, columns)]
    for start in range(0, len(folded), page):
        if start:
            left = output.counted(len(folded) - start, "more line")
            key = pressed(f"{left}: {_PROMPT_MORE}", _KEYS_MORE)
            if key != "m":
                return key
        output.data("\n".join(folded[start : start + page]))
    return ""


def _folded(line: str, columns: int) -> list[str]:
    """A line as a terminal shows it; what goes on in the next row begins as the text of others does."""
    from rich.cells import chop_cells

    lead = BAR if line.startswith(BAR) else "    "
    first, *rest = chop_cells(line, columns) or [""]
    if not rest:
        return [first]
    more = chop_cells(line[len(first) :], max(columns - len(lead), 2))
    return [first, *(lead + each for each in more)]


def _done(segue: Segue, memory: Memory, key: str) -> bool:
    if key == "a":
        segue.memories.approve(memory.id, memory.content_hash)
    elif key == "r":
        segue.memories.reject(memory.id)
    elif key == "e":
        return _edited(segue, memory)
    return True


def _edited(segue: Segue, memory: Memory) -> bool:
    """Let the person edit the text, and approve what he left. Returns whether there was anything to approve."""
    text = edited_text(memory.content)
    if text in ("", memory.content):
        output.note("nothing was changed")
        return False
    try:
        with output.echoed(as_json=False):
            after = segue.memories.edit(memory.id, content=text)
    except SegueError:
        keep_text(segue, text)
        raise
    segue.memories.approve(memory.id, after.content_hash)
    return True
