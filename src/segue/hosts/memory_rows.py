"""What hooks read of the memories in an embedded store: as `segue.storage.memories` reads them, by plain SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segue.hosts.embedded import legible
from segue.storage import fates, memory_row

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from segue.hosts.embedded import Embedded
    from segue.memories.memory import Memory
    from segue.storage.fates import Fates

MOST_PENDING = 1_000  # counted
_BATCH = 500
# Of this project, or of none; begun by then, and neither over nor retired.
_IN_PROJECT = "(project_key = :project OR project_key IS NULL)"
_HOLDING = (
    f"{_IN_PROJECT} AND (valid_from_us IS NULL OR valid_from_us <= :at)"
    " AND (valid_to_us IS NULL OR valid_to_us > :at) AND (retired_us IS NULL OR retired_us > :at)"
)
_NEWEST = (
    f"SELECT captured_us, id FROM memories WHERE scope_id = :scope AND status = 'active' AND {_HOLDING}"  # noqa: S608 - ours
    " ORDER BY captured_us DESC, id DESC LIMIT :most"
)
_NEWEST_OF_KIND = _NEWEST.replace(" ORDER BY", " AND kind = :kind ORDER BY")
_PENDING = (
    "SELECT count(*) FROM (SELECT 1 FROM memories WHERE scope_id = :scope AND status = 'pending'"  # noqa: S608 - ours
    f" AND {_IN_PROJECT} LIMIT :most)"
)
_BY_IDS = f"SELECT * FROM memories WHERE scope_id = :scope AND id IN (%s) AND {_HOLDING}"  # noqa: S608 - ours
_LINKS = "SELECT id, status, superseded_by FROM memories WHERE scope_id = :scope AND id IN (%s) AND status <> 'pending'"


def newest(store: Embedded, project: str, at_us: int, most: int, kind: str = "") -> list[tuple[int, str]]:
    """Return when up to `most` active memories that hold were captured, and their ids, newest first.

    `project` is a folded name: memories of other projects are left out. `kind` "" asks for all.
    """
    statement = _NEWEST_OF_KIND if kind else _NEWEST
    return [(row[0], row[1]) for row in store.rows(statement, project=project, at=at_us, most=most, kind=kind)]


def by_ids(store: Embedded, project: str, at_us: int, memory_ids: Sequence[str]) -> dict[str, Memory]:
    """Return those of the memories that are active, hold and are not another project's, by id."""
    found: dict[str, Memory] = {}
    for marks, values in _batches(memory_ids):
        rows = store.rows(_BY_IDS % marks, project=project, at=at_us, **values)
        with legible():
            memories = [memory_row.stored(row) for row in rows]
        # Asked for in the query, SQLite would go by the status.
        found |= {each.id: each for each in memories if each.status == "active"}
    return found


def pending(store: Embedded, project: str) -> int:
    """Return how many memories wait for review, counted up to 1,000."""
    return int(store.rows(_PENDING, project=project, most=MOST_PENDING)[0][0])


def became(store: Embedded, memory_ids: Collection[str]) -> Fates:
    """Return what became of memories that a session was told of."""
    return fates.traced(memory_ids, lambda some: _links(store, some))


def _links(store: Embedded, memory_ids: Collection[str]) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for marks, values in _batches(sorted(memory_ids)):
        for memory_id, status, above in store.rows(_LINKS % marks, **values):
            found[memory_id] = None if status == "active" else above or ""
    return found


def _batches(memory_ids: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the marks and the values of lists that one query takes."""
    for start in range(0, len(memory_ids), _BATCH):
        values = {f"id{place}": each for place, each in enumerate(memory_ids[start : start + _BATCH])}
        yield ", ".join(f":{name}" for name in values), values
