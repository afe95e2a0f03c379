"""The ladder: what finds no room as it is gets one more chance in fewer words, before it is dropped.

Specification, section 5; decision M3. The rungs are the whole text, the stored summary, the first sentence, and as the
last a cut at a word.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from typing import TYPE_CHECKING

from segue.base.text import sentences
from segue.context.candidate import Packed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from segue.context.candidate import Candidate, Compression
    from segue.context.profiles import Profile
    from segue.context.utility import Valued

SHORTEST_CUT = 24  # characters
CUT = "…"
_FIRST = 500  # characters in which a head sentence must end
_LEAST_KEPT = 2 / 3  # of what fits, for a cut at a word
# A line that does not go on in small letters begins something else: "Why: …", an item, another script's sentence.
_LINE_END = re.compile(r"\s*[\n\r\u2028\u2029]\s*")
_FURTHER_END = re.compile(r"(?<=[؟۔।॥։።។၊။])\s")  # sentences end otherwise in Arabic, Urdu, Hindi, Armenian, Amharic …
_JOINER = "\u200d"
_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"


def head(text: str, within: int = _FIRST) -> str:
    """Return the first sentence of `text`, or the first line if shorter; "" if neither ends `within` characters."""
    text = text.strip()
    begun = text[:within]
    for end in _LINE_END.finditer(begun):
        if not begun[end.end() : end.end() + 1].islower():
            begun = begun[: end.start()]
            break
    first = _FURTHER_END.split(next(iter(sentences(begun)), ""), maxsplit=1)[0]
    if (first == begun.strip() and len(begun) == within < len(text)) or not _says(first):
        return ""
    return first


def _says(sentence: str) -> bool:
    """Whether a sentence is one by itself: not a rule of dashes, nor what only leads to what follows."""
    return any(map(str.isalnum, sentence)) and not sentence.rstrip().endswith((":", "：", ",", "—"))


def cut(text: str, room: int, profile: Profile, shortest: int = SHORTEST_CUT) -> str:
    """Return as much of `text` as `room` tokens hold, with `…` for the rest; "" for less than `shortest` characters.

    The cut is made at a word where that keeps two thirds of what fits, never inside a character of several parts.
    """
    text = _worded(text.strip())
    longest = len(text) - 1
    if longest < shortest or profile.cost(text[:shortest] + CUT) > room:
        return ""
    lengths = range(shortest + 1, longest + 1)
    longest = shortest + bisect_left(lengths, True, key=lambda length: profile.cost(text[:length] + CUT) > room)
    kept = _at_word(text, longest).rstrip(" \t\n\r,;:(–—-") + CUT
    return kept if len(kept) > 1 and profile.cost(kept) <= room else ""


def _worded(text: str) -> str:
    """Text without a long run of signs before its first word."""
    place = next((place for place, each in enumerate(text) if each.isalnum()), 0)
    return text[place:] if place >= SHORTEST_CUT else text


def _at_word(text: str, length: int) -> str:
    if text[length].isspace() or text[length - 1].isspace():
        return text[:length]
    words = text[:length].rsplit(None, 1)[0]
    if length > len(words) >= length * _LEAST_KEPT:
        return words
    while length > 1 and (_joins(text[length]) or text[length - 1] == _JOINER):
        length -= 1
    return text[:length]


def _joins(character: str) -> bool:
    return character in _TONES + _JOINER or unicodedata.category(character).startswith("M")


def compressed(candidate: Candidate, room: int, profile: Profile, shortest: int = SHORTEST_CUT) -> Packed | None:
    """Return `candidate` on the first rung below its whole text that fits into `room` tokens; None if none does."""
    for text, how in _rungs(candidate, room, profile, shortest):
        cost = profile.cost(text)
        if text and cost <= room:
            return Packed(candidate, text, cost, how)
    return None


def _rungs(candidate: Candidate, room: int, profile: Profile, shortest: int) -> Iterator[tuple[str, Compression]]:
    content, summary = candidate.memory.content, candidate.memory.summary.strip()
    if summary and len(summary) < len(content):
        yield summary, "summary"
    roomy = profile.cost(content[:SHORTEST_CUT]) <= room  # else only a very short head can fit
    first = head(content, _FIRST if roomy else SHORTEST_CUT)
    if first and len(first) < len(content):
        yield first, "head"
    if roomy or shortest < SHORTEST_CUT:
        yield cut(content, room, profile, shortest), "cut"


def recover(losers: Mapping[int, Valued], room: int, profile: Profile) -> dict[int, Packed]:
    """Return by key what of `losers` fits into `room` tokens on some rung.

    The most useful steps down first, of equals the one of the lower key; what is left of the room goes to the next.
    """
    found: dict[int, Packed] = {}
    least = profile.cost("")
    for key in sorted(losers, key=lambda key: (-losers[key].utility, key)):
        if room < least:
            break
        item = losers[key]
        packed = item.whole if item.cost <= room else compressed(item.candidate, room, profile)
        if packed is not None:
            found[key] = packed
            room -= packed.cost
    return found
