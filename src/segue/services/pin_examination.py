"""The doctor's eyes for pinned packs: each is as it was pinned, and forgetting will find what stands in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from segue.services import pins
from segue.storage import context_pins as rows
from segue.storage import memories as memory_rows
from segue.storage.findings import Finding

if TYPE_CHECKING:
    import sqlalchemy as sa

    from segue.storage.context_pins import Pin


def examine(connection: sa.Connection, *, repair: bool) -> list[Finding]:
    """Return what is wrong with pinned packs. With `repair` what is forgotten leaves them, and their lists are mended.

    What was changed cannot be told from what was pinned: it is not shown, and a person removes it.
    """
    return [
        finding
        for scope_id in rows.scopes(connection)
        for sha in rows.all_shas(connection, scope_id)
        for finding in _examine(connection, scope_id, sha, repair=repair)
    ]


def _examine(connection: sa.Connection, scope_id: str, sha: str, *, repair: bool) -> list[Finding]:
    pin, intact = pins.found(connection, scope_id, sha)
    if not intact:
        message = f"the pinned pack {sha[-8:]} is not as it was pinned and is not shown; `segue pin rm {sha[-8:]}`"
        return [Finding("doctor.pin", message)]
    told = _told(pin)
    there = memory_rows.known(connection, scope_id, told)
    gone = [each for each in told if each not in there]
    listed = set(rows.memories_of(connection, scope_id, sha))
    unlisted = [each for each in told if each in there and each not in listed]
    found = []
    if gone:
        if repair:
            pins.take_out(connection, scope_id, pin, gone)
        found.append(Finding("doctor.pin", f"the pinned pack {sha[-8:]} holds what was forgotten", repair))
    if unlisted:
        if repair:
            rows.hold(connection, scope_id, sha, unlisted)
        message = f"the list of memories in the pinned pack {sha[-8:]} lacks some"
        found.append(Finding("doctor.pin", message, repair))
    return found


def _told(pin: Pin) -> list[str]:
    """The memories that the items of a pack tell."""
    items = json.loads(pin.body)["items"]
    return list(dict.fromkeys(ref for each in items for ref in (each["ref"], *each["why"]["folded_refs"])))
