"""Writing the lines of an import: each is looked at beside what is there, and beside what came before it."""

from __future__ import annotations

from collections import Counter
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from segue.base.errors import Conflict as Contradicted
from segue.base.errors import Refused, SegueError
from segue.memories import identity as same
from segue.services import known_names, transfer_lines
from segue.services.known_names import Names
from segue.services.transfer_records import CapsuleRecord, MemoryRecord, PacketRecord
from segue.storage import capsules as capsule_rows
from segue.storage import memories as memory_rows
from segue.storage import memory_entities as entity_rows
from segue.storage import memory_history as history
from segue.storage import memory_sources as sources
from segue.storage import packets as packet_rows
from segue.storage import transfer as rows
from segue.storage.memory_entities import Alias
from segue.storage.memory_history import Conflict, Tombstone
from segue.storage.packets import StoredPacket

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import sqlalchemy as sa

    from segue.memories.memory import Memory
    from segue.services.chains import Forest, Supersessions
    from segue.services.indexing import Indexing
    from segue.services.transfer_records import Record
    from segue.storage.memory_sources import Place, Said


class Batch:
    """The lines of one transaction. `finish` writes what search keeps of them.

    `added` counts by type what was new; `problems` are the lines that were not taken, each with its number.
    """

    def __init__(
        self,
        connection: sa.Connection,
        scope_id: str,
        indexing: Indexing,
        *,
        key: bytes,
        parents: Forest,
        chains: Supersessions,
    ) -> None:
        self._connection = connection
        self._scope = scope_id
        self._indexing = indexing
        self._key = key
        self._parents = parents
        self._chains = chains
        self._buried = False
        self.added: Counter[str] = Counter()
        self.unchanged = 0
        self.problems: list[tuple[int, SegueError]] = []

    def write(self, group: list[tuple[int, Record]]) -> None:
        """Write lines of one type, in their order."""
        first = group[0][1]
        if isinstance(first, PacketRecord):
            self._each("packet", group, self._packet)
        elif isinstance(first, CapsuleRecord):
            self._each("capsule", group, self._capsule)
        elif isinstance(first, MemoryRecord):
            found = [each for _, each in group if isinstance(each, MemoryRecord)]
            memories = _Memories(self._connection, self._scope, found, self._key, self._chains)
            self._each("memory", group, memories.take)
            memories.write(self._indexing)
        elif isinstance(first, Conflict):
            self._each("conflict", group, self._conflict)
        elif isinstance(first, Alias):
            self._each("alias", group, self._alias)
        else:
            self._each("tombstone", group, self._tombstone)

    def finish(self) -> None:
        """Write what search keeps of the memories that were added."""
        self._indexing.flush(forgotten=self._buried)

    def _each(self, kind: str, group: Iterable[tuple[int, Any]], take: Callable[[Any], bool]) -> None:
        for number, record in group:
            try:
                if take(record):
                    self.added[kind] += 1
                else:
                    self.unchanged += 1
            except SegueError as error:
                self.problems.append((number, error))

    def _packet(self, record: PacketRecord) -> bool:
        packet = record.packet
        there = packet_rows.get(self._connection, self._scope, packet.id)
        if there is not None:
            if there.body != packet.canonical:
                raise Contradicted("packet.exists", f"another body is stored as {packet.id}", {"id": packet.id})
            return False
        if packet.parent_id:
            if self._parents.closes_cycle(packet.id, packet.parent_id):
                raise Refused("packet.cycle", f"{packet.id} would become its own ancestor")
            self._parents.add(packet.id, packet.parent_id)
        stored = StoredPacket(
            scope_id=self._scope,
            id=packet.id,
            owner_id=self._scope,
            revision=record.revision,
            saved_at=record.saved_at,
            project_key=record.project_key,
            project_label=record.project_label,
            content_hash=packet.content_hash,
            flagged=record.flagged,
            body=packet.canonical,
        )
        packet_rows.insert(self._connection, stored, packet)
        return True

    def _capsule(self, record: CapsuleRecord) -> bool:
        if capsule_rows.get(self._connection, self._scope, record.id) is not None:
            return False  # its id follows from what it says
        capsule_rows.insert(
            self._connection,
            self._scope,
            record.capsule,
            record.text,
            now=record.saved_at,
            origin=record.origin,
            project_key=record.project_key,
            flagged=record.flagged,
        )
        return True

    def _conflict(self, conflict: Conflict) -> bool:
        both = (conflict.memory_id, conflict.other_id)
        if len(memory_rows.known(self._connection, self._scope, both)) < len(both):
            raise Refused("transfer.conflict_alone", "a memory of this conflict is not here")
        for there in history.conflicts(self._connection, self._scope, both[:1]):
            if (there.memory_id, there.other_id) == both:
                if there != conflict:
                    raise Contradicted("transfer.exists", "this conflict is stored with another reason or time")
                return False
        return history.add_conflict(self._connection, self._scope, conflict)

    def _alias(self, alias: Alias) -> bool:
        there = {each.alias: each for each in entity_rows.aliases(self._connection, self._scope)}
        if there.get(alias.alias) == alias:
            return False
        # An alias leads to its entity at once; following others here would change what they say.
        if alias.alias in there or alias.key in there or any(each.key == alias.alias for each in there.values()):
            raise Contradicted("transfer.exists", "one of these names is an alias of something else here")
        entity_rows.add_alias(self._connection, self._scope, alias)
        return True

    def _tombstone(self, stone: Tombstone) -> bool:
        there = history.tombstones(self._connection, self._scope, [stone.id])
        if stone in there:
            return False
        # One memory leaves a stone for each text that it had, all of the same moment.
        if any((each.forgotten_at, each.reason) != (stone.forgotten_at, stone.reason) for each in there):
            raise Contradicted("transfer.exists", f"{stone.id} was forgotten here at another time")
        if any(each.keyed_hash == stone.keyed_hash for each in there):
            return False
        if memory_rows.known(self._connection, self._scope, [stone.id]):
            raise Contradicted("transfer.exists", f"{stone.id} was forgotten there and is not here; forget it yourself")
        history.bury(self._connection, self._scope, [stone], self._indexing.generation)
        self._buried = True
        return True


