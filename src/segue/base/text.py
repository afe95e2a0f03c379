"""Text as people compare it."""

from __future__ import annotations

import unicodedata


def fold(text: str) -> str:
    """Return `text` for comparison: compatibility forms joined, case folded, white space runs as one space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
