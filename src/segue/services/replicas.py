"""The copies of teams' scopes that a sync keeps in this store: read here, written by a sync alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segue.base import redaction
from segue.base.errors import Ambiguous, NotFound
from segue.storage import packets as packet_rows
from segue.storage import replicas as rows
from segue.storage.replicas import Replica

if TYPE_CHECKING:
    from segue.storage.database import Database

__all__ = ["Replica", "Replicas"]


class Replicas:
    """The teams whose packets and memories lie in this store too."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def ls(self) -> list[Replica]:
        """Return the teams, by name."""
        with self._database.read() as connection:
            return rows.of_teams(connection)

    def named(self, name: str) -> Replica:
        """Return a team. Raises NotFound `team.not_replicated`, Ambiguous where two hosts have one of that name."""
        found = [each for each in self.ls() if each.name == name]
        if not found:
            shown = redaction.shown(name, 40)
            raise NotFound("team.not_replicated", f"no team '{shown}' lies in this store; `segue sync` brings yours")
        if len(found) > 1:
            hosts = ", ".join(each.host for each in found)
            raise Ambiguous("team.ambiguous", f"teams of that name come from {hosts}; log out of all but one")
        return found[0]

    def holding(self, packet_id: str) -> Replica | None:
        """Return the first team, by name, that has the packet of that exact id, None where none has."""
        with self._database.read() as connection:
            for each in rows.of_teams(connection):
                if packet_rows.known(connection, each.scope_id, [packet_id]):
                    return each
        return None