class _Memories:
    """The memories of one group of lines: all is asked at once, then each is taken or not, then all is written."""

    def __init__(
        self,
        connection: sa.Connection,
        scope_id: str,
        group: Sequence[MemoryRecord],
        key: bytes,
        chains: Supersessions,
    ) -> None:
        self._connection = connection
        self._scope = scope_id
        self._chains = chains
        ids = [each.memory.id for each in group]
        named = {each.memory.id: [*each.memory.supersedes, each.memory.superseded_by] for each in group}
        others = {each for some in named.values() for each in some if each}
        self._there = self._documents(ids)
        self._known = memory_rows.known(connection, scope_id, [*ids, *others])
        self._tombstones = {each.id for each in history.tombstones(connection, scope_id, ids)}
        identities = {each.memory.id: same.identity(each.memory) for each in group}
        anywhere = {each.memory.id: same.anywhere(each.memory) for each in group}
        hashes = {each: same.keyed(each, key) for each in {*identities.values(), *anywhere.values()}}
        buried = history.forgotten(connection, scope_id, list(hashes.values()))
        self._forgotten = {
            each for each in identities if not buried.isdisjoint((hashes[identities[each]], hashes[anywhere[each]]))
        }
        self._says = self._said_by(list(set(identities.values())))
        places = [(said.source, said.place) for each in group for said in each.said]
        self._places: dict[Place, Said] = sources.at(connection, scope_id, places)
        self._taken: list[tuple[MemoryRecord, str]] = []

    def _documents(self, ids: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        """The lines of those of the memories that are there."""
        there = memory_rows.by_ids(self._connection, self._scope, ids)
        said = sources.of(self._connection, self._scope, list(there))
        versions = rows.versions_of(self._connection, self._scope, list(there))
        return {
            each: transfer_lines.memory_line(memory, said.get(each, ()), versions.get(each, ()))
            for each, memory in there.items()
        }

    def _said_by(self, identities: Sequence[str]) -> dict[str, str]:
        """Which memory says a text, of those that hold or wait."""
        alike = memory_rows.by_identity(self._connection, self._scope, identities)
        return {
            identity: memory.id for identity, some in alike.items() for memory in some if memory.status != "retired"
        }

    def take(self, record: MemoryRecord) -> bool:
        """Take a memory to be written; return False where it is there. Raises what stands against it."""
        memory = record.memory
        there = self._there.get(memory.id)
        if there is not None:
            self._require_same(memory, there, record.document)
            return False
        identity = same.identity(memory)
        if memory.id in self._tombstones or memory.id in self._forgotten:
            raise Refused("memory.forgotten", f"{memory.id} was forgotten here; it is not taken back")
        other = self._says.get(identity)
        if other is not None and memory.status != "retired":
            raise Contradicted("memory.exists", f"{other} says the same as {memory.id}", {"id": other})
        if any((said.source, said.place) in self._places for said in record.said):
            raise Contradicted("transfer.exists", f"a place that says {memory.id} says something else here")
        self._chains.add(memory, self._known)
        self._places |= {(said.source, said.place): said for said in record.said}
        if memory.status != "retired":
            self._says[identity] = memory.id
        self._known.add(memory.id)
        self._there[memory.id] = record.document
        self._taken.append((record, identity))
        return True

    @staticmethod
    def _require_same(memory: Memory, there: Mapping[str, Any], given: Mapping[str, Any]) -> None:
        differ = sorted(name for name, value in there.items() if given[name] != value)
        if differ:
            message = f"{memory.id} is stored already, with other {', '.join(differ)}"
            raise Contradicted("transfer.exists", message, {"id": memory.id, "members": differ})

    def write(self, indexing: Indexing) -> None:
        """Write what was taken."""
        if not self._taken:
            return
        memories = [(record.memory, identity) for record, identity in self._taken]
        memory_rows.insert(self._connection, self._scope, memories)
        sources.add(self._connection, self._scope, (said for record, _ in self._taken for said in record.said))
        versions = ((record.memory.id, version) for record, _ in self._taken for version in record.versions)
        rows.add_versions(self._connection, self._scope, versions)
        names = self._names([memory for memory, _ in memories])
        named = [each for memory, _ in memories for each in names.in_memory(memory)]
        entity_rows.write(self._connection, self._scope, [], named)
        for memory, _ in memories:
            indexing.add(memory)

    def _names(self, memories: Sequence[Memory]) -> Names:
        """The names that the scope knows, those of the memories themselves included."""
        before = Names.of(self._connection, self._scope)
        given = {name: name for memory in memories for name in (*memory.entities, memory.speaker) if name}
        return Names(dict(islice(chain(before.known.items(), given.items()), known_names.MOST)), before.aliases)
