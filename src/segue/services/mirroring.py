"""Copies of teams' packets and memories in this store.

A sync makes and keeps them; they are read offline, and dropped with the membership.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from segue.base.errors import Conflict, InvalidInput, NotFound
from segue.base.redaction import RedactionRefused
from segue.services import mirrored_memories
from segue.services.delivery import digest, read, remember
from segue.services.synced import TeamSynced
from segue.storage import events
from segue.storage import packets as packet_rows
from segue.storage import replicas as rows
from segue.storage.replicas import Replica

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    import sqlalchemy as sa

    from segue.base.errors import SegueError
    from segue.client.answers import Fetched, PacketLine, PacketList, RemoteTeam
    from segue.client.contract import PacketServer
    from segue.services.memories import Memories
    from segue.services.packets import Packets
    from segue.services.underway import Underway
    from segue.storage.database import Database
    from segue.storage.packets import StoredPacket
    from segue.storage.replicas import Known


class Mirroring:
    """Keeps the copies. `packets` and `memories` give the services over a scope of this store.

    `remembering` is asked for packets that make memories by themselves, for a host that tells none. The log of
    `scope_id` tells of copies that are made and dropped.
    """

    def __init__(
        self,
        database: Database,
        scope_id: str,
        *,
        packets: Callable[[str], Packets],
        remembering: Callable[[str], Packets],
        memories: Callable[[str], Memories],
        clock: Callable[[], datetime],
        actor: str,
    ) -> None:
        self._database = database
        self._scope = scope_id
        self._packets = packets
        self._remembering = remembering
        self._memories = memories
        self._clock = clock
        self._actor = actor

    def drop(self, address: str, *, kept: frozenset[str] = frozenset()) -> tuple[str, ...]:
        """Remove the copies of a host's teams, but for those whose ids are `kept`; return their names."""
        with self._database.read() as connection:
            found = [each for each in rows.of_teams(connection, address) if each.team_id not in kept]
        for each in found:
            with self._database.write(self._scope, each.scope_id) as connection:
                rows.drop(connection, each.scope_id)
                self._note(connection, "replica.dropped", each.team_id)
        return tuple(each.name for each in found)

    def mirror(self, work: Underway, team: RemoteTeam, listed: PacketList) -> TeamSynced:
        """Make the copy of a team hold what the host lists, and nothing else."""
        scope_id = self._replica(work.host, team)
        told = work.host.patiently(lambda: work.host.memories(team.name))
        packets = (self._remembering if told is None else self._packets)(scope_id)
        with self._database.read() as connection:
            here = rows.digests(connection, scope_id)
            known = rows.known(connection, scope_id, work.host.address)
        pulled = removed = 0
        for line in sorted(listed.packets.values(), key=lambda line: line.id):
            before = known.get(line.id) if line.id in here else None
            pulled += self._one(work, scope_id, packets, team, line, before)
            work.step()
        for each in sorted(set(here) - set(listed.packets)) if listed.complete else ():
            removed += remove(self._database, packets, scope_id, work.host, each, here[each])
        changed = 0
        if told is not None:

            def hold(memory_id: str, error: SegueError) -> None:
                work.hold(memory_id, team.name, error)

            mirrored = mirrored_memories.mirror(self._memories(scope_id), told, now=self._clock(), hold=hold)
            changed = mirrored.pulled + mirrored.removed
        return TeamSynced(team.name, pulled, removed, len(listed.packets) - pulled, changed)

    def _one(
        self,
        work: Underway,
        scope_id: str,
        packets: Packets,
        team: RemoteTeam,
        line: PacketLine,
        known: Known | None,
    ) -> bool:
        """Bring one packet here where it is new or was changed; return whether it was."""
        try:
            fetched = newer(work.host, line.id, team.name, line, known)
            if fetched is None:
                return False
            packet, etag = read(fetched, line.id), fetched.etag or line.etag

            def admits(connection: sa.Connection, _: StoredPacket | None) -> None:
                remember(connection, scope_id, work.host, packet, etag)

            saved = packets.submit(packet, core_only=True, replace_existing=True, admits=admits)
        except (InvalidInput, NotFound, RedactionRefused, Conflict) as error:
            work.hold(line.id, team.name, error)
            return False
        return saved.outcome != "unchanged"

    def _replica(self, host: PacketServer, team: RemoteTeam) -> str:
        """Return the scope that is the copy of a team; the first sync makes it."""
        with self._database.write(self._scope) as connection:
            now = self._clock()
            for each in rows.of_teams(connection, host.address):
                if each.team_id == team.id:
                    rows.put(connection, replace(each, name=team.name, synced_at=now))
                    return each.scope_id
            scope_id = rows.make_scope(connection, team.name, now)
            rows.put(connection, Replica(scope_id, host.address, team.id, team.name, "", now))
            self._note(connection, "replica.made", team.id)
            return scope_id

    def _note(self, connection: sa.Connection, kind: str, subject: str) -> None:
        events.append(connection, self._scope, kind, subject, actor=self._actor, now=self._clock())


def newer(
    host: PacketServer, packet_id: str, team: str | None, line: PacketLine | None, known: Known | None
) -> Fetched | None:
    """Fetch what a host lists, None where it lists nothing, or what is known."""
    if line is None or (known is not None and line.etag and line.etag == known.etag):
        return None
    return host.patiently(lambda: host.pull(packet_id, team=team, etag=known.etag if known else ""))


def remove(
    database: Database, service: Packets, scope_id: str, host: PacketServer, packet_id: str, here: str | None
) -> bool:
    """Remove a packet whose digest still is `here`, and know nothing of it any more; return whether it was so."""
    remembering = service.prepared()
    with database.write(scope_id) as connection:
        stored = packet_rows.get(connection, scope_id, packet_id)
        if stored is not None and digest(stored.body) != here:
            return False
        if stored is not None:
            service.remove(connection, packet_id, remembering)
        rows.forget(connection, scope_id, host.address, packet_id)
        return True
