"""Ranking: lexical score, vectors and priors added up, and why each memory was found.

The weights were measured on conversations (`docs/`); what they add up to is scaled so that the best candidate has
relevance 1 (decision M6).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from segue.search import lexical, priors
from segue.search.lexical import Asked, Lexical
from segue.search.vectors import query_vector
from segue.search.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Container

    from numpy.typing import NDArray

    from segue.search.candidates import Candidates
    from segue.search.lazy import Lazy
    from segue.search.meaning import Encoder
    from segue.search.query import Query
    from segue.search.statistics import Statistics
    from segue.search.vectors import WordVectors

# What lexical score, static vectors, window and best sentence count, with and without an encoder of sentences.
STATIC = (0.5, 0.5, 0.0, 0.0)
SEMANTIC = (0.35, 0.15, 0.3, 0.2)
_LONGEST = 2000  # characters of a query that an encoder reads
_DIGITS = 6  # that count: below them sums differ with the machine, and ids decide


@dataclass(frozen=True, slots=True)
class Found:
    """One way in which a memory was found.

    `retriever` is lexical, vectors, meaning, speaker or date; `rank` counts from 1 among the candidates, equal scores
    sharing one; `terms` are the asked terms that the memory holds itself, `near` those that only its neighbours or
    words of a like meaning answer.
    """

    retriever: str
    rank: int
    score: float
    terms: tuple[str, ...] = ()
    near: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ranked:
    """A memory in its place. `basis` is rank (fused, the best candidate at 1) or cosine (only vectors spoke)."""

    id: str
    relevance: float
    basis: str
    why: tuple[Found, ...]


def rank(
    query: Query,
    candidates: Candidates,
    statistics: Statistics,
    embedder: WordVectors,
    k: int,
    keep: Container[str] | None = None,
) -> list[Ranked]:
    """Return the best `k` of `candidates` that `keep` holds (all, if None). For many queries make one `Ranker`."""
    return Ranker(statistics, embedder).rank(query, candidates, k, keep)


@dataclass(frozen=True)
class Ranker:
    """Ranks over one state of a store; what it derives from the statistics it keeps for the next query."""

    statistics: Statistics
    embedder: WordVectors
    encoder: Encoder | None = None
    shared: Lazy[Vocabulary] | None = None

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words of the store by meaning: those shared, or made when first asked for."""
        return Vocabulary.of(self.statistics, self.embedder) if self.shared is None else self.shared()

    def asked(self, query: Query) -> list[Asked]:
        """Return the terms of `query` that count, rarest first where there are too many, with their related tokens."""
        terms = query.chosen(lambda token: lexical.rarity(token, self.statistics))
        named = [term.word for term in terms if term.word and not term.is_name]
        related = dict(zip(named, self.vocabulary.related(named, self.embedder), strict=True))
        return [Asked(term, related.get(term.word, {})) for term in terms]

    def wanted(self, query: Query) -> frozenset[str]:
        """Return all tokens whose counts in the candidates matter to `query`: what a store should fetch."""
        return frozenset(token for one in self.asked(query) for token in (one.term.token, *one.related))

    def vector(self, query: Query) -> NDArray[np.float32] | None:
        """Return the vector to compare the prepared vectors of the memories with; None if the query has none."""
        return query_vector(query, self.statistics, self.embedder)

    def encoded(self, query: Query) -> NDArray[np.float32] | None:
        """Return the sentence vector of a query; None without an encoder."""
        return None if self.encoder is None or not query.terms else self.encoder.encode([query.text[:_LONGEST]])[0]

    def rank(self, query: Query, candidates: Candidates, k: int, keep: Container[str] | None = None) -> list[Ranked]:
        """Return the best `k` candidates that `keep` holds (all, if None), ties in the order of their ids.

        What nothing speaks for but its length or its speaker is no hit. `keep` never changes a score.
        """
        if not len(candidates) or not query.terms:
            return []
        scores = Scores(Question(self, query), candidates)
        kept = (row for row in scores.order.tolist() if keep is None or candidates.ids[row] in keep)
        return [scores.ranked(row) for row in islice(kept, k)]


class Question:
    """A query with all that a ranker makes of it, once for all who look at it."""

    def __init__(self, ranker: Ranker, query: Query) -> None:
        """Take what the words mean to the store; the rest when it is asked for."""
        self._ranker = ranker
        self.query = query
        self.statistics = ranker.statistics
        self.asked = ranker.asked(query)

    @cached_property
    def vector(self) -> NDArray[np.float32] | None:
        """What `Ranker.vector` says."""
        return self._ranker.vector(self.query)

    @cached_property
    def encoded(self) -> NDArray[np.float32] | None:
        """What `Ranker.encoded` says."""
        return self._ranker.encoded(self.query)


