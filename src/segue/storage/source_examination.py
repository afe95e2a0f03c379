"""The doctor's eyes on sources: records that are not what was read, memories of a source that is withheld."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import sqlalchemy as sa

from segue.storage.findings import Finding
from segue.storage.tables import memories, memory_sources, source_records, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

_SOURCES, _RECORDS, _SAID, _MEMORIES = sources.c, source_records.c, memory_sources.c, memories.c
_BATCH = 100


def examine(connection: sa.Connection, *, repair: bool) -> list[Finding]:
    """Return what is wrong with the snapshots of sources; with `repair` the next refresh reads damaged ones anew."""
    found = list(_withheld(connection))
    for scope_id, name in sorted(_damaged(connection)):
        if repair:
            _read_anew(connection, scope_id, name)
        text = f"the records of the source {name} are not what was read; `segue source refresh {name}` after a repair"
        found.append(Finding("doctor.source", text, repair))
    return found


def _damaged(connection: sa.Connection) -> set[tuple[str, str]]:
    """The sources with a record whose bytes have another hash."""
    query = sa.select(_RECORDS.scope_id, _RECORDS.source, _RECORDS.sha256, _RECORDS.body)
    with connection.execute(query.execution_options(yield_per=_BATCH)) as rows:
        return {(row.scope_id, row.source) for row in rows if not _is_whole(row.body, row.sha256)}


def _is_whole(body: object, digest: object) -> bool:
    if not isinstance(body, bytes | memoryview):  # SQLite takes any type in any column
        return False
    return hashlib.sha256(body).hexdigest() == digest


def _read_anew(connection: sa.Connection, scope_id: str, name: str) -> None:
    """Let nothing of a snapshot be taken for what is there still."""
    forgotten = {"etag": "", "last_modified": ""}
    mine = _SOURCES.scope_id == scope_id, _SOURCES.name == name
    connection.execute(sa.update(sources).where(*mine).values(digest="", **forgotten))
    theirs = _RECORDS.scope_id == scope_id, _RECORDS.source == name
    connection.execute(sa.update(source_records).where(*theirs).values(**forgotten))


def _withheld(connection: sa.Connection) -> Iterator[Finding]:
    said = sa.exists().where(
        _SAID.scope_id == _SOURCES.scope_id,
        _SAID.source == "source:" + _SOURCES.name,
        _MEMORIES.scope_id == _SAID.scope_id,
        _MEMORIES.id == _SAID.memory_id,
        _MEMORIES.identity == _SAID.identity,  # what a person has written anew is his own
    )
    query = sa.select(_SOURCES.name).where(_SOURCES.withheld, said).order_by(_SOURCES.name)
    for name in connection.execute(query).scalars():
        text = f"the source {name} is withheld, and memories of it are there; `segue source refresh {name}`, or `rm` it"
        yield Finding("doctor.source", text)
