"""Candidates of continuity as lines of text: to decide on, and to look at later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segue.base.untrusted import one_line
from segue.cli import output
from segue.cli.memory_lines import indented

if TYPE_CHECKING:
    from segue.continuity.candidate import Candidate


def shown(candidate: Candidate, project: str) -> list[str]:
    """Return what a person needs to see to decide on a candidate."""
    said = [
        f"candidate of kind {candidate.kind}",
        f"from {'a completed step' if candidate.trigger == 'step_complete' else 'a message'}",
        f"proposed {since(candidate)[:10]}",
        f"project {project}",
    ]
    number = candidate.content.count("\n") + 1
    said += [output.counted(number, "line")] if number > 1 else []
    return [f"{candidate.id}  {one_line(', '.join(said))}", *indented(candidate.content)]


def portrait(candidate: Candidate) -> list[str]:
    """Return all that a person may want to know of a candidate, whatever became of it."""
    fields = {
        "kind": candidate.kind,
        "since": since(candidate),
        "reason": candidate.reason,
        "receipt": candidate.release_tx_id,
        "memory": str(candidate.members.get("memory_id") or ""),
        "hash": candidate.content_hash,
    }
    lines = [f"{candidate.id} ({candidate.status})"]
    lines += [f"  {name}: {one_line(value)}" for name, value in fields.items() if value]
    return lines + (["", *indented(candidate.content)] if candidate.content else [])


def since(candidate: Candidate) -> str:
    """Return when a candidate became what it is, empty where that is not known."""
    names = ("rejected_at", "updated_at", "created_at")
    return next((value for name in names if isinstance(value := candidate.members.get(name), str) and value), "")


def to_be_proven(candidate_id: str) -> str:
    """Return what is left to do once a candidate is approved; `saved` is said of none before it is."""
    then = f"`segue continuity save {candidate_id} --receipt TX`"
    return f"it waits for a receipt: `segue receipt issue LEDGER` once a ledger says it, then {then}"
