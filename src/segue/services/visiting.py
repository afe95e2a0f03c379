"""Packets, capsules and memories as a caller of a server changes them by the services of a scope, and not by `hub`.

What holds there holds here: others' packets are theirs, and what the server's own redactor refuses does not come in,
whatever the caller allowed (decisions H1, H8).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from segue.base.errors import Conflict, Refused
from segue.base.redaction import RedactionRefused
from segue.memories import making
from segue.services.capsules import Capsules
from segue.services.cleaning import clean
from segue.services.finding import nothing
from segue.services.memories import Memories, Remembered
from segue.services.packets import Packets
from segue.services.policies import Policy, policy_of
from segue.storage import packets as rows
from segue.storage import teams

if TYPE_CHECKING:
    from datetime import datetime

    import sqlalchemy as sa

    from segue.capsules import Capsule
    from segue.memories.item import Item
    from segue.packets import drafts
    from segue.packets.model import Packet
    from segue.services.callers import Caller
    from segue.services.capsules import SavedCapsule
    from segue.services.cleaning import Policy as Redaction
    from segue.services.packets import Saved
    from segue.services.projects import Project
    from segue.services.scoped import Remembering
    from segue.storage.database import Database

_MEND = "This server takes nothing with them, whatever the client allowed; reword them"


@dataclass(frozen=True, slots=True)
class Visit:
    """A caller, and what a server holds it to: `rescan` is what its redactor refuses, else what team or server set."""

    caller: Caller
    rescan: Policy | None = None

    def policy(self, database: Database, scope_id: str) -> Policy:
        """Return what is refused in a scope."""
        with database.read() as connection:
            return self.policy_within(connection, scope_id)

    def policy_within(self, connection: sa.Connection, scope_id: str) -> Policy:
        """Return what is refused in a scope, inside a transaction."""
        return self.rescan or policy_of(connection, scope_id)


class VisitedPackets(Packets):
    """The packets of a scope: the owner's own are changed, and in a team that the owner of them owns all go."""

    def __init__(self, *given: Any, visit: Visit, **named: Any) -> None:
        super().__init__(*given, **named)
        self._visit = visit

    def submit(
        self, draft: drafts.Draft, *, allow_unredacted: bool = False, core_only: bool = False, **named: Any
    ) -> Saved:
        """Store a packet as `Packets.submit` does; Conflict `packet.exists` also where it is another member's."""
        if not allow_unredacted:
            return super().submit(draft, core_only=core_only, **named)
        policy = self._visit.policy(self._database, self._scope)
        try:
            return super().submit(draft, allow_unredacted=policy == "off", core_only=policy == "core", **named)
        except RedactionRefused as refused:
            raise RedactionRefused(refused.findings, mend=_MEND) from None

    def _write(
        self,
        connection: sa.Connection,
        packet: Packet,
        project: Project,
        now: datetime,
        flagged: bool,
        *,
        replacing: bool,
    ) -> tuple[str, int]:
        if self._scope != self._owner:
            existing = rows.get(connection, self._scope, packet.id)
            if existing is not None and existing.owner_id != self._owner and existing.body != packet.canonical:
                message = "another member's packet has that id; give yours a new one"
                raise Conflict("packet.exists", message, {"id": packet.id})
        return super()._write(connection, packet, project, now, flagged, replacing=replacing)

    def remove(self, connection: sa.Connection, packet_id: str, remembering: Remembering | None, **named: Any) -> None:
        """Remove a packet as `Packets.remove` does. Raises NotFound where it is not the owner's to remove."""
        if self._scope != self._owner:
            stored = rows.get(connection, self._scope, packet_id)
            mine = stored is not None and stored.owner_id == self._owner
            if not mine and teams.role(connection, self._scope, self._owner) != "owner":
                raise nothing()
        super().remove(connection, packet_id, remembering, **named)


class VisitedCapsules(Capsules):
    """The capsules of a scope, none of which holds what the server refuses."""

    def __init__(self, *given: Any, visit: Visit, **named: Any) -> None:
        super().__init__(*given, **named)
        self._visit = visit

    def save(self, source: Capsule | str | bytes, *, origin: str = "", allow_unredacted: bool = False) -> SavedCapsule:
        """Store a capsule as `Capsules.save` does."""
        if allow_unredacted:
            allow_unredacted = self._visit.policy(self._database, self._scope) == "off"
        return super().save(source, origin=origin, allow_unredacted=allow_unredacted)


class VisitedMemories(Memories):
    """The memories of a scope, none of which holds what the server refuses; a token that only proposes sees none."""

    def __init__(self, *given: Any, visit: Visit, **named: Any) -> None:
        super().__init__(*given, **named)
        self._visit = visit

    def _is_extended(self, connection: sa.Connection) -> bool:
        return self._visit.policy_within(connection, self._scope) == "extended"

    def propose(self, content: str, *, redaction: Redaction | None = None, **details: Any) -> Remembered:
        """Propose a memory as `Memories.propose` does. Raises Refused `auth.permission` also for a user's words.

        A token that may not write speaks as an agent. One that may not read is told the same whatever is known
        already: the memory as it was proposed, without an id, and the verdict proposed.
        """
        caller = self._visit.caller
        if not caller.may("write") and details.get("author_class", "agent") != "agent":
            said = "this token may only propose, and what it proposes is an agent's; leave author_class out"
            raise Refused("auth.permission", said, {"permission": "write"})
        if caller.may("read"):
            return super().propose(content, redaction=redaction, **details)
        return self._unseen(making.item(content, **{"author_class": "agent", **details}), redaction)

    def _unseen(self, item: Item, redaction: Redaction | None) -> Remembered:
        with self._database.read() as connection:
            extended = self._is_extended(connection)
        cleaned = clean(item, redaction or self._policy, extended=extended)
        try:
            self._remember(cleaned, "pending", redaction)
        except Refused as error:
            if error.code != "memory.forgotten":  # that would tell what was known once
                raise
        return Remembered(making.made(cleaned, memory_id="", now=self._clock(), status="pending"), "proposed")
