"""Static word vectors: `wordllama`, 256 dimensions, weights in its wheel, nothing fetched.

The two files of the wheel are read as they are, without the package's own loader: that one looks for its tokenizer
in another folder, would fetch it from the network, and sets up logging for the whole process. The version is pinned,
so the files are known. Reading them takes about 60 ms and 20 MB: of the weights only what is looked at is read.
"""

from __future__ import annotations

import json
from functools import cached_property
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from segue.base.errors import Failed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from tokenizers import Tokenizer

_SPACE = "\u2581"  # what the tokenizer writes for a space
_JOINED = 256  # words that are cut into pieces at a time, and
_FEW = 4  # up to which each is cut alone
_BLOCK = 512  # words whose vectors are summed at a time
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
        self._tokenizer, self.pieces = _read()
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
        pieces, lengths = self.pieces_of(words)
        starts = np.cumsum(lengths) - lengths
        vectors = np.zeros((len(words), self.dimension), dtype=np.float32)
        for start in range(0, len(words), _BLOCK):  # of many words at once: a sum for each takes five times as long
            block, sizes = starts[start : start + _BLOCK], lengths[start : start + _BLOCK]
            sums = vectors[start : start + _BLOCK]
            for place in range(sizes.max(initial=0)):
                rows = np.flatnonzero(sizes > place)
                sums[rows] += self.pieces[pieces[block[rows] + place]].astype(np.float32)
        alone = np.flatnonzero(lengths == 1)
        ranks = np.zeros(len(words), dtype=np.float32)
        ranks[alone] = pieces[starts[alone]] - _FIRST_PIECE
        known = ranks > 0
        probabilities = np.where(known, _SHARE / np.where(known, ranks, 1) ** _SLOPE, _UNKNOWN)
        return vectors, np.asarray(probabilities, dtype=np.float32)

    def pieces_of(self, words: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the pieces of all words, one word after another, and how many each has."""
        found: list[list[int]] = []
        lengths: list[NDArray[np.int64]] = []
        for start in range(0, len(words), _JOINED):
            some = words[start : start + _JOINED]
            pieces, sizes = self._together(some) or self._one_by_one(some)
            found.append(pieces)
            lengths.append(sizes)
        flat = np.fromiter(chain.from_iterable(found), dtype=np.int64, count=sum(map(len, found)))
        return flat, np.concatenate(lengths) if lengths else np.zeros(0, dtype=np.int64)

    def _together(self, words: Sequence[str]) -> tuple[list[int], NDArray[np.int64]] | None:
        """What `_one_by_one` says, twice as fast: the words as one text; None where that would not be the same.

        A space is part of the piece that begins the word after it, and of no other: no piece reaches beyond its word.
        """
        text = " ".join(words)
        if len(words) < _FEW or not text.replace(" ", "").isalnum() or "" in words:
            return None
        pieces = self._tokenizer.encode(text, add_special_tokens=False).ids
        begins = np.flatnonzero(self._beginning[pieces])
        sizes = np.diff(begins, append=len(pieces))
        return (pieces, sizes) if len(sizes) == len(words) else None

    def _one_by_one(self, words: Sequence[str]) -> tuple[list[int], NDArray[np.int64]]:
        # not as a batch, which starts threads: that costs more than a few words and is a trap after a fork
        encode = self._tokenizer.encode
        clean = [word.encode("utf-8", "ignore").decode("utf-8") for word in words]
        found = [encode(word, add_special_tokens=False).ids for word in clean]
        return list(chain.from_iterable(found)), np.array([len(one) for one in found], dtype=np.int64)

    @cached_property
    def _beginning(self) -> NDArray[np.bool_]:
        """Which pieces begin a word."""
        marks = np.zeros(len(self.pieces), dtype=np.bool_)
        marks[[place for piece, place in self._tokenizer.get_vocab().items() if piece.startswith(_SPACE)]] = True
        return marks


def _read() -> tuple[Tokenizer, NDArray[np.float16]]:
    try:
        from tokenizers import Tokenizer

        spec = find_spec("wordllama")
        if spec is None or spec.origin is None:
            raise ImportError("wordllama is not installed")
        folder = Path(spec.origin).parent
        tokenizer = Tokenizer.from_file(str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json"))
        pieces = _mapped(folder / "weights" / "l2_supercat_256.safetensors", "embedding.weight")
    except Exception as reason:  # the tokenizer's and the reader's errors have no common class
        raise Failed(
            "embedder.missing",
            "the static embedder cannot be read: install wordllama 0.4.0.post1, or choose the embedder `none`",
            {"reason": str(reason)[:200]},
        ) from reason
    return tokenizer, pieces


def _mapped(path: Path, name: str) -> NDArray[np.float16]:
    """Return the array of that name in a file of safetensors, of which only those pages are read that are looked at."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        described = json.loads(file.read(size))[name]
    if described["dtype"] != "F16":
        raise ValueError(f"{name} is of the type {described['dtype']}")
    start, _ = described["data_offsets"]
    mapped = np.memmap(path, dtype="<f2", mode="r", offset=8 + size + start, shape=tuple(described["shape"]))
    return mapped.view(np.ndarray)
