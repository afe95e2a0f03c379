"""What every service over the rows of one scope holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    import sqlalchemy as sa

    from segue.capsules import Capsule
    from segue.packets.model import Packet
    from segue.services.projects import Project
    from segue.storage.database import Database


class Remembering(Protocol):
    """What makes memories of what a service stores, and undoes it, in the transaction that stores it."""

    def prepare(self) -> None:
        """Load what is needed, before the lock is held."""

    def kept(self, connection: sa.Connection, stored: Packet | Capsule) -> str:
        """Make memories of what is stored, and return what stands against it, "" for nothing.

        What is stored is stored also where no memories can be made of it. Raises nothing but what loses the whole
        transaction.
        """

    def gone(self, connection: sa.Connection, kind: str, stored_id: str) -> None:
        """Forget what nothing but the packet or capsule of that id, which is removed, says.

        Saved again, it is remembered again.
        """


class ScopedService:
    """A service over one scope: its database, the project it is used in, the clock, and who acts (for the log).

    `owner` is the user whose packets new ones are; without it whoever the scope belongs to. `remembering` gives what
    makes memories of what is stored, where that is wanted.
    """

    def __init__(
        self,
        database: Database,
        scope_id: str,
        *,
        project: Callable[[], Project],
        clock: Callable[[], datetime],
        actor: str = "local",
        owner: str = "",
        remembering: Callable[[], Remembering] | None = None,
    ) -> None:
        self._database = database
        self._scope = scope_id
        self._project = project
        self._clock = clock
        self._actor = actor
        self._owner = owner or scope_id
        self._remembering = remembering

    def _prepared(self) -> Remembering | None:
        """What makes memories of what is stored, ready for a transaction; None where none are wanted."""
        if self._remembering is None:
            return None
        remembering = self._remembering()
        remembering.prepare()
        return remembering
