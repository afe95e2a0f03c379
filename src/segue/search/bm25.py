"""The constants of BM25: the same for search, which ranks with arrays, and for hooks, which rank without."""

from __future__ import annotations

K1 = 1.2  # how soon a term that stands often in a memory counts no more
B = 0.2  # how much the length of a memory counts, 0 to 1
