"""The envelope: a pack as one self-describing JSON object (specification, section 1; decisions M3 and M5)."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from segue.context.legend import LEGEND, VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from segue.context.pack import Pack

_BESIDE = ("receipt", "pin", "working_memory")  # what one call adds to the pack
_MOST_FOLLOWED = 3


def envelope(
    pack: Pack,
    *,
    items: Sequence[dict[str, Any]] | None = None,
    working_memory: Mapping[str, Any] | None = None,
    receipt: Mapping[str, Any] | None = None,
    pin: Mapping[str, Any] | None = None,
    arguments: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the envelope of a pack. `items` are those to deliver, all by default.

    `arguments` are those of the call, from which the follow-ups are made.
    """
    return {
        "smp": VERSION,
        "legend": LEGEND,
        "model": pack.profile.name,
        "budget": {"tokens": pack.tokens, "used": pack.used},
        "coverage": pack.coverage(),
        "items": [pack.item(each) for each in pack.packed] if items is None else list(items),
        "cursor": pack.cursor,
        "follow_ups": follow_ups(pack, arguments or {}),
        "working_memory": working_memory,
        "receipt": receipt,
        "graph": pack.graph,
        "pin": pin,
    }


def follow_ups(pack: Pack, arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return calls that tell what this page does not: the rest of what was shortened, and of what did not fit."""
    shortened = [each.candidate.ref for each in pack.packed if each.compressed]
    found = [_expand(ref, "only part of this item is here") for ref in shortened[:_MOST_FOLLOWED]]
    packed = set(pack.refs)
    preferred = [each.current.id for each in pack.conflicts if each.current.id not in packed]
    found += [_expand(ref, "it contradicts an item and is newer") for ref in preferred[:_MOST_FOLLOWED]]
    if not pack.packed:
        dropped = [each.ref for each, _ in pack.selection.dropped[:_MOST_FOLLOWED]]
        found += [_expand(ref, "it is too long for this budget") for ref in dropped]
    if pack.cursor:
        further = {**arguments, "task": pack.task, "cursor": pack.cursor}
        found.append({"tool": "get_context", "arguments": further, "why": "more was found than fitted"})
    return found


def _expand(ref: str, why: str) -> dict[str, Any]:
    return {"tool": "expand", "arguments": {"ref": ref, "direction": "document"}, "why": why}


def pinned_bytes(wire: Mapping[str, Any]) -> bytes:
    """Return the bytes of an envelope that repeat and that a pin hashes (decision M5): ASCII, keys sorted, tight."""
    kept = {name: value for name, value in wire.items() if name not in _BESIDE}
    return json.dumps(kept, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode("ascii")


def sha256(body: bytes) -> str:
    """Return the hash that a pack is pinned under: 64 hex digits."""
    return hashlib.sha256(body).hexdigest()
