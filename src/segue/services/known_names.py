"""The names that a scope knows: what its memories are told to name beyond what their texts show by themselves."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING

from segue.search import entities
from segue.storage import memory_entities as rows
from segue.storage.memory_entities import Named

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import sqlalchemy as sa

    from segue.memories.memory import Memory
    from segue.storage.memory_index import State

MOST = 1_000  # names that are looked for in texts
MOST_SCOPES = 200  # whose names are kept
_LATELY = 100  # writes of others, any of which may have given new names, until they are read again


class Names:
    """The names that a scope knows: to be found in texts, and the aliases of entities (key to key and name)."""

    def __init__(self, known: Mapping[str, str], aliases: Mapping[str, tuple[str, str]]) -> None:
        self.known = known
        self.aliases = aliases
        self._finder = entities.Names.of(known)  # made ready once for many texts

    @classmethod
    def of(cls, connection: sa.Connection, scope_id: str) -> Names:
        """Return the names of a scope as they are now."""
        aliases = rows.aliases(connection, scope_id)
        known = {name: name for name in rows.known(connection, scope_id, MOST)}
        known |= {each.alias_name: each.name for each in aliases}
        return cls(known, {each.alias: (each.key, each.name) for each in aliases})

    def with_given(self, names: Iterable[str]) -> Names:
        """Return these names and those that writers gave since; itself where none is new, or there are too many."""
        new = {name: name for name in names if name not in self.known}
        if not new or len(self.known) >= MOST:
            return self
        return Names({**self.known, **new}, self.aliases)

    def in_memory(self, memory: Memory) -> list[Named]:
        """Return what a memory names: what its writer said, and what is found in its text; aliases resolved."""
        said = [*memory.entities, *([memory.speaker] if memory.speaker else [])]
        found: dict[str, Named] = {}
        for name, given in [*((each, True) for each in said), *((each, False) for each in self._found(memory))]:
            key, shown = self.aliases.get(entities.key(name), (entities.key(name), name))
            if key:
                found.setdefault(key, Named(memory.id, key, shown, given))
        return list(found.values())

    def _found(self, memory: Memory) -> tuple[str, ...]:
        return entities.found(memory.content, self._finder)


class KnownNames:
    """The names of one scope, kept from one transaction to the next: reading them takes longer than a short write.

    What others give is known a little later, an alias at once.
    """

    def __init__(self) -> None:
        self._held: _Held | None = None

    def now(self, connection: sa.Connection, scope_id: str, state: State) -> Names:
        """Return the names for a transaction that begins in `state`."""
        held = self._held
        if held is not None and held.state.epoch == state.epoch:
            missed = state.generation - held.state.generation  # less than none: what was held was not stored
            if missed >= 0 and held.missed + missed <= _LATELY and held.names.aliases == _aliases(connection, scope_id):
                self._held = _Held(state, held.names, held.missed + missed)
                return held.names
        names = Names.of(connection, scope_id)
        self._held = _Held(state, names, 0)
        return names

    def learn(self, given: Iterable[str], state: State) -> None:
        """Add the names that were given in a transaction that leads to `state`."""
        if self._held is not None:
            self._held = replace(self._held, state=state, names=self._held.names.with_given(given))


class ScopeNames:
    """The names of the scopes of one database; those of scopes that were not asked for lately are let go of."""

    def __init__(self, most: int = MOST_SCOPES) -> None:
        self._most = most
        self._held: OrderedDict[str, KnownNames] = OrderedDict()
        self._lock = Lock()

    def of(self, scope_id: str) -> KnownNames:
        """Return the names of a scope, the same ones for all who write to it."""
        with self._lock:
            found = self._held.setdefault(scope_id, KnownNames())
            self._held.move_to_end(scope_id)
            if len(self._held) > self._most:
                self._held.popitem(last=False)
            return found


@dataclass(frozen=True, slots=True)
class _Held:
    """Names as of a state; `missed` counts the writes of others since they were read."""

    state: State
    names: Names
    missed: int


def _aliases(connection: sa.Connection, scope_id: str) -> dict[str, tuple[str, str]]:
    return {each.alias: (each.key, each.name) for each in rows.aliases(connection, scope_id)}
