"""The words that lists are searched by: a word of a query finds texts in which a word begins with it.

Plain words are indexed as they are, runs of scripts without spaces by their pairs of characters. What stands in most
texts, and single letters, are not indexed: they are found by reading texts, the newest first.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from segue.base.text import DENSE, fold

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST = 24  # characters of an indexed word; longer ones are cut
_COMMON = frozenset(
    "an and are as at be by do for from if in is it no not of on or so that the this to up we with".split()
)
_PICTURES = "\\u2600-\\u27bf\\U0001f300-\\U0001faff"  # each is a word of its own
_APART = re.compile(f"([{DENSE}]+|[{_PICTURES}])")
_UNKNOWN = 0xFFFD  # what stands in the place of a character that could not be kept
_DENSE = re.compile(f"[{DENSE}]")


class _Letters(dict[int, int]):
    """A table for `str.translate`: letters, digits, marks and pictures stay, all else becomes a space."""

    def __missing__(self, code: int) -> int:
        kind = unicodedata.category(chr(code))
        self[code] = found = code if kind[0] in "LNM" or (kind == "So" and code != _UNKNOWN) else 0x20
        return found


_LETTERS = _Letters()


@dataclass(frozen=True, slots=True)
class Probe:
    """What the index is asked for: a word, or what a word begins with."""

    word: str
    begins: bool = False


@dataclass(frozen=True, slots=True)
class Needle:
    """One word of a query: what a text made by `searched` holds where the word finds it, and what narrows it down."""

    text: str
    probes: tuple[Probe, ...]


def searched(text: str) -> str:
    """Return `text` as it is searched: its words, folded, each between two spaces."""
    return f" {' '.join(_pieces(text))} "


def indexed(text: str) -> frozenset[str]:
    """Return what a text that `searched` made is indexed by."""
    return frozenset(entry for piece in text.split() for entry in _entries(piece))


def needle(word: str) -> Needle | None:
    """Return what to look for where somebody asks for `word`; None where it has neither letter nor digit.

    A word of several parts, such as `auth.py`, asks for the parts in this order, each but the last one whole.
    """
    pieces = _pieces(word)
    if not pieces:
        return None
    last = len(pieces) - 1
    probes = (probe for place, piece in enumerate(pieces) for probe in _probes(piece, begins=place == last))
    start = "" if _DENSE.match(pieces[0]) else " "
    return Needle(start + " ".join(pieces), tuple(dict.fromkeys(probes)))


def _pieces(text: str) -> list[str]:
    plain = fold(text).translate(_LETTERS)
    return (plain if plain.isascii() else _APART.sub(r" \1 ", plain)).split()


def _entries(piece: str) -> Iterator[str]:
    if _DENSE.match(piece):
        yield from map("".join, pairwise(piece))
    elif len(piece) > 1 and piece not in _COMMON:
        yield piece[:LONGEST]


def _probes(piece: str, *, begins: bool) -> Iterator[Probe]:
    if _DENSE.match(piece) or not begins or len(piece) >= LONGEST:
        yield from map(Probe, _entries(piece))
    elif len(piece) > 1 and not any(word.startswith(piece) for word in _COMMON):
        yield Probe(piece, begins=True)
