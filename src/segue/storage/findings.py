"""What the doctor says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong: a `code` (`doctor.columns`), a message, and whether it was `repaired` just now."""

    code: str
    message: str
    repaired: bool = False
