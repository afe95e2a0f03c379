"""Continuity: what is kept for good, who approved it, and the proof that it was saved (schema 6.0)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from segue.services.continuity_place import Place
    from segue.services.memories import Memories


class Continuity:
    """The continuity of the project that is worked in; each of its services is made when it is first asked for."""

    def __init__(self, place: Place, *, memories: Callable[[], Memories]) -> None:
        self.place = place
        self._memories = memories
