"""continuity: what is kept of a project for good, from the proposal to the day that it does not hold any more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from segue.base.errors import InvalidInput, SegueError
from segue.base.untrusted import one_line
from segue.cli import output, project_memory
from segue.cli.arguments import CONTINUITY, AsJson, Now, Text, opened, read_text
from segue.cli.candidate_lines import since, to_be_proven
from segue.cli.table import print_table
from segue.continuity.candidate import STATUSES

if TYPE_CHECKING:
    from segue.app import Segue
    from segue.continuity.candidate import Candidate, Status

_LEAST = {"KIND": 60, "SINCE": 80}

CandidateId = Annotated[
    str, typer.Argument(metavar="M-ID", show_default=False, help="A candidate's id, such as M-0001.")
]


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        no_args_is_help=True, help="What is kept of this project for good: proposed, approved, saved with a receipt."
    )
    for command in (propose, approve, reject, save, retire, forget, candidates):
        group.command()(command)
    project_memory.register(group)
    app.add_typer(group, name="continuity", rich_help_panel=CONTINUITY)


def propose(
    text: Text,
    trigger: Annotated[
        str,
        typer.Option(metavar="EVENT", help="What it came with: message, or step_complete for a rule that was learned."),
    ] = "message",
    kind: Annotated[
        str, typer.Option(metavar="KIND", help="feedback, correction, project or reference; else what the text says.")
    ] = "",
    again: Annotated[bool, typer.Option("--again", help="Also where this very text was rejected before.")] = False,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Propose a text that is to last: a preference, a correction, feedback about quality, a rule of a completed step.

    Anything else makes no candidate, and nothing is kept of it. Secrets, test counts, commits, transcripts and what
    source or git already say are refused.
    """
    said = read_text(text)
    with opened(now) as segue:
        made = segue.continuity.candidates.propose(said, trigger=trigger, kind=kind, again=again)
    if as_json:
        output.as_json({"candidate": made.to_json() if made else None})
    elif made is None:
        output.note("no candidate: it teaches nothing that is meant to last; nothing was kept")
    else:
        output.data(made.id)
        output.note(
            f"{made.kind}, waits for approval: `segue review`, or `segue continuity approve {made.id} --hash HASH`"
        )
        output.note(f"hash: {made.content_hash}")
    return 0


def approve(
    candidate_id: CandidateId,
    content_hash: Annotated[
        str, typer.Option("--hash", metavar="HASH", help="The hash that is shown beside the text that you have seen.")
    ],
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Approve a candidate. That saves nothing yet: a receipt that proves its text does (`segue continuity save`)."""
    with opened(now) as segue:
        after = segue.continuity.candidates.approve(candidate_id, content_hash)
    _told(after, as_json=as_json)
    if not as_json:
        output.note(to_be_proven(after.id))
    return 0


def reject(
    candidate_id: CandidateId,
    reason: Annotated[str, typer.Option(help="Why; it must not repeat the text.")],
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Reject a candidate, approved or not: its text goes; id, a keyed hash, the time and the reason are left."""
    with opened(now) as segue:
        after, still = rejected(segue, candidate_id, reason)
    if as_json:
        output.as_json({"candidate": after.to_json(), "still_in": still})
        return 0
    say_still(still)
    return _told(after, as_json=False)


def rejected(segue: Segue, candidate_id: str, reason: str) -> tuple[Candidate, list[str]]:
    """Reject a candidate; return what is left of it, and the files of handoffs in which its text still stands."""
    text = segue.continuity.candidates.get(candidate_id).content
    after = segue.continuity.candidates.reject(candidate_id, reason)
    return after, [str(each) for each in segue.continuity.handoffs.quoting(text)]


def say_still(files: list[str]) -> None:
    """Say what a person must know who wants a text to be gone: a handoff is whole, or worth nothing."""
    output.notes(
        f"its text still stands in a handoff, {one_line(each)}: remove that file to be rid of it" for each in files
    )


def forget(candidate_id: CandidateId, now: Now = None, as_json: AsJson = False) -> int:
    """Take the text of a saved or stale candidate out of the journal, and forget its memory; it is stale then.

    Files of the project, ledgers and memory store among them, keep what they say.
    """
    with opened(now) as segue:
        text = segue.continuity.candidates.get(candidate_id).content
        after = segue.continuity.candidates.forget(candidate_id)
        still = [str(each) for each in segue.continuity.handoffs.quoting(text)]
    if as_json:
        output.as_json({"candidate": after.to_json(), "still_in": still})
        return 0
    output.data(f"forgotten {after.id}")
    say_still(still)
    output.note("`segue vacuum` takes what was forgotten out of the store's file too")
    return 0


def _told(candidate: Candidate, *, as_json: bool) -> int:
    if as_json:
        output.as_json({"candidate": candidate.to_json()})
    else:
        output.data(f"{candidate.status} {candidate.id}")
    return 0


def save(
    candidate_id: CandidateId,
    receipt: Annotated[str, typer.Option(metavar="TX", help="The receipt that proves its text, such as TX-0001.")],
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Save an approved candidate: with a receipt that holds and covers its text, it becomes an active memory."""
    with opened(now) as segue:
        saved = segue.continuity.candidates.save(candidate_id, receipt)
    if as_json:
        output.as_json(saved.to_json())
        return 0
    output.data(f"saved {saved.candidate.id} as {saved.memory_id}")
    output.notes(f"contradicts {each}; see `segue memories show {each}`" for each in saved.conflicts)
    return 0


def retire(
    candidate_id: CandidateId,
    reason: Annotated[str, typer.Option(help="Why it does not hold any more.")],
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Say that a saved candidate does not hold any more: it is stale, its memory retired, its fact archived."""
    with opened(now) as segue:
        retired = segue.continuity.candidates.retire(candidate_id, reason)
    if as_json:
        output.as_json(retired.to_json())
        return 0
    output.data(f"stale {retired.candidate.id}")
    if retired.archived:
        output.note(f"archived {one_line(retired.archived)}")
    if retired.fault:
        output.note(f"the fact in the memory store was not archived: {one_line(retired.fault)}")
    return 0


def candidates(
    status: Annotated[
        list[str] | None,
        typer.Option(metavar="STATUS", help="Only candidate, approved, saved, stale or rejected; may be repeated."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """List the candidates of this project, oldest first, whatever became of them."""
    wanted = _statuses(status or [])
    with opened() as segue:
        found = segue.continuity.candidates.ls(*wanted)
    if as_json:
        output.as_json({"candidates": [each.to_json() for each in found]})
        return 0
    rows = [
        {
            "ID": each.id,
            "STATUS": each.status,
            "KIND": each.kind,
            "SINCE": one_line(since(each)[:10]),
            "CONTENT": one_line(each.content or f"(gone: {each.reason})"),
        }
        for each in found
    ]
    print_table(rows, _LEAST, empty="no candidates", last=100)
    return 0


def waiting(segue: Segue) -> list[Candidate]:
    """Return the candidates of this project that wait; a journal that cannot be used keeps nobody from the rest."""
    try:
        return segue.continuity.candidates.waiting()
    except SegueError as error:
        output.note(f"segue: {one_line(error.message)}")
        return []


def _statuses(given: list[str]) -> list[Status]:
    found = [status for each in given for status in STATUSES if status == each]
    if len(found) < len(given):
        raise InvalidInput("continuity.status", f"no such status; there are {', '.join(STATUSES)}")
    return found
