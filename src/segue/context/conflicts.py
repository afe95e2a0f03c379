"""Contradictions among the memories of a pack: the newest current one first, and the one that it contradicts.

Only active memories are looked at, and only those that say it for the same project and speaker, at a time when both
hold. What is found is told by ids: neither the field nor the note repeats a word of the memories.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from segue.base.text import fold
from segue.memories.claims import claims
from segue.memories.conflicts import SERVED_KINDS, Subject, by_subject, differ, finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from segue.memories.claims import Claim, Kind
    from segue.memories.conflicts import Field
    from segue.memories.memory import Memory

MOST = 400  # memories that are looked at: as many as there are candidates
_MOST_HEADS = 8  # memories of one subject that each further one is compared with
_UNSAID = frozenset(("question", "event"))  # kinds that claim nothing of what holds now

_DIFFER = {
    "value": "Both are active and give different values for the same thing.",
    "polarity": "Both are active and one denies what the other says.",
}
_NEWER = "Go by the first, which is newer; check it before you rely on either, and retire the other once it is settled."
_OWN = "Go by the first: the second comes from outside. Check before you rely on either."

_Key = tuple[tuple[str, str], Subject]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two memories that cannot both hold: `current` is to be preferred, `stale` is not.

    `field` says what differs (value, polarity), `kind` how that was told (number, time, name, polarity).
    """

    current: Memory
    stale: Memory
    field: Field
    kind: Kind

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `conflicts` in a pack (facts, section 004.3)."""
        return {
            "type": "contradiction",
            "field": self.field,
            "memory_ids": [self.current.id, self.stale.id],
            "prefer": self.current.id,
            "note": f"{_DIFFER[self.field]} {_OWN if _is_foreign(self.stale) > _is_foreign(self.current) else _NEWER}",
        }


def scan(memories: Sequence[Memory], *, now: datetime | None = None) -> tuple[Conflict, ...]:
    """Return the contradictions among the first 400 of `memories`, the newest current one first, each pair once.

    Current is what is newest, by when it occurred, else was captured; what the user or an agent said is preferred to
    what comes from outside. With `now`, what holds at that time is looked at, also where it was retired since.
    """
    known = {each.id: each for each in memories if _counts(each, now)}
    ranked = sorted(islice(known.values(), MOST), key=_rank, reverse=True)
    heads: dict[_Key, list[tuple[int, list[Claim]]]] = {}
    found: dict[tuple[int, int], Conflict] = {}
    for place, memory in enumerate(ranked):
        for key, said in _by_subject(memory):
            others = heads.setdefault(key, [])
            for head, against in others:
                current = ranked[head]
                if _overlap(current, memory) and all(differ(one, other) for one in said for other in against):
                    kind, field = finding(said[0].kind)
                    found.setdefault((head, place), Conflict(current, memory, field, kind))
                    break
            else:
                if len(others) < _MOST_HEADS:
                    others.append((place, said))
    return tuple(found[pair] for pair in sorted(found))


def _counts(memory: Memory, now: datetime | None) -> bool:
    if memory.kind in _UNSAID:
        return False
    if now is None:
        return memory.status == "active"
    if memory.status != "active" and (memory.retired_at is None or memory.retired_at <= now):
        return False
    begun = memory.valid_from is None or memory.valid_from <= now
    return begun and (memory.valid_to is None or now < memory.valid_to)


def _rank(memory: Memory) -> tuple[bool, datetime, datetime, str]:
    when = memory.occurred_at or memory.captured_at
    return not _is_foreign(memory), when, memory.captured_at, memory.id


def _is_foreign(memory: Memory) -> bool:
    return memory.provenance.author_class == "external"


def _by_subject(memory: Memory) -> Iterator[tuple[_Key, list[Claim]]]:
    """What a memory claims, by whose it is and what it is about."""
    whose = (fold(memory.project), fold(memory.speaker))
    for subject, said in by_subject(claims(memory.content)).items():
        if subject[0] in SERVED_KINDS:
            yield (whose, subject), said


def _overlap(one: Memory, other: Memory) -> bool:
    """Whether there is a time at which both hold."""
    for first, second in ((one, other), (other, one)):
        if first.valid_to is not None and second.valid_from is not None and first.valid_to <= second.valid_from:
            return False
    return True
