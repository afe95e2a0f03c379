"""Text as US-ASCII where a reader loses nothing by it: quotes, dashes, accents, a few signs.

Other scripts are not transliterated: a reader could not tell the words any more, so they are refused with their
place (issue on capsules; PCSF section 2.1 allows US-ASCII only). What is written at all is listed here: a sign of
which nobody thought is refused, never guessed at.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from anyascii import anyascii

from segue.base.errors import InvalidInput

_SIGNS = {
    **dict.fromkeys("‘’‚‛′‹›", "'"), **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("‐‑‒–−•‣⁃", "-"), **dict.fromkeys("—―", " - "), "…": "...", "·": "*",
    "→": "->", "←": "<-", "⇒": "=>", "↔": "<->", "×": "x", "÷": "/", "±": "+/-", "≤": "<=", "≥": ">=", "≠": "!=",
    "≈": "~", "€": "EUR", "£": "GBP", "©": "(C)", "®": "(R)", "™": "(TM)", "°": "deg", "µ": "u", "№": "No",
    "§": "section ", "‰": " per mille", "ª": "a", "º": "o", "¿": "", "¡": "",
    # Not seen, and without a meaning in this script.
    **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufe0e\ufe0f\ufeff", ""),
}  # fmt: skip
_POWERS, _INDICES = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "₀₁₂₃₄₅₆₇₈₉"
_DIGITS = str.maketrans(_POWERS + _INDICES, "0123456789+-0123456789")
# A power or fraction before another digit would run into it.
_FOREIGN = re.compile(
    "(?P<marked>.[\u0300-\u036f]+)"
    rf"|(?P<power>[{_POWERS}]+(?![0-9{_POWERS}]))|(?P<index>(?<=[A-Za-z])[{_INDICES}]+(?![0-9{_INDICES}]))"
    r"|(?P<fraction>[¼½¾⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞](?![0-9]))"
    r"|[^\x20-\x7e]"
)
_STRIKES = re.compile("[\u0334-\u0338]")  # a struck-out letter says the opposite of the letter
_LAST_PLAIN_LATIN = "\u017f"


@dataclass(frozen=True, slots=True)
class Plain:
    """A text in US-ASCII on one line, and each piece that was replaced, with what stands for it now."""

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
        found = match.group()
        written = _ascii(found, match.lastgroup, folded[: match.start()][-1:])
        if written is None:
            raise _refused(text, folded, match, path)
        replaced[found] = written.strip()
        return written

    return Plain(" ".join(_FOREIGN.sub(replace, folded).split()), replaced)


def _ascii(found: str, kind: str | None, before: str) -> str | None:
    """Return what stands for a match of _FOREIGN behind `before`, None where nothing does."""
    if kind == "marked":
        return _marked(found)
    if kind == "power":
        return "^" + found.translate(_DIGITS)
    if kind == "index":
        return found.translate(_DIGITS)
    if kind == "fraction":
        written = unicodedata.normalize("NFKC", found).replace("\u2044", "/")
        return f" {written}" if before.isdigit() else written
    return _character(found)


def _marked(cluster: str) -> str | None:
    """Return a letter without its accents; marks on anything but a Latin letter say more than an accent."""
    composed = unicodedata.normalize("NFC", cluster)
    base, marks = composed[0], composed[1:]
    written = base if base.isascii() else _character(base)
    if not marks:
        return written
    return None if _STRIKES.search(marks) or not unicodedata.name(base, "").startswith("LATIN ") else written


def _character(char: str) -> str | None:
    if char in _SIGNS:
        return _SIGNS[char]
    if "\uff01" <= char <= "\uff5e":  # the wide forms of ASCII
        return unicodedata.normalize("NFKC", char)
    # Beyond the first blocks: accented letters and ligatures of two plain ones, not those of phonetic alphabets.
    form = unicodedata.decomposition(char).partition(" ")[0]
    known = char <= _LAST_PLAIN_LATIN or (form and (form == "<compat>" or not form.startswith("<")))
    if known and unicodedata.name(char, "").startswith("LATIN "):
        written = anyascii(char)
        return written if written.isascii() and written.isalpha() else None
    return None


def _refused(text: str, folded: str, match: re.Match[str], path: str) -> InvalidInput:
    offset = next(index for index, char in enumerate(match.group()) if not " " <= char <= "~")
    char = match.group()[offset]
    place = _place(text, len("".join(folded[: match.start() + offset].split()))) + 1
    name = unicodedata.name(char, "unnamed").lower()
    return InvalidInput(
        "capsule.transliteration",
        f"{path}: character {place} (U+{ord(char):04X} {name}) has no ASCII form that "
        "every reader takes for the same; a capsule is US-ASCII only, so write it in other words",
        {"path": path, "position": place, "character": f"U+{ord(char):04X}"},
    )


def _place(text: str, count: int) -> int:
    """Return the index of the character that stands behind `count` others, white space not counted."""
    return [index for index, char in enumerate(text) if not char.isspace()][count]
