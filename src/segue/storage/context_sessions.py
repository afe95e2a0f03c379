"""Rows of sessions: what each conversation was told, and what became of that. A session is named by its client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from segue.base import time
from segue.context import working_set
from segue.context.working_set import Texts
from segue.storage.fates import Fates, traced
from segue.storage.memories import batches
from segue.storage.tables import context_sessions, memories

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from segue.context.working_set import State

_COLUMNS = context_sessions.c


@dataclass(frozen=True, slots=True)
class Line:
    """A session without what it was told. `turn` and `cursor` count its answers."""

    session_id: str
    turn: int
    cursor: int
    started_at: datetime
    updated_at: datetime

    def to_json(self) -> dict[str, Any]:
        """Return the shape of an entry in a list of sessions."""
        return {
            "session_id": self.session_id,
            "turn": self.turn,
            "cursor": str(self.cursor),
            "started_at": time.to_text(self.started_at),
            "updated_at": time.to_text(self.updated_at),
        }


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session: its line, and the texts of its working set."""

    line: Line
    texts: Texts

    def state(self) -> State:
        """Return the working set. Raises Failed `session.state`."""
        return working_set.read(self.texts, cursor=self.line.cursor, turn=self.line.turn)


def scope_of(scope_id: str, owner: str) -> str:
    """Return under which scope the sessions of a user lie: those of members of a team are apart from one another."""
    return scope_id if owner == scope_id else f"{scope_id}:{owner}"


def get(connection: sa.Connection, scope_id: str, session_id: str) -> StoredSession | None:
    """Return a session, None where the scope has none of that name."""
    row = connection.execute(sa.select(context_sessions).where(*_is(scope_id, session_id))).one_or_none()
    if row is None:
        return None
    return StoredSession(_line(row), Texts(row.known, row.trajectory, row.centroid, row.log))


def put(connection: sa.Connection, scope_id: str, session_id: str, state: State, *, now: datetime, fresh: bool) -> None:
    """Write a session. A `fresh` one takes the place of what may be there; the times of another never go back."""
    moment = time.microseconds(now)
    values = {**state.texts()._asdict(), "delta_cursor": state.cursor, "turn": state.turn}
    if fresh:
        delete(connection, scope_id, session_id)
        row = {"scope_id": scope_id, "session_id": session_id, "started_us": moment, "updated_us": moment, **values}
        connection.execute(sa.insert(context_sessions).values(row))
    else:
        latest = sa.case((_COLUMNS.updated_us > moment, _COLUMNS.updated_us), else_=moment)
        statement = sa.update(context_sessions).where(*_is(scope_id, session_id))
        connection.execute(statement.values(updated_us=latest, **values))


def delete(connection: sa.Connection, scope_id: str, session_id: str) -> bool:
    """Remove a session; return whether there was one."""
    return bool(connection.execute(sa.delete(context_sessions).where(*_is(scope_id, session_id))).rowcount)


def expire(connection: sa.Connection, scope_id: str, before_us: int) -> int:
    """Remove the sessions that were used last before a time; return how many."""
    unused = _COLUMNS.scope_id == scope_id, _COLUMNS.updated_us < before_us
    return connection.execute(sa.delete(context_sessions).where(*unused)).rowcount


def expire_all(connection: sa.Connection, before_us: int) -> int:
    """Remove the sessions of all scopes that were used last before a time; return how many."""
    return connection.execute(sa.delete(context_sessions).where(_COLUMNS.updated_us < before_us)).rowcount


def delete_of(connection: sa.Connection, team_id: str, user_id: str | None = None) -> None:
    """Remove what the members of a team have, or one of them has."""
    if user_id is not None:
        mine = _COLUMNS.scope_id == scope_of(team_id, user_id)
    else:
        mine = sa.and_(_COLUMNS.scope_id > f"{team_id}:", _COLUMNS.scope_id < f"{team_id};")  # what begins so
    connection.execute(sa.delete(context_sessions).where(mine))


def listed(
    connection: sa.Connection, scope_id: str, since_us: int, limit: int, after: tuple[int, str] | None
) -> list[Line]:
    """Return up to `limit` sessions that were used at a time or later, the last used first.

    They begin behind the position `after` (updated_us, session_id).
    """
    wanted = [each for each in _COLUMNS if each.name not in Texts._fields]
    query = sa.select(*wanted).where(_COLUMNS.scope_id == scope_id, _COLUMNS.updated_us >= since_us)
    if after is not None:
        query = query.where(sa.tuple_(_COLUMNS.updated_us, _COLUMNS.session_id) < sa.tuple_(*after))
    query = query.order_by(_COLUMNS.updated_us.desc(), _COLUMNS.session_id.desc()).limit(limit)
    return [_line(row) for row in connection.execute(query)]


def fates(connection: sa.Connection, scope_id: str, memory_ids: Collection[str]) -> Fates:
    """Return what became of those memories that are not active any more; see `segue.storage.fates`."""
    return traced(memory_ids, lambda some: _links(connection, scope_id, some))


def _links(connection: sa.Connection, scope_id: str, memory_ids: Collection[str]) -> dict[str, str | None]:
    """What replaces each memory: None for an active one, "" for nothing. Those that wait for review are left out."""
    found: dict[str, str | None] = {}
    columns = memories.c
    for batch in batches(sorted(memory_ids)):
        query = sa.select(columns.id, columns.status, columns.superseded_by)
        query = query.where(columns.scope_id == scope_id, columns.id.in_(batch), columns.status != "pending")
        for row in connection.execute(query):
            found[row.id] = None if row.status == "active" else row.superseded_by or ""
    return found


def _is(scope_id: str, session_id: str) -> tuple[sa.ColumnElement[bool], ...]:
    return _COLUMNS.scope_id == scope_id, _COLUMNS.session_id == session_id


def _line(row: sa.Row[Any]) -> Line:
    return Line(
        row.session_id,
        row.turn,
        row.delta_cursor,
        time.from_microseconds(row.started_us),
        time.from_microseconds(row.updated_us),
    )
