"""The index over a whole store, in memory: built once, kept up to date by small changes, asked by many threads.

Up to LIMIT eligible memories all are ranked. Of more, about as many as a search asks for are chosen by a rough score
(see `preselection`) and ranked exactly, so that what a rough look takes for hopeless is not found; scores are relative
to the best of those chosen.

What is not eligible has no part in anything but the statistics: neighbours are those among the eligible.

Small stores are put together anew with each change. A large one keeps its base, its centre and its vocabulary for a
while, and what changes is laid upon it: words that came since have no part in likeness between words until the base
is made anew.
"""

from __future__ import annotations

from collections import ChainMap
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from segue.search import preselection
from segue.search.builder import segment_of
from segue.search.entry import Batch
from segue.search.lazy import Lazy
from segue.search.query import Names, analyse
from segue.search.ranking import Question, Ranker, Scores
from segue.search.segment import identifiers, merged
from segue.search.stack import Held, Parts, Stack
from segue.search.statistics import Statistics
from segue.search.view import View, terms
from segue.search.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from datetime import datetime

    from numpy.typing import NDArray

    from segue.search.candidates import Candidates
    from segue.search.meaning import Encoder
    from segue.search.ranking import Ranked
    from segue.search.segment import Segment
    from segue.search.vectors import WordVectors

LIMIT = 50_000  # eligible memories up to which all are ranked; up to as many, vectors are kept as they are
SELECT = 2_000  # memories that are ranked of more, unless a search asks for another number
EXACT = 4_096  # memories up to which every change makes the index anew
SHARE = 16  # of more, the part that may change before the base is made anew: one in so many
_JUDGED, _EXTRA = 1, 2


