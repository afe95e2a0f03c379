"""The journal of candidates: one JSON document with a hash over all that it says (facts 001.1).

    {"schema_version": "6.0", "candidates": [...], "updated_at": "...", "journal_hash": "..."}

`journal_hash` is the SHA-256 of the JSON of the other three members: sorted keys, no white space, nothing escaped that
need not be.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from segue.base import jsontext, time
from segue.base.errors import InvalidInput, NotFound
from segue.continuity.candidate import REDUCED, Candidate
from segue.continuity.canonical import SCHEMA_VERSION, digest

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from segue.continuity.candidate import Status

MAX_BYTES = 16 << 20

_CODE = "continuity.journal"
_MEMBERS = {"schema_version", "candidates", "updated_at", "journal_hash"}


@dataclass(frozen=True, slots=True)
class Journal:
    """All candidates of a project in the order in which they were proposed; ids are unique."""

    candidates: tuple[Candidate, ...] = ()

    def get(self, candidate_id: str) -> Candidate:
        """Return a candidate by its id, written as `M-0001` or `m-1`. Raises NotFound `continuity.not_found`."""
        wanted = _folded(candidate_id)
        for each in self.candidates:
            if _folded(each.id) == wanted:
                return each
        raise NotFound("continuity.not_found", "no candidate has that id; see `segue continuity candidates`")

    def of(self, *statuses: Status) -> list[Candidate]:
        """Return the candidates of any of the statuses; of all where none is named."""
        return [each for each in self.candidates if not statuses or each.status in statuses]

    def with_(self, candidate: Candidate) -> Journal:
        """Return the journal with a candidate in the place of the one with its id, or behind all others."""
        others = [candidate if each.id == candidate.id else each for each in self.candidates]
        if candidate not in others:
            others.append(candidate)
        return replace(self, candidates=tuple(others))

    def next_id(self, after: int = 0) -> str:
        """Return the id for one more candidate, four digits at least: behind the highest here, and behind `after`."""
        return f"M-{max(after, *(int(each.id[2:]) for each in self.candidates), 0) + 1:04}"


def parse(data: bytes, keyed: Callable[[str], str]) -> Journal:
    """Return the journal that a file holds.

    Of rejected entries that another implementation wrote, only what is kept of them is read; `keyed` makes the keyed
    hash of a content's hash. Raises InvalidInput `continuity.journal`: no such document, a hash that does not fit, an
    entry that breaks its rules, an id that stands there twice.
    """
    if len(data) > MAX_BYTES:
        raise _invalid(f"it is larger than {MAX_BYTES:,} bytes")
    try:
        document = jsontext.parse(data)
    except InvalidInput as error:
        raise _invalid(error.message) from None
    if not isinstance(document, dict) or set(document) != _MEMBERS:
        raise _invalid(f"it is no object of {', '.join(sorted(_MEMBERS))}")
    if document["schema_version"] != SCHEMA_VERSION:
        raise _invalid(f"its schema is not {SCHEMA_VERSION}")
    if not isinstance(document["candidates"], list):
        raise _invalid("candidates is not a list")
    if not isinstance(document["updated_at"], str):
        raise _invalid("updated_at is not a time")
    if document["journal_hash"] != digest(document, "journal_hash"):
        raise _invalid("its hash does not fit: it was changed by something else")
    return Journal(_entries(document["candidates"], keyed))


def dump(journal: Journal, now: datetime) -> bytes:
    """Return the file of a journal: indented JSON that ends with a line break.

    Raises InvalidInput `continuity.journal` where it would be too large to be read again.
    """
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "candidates": [each.to_json() for each in journal.candidates],
        "updated_at": time.to_text(now),
    }
    document["journal_hash"] = digest(document, "journal_hash")
    data = json.dumps(document, ensure_ascii=False, indent=2).encode() + b"\n"
    if len(data) > MAX_BYTES:
        raise _invalid(f"it would be larger than {MAX_BYTES:,} bytes")
    return data


def _entries(entries: list[Any], keyed: Callable[[str], str]) -> tuple[Candidate, ...]:
    found: dict[str, Candidate] = {}  # by the number: M-1 and M-0001 are one
    for entry in entries:
        if not isinstance(entry, dict):
            raise _invalid("an entry is no object")
        try:
            candidate = Candidate.of(entry)
        except InvalidInput as error:
            raise _invalid(error.message) from None
        if _folded(candidate.id) in found:
            raise _invalid(f"{candidate.id} stands there twice")
        found[_folded(candidate.id)] = _reduced(candidate, keyed) if candidate.status == "rejected" else candidate
    return tuple(found.values())


def _reduced(candidate: Candidate, keyed: Callable[[str], str]) -> Candidate:
    entry = candidate.members
    if set(entry) <= set(REDUCED):
        return candidate
    rejected_at = entry.get("rejected_at") or entry.get("updated_at") or ""
    # With more than that it was not written here, so its hash is the plain one, which names the text to who guesses it.
    kept = {"content_hash": keyed(candidate.content_hash), "rejected_at": rejected_at}
    return Candidate.of({name: (dict(entry) | kept)[name] for name in REDUCED})


def _folded(candidate_id: str) -> str:
    head, _, digits = candidate_id.strip().upper().partition("-")
    return f"{head}-{digits.lstrip('0')}"


def _invalid(message: str) -> InvalidInput:
    return InvalidInput(_CODE, f"the journal of candidates cannot be used: {message}; see docs/continuity.md")
