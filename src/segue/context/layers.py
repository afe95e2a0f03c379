"""The layers of a pack, and how much each counts for what is asked (facts, section 004.3)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from segue.memories.item import Kind
    from segue.memories.memory import Memory

PackLayer = Literal["constraints", "decisions", "facts", "entity", "procedures", "identity", "open_loops", "recency"]
PACK_LAYERS: tuple[PackLayer, ...] = get_args(PackLayer)
Intent = Literal["answer", "act", "draft", "plan", "recall"]
INTENTS: tuple[Intent, ...] = get_args(Intent)
_Ranked = TypeVar("_Ranked")

# In the order of PACK_LAYERS. A layer that weighs nothing is not fetched.
_WEIGHTS: dict[Intent, tuple[int, ...]] = {
    "answer": (10, 15, 40, 15, 0, 5, 5, 10),
    "act": (10, 15, 25, 10, 20, 5, 10, 5),
    "draft": (15, 10, 20, 15, 0, 25, 5, 10),
    "plan": (10, 20, 20, 10, 0, 5, 25, 10),
    "recall": (10, 15, 0, 5, 5, 5, 15, 45),
}
WEIGHTS: Mapping[Intent, Mapping[PackLayer, int]] = {
    intent: dict(zip(PACK_LAYERS, weights, strict=True)) for intent, weights in _WEIGHTS.items()
}

# How many of each layer compete: for the generic reader by the facts, section 004.3; for a model by decision M4.
MOST_GENERIC: Mapping[PackLayer, int] = dict(zip(PACK_LAYERS, (12, 12, 24, 44, 8, 10, 10, 12), strict=True))
MOST_OF_MODEL: Mapping[PackLayer, int] = dict(zip(PACK_LAYERS, (24, 60, 160, 44, 24, 16, 24, 48), strict=True))
# The layers that hold certain kinds, whatever a task's words are.
KINDS: Mapping[PackLayer, tuple[Kind, ...]] = {
    "constraints": ("constraint",),
    "decisions": ("decision",),
    "procedures": ("procedure",),
    "identity": ("preference", "style"),
    "open_loops": ("question", "action"),
}
_STYLE = 4  # in ten of the identity layer

# The first that names a word of the task decides.
_WORDS: tuple[tuple[Intent, str], ...] = (
    ("draft", "write|draft|reply|respond|email|message|compose|post"),
    ("act", "fix|implement|build|run|deploy|schedule|book|create|configure|refactor|ship|migrate|setup"),
    ("plan", "plan|prioriti[sz]e|roadmap|organi[sz]e|next steps|strategy"),
)
_NAMING = tuple((intent, re.compile(rf"\b(?:{words})\b", re.IGNORECASE)) for intent, words in _WORDS)

_OF_LAYER: dict[str, PackLayer] = {
    "decision": "decisions",
    "procedural": "procedures",
    "preference": "identity",
    "style": "identity",
}


def intent_of(task: str) -> Intent:
    """Return what a task is about: `recall` where it is empty, `answer` where no word of it says anything else."""
    if not task.strip():
        return "recall"
    return next((intent for intent, words in _NAMING if words.search(task)), "answer")


def natural(memory: Memory) -> PackLayer:
    """Return the layer of a pack that a memory belongs to by itself (decision M2)."""
    if memory.kind == "constraint":
        return "constraints"
    if memory.kind in ("question", "action"):
        return "open_loops"
    return _OF_LAYER.get(memory.layer, "facts")


def balanced(ranked: Sequence[_Ranked], most: int, is_style: Callable[[_Ranked], bool]) -> list[_Ranked]:
    """Return up to `most` of the identity layer, in their order: at most four of style in ten, the rest preferences."""
    styles = [is_style(each) for each in ranked]
    room = {True: min(sum(styles), most * _STYLE // 10)}
    room[False] = most - room[True]
    found = []
    for each, style in zip(ranked, styles, strict=True):
        if room[style]:
            room[style] -= 1
            found.append(each)
    return found
