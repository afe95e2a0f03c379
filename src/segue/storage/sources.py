"""Rows of sources: what a scope reads of others, and the newest snapshot of each, whole."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal

import orjson
import sqlalchemy as sa

from segue.base import time
from segue.storage import bulk
from segue.storage.tables import source_records, sources

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

Kind = Literal["local", "https"]

_COLUMNS = sources.c
_RECORDS = source_records.c
_BATCH = 100  # records that are read at a time: each may have 256 KiB
_LIGHT = [each for each in _COLUMNS if each.name != "manifest"]


@dataclass(frozen=True, slots=True)
class Export:
    """A file of another tool that a source's records were written to; `target` names the tool.

    `made` says that there was no such file before.
    """

    target: str
    path: str
    made: bool = False

    def to_json(self) -> dict[str, str]:
        """Return `{"to", "path"}`."""
        return {"to": self.target, "path": self.path}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSource:
    """A source as it is known: `place` is its folder or address, `source_id` tells it from an earlier one of its name.

    `revision` counts from 1 what was written of it. `fault` is the code of why the last attempt failed, "" where it did
    not; `withheld` says that access was refused, so that nothing of it is used. `digest` is that of its snapshot
    (`sha256:` and 64 hex digits), which was read last at `refreshed_at` and says what it says since `changed_at`.
    """

    name: str
    source_id: str
    kind: Kind
    place: str
    title: str
    revision: int
    added_at: datetime
    attempted_at: datetime
    refreshed_at: datetime
    changed_at: datetime
    fault: str = ""
    fault_message: str = ""
    withheld: bool = False
    digest: str = ""
    exports: tuple[Export, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """One record of a snapshot: its bytes as they came, and what a server said of them."""

    id: str
    path: str
    sha256: str
    etag: str
    last_modified: str
    body: bytes


@dataclass(frozen=True, slots=True)
class StoredManifest:
    """The manifest of a snapshot."""

    body: bytes
    etag: str = ""
    last_modified: str = ""


def get(connection: sa.Connection, scope_id: str, name: str) -> StoredSource | None:
    """Return the source of that name, None where the scope has none."""
    row = connection.execute(sa.select(*_LIGHT).where(*_is(scope_id, name))).one_or_none()
    return None if row is None else _stored(row)


def at(connection: sa.Connection, scope_id: str, place: str) -> StoredSource | None:
    """Return the source that is read from a place, None where the scope has none."""
    query = sa.select(*_LIGHT).where(_COLUMNS.scope_id == scope_id, _COLUMNS.place == place)
    row = connection.execute(query.order_by(_COLUMNS.name).limit(1)).one_or_none()
    return None if row is None else _stored(row)


def listed(connection: sa.Connection, scope_id: str) -> list[StoredSource]:
    """Return the sources of a scope, by name."""
    query = sa.select(*_LIGHT).where(_COLUMNS.scope_id == scope_id).order_by(_COLUMNS.name)
    return [_stored(row) for row in connection.execute(query)]


def counts(connection: sa.Connection, scope_id: str) -> dict[str, int]:
    """Return how many records each source has; those without any are left out."""
    query = sa.select(_RECORDS.source, sa.func.count()).where(_RECORDS.scope_id == scope_id).group_by(_RECORDS.source)
    return {row[0]: row[1] for row in connection.execute(query)}


def insert(connection: sa.Connection, scope_id: str, source: StoredSource, manifest: StoredManifest) -> None:
    """Add a source; its name must be free in the scope."""
    values = {"scope_id": scope_id, **_values(source), **_manifest_values(manifest)}
    connection.execute(sa.insert(sources).values(values))


def put(
    connection: sa.Connection, scope_id: str, source: StoredSource, manifest: StoredManifest | None = None
) -> StoredSource:
    """Write what became of a source that is there, as its next revision; return it so. None leaves the manifest."""
    written = replace(source, revision=source.revision + 1)
    values = _values(written) | ({} if manifest is None else _manifest_values(manifest))
    connection.execute(sa.update(sources).where(*_is(scope_id, source.name)).values(values))
    return written


def note(connection: sa.Connection, scope_id: str, source: StoredSource) -> None:
    """Write what is noted about a source without a new revision: attempts that failed, and where it was exported to."""
    connection.execute(sa.update(sources).where(*_is(scope_id, source.name)).values(_values(source)))


def delete(connection: sa.Connection, scope_id: str, name: str) -> None:
    """Remove a source with its snapshot."""
    connection.execute(sa.delete(sources).where(*_is(scope_id, name)))


def manifest(connection: sa.Connection, scope_id: str, name: str) -> StoredManifest:
    """Return the manifest of a source that is there."""
    query = sa.select(_COLUMNS.manifest, _COLUMNS.etag, _COLUMNS.last_modified)
    row = connection.execute(query.where(*_is(scope_id, name))).one()
    return StoredManifest(bytes(row.manifest), row.etag, row.last_modified)


def records(connection: sa.Connection, scope_id: str, name: str) -> Iterator[StoredRecord]:
    """Yield the records of a source in the order of its manifest."""
    query = sa.select(source_records).where(_RECORDS.scope_id == scope_id, _RECORDS.source == name)
    with connection.execute(query.order_by(_RECORDS.position).execution_options(yield_per=_BATCH)) as rows:
        for row in rows:
            yield StoredRecord(row.record_id, row.path, row.sha256, row.etag, row.last_modified, bytes(row.body))


def record(connection: sa.Connection, scope_id: str, name: str, record_id: str) -> StoredRecord | None:
    """Return one record of a source, None where it has none of that id."""
    mine = (_RECORDS.scope_id == scope_id, _RECORDS.source == name, _RECORDS.record_id == record_id)
    row = connection.execute(sa.select(source_records).where(*mine)).one_or_none()
    if row is None:
        return None
    return StoredRecord(row.record_id, row.path, row.sha256, row.etag, row.last_modified, bytes(row.body))


def hashes(connection: sa.Connection, scope_id: str, name: str) -> dict[str, str]:
    """Return the SHA-256 of each record of a source, by id."""
    query = sa.select(_RECORDS.record_id, _RECORDS.sha256)
    rows = connection.execute(query.where(_RECORDS.scope_id == scope_id, _RECORDS.source == name))
    return {row.record_id: row.sha256 for row in rows}


def validators(connection: sa.Connection, scope_id: str, name: str) -> dict[str, tuple[str, str]]:
    """Return what a server said of each record of a source, by its path: its etag and its time of change."""
    query = sa.select(_RECORDS.path, _RECORDS.etag, _RECORDS.last_modified)
    rows = connection.execute(query.where(_RECORDS.scope_id == scope_id, _RECORDS.source == name))
    return {row.path: (row.etag, row.last_modified) for row in rows}


def put_records(connection: sa.Connection, scope_id: str, name: str, snapshot: Sequence[StoredRecord]) -> None:
    """Write the records of a snapshot in the place of those before."""
    connection.execute(sa.delete(source_records).where(_RECORDS.scope_id == scope_id, _RECORDS.source == name))
    for start in range(0, len(snapshot), _BATCH):
        rows = [
            {
                "scope_id": scope_id,
                "source": name,
                "record_id": each.id,
                "position": position,
                "path": each.path,
                "sha256": each.sha256,
                "etag": each.etag,
                "last_modified": each.last_modified,
                "body": each.body,
            }
            for position, each in enumerate(snapshot[start : start + _BATCH], start)
        ]
        bulk.insert(connection, source_records, rows)


def _is(scope_id: str, name: str) -> tuple[sa.ColumnElement[bool], ...]:
    return _COLUMNS.scope_id == scope_id, _COLUMNS.name == name


def _values(source: StoredSource) -> dict[str, Any]:
    values: dict[str, Any] = {each.name: getattr(source, each.name) for each in fields(source)}
    for name in ("added", "attempted", "refreshed", "changed"):
        values[f"{name}_us"] = time.microseconds(values.pop(f"{name}_at"))
    values["exports"] = orjson.dumps([[each.target, each.path, each.made] for each in source.exports]).decode()
    return values


def _manifest_values(manifest: StoredManifest) -> dict[str, Any]:
    return {"manifest": manifest.body, "etag": manifest.etag, "last_modified": manifest.last_modified}


def _stored(row: sa.Row[Any]) -> StoredSource:
    return StoredSource(
        name=row.name,
        source_id=row.source_id,
        kind=row.kind,
        place=row.place,
        title=row.title,
        revision=row.revision,
        added_at=time.from_microseconds(row.added_us),
        attempted_at=time.from_microseconds(row.attempted_us),
        refreshed_at=time.from_microseconds(row.refreshed_us),
        changed_at=time.from_microseconds(row.changed_us),
        fault=row.fault,
        fault_message=row.fault_message,
        withheld=row.withheld,
        digest=row.digest,
        exports=tuple(Export(*each) for each in orjson.loads(row.exports)),
    )