class Results:
    """What a search found, best first: a total order that is the same whatever order the memories came in.

    `basis` is rank or cosine, as in `Ranked`; rank where nothing was found.
    """

    def __init__(self, scores: Scores | None = None) -> None:
        """Made by `Index.search` alone."""
        self._scores = scores if scores is not None and scores.hit.any() else None
        self.basis = "rank" if self._scores is None else self._scores.basis

    def __len__(self) -> int:
        """Return how many memories were found."""
        return 0 if self._scores is None else int(np.count_nonzero(self._scores.hit))

    def ids(self, start: int, stop: int) -> list[str]:
        """Return the ids in the places from `start` (the best is 0) up to, not including, `stop`, as a slice does."""
        return [] if self._scores is None else self._scores.ids(self._scores.order[start:stop])

    def relevances(self, start: int, stop: int) -> list[float]:
        """Return the relevances, 0 to 1, in the places from `start` up to, not including, `stop`."""
        return [] if self._scores is None else self._scores.relevances(self._scores.order[start:stop])

    def reasons(self, place: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return which retrievers found the memory in `place`, and with which terms. Raises IndexError."""
        if self._scores is None or not 0 <= place < len(self):
            raise IndexError("there is nothing in this place")
        return self._scores.reasons(int(self._scores.order[place]))

    def ranked(self, place: int) -> Ranked:
        """Return the memory in `place` (from 0) with its relevance and the reasons. Raises IndexError."""
        if self._scores is None or not 0 <= place < len(self):
            raise IndexError("there is nothing in this place")
        return self._scores.ranked(int(self._scores.order[place]))


class Index:
    """All memories of one scope. It never changes: `updated` returns another one, which shares what is large."""

    def __init__(self, stack: Stack, ranker: Ranker, speakers: frozenset[str], names: Names) -> None:
        """Made by `of` and `updated` alone."""
        self._stack = stack
        self._ranker = ranker
        self._names = names
        self._view: View | None = None
        self.speakers = speakers  # the names of all speakers

    @classmethod
    def of(
        cls,
        batches: Batch | Iterable[Batch],
        word_counts: Mapping[str, int],
        embedder: WordVectors,
        encoder: Encoder | None = None,
    ) -> Index:
        """Return the index of all rows of `batches`; `word_counts` says how often each word stands in the store.

        Raises ValueError if an id comes twice, or if vectors are not of the embedder's dimension.
        """
        some = [batches] if isinstance(batches, Batch) else batches
        base = segment_of(some, embedder.dimension, LIMIT)
        return cls._founded(base, dict(word_counts), embedder, encoder)

    @classmethod
    def _founded(
        cls, base: Segment, word_counts: Mapping[str, int], embedder: WordVectors, encoder: Encoder | None
    ) -> Index:
        """The index of one segment, with the centre that its vectors have."""
        mean = None if base.matrix is None else base.matrix.mean()
        statistics = _statistics(Stack.of(base, None), word_counts, sum(word_counts.values()), mean)
        if base.matrix is not None:
            matrix = base.matrix.prepared(statistics.centre, base.columns.threads, base.columns.positions)
            base = replace(base, matrix=matrix)
        stack = Stack.of(base, statistics.centre)
        statistics = replace(statistics, document_frequencies=Held(stack))
        vocabulary = Lazy(partial(Vocabulary.of, statistics, embedder))
        speakers = stack.speakers()
        return cls(stack, Ranker(statistics, embedder, encoder, vocabulary), speakers, Names.of(speakers))

    def updated(
        self, changed: Batch, removed: Collection[str] = (), word_counts: Mapping[str, int] | None = None
    ) -> Index:
        """Return the index with the rows `changed`, which replace those of the same ids, and without those `removed`.

        `word_counts` says how often words stand in the store now whose number changed, 0 for those that went. Ids
        that are not there are removed already. Raises ValueError as `of` does.
        """
        ranker = self._ranker
        new = segment_of([changed], ranker.embedder.dimension, 0 if self._stack.small else len(changed))
        parts = self._stack.parts_with(new, _known(removed))
        counts, words = _counted(ranker.statistics, word_counts or {})
        count = sum(len(part) if alive is None else int(np.count_nonzero(alive)) for part, alive in parts)
        if count <= EXACT or self._outgrown(parts, count):
            base = merged(parts, small=count > LIMIT)
            there = {word: number for word, number in counts.items() if number > 0}
            return Index._founded(base, there, ranker.embedder, ranker.encoder)
        stack = self._stack.changed(new, parts)
        statistics = _statistics(stack, counts, words, ranker.statistics.mean)
        speakers = stack.speakers()
        names = self._names if speakers == self.speakers else Names.of(speakers)
        return Index(stack, replace(ranker, statistics=statistics), speakers, names)

    def _outgrown(self, parts: Parts, count: int) -> bool:
        """Whether the base is to be made anew: so much came and went since, or what came is of another kind."""
        (base, alive), *others = parts
        gone = 0 if alive is None else len(base) - int(np.count_nonzero(alive))
        return (
            (gone + sum(len(part) for part, _ in others)) * SHARE > count
            or (base.matrix is None and any(part.matrix is not None for part, _ in others))
            or (base.matrix is not None and count > LIMIT and not self._stack.small)
        )

    def search(
        self,
        text: str,
        now: datetime,
        *,
        at_us: int | None,
        known_us: int | None = None,
        select: int = SELECT,
        include: Collection[str] = (),
    ) -> Results:
        """Return what answers `text` among the memories that hold at `at_us` and were captured by `known_us`.

        Without `at_us` those that hold no more are asked too.
        `now` is what `yesterday` in the text counts from. Of more than LIMIT eligible memories about `select` are
        chosen and ranked, and those of `include` besides; these change no other memory's score.
        """
        query = analyse(text, now, self._names)
        view = self._seen(at_us, known_us)
        if not query.terms or not len(view):
            return Results()
        question = Question(self._ranker, query)
        if len(view) <= max(LIMIT, select):
            return self._ranked(question, view.order, view.whole())
        judged = preselection.chosen(view, question, max(select, 1))
        extra = self._stack.rows_of(_known(include))
        extra = extra[(extra >= 0) & view.eligible[extra]]
        rows = view.around(np.concatenate([judged, extra]))
        marks = np.zeros(len(view.eligible), dtype=np.int8)
        marks[extra] = _EXTRA
        marks[judged] = _JUDGED
        found = marks[rows]
        return self._ranked(question, rows, view.part(rows, found > 0), found == _JUDGED, found == _EXTRA)

    def _seen(self, at_us: int | None, known_us: int | None) -> View:
        """The view of what is eligible: mostly the one that was asked for last."""
        eligible = self._stack.eligible(at_us, known_us)
        view = self._view
        if view is None or not np.array_equal(view.eligible, eligible):
            view = self._view = View.of(self._stack, eligible)
        return view

    def _ranked(
        self,
        question: Question,
        rows: NDArray[np.int64],
        candidates: Candidates,
        judged: NDArray[np.bool_] | None = None,
        extra: NDArray[np.bool_] | None = None,
    ) -> Results:
        postings = terms(self._stack, question.asked, rows)
        speakers = {name: np.flatnonzero(self._stack.spoken(name)[rows]) for name in question.query.speakers[:1]}
        candidates = replace(candidates, postings=postings, speakers=speakers)
        return Results(Scores(question, candidates, judged, extra))

    def __len__(self) -> int:
        """Return the number of memories."""
        return len(self._stack)

    @property
    def statistics(self) -> Statistics:
        """Counts over all memories, eligible or not."""
        return self._ranker.statistics

    @property
    def nbytes(self) -> int:
        """The bytes of memory that the arrays of the index take, those it shares included."""
        vocabulary = self._ranker.shared.made if self._ranker.shared is not None else None
        further = (vocabulary, self._view)
        return self._stack.nbytes + sum(one.nbytes for one in further if one is not None)


def _statistics(
    stack: Stack, word_counts: Mapping[str, int], words: int, mean: NDArray[np.float32] | None
) -> Statistics:
    tokens = sum(
        float(part.columns.lengths.sum(dtype=np.float64, where=True if alive is None else alive))
        for part, alive in stack.parts
    )
    return Statistics(len(stack), int(tokens), Held(stack), word_counts, words, mean)


def _counted(old: Statistics, changes: Mapping[str, int]) -> tuple[Mapping[str, int], int]:
    """The counts of words after `changes`, and how many words there are in all; the counts before stay as they are."""
    if not changes:
        return old.word_counts, old.words
    words = old.words + sum(count - old.word_counts.get(word, 0) for word, count in changes.items())
    if isinstance(old.word_counts, ChainMap):
        newer, base = old.word_counts.maps
        return ChainMap({**newer, **changes}, base), words
    return ChainMap(dict(changes), dict(old.word_counts)), words


def _known(ids: Collection[str]) -> NDArray[np.bytes_]:
    """Ids as they are kept, without those that none can have."""
    return identifiers([each for each in ids if "\0" not in each])
