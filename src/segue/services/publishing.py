"""Publishing: packets that anybody may read who has the address, until whoever published them takes it back."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from segue.base.errors import NotFound
from segue.packets import schema
from segue.packets.model import Packet
from segue.services.finding import changing, require_changeable
from segue.storage import events
from segue.storage import packets as packet_rows
from segue.storage import publications as rows
from segue.storage.publications import Published

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Callable
    from datetime import datetime

    import sqlalchemy as sa

    from segue.services.callers import Caller
    from segue.storage.database import Database
    from segue.storage.visibility import Seen

_SLUG_BYTES = 16
_SLUG = re.compile(r"[A-Za-z0-9_-]{22}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Publication:
    """Where a published packet can be read. `url` is a path alone where the server does not know its own address."""

    slug: str
    url: str
    published_at: datetime


class Publishing:
    """The published packets of a server. `external_url` is what its address begins with, without a slash at the end."""

    def __init__(self, database: Database, clock: Callable[[], datetime], external_url: str = "") -> None:
        self._database = database
        self._clock = clock
        self._external_url = external_url.rstrip("/")

    def publish(self, caller: Caller, packet_id: str, team: str | None = None) -> Publication:
        """Publish a packet, or return its publication where it is published already.

        It takes whoever may delete the packet, and reads it. Raises NotFound `packet.not_found`.
        """
        caller.require("write")
        with self._found(caller, packet_id, team) as (connection, seen):
            published = rows.of(connection, seen.scope.id, packet_id)
            if published is None:
                now = self._clock()
                published = Published(secrets.token_urlsafe(_SLUG_BYTES), seen.scope.id, packet_id, now)
                rows.insert(connection, published)
                events.append(connection, seen.scope.id, "packet.published", packet_id, actor=caller.user_id, now=now)
        return self._publication(published)

    def unpublish(self, caller: Caller, packet_id: str, team: str | None = None) -> bool:
        """Take a publication back for good; return whether there was one. Raises NotFound `packet.not_found`."""
        caller.require("write")
        with self._found(caller, packet_id, team) as (connection, seen):
            ended = rows.delete(connection, seen.scope.id, packet_id)
            if ended:
                now = self._clock()
                events.append(connection, seen.scope.id, "packet.unpublished", packet_id, actor=caller.user_id, now=now)
        return ended

    def of(self, scope_id: str, packet_id: str) -> Publication | None:
        """Return the publication of a packet, None where it is not published."""
        with self._database.read() as connection:
            published = rows.of(connection, scope_id, packet_id)
        return None if published is None else self._publication(published)

    def read(self, slug: str) -> Packet:
        """Return what is published under a slug. Raises NotFound `publication.not_found`."""
        with self._database.read() as connection:
            published = rows.get(connection, slug if _SLUG.fullmatch(slug) else "")
            stored = packet_rows.get(connection, published.scope_id, published.packet_id) if published else None
        if stored is None:
            raise NotFound("publication.not_found", "nothing is published here")
        return Packet.from_document(schema.read(stored.body))

    def _found(
        self, caller: Caller, packet_id: str, team: str | None
    ) -> contextlib.AbstractContextManager[tuple[sa.Connection, Seen]]:
        return changing(self._database, lambda connection: require_changeable(connection, caller, packet_id, team))

    def _publication(self, published: Published) -> Publication:
        return Publication(published.slug, f"{self._external_url}/p/{published.slug}", published.published_at)
