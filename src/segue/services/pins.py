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
from segue.storage import settings
from segue.storage.context_pins import Pin

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    import sqlalchemy as sa


@dataclass(frozen=True, slots=True)
class Verification:
    """What became of a pinned pack: `missing` and `new` are ids by layer, `changed` those with another text now."""

    sha: str
    status: Literal["match", "drift", "tampered"]
    missing: tuple[tuple[str, str], ...] = ()
    new: tuple[tuple[str, str], ...] = ()
    changed: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue context --verify --json`."""
        return {
            "pack_sha": self.sha,
            "status": self.status,
            "missing": [{"layer": layer, "ref": ref} for layer, ref in self.missing],
            "new": [{"layer": layer, "ref": ref} for layer, ref in self.new],
            "changed": list(self.changed),
            "forgotten": list(self.forgotten),
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
    """Keep an envelope and return what its `pin` says."""
    body = pinned_bytes(wire)
    pin = Pin(sha256(body), now, session, asked, body)
    rows.put(connection, scope_id, pin, memory_ids)
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
    before = {each["ref"]: each for each in json.loads(pin.body)["items"]}
    after = {each["ref"]: each for each in wire["items"]}
    return Verification(
        pin.sha,
        "drift",
        tuple((each["layer"], ref) for ref, each in before.items() if ref not in after),
        tuple((each["layer"], ref) for ref, each in after.items() if ref not in before),
        tuple(ref for ref in before if ref in after and before[ref]["content"] != after[ref]["content"]),
        pin.forgotten,
    )


def forget(connection: sa.Connection, scope_id: str, memory_ids: Sequence[str]) -> int:
    """Take memories out of every pinned pack, in the transaction that forgets them; return how many had any."""
    holding = rows.holding(connection, scope_id, memory_ids)
    key = settings.signing_key(connection) if holding else b""
    for pin in holding:
        gone = set(memory_ids)
        without = replace(
            pin,
            body=_without(pin.body, gone),
            forgotten=tuple(dict.fromkeys((*pin.forgotten, *(each for each in memory_ids if _stands(pin.body, each))))),
        )
        rows.replace(connection, scope_id, replace(without, seal=_seal(without, key)), list(memory_ids))
    return len(holding)


def _stands(body: bytes, memory_id: str) -> bool:
    return memory_id.encode() in body


def _without(body: bytes, gone: set[str]) -> bytes:
    """The bytes of an envelope without memories and all that was made of their texts."""
    wire: dict[str, Any] = json.loads(body)
    wire["items"] = [_unfolded(each, gone) for each in wire["items"] if each["ref"] not in gone]
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
    return item | {"why": why | {"folded_refs": kept, "folded_source_urls": []}}


def _seal(pin: Pin, key: bytes) -> str:
    message = b"\0".join((pin.sha.encode(), pin.body, "\n".join(pin.forgotten).encode()))
    return hmac.new(key, message, hashlib.sha256).hexdigest()
