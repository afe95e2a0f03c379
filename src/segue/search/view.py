"""The eligible rows of a stack, in order, and some or all of them as candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, overload

import numpy as np

from segue.search.candidates import Candidates
from segue.search.hashing import hashed
from segue.search.kernel import Links
from segue.search.stack import beside
from segue.search.vectors import AFTER, BEFORE, mixed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from segue.search.lexical import Asked
    from segue.search.stack import Stack

_BLOCK = 4096  # rows whose vectors are mixed at a time


@dataclass(frozen=True, slots=True, eq=False)
class _Mixed:
    """The vectors of some rows of a stack, mixed with their neighbours: their cosines are mixed, not they."""

    stack: Stack
    rows: NDArray[np.int64]
    spread: NDArray[np.float32]
    length: NDArray[np.float32]
    links: Links

    def cosines(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosine of each row with `vector`; without all its neighbours a row's is wrong."""
        dots = self.stack.dots(vector, self.rows)
        alone = np.where(self.spread > 0, dots / np.where(self.spread > 0, self.spread, 1), 0).astype(np.float32)
        together = self.links.mix(alone[:, None], BEFORE, AFTER)[:, 0]
        return np.asarray(together / np.where(self.length > 0, self.length, 1), dtype=np.float32)


class _Ids(Sequence[str]):
    """Ids that are made texts when they are asked for."""

    def __init__(self, ids: NDArray[np.bytes_]) -> None:
        self._ids = ids

    def __len__(self) -> int:
        return len(self._ids)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [each.decode("utf-8", "surrogatepass") for each in self._ids[place].tolist()]
        return bytes(self._ids[place]).decode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The eligible rows of a stack by thread, position and id: as if there were no others.

    `places` gives the place of each row in that order, -1 for those that are not eligible.
    """

    stack: Stack
    eligible: NDArray[np.bool_]  # of all rows
    order: NDArray[np.int64]
    places: NDArray[np.int64]
    bereft: NDArray[np.bool_] | None  # by row: which lost a neighbour that is not eligible; None if none did
    explained: bool  # whether all have their sentence vectors
    _whole: list[Candidates] = field(default_factory=list)

    @classmethod
    def of(cls, stack: Stack, eligible: NDArray[np.bool_]) -> View:
        """Return the view of the rows that are `eligible`, of which all live."""
        every = np.arange(len(eligible)) if stack.order is None else stack.order
        inside = eligible[every]
        order = every[inside]
        places = np.full(len(eligible), -1, dtype=np.int64)
        places[order] = np.arange(len(order))
        bereft = None
        if len(order) < len(every):
            lost = np.flatnonzero(~inside & (stack.column("threads", every) >= 0))
            bereft = np.zeros(len(eligible), dtype=np.bool_)
            bereft[every[beside(lost, np.ones(len(lost), dtype=np.bool_), len(every))]] = True
        return cls(stack, eligible, order, places, bereft, bool(stack.explained()[order].all()))

    def __len__(self) -> int:
        return len(self.order)

    @property
    def nbytes(self) -> int:
        """The bytes that this takes beside the stack, as far as it is large."""
        meanings = [one.meaning for one in self._whole if one.meaning is not None]
        vectors = sum(one.windows.nbytes + one.sentences.nbytes for one in meanings)
        return self.eligible.nbytes + self.order.nbytes + self.places.nbytes + vectors

    def around(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return `rows` in order, and between them their neighbours."""
        return self.order[beside(self.places[rows], self.stack.column("threads", rows) >= 0, len(self))]

    def whole(self) -> Candidates:
        """Return all rows as candidates, without terms and speakers, which a query names."""
        if not self._whole:  # two threads may both make it: the same twice
            self._whole.append(self.part(self.order))
        return self._whole[0]

    def part(
        self, rows: NDArray[np.int64], exact: NDArray[np.bool_] | None = None, *, explained: bool = True
    ) -> Candidates:
        """Return `rows`, as `around` gave them, as candidates, without terms and speakers.

        Of rows that lost neighbours the vectors are right only where `exact` says so; everywhere, if None. Sentence
        vectors are left out where they are not to be `explained`.
        """
        stack = self.stack
        threads, positions = stack.column("threads", rows), stack.column("positions", rows)
        links = Links.of(threads, positions)
        vectors = None
        if any(one is not None for one in stack.matrices()):
            spread, length = stack.measures(rows)
            if self.bereft is not None:
                wrong = self.bereft[rows] if exact is None else self.bereft[rows] & exact
                _remeasure(stack, rows, threads, positions, length, np.flatnonzero(wrong))
            vectors = _Mixed(stack, rows, spread, length, links)
        return Candidates(
            ids=_Ids(stack.column("ids", rows)),
            postings={},
            lengths=stack.column("lengths", rows),
            vectors=vectors,
            meaning=stack.meaning(rows) if self.explained and explained else None,
            days=stack.column("days", rows),
            speakers={},
            questions=stack.column("questions", rows),
            telling=stack.column("telling", rows),
            places=stack.ranks(rows),
            threads=threads,
            positions=positions,
            links=links,
        )


def _remeasure(
    stack: Stack,
    rows: NDArray[np.int64],
    threads: NDArray[np.int64],
    positions: NDArray[np.int64],
    length: NDArray[np.float32],
    wrong: NDArray[np.int64],
) -> None:
    """Put right how long the mixed vectors in the places `wrong` are, with the neighbours that they have here."""
    for start in range(0, len(wrong), _BLOCK):
        some = wrong[start : start + _BLOCK]
        near = beside(some, threads[some] >= 0, len(rows))
        vectors = mixed(stack.floats(rows[near]), stack.centre, threads[near], positions[near])
        vectors = vectors[np.searchsorted(near, some)]
        length[some] = np.sqrt(np.vecdot(vectors, vectors))


def terms(
    stack: Stack, asked: list[Asked], rows: NDArray[np.int64]
) -> dict[str, tuple[NDArray[np.int64], NDArray[np.float32]]]:
    """Where among `rows` the tokens stand that are asked for, and how often."""
    tokens = list({token: None for one in asked for token in (one.term.token, *one.related)})
    hashes = np.array([hashed(token) for token in tokens], dtype=np.uint64)
    places = np.full(sum(map(len, stack.segments)), -1, dtype=np.int32)
    places[rows] = np.arange(len(rows), dtype=np.int32)
    result: dict[str, tuple[NDArray[np.int64], NDArray[np.float32]]] = {}
    start = 0
    for segment in stack.segments:
        here = places[start : start + len(segment)]
        start += len(segment)
        for token, place in zip(tokens, segment.postings.places(hashes).tolist(), strict=True):
            if place < 0:
                continue
            holding, counts = segment.postings.of_term(place)
            found = here[holding]
            there = found >= 0
            pair = (found[there].astype(np.int64), counts[there].astype(np.float32))
            if token in result:
                pair = (np.concatenate([result[token][0], pair[0]]), np.concatenate([result[token][1], pair[1]]))
            result[token] = pair
    return result
