"""A candidate for what is kept for good: one entry of the journal (facts 001.1).

An entry is kept with the members that it was written with, in their order, so that one of another implementation comes
out as it came in. Of a rejected one five members are left, whoever wrote it.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

from segue.base.errors import InvalidInput
from segue.continuity.canonical import is_hash

if TYPE_CHECKING:
    from collections.abc import Mapping

Status = Literal["candidate", "approved", "saved", "stale", "rejected"]
Kind = Literal["feedback", "correction", "project", "reference"]
STATUSES: tuple[Status, ...] = get_args(Status)
KINDS: tuple[Kind, ...] = get_args(Kind)
APPROVERS = ("user", "policy")
REDUCED = ("candidate_id", "status", "content_hash", "rejected_at", "reason")  # all that is left of a rejected one
MAX_CONTENT = 4_000  # characters: one fact

ID = re.compile(r"M-[0-9]{1,18}")
TX_ID = re.compile(r"TX-[0-9]{1,18}")

_CODE = "continuity.candidate"
_TEXTS = ("kind", "trigger", "content", "reason", "created_at", "updated_at", "approved_at", "saved_at", "stale_at")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One entry. `members` are its JSON members and cannot be changed; what an entry lacks reads as ""."""

    members: Mapping[str, Any]

    @classmethod
    def of(cls, members: Mapping[str, Any]) -> Candidate:
        """Return the candidate of an entry. Raises InvalidInput `continuity.candidate` where a rule is broken.

        The rules: an id `M-` and digits, a known status, a hash of 64 hex digits that is the content's, and what its
        status needs: who approved it, which receipt proves it, why it was taken back.
        """
        candidate = cls(MappingProxyType(dict(members)))
        _check(candidate)
        return candidate

    def __reduce__(self) -> tuple[Any, ...]:
        return Candidate.of, (dict(self.members),)

    def _text(self, name: str) -> str:
        value = self.members.get(name)
        return value if isinstance(value, str) else ""

    @property
    def id(self) -> str:
        return self._text("candidate_id")

    @property
    def status(self) -> Status:
        status: Status = self.members["status"]
        return status

    @property
    def kind(self) -> str:
        """One of KINDS; "" for a rejected one."""
        return self._text("kind")

    @property
    def trigger(self) -> str:
        return self._text("trigger")

    @property
    def content(self) -> str:
        """The text, without white space at its ends; "" for one that was rejected or forgotten."""
        return self._text("content")

    @property
    def content_hash(self) -> str:
        """64 hex digits: the SHA-256 of the content, and where that is gone the keyed hash of it (decision K3)."""
        return self._text("content_hash")

    @property
    def reason(self) -> str:
        """Why it was rejected, or does not hold any more."""
        return self._text("reason")

    @property
    def created_at(self) -> str:
        return self._text("created_at")

    @property
    def approved_by(self) -> str:
        return self._text("approved_by")

    @property
    def release_tx_id(self) -> str:
        return self._text("release_tx_id")

    @property
    def receipt_hash(self) -> str:
        return self._text("receipt_hash")

    def to_json(self) -> dict[str, Any]:
        """Return the entry as it stands in the journal, as a copy."""
        return dict(self.members)


def content_hash(content: str) -> str:
    """Return the SHA-256 (64 hex digits) of a text without white space at its ends: what an approval is bound to."""
    return hashlib.sha256(content.strip().encode()).hexdigest()


def invalid(message: str) -> InvalidInput:
    """Return the error for an entry that breaks its rules; it never quotes the content."""
    return InvalidInput(_CODE, message)


def _check(candidate: Candidate) -> None:
    if not ID.fullmatch(candidate.id):
        raise invalid("an entry has no id of the form M-0001")
    if candidate.members.get("status") not in STATUSES:
        raise invalid(f"{candidate.id} has no status that is known")
    if not is_hash(candidate.content_hash):
        raise invalid(f"{candidate.id} has no hash of 64 hex digits")
    if candidate.status != "rejected":
        _check_content(candidate)
    if candidate.status in ("rejected", "stale"):
        _require(candidate, candidate.reason.strip(), "reason")
    if candidate.status in ("approved", "saved", "stale"):
        _require(candidate, candidate.approved_by in APPROVERS, "approved_by (user or policy)")
    if candidate.status in ("saved", "stale"):
        _require(candidate, TX_ID.fullmatch(candidate.release_tx_id), "release_tx_id")
        _require(candidate, is_hash(candidate.receipt_hash), "receipt_hash")


def _check_content(candidate: Candidate) -> None:
    for name in _TEXTS:
        if not isinstance(candidate.members.get(name, ""), str | None):
            raise invalid(f"{candidate.id}: {name} is not a text")
    if candidate.kind not in KINDS:
        raise invalid(f"{candidate.id}: its kind is none of {', '.join(KINDS)}")
    if candidate.status == "stale" and "content" not in candidate.members:
        return  # it was forgotten
    if not candidate.content or content_hash(candidate.content) != candidate.content_hash:
        raise invalid(f"{candidate.id}: its text is not the one that its hash was made of")


def _require(candidate: Candidate, holds: object, name: str) -> None:
    if not holds:
        raise invalid(f"{candidate.id} is {candidate.status} and lacks {name}")
