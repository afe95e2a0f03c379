"""Ranking: lexical score, vectors and priors added up, and why each memory was found.

The weights were measured on conversations (`docs/`); what they add up to is scaled so that the best candidate has
relevance 1 (decision M6).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
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

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words of the store by meaning: made when first asked for, a kilobyte for each."""
        return Vocabulary.of(self.statistics, self.embedder)

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
        scores = _Scores(self, query, candidates)
        order = np.lexsort((candidates.places, -np.round(scores.relevance, _DIGITS)))
        chosen: list[int] = []
        for row in order:
            if len(chosen) >= k:
                break
            if scores.hit[row] and (keep is None or candidates.ids[row] in keep):
                chosen.append(int(row))
        return [scores.ranked(row) for row in chosen]


class _Scores:
    """All scores of one query over the candidates."""

    def __init__(self, ranker: Ranker, query: Query, candidates: Candidates) -> None:
        self._candidates = candidates
        self._asked = ranker.asked(query)
        self._lexical: Lexical = lexical.score(self._asked, candidates, ranker.statistics)
        self._cosines = _cosines(ranker.vector(query), candidates)
        self._windows, self._sentences = _meanings(ranker, query, candidates)
        self._speaker = priors.speaker(query, candidates)
        self._dated = priors.dated(query, candidates)
        found = self._lexical.scores
        self.hit = (found > 0) | (self._cosines > 0) | (self._windows > 0) | (self._dated > 0)
        if found.any() or self._dated.any():
            self.basis = "rank"
            self.relevance = _scaled(
                np.where(self.hit, np.maximum(self._fused() + priors.constant(query, candidates), 0), 0)
            )
        else:
            self.basis = "cosine"
            self.relevance = np.clip(np.maximum(self._cosines, self._windows), 0, 1)

    def _fused(self) -> NDArray[np.float32]:
        weights = SEMANTIC if self._windows.any() else STATIC
        sides = (self._lexical.scores, self._cosines, self._windows, self._sentences)
        total = priors.SPEAKER * self._speaker + priors.DATE * self._dated
        for weight, side in zip(weights, sides, strict=True):
            total = total + weight * _scaled(side)
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
        place = 1 + int(np.count_nonzero(scores > scores[row]))
        return Found(retriever, place, round(float(scores[row]), _DIGITS), terms, near)

    def _terms(self, row: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        own, near = self._lexical.own[row] > 0, self._lexical.near[row] > 0
        terms = [one.term.token for one in self._asked]
        return (
            tuple(token for token, there in zip(terms, own, strict=True) if there),
            tuple(token for token, there in zip(terms, near & ~own, strict=True) if there),
        )


def _cosines(vector: NDArray[np.float32] | None, candidates: Candidates) -> NDArray[np.float32]:
    if vector is None or candidates.vectors is None:
        return np.zeros(len(candidates), dtype=np.float32)
    return np.asarray(np.vecdot(candidates.vectors, vector), dtype=np.float32)  # no threads, unlike `@`


def _meanings(ranker: Ranker, query: Query, candidates: Candidates) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The scores of windows and best sentences; zeros without an encoder, or while any of their vectors is missing."""
    vector = None if candidates.meaning is None else ranker.encoded(query)
    if vector is None or candidates.meaning is None:
        nothing = np.zeros(len(candidates), dtype=np.float32)
        return nothing, nothing
    return candidates.meaning.scores(vector)


def _scaled(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return `scores` divided by their maximum, if that is above 0."""
    best = scores.max()
    return np.asarray(scores / best if best > 0 else scores, dtype=np.float32)
