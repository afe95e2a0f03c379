"""The services of a server: its users, teams and what they publish."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from segue.wiring.memory import MemoryServices

if TYPE_CHECKING:
    from segue.services.accounts import Accounts
    from segue.services.hub import Hub
    from segue.services.invites import Invites
    from segue.services.packets import Packets
    from segue.services.publishing import Publishing
    from segue.services.requests import Requests
    from segue.services.teams import Teams
    from segue.services.tenancy import Tenancy


class ServerServices(MemoryServices):
    """What a server does for those who call it, over all scopes of its store."""

    @cached_property
    def accounts(self) -> Accounts:
        """The users of a server and their tokens."""
        from segue.services.accounts import Accounts

        return Accounts(self._database, self._clock)

    @cached_property
    def teams(self) -> Teams:
        """The teams of a server."""
        from segue.services.teams import Teams

        return Teams(self._database, self._clock)

    @cached_property
    def invites(self) -> Invites:
        """The invites into teams."""
        from segue.services.invites import Invites

        return Invites(self._database, self._clock)

    @cached_property
    def publishing(self) -> Publishing:
        """The published packets; addresses are paths alone (see `Publishing` for a server's own)."""
        from segue.services.publishing import Publishing

        return Publishing(self._database, self._clock)

    @cached_property
    def hub(self) -> Hub:
        """The packets as callers see them, over personal and team scopes."""
        from segue.services.hub import Hub

        def packets(scope_id: str, owner: str) -> Packets:
            return self.of(scope_id, owner=owner).packets

        return Hub(self._database, packets)

    @cached_property
    def requests(self) -> Requests:
        """What a server remembers of requests: answers under idempotency keys, and how many there are a minute."""
        from segue.services.requests import Requests

        return Requests(self._database, self._clock)

    @cached_property
    def tenancy(self) -> Tenancy:
        """What an operator looks after: whether all is well, and what is to go after a time."""
        from segue.services.tenancy import Tenancy

        return Tenancy(self._database, self._clock)
