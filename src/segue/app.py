"""`segue.open()`: the only place that wires the parts together."""

from __future__ import annotations

import os
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from segue.base import time
from segue.base.errors import Failed, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from segue.services.accounts import Accounts
    from segue.services.callers import Caller
    from segue.services.capsules import Capsules
    from segue.services.cleaning import Policy
    from segue.services.context import Context
    from segue.services.continuity import Continuity
    from segue.services.delivery import Delivery
    from segue.services.embedding import Embedding
    from segue.services.entities import Entities
    from segue.services.hub import Hub
    from segue.services.indexes import Indexes
    from segue.services.ingestion import Ingestion
    from segue.services.invites import Invites
    from segue.services.known_names import ScopeNames
    from segue.services.memories import Memories
    from segue.services.packets import Packets
    from segue.services.pins import Pins
    from segue.services.policies import Policy as Rescan
    from segue.services.projects import Project
    from segue.services.publishing import Publishing
    from segue.services.querying import Queries
    from segue.services.replicas import Replica, Replicas
    from segue.services.requests import Requests
    from segue.services.search import Search
    from segue.services.sessions import Sessions
    from segue.services.sources import Sources
    from segue.services.store import Store
    from segue.services.syncing import Syncing
    from segue.services.teams import Teams
    from segue.services.tenancy import Tenancy
    from segue.services.transfer import Transfer
    from segue.services.visiting import Visit
    from segue.storage.database import Database

STORE_FILE = "segue.db"


