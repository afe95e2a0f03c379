"""What every service over the rows of one scope holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from segue.services.projects import Project
    from segue.storage.database import Database


class ScopedService:
    """A service over one scope: its database, the project it is used in, the clock, and who acts (for the log)."""

    def __init__(
        self,
        database: Database,
        scope_id: str,
        *,
        project: Callable[[], Project],
        clock: Callable[[], datetime],
        actor: str = "local",
    ) -> None:
        self._database = database
        self._scope = scope_id
        self._project = project
        self._clock = clock
        self._actor = actor
