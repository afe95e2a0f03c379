"""What is kept of an answer that has more pages: for an hour, for its caller, under a signed cursor (decision M8)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from segue.base import cursors, jsontext, redaction
from segue.base.errors import InvalidInput
from segue.services.scoped import ScopedService
from segue.storage import kept_queries, settings

PREFIX = "mqlc:"
KEPT = timedelta(hours=1)
HELD_BACK = "there is more, but the query holds what must not be kept, so it has no cursor"
NO_CURSOR = "there is more, but this store cannot be written, so it has no cursor"


class Keeping(ScopedService):
    """Keeps what a next page is made from. No text of a memory is kept."""

    def _keep(self, body: dict[str, Any]) -> tuple[str | None, tuple[str, ...]]:
        """Keep a next page and return its cursor; None and a note where the store takes nothing."""
        if self._database.read_only:
            return None, (NO_CURSOR,)
        text = jsontext.dump(body).decode()
        if redaction.credentials("query", text):
            return None, (HELD_BACK,)
        with self._database.write(self._scope) as connection:
            now = self._clock()
            kept_id = kept_queries.keep(connection, self._scope, self._actor, text, now=now, lifetime=KEPT)
            return self._named(kept_id, settings.signing_key(connection)), ()

    def _kept(self, cursor: str) -> dict[str, Any]:
        """Return what is kept under a cursor. Raises InvalidInput `cursor.invalid`, also once it has expired."""
        with self._database.read() as connection:
            kept_id = self._unsealed(cursor, settings.signing_key(connection))
            kept = kept_id and kept_queries.kept(connection, self._scope, self._actor, kept_id, now=self._clock())
        if not kept:
            raise InvalidInput("cursor.invalid", "this cursor is none of this store's, or older than an hour; ask anew")
        body: dict[str, Any] = jsontext.parse(kept.encode())
        return body

    def _named(self, kept_id: str, key: bytes) -> str:
        return PREFIX + cursors.encode([kept_id], self._bound, key)

    def _unsealed(self, cursor: object, key: bytes) -> str:
        """The id that a cursor names, "" where it is not one that was given to this caller."""
        if not isinstance(cursor, str) or not cursor.startswith(PREFIX):
            return ""
        try:
            (kept_id,) = cursors.decode(cursor.removeprefix(PREFIX), self._bound, key)
        except (InvalidInput, ValueError):
            return ""
        return str(kept_id)

    @property
    def _bound(self) -> list[str]:
        return [PREFIX, self._scope, self._actor]
