"""The event log: what was done to the store, appended and never changed. It names things, it never quotes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from segue.base import ids, jsontext, time
from segue.storage.tables import events

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened: `kind` such as `packet.saved`, `subject` the id of what it happened to."""

    id: str
    at: datetime
    actor: str
    kind: str
    subject: str
    details: dict[str, Any]


_APPEND = sa.insert(events)


def append(
    connection: sa.Connection,
    scope_id: str,
    kind: str,
    subject: str,
    *,
    actor: str,
    now: datetime,
    details: Mapping[str, Any] | None = None,
) -> str:
    """Append one event to the log of a scope and return its id."""
    event_id = ids.new(now)
    row = {
        "scope_id": scope_id,
        "id": event_id,
        "at_us": time.microseconds(now),
        "actor": actor,
        "kind": kind,
        "subject": subject,
        "details": jsontext.dump(dict(details or {}), sort_keys=True).decode(),
    }
    connection.execute(_APPEND, row)
    return event_id


def newest(connection: sa.Connection, scope_id: str, limit: int) -> list[Event]:
    """Return the newest `limit` events of a scope, newest first."""
    columns = events.c
    query = sa.select(events).where(columns.scope_id == scope_id).order_by(columns.at_us.desc(), columns.id.desc())
    return [_event(row) for row in connection.execute(query.limit(limit))]


def sweep(connection: sa.Connection, before: datetime) -> int:
    """Delete what happened before then, in all scopes; return how many events."""
    return connection.execute(sa.delete(events).where(events.c.at_us < time.microseconds(before))).rowcount


def newest_us(connection: sa.Connection) -> int | None:
    """Return when the last event of all scopes was, in microseconds, None where there is none."""
    return connection.execute(sa.select(sa.func.max(events.c.at_us))).scalar()


def _event(row: sa.Row[Any]) -> Event:
    details = jsontext.parse(row.details.encode())
    return Event(row.id, time.from_microseconds(row.at_us), row.actor, row.kind, row.subject, details)
