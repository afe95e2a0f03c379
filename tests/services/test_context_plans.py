"""What a pack reads does not grow with the store: memories are looked up by their ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plans import WHOLE_STATUS, by_indexes

import segue

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SMALL = ("settings", "entity_aliases", "memory_state", "context_sessions", "CONSTANT")


def test_a_pack_reads_memories_by_their_ids(locate: Callable[[str], str], project_directory: Path) -> None:
    with segue.open(locate("sqlite"), directory=project_directory) as opened:
        for number in range(12):
            opened.memories.remember(
                f"The importer of Harbor reads manifest {number}.",
                entities=["Harbor", f"Pier {number % 3}"],
                project="harbor" if number % 2 else "",
            )
        opened.context.assemble("first")  # the index is read as a whole, once
        with by_indexes(opened, SMALL, least=10, whole=WHOLE_STATUS):
            serving = opened.context.assemble("What does Harbor import?", model="claude", session="chat", graph=True)
        assert serving.pack.graph is not None
