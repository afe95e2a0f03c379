"""A text in a column compared with a folded name, on databases that fold ASCII letters alone.

What the databases lack is done by replacing: the other cases of the letters that the name has, letters that are
written with a mark of their own, ß, and line breaks. Compatible forms (full-width letters, ligatures) are not folded.
"""

from __future__ import annotations

import unicodedata
from functools import cache

import sqlalchemy as sa

_CASELESS = 0x20000  # what lies behind has no case


def holds(column: sa.ColumnElement[str], key: str) -> sa.ColumnElement[bool]:
    """Return the condition that `column` has `key` in it, a name as `segue.search.entities.key` gives it."""
    text: sa.ColumnElement[str] = sa.func.lower(column)
    for written, meant in _forms(key):
        text = sa.func.replace(text, written, meant)
    return text.contains(key, autoescape=True)


def _forms(key: str) -> list[tuple[str, str]]:
    """How else what stands in a key may be written, the longest forms first."""
    found = {"\n": " "} if " " in key else {}
    if "s" in key:
        found |= {"ß": "ss", "ẞ": "ss"}
    if "\u0307" in key:
        found["İ"] = "İ".casefold()
    for character in {each for each in key if not each.isascii()}:
        for other in (character, *_others().get(character, ())):
            found |= {form: character for form in (other, unicodedata.normalize("NFD", other)) if form != character}
    return sorted(found.items(), key=lambda each: (-len(each[0]), each[0]))


@cache
def _others() -> dict[str, list[str]]:
    """What is folded to a character, by that character."""
    found: dict[str, list[str]] = {}
    for point in range(0x80, _CASELESS):
        folded = chr(point).casefold()
        if len(folded) == 1 and folded != chr(point):
            found.setdefault(folded, []).append(chr(point))
    return found
