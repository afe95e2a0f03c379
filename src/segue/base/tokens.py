"""How many tokens a text takes, estimated: without the tokenizer of any model.

The unit is a character of English prose, of which a profile's `chars_per_token` make one token; every other kind of
character is weighed in that unit, so one table of factors serves every profile. The factors were fitted to three
public tokenizers (two of the GPT family, one of Claude's), each taken relative to what it needs for English prose, and
averaged; `tests/base/token_samples.json` holds what was measured.

Class means of these samples are met within 15 %. The three tokenizers themselves lie further apart than that outside
Latin text and code: for Greek, Hebrew or Hindi the newest needs less than half of the estimate.
"""

from __future__ import annotations

import math
from typing import NamedTuple

# Factors are hundredths of a character of English prose; whole numbers, so that sums are exact.
_UNIT = 100
# ASCII, by what makes tokens of it: a character adds a little, and where a run of its kind begins a token does.
_LETTER, _SPACE, _MARK, _LINE, _DIGIT = b"a", b" ", b".", b"\n", b"0"
_EACH = {_LETTER: 50, _SPACE: 20, _MARK: 80}
_BEGUN = {_LETTER: 260, _MARK: 290, _LINE: 660}
_THREE_DIGITS = 650  # up to three digits are one token
_REST = b"?"  # also what encoding makes of a character beyond the table
_TABLE_SIZE = 0x20000  # every script in daily use, and emoji, lie below


class _Kind(NamedTuple):
    """Characters of one script: its letter in the table, what each weighs, and the ranges that it lies in."""

    letter: bytes
    factor: int
    ranges: tuple[tuple[int, int], ...]


_KINDS = (
    # An accent costs more than its letter: words with accents are seldom English, and break into more tokens.
    _Kind(b"L", 1000, ((0xC0, 0x36F),)),
    _Kind(b"V", 50, ((0x1E00, 0x1EFF),)),  # Vietnamese, whose words are counted by the other letters
    _Kind(b"q", 390, ((0xA0, 0xBF), (0xD7, 0xD7), (0xF7, 0xF7), (0x2000, 0x20CF))),  # typographic marks
    _Kind(b"G", 440, ((0x370, 0x3FF), (0x1F00, 0x1FFF))),  # Greek
    _Kind(b"C", 235, ((0x400, 0x52F),)),  # Cyrillic
    _Kind(b"B", 430, ((0x590, 0x5FF),)),  # Hebrew
    _Kind(b"R", 395, ((0x600, 0x6FF), (0x750, 0x77F), (0x8A0, 0x8FF))),  # Arabic, Persian, Urdu
    _Kind(b"D", 480, ((0x900, 0x97F),)),  # Devanagari
    _Kind(b"F", 670, ((0x530, 0x58F), (0x980, 0xDFF), (0x10A0, 0x10FF))),  # Armenian, Bengali to Sinhala, Georgian
    _Kind(b"T", 510, ((0xE00, 0xE7F),)),  # Thai
    _Kind(b"K", 530, ((0xAC00, 0xD7AF),)),  # Hangul
    _Kind(b"J", 430, ((0x3040, 0x30FF),)),  # Kana
    _Kind(b"H", 435, ((0x4E00, 0x9FFF),)),  # Han
    _Kind(b"W", 600, ((0x3000, 0x303F), (0xFF00, 0xFFEF))),  # marks of East Asia, full-width forms
    _Kind(b"S", 1080, ((0x200D, 0x200D), (0x20D0, 0x24FF), (0x25A0, 0x2BFF), (0xFE0F, 0xFE0F))),  # symbols, joiners
    _Kind(b"X", 245, ((0x2500, 0x259F),)),  # lines and blocks, which come in runs
    _Kind(b"E", 1140, ((0x1F000, 0x1FAFF),)),  # emoji
)
# Whatever else there is: a token for nearly each byte.
_FACTORS = (*((kind.letter, kind.factor) for kind in _KINDS), (_REST, 1200))


def _table() -> str:
    """The letter of each character's kind, at the character's place."""
    table = bytearray(_REST * _TABLE_SIZE)
    for code in range(0x80):
        shown = chr(code)
        known = _LETTER if shown.isalpha() else _DIGIT if shown.isdigit() else _SPACE if shown.isspace() else _MARK
        table[code : code + 1] = _LINE if shown in "\r\n" else known
    for letter, _, ranges in _KINDS:
        for first, last in ranges:
            table[first : last + 1] = letter * (last + 1 - first)
    return table.decode("ascii")


def _only(letter: bytes) -> bytes:
    """A table that keeps `letter` and makes a space of all else."""
    return bytes(letter[0] if code == letter[0] else 0x20 for code in range(0x100))


_TABLE = _table()
_RUNS = tuple((b" " + letter, _only(letter), weight) for letter, weight in _BEGUN.items())


def plain(text: str, chars_per_token: float) -> int:
    """Return an estimate that counts characters alone, at least 1."""
    return max(1, math.ceil(len(text) / chars_per_token))


def estimate(text: str, chars_per_token: float) -> int:
    """Return an estimate that knows scripts, digits, code and emoji: at least 1, and never below `plain`.

    It takes time in proportion to the text, some microseconds for a sentence.
    """
    return max(plain(text, chars_per_token), math.ceil(_weight(text) / (_UNIT * chars_per_token)))


def _weight(text: str) -> int:
    """How many characters of English prose take as many tokens as `text`, in hundredths."""
    kinds = text.translate(_TABLE).encode("ascii", "replace")
    weight = sum(kinds.count(letter) * each for letter, each in _EACH.items())
    padded = b" " + kinds
    weight += sum(padded.translate(kept).count(begin) * each for begin, kept, each in _RUNS)
    if _DIGIT in kinds:
        groups = kinds.replace(_DIGIT * 3, b"3").replace(_DIGIT * 2, b"3")
        weight += (groups.count(b"3") + groups.count(_DIGIT)) * _THREE_DIGITS
    if not text.isascii():
        weight += sum(kinds.count(letter) * each for letter, each in _FACTORS)
    return weight
