"""The lexical side: BM25F, where a memory's own words, related words and its neighbours' words add to one frequency."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from segue.search.bm25 import K1, B

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from segue.search.candidates import Candidates
    from segue.search.query import Term
    from segue.search.statistics import Statistics

NAME = 0.25  # what a known speaker's name counts as a word: who spoke is scored on its own
BEFORE, AFTER = 0.5, 0.3  # of a neighbour's term frequency, to the power of the distance


@dataclass(frozen=True, slots=True)
class Asked:
    """A term, and the tokens of the store that mean much the same with what each counts."""

    term: Term
    related: Mapping[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class Lexical:
    """What the terms found: `own` counts the memory's own exact terms, `near` also related words and neighbours."""

    scores: NDArray[np.float32]
    own: NDArray[np.float32]  # a row for each candidate, a column for each term
    near: NDArray[np.float32]


def score(asked: Sequence[Asked], candidates: Candidates, statistics: Statistics) -> Lexical:
    """Return the BM25F score of each candidate; all zero where no term is found."""
    own = np.zeros((len(candidates), len(asked)), dtype=np.float32)
    soft = np.zeros_like(own)
    for column, one in enumerate(asked):
        _add(own, column, candidates, one.term.token, 1.0)
        for token, gain in one.related.items():
            _add(soft, column, candidates, token, gain)
    near = candidates.links.mix(own + soft, BEFORE, AFTER)
    norm = K1 * (1 - B + B * candidates.lengths / np.float32(statistics.average_length))
    weights = np.array([worth(one.term, statistics) for one in asked], dtype=np.float32)
    saturated = near * np.float32(K1 + 1) / (near + norm[:, None])
    scores = np.vecdot(saturated, weights)
    return Lexical(np.asarray(scores, dtype=np.float32), own, near)


def worth(term: Term, statistics: Statistics) -> float:
    """Return what finding `term` is worth: its rarity, of a name a part of that."""
    return rarity(term.token, statistics) * (NAME if term.is_name else 1)


def rarity(token: str, statistics: Statistics) -> float:
    """Return what finding `token` is worth: BM25's inverse document frequency, above 0 for every token."""
    frequency = max(statistics.document_frequencies.get(token, 0), 1)
    documents = max(statistics.documents, frequency)
    return float(np.log1p((documents - frequency + 0.5) / (frequency + 0.5)))


def _add(matrix: NDArray[np.float32], column: int, candidates: Candidates, token: str, weight: float) -> None:
    found = candidates.postings.get(token)
    if found is not None:
        rows, counts = found
        matrix[rows, column] += np.float32(weight) * counts
