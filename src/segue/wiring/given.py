"""What a store was opened with, and views of it: another scope, another folder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from segue.services.cleaning import Policy
    from segue.services.embedding import Embedding
    from segue.services.indexes import Indexes
    from segue.services.known_names import ScopeNames
    from segue.services.projects import Project
    from segue.services.visiting import Visit
    from segue.storage.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What services are made from. What takes time to make, or may be missing, is given as a function.

    `project` is that of `directory` unless it is set; `visit` is that of a server's caller; `owner` is the user whose
    packets new ones are, "" for the scope itself; `copied_team` names the team whose copy the scope is.
    """

    database: Database
    scope_id: str
    home: Callable[[], Path]
    directory: Path
    clock: Callable[[], datetime]
    actor: str
    embedding: Embedding
    indexes: Callable[[], Indexes]
    names: Callable[[], ScopeNames]
    redaction: Policy = "refuse"
    owner: str = ""
    project: Project | None = None
    visit: Visit | None = None
    copied_team: str = ""


class Wiring:
    """Services from what is given; see `MemoryServices`, `HostServices`, `ServerServices`."""

    def __init__(self, given: Given) -> None:
        self._given = given
        self._database = given.database
        self._scope = given.scope_id
        self._clock = given.clock

    def of(self, scope_id: str, *, owner: str = "", actor: str = "") -> Self:
        """Return the same services over another scope of this store, such as a user's or a team's.

        `owner` is the user whose packets new ones are, the scope itself by default; `actor` is named in the event log.
        What comes from elsewhere belongs to no project of this machine.
        """
        from segue.services.projects import NOWHERE

        return self._over(scope_id=scope_id, owner=owner, actor=actor or owner or self._given.actor, project=NOWHERE)

    def _over(self, *, visit: Visit | None = None, copied_team: str = "", **changed: Any) -> Self:
        """Another scope: whoever visited this one, and whose copy it was, does not count there."""
        return type(self)(replace(self._given, visit=visit, copied_team=copied_team, **changed))

    @cached_property
    def project(self) -> Project:
        """The project of the folder that this was opened in. Raises InvalidInput `config.invalid`."""
        if self._given.project is not None:
            return self._given.project
        from segue.services.projects import identify

        return identify(self._given.directory)

    @property
    def _shared(self) -> dict[str, Any]:
        """What every service over the scope is made with."""
        return {"project": lambda: self.project, "clock": self._clock, "actor": self._given.actor}
