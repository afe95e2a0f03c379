"""The words of a text as a set, by which two texts are told to say the same: in any script."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

from segue.memories.identity import normal

_ASCII = re.compile(r"[a-z0-9]+")
# Scripts that write no spaces between words: Thai, Lao, Burmese, Khmer, Tai, Javanese, Kana, Bopomofo, ideographs.
_DENSE_LETTERS = (
    r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u1000-\u1049\u1050-\u108f\u1780-\u17d3\u1950-\u19df\u1a20-\u1a7f"
    r"\ua980-\ua9c0\u3005-\u3007\u3031-\u3035\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf"
    r"\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003fffd"
)
_DENSE = re.compile(f"([{_DENSE_LETTERS}]+)")
_BESIDE_DENSE = re.compile(rf"(?<=[{_DENSE_LETTERS}])\s+|\s+(?=[{_DENSE_LETTERS}])")
_SELECTORS = (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))  # say how a character looks, not what it is
_KEPT = 20_000  # characters whose kind is remembered


class Letters(dict[int, str | None]):
    """For `str.translate`: letters, marks and digits stay, unseen characters go, all else becomes a space."""

    def __init__(self) -> None:
        super().__init__(dict.fromkeys(_SELECTORS))

    def __missing__(self, point: int) -> str | None:
        """Say what becomes of a character that was not met before."""
        meant = self.meant(chr(point))
        if len(self) < _KEPT:
            self[point] = meant
        return meant

    def meant(self, character: str) -> str | None:
        """Return what stands for `character`: itself, a space, or None for nothing."""
        category = unicodedata.category(character)
        if category[0] in "LMN":
            return character
        return None if category == "Cf" else " "


_LETTERS = Letters()


def words(text: str) -> frozenset[str]:
    """Return the words of `text`, case folded and composed; of a script without spaces the pairs of neighbours.

    A character that stands alone between words of another script is a word.
    """
    if text.isascii():
        return frozenset(_ASCII.findall(text.lower()))
    found: set[str] = set()
    for run in normal(text).translate(_LETTERS).split():
        if run.isascii():
            found.add(run)
            continue
        for place, piece in enumerate(_DENSE.split(run)):
            if place % 2 and len(piece) > 1:  # the split keeps what it splits by at the odd places
                found.update(map("".join, pairwise(piece)))
            elif piece:
                found.add(piece)
    return frozenset(found)


def halves(text: str) -> int:
    """Return how many half words a normal `text` has: two a word, one a letter of a script without spaces."""
    if text.isascii():
        return 2 * len(_ASCII.findall(text))
    pieces = [_DENSE.split(run) for run in text.translate(_LETTERS).split()]
    spaced = sum(bool(piece) for each in pieces for piece in each[::2])
    dense = (letter for each in pieces for piece in each[1::2] for letter in piece)
    return 2 * spaced + sum(not unicodedata.category(letter).startswith("M") for letter in dense)


def closed(text: str) -> str:
    """Return `text` without the spaces beside letters of scripts that need none: who writes them does so at will."""
    return text if text.isascii() else _BESIDE_DENSE.sub("", text)


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the Jaccard index of two sets of words, 0 to 1: the share of the words in either that stand in both."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0
