"""What a reader knows of the session while it reads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from segue.transcripts.events import Meta


class Progress:
    """The `Meta` of a session so far. A change gives a new value to yield; the time alone is no change."""

    def __init__(self, host: str) -> None:
        self._meta = Meta(host)
        self._ended: str | None = None  # apart: it changes with each line

    @property
    def meta(self) -> Meta:
        """What is known now."""
        return self._meta if self._ended == self._meta.ended else replace(self._meta, ended=self._ended)

    def saw(self, at: Any) -> str | None:
        """Take note of the time of a line; return it where it is text."""
        if not isinstance(at, str) or not at:
            return None
        if not self._meta.started:
            self._meta = replace(self._meta, started=at)
        self._ended = at
        return at

    def learn(self, **fields: Any) -> list[Meta]:
        """Take over the `fields` that hold text; return the new state where that changed anything."""
        known: dict[str, Any] = {name: value for name, value in fields.items() if isinstance(value, str) and value}
        if all(getattr(self._meta, name) == value for name, value in known.items()):
            return []
        self._meta = replace(self._meta, ended=self._ended, **known)
        return [self._meta]

    def finished(self, skipped: int) -> Meta:
        """Return the last state: complete, with the number of lines that were skipped."""
        return replace(self.meta, skipped=skipped)
