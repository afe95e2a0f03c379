"""The knapsack: what is worth most for its tokens comes first, and what was said already is worth less.

Decision M4. The order is greedy, by density: utility, less up to 35 % for words that were seen before, over cost. It
does not look at the room, so a larger room begins with what a smaller one took. Words seen can only make an item worth
less, so a heap of old densities is enough: what is on top is weighed again, and is next where it stays on top.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING

from segue.context.utility import DIGITS
from segue.context.words import likeness, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from segue.context.utility import Valued

PENALTY = 0.35


def protected(items: Sequence[Valued]) -> int | None:
    """Return the place of the constraint that must not be lost: the first of the highest utility; None without any."""
    places = [place for place, item in enumerate(items) if item.candidate.layer == "constraints"]
    return max(places, key=lambda place: items[place].utility, default=None)


def order(items: Sequence[Valued], first: int | None = None) -> Iterator[int]:
    """Yield the places of all items in greedy order, beginning with `first`; of equals the earlier place comes first.

    What was yielded counts as seen, whether it was taken or not.
    """
    seen = _Seen()
    if first is not None:
        yield first
        seen.add(words(items[first].candidate.memory.content))
    met: dict[int, tuple[frozenset[str], float, int]] = {}  # words, likeness so far, and how many were seen then
    heap = [(-round(item.utility / item.cost, DIGITS), place) for place, item in enumerate(items) if place != first]
    heapq.heapify(heap)
    while heap:
        place = heap[0][1]
        item = items[place]
        own, like, since = met.get(place) or (words(item.candidate.memory.content), 0.0, 0)
        if since < len(seen):
            like = seen.likeness(own, like, since)
            met[place] = own, like, len(seen)
            density = item.utility * (1 - PENALTY * like) / item.cost
            heapq.heapreplace(heap, (-round(density, DIGITS), place))
            if heap[0][1] != place:
                continue
        heapq.heappop(heap)
        met.pop(place, None)
        yield place
        seen.add(own)


def pick(items: Sequence[Valued], room: int, first: int | None = None) -> list[int]:
    """Return the places of what is taken into `room` tokens, as it was taken; `first` only where it fits, too.

    The walk ends as soon as all that could still fit does: nothing, as a rule.
    """
    taken: list[int] = []
    fitting = _Fitting([item.cost for item in items], room)
    for place in order(items, first):
        if items[place].cost <= fitting.room:
            taken.append(place)
        fitting.visit(place)
        if fitting.total <= fitting.room:
            break
    return taken + fitting.places()


class _Fitting:
    """Which items that were not visited fit into what is left of the room, and what they cost together."""

    def __init__(self, costs: Sequence[int], room: int) -> None:
        self.room = room
        self.total = sum(costs)
        self._costs = costs
        self._left = sorted(range(len(costs)), key=lambda place: costs[place])
        self._visited: set[int] = set()
        self._shrink()

    def visit(self, place: int) -> None:
        """Take an item, where it fits."""
        self._visited.add(place)
        if self._costs[place] <= self.room:
            self.total -= self._costs[place]
            self.room -= self._costs[place]
            self._shrink()

    def places(self) -> list[int]:
        """Return what fits, in the order of the items."""
        return sorted(set(self._left) - self._visited)

    def _shrink(self) -> None:
        while self._left and self._costs[self._left[-1]] > self.room:
            place = self._left.pop()
            if place not in self._visited:
                self.total -= self._costs[place]


class _Seen:
    """The sets of words that were seen, and by word in which of them it stands."""

    def __init__(self) -> None:
        self._sets: list[frozenset[str]] = []
        self._holding: dict[str, list[int]] = {}

    def __len__(self) -> int:
        return len(self._sets)

    def add(self, own: frozenset[str]) -> None:
        for word in own:
            self._holding.setdefault(word, []).append(len(self._sets))
        self._sets.append(own)

    def likeness(self, own: frozenset[str], most: float, since: int) -> float:
        """Return the likeness of a set to that which is likest, where `most` is what it is among the first `since`.

        The rarest words are looked up first. What shares none of them has at most the others in common, and as soon
        as these are too few to be more than `most`, the frequent words need not be looked up at all.
        """
        holding = sorted((self._holding[word] for word in own if word in self._holding), key=len)
        shared: Counter[int] = Counter()
        rest = len(holding)
        for sets in holding:
            if rest <= most * len(own):
                break
            rest -= 1
            shared.update(sets[bisect_left(sets, since) :])
        for number, count in shared.most_common():
            size = len(self._sets[number])
            possible = min(count + rest, size)
            if possible > most * (len(own) + size - possible):
                most = max(most, likeness(own, self._sets[number]))
        return most
