"""A handoff: the state of the work, whole, as it goes over a compaction or to another session (facts 001.2).

It is made of a state that was given, never of prose (decision K6), and restored as it was or not at all. What the
original lacks: a hash over the whole envelope, and checks of every type, so that neither an edited state nor a list of
several next actions passes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from segue.base import time
from segue.base.errors import InvalidInput
from segue.base.jsontext import is_json, is_unicode
from segue.continuity.candidate import STATUSES
from segue.continuity.canonical import SCHEMA_VERSION, digest, is_hash

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from segue.continuity.candidate import Candidate

KIND = "pre-compaction"
STATE_KEYS = (
    "current_step",
    "current_run",
    "current_node",
    "continuation_node",
    "completed_nodes",
    "open_questions",
    "pending_user_intents",
    "retest_due_questions",
    "recent_corrections",
    "evidence_ids",
    "unique_next_action",
)
LATER_KEYS = ("active_input_event_id", "question_queue_ids", "current_question_id", "question_queue_return_state")
MAX_TEXT, MAX_ITEMS = 4_096, 1_000

_PLACES = frozenset({"current_step", "current_run", "current_node", "continuation_node", *LATER_KEYS})
_IDS = frozenset({"completed_nodes", "evidence_ids", "question_queue_ids"})
_CANDIDATE_ID = re.compile(r"M-\d{1,18}", re.ASCII)
_BREAKS = re.compile(r"[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_HASH = "envelope_hash"


@dataclass(frozen=True, slots=True)
class Handoff:
    """A whole envelope. `artifact_hashes` are SHA-256 by name, `memory_candidates` the states of the candidates."""

    created_at: str
    state: Mapping[str, Any]
    artifact_hashes: Mapping[str, str]
    memory_candidates: tuple[Mapping[str, Any], ...]
    envelope_hash: str

    @property
    def next_action(self) -> str:
        """The one thing that is to be done next."""
        return str(self.state["unique_next_action"])

    def to_json(self) -> dict[str, Any]:
        """Return the envelope."""
        return _envelope(self) | {_HASH: self.envelope_hash}


@dataclass(frozen=True, slots=True)
class Restored:
    """What became of an envelope: the whole handoff, or None with the reason why nothing is restored.

    `mismatched` names every artifact that is not as it was, sorted; `newer` is the handoff that was made after it.
    """

    handoff: Handoff | None
    reason: str = ""
    mismatched: tuple[str, ...] = ()
    newer: Handoff | None = field(default=None)

    @property
    def is_ready(self) -> bool:
        return self.handoff is not None

    def to_json(self) -> dict[str, Any]:
        """Return `{"status": "ready", "state", …}` or `{"status": "REPAIR_REQUIRED", "reason", …}`."""
        newer = {"newer": {"created_at": self.newer.created_at, _HASH: self.newer.envelope_hash}} if self.newer else {}
        mismatched = {"mismatched_artifacts": list(self.mismatched)}
        if self.handoff is None:
            return {"status": "REPAIR_REQUIRED", "reason": self.reason, **mismatched, **newer}
        candidates = [dict(each) for each in self.handoff.memory_candidates]
        state = dict(self.handoff.state)
        return {"status": "ready", "state": state, **mismatched, "memory_candidates": candidates, **newer}


def create(
    state: object, artifact_hashes: Mapping[str, str], candidates: Sequence[Mapping[str, Any]], now: datetime
) -> Handoff:
    """Return the handoff of a state; members beyond those that are known are left out.

    Raises InvalidInput `handoff.state`, which names every missing key, or the one whose value is of the wrong shape.
    """
    fault = state_fault(state)
    if fault:
        raise InvalidInput("handoff.state", f"the state makes no handoff: {fault}", {"missing": missing(state)})
    made = Handoff(time.to_text(now), known(state), dict(artifact_hashes), tuple(dict(each) for each in candidates), "")
    return parse(_envelope(made) | {_HASH: _digest(_envelope(made))})


def _envelope(handoff: Handoff) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "handoff_kind": KIND,
        "status": "ready",
        "created_at": handoff.created_at,
        "state": dict(handoff.state),
        "artifact_hashes": dict(handoff.artifact_hashes),
        "memory_candidates": [dict(each) for each in handoff.memory_candidates],
    }


def candidate_state(candidate: Candidate, keyed: Callable[[str], str]) -> dict[str, str]:
    """Return what a handoff says of a candidate; its hash is the keyed one, whatever its status (decision K3).

    A handoff outlives what it speaks of, and must not name a text that is rejected or forgotten later. `keyed` makes
    the keyed hash of a content's hash.
    """
    kind = {"kind": candidate.kind} if candidate.kind else {}
    # Without its text, an entry holds the keyed hash already.
    said = keyed(candidate.content_hash) if candidate.content else candidate.content_hash
    return {"candidate_id": candidate.id, "status": candidate.status, **kind, "content_hash": said}


def known(state: object) -> dict[str, Any]:
    """Return the members of a state that a handoff has, in their order."""
    given = state if isinstance(state, Mapping) else {}
    return {name: given[name] for name in (*STATE_KEYS, *LATER_KEYS) if name in given}


def missing(state: object) -> list[str]:
    """Return the required keys that a state lacks, sorted."""
    return sorted(set(STATE_KEYS) - set(known(state)))


# -- restoring ------------------------------------------------------------------------------------------------------


def restore(
    payload: object, current: Mapping[str, str | None], *, newest: Handoff | None = None, older: bool = False
) -> Restored:
    """Return the handoff that `payload` is, if it is whole and every artifact is as it was; raises nothing.

    `current` has the hash of each artifact as it is now, None where there is none; `newest` is the newest handoff
    that is known: one that is older than it is restored only where `older` says that this is meant. Checks are those
    of the facts in their order, then ours.
    """
    reason, mismatched = _fault(payload, current)
    if reason:
        return Restored(None, reason, mismatched)
    handoff = _read(payload)
    newer = newest if newest is not None and is_older(handoff, newest) else None
    if newer is not None and not older:
        return Restored(None, f"a newer handoff was made at {newer.created_at}", (), newer)
    return Restored(handoff, newer=newer)


def is_older(one: Handoff, other: Handoff) -> bool:
    """Whether a handoff was made before another."""
    return time.parse(one.created_at) < time.parse(other.created_at)


def parse(payload: object) -> Handoff:
    """Return the handoff that an envelope is, whatever became of its artifacts. Raises InvalidInput `handoff.invalid`.

    Its hash holds then, and each of its members has its shape.
    """
    hashes = payload.get("artifact_hashes") if isinstance(payload, dict) else None
    reason, _ = _fault(payload, hashes if isinstance(hashes, dict) else {})
    if reason:
        raise InvalidInput("handoff.invalid", f"this is no whole handoff: {reason}")
    return _read(payload)


def artifact_names(payload: object) -> list[str]:
    """Return the names of the artifacts that an envelope speaks of, none where it has no such member."""
    hashes = payload.get("artifact_hashes") if isinstance(payload, dict) else None
    return [name for name in hashes if isinstance(name, str)] if isinstance(hashes, dict) else []


def _read(payload: Any) -> Handoff:
    candidates = tuple(dict(each) for each in payload["memory_candidates"])
    state = known(payload["state"])
    return Handoff(payload["created_at"], state, dict(payload["artifact_hashes"]), candidates, payload[_HASH])


def _fault(payload: object, current: Mapping[str, str | None]) -> tuple[str, tuple[str, ...]]:
    """The first thing that keeps an envelope from being restored, "" for none; and every artifact that differs."""
    if not isinstance(payload, dict) or payload.get("schema_version") != SCHEMA_VERSION:
        return "unsupported handoff schema", ()
    hashes = payload.get("artifact_hashes")
    if not isinstance(hashes, dict):
        return "missing artifact hashes", ()
    names = sorted(set(hashes) | {name for name, value in current.items() if value is not None})
    mismatched = tuple(name for name in names if not _is_same(hashes.get(name), current.get(name)))
    if mismatched:
        return "handoff artifact hash mismatch", mismatched
    return _shape_fault(payload), ()


def _is_same(then: object, now: object) -> bool:
    return is_hash(then) and then == now


def _shape_fault(payload: Mapping[str, Any]) -> str:
    state, candidates = payload.get("state"), payload.get("memory_candidates")
    if not isinstance(state, dict) or missing(state):
        lacking = f": {', '.join(missing(state))}" if isinstance(state, dict) else ""
        return f"incomplete handoff state{lacking}"
    if not isinstance(candidates, list):
        return "missing memory candidate state"
    if not all(_is_candidate(each) for each in candidates):
        return "invalid memory candidate state"
    if payload.get("handoff_kind") != KIND or payload.get("status") != "ready":
        return "it is no handoff that is ready"
    fault = state_fault(state)
    if fault:
        return f"invalid handoff state: {fault}"
    if not _is_time(payload.get("created_at")):
        return "it does not say when it was made"
    if not is_hash(payload.get(_HASH)):
        return "missing envelope hash"
    return "" if payload[_HASH] == _digest(payload) else "handoff envelope hash mismatch"


def _digest(envelope: Mapping[str, Any]) -> str:
    """The hash of an envelope; "" for one that JSON text cannot hold."""
    try:
        return digest(envelope, _HASH)
    except (TypeError, ValueError, RecursionError):
        return ""


def _is_candidate(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    name, status = entry.get("candidate_id"), entry.get("status")
    is_named = isinstance(name, str) and _CANDIDATE_ID.fullmatch(name) is not None
    return is_named and status in STATUSES and is_hash(entry.get("content_hash")) and _is_text(entry.get("kind", ""))


def _is_time(value: object) -> bool:
    try:
        return isinstance(value, str) and time.parse(value) is not None
    except ValueError:
        return False


# -- the shape of a state -------------------------------------------------------------------------------------------


def state_fault(state: object) -> str:
    """Return what is wrong with a state, naming the key, "" where it is complete and of the right shape."""
    if not isinstance(state, Mapping):
        return "it is no object"
    lacking = missing(state)
    if lacking:
        return f"it lacks {', '.join(lacking)}"
    for name, value in known(state).items():
        fault = _value_fault(name, value)
        if fault:
            return f"{name} {fault}"
    return ""


def _value_fault(name: str, value: object) -> str:
    if name == "unique_next_action":
        if not _is_text(value) or not str(value).strip():
            return "is not one text: it names exactly one action"
        return "names more than one action: it is one line" if _BREAKS.search(str(value).strip()) else ""
    if name in _PLACES and name not in _IDS:
        return (
            "" if value is None or _is_text(value) else f"is neither null nor a text of at most {MAX_TEXT:,} characters"
        )
    if not isinstance(value, list) or len(value) > MAX_ITEMS:
        return f"is not a list of at most {MAX_ITEMS:,}"
    if name in _IDS:
        return "" if all(_is_text(each) and each for each in value) else "holds something other than texts"
    is_good = all((_is_text(each) and each) or (isinstance(each, dict) and each and is_json(each)) for each in value)
    return "" if is_good else "holds something other than texts and objects"


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= MAX_TEXT and is_unicode(value)
