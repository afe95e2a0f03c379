"""What a store knows about all its texts together, kept up to date by addition as memories come and go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from segue.search import dates
from segue.search.tokens import tokens, words
from segue.search.vectors import text_vectors

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from segue.search.vectors import WordVectors


@dataclass(frozen=True, slots=True)
class Indexed:
    """What one text adds to the index: everything that search wants to be stored of it."""

    tokens: tuple[str, ...]
    words: tuple[str, ...]
    is_question: bool
    tells_time: bool

    @classmethod
    def of(cls, text: str) -> Indexed:
        """Return what `text` adds. Any text will do."""
        return cls(
            tokens=tuple(tokens(text)),
            words=tuple(words(text)),
            is_question=text.rstrip().endswith(("?", "？", "؟")),
            tells_time=dates.tells(text),
        )


class Frequencies(Protocol):
    """In how many texts tokens stand, where no dictionary says so."""

    def get(self, token: str, default: int, /) -> int:
        """Return the number of texts that hold `token`, or `default` for none."""

    def many(self, tokens: Sequence[str], /) -> NDArray[np.int64]:
        """Return the number of texts that hold each token."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts over the texts of a scope, and the mean of their raw vectors. All of it adds up memory by memory."""

    PRIOR: ClassVar[int] = 1000  # words of general text that a store's own frequencies are mixed with

    FEW: ClassVar[int] = 20  # memories whose mean is half trusted

    documents: int = 0
    length: int = 0  # tokens in all
    document_frequencies: Mapping[str, int] | Frequencies = field(default_factory=dict)  # by token
    word_counts: Mapping[str, int] = field(default_factory=dict)  # by word
    words: int = 0  # in all
    mean: NDArray[np.float32] | None = None  # of the raw vectors

    @classmethod
    def of(cls, texts: Iterable[Indexed]) -> Statistics:
        """Return the statistics of `texts`, without the mean vector (see `with_mean`)."""
        frequencies: Counter[str] = Counter()
        counts: Counter[str] = Counter()
        documents = length = 0
        for text in texts:
            documents += 1
            length += len(text.tokens)
            frequencies.update(set(text.tokens))
            counts.update(text.words)
        return cls(documents, length, dict(frequencies), dict(counts), counts.total())

    def with_mean(self, texts: Iterable[Indexed], embedder: WordVectors) -> Statistics:
        """Return these statistics with the mean of the raw vectors of `texts`, those without words left out."""
        if not embedder.dimension:
            return self
        vectors = text_vectors([text.words for text in texts], self, embedder)
        filled = vectors[vectors.any(axis=1)]
        return replace(self, mean=filled.mean(axis=0, dtype=np.float64).astype(np.float32) if len(filled) else None)

    def frequencies(self, tokens: Sequence[str]) -> NDArray[np.int64]:
        """Return in how many texts each token stands."""
        known = self.document_frequencies
        if isinstance(known, Mapping):
            return np.array([known.get(token, 0) for token in tokens], dtype=np.int64)
        return known.many(tokens)

    @property
    def centre(self) -> NDArray[np.float32] | None:
        """What is taken off every vector: the mean, drawn to nothing while few memories speak for it."""
        if self.mean is None:
            return None
        return np.asarray(self.mean * np.float32(self.documents / (self.documents + self.FEW)), dtype=np.float32)

    @property
    def average_length(self) -> float:
        """Tokens of a text, on average; 1 for an empty store."""
        return self.length / self.documents if self.documents and self.length else 1.0
