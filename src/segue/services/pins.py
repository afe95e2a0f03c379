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
from segue.services import paging
from segue.services.scoped import ScopedService
from segue.storage import context_pins as rows
from segue.storage import events, settings
from segue.storage import memories as memory_rows
from segue.storage.context_pins import Line, Pin

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    import sqlalchemy as sa


_UNKNOWN = time.from_microseconds(0)


@dataclass(frozen=True, slots=True)
class Pinned:
    """A pinned pack: when and for which call it was kept, the memories in it, and whether it is as it was pinned."""

    pin: Pin
    intact: bool
    memories: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue pin show --json`."""
        return said(self.pin) | {
            "intact": self.intact,
            "arguments": dict(self.pin.asked),
            "memories": list(self.memories),
            "forgotten": list(self.pin.forgotten),
        }


@dataclass(frozen=True, slots=True)
class PinPage:
    """Part of a list, last pinned first; `cursor` continues it, None at its end."""

    pins: list[Line]
    cursor: str | None

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue pin ls --json`."""
        return {"pins": [_listed(each) for each in self.pins], "cursor": self.cursor}


class Pins(ScopedService):
    """The pinned packs of one scope; hashes may be shortened to an unambiguous ending."""

    def ls(self, *, limit: int = paging.DEFAULT_LIMIT, cursor: str | None = None) -> PinPage:
        """Return pinned packs, the last pinned first.

        `limit` is 1 to 500. Raises InvalidInput `limit.invalid`, `cursor.invalid`.
        """
        with self._database.read() as connection:
            found, following = paging.page(
                connection,
                ["pins", self._scope],
                limit,
                cursor,
                lambda number, after: rows.listed(connection, self._scope, number, after),
                lambda each: (time.microseconds(each.pinned_at), each.sha),
            )
        return PinPage(found, following)

    def show(self, sha: str) -> Pinned:
        """Return a pinned pack; `segue.context.replay` returns what stands in it.

        Raises NotFound `pin.not_found`, Ambiguous `pin.ambiguous`.
        """
        with self._database.read() as connection:
            whole = whole_sha(connection, self._scope, sha)
            pin, intact = found(connection, self._scope, whole)
            return Pinned(pin, intact, tuple(rows.memories_of(connection, self._scope, whole)))

    def rm(self, sha: str) -> str:
        """Remove a pinned pack, also one that is damaged, and return its hash; nothing else is changed.

        An ending must have at least four characters here. Raises NotFound, Ambiguous, InvalidInput `pin.short_id`.
        """
        paging.require_long_enough(sha, "pin")
        with self._database.write(self._scope) as connection:
            whole = whole_sha(connection, self._scope, sha)
            rows.delete(connection, self._scope, whole)
            events.append(connection, self._scope, "pin.removed", whole, actor=self._actor, now=self._clock())
        return whole


def whole_sha(connection: sa.Connection, scope_id: str, given: str) -> str:
    """Return the hash that a person means by `given`: the hash, or an ending that only one has.

    Raises NotFound `pin.not_found`, Ambiguous `pin.ambiguous`.
    """
    return paging.resolve(
        given.strip().lower(),
        "pin",
        "`segue pin ls`",
        lambda each: each in rows.with_ending(connection, scope_id, each, 1),
        lambda ending, limit: rows.with_ending(connection, scope_id, ending, limit),
        "pinned pack",
    )


def _listed(line: Line) -> dict[str, Any]:
    return {
        "pack_sha": line.sha,
        "pinned_at": time.to_text(line.pinned_at),
        "session_id": line.session_id or None,
        "task": line.task,
        "byte_size": line.size,
    }


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
    if not _is_intact(connection, scope_id, pin.sha):
        rows.delete(connection, scope_id, pin.sha)  # what was damaged is mended by pinning it again
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
    sha = sha.strip().lower()
    try:
        pin = rows.get(connection, scope_id, sha) if sha.isascii() and "\0" not in sha else None
    except ValueError:
        return Pin(sha, _UNKNOWN, "", {}, b""), False
    if pin is None:
        raise NotFound("pin.not_found", "no pack is pinned under this hash; see `segue pin ls`")
    if pin.seal:
        return pin, hmac.compare_digest(pin.seal, _seal(pin, settings.signing_key(connection)))
    return pin, sha256(pin.body) == pin.sha


def _is_intact(connection: sa.Connection, scope_id: str, sha: str) -> bool:
    """Whether a pack is as it was pinned, or not pinned at all."""
    try:
        return found(connection, scope_id, sha)[1]
    except NotFound:
        return True


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
    """Take memories out of every pinned pack, in the transaction that forgets them; return how many had any.

    A pack that is not as it was pinned goes as a whole: nobody knows what stands in it, and it is not shown.
    """
    holding = rows.holding(connection, scope_id, memory_ids)
    wanted = set(memory_ids)
    for sha in holding:
        pin, intact = found(connection, scope_id, sha)
        gone = [each for each in rows.memories_of(connection, scope_id, sha) if each in wanted]
        if intact:
            take_out(connection, scope_id, pin, gone)
        else:
            rows.delete(connection, scope_id, sha)
    return len(holding)


def take_out(connection: sa.Connection, scope_id: str, pin: Pin, gone: Sequence[str]) -> None:
    """Take memories out of one pinned pack that is as it was pinned."""
    rows.replace(connection, scope_id, _forgotten(pin, gone, settings.signing_key(connection)), gone)


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
