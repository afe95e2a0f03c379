"""What a conversation was told, kept in an embedded store as `segue.services.sessions` keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segue.base import time
from segue.context import delta as deltas
from segue.context import working_set
from segue.context.conversation import asked_about, oldest
from segue.context.working_set import State, Texts
from segue.hosts import event_rows, memory_rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from segue.context.delta import Delta, Served
    from segue.hosts.embedded import Embedded


def state(store: Embedded, session_id: str, now: datetime) -> State | None:
    """Return what a session was told, None where there is none that was used in the last 30 days.

    Raises Failed `session.state`.
    """
    found = store.rows(
        "SELECT known, trajectory, centroid, log, delta_cursor, turn, updated_us FROM context_sessions"
        " WHERE scope_id = :scope AND session_id = :session",
        session=session_id,
    )
    if not found or found[0][6] < oldest(now):
        return None
    return working_set.read(Texts(*found[0][:4]), cursor=found[0][4], turn=found[0][5])


def announce(
    store: Embedded,
    session_id: str,
    served: Sequence[Served],
    *,
    tokens: Sequence[str],
    now: datetime,
    anew: bool = False,
) -> Delta:
    """Record, in a write transaction that is under way, that memories were served; return what changes.

    `anew` forgets what the session was told before: its reader has nothing of that any more.
    """
    before = None if anew else state(store, session_id, now)
    fates = memory_rows.became(store, asked_about(before or State(), served, None))
    after, delta = deltas.step(before or State(), served, tokens=tokens, gone=fates.gone, superseded=fates.superseded)
    _put(store, session_id, after, now, fresh=before is None)
    event_rows.append(store, "context.served", session_id, now)
    return delta


def _put(store: Embedded, session_id: str, after: State, now: datetime, *, fresh: bool) -> None:
    moment = time.microseconds(now)
    values = {**after.texts()._asdict(), "delta_cursor": after.cursor, "turn": after.turn, "updated_us": moment}
    if fresh:
        store.change("DELETE FROM context_sessions WHERE scope_id = :scope AND session_id = :id", id=session_id)
        row = {"scope_id": store.scope, "session_id": session_id, "started_us": moment, **values}
        store.insert("context_sessions", [row])
        return
    store.change(
        "UPDATE context_sessions SET known = :known, trajectory = :trajectory, centroid = :centroid, log = :log,"
        " delta_cursor = :delta_cursor, turn = :turn, updated_us = max(updated_us, :updated_us)"
        " WHERE scope_id = :scope AND session_id = :session",
        session=session_id,
        **values,
    )
