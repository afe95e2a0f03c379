"""What every service over the rows of one scope holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from segue.capsules import Capsule
    from segue.packets.model import Packet
    from segue.services.projects import Project
    from segue.storage.database import Database


class Remembering(Protocol):
    """What makes memories of what a service stores, and undoes it."""

    def kept(self, stored: Packet | Capsule) -> str:
        """Make memories of what was stored, and return what stands against it, "" for nothing. Raises nothing."""

    def gone(self, kind: str, stored_id: str) -> None:
        """Forget what nothing but the packet or capsule of that id, which was removed, says. Raises Failed `store.…`.

        Saved again, it is remembered again.
        """


class ScopedService:
    """A service over one scope: its database, the project it is used in, the clock, and who acts (for the log).

    `remembering` gives what makes memories of what is stored, where that is wanted.
    """

    def __init__(
        self,
        database: Database,
        scope_id: str,
        *,
        project: Callable[[], Project],
        clock: Callable[[], datetime],
        actor: str = "local",
        remembering: Callable[[], Remembering] | None = None,
    ) -> None:
        self._database = database
        self._scope = scope_id
        self._project = project
        self._clock = clock
        self._actor = actor
        self._remembering = remembering
