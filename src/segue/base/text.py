"""Text as people compare it."""

from __future__ import annotations

import re
import unicodedata

# Scripts without spaces between words, and Hangul, whose endings stick to the word.
DENSE = (
    r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u1000-\u1049\u1780-\u17d3\u1100-\u11ff\u3005-\u3007\u3031-\u3035"
    r"\u3041-\u3096\u3099-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff"
    r"\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb\uf900-\ufaff\U00016fe0-\U00018cff"
    r"\U0001b000-\U0001b16f\U00020000-\U0003fffd"
)

_ABBREVIATIONS = re.compile(
    r"\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|no|fig|sec|al|ca|z\.b|d\.h|bzw|usw|dr|mr|mrs|st)\.$", re.I
)
_LONGEST = 12  # characters, of an abbreviation and what stands before it
_SENTENCE_END = re.compile(r"(?<![.!?])[.!?]++[\"'”’)\]]{0,3}+(?=\s++\S)|(?<![。！？])[。！？]++(?=\s*+\S)")


def fold(text: str) -> str:
    """Return `text` for comparison: compatibility forms joined, case folded, white space runs as one space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def sentences(text: str) -> list[str]:
    """Return the sentences of `text`, each with its own end; abbreviations and version numbers end none."""
    found, start = [], 0
    for end in _SENTENCE_END.finditer(text):
        if not _ABBREVIATIONS.search(text, max(0, end.end() - _LONGEST), end.end()):
            found.append(text[start : end.end()].strip())
            start = end.end()
    rest = text[start:].strip()
    return [*found, rest] if rest else found
