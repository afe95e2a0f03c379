"""What earlier pages of a pack had, small enough for a cursor: three bytes of a hash for each memory."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_BYTES = 3  # of at most a few hundred candidates, two are alike once in a hundred thousand packs


def mark(ref: str) -> bytes:
    """Return the mark of a memory's id."""
    return hashlib.blake2b(ref.encode(), digest_size=_BYTES).digest()


def marks(text: str) -> frozenset[bytes]:
    """Return the marks that `with_marks` wrote."""
    raw = base64.urlsafe_b64decode(text)
    return frozenset(raw[place : place + _BYTES] for place in range(0, len(raw), _BYTES))


def with_marks(text: str, refs: Iterable[str]) -> str:
    """Return `text` with the marks of further memories."""
    return text + base64.urlsafe_b64encode(b"".join(map(mark, refs))).decode()
