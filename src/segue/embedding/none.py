"""No embedder: search goes by words alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class NoEmbedder:
    """Has vectors of dimension 0."""

    id = "none"
    dimension = 0

    def word_vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return as many empty rows as there are words."""
        return np.zeros((len(words), 0), dtype=np.float32)

    def word_probabilities(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return 0 for each word: nothing is known about text in general."""
        return np.zeros(len(words), dtype=np.float32)
