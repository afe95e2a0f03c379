"""Where a caller finds a packet, and whether the caller may change it. What must not be seen is as if not there."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from segue.base import jsontext
from segue.base.errors import NotFound
from segue.storage import visibility

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import sqlalchemy as sa

    from segue.services.callers import Caller
    from segue.storage.database import Database
    from segue.storage.visibility import Seen


def nothing() -> NotFound:
    """Return the one answer for a packet that is missing, deleted, or not the caller's to see or change (H8)."""
    return NotFound("packet.not_found", "packet not found")


def require_seen(
    connection: sa.Connection, caller: Caller, packet_id: str, team: str | None = None, *, created: bool = False
) -> Seen:
    """Return a packet that the caller may read, where it is found first (decision H2).

    With `created` also one that the caller made in a team and may only delete any more. Raises NotFound.
    """
    # What no database takes is asked for as an id that nothing has.
    possible = "\0" not in packet_id and jsontext.is_unicode(packet_id)
    asked = packet_id if possible else ""
    named = team if team is None or ("\0" not in team and jsontext.is_unicode(team)) else ""
    seen = visibility.find(connection, caller.user_id, asked, named, created=created)
    if seen is None:
        raise nothing()
    return seen


def require_changeable(
    connection: sa.Connection, caller: Caller, packet_id: str, team: str | None = None, *, created: bool = False
) -> Seen:
    """Return a packet that the caller may delete: the own ones, and in a team that the caller owns all of them.

    Raises NotFound, as for what is not there.
    """
    seen = require_seen(connection, caller, packet_id, team, created=created)
    if seen.packet.owner_id != caller.user_id and seen.scope.role != "owner":
        raise nothing()
    return seen


@contextlib.contextmanager
def changing(
    database: Database, find: Callable[[sa.Connection], Seen], target: str = ""
) -> Iterator[tuple[sa.Connection, Seen]]:
    """Yield a transaction that has the scope of what `find` finds for itself, and `target` too where it is named."""
    while True:
        with database.read() as connection:
            scope_id = find(connection).scope.id
        with database.write(*sorted({scope_id, target or scope_id})) as connection:
            seen = find(connection)
            if seen.scope.id == scope_id:
                yield connection, seen
                return
        # It was moved between the two transactions: once more, where it is now.
