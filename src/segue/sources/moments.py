"""Times in a manifest or a record: RFC 3339, or a day, which begins in UTC."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from segue.base import time

if TYPE_CHECKING:
    from datetime import datetime

A_MOMENT = "a day (2026-05-26) or an RFC 3339 date and time"

_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def instant(text: str) -> datetime | None:
    """Return the instant that `text` names, of a day its start in UTC; None where it is neither."""
    try:
        return time.parse(f"{text}T00:00:00Z" if _DAY.fullmatch(text) else text)
    except ValueError:
        return None
