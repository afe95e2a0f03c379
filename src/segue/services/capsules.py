"""Capsules in the store, beside the packets that they were made from, and the redactor before they travel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from segue import capsules as parts
from segue.base import cursors, ids, time
from segue.base.errors import Ambiguous, InvalidInput, NotFound
from segue.capsules.travel import require_clean
from segue.services.packets import DEFAULT_LIMIT, MAX_LIMIT
from segue.storage import capsules as rows
from segue.storage import events, settings
from segue.storage.database import lock_scope

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    import sqlalchemy as sa

    from segue.base.redaction import Finding
    from segue.capsules import Capsule
    from segue.services.projects import Project
    from segue.storage.capsules import StoredCapsule
    from segue.storage.database import Database

_SHOWN_MATCHES = 5


@dataclass(frozen=True, slots=True)
class SavedCapsule:
    """What a save did: `outcome` is created or unchanged."""

    capsule: StoredCapsule
    outcome: str
    findings: list[Finding]


@dataclass(frozen=True, slots=True)
class CapsulePage:
    """Part of a list, newest first; `cursor` continues it, None at its end."""

    capsules: list[StoredCapsule]
    cursor: str | None


class Capsules:
    """The capsules of one scope. Every method is one transaction; ids may be shortened to an unambiguous ending."""

    def __init__(
        self,
        database: Database,
        scope_id: str,
        *,
        project: Callable[[], Project],
        clock: Callable[[], datetime],
        actor: str = "local",
    ) -> None:
        self._database = database
        self._scope = scope_id
        self._project = project
        self._clock = clock
        self._actor = actor

    def save(self, source: Capsule | str | bytes, *, origin: str = "", allow_unredacted: bool = False) -> SavedCapsule:
        """Store a capsule. `origin` is the full id of the packet or capsule that it was made from.

        Raises InvalidInput `capsule.C…`, RedactionRefused unless `allow_unredacted`.
        """
        capsule = source if isinstance(source, parts.Capsule) else parts.parse(source)
        found = require_clean(capsule, allow_unredacted=allow_unredacted)
        key, now, project = rows.key_of(capsule), self._clock(), self._project().key
        with self._database.write() as connection:
            lock_scope(connection, self._scope)
            existing = rows.get(connection, self._scope, key)
            if existing is None:
                rows.insert(
                    connection,
                    self._scope,
                    capsule,
                    now=now,
                    origin=origin,
                    project_key=project,
                    flagged=bool(found),
                )
                details = {"origin": origin, "flagged": bool(found)}
                events.append(
                    connection, self._scope, "capsule.saved", key, actor=self._actor, now=now, details=details
                )
            elif origin and not existing.origin:
                rows.set_origin(connection, self._scope, key, origin)
            stored = self._find(connection, key)
        return SavedCapsule(stored, "unchanged" if existing else "created", found)

    def get(self, capsule_id: str) -> StoredCapsule:
        """Return a capsule. Raises NotFound `capsule.not_found`, Ambiguous `capsule.ambiguous`."""
        with self._database.read() as connection:
            return self._find(connection, capsule_id)

    def rm(self, capsule_id: str) -> str:
        """Remove a capsule for good and return its full id. Raises NotFound, Ambiguous."""
        with self._database.write() as connection:
            lock_scope(connection, self._scope)
            full = self._find(connection, capsule_id).id
            rows.delete(connection, self._scope, full)
            self._note(connection, "capsule.deleted", full, self._clock())
        return full

    def ls(self, *, project: str | None = None, limit: int = DEFAULT_LIMIT, cursor: str | None = None) -> CapsulePage:
        """Return capsules, newest first; with `project` "." only those that were saved in this project.

        Raises InvalidInput `limit.invalid`, `cursor.invalid`.
        """
        if not 1 <= limit <= MAX_LIMIT:
            raise InvalidInput("limit.invalid", f"limit must be between 1 and {MAX_LIMIT}, not {limit}")
        key = self._project().key if project == "." else None
        query = ["capsules", self._scope, key]
        with self._database.read() as connection:
            signing = bytes.fromhex(settings.get(connection, "key") or "")
            after = None
            if cursor is not None:
                created_us, capsule_id = cursors.decode(cursor, query, signing)
                after = (int(created_us), str(capsule_id))
            found = rows.listed(connection, self._scope, limit + 1, project_key=key, after=after)
        more = found[limit - 1] if len(found) > limit else None
        if more is None:
            return CapsulePage(found, None)
        return CapsulePage(found[:limit], cursors.encode([time.microseconds(more.created), more.id], query, signing))

    def _note(
        self,
        connection: sa.Connection,
        kind: str,
        capsule_id: str,
        now: datetime,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        events.append(connection, self._scope, kind, capsule_id, actor=self._actor, now=now, details=details)

    def _find(self, connection: sa.Connection, given: str) -> StoredCapsule:
        found = rows.get(connection, self._scope, given)
        if found is not None:
            return found
        ending = ids.unshortened(given)
        matches = rows.with_ending(connection, self._scope, ending, _SHOWN_MATCHES + 1) if ending else []
        if len(matches) > 1:
            raise Ambiguous(
                "capsule.ambiguous",
                f"more than one capsule ends in that: {', '.join(matches[:_SHOWN_MATCHES])}",
                {"matches": matches},
            )
        found = rows.get(connection, self._scope, matches[0]) if matches else None
        if found is None:
            raise NotFound("capsule.not_found", "no capsule has that id, or ends in it; see `segue capsule ls`")
        return found
