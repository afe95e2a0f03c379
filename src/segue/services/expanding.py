"""The way on from any ref: all of a memory, and what stands around it or around a name (specification, section 7)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from segue.base import jsontext, time
from segue.base.errors import InvalidInput
from segue.context.candidate import Candidate, Packed
from segue.context.layers import natural
from segue.context.pack import item
from segue.context.query import DIRECTIONS
from segue.memories.filter import Filter
from segue.search import entities as names
from segue.services import answers
from segue.services.keeping import Keeping
from segue.storage import entity_graph
from segue.storage import memories as rows
from segue.storage import memory_entities as entity_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    import sqlalchemy as sa

    from segue.memories.memory import Memory
    from segue.services.answers import Answer

MAX_REF, MAX_LIMIT, DEFAULT_LIMIT = 500, 50, 8
SERVED = Filter(statuses=("active", "retired"))
_NAMING = 500  # memories that are looked at for what stands beside an entity
_SPELLED = 50  # of them, for how its name is written
_AROUND = "around"


class Expanding(Keeping, ABC):
    """Goes on from the ids, names and cursors that answers hold."""

    @abstractmethod
    def more(self, cursor: str, *, most: int | None = None) -> Answer:
        """Return the page that `cursor` stands for. Raises InvalidInput `cursor.invalid`."""

    def expand(
        self, ref: str, direction: str = "document", limit: int = DEFAULT_LIMIT, *, most: int | None = None
    ) -> dict[str, Any]:
        """Return what lies behind a ref: all of it, what stands around it, or the next page (section 7).

        `document` takes the id of a memory, `neighbors` that or the name of an entity, `more` a cursor. `limit` is how
        many neighbours there are at most (1 to 50), `most` how many characters the answer may take as JSON: what finds
        no room comes with its cursor. What is not there, or not yours, gives an answer with `found` false.
        Raises InvalidInput `expand.…`, `details` naming the field.
        """
        if not isinstance(ref, str) or not 0 < len(ref) <= MAX_REF or not jsontext.is_unicode(ref):
            raise _invalid("ref", f"an id, a name or a cursor, of 1 to {MAX_REF} characters")
        if direction not in DIRECTIONS:
            raise _invalid("direction", f"one of {', '.join(DIRECTIONS)}")
        if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_LIMIT:
            raise _invalid("limit", f"a whole number from 1 to {MAX_LIMIT}")
        if direction == "more":
            return self._next(ref, most)
        return self._document(ref) if direction == "document" else self._neighbours(ref, limit, most)

    def _next(self, ref: str, most: int | None) -> dict[str, Any]:
        about = {"ref": ref, "direction": "more"}
        try:
            body = self._kept(ref)
            if _AROUND in body:
                return self._around(about | {"found": True}, body[_AROUND], most)
            return about | {"found": True} | self.more(ref, most=most).to_json()
        except InvalidInput as error:
            if error.code != "cursor.invalid":
                raise
            return about | {"found": False, "items": [], "cursor": None, "reason": "unrecognized_cursor"}

    def _document(self, ref: str) -> dict[str, Any]:
        with self._database.read() as connection:
            memory = self._served(connection, ref)
        document = None if memory is None else memory.to_json() | {"treat_as_data": True}
        return {"ref": ref, "direction": "document", "found": memory is not None, "document": document}

    def _served(self, connection: sa.Connection, ref: str) -> Memory | None:
        return rows.by_ids(connection, self._scope, [ref], SERVED).get(ref) if "\0" not in ref else None

    # -- neighbours ---------------------------------------------------------------------------------------------------

    def _neighbours(self, ref: str, limit: int, most: int | None) -> dict[str, Any]:
        with self._database.read() as connection:
            keys, near = self._seeds(connection, ref)
            beside = entity_graph.beside(connection, self._scope, keys, near)[:limit] if keys else []
            spelled = [self._spelled(connection, key, near) for key in keys]
        about = {
            "ref": ref,
            "direction": "neighbors",
            "found": bool(keys),
            "seed_entities": spelled,
            "entities": [{"name": name, "memories": count} for _, name, count in beside],
        }
        return self._around(about, [each for each in near if each != ref][:limit], most)

    def _around(self, about: dict[str, Any], refs: list[str], most: int | None) -> dict[str, Any]:
        """An answer with the memories of `refs`, as many as it takes; a cursor for the others."""
        with self._database.read() as connection:
            found = rows.by_ids(connection, self._scope, refs, Filter(statuses=("active",)))
            there = [each for each in refs if each in found]
            items = self._items(connection, [whole(found[each]) for each in there])
        shown = answers.fitting(items, most, about)
        left = there[len(shown) :]
        cursor, notes = self._keep({_AROUND: left}) if left else (None, ())
        return about | {"items": shown, "cursor": cursor, "notes": list(notes)}

    def _seeds(self, connection: sa.Connection, ref: str) -> tuple[list[str], list[str]]:
        """The entities that a memory names, else the one that has this name; and the newest memories that name them.

        A name that only waiting or replaced memories know is known to nobody.
        """
        wanted = Filter(statuses=("active",), holds_us=time.microseconds(self._clock()))
        if self._served(connection, ref) is not None:
            keys = [each.key for each in entity_rows.of(connection, self._scope, [ref]).get(ref, ())]
            return keys, entity_graph.naming(connection, self._scope, keys, wanted, _NAMING) if keys else []
        key = names.key(ref) if "\0" not in ref else ""
        keys = list(entity_graph.known(connection, self._scope, [key]).values()) if key else []
        near = entity_graph.naming(connection, self._scope, keys, wanted, _NAMING) if keys else []
        return (keys, near) if near else ([], [])

    def _spelled(self, connection: sa.Connection, key: str, near: Sequence[str]) -> str:
        named = entity_rows.of(connection, self._scope, near[:_SPELLED])
        return next((each.name for all_named in named.values() for each in all_named if each.key == key), key)

    def _items(self, connection: sa.Connection, packed: Sequence[Packed]) -> list[dict[str, Any]]:
        named = entity_rows.of(connection, self._scope, [each.candidate.ref for each in packed])
        return [item(each, [one.name for one in named.get(each.candidate.ref, ())]) for each in packed]


def whole(memory: Memory) -> Packed:
    """Return a memory that nobody searched for, with all of its text."""
    return Packed(Candidate(memory, natural(memory)), memory.content, 0)


def _invalid(field: str, wanted: str) -> InvalidInput:
    return InvalidInput(f"expand.{field}", f"{field}: {wanted}", {"field": field})
