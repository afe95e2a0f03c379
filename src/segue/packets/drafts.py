"""Drafts: packet documents without `id` and `created_at`, as people and models write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson

from segue.base import ids, time
from segue.base.errors import InvalidInput
from segue.packets import schema
from segue.packets.model import MAX_BYTES, Packet

if TYPE_CHECKING:
    from datetime import datetime

Draft = Packet | Mapping[str, Any] | bytes | str

TAG = "draft"  # of a packet that rules made of a recorded session and nobody reviewed

_FENCED = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*\n(.*?)^[ \t]*(?:```|~~~)[ \t]*$", re.MULTILINE | re.DOTALL)


def complete(document: dict[str, Any], now: datetime) -> tuple[dict[str, Any], bool]:
    """Return `document` with `id` and `created_at` filled in where it has no `id`, and whether that was so."""
    if "id" in document:
        return document, False
    created = time.to_text(now.replace(microsecond=0))
    return {"created_at": created} | document | {"id": ids.new(now)}, True


def finished(draft: Draft, now: datetime) -> tuple[Packet, bool]:
    """Return the packet that a draft means, checked, and whether its id was given to it here.

    Raises InvalidInput `packet.…`; `packet.id` for an id that nobody could type.
    """
    document = schema.read(_as_bytes(draft.document() if isinstance(draft, Packet) else draft))
    document, fresh = complete(document, now)
    schema.require_valid(document)
    packet = Packet.from_document(document)
    for name in (packet.id, packet.parent_id):
        if not name.isprintable() or name != name.strip():
            raise InvalidInput(
                "packet.id", "an id with control characters or white space at its ends cannot be addressed"
            )
    require_size(packet)
    return packet, fresh


def require_size(packet: Packet) -> None:
    """Raise InvalidInput `packet.size` where the canonical form is over 32,768 bytes."""
    size = len(packet.canonical)
    if size > MAX_BYTES:
        raise InvalidInput("packet.size", f"the packet has {size} bytes; max is {MAX_BYTES}", {"bytes": size})


def _as_bytes(draft: Mapping[str, Any] | bytes | str) -> bytes:
    try:
        if isinstance(draft, str):
            return draft.encode("utf-8")
        return draft if isinstance(draft, bytes) else orjson.dumps(dict(draft))
    except (TypeError, UnicodeEncodeError):
        raise InvalidInput("packet.json", "invalid json: the draft holds a value that JSON text cannot") from None


def unwrapped(data: bytes) -> bytes | None:
    """Return the JSON object in the Markdown fence of a chat's answer, None where `data` is not wrapped like that."""
    text = data.decode("utf-8", "replace").strip()
    if text.startswith("{"):
        return None
    fenced = [match[1].strip() for match in _FENCED.finditer(text)]
    objects = [each for each in fenced if each.startswith("{") and each.endswith("}")]
    return objects[0].encode() if len(objects) == 1 else None
