"""The signs of vectors: a bit a dimension, by which many are looked through for those that are like another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 32_768  # rows at a time


def signs_of(rows: NDArray[np.float32] | NDArray[np.float16]) -> NDArray[np.uint64]:
    """Return the signs of vectors, 64 in a number: a column for each vector."""
    bits = np.packbits(rows > 0, axis=1)
    words = np.zeros((len(rows), -(-rows.shape[1] // 64) * 8), dtype=np.uint8)
    words[:, : bits.shape[1]] = bits
    return np.ascontiguousarray(words.view(np.uint64).T)


def likeness(signs: NDArray[np.uint64], vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return about what the cosine of each vector with `vector` is.

    Of vectors that stand at an angle the share of the angle in a half turn is the share of signs that differ.
    """
    differing = np.zeros(signs.shape[1], dtype=np.uint16)
    asked = signs_of(vector[None])
    for start in range(0, len(differing), _BLOCK):
        part = slice(start, start + _BLOCK)
        for row, sign in zip(signs, asked, strict=True):
            differing[part] += np.bitwise_count(row[part] ^ sign)
    cosines = np.cos(np.pi * np.arange(len(vector) + 1) / len(vector)).astype(np.float32)
    return np.asarray(cosines[differing])
