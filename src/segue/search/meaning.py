"""Sentence vectors, optional: what a language model says a memory means, in its surroundings and sentence by sentence.

They come from an encoder, whatever satisfies `Encoder`. A memory keeps one vector of its window (from two memories
before it in its thread to one after) and one of each of its sentences; the best sentence counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from segue.base.text import sentences

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
