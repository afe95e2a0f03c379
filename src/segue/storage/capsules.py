"""Rows of capsules. A capsule is its text; its id follows from it, so the same capsule is one row."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from segue.base import time
from segue.capsules.identity import identity
from segue.storage.tables import capsules

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from segue.capsules import Capsule

PREFIX = "cap_"

_COLUMNS = capsules.c
_NEWEST_FIRST = (_COLUMNS.created_us.desc(), _COLUMNS.id.desc())


@dataclass(frozen=True, slots=True)
class StoredCapsule:
    """A capsule as it lies in the store.

    `created` is META's time; `origin` the id of the packet or capsule that it was made from, "" where none is known;
    `flagged` says that it was stored with findings, by its writer's choice.
    """

    id: str
    text: str
    topic: str
    seed: str
    hops: int
    created: datetime
    saved_at: datetime
    origin: str
    project_key: str
    flagged: bool

    def to_json(self) -> dict[str, Any]:
        """Return the capsule as JSON values, its times as RFC 3339."""
        times = {"created": time.to_text(self.created), "saved_at": time.to_text(self.saved_at)}
        return asdict(self) | times | {"origin": self.origin or None}


def derived(capsule: Capsule) -> dict[str, Any]:
    """Return the columns that follow from a capsule's text."""
    return {
        "topic": capsule.meta.topic,
        "seed": capsule.seed,
        "hops": capsule.chain.hops if capsule.chain else 0,
        "created_us": time.microseconds(time.parse(capsule.meta.timestamp.removesuffix("Z") + ":00Z")),
    }


def insert(
    connection: sa.Connection,
    scope_id: str,
    capsule: Capsule,
    text: str,
    *,
    now: datetime,
    origin: str,
    project_key: str,
    flagged: bool,
) -> None:
    """Add a capsule with the text that it was read from; its id must be free in its scope."""
    connection.execute(
        sa.insert(capsules).values(
            scope_id=scope_id,
            id=key_of(capsule),
            owner_id=scope_id,
            text=text,
            saved_us=time.microseconds(now),
            origin_id=origin or None,
            project_key=project_key,
            flagged=flagged,
            **derived(capsule),
        )
    )


def rewrite(connection: sa.Connection, scope_id: str, capsule_id: str, columns: Mapping[str, Any]) -> None:
    """Write columns of a capsule that do not follow from its text as they should."""
    connection.execute(sa.update(capsules).where(*_is(scope_id, capsule_id)).values(**columns))


def key_of(capsule: Capsule) -> str:
    """Return the id under which a capsule is stored: `cap_` and its identity."""
    return PREFIX + identity(capsule)


def set_origin(connection: sa.Connection, scope_id: str, capsule_id: str, origin: str) -> None:
    """Say what a stored capsule was made from."""
    connection.execute(sa.update(capsules).where(*_is(scope_id, capsule_id)).values(origin_id=origin))


def get(connection: sa.Connection, scope_id: str, capsule_id: str) -> StoredCapsule | None:
    """Return the capsule of that exact id, None where the scope has none."""
    row = connection.execute(sa.select(capsules).where(*_is(scope_id, capsule_id))).one_or_none()
    return None if row is None else _stored(row)


def delete(connection: sa.Connection, scope_id: str, capsule_id: str) -> bool:
    """Remove a capsule; return whether it was there."""
    return connection.execute(sa.delete(capsules).where(*_is(scope_id, capsule_id))).rowcount > 0


def with_ending(connection: sa.Connection, scope_id: str, ending: str, limit: int) -> list[str]:
    """Return up to `limit` ids of the scope that end in `ending`, in any case."""
    matches = sa.func.lower(_COLUMNS.id).endswith(ending.lower(), autoescape=True)
    query = sa.select(_COLUMNS.id).where(_COLUMNS.scope_id == scope_id, matches).order_by(_COLUMNS.id)
    return list(connection.execute(query.limit(limit)).scalars())


def listed(
    connection: sa.Connection,
    scope_id: str,
    limit: int,
    *,
    project_keys: tuple[str, ...] | None,
    after: tuple[int, str] | None,
) -> list[StoredCapsule]:
    """Return up to `limit` capsules, newest first, beginning behind the position `after` (created_us, id)."""
    query = sa.select(capsules).where(_COLUMNS.scope_id == scope_id)
    if project_keys is not None:
        query = query.where(_COLUMNS.project_key.in_(project_keys))
    if after is not None:
        query = query.where(sa.tuple_(_COLUMNS.created_us, _COLUMNS.id) < sa.tuple_(*after))
    return [_stored(row) for row in connection.execute(query.order_by(*_NEWEST_FIRST).limit(limit))]


def all_ids(connection: sa.Connection, scope_id: str) -> list[str]:
    """Return the ids of all capsules of the scope, the oldest first."""
    query = sa.select(_COLUMNS.id).where(_COLUMNS.scope_id == scope_id)
    return list(connection.execute(query.order_by(_COLUMNS.created_us, _COLUMNS.id)).scalars())


def _is(scope_id: str, capsule_id: str) -> tuple[sa.ColumnElement[bool], ...]:
    return _COLUMNS.scope_id == scope_id, _COLUMNS.id == capsule_id


def _stored(row: sa.Row[Any]) -> StoredCapsule:
    return StoredCapsule(
        id=row.id,
        text=row.text,
        topic=row.topic,
        seed=row.seed,
        hops=row.hops,
        created=time.from_microseconds(row.created_us),
        saved_at=time.from_microseconds(row.saved_us),
        origin=row.origin_id or "",
        project_key=row.project_key or "",
        flagged=row.flagged,
    )
