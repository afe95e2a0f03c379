"""What the operator of a server looks after: whether all is well, and what is to go after a time."""

from __future__ import annotations

import contextlib
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from segue.base import ids, time
from segue.context.conversation import oldest
from segue.services.accounts import find_user
from segue.services.policies import POLICY_SETTING, checked_policy, server_policy
from segue.storage import (
    context_sessions,
    events,
    idempotency,
    invites,
    kept_queries,
    rates,
    schema,
    scopes,
    settings,
    teams,
    tokens,
    users,
)
from segue.storage.database import Database, open_database
from segue.storage.location import embedded_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime
    from pathlib import Path

HEAD = schema.HEAD
MOST_SKEW = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Swept:
    """How many rows went, by what they were."""

    tokens: int
    invites: int
    idempotency_keys: int
    rate_windows: int
    sessions: int
    queries: int
    events: int

    def to_json(self) -> dict[str, int]:
        """Return the numbers by name."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Health:
    """How a server's database is. `schema` is the stored revision, "" for none; `skew` in seconds, ahead of ours."""

    database: str
    schema: str
    supported: str
    root: bool
    skew: float

    @property
    def clock(self) -> str:
        """How its clock goes, in words."""
        return "as this machine's" if abs(self.skew) <= MOST_SKEW.total_seconds() else f"{self.skew:+.0f} seconds off"

    @property
    def problems(self) -> tuple[str, ...]:
        """What is not as it should be, in words for people."""
        found = []
        if not self.schema:
            found.append("there is no store yet; `segue server init` makes one")
        elif self.schema > self.supported:
            found.append(f"it has schema {self.schema}, which this version of Segue does not know; upgrade Segue")
        elif self.schema != self.supported:
            found.append(f"it has schema {self.schema}, this version goes by {self.supported}; `segue server migrate`")
        elif not self.root:
            found.append("there is no root user; `segue server init` makes one")
        if abs(self.skew) > MOST_SKEW.total_seconds():
            found.append(f"its clock is {self.skew:+.0f} seconds off from this machine's")
        return tuple(found)

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue server check --json`."""
        return asdict(self) | {"ok": not self.problems, "problems": list(self.problems)}


class Tenancy:
    """The server's own housekeeping."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def policy(self) -> str:
        """Return what the server's own redactor refuses: core, extended or off."""
        with self._database.read() as connection:
            return server_policy(connection)

    def set_policy(self, policy: str) -> None:
        """Set it, for personal packets and for teams that are made from now on. Raises InvalidInput `team.policy`."""
        wanted = checked_policy(policy)
        with self._database.write() as connection:
            settings.put(connection, POLICY_SETTING, wanted)

    def events(self, whose: str, limit: int = 50) -> list[events.Event]:
        """Return the newest events of a team, or of a user, newest first.

        `whose` is a team's name or id, or a user's id, address or name. Raises NotFound `user.not_found`.
        """
        with self._database.read() as connection:
            named = teams.id_of(connection, whose)
            if named is None and len(whose) == ids.LENGTH and scopes.exists(connection, whose):
                named = whose  # that of a deleted team too
            return events.newest(connection, named or find_user(connection, whose).id, limit)

    def sweep(self, *, events_before: datetime | None = None) -> Swept:
        """Delete tokens and invites that have ended, answers older than a day, rates of minutes that are over.

        So go sessions that were not used for 30 days, and kept queries whose hour is over, in all scopes. With
        `events_before` also what happened before then. All of it is one transaction.
        """
        with self._database.write() as connection:
            now = self._clock()
            return Swept(
                tokens.sweep(connection, now),
                invites.sweep(connection, now),
                idempotency.sweep(connection, now),
                rates.sweep(connection, now),
                context_sessions.expire_all(connection, oldest(now)),
                kept_queries.expire_all(connection, now),
                0 if events_before is None else events.sweep(connection, events_before),
            )


def revision(location: str | Path) -> str:
    """Return the schema that the database at a path or URL says it has, "" for none; nothing is made or changed."""
    with _looked_at(location) as database:
        if database is None:
            return ""
        with database.read() as connection:
            return schema.stored_revision(connection) or ""


def examine(location: str | Path, clock: Callable[[], datetime]) -> Health:
    """Return how the database at a path or URL is; nothing is made or changed.

    Raises Failed `store.…` where it does not answer.
    """
    with _looked_at(location) as database:
        if database is None:
            return Health(str(embedded_path(location)), "", HEAD, False, 0.0)
        return health(database, clock)


@contextlib.contextmanager
def _looked_at(location: str | Path) -> Iterator[Database | None]:
    path = embedded_path(location)
    if path is not None and not path.exists():
        yield None  # to open it would make it
        return
    with contextlib.closing(open_database(location)) as database:
        yield database


def health(database: Database, clock: Callable[[], datetime]) -> Health:
    """Return how an open database is. Raises Failed `store.…` where it does not answer."""
    with database.read() as connection:
        stored = schema.stored_revision(connection) or ""
        current = stored == HEAD
        root = settings.get(connection, scopes.SETTING) if current else None
        has_root = root is not None and users.get(connection, root) is not None
        return Health(database.name, stored, HEAD, has_root, _skew(connection, clock, current=current))


def _skew(connection: sa.Connection, clock: Callable[[], datetime], *, current: bool) -> float:
    if connection.dialect.name == "postgresql":
        theirs: datetime = connection.execute(sa.select(sa.func.clock_timestamp())).scalar_one()
        return round((theirs - clock()).total_seconds(), 1)
    # An embedded store has this machine's clock: it was put back where something happened later than now.
    newest_us = events.newest_us(connection) if current else None
    ahead = 0 if newest_us is None else newest_us - time.microseconds(clock())
    return round(max(ahead, 0) / 1_000_000, 1)
