"""The lifecycle of what may be kept for good (Continuity Memory Protocol, schema 6.0; facts 001.1).

    candidate -> approved -> saved -> stale
    candidate -> rejected
    approved  -> rejected

No other step is legal. Each step gives a new candidate and leaves the one that it was given as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from segue.base import jsontext, redaction, time
from segue.base.errors import Conflict, Refused
from segue.continuity.candidate import (
    APPROVERS,
    ID,
    KINDS,
    MAX_CONTENT,
    TX_ID,
    Candidate,
    Status,
    content_hash,
    invalid,
)
from segue.continuity.canonical import SCHEMA_VERSION, is_hash

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

# From where to where; a status without a way on is the end.
EDGES: dict[Status, tuple[Status, ...]] = {
    "candidate": ("approved", "rejected"),
    "approved": ("saved", "rejected"),
    "saved": ("stale",),
    "stale": (),
    "rejected": (),
}
MAX_REASON = 200

_TELLING = 6  # characters: shorter texts may stand inside a word by chance


def propose(candidate_id: str, content: str, *, kind: str, trigger: str, now: datetime) -> Candidate:
    """Return a new candidate. Raises InvalidInput `continuity.candidate`: no id, no text or too long, unknown kind."""
    text = content.strip()
    if not ID.fullmatch(candidate_id):
        raise invalid("a candidate needs an id of the form M-0001")
    if kind not in KINDS:
        raise invalid(f"there is no such kind; there are {', '.join(KINDS)}")
    if not text:
        raise invalid("there is nothing to keep: the text is empty")
    if not jsontext.is_unicode(text):
        raise invalid("the text holds half a character; it is no Unicode text")
    if len(text) > MAX_CONTENT:
        raise invalid(f"the text has {len(text):,} characters, at most {MAX_CONTENT:,} are kept: say one fact")
    moment = time.to_text(now)
    return Candidate.of(
        {
            "schema_version": SCHEMA_VERSION,
            "candidate_id": candidate_id,
            "kind": kind,
            "trigger": trigger,
            "status": "candidate",
            "content": text,
            "content_hash": content_hash(text),
            "reason": "",
            "created_at": moment,
            "updated_at": moment,
        }
    )


def approve(candidate: Candidate, *, seen_hash: str, approved_by: str, now: datetime) -> Candidate:
    """Return the candidate as approved by `user` or `policy`.

    `seen_hash` (64 hex digits) is that of the text that was looked at. Raises Refused `continuity.transition`,
    InvalidInput `continuity.candidate`, Conflict `continuity.changed` where the candidate says something else.
    """
    require_edge(candidate, "approved")
    if approved_by not in APPROVERS:
        raise invalid("a candidate is approved by user or by policy")
    if not is_hash(seen_hash):
        raise invalid("this is no hash: 64 hex digits, as they are shown beside the text")
    if seen_hash != candidate.content_hash:
        again = f"`segue continuity show {candidate.id}`"
        raise Conflict(
            "continuity.changed", f"{candidate.id} does not say what was looked at; look at it again: {again}"
        )
    moment = time.to_text(now)
    return _moved(candidate, "approved", moment, approved_by=approved_by, approved_at=moment)


def save(
    candidate: Candidate, *, release_tx_id: str, receipt_hash: str, memory_id: str = "", now: datetime
) -> Candidate:
    """Return the candidate as saved; `release_tx_id` and `receipt_hash` (64 hex digits) are those of the receipt.

    `memory_id` is the memory that it became, "" where there is none.

    That the receipt verifies and covers the candidate is for the caller to have seen. Raises Refused
    `continuity.transition`, InvalidInput `continuity.candidate`.
    """
    require_edge(candidate, "saved")
    if not TX_ID.fullmatch(release_tx_id):
        raise invalid("saved needs the id of a receipt, of the form TX-0001")
    if not is_hash(receipt_hash):
        raise invalid("saved needs the hash of a receipt: 64 hex digits")
    moment = time.to_text(now)
    given = {"release_tx_id": release_tx_id, "receipt_hash": receipt_hash, "saved_at": moment}
    if memory_id:
        given["memory_id"] = memory_id
    return _moved(candidate, "saved", moment, **given)


def retire(candidate: Candidate, *, reason: str, now: datetime) -> Candidate:
    """Return a saved candidate as stale: it does not hold any more.

    Raises Refused `continuity.transition`, InvalidInput `continuity.candidate` without a reason.
    """
    require_edge(candidate, "stale")
    moment = time.to_text(now)
    return _moved(candidate, "stale", moment, reason=_reason(reason), stale_at=moment)


def forget(candidate: Candidate, *, keyed: Callable[[str], str], now: datetime) -> Candidate:
    """Return a saved or stale candidate as stale and without its text; `keyed` is that of `reject`.

    Raises Refused `continuity.transition` for one of another status, whose text goes by `reject`.
    """
    if candidate.status == "stale" and not candidate.content:
        return candidate
    if candidate.status != "stale":
        candidate = retire(candidate, reason="forgotten", now=now)
    kept = {name: value for name, value in candidate.members.items() if name != "content"}
    return Candidate.of(kept | {"content_hash": keyed(candidate.content_hash), "updated_at": time.to_text(now)})


def reject(candidate: Candidate, *, reason: str, keyed: Callable[[str], str], now: datetime) -> Candidate:
    """Return what is left of a rejected candidate: id, status, keyed hash, time and reason.

    `keyed` makes the keyed hash of a content's hash (decision K3). Raises Refused `continuity.transition`, InvalidInput
    `continuity.candidate` without a reason, or where the reason repeats the text, which is to go.
    """
    require_edge(candidate, "rejected")
    shown = _reason(reason)
    if _repeats(shown, candidate.content):
        raise invalid("the reason repeats the rejected text, of which nothing is kept; say it in other words")
    return Candidate.of(
        {
            "candidate_id": candidate.id,
            "status": "rejected",
            "content_hash": keyed(candidate.content_hash),
            "rejected_at": time.to_text(now),
            "reason": shown,
        }
    )


def _repeats(reason: str, content: str) -> bool:
    said, gone = _words(reason), _words(content)
    return f" {gone} " in f" {said} " or (len(gone) >= _TELLING and gone in said)


def _words(text: str) -> str:
    return " ".join("".join(char if char.isalnum() else " " for char in text.casefold()).split()) or text


def require_edge(candidate: Candidate, to: Status) -> None:
    """Raise Refused `continuity.transition` where a candidate cannot become `to`."""
    allowed = EDGES[candidate.status]
    if to not in allowed:
        ways = f"it can become {' or '.join(allowed)}" if allowed else "that is the end of it"
        raise Refused(
            "continuity.transition",
            f"{candidate.id} is {candidate.status} and cannot become {to}; {ways}",
            {"id": candidate.id, "from": candidate.status, "to": to},
        )


def _reason(reason: str) -> str:
    """A reason as it is kept for good: on one line, without secrets."""
    said = " ".join(reason.split())
    if not said:
        raise invalid("a reason is needed")
    if not jsontext.is_unicode(said):
        raise invalid("the reason holds half a character; it is no Unicode text")
    said = redaction.mask(redaction.Field("reason", said, True))[0]
    if len(said) > MAX_REASON:
        raise invalid(f"a reason has at most {MAX_REASON} characters")
    return said


def _moved(candidate: Candidate, to: Status, moment: str, **given: Any) -> Candidate:
    return Candidate.of(candidate.to_json() | {"status": to, "updated_at": moment} | given)
