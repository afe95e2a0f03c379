"""Sentence vectors, optional: what a language model says a memory means, in its surroundings and sentence by sentence.

They come from an encoder, whatever satisfies `Encoder`. A memory keeps one vector of its window (from two memories
before it in its thread to one after) and one of each of its sentences; the best sentence counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from segue.base.text import sentences
from segue.search.signs import signs_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

BEFORE, AFTER = 2, 1  # memories of the thread in a window
_MOST_SENTENCES = 32  # of a memory that are encoded


class Encoder(Protocol):
    """What search asks of a sentence encoder."""

    @property
    def id(self) -> str:
        """The name that is stored beside each vector; another id means that vectors are not comparable."""

    @property
    def dimension(self) -> int:
        """The length of a vector."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a unit row for each text."""


def window(thread: Sequence[str], place: int) -> str:
    """Return the text that is encoded for the surroundings of `thread[place]`; a thread of one is the text itself."""
    return " ".join(thread[max(place - BEFORE, 0) : place + AFTER + 1])


def passages(text: str) -> list[str]:
    """Return the sentences of `text` that are encoded one by one: at least one, however empty."""
    return sentences(text)[:_MOST_SENTENCES] or [text]


@dataclass(frozen=True, slots=True, eq=False)
class Meaning:
    """Sentence vectors of candidates: a window for each, and their sentences with the rows that these belong to."""

    windows: NDArray[np.float32]
    sentences: NDArray[np.float32]
    owners: NDArray[np.int64]

    @classmethod
    def of(cls, rows: Sequence[tuple[NDArray[np.float32] | None, NDArray[np.float32] | None]]) -> Meaning | None:
        """Return the vectors of `rows` (window, sentences); None if any lacks them: half an index misleads."""
        windows = [window for window, _ in rows if window is not None]
        parts = [part for _, part in rows if part is not None and len(part)]
        if not rows or len(windows) < len(rows) or len(parts) < len(rows):
            return None
        owners = np.repeat(np.arange(len(rows)), [len(part) for part in parts])
        return cls(np.stack(windows), np.concatenate(parts), owners)

    def take(self, rows: NDArray[np.int64]) -> Meaning:
        """Return the vectors of `rows` (ascending, each once)."""
        kept = np.isin(self.owners, rows)
        return Meaning(self.windows[rows], self.sentences[kept], np.searchsorted(rows, self.owners[kept]))

    def scores(self, vector: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the cosine of each window with `vector`, and that of each row's best sentence."""
        best = np.full(len(self.windows), -1, dtype=np.float32)
        np.maximum.at(best, self.owners, np.vecdot(self.sentences, vector))
        return np.vecdot(self.windows, vector), best


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """The sentence vectors of many memories as they are stored; rows of zeros and no sentences where there are none."""

    windows: NDArray[np.float16]
    sentences: NDArray[np.float16]
    starts: NDArray[np.int64]  # the sentences of row i are those from starts[i] up to starts[i + 1]
    whole: NDArray[np.bool_]  # which rows have theirs
    signs: NDArray[np.uint64]  # of the windows, see `signs`

    @classmethod
    def of(cls, windows: NDArray[np.float16], sentences: NDArray[np.float16], sizes: NDArray[np.int64]) -> Kept:
        """Return the vectors of rows that have `sizes` sentences each. Raises ValueError if they have not."""
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        if len(sizes) != len(windows) or starts[-1] != len(sentences):
            raise ValueError("windows and sentences do not belong together")
        return cls(windows, sentences, starts, windows.any(axis=1) & (sizes > 0), signs_of(windows))

    @property
    def nbytes(self) -> int:
        """The bytes that the arrays take."""
        arrays = (self.windows, self.sentences, self.starts, self.whole, self.signs)
        return sum(array.nbytes for array in arrays)

    def take(self, rows: NDArray[np.int64]) -> Kept:
        """Return the vectors of `rows`, in their order."""
        sizes = np.diff(self.starts)[rows]
        return Kept.of(self.windows[rows], self.sentences[ranges(self.starts[rows], sizes)], sizes)

    def meaning(self) -> Meaning:
        """Return all vectors ready to be compared."""
        owners = np.repeat(np.arange(len(self.windows)), np.diff(self.starts))
        return Meaning(self.windows.astype(np.float32), self.sentences.astype(np.float32), owners)


def joined(parts: Sequence[tuple[Kept | None, int]]) -> Kept | None:
    """Return the vectors of several parts one after another, each with its number of rows; None if none has any.

    Raises ValueError if their dimensions differ.
    """
    dimension = next((part.windows.shape[1] for part, _ in parts if part is not None), None)
    if dimension is None:
        return None
    filled = [_lacking(count, dimension) if part is None else part for part, count in parts]
    return Kept.of(
        np.concatenate([part.windows for part in filled]),
        np.concatenate([part.sentences for part in filled]),
        np.concatenate([np.diff(part.starts) for part in filled]),
    )


def ranges(starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers from each start on, as many as its size says, one range after another."""
    before = np.cumsum(sizes) - sizes
    return np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))


def _lacking(count: int, dimension: int) -> Kept:
    nothing = np.zeros((0, dimension), dtype=np.float16)
    return Kept.of(np.zeros((count, dimension), dtype=np.float16), nothing, np.zeros(count, dtype=np.int64))
