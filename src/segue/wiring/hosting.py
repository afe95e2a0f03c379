"""The services that reach a host: push, pull, sync, and the copies of teams' scopes."""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING

from segue.wiring.memory import MemoryServices

if TYPE_CHECKING:
    from collections.abc import Callable

    from segue.services.delivery import Delivery
    from segue.services.packets import Packets
    from segue.services.replicas import Replicas
    from segue.services.syncing import Syncing


class HostServices(MemoryServices):
    """What takes packets and memories to a host and from it."""

    def _packets_of(self) -> Callable[[str], Packets]:
        """What gives the packets of any scope here; what comes from elsewhere belongs to no project of this machine."""
        return cache(lambda scope_id: self.of(scope_id, actor=self._given.actor).packets)

    @cached_property
    def delivery(self) -> Delivery:
        """What takes single packets to a host and from it."""
        from segue.services.delivery import Delivery

        return Delivery(self._database, self._scope, packets=self._packets_of(), clock=self._clock)

    @cached_property
    def syncing(self) -> Syncing:
        """What makes the packets here and on a host the same."""
        from segue.services.mirroring import Mirroring
        from segue.services.packets import Packets
        from segue.services.projects import NOWHERE
        from segue.services.syncing import Syncing

        packets, actor = self._packets_of(), self._given.actor

        def plain(scope_id: str) -> Packets:
            return Packets(self._database, scope_id, project=lambda: NOWHERE, clock=self._clock, actor=actor)

        mirroring = Mirroring(
            self._database,
            self._scope,
            packets=plain,
            remembering=packets,
            memories=cache(lambda scope_id: self.of(scope_id, actor=actor).memories),
            clock=self._clock,
            actor=actor,
        )
        return Syncing(self._database, self._scope, packets=packets, mirroring=mirroring, clock=self._clock)

    @cached_property
    def replicas(self) -> Replicas:
        """The copies of teams' scopes that a sync keeps here."""
        from segue.services.replicas import Replicas

        return Replicas(self._database)
