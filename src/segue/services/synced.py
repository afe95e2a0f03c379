"""What a sync did, and what it left to a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from segue.client.syncing import Conflict, Held


@dataclass(frozen=True, slots=True)
class Removed:
    """A packet that was removed on one side, `here` or `host`, and still lies on the other."""

    id: str
    where: str

    def to_json(self) -> dict[str, Any]:
        """Return the packet as JSON values."""
        return {"id": self.id, "removed": self.where}


@dataclass(frozen=True, slots=True)
class TeamSynced:
    """What a sync did to the copy of a team: to its packets, and to its memories (`memories`, those that changed)."""

    name: str
    pulled: int
    removed: int
    unchanged: int
    memories: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the counts as JSON values."""
        counts = {"pulled": self.pulled, "removed": self.removed, "unchanged": self.unchanged}
        return {"name": self.name, **counts, "memories": self.memories}


@dataclass(frozen=True, slots=True)
class Synced:
    """What a sync did, and what it left to a person.

    `conflicts` stay as they are on both sides; `removed` lie on one side still; `held` were not taken over; `dropped`
    are the names of teams that are not the user's any more, whose copies are gone.
    """

    host: str
    pushed: int = 0
    pulled: int = 0
    unchanged: int = 0
    deleted: int = 0
    conflicts: tuple[Conflict, ...] = ()
    removed: tuple[Removed, ...] = ()
    held: tuple[Held, ...] = ()
    teams: tuple[TeamSynced, ...] = ()
    dropped: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue sync --json`."""
        counts = {"pushed": self.pushed, "pulled": self.pulled, "unchanged": self.unchanged, "deleted": self.deleted}
        return {
            "host": self.host,
            **counts,
            "conflicts": [each.to_json() for each in self.conflicts],
            "removed": [each.to_json() for each in self.removed],
            "held": [each.to_json() for each in self.held],
            "teams": [each.to_json() for each in self.teams],
            "dropped": list(self.dropped),
        }
