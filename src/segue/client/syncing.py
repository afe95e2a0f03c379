"""What a sync decides about one packet: pure, from what lies here, on the host, and lay on both the last time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Action = Literal["forget", "settle", "push", "pull", "conflict", "gone_here", "gone_there"]
Reason = Literal["changed_both", "gone_here", "gone_there"]


@dataclass(frozen=True, slots=True)
class Conflict:
    """A packet that was changed on both sides since they were the same, or changed on one and removed on the other.

    Both stay as they are until somebody says which one holds.
    """

    id: str
    goal: str
    reason: Reason

    def to_json(self) -> dict[str, Any]:
        """Return the conflict as JSON values."""
        return {"id": self.id, "goal": self.goal, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Held:
    """A packet that was not taken to the other side, and why; `team` is "" for one's own."""

    id: str
    team: str
    code: str
    message: str

    def to_json(self) -> dict[str, Any]:
        """Return what was held back as JSON values."""
        return {"id": self.id, "team": self.team or None, "code": self.code, "message": self.message}


def decide(here: str | None, there: str | None, known: str | None) -> Action:
    """Return what is to be done with a packet.

    `here`, `there` and `known` are digests of its body in the store, on the host, and on both after the last sync;
    None where it does not lie there. Nothing is overwritten that changed since, and what was removed on one side
    does not come back from the other.
    """
    if here == there:
        return "forget" if here is None else "settle"
    if known is None:
        return "pull" if here is None else "push" if there is None else "conflict"
    if there is None:
        return "gone_there" if here == known else "conflict"
    if here is None:
        return "gone_here" if there == known else "conflict"
    if here == known:
        return "pull"
    return "push" if there == known else "conflict"


def reason(here: str | None, there: str | None) -> Reason:
    """Return what kind of conflict it is."""
    return "gone_here" if here is None else "gone_there" if there is None else "changed_both"
