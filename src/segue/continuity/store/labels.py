"""The labelled parts of a fact's text: `Why:`, `How to apply:` and the like, in any case, bold or not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

WHY, HOW = "Why", "How to apply"
ORIGINAL, CANONICAL, STALE, IMPACT = "Original", "Canonical", "Stale patterns", "Impact"
REQUIRED: Mapping[str, tuple[str, ...]] = {
    "feedback": (WHY, HOW),
    "correction": (ORIGINAL, CANONICAL, STALE, IMPACT),
    "project": (WHY, HOW),
    "reference": (),
}
_ALL = (WHY, HOW, ORIGINAL, CANONICAL, STALE, IMPACT)
_LABEL = re.compile(
    rf"^[ \t]*(?:[-*+>][ \t]+)?(?:\*\*|__)?({'|'.join(_ALL)})(?:\*\*|__)?[ \t]*[:：](?:\*\*|__)?",
    re.IGNORECASE | re.MULTILINE,
)
_NOTHING = re.compile(r"[\s*_]+|<!--.*?-->", re.DOTALL)  # what shows as nothing: marks of emphasis, comments


def texts(body: str) -> dict[str, str]:
    """Return what stands after each label, up to the next one; a text may begin on the line after its label."""
    found: dict[str, str] = {}
    marks = list(_LABEL.finditer(body))
    for place, mark in enumerate(marks):
        end = marks[place + 1].start() if place + 1 < len(marks) else len(body)
        label = next(each for each in _ALL if each.lower() == mark[1].lower())
        text = body[mark.end() : end].strip()
        if not found.get(label):
            found[label] = text
    return found


def missing(kind: str, body: str) -> list[str]:
    """Return the labels that a fact of that kind needs and whose text its body lacks."""
    found = texts(body)
    return [label for label in REQUIRED.get(kind, ()) if not _NOTHING.sub("", found.get(label, ""))]
