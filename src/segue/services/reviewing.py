"""Proposals: what waits for review is looked at, and approved or rejected."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from segue.base.errors import Conflict, InvalidInput, Refused
from segue.memories import identity as same
from segue.services import forgetting, paging
from segue.services.memory_writing import MemoryWriting
from segue.storage import settings

if TYPE_CHECKING:
    import sqlalchemy as sa

    from segue.memories.memory import Memory
    from segue.services.memory_reading import MemoryPage


_HASH = re.compile(r"sha256:[0-9a-f]{64}")


class Reviewing(MemoryWriting):
    """Reviews the memories of one scope that are pending."""

    def pending(self, *, limit: int = paging.DEFAULT_LIMIT, cursor: str | None = None) -> MemoryPage:
        """Return the memories that wait for review, newest first."""
        return self.ls(statuses=("pending",), limit=limit, cursor=cursor)

    def approve(self, memory_id: str, content_hash: str) -> Memory:
        """Make a pending memory active. `content_hash` is that of the text that was looked at.

        What it is meant to replace is retired. Raises NotFound, Refused `memory.not_pending`, InvalidInput
        `memory.hash` for what is no hash, Conflict `memory.changed` where it does not say any more what was looked at.
        """
        if not _HASH.fullmatch(content_hash):
            raise InvalidInput(
                "memory.hash", "this is no hash: `sha256:` and 64 hex digits, as `segue review` shows it"
            )
        with self.writing() as (connection, writer):
            memory = self._waiting(connection, memory_id)
            if memory.content_hash != content_hash:
                raise Conflict("memory.changed", f"{memory.id} was changed meanwhile; look at it again")
            writer.approve(memory)
            writer.finish()
            # Keyed: the log outlives the memory, and must not name a forgotten text.
            keyed = same.keyed(content_hash, settings.signing_key(connection))
            self._note(connection, "memory.approved", memory.id, {"keyed_hash": keyed})
            return self._find(connection, memory.id)

    def reject(self, memory_id: str, reason: str = "rejected") -> str:
        """Forget a pending memory and return its id. Raises NotFound, Refused `memory.not_pending`."""
        with self.writing() as (connection, writer):
            memory = self._waiting(connection, memory_id)
            forgetting.forget(connection, writer, [memory], now=self._clock(), reason=reason)
            self._note(connection, "memory.rejected", memory.id)
        return memory.id

    def _waiting(self, connection: sa.Connection, memory_id: str) -> Memory:
        memory = self._find(connection, memory_id)
        if memory.status != "pending":
            raise Refused("memory.not_pending", f"{memory.id} is {memory.status}; it does not wait for review")
        return memory
