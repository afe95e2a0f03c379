"""What contradicts what among the candidates of a pack, looked for only as far as it is needed.

All of them are read only where facts that say the same might be folded; else those in the pack, and those that match as
well as they do.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from segue.context.conflicts import Conflict, scan

if TYPE_CHECKING:
    from datetime import datetime

    from segue.context.candidate import Candidate

_NEAR = 80  # candidates that match best
MOST = 20  # contradictions that are told


class Contested(Container[object]):
    """The refs of candidates that contradict another one, as of a time."""

    def __init__(self, candidates: Sequence[Candidate], at: datetime) -> None:
        self._candidates = candidates
        self._at = at

    @cached_property
    def _all(self) -> tuple[Conflict, ...]:
        return scan([each.memory for each in self._candidates], now=self._at)

    @cached_property
    def _refs(self) -> frozenset[str]:
        return frozenset(each for one in self._all for each in (one.current.id, one.stale.id))

    def __contains__(self, ref: object) -> bool:
        return ref in self._refs

    def told(self, packed: frozenset[str]) -> tuple[Conflict, ...]:
        """Return what contradicts an item of the pack and is newer, at most 20.

        That what holds stands in a pack without what it contradicts is as it should be.
        """
        found = self._all if "_all" in self.__dict__ else self._near(packed)
        return tuple(each for each in found if each.stale.id in packed)[:MOST]

    def _near(self, packed: frozenset[str]) -> tuple[Conflict, ...]:
        ranked = sorted(self._candidates, key=lambda each: -(each.relevance or 0))
        best = {each.ref for each in ranked[:_NEAR]} | packed
        return scan([each.memory for each in self._candidates if each.ref in best], now=self._at)
