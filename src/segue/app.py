"""`segue.open()`: the only place that wires the parts together; how services are made lies in `segue.wiring`."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Self

from segue.base import time
from segue.base.errors import InvalidInput
from segue.location import current_directory, default_location, home
from segue.wiring.given import Given
from segue.wiring.hosting import HostServices
from segue.wiring.server import ServerServices

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from pathlib import Path

    from segue.services.callers import Caller
    from segue.services.cleaning import Policy
    from segue.services.embedding import Embedding
    from segue.services.indexes import Indexes
    from segue.services.known_names import ScopeNames
    from segue.services.policies import Policy as Rescan
    from segue.services.replicas import Replica


class Segue(HostServices, ServerServices):
    """An open store with its services. Close it, or use it as a context manager."""

    def seen_by(self, caller: Caller, team: str | None = None, *, rescan: Rescan | None = None) -> Segue:
        """Return the services over a caller's personal scope, or over that of a team which the caller belongs to.

        Whether the caller still belongs to it is asked again in every transaction that writes. Others' packets stay
        as they are, and what the server's redactor refuses does not come in: `rescan`, else what the team, or the
        server, has set. Raises NotFound `team.not_found`.
        """
        from segue.services.guarding import guarded
        from segue.services.projects import NOWHERE
        from segue.services.visiting import Visit

        database, scope_id = guarded(self._database, caller, team)
        who = caller.user_id
        return self._over(
            database=database, scope_id=scope_id, owner=who, actor=who, project=NOWHERE, visit=Visit(caller, rescan)
        )

    def team(self, name: str) -> Segue:
        """Return the services over the copy of a team's scope that a sync keeps here; it is for reading.

        Raises NotFound `team.not_replicated`, Ambiguous `team.ambiguous`.
        """
        return self.copy_of(self.replicas.named(name))

    def copy_of(self, replica: Replica) -> Segue:
        """Return the services over one of `replicas`; see `team`."""
        return self._over(scope_id=replica.scope_id, owner="", copied_team=replica.name)

    def at(self, directory: Path) -> Segue:
        """Return this Segue as seen from another folder, and so for its project; both share the store.

        What belongs to no project of this machine (see `of`) does not from another folder either.
        """
        from segue.services.projects import NOWHERE

        project = NOWHERE if self._given.project is NOWHERE else None
        return Segue(replace(self._given, directory=directory, project=project))

    @property
    def home(self) -> Path:
        """The folder of Segue's own files. Raises Failed `home.missing` where the user has no home folder."""
        return self._given.home()

    @property
    def directory(self) -> Path:
        """The folder that this Segue was opened in."""
        return self._given.directory

    def now(self) -> datetime:
        """Return the time by this Segue's clock."""
        return self._clock()

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open(  # noqa: A001 - the library's one verb; read as segue.open
    location: str | Path | None = None,
    *,
    directory: Path | None = None,
    clock: Callable[[], datetime] = time.utc_now,
    actor: str = "local",
    embedder: str = "",
    redaction: Policy | None = None,
) -> Segue:
    """Open a store and return the Segue over it.

    `location` is a path, `sqlite:///FILE` or `postgresql+psycopg://…`; without it the variable SEGUE_DB, else
    `segue.db` in the home folder (see `home`). `directory` is the folder whose project is meant, the current one
    by default; `clock` gives the time; `actor` is named in the event log. `embedder` is static, semantic or
    none, the store's own by default; `redaction` says what becomes of memories with secrets in them: refuse (the
    default) or mask. Both have a variable too: SEGUE_EMBEDDER, SEGUE_REDACTION. Raises Failed `store.…`.
    """
    from segue.services.embedding import Embedding
    from segue.storage import schema, scopes
    from segue.storage.database import open_database

    environment = os.environ.copy()
    here = directory or current_directory()
    policy = redaction or _policy(environment)
    database = open_database(location if location is not None else default_location(environment))
    try:
        schema.ensure(database)
        scope_id = scopes.local(database, clock)
    except BaseException:
        database.close()
        raise
    # A store that is named needs no home folder; its path is asked for where a file goes there.
    embedding = Embedding(database, embedder or environment.get("SEGUE_EMBEDDER", ""))
    given = Given(
        database=database,
        scope_id=scope_id,
        home=lambda: home(environment),
        directory=here,
        clock=clock,
        actor=actor,
        embedding=embedding,
        indexes=cache(lambda: _indexes(embedding)),
        names=cache(_names),
        redaction=policy,
    )
    return Segue(given)


def _indexes(embedding: Embedding) -> Indexes:
    from segue.services.indexes import Indexes  # it needs NumPy, which most commands do without

    return Indexes(embedding)


def _names() -> ScopeNames:
    from segue.services.known_names import ScopeNames

    return ScopeNames()


def _policy(environment: Mapping[str, str]) -> Policy:
    given = environment.get("SEGUE_REDACTION", "refuse")
    if given not in ("refuse", "mask"):
        from segue.base.redaction import shown

        raise InvalidInput("config.invalid", f"SEGUE_REDACTION is refuse or mask, not '{shown(given, 40)}'")
    return "mask" if given == "mask" else "refuse"
