"""The services over one scope: what is kept there, and what finds it."""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from segue.wiring.given import Wiring

if TYPE_CHECKING:
    from segue.services.capsules import Capsules
    from segue.services.context import Context
    from segue.services.continuity import Continuity
    from segue.services.entities import Entities
    from segue.services.ingestion import Ingestion
    from segue.services.memories import Memories
    from segue.services.packets import Packets
    from segue.services.pins import Pins
    from segue.services.projects import Project
    from segue.services.querying import Queries
    from segue.services.search import Search
    from segue.services.sessions import Sessions
    from segue.services.sources import Sources
    from segue.services.store import Store
    from segue.services.transfer import Transfer


class MemoryServices(Wiring):
    """Packets, capsules, memories and sources of one scope, and the context that is made of them."""

    @cached_property
    def packets(self) -> Packets:
        """The packets in the store."""
        shared: dict[str, Any] = {"remembering": lambda: self.ingestion, "owner": self._given.owner, **self._shared}
        if self._given.visit is not None:
            from segue.services.visiting import VisitedPackets

            return VisitedPackets(self._database, self._scope, visit=self._given.visit, **shared)
        from segue.services.packets import Packets

        return Packets(self._database, self._scope, copied_team=self._given.copied_team, **shared)

    @cached_property
    def capsules(self) -> Capsules:
        """The capsules in the store."""
        shared: dict[str, Any] = {"remembering": lambda: self.ingestion, **self._shared}
        if self._given.visit is not None:
            from segue.services.visiting import VisitedCapsules

            return VisitedCapsules(self._database, self._scope, visit=self._given.visit, **shared)
        from segue.services.capsules import Capsules

        return Capsules(self._database, self._scope, **shared)

    @cached_property
    def memories(self) -> Memories:
        """The memories in the store: remembered, reviewed, edited, forgotten."""
        shared: dict[str, Any] = {
            "embedding": self._given.embedding,
            "policy": self._given.redaction,
            "known": self._given.names().of(self._scope),
            **self._shared,
        }
        if self._given.visit is not None:
            from segue.services.visiting import VisitedMemories

            return VisitedMemories(self._database, self._scope, visit=self._given.visit, **shared)
        from segue.services.memories import Memories

        return Memories(self._database, self._scope, **shared)

    @cached_property
    def entities(self) -> Entities:
        """Whom and what memories name, and what stands beside it."""
        from segue.services.entities import Entities

        return Entities(self._database, self._scope, **self._shared)

    @cached_property
    def ingestion(self) -> Ingestion:
        """What makes memories of files, packets and capsules."""
        from segue.services.ingestion import Ingestion

        return Ingestion(self.memories, **self._shared)

    @cached_property
    def sources(self) -> Sources:
        """The folders and addresses whose memories are read without being trusted."""
        from segue.services.configuration import source_limits
        from segue.services.source_reading import Readers
        from segue.services.sources import Sources

        def readers() -> Readers:
            return Readers(limits=source_limits(self._given.home))

        return Sources(self._database, self._scope, memories=lambda: self.memories, readers=readers, **self._shared)

    @cached_property
    def search(self) -> Search:
        """What finds memories."""
        from segue.services.search import Search

        return Search(
            self._database, self._scope, embedding=self._given.embedding, indexes=self._given.indexes(), **self._shared
        )

    @cached_property
    def sessions(self) -> Sessions:
        """What each conversation was told of the memories."""
        from segue.services.sessions import Sessions

        return Sessions(self._database, self._scope, owner=self._given.owner, **self._shared)

    @cached_property
    def pins(self) -> Pins:
        """The packs that were pinned."""
        from segue.services.pins import Pins

        return Pins(self._database, self._scope, **self._shared)

    @cached_property
    def context(self) -> Context:
        """What makes context packs."""
        from segue.services.configuration import profiles
        from segue.services.context import Context

        return Context(
            self._database,
            self._scope,
            embedding=self._given.embedding,
            indexes=self._given.indexes(),
            sessions=self.sessions,
            profiles=cache(lambda: profiles(self._given.home, self._given.directory)),
            **self._shared,
        )

    def _own_project(self) -> Project:
        """The project whose continuity lies here: what a sync keeps of a team has none on this machine."""
        from segue.services.projects import NOWHERE

        return NOWHERE if self._given.copied_team else self.project

    @cached_property
    def continuity(self) -> Continuity:
        """What of this folder's project is kept for good, who approved it, and the proof that it was saved."""
        from segue.services.continuity import Continuity
        from segue.services.continuity_place import Place

        place = Place(
            self._database,
            self._scope,
            directory=self._given.directory,
            home=self._given.home,
            identify=self._own_project,
            clock=self._clock,
            actor=self._given.actor,
        )
        return Continuity(place, memories=lambda: self.memories)

    @cached_property
    def queries(self) -> Queries:
        """What answers precise questions, and goes on from what was found."""
        from segue.services.querying import Queries

        return Queries(self._database, self._scope, search=self.search, context=self.context, **self._shared)

    @cached_property
    def transfer(self) -> Transfer:
        """What exports all of the store, and imports it elsewhere."""
        from segue.services.transfer import Transfer

        return Transfer(self._database, self._scope, embedding=self._given.embedding, **self._shared)

    @cached_property
    def store(self) -> Store:
        """The store itself: backup, restore, vacuum, doctor, events."""
        from segue.services.store import Store

        return Store(
            self._database,
            self._scope,
            clock=self._clock,
            home=self._given.home,
            actor=self._given.actor,
            embedding=self._given.embedding,
        )
