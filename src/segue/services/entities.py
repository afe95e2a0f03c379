"""Entities: whom and what memories name, what stands beside it, and which names mean the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from segue.base import ids, jsontext, redaction
from segue.base.errors import InvalidInput, NotFound, Refused
from segue.base.redaction import Field, RedactionRefused
from segue.search import entities as names
from segue.services import paging
from segue.services.known_names import Names
from segue.services.scoped import ScopedService
from segue.storage import events
from segue.storage import memories as rows
from segue.storage import memory_entities as entity_rows
from segue.storage.memory_entities import Alias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import sqlalchemy as sa

    from segue.memories.memory import Memory


@dataclass(frozen=True, slots=True)
class Entity:
    """Whom or what memories name: `memories` counts the active ones, `aliases` are its other names."""

    name: str
    memories: int
    aliases: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return `{"name", "memories", "aliases"}`."""
        return {"name": self.name, "memories": self.memories, "aliases": list(self.aliases)}


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """What surrounds `entities`: others that memories name together with them, and the memories that name them.

    `memories` are the newest ones that are active; `beside` counts in how many of them all each one stands.
    """

    entities: list[Entity]
    beside: list[Entity]
    memories: list[Memory]

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue entities show --json`."""
        return {
            "entities": [each.to_json() for each in self.entities],
            "beside": [each.to_json() for each in self.beside],
            "memories": [each.to_json() for each in self.memories],
        }


class Entities(ScopedService):
    """The entities of one scope, as its active memories name them."""

    def ls(self, *, limit: int = paging.DEFAULT_LIMIT) -> list[Entity]:
        """Return up to `limit` entities (1 to 500), the most frequent first. Raises InvalidInput `limit.invalid`."""
        paging.require_limit(limit)
        with self._database.read() as connection:
            return self._named(connection, entity_rows.listed(connection, self._scope, limit))

    def neighbourhood(self, given: str, *, limit: int = paging.DEFAULT_LIMIT) -> Neighbourhood:
        """Return what surrounds an entity, or all that a memory names; `given` is a name or a memory's id.

        Of the entities beside it and of the memories there are up to `limit` (1 to 500). Raises InvalidInput
        `limit.invalid`, NotFound `entity.not_found`, Ambiguous `memory.ambiguous`.
        """
        paging.require_limit(limit)
        with self._database.read() as connection:
            keys = self._known(connection, given) or self._named_by(connection, given)
            found = entity_rows.memories_naming(connection, self._scope, keys, limit)
            memories = rows.by_ids(connection, self._scope, found)
            return Neighbourhood(
                [self._entity(connection, each) for each in keys],
                self._named(connection, entity_rows.beside(connection, self._scope, keys, limit)),
                [memories[each] for each in found],
            )

    def merge(self, alias: str, name: str) -> Entity:
        """Say that `alias` is another name of `name`, and return the entity that both mean from now on.

        One of the two must be known: named by a memory, or merged before. A `name` that is an alias itself stands for
        its own entity. Raises InvalidInput `entity.name` for what is no name, NotFound `entity.not_found` where nobody
        knows either, Refused `entity.same` where both are one already, or would come to be a name of itself,
        RedactionRefused `entity.redaction`.
        """
        with self._database.write(self._scope) as connection:
            aliases = {each.alias: each for each in entity_rows.aliases(connection, self._scope)}
            alias_name, name = _name(alias), _name(name)
            known = aliases.get(names.key(name))
            target, shown = (known.key, known.name) if known else (names.key(name), self._spelled(connection, name))
            alias_key = names.key(alias_name)
            if alias_key == target:
                raise Refused("entity.same", "both are names of one entity already; it goes by the other of the two")
            if not self._any_known(connection, aliases, (alias_key, target)):
                shown_names = f"'{redaction.shown(alias_name, 64)}' nor '{redaction.shown(name, 64)}'"
                raise NotFound("entity.not_found", f"no memory names {shown_names}; see `segue entities ls`")
            entity_rows.add_alias(connection, self._scope, Alias(alias_key, alias_name, target, shown))
            # The log outlives what is forgotten: it holds no names.
            events.append(connection, self._scope, "entity.merged", "", actor=self._actor, now=self._clock())
            return self._entity(connection, target)

    def unmerge(self, alias: str) -> Entity:
        """Take a merge back: `alias` is a name of its own again. Return the entity that it is then.

        Memories are looked at anew: what they say under that name, they name under it. Names that were merged into
        `alias` before it was merged itself stay where they are. Raises InvalidInput `entity.name`, NotFound
        `entity.not_merged` for what is no other name of an entity.
        """
        with self._database.write(self._scope) as connection:
            aliases = {each.alias: each for each in entity_rows.aliases(connection, self._scope)}
            merged = aliases.get(names.key(_name(alias)))
            if merged is None:
                message = f"'{redaction.shown(alias, 64)}' is no other name of an entity; see `segue entities ls`"
                raise NotFound("entity.not_merged", message)
            entity_rows.remove_alias(connection, self._scope, merged.alias)
            self._named_anew(connection, merged)
            events.append(connection, self._scope, "entity.unmerged", "", actor=self._actor, now=self._clock())
            return replace(self._entity(connection, merged.alias), name=self._spelled(connection, merged.alias_name))

    def _named_anew(self, connection: sa.Connection, merged: Alias) -> None:
        """Write again which of the two names each memory means that named the entity."""
        now = Names.of(connection, self._scope)
        both = Names({**now.known, merged.alias_name: merged.alias_name, merged.name: merged.name}, now.aliases)
        keys, after = (merged.key, merged.alias), ""
        while batch := entity_rows.all_naming(connection, self._scope, keys, after, _BATCH):
            before = entity_rows.of(connection, self._scope, batch)
            named = [each for memory_id in batch for each in before[memory_id] if each.key not in keys]
            for memory in rows.by_ids(connection, self._scope, batch).values():
                named += [each for each in both.in_memory(memory) if each.key in keys]
            entity_rows.write(connection, self._scope, batch, named)
            after = batch[-1]

    def _any_known(self, connection: sa.Connection, aliases: Mapping[str, Alias], keys: Sequence[str]) -> bool:
        merged = {*aliases, *(each.key for each in aliases.values())}
        return not merged.isdisjoint(keys) or bool(entity_rows.all_naming(connection, self._scope, keys, "", 1))

    def _known(self, connection: sa.Connection, given: str) -> list[str]:
        """The key of the entity that has this name, where there is one."""
        if "\0" in given or not jsontext.is_unicode(given) or not names.key(given):
            return []
        aliases = {each.alias: each.key for each in entity_rows.aliases(connection, self._scope)}
        key = aliases.get(names.key(given), names.key(given))
        spelled = key in aliases.values() or entity_rows.memories_naming(connection, self._scope, [key], 1)
        return [key] if spelled else []

    def _named_by(self, connection: sa.Connection, given: str) -> list[str]:
        """The keys of what a memory names. Raises NotFound, Ambiguous."""
        message = f"no memory names '{redaction.shown(given, 64)}', and none has that id; see `segue entities ls`"
        nothing = NotFound("entity.not_found", message)
        if len(ids.unshortened(given)) < ids.SHORT_LENGTH:  # rather a name that is misspelled
            raise nothing
        try:
            memory_id = paging.resolve(
                given,
                "memory",
                "`segue memories ls`",
                lambda each: rows.get(connection, self._scope, each) is not None,
                lambda ending, limit: rows.with_ending(connection, self._scope, ending, limit),
            )
        except NotFound as error:
            if error.code != "memory.not_found":
                raise
            raise nothing from None
        return [each.key for each in entity_rows.of(connection, self._scope, [memory_id]).get(memory_id, [])]

    def _spelled(self, connection: sa.Connection, name: str) -> str:
        """A name as memories spell it, else as it is given."""
        key = names.key(name)
        found = entity_rows.memories_naming(connection, self._scope, [key], 1)
        named = entity_rows.of(connection, self._scope, found)
        return next((each.name for all_named in named.values() for each in all_named if each.key == key), name)

    def _entity(self, connection: sa.Connection, key: str) -> Entity:
        aliases = [each for each in entity_rows.aliases(connection, self._scope) if each.key == key]
        number = len(entity_rows.memories_naming(connection, self._scope, [key], _ALL))
        name = aliases[0].name if aliases else self._spelled(connection, key)
        return Entity(name, number, tuple(each.alias_name for each in aliases))

    def _named(self, connection: sa.Connection, found: Sequence[tuple[str, str, int]]) -> list[Entity]:
        others: dict[str, list[Alias]] = {}
        for each in entity_rows.aliases(connection, self._scope):
            others.setdefault(each.key, []).append(each)
        return [
            Entity(name, number, tuple(each.alias_name for each in others.get(key, ()))) for key, name, number in found
        ]


_ALL = 1 << 31
_BATCH = 500


def _name(given: str) -> str:
    """A name as it is kept. Raises InvalidInput `entity.name`, RedactionRefused `entity.redaction`."""
    name = " ".join(given.replace("\0", "\ufffd").split())
    if not jsontext.is_unicode(name) or not 0 < len(name) <= names.MAX_LENGTH or not names.key(name):
        raise InvalidInput("entity.name", f"a name is Unicode text of 1 to {names.MAX_LENGTH} characters")
    found = redaction.scan(_fields(name), core_only=True, credentials=True)
    if found:
        raise RedactionRefused(found, "entity.redaction", "Give a name without it")
    return name


def _fields(name: str) -> Iterable[Field]:
    return (Field("name", name, True),)
