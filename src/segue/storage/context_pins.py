"""Pinned packs: their bytes under the SHA-256 of what they were, and which memories stand in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
import sqlalchemy as sa

from segue.base import time
from segue.storage.memories import batches
from segue.storage.tables import context_pin_memories, context_pins

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

_COLUMNS = context_pins.c
_HELD = context_pin_memories.c


@dataclass(frozen=True, slots=True)
class Pin:
    """A pinned pack. `asked` are the arguments of its call; `forgotten` ids that left `body` since.

    `seal` is the keyed hash of a body that something was taken out of, "" while it is what was pinned.
    """

    sha: str
    pinned_at: datetime
    session_id: str
    asked: Mapping[str, Any]
    body: bytes
    seal: str = ""
    forgotten: tuple[str, ...] = ()


def put(connection: sa.Connection, scope_id: str, pin: Pin, memory_ids: Iterable[str]) -> bool:
    """Keep a pack; return whether it is new. The same bytes are kept once, with the time of the first."""
    if get(connection, scope_id, pin.sha) is not None:
        return False
    connection.execute(
        sa.insert(context_pins).values(
            scope_id=scope_id,
            sha=pin.sha,
            pinned_us=time.microseconds(pin.pinned_at),
            session_id=pin.session_id or None,
            asked=orjson.dumps(dict(pin.asked), option=orjson.OPT_SORT_KEYS).decode(),
            body=pin.body,
            seal=pin.seal or None,
            forgotten=orjson.dumps(pin.forgotten).decode(),
        )
    )
    held = [{"scope_id": scope_id, "sha": pin.sha, "memory_id": each} for each in dict.fromkeys(memory_ids)]
    if held:
        connection.execute(sa.insert(context_pin_memories), held)
    return True


def get(connection: sa.Connection, scope_id: str, sha: str) -> Pin | None:
    """Return a pinned pack, None where there is none."""
    row = connection.execute(
        sa.select(context_pins).where(_COLUMNS.scope_id == scope_id, _COLUMNS.sha == sha)
    ).one_or_none()
    return None if row is None else _pin(row)


def holding(connection: sa.Connection, scope_id: str, memory_ids: Sequence[str]) -> list[str]:
    """Return the hashes of the pinned packs that hold any of the memories, in their order."""
    found: set[str] = set()
    for batch in batches(memory_ids):
        query = sa.select(_HELD.sha).where(_HELD.scope_id == scope_id, _HELD.memory_id.in_(batch))
        found |= set(connection.execute(query).scalars())
    return sorted(found)


def replace(connection: sa.Connection, scope_id: str, pin: Pin, gone: Sequence[str]) -> None:
    """Write the body, the seal and what is forgotten of a pinned pack, and that it holds `gone` no more."""
    connection.execute(
        sa.update(context_pins)
        .where(_COLUMNS.scope_id == scope_id, _COLUMNS.sha == pin.sha)
        .values(body=pin.body, seal=pin.seal, forgotten=orjson.dumps(pin.forgotten).decode())
    )
    connection.execute(
        sa.delete(context_pin_memories).where(
            _HELD.scope_id == scope_id, _HELD.sha == pin.sha, _HELD.memory_id.in_(list(gone))
        )
    )


def memories_of(connection: sa.Connection, scope_id: str, sha: str) -> list[str]:
    """Return the ids of the memories that a pinned pack holds."""
    query = sa.select(_HELD.memory_id).where(_HELD.scope_id == scope_id, _HELD.sha == sha).order_by(_HELD.memory_id)
    return list(connection.execute(query).scalars())


def _pin(row: sa.Row[Any]) -> Pin:
    return Pin(
        row.sha,
        time.from_microseconds(row.pinned_us),
        row.session_id or "",
        orjson.loads(row.asked),
        bytes(row.body),
        row.seal or "",
        tuple(orjson.loads(row.forgotten)),
    )
