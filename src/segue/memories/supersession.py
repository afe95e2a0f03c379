"""What replaces what: chains of supersession without cycles, and who may replace whose words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from segue.memories.item import AuthorClass
    from segue.memories.memory import Memory

MOST_STEPS = 10_000


def needs_review(author_class: AuthorClass, replaced: Memory) -> bool:
    """Whether what `author_class` says may replace a memory only once a person has agreed.

    Nobody but the user replaces the user's own words, and nothing from outside replaces what is not from outside.
    """
    if author_class == "user":
        return False
    if author_class == "agent":
        return replaced.provenance.author_class == "user"
    return replaced.provenance.author_class != "external"


def head(memory_id: str, above: Callable[[str], str]) -> str:
    """Return the last memory of the chain that replaces `memory_id`; `above` says what replaces one, "" for nothing.

    A cycle, which no store of ours makes, ends where it closes.
    """
    seen = {memory_id}
    while following := above(memory_id):
        if following in seen or len(seen) > MOST_STEPS:
            return memory_id
        seen.add(following)
        memory_id = following
    return memory_id


def closes_cycle(old_id: str, new_id: str, above: Callable[[str], str]) -> bool:
    """Whether `new_id` replacing `old_id` would make either replace itself."""
    seen: set[str] = set()
    while new_id and new_id not in seen:
        if new_id == old_id:
            return True
        seen.add(new_id)
        new_id = above(new_id)
    return False
