"""Stores with something of every kind in them, for the tests of export and import."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from segue.storage import memory_entities, memory_history
from segue.storage.memory_entities import Alias
from segue.storage.memory_history import Conflict

if TYPE_CHECKING:
    from collections.abc import Callable

    import segue

CAPSULE = (
    "===PCSF:v1.2===\nMETA: topic | software | WORKING | 2026-05-04T09:30Z\n\n"
    "L1:SKELETON\n\nL2:NEGATIVE\n\nL3:INTERNAL\n\nL4:RELATION\n\nL5:LOOPS\n\nSEED: Go on.\n===END===\n"
)
HOME_PATH = "/".join(["", "home", "alice", "work"])


def exported(opened: segue.Segue) -> list[bytes]:
    """The lines of a store's export."""
    lines: list[bytes] = []
    opened.transfer.export(lines.append)
    return lines


def merge(opened: segue.Segue, alias: Alias) -> None:
    """Say that two names are one."""
    with opened._database.write(opened._scope) as connection:
        memory_entities.add_alias(connection, opened._scope, alias)


def contest(opened: segue.Segue, first: str, second: str, reason: str = "value") -> None:
    """Say that two memories contradict each other."""
    found = Conflict(first, second, reason, datetime(2026, 5, 4, 1, 2, 3, 4, tzinfo=UTC))
    with opened._database.write(opened._scope) as connection:
        memory_history.add_conflict(connection, opened._scope, found)


def fill(opened: segue.Segue, draft: Callable[..., dict[str, Any]]) -> dict[str, str]:
    """Put something of every kind into a store; return ids by name."""
    memories = opened.memories
    opened.packets.save(draft(id="packet-0001", created_at="2026-05-04T09:30:00Z", tags=["one"]))
    opened.packets.save(draft(goal="Child \0 ä."), continues="packet-0001")
    opened.capsules.save(CAPSULE, origin="packet-0001")
    first = memories.remember(
        "The importer reads streams.",
        tags=["Perf", "io"],
        entities=["Importer", "Ada Byron"],
        confidence=0.1,
        occurred_at=datetime(2026, 1, 2, 3, 4, 5, 600_007, tzinfo=UTC),
        url="https://example.org/a",
        author="Ada",
        project="Größe",
        summary="Streams.",
    ).memory.id
    memories.remember("THE importer  reads streams.", project="größe")
    memories.edit(first, content="The importer reads streams lazily.", confidence=1 / 3)
    second = memories.supersede(first, "The importer reads 500 lines at a time.").memory.id
    third = memories.supersede(second, "The importer reads 600 lines at a time.").memory.id
    waiting = memories.propose("Ada Byron wrote the importer.", entities=["ada byron"]).memory.id
    memories.supersede(third, "The importer reads everything.", author_class="agent")
    for position, said in enumerate(("Hello?", "Hello!", "Bye.")):
        memories.remember(said, thread="talk", position=position, speaker="Grace", author_class="external")
    gone = memories.remember("Nobody may know this.").memory.id
    memories.forget(gone, reason="asked for")
    contest(opened, third, waiting)
    merge(opened, Alias("ada", "Ada", "ada byron", "Ada Byron"))
    return {"first": first, "second": second, "third": third, "waiting": waiting, "gone": gone}
