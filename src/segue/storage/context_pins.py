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
_RAW: list[sa.ColumnElement[Any]] = [sa.type_coerce(each, sa.types.NullType()).label(each.name) for each in _COLUMNS]


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


@dataclass(frozen=True, slots=True)
class Line:
    """A pinned pack in a list. `task` is "" where the row does not read; `size` counts the bytes of the body."""

    sha: str
    pinned_at: datetime
    session_id: str
    task: str
    size: int


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
    hold(connection, scope_id, pin.sha, memory_ids)
    return True


def get(connection: sa.Connection, scope_id: str, sha: str) -> Pin | None:
    """Return a pinned pack, None where there is none. Raises ValueError where its row does not read."""
    row: sa.Row[Any] | None = connection.execute(sa.select(*_RAW).where(*_is(scope_id, sha))).one_or_none()
    try:
        return None if row is None else _pin(row)
    except (TypeError, KeyError, OverflowError) as error:  # SQLite takes any type in any column
        raise ValueError(str(error)) from error


def all_shas(connection: sa.Connection, scope_id: str) -> list[str]:
    """Return the hashes of all pinned packs, in their order."""
    query = sa.select(_COLUMNS.sha).where(_COLUMNS.scope_id == scope_id).order_by(_COLUMNS.sha)
    return list(connection.execute(query).scalars())


def scopes(connection: sa.Connection) -> list[str]:
    """Return the scopes that have pinned packs."""
    return sorted(connection.execute(sa.select(_COLUMNS.scope_id).distinct()).scalars())


def with_ending(connection: sa.Connection, scope_id: str, ending: str, limit: int) -> list[str]:
    """Return up to `limit` hashes that end in `ending`, in any case."""
    matches = _COLUMNS.sha.endswith(ending.lower(), autoescape=True)
    query = sa.select(_COLUMNS.sha).where(_COLUMNS.scope_id == scope_id, matches).order_by(_COLUMNS.sha)
    return list(connection.execute(query.limit(limit)).scalars())


def listed(connection: sa.Connection, scope_id: str, limit: int, after: tuple[int, str] | None) -> list[Line]:
    """Return up to `limit` pinned packs, the last pinned first, behind the position `after` (pinned_us, sha)."""
    size = sa.func.length(_COLUMNS.body).label("size")
    wanted: list[sa.ColumnElement[Any]] = [
        *(_COLUMNS[name] for name in ("sha", "pinned_us", "session_id", "asked")),
        size,
    ]
    query = sa.select(*wanted).where(_COLUMNS.scope_id == scope_id)
    if after is not None:
        query = query.where(sa.tuple_(_COLUMNS.pinned_us, _COLUMNS.sha) < sa.tuple_(*after))
    query = query.order_by(_COLUMNS.pinned_us.desc(), _COLUMNS.sha.desc()).limit(limit)
    return [_line(row) for row in connection.execute(query)]


def delete(connection: sa.Connection, scope_id: str, sha: str) -> bool:
    """Remove a pinned pack, whatever state it is in; return whether there was one."""
    return bool(connection.execute(sa.delete(context_pins).where(*_is(scope_id, sha))).rowcount)


def hold(connection: sa.Connection, scope_id: str, sha: str, memory_ids: Iterable[str]) -> None:
    """Note that a pinned pack holds memories, none of which is noted yet."""
    held = [{"scope_id": scope_id, "sha": sha, "memory_id": each} for each in dict.fromkeys(memory_ids)]
    if held:
        connection.execute(sa.insert(context_pin_memories), held)


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


def _is(scope_id: str, sha: str) -> tuple[sa.ColumnElement[bool], ...]:
    return _COLUMNS.scope_id == scope_id, _COLUMNS.sha == sha


def _line(row: sa.Row[Any]) -> Line:
    try:
        task = orjson.loads(row.asked)["task"]
    except (TypeError, KeyError, ValueError):
        task = ""
    pinned_us = row.pinned_us if isinstance(row.pinned_us, int) else 0
    return Line(row.sha, time.from_microseconds(pinned_us), row.session_id or "", str(task), row.size or 0)


def _pin(row: sa.Row[Any]) -> Pin:
    asked, forgotten = orjson.loads(row.asked), orjson.loads(row.forgotten)
    time.parse(asked["now"])
    kept = {"task": str, "known_us": int, "delivered": str}
    if not all(isinstance(asked[name], kind) for name, kind in kept.items()):
        raise ValueError("the arguments of the call are of other types")
    if not isinstance(forgotten, list) or not all(isinstance(each, str) for each in forgotten):
        raise ValueError("what is forgotten is no list of ids")
    if isinstance(row.body, str) or not isinstance(row.pinned_us, int):
        raise ValueError("the body or its time is of another type")
    pinned_at = time.from_microseconds(row.pinned_us)
    return Pin(row.sha, pinned_at, row.session_id or "", asked, bytes(row.body), row.seal or "", tuple(forgotten))
