"""The tokens that text is indexed and asked for by.

One function makes them for both sides, so that whatever spelling a writer and a reader chose meet: case, width,
composition and Latin accents are folded, Latin words are stemmed, scripts that write no spaces are cut into
characters and pairs of characters, and what looks like code is kept whole beside its parts.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import Stemmer  # type: ignore[import-not-found]

from segue.base.text import DENSE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LONGEST = 64  # characters of a token: a longer word is cut, longer code is left to its parts

# Marks that `\w` leaves out although they stand inside words: without them Hindi or vocalised Arabic falls apart.
_MARKS = (
    r"\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    r"\u06df-\u06e8\u06ea-\u06ed\u0711-\u074a\u07a6-\u07b0\u07eb-\u07f3\u0816-\u082d\u0859-\u085b\u08d3-\u0963"
    r"\u0971-\u0df3\u0f18-\u0f39\u0f3e-\u0f84\u0f86-\u0fbc\u135d-\u135f"
)
_LETTERS = rf"[\w{_MARKS}{DENSE}]+"
_PICTURE = r"[\u2600-\u27bf\U0001f300-\U0001faff]"  # each is a word of its own
_CHUNK = re.compile(rf"{_LETTERS}(?:(?:::|:/{{1,3}}|->|[./\\@:+#=~'-]){_LETTERS})*(?:\+\+|\#)?|{_PICTURE}")
_SPLIT_DENSE = re.compile(rf"([{DENSE}]+)")
_PART = re.compile(rf"(?:(?!_)[\w{_MARKS}])+(?:'t\b)?|{_PICTURE}")
_CLITIC = re.compile(r"(?<=\w)'(?:s|re|ve|ll|d|m)\b")
_PLAIN = re.compile(rf"(?:(?!_)[\w{_MARKS}'])+|_+|{_PICTURE}")  # no code: a word, an apostrophe in it or not
_SLASHES = re.compile(r"[/\\]+")
_UNSEEN = re.compile(r"[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")
# Accents of Latin and Greek, points and vowel signs of Hebrew and Arabic: most people leave them out when they ask.
_ACCENT = re.compile(
    r"(?<=[a-z\u03b1-\u03c9])[\u0300-\u036f]+|[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4-\u05c7\u064b-\u065f\u0670]+"
)

_stemmer = Stemmer.Stemmer("english", 0)  # keeps nothing: `stem` does, where the garbage collector looks at nothing


def fold(text: str) -> str:
    """Return `text` as it is compared: compatible forms joined, case and Latin accents folded, the unseen dropped."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", _UNSEEN.sub("", text)).casefold()
    text = _ACCENT.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFKC", text).replace("ı", "i").replace("’", "'")


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the stem of a folded word: Snowball's English one for Latin words, else the word itself."""
    return str(_stemmer.stemWord(word)) if word.isascii() and word.isalpha() else word


def stems(words: Sequence[str]) -> list[str]:
    """Return the stem of each of very many folded words: what `stem` says, without keeping it."""
    plain = [word for word in words if word.isascii() and word.isalpha()]
    found = dict(zip(plain, _stemmer.stemWords(plain), strict=True))
    return [found.get(word, word) for word in words]


def words(text: str) -> list[str]:
    """Return the words of `text`, folded and in order, as they are embedded: unstemmed, dense scripts by the run."""
    return [word for chunk in _chunks(text) for word in _words(chunk)]


def tokens(text: str) -> list[str]:
    """Return what the text index stores of `text`: stems, code whole and in parts, dense scripts by one and by two."""
    return [token for chunk in _chunks(text) for token, _ in _tokens(chunk, singles=True)]


def terms(text: str) -> list[tuple[str, str]]:
    """Return what a query asks the text index for, each with the word that it was made of.

    As `tokens`, but single characters of a dense script only where one stands alone. Pairs of characters and code
    that is kept whole have no word: "".
    """
    return [term for chunk in _chunks(text) for term in _tokens(chunk, singles=False)]


def _chunks(text: str) -> list[str]:
    return _CHUNK.findall(fold(text))


def _words(chunk: str) -> list[str]:
    """The words of one chunk: a run of a dense script is one word, code falls into its parts."""
    if chunk.isascii() and chunk.isalnum():
        return [chunk[:LONGEST]]
    found: list[str] = []
    for place, piece in enumerate(_SPLIT_DENSE.split(chunk)):
        if place % 2:
            found += (piece[start : start + LONGEST] for start in range(0, len(piece), LONGEST))
        else:
            found += _parts(piece)
    return found


def _parts(piece: str) -> list[str]:
    return [part.replace("'", "")[:LONGEST] for part in _PART.findall(_CLITIC.sub("", piece))]


def _tokens(chunk: str, *, singles: bool) -> Iterator[tuple[str, str]]:
    if chunk.isascii() and chunk.isalnum():
        yield stem(chunk[:LONGEST]), chunk[:LONGEST]
        return
    for place, piece in enumerate(_SPLIT_DENSE.split(chunk)):
        if place % 2:  # the split keeps what it splits by at the odd places
            yield from ((gram, "") for gram in _grams(piece, singles=singles))
        else:
            yield from ((stem(word), word) for word in _parts(piece))
    yield from ((code, "") for code in _whole(chunk))


def _grams(run: str, *, singles: bool) -> Iterator[str]:
    """The pairs of neighbours in `run`, and its single characters where asked for or where there is but one."""
    if singles or len(run) == 1:
        yield from (character for character in run if not unicodedata.category(character).startswith("M"))
    yield from map("".join, pairwise(run))


def _whole(chunk: str) -> Iterator[str]:
    """What of `chunk` reads like code, kept whole: `c++`, `a::b`, `foo_bar`, `1.2.3`; of a path also its segments."""
    if _SPLIT_DENSE.search(chunk):
        return
    segments = [part for part in _SLASHES.split(chunk) if part]
    for candidate in [chunk, *segments] if len(segments) > 1 else [chunk]:
        if len(candidate) <= LONGEST and not _PLAIN.fullmatch(candidate):
            yield candidate
