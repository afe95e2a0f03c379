"""A database as a member of a team writes to it: each writing transaction asks first whether it is still a member."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from segue.services.teams import require_team, team_not_found
from segue.storage.database import Database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import sqlalchemy as sa

    from segue.services.callers import Caller


class Guarded(Database):
    """The same database, with a check at the beginning of each writing transaction: what it raises ends that."""

    def __init__(self, database: Database, check: Callable[[sa.Connection], None]) -> None:
        super().__init__(database.engine, database.path, read_only=database.read_only, turns=database.turns)
        self._check = check

    @contextlib.contextmanager
    def write(self, *scope_ids: str) -> Iterator[sa.Connection]:
        """Yield a writing transaction as `Database.write` does, once it is checked."""
        with super().write(*scope_ids) as connection:
            self._check(connection)
            yield connection


def guarded(database: Database, caller: Caller, team: str | None) -> tuple[Database, str]:
    """Return the database as a caller writes to it, and the id of the caller's scope or of the team's.

    Raises NotFound `team.not_found`.
    """
    if team is None:
        return database, caller.user_id
    with database.read() as connection:
        scope_id = require_team(connection, caller, team).id

    def check(connection: sa.Connection) -> None:
        if require_team(connection, caller, team).id != scope_id:
            raise team_not_found()

    return Guarded(database, check), scope_id
