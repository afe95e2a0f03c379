"""What a server remembers of requests: answers under idempotency keys for a day, and how many there are a minute."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from segue.base.errors import Conflict, InvalidInput
from segue.storage import idempotency, rates

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from segue.services.callers import Caller
    from segue.storage.database import Database

_MAX_KEY = 255
_MAX_SUBJECT = 128


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request was answered: the status and the bytes of the body."""

    status: int
    body: bytes


@dataclass(frozen=True, slots=True)
class Rate:
    """How often something was done in this minute. `seconds` are left of it."""

    count: int
    limit: int
    seconds: int

    @property
    def allowed(self) -> bool:
        """Whether it is within its limit."""
        return self.count <= self.limit


class Requests:
    """Idempotency keys and rates, for all processes of a server together."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock
        self._swept_us = 0

    def begin(self, caller: Caller, key: str, request: bytes) -> Answer | None:
        """Return what the same request with the same key was answered, None where it is to be done now.

        `request` is all that the request says, its query included. One that was begun and not finished is done again:
        what it does must bear that. Raises Conflict `idempotency.other` where another request had that key,
        InvalidInput `idempotency.key`.
        """
        if not 1 <= len(key) <= _MAX_KEY or not key.isascii() or not key.isprintable():
            raise InvalidInput("idempotency.key", f"an idempotency key has 1 to {_MAX_KEY} visible ASCII characters")
        digest = hashlib.sha256(request).hexdigest()
        with self._database.write(f"key {caller.user_id} {key}") as connection:
            now = self._clock()
            kept = idempotency.get(connection, caller.user_id, key, now)
            if kept is None:
                idempotency.begin(connection, caller.user_id, key, digest, now)
                return None
        if kept.body_hash != digest:
            raise Conflict("idempotency.other", "another request came with this key; take a new key for a new request")
        return Answer(kept.status, kept.answer) if kept.status else None

    def finish(self, caller: Caller, key: str, request: bytes, answer: Answer) -> None:
        """Keep for a day what a request was answered."""
        digest = hashlib.sha256(request).hexdigest()
        with self._database.write(f"key {caller.user_id} {key}") as connection:
            idempotency.finish(connection, caller.user_id, key, digest, answer.status, answer.body)

    def count(self, subject: str, limit: int, by: int = 1) -> Rate:
        """Count `by` more of what `subject` names (`push:` and an address) in this minute."""
        subject = subject if len(subject) <= _MAX_SUBJECT else hashlib.sha256(subject.encode()).hexdigest()
        now = self._clock()
        with self._database.write(f"rate {subject}") as connection:
            number = rates.count(connection, subject, now, by)
        self._sweep(now)
        left = rates.WINDOW.seconds - now.second % rates.WINDOW.seconds
        return Rate(number, limit, left)

    def _sweep(self, now: datetime) -> None:
        """Once a minute in each process, remove the minutes that are over."""
        window = rates.window_us(now)
        if window != self._swept_us:
            self._swept_us = window
            with self._database.write("rates") as connection:  # one sweeper at a time
                rates.sweep(connection, now)
