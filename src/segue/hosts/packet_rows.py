"""What hooks read and write of the packets in an embedded store: the newest of a project, and a draft."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segue.base import jsontext, search_words
from segue.hosts import event_rows
from segue.packets import schema
from segue.packets.model import Packet
from segue.storage import packet_row
from segue.storage.packet_row import StoredPacket

if TYPE_CHECKING:
    from datetime import datetime

    from segue.hosts.embedded import Embedded
    from segue.services.projects import Project


def newest(store: Embedded, project: Project) -> Packet | None:
    """Return the newest packet of a project, None where there is none. Raises InvalidInput where it does not read."""
    keys = {f"key{place}": packet_row.project_entry(key) for place, key in enumerate(project.keys)}
    marks = ", ".join(f":{name}" for name in keys)
    found = store.rows(
        "SELECT packet_id FROM packet_projects WHERE scope_id = :scope"  # noqa: S608 - marks of ours
        f" AND project IN ({marks}) ORDER BY created_us DESC, packet_id DESC LIMIT 1",
        **keys,
    )
    return get(store, found[0][0]) if found else None


def get(store: Embedded, packet_id: str) -> Packet | None:
    """Return the packet of that exact id, None where there is none."""
    found = store.rows("SELECT body FROM packets WHERE scope_id = :scope AND id = :id", id=packet_id)
    return Packet.from_document(schema.read(bytes(found[0][0]))) if found else None


def put(store: Embedded, packet: Packet, project: Project, now: datetime) -> str:
    """Write a packet, in a write transaction that is under way, as `Packets.submit` does where it replaces.

    Returns created, replaced, or unchanged where the same state is stored under that id.
    """
    known = store.rows(
        "SELECT revision, content_hash, project_key, project_label FROM packets WHERE scope_id = :scope AND id = :id",
        id=packet.id,
    )
    revision, content_hash, key, label = known[0] if known else (0, "", project.key, project.name)
    if content_hash == packet.content_hash:
        return "unchanged"
    stored = StoredPacket(
        scope_id=store.scope,
        id=packet.id,
        owner_id=store.scope,
        revision=revision + 1,
        saved_at=now,
        project_key=key,
        project_label=label,
        content_hash=packet.content_hash,
        flagged=False,
        body=packet.canonical,
    )
    _write(store, stored, packet, fresh=not known)
    details = jsontext.dump({"flagged": False, "revision": stored.revision}, sort_keys=True).decode()
    kind = "packet.replaced" if known else "packet.saved"
    event_rows.append(store, kind, packet.id, now, details)
    return "replaced" if known else "created"


def _write(store: Embedded, stored: StoredPacket, packet: Packet, *, fresh: bool) -> None:
    row = packet_row.columns(stored) | packet_row.derived(packet)
    row = {name: value.replace("\0", "\ufffd") if isinstance(value, str) else value for name, value in row.items()}
    if fresh:
        store.insert("packets", [row])
    else:
        _forget_words(store, packet.id)
        changes = ", ".join(f"{name} = :{name}" for name in row if name not in ("scope_id", "id"))
        store.change(f"UPDATE packets SET {changes} WHERE scope_id = :scope_id AND id = :id", **row)  # noqa: S608
    words = search_words.indexed(row["search_text"])
    place = {"scope_id": store.scope, "created_us": row["created_us"], "packet_id": packet.id}
    store.insert("packet_words", [place | {"word": word} for word in sorted(words)])
    tags, projects = packet_row.wanted_lists(packet, stored.project_key, stored.project_label)
    common = {"scope_id": store.scope, "packet_id": packet.id}
    for table, column, entries in (("packet_tags", "tag", tags), ("packet_projects", "project", projects)):
        store.change(
            f"DELETE FROM {table} WHERE scope_id = :scope AND packet_id = :packet",  # noqa: S608 - names of ours
            packet=packet.id,
        )
        store.insert(table, [common | {column: name, "created_us": at_us} for name, at_us in entries])


def _forget_words(store: Embedded, packet_id: str) -> None:
    created_us, text = store.rows(
        "SELECT created_us, search_text FROM packets WHERE scope_id = :scope AND id = :id", id=packet_id
    )[0]
    words = {f"word{place}": word for place, word in enumerate(sorted(search_words.indexed(text)))}
    store.change(
        "DELETE FROM packet_words WHERE scope_id = :scope AND created_us = :at AND packet_id = :id"  # noqa: S608 - marks of ours
        f" AND word IN ({', '.join(f':{name}' for name in words)})",
        at=created_us,
        id=packet_id,
        **words,
    )
