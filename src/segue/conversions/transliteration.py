"""Text as US-ASCII where a reader loses nothing by it: quotes, dashes, accents, a few signs.

Other scripts are not transliterated: a reader could not tell the words any more, so they are refused with their
place (issue on capsules; PCSF section 2.1 allows US-ASCII only).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from anyascii import anyascii

from segue.base.errors import InvalidInput

_SIGNS = {
    "→": "->", "←": "<-", "⇒": "=>", "↔": "<->", "×": "x", "÷": "/", "−": "-", "±": "+/-",
    "≤": "<=", "≥": ">=", "≠": "!=", "≈": "~", "€": "EUR", "£": "GBP", "¥": "JPY", "©": "(C)",
    "®": "(R)", "™": "TM", "°": "deg", "µ": "u", "μ": "u", "²": "^2", "³": "^3", "½": "1/2", "¼": "1/4",
    "¾": "3/4", "№": "No", "«": '"', "»": '"', "•": "-", "·": "-",
}  # fmt: skip
_OTHER = re.compile(r"[^\x20-\x7e]")


@dataclass(frozen=True, slots=True)
class Plain:
    """A text in US-ASCII on one line, and each character that was replaced, with what stands for it now."""

    text: str
    replaced: dict[str, str]


def plain(text: str, path: str) -> Plain:
    """Return `text` as US-ASCII on one line, white space folded.

    Raises InvalidInput `capsule.transliteration` that names `path`, position and character, where a character has no
    form that every reader takes for the same.
    """
    folded = " ".join(text.split())
    replaced: dict[str, str] = {}

    def replace(match: re.Match[str]) -> str:
        char = match.group()
        if char not in replaced:
            replaced[char] = _ascii(char, path, match.start())
        return replaced[char]

    composed = unicodedata.normalize("NFC", folded)
    return Plain(" ".join(_OTHER.sub(replace, composed).split()), replaced)


def _ascii(char: str, path: str, position: int) -> str:
    if char in _SIGNS:
        return _SIGNS[char]
    category = unicodedata.category(char)
    name = unicodedata.name(char, "")
    if name.startswith("LATIN ") or category[0] == "P" or category == "Zs":
        simple = anyascii(char)
        if simple:
            return simple
    if category == "Mn" or name.startswith("VARIATION SELECTOR") or char in "\u200b\u200c\u200d\u2060\ufeff\u00ad":
        return ""
    raise InvalidInput(
        "capsule.transliteration",
        f"{path}: character {position + 1} (U+{ord(char):04X} {name.lower() or 'unnamed'}) has no ASCII form that "
        "every reader takes for the same; a capsule is US-ASCII only, so write it in other words",
        {"path": path, "position": position + 1, "character": f"U+{ord(char):04X}"},
    )
