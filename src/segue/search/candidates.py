"""The memories among which a search chooses, by columns: built once for many queries, or for each."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from segue.search.kernel import Links
from segue.search.meaning import Meaning
from segue.search.vectors import Prepared, prepare

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from segue.search.vectors import Comparable

_DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True, slots=True)
class Candidate:
    """One memory as search sees it.

    `terms` are its tokens with their counts: all of them, or those that `Ranker.wanted` names for the query.
    `position` counts the memories of `thread` one by one; without a thread a memory has no neighbours.
    `occurred_at` is in microseconds since 1970 (`base.time`); `vector` is raw, as `vectors.text_vectors` made it.
    """

    id: str
    terms: Mapping[str, int]
    length: int  # tokens in all
    vector: NDArray[np.float32] | None = None
    thread: str | None = None
    position: int = 0
    occurred_at: int | None = None
    speakers: frozenset[str] = frozenset()
    is_question: bool = False
    tells_time: bool = False
    window: NDArray[np.float32] | None = None  # sentence vectors, see `meaning`
    sentences: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Candidates by columns, sorted by thread, position and id, so that the order they came in changes nothing."""

    ids: Sequence[str]
    postings: Mapping[str, tuple[NDArray[np.int64], NDArray[np.float32]]]  # by token: rows, and the counts there
    lengths: NDArray[np.float32]
    vectors: Comparable | None
    meaning: Meaning | None
    days: NDArray[np.float32]  # since 1970, NaN where the time is not known
    speakers: Mapping[str, NDArray[np.int64]]  # by name: rows
    questions: NDArray[np.bool_]
    telling: NDArray[np.bool_]
    places: NDArray[np.int64]  # of each id among all ids, which decide between equals
    threads: NDArray[np.int64]  # a number for each thread, negative for none
    positions: NDArray[np.int64]
    links: Links = field(repr=False)

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(
        cls, rows: Iterable[Candidate], centre: NDArray[np.float32] | None = None, *, prepared: bool = False
    ) -> Candidates:
        """Return the columns of `rows`; all ids must differ.

        `centre` is what `Statistics.centre` says. With `prepared` the rows' vectors have been through
        `vectors.prepare` already, and are taken as they are.
        """
        ordered = sorted(rows, key=lambda row: (row.thread is not None, row.thread or "", row.position, row.id))
        threads = _numbered([row.thread for row in ordered])
        positions = np.array([row.position for row in ordered], dtype=np.int64)
        raw = _vectors(ordered)
        return cls(
            ids=tuple(row.id for row in ordered),
            postings=_postings(ordered),
            lengths=np.array([row.length for row in ordered], dtype=np.float32),
            vectors=None if raw is None else Prepared(raw if prepared else prepare(raw, centre, threads, positions)),
            meaning=Meaning.of([(row.window, row.sentences) for row in ordered]),
            days=np.array(
                [np.nan if row.occurred_at is None else row.occurred_at // _DAY for row in ordered], dtype=np.float32
            ),
            speakers=_speakers(ordered),
            questions=np.array([row.is_question for row in ordered], dtype=np.bool_),
            telling=np.array([row.tells_time for row in ordered], dtype=np.bool_),
            places=_places([row.id for row in ordered]),
            threads=threads,
            positions=positions,
            links=Links.of(threads, positions),
        )

    def with_terms(self, postings: Mapping[str, tuple[NDArray[np.int64], NDArray[np.float32]]]) -> Candidates:
        """Return these candidates with other `postings`: for a store that keeps all columns and fetches the terms."""
        return replace(self, postings=postings)

    def take(self, rows: NDArray[np.int64]) -> Candidates:
        """Return the candidates in `rows` (ascending, each once), their vectors as mixed among all.

        Only of candidates that `of` made.
        """
        threads, positions = self.threads[rows], self.positions[rows]
        return Candidates(
            ids=tuple(self.ids[row] for row in rows.tolist()),
            postings={
                token: (_within(found, rows), counts[np.isin(found, rows, assume_unique=True)])
                for token, (found, counts) in self.postings.items()
            },
            lengths=self.lengths[rows],
            vectors=self.vectors.take(rows) if isinstance(self.vectors, Prepared) else None,
            meaning=None if self.meaning is None else self.meaning.take(rows),
            days=self.days[rows],
            speakers={name: _within(found, rows) for name, found in self.speakers.items()},
            questions=self.questions[rows],
            telling=self.telling[rows],
            places=self.places[rows],
            threads=threads,
            positions=positions,
            links=Links.of(threads, positions),
        )


def _within(found: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places in `rows` of those that are also in `found`."""
    return np.searchsorted(rows, found[np.isin(found, rows, assume_unique=True)])


def _numbered(threads: Sequence[str | None]) -> NDArray[np.int64]:
    numbers = {thread: number for number, thread in enumerate(dict.fromkeys(t for t in threads if t is not None))}
    return np.array([-1 if thread is None else numbers[thread] for thread in threads], dtype=np.int64)


def _postings(rows: Sequence[Candidate]) -> dict[str, tuple[NDArray[np.int64], NDArray[np.float32]]]:
    places: dict[str, list[int]] = {}
    counts: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        for token, count in row.terms.items():
            if token in places:
                places[token].append(place)
                counts[token].append(count)
            else:
                places[token], counts[token] = [place], [count]
    return {
        token: (np.array(found, dtype=np.int64), np.array(counts[token], dtype=np.float32))
        for token, found in places.items()
    }


def _vectors(rows: Sequence[Candidate]) -> NDArray[np.float32] | None:
    known = next((row.vector for row in rows if row.vector is not None), None)
    if known is None:
        return None
    nothing = np.zeros_like(known)
    return np.stack([nothing if row.vector is None else row.vector for row in rows])


def _speakers(rows: Sequence[Candidate]) -> dict[str, NDArray[np.int64]]:
    places: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        for name in row.speakers:
            places.setdefault(name, []).append(place)
    return {name: np.array(found, dtype=np.int64) for name, found in places.items()}


def _places(ids: Sequence[str]) -> NDArray[np.int64]:
    places = np.empty(len(ids), dtype=np.int64)
    places[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
    return places
