"""Whether two memories contradict each other, told by their words alone: rather missed than invented.

What is found is recorded and shown; nobody's memory is changed by it. Only kinds are served whose precision on the
labelled corpus (tests/corpora/conflicts) is at least 0.8; benchmarks/conflicts.py prints the figures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from segue.memories.claim_words import CLASSES, MANY
from segue.memories.claims import KINDS, Kind, claims

if TYPE_CHECKING:
    from collections.abc import Iterable

    from segue.memories.claims import Claim

Field = Literal["value", "polarity"]

Subject = tuple[Kind, tuple[str, frozenset[str]]]

SERVED_KINDS: frozenset[Kind] = frozenset(("number", "time", "name", "polarity"))
_UNKNOWN = "?"


class Finding(NamedTuple):
    """A contradiction: how it was told (number, time, name, polarity), and what differs (value or polarity)."""

    kind: Kind
    field: Field


def contradiction(first: str, second: str) -> Literal["", "value", "polarity"]:
    """Return `polarity` where one text denies the other, `value` where they give other values, else ""."""
    found = scan_pair(first, second)
    return found.field if found is not None and found.kind in SERVED_KINDS else ""


def scan_pair(first: str, second: str) -> Finding | None:
    """Return how two texts contradict each other, of whatever kind, or None."""
    if first == second:
        return None
    return conflict(claims(first), claims(second))


def conflict(one: Iterable[Claim], other: Iterable[Claim]) -> Finding | None:
    """Return how what one text claims contradicts what another does, or None.

    Where either claims several values of the same, all of them must differ from all of the other's.
    """
    mine, theirs = by_subject(one), by_subject(other)
    found = {
        key[0]
        for key in mine.keys() & theirs.keys()
        if all(differ(each, against) for each in mine[key] for against in theirs[key])
    }
    return next((finding(kind) for kind in KINDS if kind in found), None)


def by_subject(said: Iterable[Claim]) -> dict[Subject, list[Claim]]:
    """Return the claims of a text by their kind and what they are about."""
    found: dict[Subject, list[Claim]] = {}
    for claim in said:
        found.setdefault((claim.kind, claim.about), []).append(claim)
    return found


def finding(kind: Kind) -> Finding:
    """Return what a contradiction of that kind is."""
    return Finding(kind, "polarity" if kind == "polarity" else "value")


def differ(one: Claim, other: Claim) -> bool:
    """Whether two claims of one kind about the same cannot both hold."""
    if one.kind == "polarity":
        return _deny(one, other)
    if one.kind == "name":
        return _exclude(one, other)
    if one.kind == "time" and "-" in one.value:
        pairs = zip(one.value.split("-"), other.value.split("-"), strict=True)
        return any(mine != theirs and _UNKNOWN not in (mine, theirs) for mine, theirs in pairs)
    return one.value != other.value and not _refines(one.value, other.value)


def _refines(one: str, other: str) -> bool:
    """Whether a version is a more exact form of another: 7 and 7.2."""
    return one.startswith(f"{other}.") or other.startswith(f"{one}.")


def _deny(one: Claim, other: Claim) -> bool:
    if one.affirmed == other.affirmed:
        return False
    affirmed, denied = (one, other) if one.affirmed else (other, one)
    if denied.force == "need" and not affirmed.force:  # what is not needed may well be
        return False
    return one.order == other.order or bool(one.force or other.force)


def _exclude(one: Claim, other: Claim) -> bool:
    if _is_part(one.value, other.value) or _is_part(other.value, one.value):
        return False
    if one.value == other.rejected or other.value == one.rejected:
        return True
    mine, theirs = _classes(one.value), _classes(other.value)
    if mine and theirs and not mine & theirs:
        return False
    alike = mine & theirs
    relations = {one.relation, other.relation}
    if not alike and (one.named != other.named or ("with" in relations and not one.named)):
        return False
    return _compete(relations, alike, purpose=one.purpose or other.purpose)


def _is_part(one: str, other: str) -> bool:
    """Whether a name is the same or a more exact one: UUID and UUIDv7, ruff and ruff 0.14."""
    return other.startswith(one) or set(one.split()) <= set(other.split())


def _classes(value: str) -> frozenset[str]:
    words = value.split()
    return CLASSES.get(value) or CLASSES.get(words[0]) or CLASSES.get(words[-1], frozenset())


def _compete(relations: set[str], alike: frozenset[str], *, purpose: bool) -> bool:
    """Whether values that are tied to their subject in these ways leave no room for one another."""
    if "prefer" in relations:
        return len(relations) == 1 and bool(alike)
    if "own" in relations:
        return relations <= {"own", "be"}
    if "use" in relations:
        return purpose or bool(alike - MANY) if relations <= {"use", "be", "made", "move"} else False
    if relations <= {"be", "made", "move", "with"}:
        return True
    return len(relations) == 1
