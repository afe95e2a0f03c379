"""What all that writes the memories of one scope shares: the transaction, the writer over it, the log."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from segue.services.indexing import Indexing
from segue.services.known_names import KnownNames
from segue.services.memory_reading import MemoryReading
from segue.services.remembering import Writer
from segue.storage import events, settings
from segue.storage import memory_history as history

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

    import sqlalchemy as sa

    from segue.services.cleaning import Policy
    from segue.services.embedding import Embedding
    from segue.services.projects import Project
    from segue.services.reindexing import Reindexing
    from segue.storage.database import Database


class MemoryWriting(MemoryReading):
    """What writes the memories of one scope. `policy` says what becomes of texts with secrets in them.

    `known` are the names that the scope knows, where others who write to it share them.
    """

    def __init__(
        self,
        database: Database,
        scope_id: str,
        *,
        project: Callable[[], Project],
        clock: Callable[[], datetime],
        embedding: Embedding,
        actor: str = "local",
        policy: Policy = "refuse",
        known: KnownNames | None = None,
    ) -> None:
        super().__init__(database, scope_id, project=project, clock=clock, actor=actor)
        self._embedding = embedding
        self._policy = policy
        self._known = known or KnownNames()

    @contextlib.contextmanager
    def writing(self, redaction: Policy | None = None) -> Iterator[tuple[sa.Connection, Writer]]:
        """Yield a connection in a write transaction, and the writer of memories over it."""
        self.prepare()
        with self._database.write(self._scope) as connection:
            yield connection, self.writer(connection, redaction)

    def prepare(self) -> None:
        """Load what a writer needs, before the lock is held."""
        _ = self._embedding.words

    def writer(self, connection: sa.Connection, redaction: Policy | None = None) -> Writer:
        """Return a writer of memories inside a write transaction that somebody else has begun."""
        now = self._clock()
        return Writer(
            connection,
            self._scope,
            Indexing(connection, self._scope, self._embedding.words, now),
            now=now,
            key=settings.signing_key(connection),
            known=self._known,
            policy=redaction or self._policy,
            extended=self._is_extended(connection),
        )

    def _is_extended(self, connection: sa.Connection) -> bool:  # noqa: ARG002 - a server's memories ask the store
        """Whether all that the redactor knows is looked for in what is written, and not secrets alone."""
        return False

    def refresh(self) -> None:
        """Bring the vectors up to date after many memories came; see `Reindexing.refresh`."""
        self.reindexing.refresh()

    @property
    def reindexing(self) -> Reindexing:
        """What makes the rows of search again."""
        from segue.services.reindexing import Reindexing

        return Reindexing(self._database, self._scope, self._embedding, self._clock)

    def _conflict(self, connection: sa.Connection, first: str, second: str, reason: str) -> None:
        history.add_conflict(connection, self._scope, history.Conflict(first, second, reason, self._clock()))

    def _note(
        self, connection: sa.Connection, kind: str, subject: str, details: Mapping[str, Any] | None = None
    ) -> None:
        events.append(connection, self._scope, kind, subject, actor=self._actor, now=self._clock(), details=details)
