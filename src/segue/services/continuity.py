"""Continuity: what is kept for good, who approved it, and the proof that it was saved (schema 6.0)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from segue.services.candidates import Candidates
    from segue.services.continuity_place import Place
    from segue.services.memories import Memories
    from segue.services.receipts import Receipts
    from segue.services.releases import Releases


class Continuity:
    """The continuity of the project that is worked in; each of its services is made when it is first asked for."""

    def __init__(self, place: Place, *, memories: Callable[[], Memories]) -> None:
        self.place = place
        self._memories = memories

    @cached_property
    def receipts(self) -> Receipts:
        """The chain of receipts: what proves that something was saved."""
        from segue.services.receipts import Receipts

        return Receipts(self.place)

    @cached_property
    def releases(self) -> Releases:
        """Release transactions: several files proven as one, or none of them."""
        from segue.services.releases import Releases

        return Releases(self.place, receipts=lambda: self.receipts)

    @cached_property
    def candidates(self) -> Candidates:
        """What may come to be kept for good, and who decides it."""
        from segue.services.candidates import Candidates

        return Candidates(self.place, memories=self._memories, receipts=lambda: self.receipts)
