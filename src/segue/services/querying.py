"""Precise questions: the query language and its pages (specification, section 6). The way on is `expanding`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from segue.base.errors import InvalidInput
from segue.context import query as language
from segue.context.candidate import Candidate, Packed
from segue.context.layers import natural
from segue.memories.filter import Filter
from segue.search import entities as names
from segue.services import answers
from segue.services.answers import Answer, Asked, Line
from segue.services.expanding import Expanding
from segue.services.filters import filtered
from segue.services.gathering import known_then
from segue.storage import memories as rows
from segue.storage import memory_entities as entity_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    import sqlalchemy as sa

    from segue.context.query import Query
    from segue.memories.memory import Memory
    from segue.services.context import Context
    from segue.services.projects import Project
    from segue.services.search import Hit, Hits, Search
    from segue.storage.database import Database

__all__ = ["Answer", "Queries"]


class Queries(Expanding):
    """Answers queries over the memories of one scope. A query that has more pages is kept for an hour."""

    def __init__(
        self,
        database: Database,
        scope_id: str,
        *,
        project: Callable[[], Project],
        clock: Callable[[], datetime],
        search: Search,
        context: Context,
        actor: str = "local",
    ) -> None:
        super().__init__(database, scope_id, project=project, clock=clock, actor=actor)
        self._search = search
        self._context = context

    def query(self, given: Mapping[str, Any], *, most: int | None = None) -> Answer:
        """Return the first page of what a query finds (see `segue.context.query.parse`).

        `most` is how many characters the answer may take as JSON: a page that is longer ends earlier, and its cursor
        goes on from there. Raises InvalidInput `query.invalid`, `details` naming the field.
        """
        query = language.parse(dict(given) if isinstance(given, Mapping) else given)
        if not all(names.key(each) for each in query.entities):
            raise InvalidInput("query.invalid", "entities: names with a letter in them", {"field": "entities"})
        return self._answered(Asked(query), most)

    def more(self, cursor: str, *, most: int | None = None) -> Answer:
        """Return the page that `cursor` stands for. Raises InvalidInput `cursor.invalid`, also once it has expired."""
        body = self._kept(cursor)
        if "query" not in body:
            raise InvalidInput("cursor.invalid", "this cursor goes on with neighbours; give it to expand")
        return self._answered(Asked.from_json(body), most)

    def _answered(self, asked: Asked, most: int | None) -> Answer:
        return self._found(asked, most) if asked.query.mode == "find" else self._told(asked, most)

    def _page(self, asked: Asked, items: Sequence[dict[str, Any]], following: Asked | None, notes: Any) -> Answer:
        cursor, further = self._keep(following.to_json()) if following else (None, ())
        query, more = asked.query, following is not None
        notes = (*notes, *further)
        return Answer(query, tuple(items), asked.offset, asked.considered, asked.narrowed, cursor, more, notes)

    # -- find: what a search finds ------------------------------------------------------------------------------------

    def _found(self, asked: Asked, most: int | None) -> Answer:
        k = asked.query.k
        while True:
            found = self._searched(asked, k)
            with self._database.read() as connection:
                memories = self._as_known(connection, asked.query, [each.memory for each in found])
                packed = [_hit(hit, memories[hit.memory.id]) for hit in found]
                items = self._items(connection, packed)
            if asked.inner is None:
                asked = replace(asked, considered=found.considered, narrowed=found.narrowed)
            around = Answer(asked.query, (), asked.offset, asked.considered, asked.narrowed, None, notes=found.notes)
            shown = answers.fitting(items, most, around.to_json())
            if len(shown) == len(items):
                break
            k = len(shown)  # searched again, so that its cursor begins behind the last one that fits
        following = replace(asked, offset=asked.offset + len(shown), inner=found.cursor) if found.cursor else None
        return self._page(asked, shown, following, found.notes)

    def _searched(self, asked: Asked, k: int) -> Hits:
        query = asked.query
        with self._database.read() as connection:
            wanted = self._filters(connection, query)
        return self._search.find(
            query.text,
            k=k,
            as_of=query.at,
            cursor=asked.inner,
            valid_only=query.valid_only,
            minimum_relevance=query.min_relevance,
            counted=asked.inner is None,
            **wanted,
        )

    # -- ask: what a pack holds ---------------------------------------------------------------------------------------

    def _told(self, asked: Asked, most: int | None) -> Answer:
        query = asked.query
        notes: tuple[str, ...] = ()
        if asked.lines is None:
            pack = self._context.assemble(
                query.text, model=query.model, budget=query.budget_tokens, as_of=query.at
            ).pack
            notes = pack.notes
            lines = self._narrowed(query, pack.packed)
            asked = replace(asked, considered=len(pack.packed), narrowed=len(lines), lines=lines)
        with self._database.read() as connection:
            there = self._there(connection, asked)
            lines = tuple(each for each in asked.lines or () if each.ref in there)
            items = self._items(connection, [each.packed(there) for each in lines[: query.k]])
        around = Answer(query, (), asked.offset, asked.considered, asked.narrowed, None, notes=notes)
        shown = answers.fitting(items, most, around.to_json())
        left = lines[len(shown) :]
        following = replace(asked, offset=asked.offset + len(shown), lines=left) if left else None
        return self._page(asked, shown, following, notes)

    def _narrowed(self, query: Query, packed: Sequence[Packed]) -> tuple[Line, ...]:
        near = [each for each in packed if (each.candidate.relevance or 0) >= query.min_relevance]
        with self._database.read() as connection:
            wanted = filtered(self._project, **self._filters(connection, query))
            passing = rows.by_ids(connection, self._scope, [each.candidate.ref for each in near], wanted)
        return tuple(Line.of(each) for each in near if each.candidate.ref in passing)

    def _there(self, connection: sa.Connection, asked: Asked) -> dict[str, Memory]:
        """The memories of what is left of a pack, without those that were forgotten or replaced since."""
        refs = [ref for each in asked.lines or () for ref in each.refs]
        wanted = Filter(statuses=("active", "retired") if asked.query.as_of else ("active",))
        return self._as_known(connection, asked.query, rows.by_ids(connection, self._scope, refs, wanted).values())

    # -- what both need -----------------------------------------------------------------------------------------------

    def _filters(self, connection: sa.Connection, query: Query) -> dict[str, Any]:
        return {
            "layers": query.layers,
            "mentions": self._called(connection, query.entities),
            "minimum_assurance": query.min_trust or None,
        }

    def _called(self, connection: sa.Connection, given: Sequence[str]) -> list[str]:
        """Names, and the entities whose other names they are."""
        if not given:
            return []
        others = {each.alias: each.name for each in entity_rows.aliases(connection, self._scope)}
        return [*given, *(others[key] for each in given if (key := names.key(each)) in others)]

    def _as_known(self, connection: sa.Connection, query: Query, found: Any) -> dict[str, Memory]:
        """Memories by id, with the texts that they had at the time that is asked about."""
        there = {each.id: each for each in found}
        return there if query.at is None else known_then(connection, self._scope, there, query.at)


def _hit(hit: Hit, memory: Memory) -> Packed:
    why = {
        "retrievers": [each.retriever for each in hit.why],
        "matched_terms": sorted({term for each in hit.why for term in each.terms}),
        "fused_rank": hit.rank,
    }
    basis = cast("Any", hit.relevance_basis)
    return Packed(Candidate(memory, natural(memory), hit.relevance, basis, why), memory.content, 0)
