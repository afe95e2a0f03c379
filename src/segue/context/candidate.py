"""What competes for a place in a pack, and what it becomes there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from segue.context.layers import PackLayer
    from segue.memories.memory import Memory

Compression = Literal["", "summary", "head", "cut"]
Reason = Literal["budget"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that may come into a pack, in the layer that it would stand in.

    `relevance` (0 to 1) and `basis` (rank, cosine) are what search said of it (decision M6), None where it was not
    searched for. `why` holds `retrievers`, `matched_terms` and `fused_rank`. `folded` are the memories that say the
    same and are told by this one.
    """

    memory: Memory
    layer: PackLayer
    relevance: float | None = None
    basis: Literal["rank", "cosine"] | None = None
    why: Mapping[str, Any] = field(default_factory=dict)
    folded: tuple[Memory, ...] = ()

    @property
    def ref(self) -> str:
        """The id of the memory."""
        return self.memory.id


@dataclass(frozen=True, slots=True)
class Packed:
    """A candidate in a pack: the text that is sent, what it costs in tokens, and how that text was made shorter."""

    candidate: Candidate
    content: str
    cost: int
    compressed: Compression = ""


@dataclass(frozen=True, slots=True)
class Selection:
    """What came into a pack, in the order of layers and in each as it arrived; and what did not, with the reason."""

    packed: tuple[Packed, ...]
    dropped: tuple[tuple[Candidate, Reason], ...] = ()

    @property
    def used(self) -> int:
        """The tokens that the items take."""
        return sum(each.cost for each in self.packed)
