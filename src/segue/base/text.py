"""Text as people compare it."""

from __future__ import annotations

import re
import unicodedata

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
