"""Sessions: what each conversation was told already, so that it is told what is new (specification, section 8)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from segue.base import redaction, time
from segue.base.errors import InvalidInput, NotFound
from segue.context import delta as deltas
from segue.context.conversation import KEPT, MAX_ID, asked_about, oldest, require_id
from segue.context.working_set import State
from segue.services import paging
from segue.services.scoped import ScopedService
from segue.storage import context_sessions as rows
from segue.storage import events

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    import sqlalchemy as sa

    from segue.context.delta import Delta, Served
    from segue.storage.context_sessions import Line, StoredSession

__all__ = ["KEPT", "MAX_ID", "Delivery", "Session", "SessionPage", "Sessions", "require_id", "sweep"]

_CURSOR = re.compile(r"0|[1-9][0-9]{0,18}")


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a conversation is told beside a pack, and all that it was told by then."""

    delta: Delta
    state: State

    @property
    def renewed(self) -> tuple[str, ...]:
        """The ids of the pack that are not new, but whose text it needs anew: edited, or served in part before."""
        return self.delta.renewed


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation and what it was told. It is forgotten at `expires_at`, unless it is used before."""

    session_id: str
    state: State
    started_at: datetime
    updated_at: datetime

    @property
    def expires_at(self) -> datetime:
        """When it is forgotten: 30 days after its last use."""
        return time.from_microseconds(time.microseconds(self.updated_at) + KEPT // timedelta(microseconds=1))

    def to_json(self) -> dict[str, Any]:
        """Return all of it: `known` in the order of announcement, `trajectory` oldest first."""
        state = self.state
        return {
            "session_id": self.session_id,
            "turn": state.turn,
            "cursor": str(state.cursor),
            "known": [{"ref": ref, "turn": each.turn, "cursor": str(each.cursor)} for ref, each in state.known.items()],
            "trajectory": [
                {"turn": each.turn, "tokens": list(each.tokens), "ids": list(each.ids)} for each in state.trajectory
            ],
            "centroid": dict(state.centroid),
            "started_at": time.to_text(self.started_at),
            "updated_at": time.to_text(self.updated_at),
            "expires_at": time.to_text(self.expires_at),
        }


@dataclass(frozen=True, slots=True)
class SessionPage:
    """Part of a list, last used first; `cursor` continues it, None at its end."""

    sessions: list[Line]
    cursor: str | None

    def to_json(self) -> dict[str, Any]:
        """Return the shape of a list of sessions."""
        return {"sessions": [each.to_json() for each in self.sessions], "cursor": self.cursor}


class Sessions(ScopedService):
    """The sessions of one scope. A session is named by its client; one that was not used for 30 days never was.

    Those who share a team's scope have sessions of their own there, whatever these are called.
    """

    def __init__(self, *given: Any, **shared: Any) -> None:
        super().__init__(*given, **shared)
        self._rows = rows.scope_of(self._scope, self._owner)

    def deliver(
        self,
        session_id: str,
        served: Sequence[Served],
        *,
        task: str = "",
        since: str | int | None = None,
        now: datetime | None = None,
        historic: bool = False,
    ) -> Delivery:
        """Record that a pack was served to a session, and return what changes for it; one short transaction.

        `served` is in the order of the pack, `since` the cursor of the last answer that the receiver has, `historic`
        says that the pack holds what held at an earlier time; see `segue.context.delta.step`. A session that was not
        used for 30 days before `now` begins anew; those of others stay, whatever `now` is. Raises InvalidInput
        `session.id`, `session.since`, Failed `session.state` where what was stored cannot be read, `store.…`: nothing
        changes then.
        """
        require_id(session_id)
        position, tokens = _position(since), deltas.query_tokens(task)  # before the lock is held
        with self._database.write(self._scope) as connection:
            return self.announce(
                connection, session_id, served, tokens=tokens, since=position, now=now, historic=historic
            )

    def announce(
        self,
        connection: sa.Connection,
        session_id: str,
        served: Sequence[Served],
        *,
        tokens: Sequence[str] = (),
        since: str | int | None = None,
        now: datetime | None = None,
        historic: bool = False,
    ) -> Delivery:
        """Do what `deliver` does in a write transaction of this scope that is under way.

        `tokens` are the `segue.context.delta.query_tokens` of the task.
        """
        require_id(session_id)
        position, now = _position(since), now or self._clock()
        stored = self._stored(connection, session_id, now)
        delivery = self._stepped(connection, stored, served, tokens, position, historic=historic)
        rows.put(connection, self._rows, session_id, delivery.state, now=now, fresh=stored is None)
        return delivery

    def untell(
        self, connection: sa.Connection, session_id: str, delivery: Delivery, refs: Collection[str], *, now: datetime
    ) -> None:
        """Take back, in the transaction that announced them, memories whose texts did not fit into the answer.

        They are not known to the session: the next pack that holds one tells it.
        """
        if refs:
            state = delivery.state.without(refs)
            rows.put(connection, self._rows, session_id, state, now=now, fresh=False)

    def rehearse(
        self,
        session_id: str,
        served: Sequence[Served],
        *,
        since: str | int | None = None,
        now: datetime | None = None,
        historic: bool = False,
    ) -> Delivery:
        """Return what `deliver` would return now, and record nothing. Raises what it raises."""
        require_id(session_id)
        position, now = _position(since), now or self._clock()
        with self._database.read() as connection:
            stored = self._stored(connection, session_id, now)
            return self._stepped(connection, stored, served, (), position, historic=historic)

    def _stored(self, connection: sa.Connection, session_id: str, now: datetime) -> StoredSession | None:
        """A session, None where there is none, or it was not used for 30 days before `now`."""
        stored = rows.get(connection, self._rows, session_id)
        used = stored is not None and time.microseconds(stored.line.updated_at) >= oldest(now)
        return stored if used else None

    def _stepped(
        self,
        connection: sa.Connection,
        stored: StoredSession | None,
        served: Sequence[Served],
        tokens: Sequence[str],
        since: int | None,
        *,
        historic: bool,
    ) -> Delivery:
        before = stored.state() if stored else State()
        fates = rows.fates(connection, self._scope, asked_about(before, served, since))
        after, delta = deltas.step(
            before,
            served,
            tokens=tokens,
            gone=fates.gone,
            superseded=fates.superseded,
            since=since,
            historic=historic,
        )
        return Delivery(delta, after)

    def show(self, session_id: str) -> Session:
        """Return a session. Raises InvalidInput `session.id`, NotFound `session.not_found`, Failed `session.state`."""
        require_id(session_id)
        now = self._clock()
        with self._database.read() as connection:
            stored = self._stored(connection, session_id, now)
        if stored is None:
            shown = redaction.shown(session_id, MAX_ID)
            raise NotFound("session.not_found", f"there is no session '{shown}', or it was not used for 30 days")
        return Session(session_id, stored.state(), stored.line.started_at, stored.line.updated_at)

    def reset(self, session_id: str) -> bool:
        """Forget what a session was told; return whether there was one. Raises InvalidInput `session.id`."""
        require_id(session_id)
        now = self._clock()
        with self._database.write(self._scope) as connection:
            found = self._stored(connection, session_id, now) is not None
            rows.delete(connection, self._rows, session_id)  # also one that nobody used for long
            if found:
                events.append(connection, self._scope, "session.reset", session_id, actor=self._actor, now=now)
        return found

    def sweep(self, now: datetime) -> int:
        """Remove the sessions that were not used for 30 days before `now`; return how many.

        `now` is to be the time that it is, never one that a call asked for: what is removed is gone for good.
        """
        with self._database.write(self._scope) as connection:
            return sweep(connection, self._rows, now)

    def ls(self, *, limit: int = paging.DEFAULT_LIMIT, cursor: str | None = None) -> SessionPage:
        """Return sessions, the last used first.

        `limit` is 1 to 500. Raises InvalidInput `limit.invalid`, `cursor.invalid`.
        """
        since_us = oldest(self._clock())
        with self._database.read() as connection:
            found, following = paging.page(
                connection,
                ["sessions", self._rows],
                limit,
                cursor,
                lambda number, after: rows.listed(connection, self._rows, since_us, number, after),
                lambda each: (time.microseconds(each.updated_at), each.session_id),
            )
        return SessionPage(found, following)


def sweep(connection: sa.Connection, scope_id: str, now: datetime) -> int:
    """Do what `Sessions.sweep` does in a write transaction that is under way."""
    return rows.expire(connection, scope_id, oldest(now))


def _position(since: str | int | None) -> int | None:
    """A cursor as a number. Raises InvalidInput `session.since`."""
    if since is None or type(since) is int:
        return since
    if not isinstance(since, str) or not _CURSOR.fullmatch(since):
        raise InvalidInput("session.since", "since is the cursor of an earlier answer, a decimal number")
    return int(since)
