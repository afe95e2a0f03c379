"""Packing: which candidates come into a pack, and in which words.

Specification, sections 4 and 5; facts, section 004.3; decisions M3 and M4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from segue.context import folding, greedy, knapsack, ladder
from segue.context.candidate import Selection
from segue.context.layers import PACK_LAYERS, WEIGHTS
from segue.context.utility import value

if TYPE_CHECKING:
    from collections.abc import Container, Sequence
    from datetime import datetime

    from segue.context.candidate import Candidate, Packed
    from segue.context.layers import Intent
    from segue.context.profiles import Profile
    from segue.context.utility import Valued

_RANKS = {layer: rank for rank, layer in enumerate(PACK_LAYERS)}


def pack(
    candidates: Sequence[Candidate],
    room: int,
    *,
    profile: Profile,
    intent: Intent,
    now: datetime,
    conflicting: Container[object] = frozenset(),
) -> Selection:
    """Return what of `candidates`, in the order they arrived, comes into `room` tokens, and what does not.

    `room` is what the header leaves of the budget; `now` is what ages are counted to. A profile with a knapsack never
    takes more; the greedy one does where the first constraint or the cut first fact needs it (`used` says so). Facts
    that say the same are folded, unless one is among the refs in `conflicting`; the greedy profile folds nothing. Each
    candidate is packed, folded into a packed one, or dropped. A group of which nothing comes in is dropped one by one.
    """
    ordered = sorted(candidates, key=lambda each: _RANKS[each.layer])
    if profile.packer == "greedy":
        return greedy.fill(ordered, room, profile=profile, weights=WEIGHTS[intent])
    groups = folding.groups(ordered, conflicting)
    told = [folding.folded([ordered[place] for place in group]) for group in groups]
    packed = _pack(value(told, profile=profile, intent=intent, now=now), room, profile)
    lost = sorted(member for place, group in enumerate(groups) if place not in packed for member in group)
    return Selection(
        tuple(packed[place] for place in sorted(packed)), tuple((ordered[member], "budget") for member in lost)
    )


def _pack(items: Sequence[Valued], room: int, profile: Profile) -> dict[int, Packed]:
    """Return what is packed of `items` by its place: the knapsack's picks, then what the ladder brings back."""
    packed: dict[int, Packed] = {}
    first = knapsack.protected(items)
    if first is not None and items[first].cost > room:
        shortened = ladder.compressed(items[first].candidate, room, profile, shortest=1)
        if shortened is not None:
            packed[first] = shortened
            room -= shortened.cost
    for place in knapsack.pick(items, room, first):
        packed[place] = items[place].whole
        room -= items[place].cost
    losers = {place: item for place, item in enumerate(items) if place not in packed}
    return packed | ladder.recover(losers, room, profile)
