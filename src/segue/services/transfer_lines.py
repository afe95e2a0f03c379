"""The lines of an export as they are written: a header, then one JSON object for each thing. See `transfer_records`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from segue.base import time

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from segue.memories.memory import Memory
    from segue.storage.capsules import StoredCapsule
    from segue.storage.memory_entities import Alias
    from segue.storage.memory_history import Conflict, Tombstone, Version
    from segue.storage.memory_sources import Said
    from segue.storage.packets import StoredPacket

Type = Literal["packet", "capsule", "alias", "memory", "conflict", "tombstone"]
# In this order in a file: what is needed first comes first.
TYPES: tuple[Type, ...] = ("packet", "capsule", "alias", "memory", "conflict", "tombstone")
VERSION = "0.1"


def header(counts: Mapping[str, int]) -> dict[str, Any]:
    """Return the first line: the version of the form, and how many lines of each type follow."""
    return {"segue_export": VERSION, "counts": dict(counts)}


def packet_line(stored: StoredPacket) -> dict[str, Any]:
    """Return the line of a packet. Its body is a text, so that its bytes stay."""
    return {
        "type": "packet",
        "id": stored.id,
        "revision": stored.revision,
        "saved_at": time.to_text(stored.saved_at),
        "project_key": stored.project_key or None,
        "project_label": stored.project_label or None,
        "flagged": bool(stored.flagged),
        "body": stored.body.decode(),
    }


def capsule_line(stored: StoredCapsule) -> dict[str, Any]:
    """Return the line of a capsule."""
    return {
        "type": "capsule",
        "id": stored.id,
        "saved_at": time.to_text(stored.saved_at),
        "origin": stored.origin or None,
        "project_key": stored.project_key or None,
        "flagged": bool(stored.flagged),
        "text": stored.text,
    }


def memory_line(memory: Memory, said: Iterable[Said], versions: Iterable[Version]) -> dict[str, Any]:
    """Return the line of a memory; its sources are in the order of their names."""
    document = memory.to_json()
    for name in ("confidence", "trust"):
        if document[name] is not None:
            document[name] = float(document[name]) + 0.0  # SQLite knows no negative zero
    places = sorted(said, key=lambda each: (each.source, each.place))
    return document | {
        "type": "memory",
        "sources": [
            {
                "source": each.source,
                "place": each.place,
                "identity": each.identity,
                "origin": each.origin,
                "url": each.url or None,
                "author_class": each.author_class,
                "author": each.author or None,
                "seen_at": time.to_text(each.seen_at),
            }
            | ({} if each.updated_at is None else {"updated_at": time.to_text(each.updated_at)})
            for each in places
        ],
        "versions": [each.to_json() for each in versions],
    }


def conflict_line(conflict: Conflict) -> dict[str, Any]:
    """Return the line of a conflict."""
    return {"type": "conflict"} | conflict.to_json()


def alias_line(alias: Alias) -> dict[str, Any]:
    """Return the line of an alias."""
    return {
        "type": "alias",
        "alias": alias.alias,
        "alias_name": alias.alias_name,
        "key": alias.key,
        "name": alias.name,
    }


def tombstone_line(stone: Tombstone) -> dict[str, Any]:
    """Return the line of a tombstone."""
    return {
        "type": "tombstone",
        "id": stone.id,
        "keyed_hash": stone.keyed_hash,
        "forgotten_at": time.to_text(stone.forgotten_at),
        "reason": stone.reason,
    }
