"""Continuity: what is kept for good, who approved it, and the proof that it was saved (schema 6.0)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from segue.services.candidates import Candidates
    from segue.services.claim_guard import ClaimGuard
    from segue.services.continuity_place import Place
    from segue.services.handoffs import Handoffs
    from segue.services.memories import Memories
    from segue.services.project_memory import ProjectMemory
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
    def handoffs(self) -> Handoffs:
        """The state of the work, whole, over a compaction or to another session."""
        from segue.services.handoffs import Handoffs

        return Handoffs(self.place, candidates=self.candidates.states, sync=self.memory.sync)

    @cached_property
    def candidates(self) -> Candidates:
        """What may come to be kept for good, and who decides it."""
        from segue.services.candidates import Candidates

        return Candidates(
            self.place, memories=self._memories, receipts=lambda: self.receipts, facts=lambda: self.memory
        )

    @cached_property
    def memory(self) -> ProjectMemory:
        """The memory store in the project's own folder, where the user has agreed to one."""
        from segue.services.project_memory import ProjectMemory

        return ProjectMemory(self.place, receipts=lambda: self.receipts, candidates=lambda: self.candidates)

    @cached_property
    def claims(self) -> ClaimGuard:
        """The guard of what is said to be saved."""
        from segue.services.claim_guard import ClaimGuard

        return ClaimGuard(self.place, receipts=lambda: self.receipts)
