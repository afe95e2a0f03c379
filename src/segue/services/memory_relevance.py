"""Which facts of a project's memory a task calls for: by the words that they share, rare ones first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from segue.search.stopwords import STOP_WORDS
from segue.search.tokens import terms, tokens
from segue.search.workaday import WORKADAY

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST = 5
PART = 0.5  # of the best score, below which a fact is beside the point
_OTHERS = (
    20  # texts about other things that a store is taken to have beside, else no word of a small one tells anything
)
_READ = 4_000  # characters of a task


def relevant(task: str, texts: Mapping[str, str], most: int = MOST) -> list[str]:
    """Return the keys of the texts that a task calls for, the best first; words of every task count only alone."""
    words = {token for token, word in terms(task[:_READ]) if word not in STOP_WORDS}
    asked = words - WORKADAY or words
    held = {key: asked.intersection(tokens(text)) for key, text in texts.items()} if asked else {}
    weights = {token: _rarity(len(texts), sum(token in each for each in held.values())) for token in asked}
    scores = {key: sum(weights[token] for token in found) for key, found in held.items() if found}
    best = max(scores.values(), default=0.0)
    ranked = sorted(scores, key=lambda key: (-scores[key], key))
    return [key for key in ranked if scores[key] >= PART * best][:most]


def _rarity(texts: int, frequency: int) -> float:
    return math.log1p((texts + _OTHERS - frequency + 0.5) / (frequency + 0.5))
