"""Folding: facts that say the same in other words are one line of a pack (specification, section 5).

The same is what differs in case, punctuation, a label, or the words that introduce a decision. What changes the meaning
is kept apart: signs, numbers as they are written, a question, another address, project, speaker or, of events and turns
of a conversation, another day. A fold that is missed costs a line, a wrong one costs a fact.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING

from segue.context.words import Letters, closed, halves
from segue.memories.identity import normal

if TYPE_CHECKING:
    from collections.abc import Container, Sequence
    from datetime import date

    from segue.context.candidate import Candidate
    from segue.memories.memory import Memory

FEWEST = 12  # half words: six words, or twelve letters of a script without spaces

_ADDRESS = re.compile(r"(?:https?://|www\.)[!-~]+|(?<![a-z0-9._%+-])[a-z0-9._%+-]++@[a-z0-9.-]+")
_LABEL = re.compile(
    r"\A[\s*_#>•–-]*(?:(?:decision|summary|preference|procedure|process|note|fact|claim|entscheidung|notiz|hinweis"
    r"|décision|nota|decisión|решение|примечание|قرار|ملاحظة|决定|決定|备注|備註|メモ|สรุป|หมายเหตุ)[\s*_]*[:：][\s*_]*)+"
)
_RESOLVED = re.compile(
    r"\A(?:(?:we|i)\s+(?:have\s+)?(?:decided|chose|agreed)\s+(?:that\s+)?|我们?(?:已经?)?(?:决定|选择|同意)[了，,]?)"
)
# Dropped, but for between digits (10:30, 5/2), before a number (.5, -5), in != and after a letter (C#).
_POINTS = re.compile(
    r"[-.,:/!#](?:(?<=[-.,:/])(?!\d)|(?<=(?<!\d)[:/])|(?<=[^\W\d]-)|(?<=!)(?!=)|(?<=(?<!\w)#))",
)
_ASKS = ("?", "？", "؟")


class _Signs(Letters):
    """As letters stay those signs that change what is said: 5 %, < 5, 5 €, C++, ✅."""

    def meant(self, character: str) -> str | None:
        """Return what stands for `character`: itself, itself apart from others, a space, or None for nothing."""
        if character in ".,:/!#-":
            return character
        drawn = character == "|" or "\u2500" <= character <= "\u25ff"  # tables, boxes, bullets
        sign = character == "%" or unicodedata.category(character) in ("Sm", "Sc", "So")
        return f" {character} " if sign and not drawn else super().meant(character)


_SIGNS = _Signs()


def key(text: str) -> str:
    """Return what is the same for texts that say the same; "" for one that is too short to be told by its words."""
    text = normal(text)
    if _may_name_address(text):
        text = _ADDRESS.sub(" ", text).strip()
    asks = text.endswith(_ASKS)
    text = _RESOLVED.sub("", _LABEL.sub("", text))
    said = " ".join(_POINTS.sub(" ", text).translate(_SIGNS).split())
    if halves(said) < FEWEST:
        return ""
    return closed(said) + " ?" if asks else closed(said)


def groups(candidates: Sequence[Candidate], conflicting: Container[object] = frozenset()) -> list[list[int]]:
    """Return the places of all candidates, those of facts that say the same together, in the order of the first.

    `conflicting` are the refs of memories that contradict another: nothing that says the same as one is folded.
    """
    by_key: dict[str, list[int]] = {}
    for place, each in enumerate(candidates):
        if each.layer == "facts" and (said := key(each.memory.content)):
            by_key.setdefault(said, []).append(place)
    found = {place: [place] for place in range(len(candidates))}
    for alike in by_key.values():
        for same in _same(candidates, alike) if len(alike) > 1 else ():
            if not any(candidates[place].ref in conflicting for place in same):
                found[same[0]] = same
                for place in same[1:]:
                    del found[place]
    return list(found.values())


def _same(candidates: Sequence[Candidate], alike: Sequence[int]) -> list[list[int]]:
    """The groups among facts of one key: of one circumstance, and with one address or none."""
    split: dict[tuple[object, ...], dict[tuple[str, ...], list[int]]] = {}
    for place in alike:
        memory = candidates[place].memory
        split.setdefault(_circumstances(memory), {}).setdefault(_addresses(memory.content), []).append(place)
    found: list[list[int]] = []
    for by_address in split.values():
        bare = by_address.pop((), [])
        first, *others = by_address.values() or [[]]
        found += [sorted(bare + first), *others]
    return found


def _circumstances(memory: Memory) -> tuple[str, str, date | None]:
    happened = memory.kind == "event" or memory.thread
    day = memory.occurred_at.date() if happened and memory.occurred_at is not None else None
    return normal(memory.project), normal(memory.speaker), day


def _may_name_address(text: str) -> bool:
    return "@" in text or "//" in text or "www." in text


def _addresses(text: str) -> tuple[str, ...]:
    """The web and e-mail addresses of a text, sorted."""
    text = normal(text)
    found = _ADDRESS.findall(text) if _may_name_address(text) else ()
    return tuple(sorted({address.rstrip(".,;:!?)") for address in found}))


def folded(same: Sequence[Candidate]) -> Candidate:
    """Return the first of a group, which tells the others, too."""
    first, *others = same
    if not others:
        return first
    told = (memory for other in others for memory in (other.memory, *other.folded))
    return replace(first, folded=(*first.folded, *told))
