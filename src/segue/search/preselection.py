"""Which memories of a very large store are worth ranking: two looks at them, a rough one at all, a nearer one at some.

Rough means: words count as often as they stand in the memory itself, whatever its length and its neighbours; very
frequent words are left out where there are rarer ones; likeness goes by the signs of the vectors alone. The nearer
look takes the neighbours of what looked best as well, with what they add to one another, and the vectors themselves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from segue.search import priors
from segue.search.bm25 import K1
from segue.search.hashing import hashed
from segue.search.lexical import AFTER, BEFORE, worth
from segue.search.signs import likeness

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from segue.search.lexical import Asked
    from segue.search.matrix import Matrix
    from segue.search.meaning import Kept
    from segue.search.ranking import Question
    from segue.search.stack import Stack
    from segue.search.statistics import Statistics
    from segue.search.view import View

_SIDE = 4  # a quarter as many are chosen by words alone, by vectors alone, and by meaning alone
_FREQUENT = 50_000  # memories in which any word may stand: above, the share that is too much falls with the root
_MOST_POSTINGS = 4_000_000  # that are looked at for a query
_SATURATED = 16  # a count above counts like it


def chosen(view: View, question: Question, count: int) -> NDArray[np.int64]:
    """Return about `count` rows of a view: the best of all, and some of those best by one side of them alone."""
    stack, query = view.stack, question.query
    words = lexical(stack, question.asked, question.statistics)
    first = _Look(
        sides=[
            words,
            _likeness([segment.matrix for segment in stack.segments], question.vector, stack),
            _likeness(
                [segment.kept for segment in stack.segments], question.encoded if view.explained else None, stack
            ),
        ],
        spoken=stack.spoken(query.speakers[0]) if len(query.speakers) == 1 else None,
        dated=priors.closeness(query, stack.column("days")) if query.dates else None,
        constant=np.concatenate([priors.constant(query, segment.columns) for segment in stack.segments]),
    )
    rows = view.around(first.best(stack, None, view.eligible, _wider(count, len(view))))
    near = view.part(rows, np.zeros(len(rows), dtype=np.bool_), explained=False)
    second = _Look(
        sides=[
            None if words is None else near.links.mix(words[rows][:, None], BEFORE, AFTER)[:, 0],
            None if question.vector is None or near.vectors is None else near.vectors.cosines(question.vector),
            None if (meaning := first.sides[2]) is None else meaning[rows],
        ],
        spoken=None if first.spoken is None else first.spoken[rows],
        dated=None if first.dated is None else first.dated[rows],
        constant=first.constant[rows],
    )
    return rows[second.best(stack, rows, np.ones(len(rows), dtype=np.bool_), count)]


@dataclass(frozen=True, slots=True, eq=False)
class _Look:
    """What is seen of some rows; None where nothing speaks for any. The sides are words, vectors, meaning."""

    sides: list[NDArray[np.float32] | None]
    spoken: NDArray[np.bool_] | None
    dated: NDArray[np.float32] | None
    constant: NDArray[np.float32]

    def best(
        self, stack: Stack, rows: NDArray[np.int64] | None, eligible: NDArray[np.bool_], count: int
    ) -> NDArray[np.int64]:
        """Return where the best stand: `count` of them, and a part of that by each side alone.

        `rows` are the rows of the stack that are looked at, all if None.
        """
        found = np.zeros(len(eligible), dtype=np.bool_)
        for side in (*self.sides, self.dated):
            if side is not None:
                found |= side > 0
        found &= eligible
        marked = np.zeros(len(eligible), dtype=np.bool_)
        part = -(-count // _SIDE)
        for side, most in ((self._total(found), count), *((side, part) for side in self.sides)):
            if side is not None:
                marked[_highest(stack, rows, side, found, most)] = True
        return np.flatnonzero(marked)

    def _total(self, found: NDArray[np.bool_]) -> NDArray[np.float32]:
        total = self.constant.copy()
        for side in self.sides:
            if side is not None and (best := side.max(initial=0, where=found)) > 0:
                total += np.float32(0.5) / best * side
        if self.spoken is not None:
            total += np.float32(priors.SPEAKER) * self.spoken
        if self.dated is not None:
            total += np.float32(priors.DATE) * self.dated
        return total


def _wider(count: int, rows: int) -> int:
    """How many get the second look: twice as many as are chosen of 100,000, three times as many of a million."""
    return int(count * max(math.log10(rows) - 3, 2))


def lexical(stack: Stack, asked: Sequence[Asked], statistics: Statistics) -> NDArray[np.float32] | None:
    """Return a rough score of each row by its words; None where no word is found."""
    tokens = _weighed(asked, statistics)
    result = np.zeros(sum(map(len, stack.segments)), dtype=np.float32)
    hashes = np.array([hashed(token) for token in tokens], dtype=np.uint64)
    weights = list(tokens.values())
    found = False
    start = 0
    for segment in stack.segments:
        scores = result[start : start + len(segment)]
        for place, weight in zip(segment.postings.places(hashes).tolist(), weights, strict=True):
            if place >= 0:
                rows, counts = segment.postings.of_term(place)
                scores[rows] += _gains(weight)[np.minimum(counts, _SATURATED)]
                found = True
        start += len(segment)
    return result if found else None


def _likeness(
    kept: Sequence[Matrix | Kept | None], vector: NDArray[np.float32] | None, stack: Stack
) -> NDArray[np.float32] | None:
    """About the cosine of each row with `vector`, by the signs that its segment keeps; None without vectors."""
    if vector is None or all(one is None for one in kept):
        return None
    parts = [
        np.zeros(len(segment), dtype=np.float32) if one is None else likeness(one.signs, vector)
        for one, segment in zip(kept, stack.segments, strict=True)
    ]
    return np.concatenate(parts)


def _weighed(asked: Sequence[Asked], statistics: Statistics) -> dict[str, float]:
    """The tokens to look for and what each is worth: rare ones first, then related ones, as many as there is time for.

    A token in too many memories is left out, but never all.
    """
    own = {one.term.token: worth(one.term, statistics) for one in asked}
    related: dict[str, float] = {}
    for one in asked:
        for token, gain in one.related.items():
            related[token] = related.get(token, 0) + gain * own[one.term.token]
    frequencies = dict(zip([*own, *related], statistics.frequencies([*own, *related]).tolist(), strict=True))
    most = max((statistics.documents * _FREQUENT) ** 0.5, _FREQUENT)
    room = _MOST_POSTINGS
    result: dict[str, float] = {}
    for token in sorted((token for token in own if frequencies[token]), key=lambda token: (frequencies[token], token)):
        if result and (frequencies[token] > most or frequencies[token] > room):
            break
        result[token] = own[token]
        room -= frequencies[token]
    for token in sorted(related, key=lambda token: (-related[token], token)):
        if 0 < frequencies[token] <= min(most, room):
            result[token] = result.get(token, 0) + related[token]
            room -= frequencies[token]
    return result


def _gains(weight: float) -> NDArray[np.float32]:
    """What a token of this weight adds, by how often it stands there."""
    counts = np.arange(_SATURATED + 1)
    return (weight * counts * (K1 + 1) / (counts + K1)).astype(np.float32)


def _highest(
    stack: Stack,
    rows: NDArray[np.int64] | None,
    scores: NDArray[np.float32],
    found: NDArray[np.bool_],
    count: int,
) -> NDArray[np.int64]:
    """The places of the `count` highest scores among those found; of equals the first by their ids."""
    if count >= np.count_nonzero(found):
        return np.flatnonzero(found)
    masked = np.where(found, scores, -np.inf)
    least = np.partition(masked, len(masked) - count)[len(masked) - count]
    above, equal = np.flatnonzero(masked > least), np.flatnonzero(masked == least)
    room = count - len(above)
    if room < len(equal):
        ranks = stack.ranks(equal if rows is None else rows[equal])
        equal = equal[ranks <= np.partition(ranks, room - 1)[room - 1]] if room else equal[:0]
    return np.concatenate([above, equal])
