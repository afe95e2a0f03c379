"""Lists of packets, newest first: by project, by tag, by time, by the words that packets hold.

A list is read from whichever index has least to go through, so that a page takes about as long in a large scope as in
a small one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from segue.base import search_words
from segue.storage import packet_words
from segue.storage.packet_lines import COLUMNS, among, with_tags
from segue.storage.tables import packet_projects, packet_tags, packets
from segue.storage.tables import packet_words as word_rows

if TYPE_CHECKING:
    from segue.base.search_words import Needle, Probe
    from segue.storage.packet_lines import Listed

_COLUMNS = packets.c
_FEW = 5_000  # entries of an index that are put in order for each page
_FEW_SPELLINGS = 8

Position = tuple[int, str]  # when a packet was made, in microseconds, and its id


@dataclass(frozen=True, slots=True)
class Filter:
    """What a list shows: packets of any of `projects` (names, refs or keys); with the `tag`; between two instants in
    microseconds; in which words begin with each of `words`; that continue `parent`.
    """

    projects: tuple[str, ...] = ()
    tag: str | None = None
    since_us: int | None = None
    until_us: int | None = None
    words: tuple[str, ...] = ()
    parent: str | None = None


def listed(
    connection: sa.Connection, scope_id: str, wanted: Filter, limit: int, after: Position | None = None
) -> list[Listed]:
    """Return up to `limit` packets, newest first, beginning behind the position `after`."""
    needles = [needle for needle in map(search_words.needle, wanted.words) if needle is not None]
    if wanted.words and not needles:
        return []  # signs alone: no word begins with them
    search = _Search(connection, scope_id, wanted, needles)
    probes = search.narrowest()
    rows = search.walked(limit, after) if probes is None else search.picked(probes, limit, after)
    return with_tags(connection, scope_id, rows)


class _Search:
    """One list of one scope."""

    def __init__(self, connection: sa.Connection, scope_id: str, wanted: Filter, needles: list[Needle]) -> None:
        self._connection = connection
        self._scope = scope_id
        self._wanted = wanted
        self._needles = needles
        self._probes = list(dict.fromkeys(probe for needle in needles for probe in needle.probes))

    def narrowest(self) -> list[Probe] | None:
        """What to pick packets by; None where they are better gone through in the order of the list."""
        counted = [(self._count(probe), probe) for probe in self._probes]
        number, best = min(counted, key=lambda each: each[0], default=(0, None))
        if best is None or self._is_shorter_list(number):
            return None
        if number <= _FEW:
            return [best] if number <= _FEW // 10 else self._spelled(best) or [best]
        return next(filter(None, map(self._spelled, self._probes)), None)

    def _spelled(self, probe: Probe) -> list[Probe]:
        """Whole words for a probe, whose rows lie in the order of the list; nothing where they are many."""
        if not probe.begins:
            return [probe]
        words = packet_words.spellings(self._connection, self._scope, probe, _FEW_SPELLINGS + 1)
        return [replace(probe, word=word, begins=False) for word in words] if len(words) <= _FEW_SPELLINGS else []

    def _count(self, probe: Probe) -> int:
        return packet_words.count(self._connection, self._scope, probe, _FEW + 1)

    def _is_shorter_list(self, number: int) -> bool:
        """Whether the list of the wanted tag, or of the projects, has fewer entries than `number`."""
        wanted = self._wanted
        of_tag = packet_tags.c.tag == wanted.tag
        of_project = packet_projects.c.project.in_(wanted.projects)
        for table, condition, asked in (
            (packet_tags, of_tag, wanted.tag is not None),
            (packet_projects, of_project, bool(wanted.projects)),
        ):
            if asked:
                entries = sa.select(sa.literal(1)).where(table.c.scope_id == self._scope, condition).limit(number)
                query = sa.select(sa.func.count()).select_from(entries.subquery())
                if self._connection.execute(query).scalar_one() < number:
                    return True
        return False

    # -- picked by words ---------------------------------------------------------------------------------------------

    def picked(self, probes: list[Probe], limit: int, after: Position | None) -> list[sa.Row[Any]]:
        """Rows of packets that the index names for any of `probes`."""
        found: list[sa.Row[Any]] = []
        number = 2 * limit
        while True:
            places = self._places(probes, number, after)
            rows = self._rows(self._listed([packet_id for _, packet_id in places]))
            found += (rows[packet_id] for _, packet_id in places if packet_id in rows)
            if len(found) >= limit or len(places) < number:
                return found[:limit]
            after, number = places[-1], min(4 * number, _FEW)

    def _places(self, probes: list[Probe], number: int, after: Position | None) -> list[Position]:
        """Up to `number` positions behind `after`, newest first."""
        created_us, packet_id = word_rows.c.created_us, word_rows.c.packet_id
        query = sa.select(created_us, packet_id).distinct().where(word_rows.c.scope_id == self._scope)
        query = query.where(*self._when(created_us))
        if after is not None:
            query = query.where(sa.tuple_(created_us, packet_id) < sa.tuple_(*after))
        query = query.order_by(created_us.desc(), packet_id.desc()).limit(number)
        found = {
            (row.created_us, row.packet_id)
            for probe in probes
            for row in self._connection.execute(query.where(packet_words.matches(probe)))
        }
        return sorted(found, reverse=True)[:number]

    def _listed(self, packet_ids: list[str]) -> list[str]:
        """Those of the packets that are in the lists of the wanted tag and projects."""
        wanted, tags, projects = self._wanted, packet_tags.c, packet_projects.c
        if wanted.tag is not None:
            packet_ids = self._among(tags.packet_id, packet_ids, tags.scope_id, tags.tag == wanted.tag)
        if wanted.projects:
            one_of = projects.project.in_(wanted.projects)
            packet_ids = self._among(projects.packet_id, packet_ids, projects.scope_id, one_of)
        return packet_ids

    def _among(
        self,
        column: sa.Column[str],
        packet_ids: list[str],
        scope_id: sa.Column[str],
        condition: sa.ColumnElement[bool],
    ) -> list[str]:
        query = sa.select(column).where(scope_id == self._scope, among(self._connection, column, packet_ids), condition)
        return list(self._connection.execute(query).scalars()) if packet_ids else []

    def _rows(self, packet_ids: list[str]) -> dict[str, sa.Row[Any]]:
        if not packet_ids:
            return {}
        query: sa.Select[Any] = sa.select(*COLUMNS).where(_COLUMNS.scope_id == self._scope, *self._held())
        query = query.where(among(self._connection, _COLUMNS.id, packet_ids))
        return {row.id: row for row in self._connection.execute(query)}

    # -- gone through in order ---------------------------------------------------------------------------------------

    def walked(self, limit: int, after: Position | None) -> list[sa.Row[Any]]:
        """Rows in the order of the list of a project or a tag, else of all packets."""
        wanted = self._wanted
        query = sa.select(*COLUMNS)
        created_us, packet_id = _COLUMNS.created_us, _COLUMNS.id
        source = packet_projects if wanted.projects else packet_tags if wanted.tag is not None else None
        if source is None:
            query = query.where(_COLUMNS.scope_id == self._scope)
        else:
            mine = sa.and_(_COLUMNS.scope_id == source.c.scope_id, _COLUMNS.id == source.c.packet_id)
            query = query.select_from(source.join(packets, mine)).where(source.c.scope_id == self._scope)
            if len(wanted.projects) > 1:
                query = query.distinct()  # a packet can be listed under several of them
            else:
                created_us, packet_id = source.c.created_us, source.c.packet_id
        if wanted.projects:
            query = query.where(packet_projects.c.project.in_(wanted.projects))
            query = query.where(*([self._is_tagged(packet_id)] if wanted.tag is not None else []))
        elif wanted.tag is not None:
            query = query.where(packet_tags.c.tag == wanted.tag)
        query = query.where(*self._when(created_us), *self._held())
        if after is not None:
            query = query.where(sa.tuple_(created_us, packet_id) < sa.tuple_(*after))
        return list(self._connection.execute(query.order_by(created_us.desc(), packet_id.desc()).limit(limit)))

    # -- conditions --------------------------------------------------------------------------------------------------

    def _when(self, created_us: sa.ColumnElement[int]) -> list[sa.ColumnElement[bool]]:
        since_us, until_us = self._wanted.since_us, self._wanted.until_us
        conditions = [] if since_us is None else [created_us >= since_us]
        return conditions if until_us is None else [*conditions, created_us < until_us]

    def _held(self) -> list[sa.ColumnElement[bool]]:
        """What is seen in a packet's row alone."""
        held = [_COLUMNS.search_text.contains(needle.text, autoescape=True) for needle in self._needles]
        return held if self._wanted.parent is None else [*held, _COLUMNS.parent_id == self._wanted.parent]

    def _is_tagged(self, packet_id: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
        tags = packet_tags.c
        return sa.exists(tags.packet_id).where(
            tags.scope_id == self._scope, tags.packet_id == packet_id, tags.tag == self._wanted.tag
        )
