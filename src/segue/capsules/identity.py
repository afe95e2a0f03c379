"""What identifies a capsule: its time and its text (decision C-11)."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from segue.base import ids
from segue.capsules import lines

if TYPE_CHECKING:
    from segue.capsules.capsule import Capsule


def identity(capsule: Capsule) -> str:
    """Return a ULID made of META's time and the first 80 bits of the SHA-256 of the canonical text.

    The same capsule has the same one everywhere. META's time is at least 1970 here: an earlier one counts as 1970.
    """
    moment = lines.moment(capsule.meta.timestamp)
    assert moment is not None  # noqa: S101 - a valid capsule has a real date
    return ids.of(moment, hashlib.sha256(capsule.text.encode("ascii")).digest()[:10])