class Scores:
    """All scores of one question over the candidates.

    Of the candidates those are judged that `judged` says (all, if None); the others are there as neighbours, or as
    `extra`, which are scored by what the best of those judged have, and change nothing for them.
    """

    def __init__(
        self,
        question: Question,
        candidates: Candidates,
        judged: NDArray[np.bool_] | None = None,
        extra: NDArray[np.bool_] | None = None,
    ) -> None:
        query = question.query
        self._candidates = candidates
        self._judged = judged
        self._asked = question.asked
        self._lexical: Lexical = lexical.score(self._asked, candidates, question.statistics)
        self._cosines = _cosines(question, candidates)
        self._windows, self._sentences = _meanings(question, candidates)
        self._speaker = priors.speaker(query, candidates)
        self._dated = priors.dated(query, candidates)
        found = self._lexical.scores
        self.hit = (found > 0) | (self._cosines > 0) | (self._windows > 0) | (self._dated > 0)
        if judged is not None:
            self.hit &= judged if extra is None else judged | extra
        if self._best(found) > 0 or self._best(self._dated) > 0:
            self.basis = "rank"
            total = np.maximum(self._fused() + priors.constant(query, candidates), 0)
            self.relevance = np.minimum(self._scaled(np.where(self.hit, total, 0)), 1)
        else:
            self.basis = "cosine"
            self.relevance = np.clip(np.maximum(self._cosines, self._windows), 0, 1)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The rows of all hits, the most relevant first, equals in the order of their ids."""
        rows = np.flatnonzero(self.hit)
        return rows[np.lexsort((self._candidates.places[rows], -np.round(self.relevance[rows], _DIGITS)))]

    def relevances(self, rows: NDArray[np.int64]) -> list[float]:
        """Return the relevances of the candidates in `rows`, as `ranked` gives them."""
        return [round(each, _DIGITS) for each in self.relevance[rows].tolist()]

    def ids(self, rows: NDArray[np.int64]) -> list[str]:
        """Return the ids of the candidates in `rows`."""
        return [self._candidates.ids[row] for row in rows.tolist()]

    def _fused(self) -> NDArray[np.float32]:
        weights = SEMANTIC if self._windows.any() else STATIC
        sides = (self._lexical.scores, self._cosines, self._windows, self._sentences)
        total = priors.SPEAKER * self._speaker + priors.DATE * self._dated
        for weight, side in zip(weights, sides, strict=True):
            total = total + weight * self._scaled(side)
        return np.asarray(total, dtype=np.float32)

    def ranked(self, row: int) -> Ranked:
        """The candidate in `row` with the reasons for it."""
        why = [
            self._found("lexical", self._lexical.scores, row, *self._terms(row)),
            self._found("vectors", self._cosines, row),
            self._found("meaning", self._windows, row),
            self._found("speaker", self._speaker, row),
            self._found("date", self._dated, row),
        ]
        relevance = round(float(self.relevance[row]), _DIGITS)
        return Ranked(self._candidates.ids[row], relevance, self.basis, tuple(one for one in why if one))

    def reasons(self, row: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return which retrievers found the candidate in `row`, and with which terms of its own: without ranks."""
        sides = {
            "lexical": self._lexical.scores,
            "vectors": self._cosines,
            "meaning": self._windows,
            "speaker": self._speaker,
            "date": self._dated,
        }
        return tuple(name for name, scores in sides.items() if scores[row] > 0), self._terms(row)[0]

    def _best(self, scores: NDArray[np.float32]) -> float:
        """The best score of those judged; 0 if there is none above."""
        return float(scores.max(initial=0) if self._judged is None else scores[self._judged].max(initial=0))

    def _scaled(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return `scores` divided by the best, if that is above 0."""
        best = np.float32(self._best(scores))
        return np.asarray(scores / best if best > 0 else scores, dtype=np.float32)

    def _found(
        self,
        retriever: str,
        scores: NDArray[np.float32],
        row: int,
        terms: tuple[str, ...] = (),
        near: tuple[str, ...] = (),
    ) -> Found | None:
        if scores[row] <= 0:
            return None
        better = scores > scores[row]
        place = 1 + int(np.count_nonzero(better if self._judged is None else better & self._judged))
        return Found(retriever, place, round(float(scores[row]), _DIGITS), terms, near)

    def _terms(self, row: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        own, near = self._lexical.own[row] > 0, self._lexical.near[row] > 0
        terms = [one.term.token for one in self._asked]
        return (
            tuple(token for token, there in zip(terms, own, strict=True) if there),
            tuple(token for token, there in zip(terms, near & ~own, strict=True) if there),
        )


def _cosines(question: Question, candidates: Candidates) -> NDArray[np.float32]:
    if question.vector is None or candidates.vectors is None:
        return np.zeros(len(candidates), dtype=np.float32)
    return candidates.vectors.cosines(question.vector)


def _meanings(question: Question, candidates: Candidates) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The scores of windows and best sentences; zeros without an encoder, or while any of their vectors is missing."""
    if candidates.meaning is None or question.encoded is None:
        nothing = np.zeros(len(candidates), dtype=np.float32)
        return nothing, nothing
    return candidates.meaning.scores(question.encoded)
