"""A sync under way: what it did so far, and what it tells those who watch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from segue.client.syncing import Conflict, Held
from segue.services.synced import Removed, Synced

if TYPE_CHECKING:
    from collections.abc import Callable

    from segue.base.errors import SegueError
    from segue.client.contract import PacketServer
    from segue.client.syncing import Reason
    from segue.services.synced import TeamSynced


@dataclass(slots=True)
class Underway:
    """One sync with a `host`; `delete` says that what was removed on one side is removed on the other."""

    host: PacketServer
    delete: bool
    tell: Callable[[int, int], None] | None
    total: int = 0
    done: int = 0
    may_push: bool = True
    pushed: int = 0
    pulled: int = 0
    unchanged: int = 0
    deleted: int = 0
    conflicts: list[Conflict] = field(default_factory=list)
    removed: list[Removed] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)

    def step(self) -> None:
        """One packet more is done."""
        self.done += 1
        if self.tell is not None:
            self.tell(self.done, self.total)

    def hold(self, packet_id: str, team: str, error: SegueError) -> None:
        """A packet is not taken over, and why."""
        self.held.append(Held(packet_id, team, error.code, error.message))

    def contest(self, packet_id: str, goal: str, reason: Reason) -> None:
        """A packet stays as it is on both sides."""
        self.conflicts.append(Conflict(packet_id, goal, reason))

    def finished(self, teams: tuple[TeamSynced, ...], dropped: tuple[str, ...]) -> Synced:
        """Return what the sync did in all."""
        return Synced(
            host=self.host.address,
            pushed=self.pushed,
            pulled=self.pulled,
            unchanged=self.unchanged,
            deleted=self.deleted,
            conflicts=tuple(self.conflicts),
            removed=tuple(self.removed),
            held=tuple(self.held),
            teams=teams,
            dropped=dropped,
        )
