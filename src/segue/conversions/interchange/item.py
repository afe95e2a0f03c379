"""What the readers of interchange files have in common when they make items: texts cut into pieces, values checked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

from segue.memories.item import KINDS, MAX_CONTENT, Item, Kind
from segue.transcripts.conversation import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

_BREAKS = (re.compile(r"\n[ \t]*\n"), re.compile(r"\n"), re.compile(r"(?<=[.!?。！？])\s"), re.compile(r"\s"))


Found: TypeAlias = Item | Problem


def pieces(text: str, limit: int = MAX_CONTENT) -> Iterator[str]:
    """Yield `text` in pieces of at most `limit` characters, cut at paragraphs, else lines, sentences, words."""
    text = text.strip()
    start = 0
    while start < len(text):
        end = len(text) if len(text) - start <= limit else _cut(text, start, limit)
        piece = text[start:end].strip()
        if piece:
            yield piece
        start = end


def headed(head: str, text: str, joint: str) -> Iterator[str]:
    """Yield `text` in pieces, each behind `head` and `joint` where there is a head: together no item is too long."""
    before = head + joint if head else ""
    # A head that takes more than half of an item is none; what does not fit then is refused and said.
    for piece in pieces(text, MAX_CONTENT - min(len(before), MAX_CONTENT // 2)):
        yield before + piece


def _cut(text: str, start: int, limit: int) -> int:
    for pattern in _BREAKS:
        ends = [found.end() for found in pattern.finditer(text, start + limit // 4, start + limit)]
        if ends:
            return ends[-1]
    return start + limit


def kind_of(text: str) -> Kind:
    """Return the kind that `text` names, or that of a plain statement."""
    return next((kind for kind in KINDS if kind == text), "claim")


def fraction(value: Any) -> float | None:
    """Return `value` where it is a number (or the text of one) in 0 to 1, or low, medium, high (decision S4)."""
    if isinstance(value, str):
        value = {"low": 0.3, "medium": 0.6, "high": 0.9}.get(value.strip().lower(), value)
    try:
        number = float(value) if isinstance(value, (int, float, str)) and not isinstance(value, bool) else -1.0
    except (ValueError, OverflowError):
        return None
    return number if 0 <= number <= 1 else None


def string(value: Any) -> str:
    """Return `value` where it is text, its ends trimmed, else an empty text."""
    return value.strip() if isinstance(value, str) else ""


def strings(value: Any) -> tuple[str, ...]:
    """Return the texts of a list, each once, without empty ones."""
    items = value if isinstance(value, (list, tuple)) else ()
    return tuple(dict.fromkeys(text for item in items if (text := string(item))))
