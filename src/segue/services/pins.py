"""Pinned packs: kept under the hash of their bytes, replayed, compared with what would come out today.

What is forgotten leaves them. A pack that lost something so has other bytes than its hash says: a seal under the
store's key takes its place, so that nobody else can change it unnoticed.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from segue.base import time
from segue.base.errors import NotFound, Refused
from segue.context.envelope import pinned_bytes, sha256
from segue.context.legend import ENVELOPE_KEYS, ITEM_KEYS, LEGEND
from segue.storage import context_pins as rows
from segue.storage import memories as memory_rows
from segue.storage import settings
from segue.storage.context_pins import Pin

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    import sqlalchemy as sa


@dataclass(frozen=True, slots=True)
class Verification:
    """What became of a pinned pack: `missing` and `new` are ids by layer, `changed` those with another text now.

    `differing` are the keys of the envelope that are not the same.
    """

    sha: str
    status: Literal["match", "drift", "tampered"]
    missing: tuple[tuple[str, str], ...] = ()
    new: tuple[tuple[str, str], ...] = ()
    changed: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    differing: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue context --verify --json`."""
        return {
            "pack_sha": self.sha,
            "status": self.status,
            "missing": [{"layer": layer, "ref": ref} for layer, ref in self.missing],
            "new": [{"layer": layer, "ref": ref} for layer, ref in self.new],
            "changed": list(self.changed),
            "forgotten": list(self.forgotten),
            "differing": list(self.differing),
        }


def put(
    connection: sa.Connection,
    scope_id: str,
    wire: Mapping[str, Any],
    asked: Mapping[str, Any],
    memory_ids: Sequence[str],
    *,
    session: str,
    now: datetime,
) -> dict[str, Any]:
    """Keep an envelope and return what its `pin` says. Memories that were forgotten since it was made are left out."""
    body = pinned_bytes(wire)
    pin = Pin(sha256(body), now, session, asked, body)
    there = memory_rows.known(connection, scope_id, memory_ids)
    gone = [each for each in dict.fromkeys(memory_ids) if each not in there]
    if gone:
        pin = _forgotten(pin, gone, settings.signing_key(connection))
    rows.put(connection, scope_id, pin, sorted(there))
    return said(rows.get(connection, scope_id, pin.sha) or pin)


def said(pin: Pin) -> dict[str, Any]:
    """Return what an envelope says of its pin (facts, section 004.3)."""
    return {
        "pack_sha": pin.sha,
        "pinned_at": time.to_text(pin.pinned_at),
        "session_id": pin.session_id or None,
        "byte_size": len(pin.body),
    }


def found(connection: sa.Connection, scope_id: str, sha: str) -> tuple[Pin, bool]:
    """Return a pinned pack, and whether its bytes are those that were pinned. Raises NotFound `pin.not_found`."""
    pin = rows.get(connection, scope_id, sha.strip().lower()) if sha.isascii() and "\0" not in sha else None
    if pin is None:
        raise NotFound("pin.not_found", "no pack is pinned under this hash")
    if pin.seal:
        return pin, hmac.compare_digest(pin.seal, _seal(pin, settings.signing_key(connection)))
    return pin, sha256(pin.body) == pin.sha


def replayed(connection: sa.Connection, scope_id: str, sha: str) -> dict[str, Any]:
    """Return the envelope of a pinned pack. Raises NotFound `pin.not_found`, Refused `pin.tampered`."""
    pin, intact = found(connection, scope_id, sha)
    if not intact:
        raise Refused("pin.tampered", "the pack under this hash was changed; nothing of it is shown", {"sha": pin.sha})
    wire: dict[str, Any] = json.loads(pin.body)
    items = [{name: each[name] for name in ITEM_KEYS} for each in wire["items"]]
    kept = said(pin) | ({"forgotten": list(pin.forgotten)} if pin.forgotten else {})
    return {name: wire.get(name) for name in ENVELOPE_KEYS} | {"legend": LEGEND, "items": items, "pin": kept}


def compared(pin: Pin, wire: Mapping[str, Any]) -> Verification:
    """Say how a pinned pack differs from the envelope of the same call today."""
    if not pin.forgotten and pinned_bytes(wire) == pin.body:
        return Verification(pin.sha, "match")
    kept, today = json.loads(pin.body), json.loads(pinned_bytes(wire))
    before = {each["ref"]: each for each in kept["items"]}
    after = {each["ref"]: each for each in wire["items"]}
    return Verification(
        pin.sha,
        "drift",
        tuple((each["layer"], ref) for ref, each in before.items() if ref not in after),
        tuple((each["layer"], ref) for ref, each in after.items() if ref not in before),
        tuple(ref for ref in before if ref in after and before[ref]["content"] != after[ref]["content"]),
        pin.forgotten,
        tuple(name for name in ENVELOPE_KEYS if kept.get(name) != today.get(name)),
    )


def forget(connection: sa.Connection, scope_id: str, memory_ids: Sequence[str]) -> int:
    """Take memories out of every pinned pack, in the transaction that forgets them; return how many had any."""
    holding = rows.holding(connection, scope_id, memory_ids)
    key = settings.signing_key(connection) if holding else b""
    wanted = set(memory_ids)
    for sha in holding:
        pin = rows.get(connection, scope_id, sha)
        gone = [each for each in rows.memories_of(connection, scope_id, sha) if each in wanted]
        if pin is not None:
            rows.replace(connection, scope_id, _forgotten(pin, gone, key), gone)
    return len(holding)


def _forgotten(pin: Pin, gone: Sequence[str], key: bytes) -> Pin:
    """The pin without memories, sealed: its bytes are not those of its hash any more."""
    without = replace(pin, body=_without(pin.body, set(gone)), forgotten=tuple(dict.fromkeys((*pin.forgotten, *gone))))
    return replace(without, seal=_seal(without, key))


def _without(body: bytes, gone: set[str]) -> bytes:
    """The bytes of an envelope without memories and all that was made of their texts."""
    wire: dict[str, Any] = json.loads(body)
    wire["items"] = [_unfolded(each, gone) for each in wire["items"] if each["ref"] not in gone]
    wire["coverage"]["folded"] = sum(len(each["why"]["folded_refs"]) for each in wire["items"])
    wire["graph"] = None  # it may name what only they named
    coverage = wire["coverage"]
    coverage["conflicts"] = [each for each in coverage["conflicts"] if not gone & set(each["memory_ids"])]
    wire["follow_ups"] = [each for each in wire["follow_ups"] if each["arguments"].get("ref") not in gone]
    return pinned_bytes(wire)


def _unfolded(item: dict[str, Any], gone: set[str]) -> dict[str, Any]:
    why = item["why"]
    if not gone & set(why["folded_refs"]):
        return item
    kept = [each for each in why["folded_refs"] if each not in gone]
    counted = max(why["occurrences"] - len(why["folded_refs"]) + len(kept), 1)
    return item | {"why": why | {"folded_refs": kept, "folded_source_urls": [], "occurrences": counted}}


def _seal(pin: Pin, key: bytes) -> str:
    message = b"\0".join((pin.sha.encode(), pin.body, "\n".join(pin.forgotten).encode()))
    return hmac.new(key, message, hashlib.sha256).hexdigest()
