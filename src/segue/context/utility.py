"""What an item is worth in a pack: relevance, recency and trust, by what the reader and the task make of them.

Specification, section 4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from segue.context.candidate import Packed
from segue.context.layers import WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from segue.context.candidate import Candidate
    from segue.context.layers import Intent
    from segue.context.profiles import Profile, Weights

HALF_LIFE = 30.0  # days
UNKNOWN_TRUST = 0.5
DIGITS = 12  # after the point: what differs by less is as good
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Valued:
    """A candidate, its utility (0 to 1), and its cost in tokens where nothing of it is left out."""

    candidate: Candidate
    utility: float
    cost: int

    @property
    def whole(self) -> Packed:
        """The candidate as it is in a pack where nothing of it is left out."""
        return Packed(self.candidate, self.candidate.memory.content, self.cost)


def recency(age: timedelta) -> float:
    """Return what is left of a memory's freshness, 1 to 0: half after 30 days. One from the future is fresh (M4a)."""
    return math.exp(-max(age / _DAY, 0.0) * math.log(2) / HALF_LIFE)


def utility(
    relevance: float | None, age: timedelta, trust: float | None, *, prior: float = 1.0, weights: Weights
) -> float:
    """Return the utility of an item, whose layer counts `prior` (0 to 1) for the task.

    No relevance counts as 0, unknown trust as 0.5.
    """
    authority = UNKNOWN_TRUST if trust is None else trust
    mixed = weights.relevance * (relevance or 0.0) + weights.recency * recency(age) + weights.authority * authority
    return round(prior * mixed, DIGITS)


def value(candidates: Iterable[Candidate], *, profile: Profile, intent: Intent, now: datetime) -> list[Valued]:
    """Return what each candidate is worth and costs, in the order given."""
    weights = WEIGHTS[intent]
    total = sum(weights.values())
    priors = {layer: weight / total for layer, weight in weights.items()}
    return [
        Valued(
            each,
            utility(
                each.relevance,
                now - each.memory.captured_at,
                each.memory.trust,
                prior=priors[each.layer],
                weights=profile.weights,
            ),
            profile.cost(each.memory.content),
        )
        for each in candidates
    ]
