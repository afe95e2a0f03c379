"""What hooks write into the log of an embedded store, as `segue.storage.events` writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segue.base import ids, time

if TYPE_CHECKING:
    from datetime import datetime

    from segue.hosts.embedded import Embedded

ACTOR = "hook"


def append(store: Embedded, kind: str, subject: str, now: datetime, details: str = "{}") -> None:
    """Add one event to the log, in a write transaction that is under way; `details` is JSON.

    Raises Failed `store.…`.
    """
    row = {
        "scope_id": store.scope,
        "id": ids.new(now),
        "at_us": time.microseconds(now),
        "actor": ACTOR,
        "kind": kind,
        "subject": subject,
        "details": details,
    }
    store.insert("events", [row])
