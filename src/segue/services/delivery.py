"""Single packets to a host and from it, and what a sync is to know of them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from segue.base import redaction
from segue.base.errors import InvalidInput
from segue.base.redaction import RedactionRefused
from segue.packets import drafts, fields, schema
from segue.storage import replicas as rows
from segue.storage.replicas import Known

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    import sqlalchemy as sa

    from segue.client.answers import Fetched, Stored
    from segue.client.contract import PacketServer
    from segue.packets.model import Packet
    from segue.services.packets import Packets, Saved
    from segue.storage.database import Database


class Delivery:
    """Takes packets of one scope to hosts and back. `packets` gives the service over a scope of this store."""

    def __init__(
        self,
        database: Database,
        scope_id: str,
        *,
        packets: Callable[[str], Packets],
        clock: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._scope = scope_id
        self._packets = packets
        self._clock = clock

    def send(
        self,
        host: PacketServer,
        draft: drafts.Draft,
        *,
        team: str | None = None,
        replace_existing: bool = False,
        allow_unredacted: bool = False,
        core_only: bool = False,
    ) -> Stored:
        """Push a packet that need not lie in the store; `id` and `created_at` are filled in where it has no id.

        Raises InvalidInput `packet.…`, RedactionRefused unless `allow_unredacted`, and what a host refuses it with.
        """
        packet, _ = drafts.finished(draft, self._clock())
        if not allow_unredacted:
            require_clean(packet, core_only=core_only)
        return host.push(packet.canonical, team=team, replace=replace_existing)

    def push(
        self,
        host: PacketServer,
        packet_id: str,
        *,
        team: str | None = None,
        replace_existing: bool = False,
        allow_unredacted: bool = False,
        core_only: bool = False,
    ) -> Stored:
        """Push a packet of the store; an unambiguous ending of its id will do.

        Raises NotFound, Ambiguous, and what `send` raises.
        """
        packet = self._packets(self._scope).get(packet_id)
        stored = self.send(
            host,
            packet,
            team=team,
            replace_existing=replace_existing,
            allow_unredacted=allow_unredacted,
            core_only=core_only,
        )
        if team is None:
            with self._database.write(self._scope) as connection:
                remember(connection, self._scope, host, packet, stored.etag)
        return stored

    def pull(
        self,
        host: PacketServer,
        packet_id: str,
        *,
        team: str | None = None,
        replace_existing: bool = False,
        allow_unredacted: bool = False,
    ) -> Saved:
        """Fetch a packet, which has that exact id, into the store.

        Raises NotFound, InvalidInput `packet.…` for what is no packet, RedactionRefused unless `allow_unredacted`,
        Conflict `packet.exists` where another body is stored under the id and not `replace_existing`.
        """
        fetched = host.pull(packet_id, team=team)
        assert fetched is not None  # noqa: S101 - only a request with an etag is answered by nothing
        # It may come from a team: only a sync tells whether it lies among the user's own there.
        return self._packets(self._scope).submit(
            read(fetched, packet_id),
            allow_unredacted=allow_unredacted,
            core_only=True,
            replace_existing=replace_existing,
        )


def read(fetched: Fetched, packet_id: str) -> Packet:
    """Return the packet that a host sent. Raises InvalidInput `packet.…`, also for one with another id."""
    packet = schema.parse(fetched.body)
    if packet.id != packet_id:
        raise InvalidInput("packet.id", "the host sent a packet with another id than was asked for")
    return packet


def require_clean(packet: Packet, *, core_only: bool) -> None:
    """Raise RedactionRefused where the redactor finds something in a packet that is to leave this machine."""
    findings = redaction.scan(fields.texts(packet.document()), core_only=core_only)
    if findings:
        raise RedactionRefused(findings)


def digest(body: bytes) -> str:
    """Return the SHA-256 of a packet's bytes."""
    return hashlib.sha256(body).hexdigest()


def remember(connection: sa.Connection, scope_id: str, host: PacketServer, packet: Packet, etag: str) -> None:
    """Note that a packet is the same in a scope and on a host."""
    rows.remember(connection, scope_id, host.address, packet.id, Known(digest(packet.canonical), etag))
