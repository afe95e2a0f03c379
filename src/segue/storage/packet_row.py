"""A packet as a row: its columns, and what it is listed by. Plain values, for whichever driver writes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from segue.base import text, time
from segue.base.remotes import remote_key
from segue.base.search_words import searched
from segue.packets import fields

if TYPE_CHECKING:
    from datetime import datetime

    from segue.packets.model import Packet

_PROJECT_LENGTH = 320
# Digits of these would be found by every other search for a number.
_UNSEARCHED = frozenset({"ltm_version", "created_at", "provenance.source_hash"})
Lists = tuple[tuple[tuple[str, int], ...], tuple[tuple[str, int], ...]]


@dataclass(frozen=True, slots=True)
class StoredPacket:
    """A packet as it lies in the store.

    `revision` counts its bodies from 1; `flagged` says that it was stored with findings, by its writer's choice.
    """

    scope_id: str
    id: str
    owner_id: str
    revision: int
    saved_at: datetime
    project_key: str | None
    project_label: str | None
    content_hash: str
    flagged: bool
    body: bytes


def columns(stored: StoredPacket) -> dict[str, Any]:
    """Return the columns beside those that follow from the body."""
    return {
        "scope_id": stored.scope_id,
        "id": stored.id,
        "owner_id": stored.owner_id,
        "revision": stored.revision,
        "saved_us": time.microseconds(stored.saved_at),
        "project_key": stored.project_key,
        "project_label": stored.project_label,
        "flagged": stored.flagged,
        "body": stored.body,
    }


def derived(packet: Packet) -> dict[str, Any]:
    """Return the columns that follow from a packet's body."""
    project = packet.project
    written = fields.texts(packet.document())
    return {
        "ltm_version": packet.ltm_version,
        "parent_id": packet.parent_id or None,
        "created_at": packet.created_at,
        "created_us": time.microseconds(packet.created),
        "goal": packet.goal,
        "project_name": project.name if project and project.name else None,
        "project_ref": project.ref if project and project.ref else None,
        "content_hash": packet.content_hash,
        "search_text": searched("\n".join(each.text for each in written if each.path not in _UNSEARCHED)),
    }


def wanted_lists(packet: Packet, project_key: str | None, project_label: str | None) -> Lists:
    """Return what a packet is listed by, each entry with its time: its tags; the project it was saved in, and its own
    name and ref.
    """
    project = packet.project
    named = [project_key, project_label]
    named += [project.name, project.ref, remote_key(project.ref)] if project else []
    projects = {project_entry(name) for name in named if name} - {""}
    created_us = time.microseconds(packet.created)
    tags = tuple((tag, created_us) for tag in sorted(set(packet.tags)))
    return tags, tuple((name, created_us) for name in sorted(projects))


def project_entry(name: str) -> str:
    """Return a name, ref or key of a project as it is listed: case and white space do not matter."""
    return text.fold(name.replace("\0", "\ufffd"))[:_PROJECT_LENGTH]