class Segue:
    """An open store with its services. Close it, or use it as a context manager."""

    def __init__(
        self,
        database: Database,
        scope_id: str,
        *,
        home: Callable[[], Path],
        directory: Path,
        clock: Callable[[], datetime],
        actor: str,
        embedding: Embedding,
        indexes: Callable[[], Indexes],
        names: Callable[[], ScopeNames],
        redaction: Policy = "refuse",
        owner: str = "",
        project: Project | None = None,
        visit: Visit | None = None,
        copied_team: str = "",
    ) -> None:
        self._database = database
        self._scope = scope_id
        self._home = home
        self._directory = directory
        self._clock = clock
        self._actor = actor
        self._embedding = embedding
        self._indexes = indexes
        self._names = names
        self._redaction = redaction
        self._owner = owner
        self._project = project
        self._visit = visit
        self._copied_team = copied_team

    def of(self, scope_id: str, *, owner: str = "", actor: str = "") -> Segue:
        """Return the same services over another scope of this store, such as a user's or a team's.

        `owner` is the user whose packets new ones are, the scope itself by default; `actor` is named in the event log.
        What comes from elsewhere belongs to no project of this machine.
        """
        from segue.services.projects import NOWHERE

        return self._over(self._database, scope_id, owner=owner, actor=actor or owner or self._actor, project=NOWHERE)

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
        return self._over(database, scope_id, owner=who, actor=who, project=NOWHERE, visit=Visit(caller, rescan))

    def team(self, name: str) -> Segue:
        """Return the services over the copy of a team's scope that a sync keeps here; it is for reading.

        Raises NotFound `team.not_replicated`, Ambiguous `team.ambiguous`.
        """
        return self.copy_of(self.replicas.named(name))

    def copy_of(self, replica: Replica) -> Segue:
        """Return the services over one of `replicas`; see `team`."""
        return self._over(
            self._database,
            replica.scope_id,
            owner="",
            actor=self._actor,
            project=self._project,
            copied_team=replica.name,
        )

    def _over(
        self,
        database: Database,
        scope_id: str,
        *,
        owner: str,
        actor: str,
        project: Project | None,
        visit: Visit | None = None,
        copied_team: str = "",
    ) -> Segue:
        return Segue(
            database,
            scope_id,
            home=self._home,
            directory=self._directory,
            clock=self._clock,
            actor=actor,
            embedding=self._embedding,
            indexes=self._indexes,
            names=self._names,
            redaction=self._redaction,
            owner=owner,
            project=project,
            visit=visit,
            copied_team=copied_team,
        )

    def at(self, directory: Path) -> Segue:
        """Return this Segue as seen from another folder, and so for its project; both share the store.

        What belongs to no project of this machine (see `of`) does not from another folder either.
        """
        from segue.services.projects import NOWHERE

        return Segue(
            self._database,
            self._scope,
            home=self._home,
            directory=directory,
            clock=self._clock,
            actor=self._actor,
            embedding=self._embedding,
            indexes=self._indexes,
            names=self._names,
            redaction=self._redaction,
            owner=self._owner,
            project=NOWHERE if self._project is NOWHERE else None,
            visit=self._visit,
            copied_team=self._copied_team,
        )

    @property
    def home(self) -> Path:
        """The folder of Segue's own files. Raises Failed `home.missing` where the user has no home folder."""
        return self._home()

    @property
    def directory(self) -> Path:
        """The folder that this Segue was opened in."""
        return self._directory

    def now(self) -> datetime:
        """Return the time by this Segue's clock."""
        return self._clock()

    @cached_property
    def project(self) -> Project:
        """The project of the folder that this Segue was opened in. Raises InvalidInput `config.invalid`."""
        if self._project is not None:
            return self._project
        from segue.services.projects import identify

        return identify(self._directory)

    @property
    def _shared(self) -> dict[str, Any]:
        """What every service over the scope is made with."""
        return {"project": lambda: self.project, "clock": self._clock, "actor": self._actor}

    @cached_property
    def packets(self) -> Packets:
        """The packets in the store."""
        given: dict[str, Any] = {"remembering": lambda: self.ingestion, "owner": self._owner, **self._shared}
        if self._visit is not None:
            from segue.services.visiting import VisitedPackets

            return VisitedPackets(self._database, self._scope, visit=self._visit, **given)
        from segue.services.packets import Packets

        return Packets(self._database, self._scope, copied_team=self._copied_team, **given)

    @cached_property
    def capsules(self) -> Capsules:
        """The capsules in the store."""
        given: dict[str, Any] = {"remembering": lambda: self.ingestion, **self._shared}
        if self._visit is not None:
            from segue.services.visiting import VisitedCapsules

            return VisitedCapsules(self._database, self._scope, visit=self._visit, **given)
        from segue.services.capsules import Capsules

        return Capsules(self._database, self._scope, **given)

    @cached_property
    def memories(self) -> Memories:
        """The memories in the store: remembered, reviewed, edited, forgotten."""
        given: dict[str, Any] = {
            "embedding": self._embedding,
            "policy": self._redaction,
            "known": self._names().of(self._scope),
            **self._shared,
        }
        if self._visit is not None:
            from segue.services.visiting import VisitedMemories

            return VisitedMemories(self._database, self._scope, visit=self._visit, **given)
        from segue.services.memories import Memories

        return Memories(self._database, self._scope, **given)

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
        from segue.services.source_reading import Readers
        from segue.services.sources import Sources

        return Sources(self.memories, readers=Readers, **self._shared)

    @cached_property
    def search(self) -> Search:
        """What finds memories."""
        from segue.services.search import Search

        return Search(self._database, self._scope, embedding=self._embedding, indexes=self._indexes(), **self._shared)

    @cached_property
    def sessions(self) -> Sessions:
        """What each conversation was told of the memories."""
        from segue.services.sessions import Sessions

        return Sessions(self._database, self._scope, owner=self._owner, **self._shared)

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
            embedding=self._embedding,
            indexes=self._indexes(),
            sessions=self.sessions,
            profiles=cache(lambda: profiles(self._home, self._directory)),
            **self._shared,
        )

    @cached_property
    def continuity(self) -> Continuity:
        """What of this folder's project is kept for good, who approved it, and the proof that it was saved."""
        from segue.services.continuity import Continuity
        from segue.services.continuity_place import Place

        place = Place(
            self._database,
            self._scope,
            directory=self._directory,
            home=self._home,
            identify=lambda: self.project,
            clock=self._clock,
            actor=self._actor,
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

        return Transfer(self._database, self._scope, embedding=self._embedding, **self._shared)

    @cached_property
    def store(self) -> Store:
        """The store itself: backup, restore, vacuum, doctor, events."""
        from segue.services.store import Store

        return Store(
            self._database,
            self._scope,
            clock=self._clock,
            home=self._home,
            actor=self._actor,
            embedding=self._embedding,
        )

    # -- hosts --------------------------------------------------------------------------------------------------

    def _packets_of(self) -> Callable[[str], Packets]:
        """What gives the packets of any scope here; what comes from elsewhere belongs to no project of this machine."""
        return cache(lambda scope_id: self.of(scope_id, actor=self._actor).packets)

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

        packets = self._packets_of()

        def plain(scope_id: str) -> Packets:
            return Packets(self._database, scope_id, project=lambda: NOWHERE, clock=self._clock, actor=self._actor)

        mirroring = Mirroring(
            self._database,
            self._scope,
            packets=plain,
            remembering=packets,
            memories=cache(lambda scope_id: self.of(scope_id, actor=self._actor).memories),
            clock=self._clock,
            actor=self._actor,
        )

        return Syncing(self._database, self._scope, packets=packets, mirroring=mirroring, clock=self._clock)

    @cached_property
    def replicas(self) -> Replicas:
        """The copies of teams' scopes that a sync keeps here."""
        from segue.services.replicas import Replicas

        return Replicas(self._database)

    # -- the server ---------------------------------------------------------------------------------------------

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
    database = open_database(location if location is not None else default_location(environment))
    try:
        schema.ensure(database)
        scope_id = scopes.local(database, clock)
    except BaseException:
        database.close()
        raise
    # A store that is named needs no home folder; its path is asked for where a file goes there.
    embedding = Embedding(database, embedder or environment.get("SEGUE_EMBEDDER", ""))
    return Segue(
        database,
        scope_id,
        home=lambda: home(environment),
        directory=here,
        clock=clock,
        actor=actor,
        embedding=embedding,
        indexes=cache(lambda: _indexes(embedding)),
        names=cache(_names),
        redaction=redaction or _policy(environment),
    )


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


def default_location(environment: Mapping[str, str]) -> str | Path:
    """Return where the user's store is: SEGUE_DB (a path or URL), else `segue.db` in the home folder."""
    return environment.get("SEGUE_DB") or home(environment) / STORE_FILE


def home(environment: Mapping[str, str]) -> Path:
    """Return the folder of Segue's own files: SEGUE_HOME, else the platform's folder for user data.

    Raises Failed `home.missing` where the user has no home folder.
    """
    given = environment.get("SEGUE_HOME")
    try:
        if given:
            return Path(given).expanduser().absolute()
        from platformdirs import user_data_path

        folder = user_data_path("segue")
    except RuntimeError:
        folder = Path("~")
    if not folder.is_absolute():
        raise Failed("home.missing", "this user has no home folder; set SEGUE_HOME to a folder for Segue's files")
    return folder


def current_directory() -> Path:
    """Return the current folder. Raises Failed `directory.missing` where it was removed."""
    try:
        return Path.cwd()
    except OSError:
        raise Failed("directory.missing", "the current folder does not exist any more; change to another one") from None
