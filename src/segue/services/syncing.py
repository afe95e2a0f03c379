"""The user's packets made the same here and on a host; those of teams copied.

A sync can be stopped at any packet: each is one transaction, with the note that it is the same on both sides, and the
next sync goes on from there. What was changed on both sides stays as it is on both, and is shown.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from segue.base.errors import Conflict, InvalidInput, NotFound, Refused
from segue.client import syncing
from segue.packets import schema
from segue.packets.drafts import TAG
from segue.services.delivery import digest, read, remember, require_clean
from segue.services.mirroring import Mirroring, newer, remove
from segue.services.synced import Removed, Synced
from segue.services.underway import Underway
from segue.storage import packets as packet_rows
from segue.storage import replicas as rows
from segue.storage.replicas import Known, Replica

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    import sqlalchemy as sa

    from segue.client.answers import PacketList, RemoteTeam
    from segue.client.contract import PacketServer
    from segue.packets.model import Packet
    from segue.services.packets import Packets
    from segue.storage.database import Database
    from segue.storage.packets import StoredPacket

_REVOKED = "auth.revoked"
_SIGNED_OUT = frozenset({"auth.missing", "auth.invalid", "auth.expired", _REVOKED})
_READ_ONLY = frozenset({"auth.permission", "host.forbidden"})


class Syncing:
    """Syncs one scope with hosts. `packets` gives the service over a scope here; `mirroring` keeps copies of teams."""

    def __init__(
        self,
        database: Database,
        scope_id: str,
        *,
        packets: Callable[[str], Packets],
        mirroring: Mirroring,
        clock: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._scope = scope_id
        self._packets = packets
        self._clock = clock
        self._mirroring = mirroring

    def sync(
        self, host: PacketServer, *, delete: bool = False, on_progress: Callable[[int, int], None] | None = None
    ) -> Synced:
        """Make the user's packets the same here and on the host, and copy those of the user's teams.

        What was removed on one side is removed on the other with `delete` only. Copies of teams that are not the
        user's any more are dropped, all of them where the token was revoked. Raises what requests raise; what is done
        until then is kept.
        """
        try:
            user = host.patiently(host.whoami)
            teams = host.patiently(host.teams)
        except Refused as error:
            if error.code == _REVOKED:
                self.drop(host.address)
            raise
        dropped = self._mirroring.drop(host.address, kept=frozenset(each.id for each in teams))
        work = Underway(host, delete, on_progress)
        own = host.all_packets()
        listed = [(team, found) for team in teams if (found := _listed(host, team)) is not None]
        work.total = sum(len(found.packets) for _, found in listed)
        self._begin(host, hashlib.sha256(user.id.encode()).hexdigest() if user else host.account)
        self._sync_own(work, own)
        return work.finished(tuple(self._mirroring.mirror(work, *each) for each in listed), dropped)

    def drop(self, address: str) -> tuple[str, ...]:
        """Remove the copies of all teams of a host; return their names."""
        return self._mirroring.drop(address)

    def _begin(self, host: PacketServer, account: str) -> None:
        """Note whose packets are compared; of another user's, nothing is known."""
        with self._database.write(self._scope) as connection:
            before = rows.own(connection, self._scope, host.address)
            if before is not None and before.account != account:
                rows.forget_all(connection, self._scope, host.address)
            rows.put(connection, Replica(self._scope, host.address, "", "", account, self._clock()))

    def _sync_own(self, work: Underway, listed: PacketList) -> None:
        with self._database.read() as connection:
            here = rows.digests(connection, self._scope)
            known = rows.known(connection, self._scope, work.host.address)
            drafts = rows.tagged(connection, self._scope, TAG)
        for each in drafts - known.keys() - listed.packets.keys():  # nobody reviewed them, nor pushed them themselves
            here.pop(each, None)
        ids = sorted({*here, *known, *listed.packets})
        work.total += len(ids)
        for each in ids:
            self._sync_one(work, each, here.get(each), listed, known.get(each))
            work.step()

    def _sync_one(
        self, work: Underway, packet_id: str, here: str | None, listed: PacketList, known: Known | None
    ) -> None:
        line = listed.packets.get(packet_id)
        try:
            fetched = newer(work.host, packet_id, None, line, known)
            packet = read(fetched, packet_id) if fetched else None
        except (InvalidInput, NotFound) as error:
            work.hold(packet_id, "", error)
            return
        there = digest(packet.canonical) if packet else None
        if packet is None and known is not None and (line is not None or not listed.complete):
            there = known.digest
        etag = _first(fetched.etag if fetched else "", line.etag if line else "", known.etag if known and line else "")
        goal = line.goal if line else ""
        match syncing.decide(here, there, known.digest if known else None):
            case "settle":
                self._settle(work, packet_id, Known(there or "", etag), known)
            case "push":
                self._push(work, packet_id, known, etag)
            case "pull" if packet is not None:
                self._pull(work, packet, here, etag)
            case "gone_here":
                self._gone_here(work, packet_id)
            case "gone_there":
                self._gone_there(work, packet_id, here, lost=not listed.packets)
            case "conflict":
                work.contest(packet_id, goal, syncing.reason(here, there))
            case _:
                self._forget(work.host, packet_id)

    def _settle(self, work: Underway, packet_id: str, now: Known, known: Known | None) -> None:
        work.unchanged += 1
        if now != known:
            with self._database.write(self._scope) as connection:
                rows.remember(connection, self._scope, work.host.address, packet_id, now)

    def _push(self, work: Underway, packet_id: str, known: Known | None, etag: str) -> None:
        with self._database.read() as connection:
            stored = packet_rows.get(connection, self._scope, packet_id)
        if stored is None or not work.may_push:
            return
        packet = None
        try:
            packet = schema.parse(stored.body)
            require_clean(packet, core_only=True)
            taken = work.host.patiently(
                lambda: work.host.push(stored.body, replace=known is not None, if_match=etag if known else "")
            )
        except Conflict:
            work.contest(packet_id, packet.goal if packet else "", "changed_both")
        except (InvalidInput, Refused) as error:
            if error.code in _SIGNED_OUT:
                raise
            work.may_push = error.code not in _READ_ONLY  # once is enough to be told
            work.hold(packet_id, "", error)
        else:
            work.pushed += 1
            with self._database.write(self._scope) as connection:
                remember(connection, self._scope, work.host, packet, taken.etag)

    def _pull(self, work: Underway, packet: Packet, here: str | None, etag: str) -> None:
        def admits(connection: sa.Connection, existing: StoredPacket | None) -> None:
            if (digest(existing.body) if existing else None) != here:
                raise Conflict("packet.changed", "the packet was changed here meanwhile", {"id": packet.id})
            remember(connection, self._scope, work.host, packet, etag)

        try:
            self._packets(self._scope).submit(packet, core_only=True, replace_existing=True, admits=admits)
        except Conflict:
            work.contest(packet.id, packet.goal, "changed_both")
        except (InvalidInput, Refused) as error:
            work.hold(packet.id, "", error)
        else:
            work.pulled += 1

    def _gone_here(self, work: Underway, packet_id: str) -> None:
        if not work.delete:
            work.removed.append(Removed(packet_id, "here"))
            return
        try:
            work.host.patiently(lambda: work.host.rm(packet_id))
        except NotFound:
            pass  # which is as well
        except Refused as error:
            work.hold(packet_id, "", error)
            return
        self._forget(work.host, packet_id)
        work.deleted += 1

    def _gone_there(self, work: Underway, packet_id: str, here: str | None, *, lost: bool) -> None:
        # A host that has nothing any more has lost it: nothing is removed here for that.
        if work.delete and not lost:
            work.deleted += remove(self._database, self._packets(self._scope), self._scope, work.host, packet_id, here)
        else:
            work.removed.append(Removed(packet_id, "host"))

    def _forget(self, host: PacketServer, packet_id: str) -> None:
        with self._database.write(self._scope) as connection:
            rows.forget(connection, self._scope, host.address, packet_id)


def _first(*etags: str) -> str:
    return next(filter(None, etags), "")


def _listed(host: PacketServer, team: RemoteTeam) -> PacketList | None:
    """The packets of a team, None where the user left it a moment ago: the next sync drops it."""
    try:
        return host.all_packets(team=team.name)
    except NotFound:
        return None
