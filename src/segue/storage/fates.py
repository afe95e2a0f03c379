"""What became of memories that were told to somebody: forgotten, or replaced and by which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

MOST_STEPS = 16  # from a memory to what holds instead


@dataclass(frozen=True, slots=True)
class Fates:
    """What became of memories: `gone` are not there, or not yet; `superseded` ones have a head, "" for none."""

    gone: frozenset[str]
    superseded: dict[str, str]


def traced(memory_ids: Collection[str], links_of: Callable[[Collection[str]], Mapping[str, str | None]]) -> Fates:
    """Return what became of those memories that are not active any more.

    `links_of` says what replaces each memory: None for an active one, "" for nothing; those that are not there, or
    wait for review, it leaves out. A head is the active memory at the end of at most 16 steps; a memory that was only
    taken back has none.
    """
    links = dict(links_of(memory_ids))
    heads = {ref: "" for ref, above in links.items() if above is not None}
    gone = frozenset(memory_ids) - links.keys()
    ahead = {ref: above for ref, above in links.items() if above}
    for _ in range(MOST_STEPS):  # so a cycle, which no store of ours makes, ends too
        if not ahead:
            break
        links |= links_of(set(ahead.values()) - links.keys())
        heads |= {ref: at for ref, at in ahead.items() if links.get(at, "") is None}
        ahead = {ref: above for ref, at in ahead.items() if (above := links.get(at))}
    return Fates(gone, heads)
