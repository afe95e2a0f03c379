"""Static word vectors: `wordllama`, 256 dimensions, weights in its wheel, nothing fetched.

The two files of the wheel are read as they are, without the package's own loader: that one looks for its tokenizer
in another folder, would fetch it from the network, and sets up logging for the whole process. The version is pinned,
so the files are known. Reading them takes about 70 ms and 60 MB.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from segue.base.errors import Failed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from tokenizers import Tokenizer

_MOST_KEPT = 32_000  # words whose vectors are kept; a kilobyte each
_FIRST_PIECE = 259  # the tokenizer's pieces before it are marks and bytes; after it they stand by their frequency
# Zipf's law, fitted to three English texts (talk, specifications, manuals): of running text the piece of rank r makes
# up SHARE / r ** SLOPE.
_SHARE, _SLOPE = 0.26, 0.97
_UNKNOWN = 1e-6  # the probability of a word that has no piece of its own


class StaticEmbedder:
    """A word's vector is the sum of its pieces' vectors: rare words, made of several, count more."""

    id = "static:wordllama-l2-256"
    dimension = 256

    def __init__(self) -> None:
        """Read the files. Raises Failed `embedder.missing` if the package or one of its files is not there."""
        self._tokenizer, self._pieces = _read()
        self._places: dict[str, int] = {}
        self._vectors = np.zeros((0, self.dimension), dtype=np.float32)
        self._probabilities = np.zeros(0, dtype=np.float32)
        self._lock = Lock()

    def word_vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return a row for each word; what cannot be written in UTF-8 is left out of it."""
        return self._look_up(words)[0]

    def word_probabilities(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return how often each word stands in general text, by the rank of its piece."""
        return self._look_up(words)[1]

    def _look_up(self, words: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        unique = list(dict.fromkeys(words))
        if len(unique) > _MOST_KEPT // 2:  # a whole vocabulary: not worth forgetting the rest for
            places = {word: place for place, word in enumerate(unique)}
            vectors, probabilities = self._compute(unique)
            rows = [places[word] for word in words]
            return vectors[rows], probabilities[rows]
        with self._lock:
            self._learn(unique)
            rows = [self._places[word] for word in words]
            return self._vectors[rows], self._probabilities[rows]

    def _learn(self, words: Sequence[str]) -> None:
        new = [word for word in words if word not in self._places]
        if not new:
            return
        if len(self._places) + len(new) > _MOST_KEPT:
            self._places, new = {}, list(words)
        start, stop = len(self._places), len(self._places) + len(new)
        if stop > len(self._vectors):  # grow by doubling, so that learning stays linear
            room = max(2 * len(self._vectors), stop, 1024) - len(self._vectors)
            self._vectors = np.concatenate([self._vectors, np.zeros((room, self.dimension), dtype=np.float32)])
            self._probabilities = np.concatenate([self._probabilities, np.zeros(room, dtype=np.float32)])
        self._vectors[start:stop], self._probabilities[start:stop] = self._compute(new)
        self._places.update((word, start + place) for place, word in enumerate(new))

    def _compute(self, words: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        ids = self._pieces_of(words)
        lengths = np.array([len(one) for one in ids], dtype=np.int64)
        vectors = np.zeros((len(words), self.dimension), dtype=np.float32)
        flat = np.array([piece for one in ids for piece in one], dtype=np.int64)
        starts = np.cumsum(lengths) - lengths
        for place in range(lengths.max(initial=0)):  # of all words at once: a sum for each takes five times as long
            rows = np.flatnonzero(lengths > place)
            vectors[rows] += self._pieces[flat[starts[rows] + place]]
        ranks = np.array([one[0] - _FIRST_PIECE if len(one) == 1 else 0 for one in ids], dtype=np.float32)
        known = ranks > 0
        probabilities = np.where(known, _SHARE / np.where(known, ranks, 1) ** _SLOPE, _UNKNOWN)
        return vectors, np.asarray(probabilities, dtype=np.float32)

    def _pieces_of(self, words: Sequence[str]) -> list[list[int]]:
        # one by one: a batch starts threads, which costs more than a few words and is a trap after a fork
        encode = self._tokenizer.encode
        return [encode(word.encode("utf-8", "ignore").decode("utf-8"), add_special_tokens=False).ids for word in words]


def _read() -> tuple[Tokenizer, NDArray[np.float16]]:
    try:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        spec = find_spec("wordllama")
        if spec is None or spec.origin is None:
            raise ImportError("wordllama is not installed")
        folder = Path(spec.origin).parent
        tokenizer = Tokenizer.from_file(str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json"))
        pieces = load_file(folder / "weights" / "l2_supercat_256.safetensors")["embedding.weight"]
    except Exception as reason:  # the tokenizer's and the reader's errors have no common class
        raise Failed(
            "embedder.missing",
            "the static embedder cannot be read: install wordllama 0.4.0.post1, or choose the embedder `none`",
            {"reason": str(reason)[:200]},
        ) from reason
    return tokenizer, pieces
