"""Finding memories by their words, straight from the rows that search keeps of them: BM25 without an index in memory.

Terms are hashes of eight bytes, so those of all memories are joined and each term is looked for in all of it at once.
Rare terms are looked for first; a frequent one only tells apart what the rare ones found.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any

from segue.hosts.embedded import legible
from segue.search.bm25 import K1, B
from segue.search.hashing import SIZE, digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from segue.hosts.embedded import Embedded

FREQUENT = 3_000  # memories; a term in more of them is not looked for everywhere
OTHERS = 100  # texts about other things that a store is taken to have beside: else no word of a small one is rare
MOST = 200  # memories that are weighed by how often terms stand in them
_COUNT = 2  # bytes
# The sign before the column keeps SQLite from going by an index: to read the table as it lies is quicker.
_TERMS = "SELECT rowid, terms FROM memory_index WHERE +scope_id = :scope"
_DETAILS = "SELECT rowid, memory_id, terms, counts, length FROM memory_index WHERE rowid IN ({})"


@dataclass(frozen=True, slots=True)
class Found:
    """A memory that holds some of the terms: its BM25 score, and which terms."""

    memory_id: str
    score: float
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class Matches:
    """What was found, best first; `rarity` says of each term asked for how much it tells, 0 to 1, 1 for the rarest."""

    found: tuple[Found, ...]
    rarity: Mapping[str, float]


def find(store: Embedded, tokens: Sequence[str]) -> Matches:
    """Return the memories, at most 200, that hold any of the tokens of a query."""
    rows = store.rows(_TERMS)
    if not rows or not tokens:
        return Matches((), dict.fromkeys(tokens, 1.0))
    with legible():
        return _found(store, rows, tokens)


def _found(store: Embedded, rows: Sequence[tuple[Any, ...]], tokens: Sequence[str]) -> Matches:
    joined = b"".join([row[1] for row in rows])
    ends = list(accumulate([len(row[1]) for row in rows]))
    weights: dict[str, float] = {}
    scores: dict[int, float] = {}
    for token, frequency, held in _places(joined, ends, tokens):
        weights[token] = _weight(len(rows) + OTHERS, frequency)
        for place in held:
            scores[place] = scores.get(place, 0.0) + weights[token]
    best = [place for place, _ in sorted(scores.items(), key=lambda each: (-each[1], -each[0]))[:MOST]]
    rarest = _weight(len(rows) + OTHERS, 1)
    found = _weighed(store, [rows[place][0] for place in best], weights)
    return Matches(found, {token: weight / rarest for token, weight in weights.items()})


def _places(joined: bytes, ends: Sequence[int], tokens: Sequence[str]) -> Iterator[tuple[str, int, list[int]]]:
    """Yield each token, in how many rows it stands, and in which: of a frequent one those that rarer ones stand in."""
    known: set[int] = set()
    frequent = []
    for token in dict.fromkeys(tokens):
        held = list(islice(_each_place(joined, ends, digest(token)), FREQUENT + 1))
        if len(held) > FREQUENT:
            frequent.append(token)
        else:
            known.update(held)
            yield token, len(held), held
    for token in frequent:
        term = digest(token)
        yield token, joined.count(term), [each for each in known if _holds(joined, ends, each, term)]


def _each_place(joined: bytes, ends: Sequence[int], term: bytes) -> Iterator[int]:
    at = joined.find(term)
    while at >= 0:
        if at % SIZE == 0:
            yield bisect_right(ends, at)
        at = joined.find(term, at + 1)


def _holds(joined: bytes, ends: Sequence[int], place: int, term: bytes) -> bool:
    return joined.find(term, ends[place - 1] if place else 0, ends[place]) >= 0


def _weight(documents: int, frequency: int) -> float:
    """How much a term tells: BM25's inverse document frequency, above 0 for every term."""
    frequency = max(frequency, 1)
    return math.log1p((max(documents, frequency) - frequency + 0.5) / (frequency + 0.5))


def _weighed(store: Embedded, places: Sequence[int], weights: Mapping[str, float]) -> tuple[Found, ...]:
    """The memories of those rows with their scores, the best first."""
    values = {f"row{number}": place for number, place in enumerate(places)}
    details = store.rows(_DETAILS.format(", ".join(f":{name}" for name in values)), **values)
    average = sum(row[4] for row in details) / len(details) if details else 1
    terms = {digest(token): token for token in weights}
    found = []
    for _, memory_id, hashes, counts, length in details:
        norm = K1 * (1 - B + B * length / max(average, 1))
        score, held = 0.0, set()
        for at in range(0, len(hashes), SIZE):
            token = terms.get(hashes[at : at + SIZE])
            if token is not None:
                often = at // SIZE * _COUNT
                count = int.from_bytes(counts[often : often + _COUNT], "little")
                score += weights[token] * count * (K1 + 1) / (count + norm)
                held.add(token)
        found.append(Found(memory_id, score, frozenset(held)))
    return tuple(sorted(found, key=lambda each: (-each.score, each.memory_id)))
