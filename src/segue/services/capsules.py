"""Capsules in the store, beside the packets that they were made from, and the redactor before they travel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from segue import capsules as parts
from segue.base import jsontext, time
from segue.base.errors import InvalidInput
from segue.base.remotes import remote_key
from segue.capsules.rules import validated
from segue.capsules.travel import require_clean
from segue.services import paging
from segue.services.scoped import ScopedService
from segue.storage import capsules as rows
from segue.storage import events
from segue.storage import packets as packet_rows

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    import sqlalchemy as sa

    from segue.base.redaction import Finding
    from segue.capsules import Capsule
    from segue.storage.capsules import StoredCapsule


@dataclass(frozen=True, slots=True)
class SavedCapsule:
    """What a save did: `outcome` is created, linked (to an origin, later) or unchanged."""

    capsule: StoredCapsule
    outcome: str
    findings: list[Finding]


@dataclass(frozen=True, slots=True)
class CapsulePage:
    """Part of a list, newest first; `cursor` continues it, None at its end."""

    capsules: list[StoredCapsule]
    cursor: str | None

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue capsule ls --json`."""
        return {"capsules": [each.to_json() for each in self.capsules], "cursor": self.cursor}


class Capsules(ScopedService):
    """The capsules of one scope. Every method is one transaction; ids may be shortened to an unambiguous ending."""

    def save(self, source: Capsule | str | bytes, *, origin: str = "", allow_unredacted: bool = False) -> SavedCapsule:
        """Store a capsule. `origin` names the packet or capsule that it was made from, by its id or an ending of it.

        A text is kept as it was given. The same capsule twice is one capsule; the first origin that is named stays.
        Raises InvalidInput `capsule.C…`, NotFound `origin.not_found`, RedactionRefused `capsule.redaction`
        unless `allow_unredacted`.
        """
        capsule, text = _checked(source)
        found = require_clean(capsule, allow_unredacted=allow_unredacted)
        key, now, project = rows.key_of(capsule), self._clock(), self._project().key
        remembering = self._prepared()
        with self._database.write(self._scope) as connection:
            named = self._origin(connection, origin) if origin else ""
            if named == key:  # nothing is made from itself
                named = ""
            existing = rows.get(connection, self._scope, key)
            linked = existing is not None and named and not existing.origin
            if existing is None:
                flagged = bool(found)
                rows.insert(
                    connection, self._scope, capsule, text, now=now, origin=named, project_key=project, flagged=flagged
                )
                self._note(connection, "capsule.saved", key, now, {"origin": named, "flagged": flagged})
            elif linked:
                rows.set_origin(connection, self._scope, key, named)
                self._note(connection, "capsule.linked", key, now, {"origin": named})
            stored = self._find(connection, key)
            if remembering is not None and existing is None:
                remembering.kept(connection, capsule)
        return SavedCapsule(stored, "linked" if linked else "unchanged" if existing else "created", found)

    def _origin(self, connection: sa.Connection, given: str) -> str:
        """The full id of the packet or capsule that a person names. Raises NotFound `origin.not_found`, Ambiguous."""

        def known(each: str) -> bool:
            packet = packet_rows.known(connection, self._scope, [each])
            return bool(packet) or rows.get(connection, self._scope, each) is not None

        def endings(ending: str, limit: int) -> list[str]:
            packets = packet_rows.with_ending(connection, self._scope, ending, limit)
            return packets + rows.with_ending(connection, self._scope, ending, limit)

        return paging.resolve(given, "origin", "`segue ls` and `segue capsule ls`", known, endings, "packet or capsule")

    def get(self, capsule_id: str) -> StoredCapsule:
        """Return a capsule. Raises NotFound `capsule.not_found`, Ambiguous `capsule.ambiguous`."""
        with self._database.read() as connection:
            return self._find(connection, capsule_id)

    def rm(self, capsule_id: str) -> str:
        """Remove a capsule for good, with the memories that nothing else says, and return its full id.

        An ending must have at least four characters here.

        Raises NotFound, Ambiguous, InvalidInput `capsule.short_id`.
        """
        paging.require_long_enough(capsule_id, "capsule")
        remembering = self._prepared()
        with self._database.write(self._scope) as connection:
            full = self._find(connection, capsule_id).id
            rows.delete(connection, self._scope, full)
            self._note(connection, "capsule.deleted", full, self._clock())
            if remembering is not None:
                remembering.gone(connection, "capsule", full.removeprefix(rows.PREFIX))
        return full

    def ls(
        self, *, project: str | None = None, limit: int = paging.DEFAULT_LIMIT, cursor: str | None = None
    ) -> CapsulePage:
        """Return capsules, newest first.

        `project` leaves those that were saved in one project: "." this one, else its ref in any spelling, or its key.
        `limit` is 1 to 500. Raises InvalidInput `limit.invalid`, `cursor.invalid`, `filter.invalid`.
        """
        keys = None if project is None else self._keys(project)
        with self._database.read() as connection:
            found, following = paging.page(
                connection,
                ["capsules", self._scope, keys],
                limit,
                cursor,
                lambda number, after: rows.listed(connection, self._scope, number, project_keys=keys, after=after),
                lambda each: (time.microseconds(each.created), each.id),
            )
        return CapsulePage(found, following)

    def _keys(self, project: str) -> tuple[str, ...]:
        if project == ".":
            return self._project().keys
        remote = remote_key(project)
        if "\0" in project or not jsontext.is_unicode(project) or (remote is None and ":" not in project):
            raise InvalidInput("filter.invalid", "project: give . for this one, or a repository: github.com/acme/app")
        return (project,) if remote is None else (project, remote)  # `set:app` reads as a key, and as an address

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
        full = paging.resolve(
            given,
            "capsule",
            "`segue capsule ls`",
            lambda each: rows.get(connection, self._scope, each) is not None,
            lambda ending, limit: rows.with_ending(connection, self._scope, ending, limit),
        )
        found = rows.get(connection, self._scope, full)
        assert found is not None  # noqa: S101 - one transaction sees one state
        return found


def _checked(source: Capsule | str | bytes) -> tuple[Capsule, str]:
    """Return a capsule and its text. A value may be one whose canonical text is too long, which its file was not."""
    if isinstance(source, parts.Capsule):
        return parts.parse(validated(source).text), source.text
    return parts.parse(source), source if isinstance(source, str) else source.decode("ascii")
