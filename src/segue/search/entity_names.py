"""Names that are known beforehand, found in a text: whole words in any case, also in scripts without spaces."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

# Letters and digits of the scripts that put spaces between words, and those of the scripts that do not (and Hangul,
# whose endings stick to the word). For character classes of regular expressions.
LETTERS = (
    r"0-9A-Za-z_\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0300-\u0dff\u0f00-\u0fff\u10a0-\u10ff"
    r"\u1200-\u177f\u1800-\u1fff"
)
LATIN = r"0-9A-Za-z_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff"  # the most of them: a small class is soon compiled
DENSE = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff"

_PIECE = re.compile(rf"[{LETTERS}]++|\S")
_DENSE = re.compile(rf"[{DENSE}]")
# A name must not begin or end inside a run of these: Latin letters, Katakana, and before it no Hangul.
_SAME_BEFORE = re.compile(rf"[{LATIN}]{{2}}|[\u30a1-\u30fc]{{2}}|[\uac00-\ud7a3]{{2}}")
_SAME_AFTER = re.compile(rf"[{LATIN}]{{2}}|[\u30a1-\u30fc]{{2}}")
_IDEOGRAPH = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Names:
    """Names made ready to be looked for: each name or alias, and the entity that it stands for."""

    _spaced: dict[tuple[str, ...], str]  # by the words and marks of a name
    _dense: dict[str, str]  # by a name that holds characters of a script without spaces
    _lengths: dict[str, tuple[int, ...]]  # by the first word, mark or such character: of the names, the longest first

    @classmethod
    def of(cls, known: Mapping[str, str] | Collection[str]) -> Names:
        """Return the names of a mapping from alias to entity, or of a collection of entities. Empty ones are left."""
        spaced: dict[tuple[str, ...], str] = {}
        dense: dict[str, str] = {}
        for alias, entity in _pairs(known):
            composed = unicodedata.normalize("NFC", alias)
            if _DENSE.search(composed):
                dense[_lower(" ".join(composed.split()))] = entity
            elif pieces := tuple(map(_folded, _PIECE.findall(composed))):
                spaced[pieces] = entity
        lengths: defaultdict[str, set[int]] = defaultdict(set)
        for name in (*spaced, *dense):
            lengths[name[0]].add(len(name))
        return cls(spaced, dense, {first: tuple(sorted(each, reverse=True)) for first, each in lengths.items()})

    def found(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield start, end and entity for each name in a text that is composed (NFC); the longest one at a place."""
        if self._spaced:
            yield from self._among_words(text)
        if self._dense and _DENSE.search(text):
            yield from self._among_characters(_lower(text))

    def _among_words(self, text: str) -> Iterator[tuple[int, int, str]]:
        places = list(_PIECE.finditer(text))
        pieces = [_folded(place[0]) for place in places]
        free = 0
        for index, piece in enumerate(pieces):
            if index < free or piece not in self._lengths:
                continue
            for length in self._lengths[piece]:
                entity = self._spaced.get(tuple(pieces[index : index + length]))
                if entity is not None:
                    free = min(index + length, len(pieces))
                    yield places[index].start(), places[free - 1].end(), entity
                    break

    def _among_characters(self, text: str) -> Iterator[tuple[int, int, str]]:
        free = 0
        for start, character in enumerate(text):
            if start < free or character not in self._lengths:
                continue
            for length in self._lengths[character]:
                entity = self._dense.get(text[start : start + length])
                if entity is not None and _is_whole(text, start, start + length):
                    free = start + length
                    yield start, free, entity
                    break


def prepared(known: Names | Mapping[str, str] | Collection[str]) -> Names:
    """Return `known` made ready, from memory where the same names were given lately."""
    if isinstance(known, Names):
        return known
    return _prepared(tuple(_pairs(known)))


@lru_cache(maxsize=16)
def _prepared(pairs: tuple[tuple[str, str], ...]) -> Names:
    return Names.of(dict(pairs))


def _pairs(known: Mapping[str, str] | Collection[str]) -> Iterable[tuple[str, str]]:
    return known.items() if isinstance(known, Mapping) else ((name, name) for name in known)


def _folded(piece: str) -> str:
    if piece.isascii():
        return piece.lower()
    return "'" if piece == "’" else unicodedata.normalize("NFKC", piece).casefold()


def _lower(text: str) -> str:
    """Return `text` in small letters where that keeps every character at its place."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text


def _is_whole(text: str, start: int, end: int) -> bool:
    if start and _SAME_BEFORE.match(text, start - 1):
        return False
    if _SAME_AFTER.match(text, end - 1):
        return False
    if end - start > 1 or not _IDEOGRAPH.match(text, start):
        return True
    # One ideograph is a word only where it stands alone.
    return not (start and _IDEOGRAPH.match(text, start - 1)) and not _IDEOGRAPH.match(text, end)
