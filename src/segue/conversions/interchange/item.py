"""The item: what a reader makes of one thing that it found, before it is a memory."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from segue.transcripts.conversation import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind = Literal[
    "claim",
    "decision",
    "event",
    "preference",
    "observation",
    "action",
    "question",
    "summary",
    "style",
    "negative",
    "procedure",
    "constraint",
]
Layer = Literal["semantic", "episodic", "style", "decision", "preference", "negative", "procedural"]
Origin = Literal["packet", "capsule", "handoff", "continuity", "record", "text", "import"]
AuthorClass = Literal["user", "agent", "external"]

KINDS: tuple[Kind, ...] = get_args(Kind)
LAYERS: tuple[Layer, ...] = get_args(Layer)
LAYER_OF: dict[Kind, Layer] = {
    "claim": "semantic",
    "decision": "decision",
    "event": "episodic",
    "preference": "preference",
    "observation": "episodic",
    "action": "episodic",
    "question": "episodic",
    "summary": "semantic",
    "style": "style",
    "negative": "negative",
    "procedure": "procedural",
    "constraint": "negative",
}

MAX_CONTENT = 8_000

_BREAKS = (re.compile(r"\n[ \t]*\n"), re.compile(r"\n"), re.compile(r"(?<=[.!?。！？])\s"), re.compile(r"\s"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where an item comes from.

    `ref` is stable: the same source read again gives the same ones. `author_class` is what the source lets one
    conclude about the author, not what is proven.
    """

    origin: Origin
    ref: str
    author_class: AuthorClass
    url: str = ""
    author: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing to remember. Times are RFC 3339 in UTC, an absent text is "", `confidence` lies in 0 to 1.

    `retired` says that the source no longer holds it true; `supersedes` are the `ref`s of items that this one replaces.
    """

    content: str
    kind: Kind
    layer: Layer
    provenance: Provenance
    summary: str = ""
    entities: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    project: str = ""
    occurred_at: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    confidence: float | None = None
    retired: bool = False
    supersedes: tuple[str, ...] = ()
    thread: str = ""
    position: int | None = None


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
