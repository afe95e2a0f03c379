"""What a session is told of the items of a pack."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segue.context.delta import Served

if TYPE_CHECKING:
    from collections.abc import Iterable

    from segue.context.candidate import Packed


def served(packed: Iterable[Packed]) -> list[Served]:
    """Return what a session is told of items: each with its relevance and the version of its text."""
    return [Served(each.candidate.ref, each.candidate.relevance, _version(each)) for each in packed]


def _version(packed: Packed) -> int:
    """A number that grows when a memory is edited, and where all of its text is here and not a part."""
    return 2 * packed.candidate.memory.revision + (not packed.compressed)
