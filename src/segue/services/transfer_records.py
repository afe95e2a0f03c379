"""The lines of an export as records: how each is read from a file that nobody trusts. See `transfer_lines`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from segue import capsules
from segue.base import jsontext, members, redaction, time
from segue.base.errors import InvalidInput
from segue.base.members import MAX_COUNT, invalid
from segue.base.redaction import Field, RedactionRefused
from segue.memories.item import AUTHOR_CLASSES, ORIGINS
from segue.memories.making import MAX_NAME, MAX_REF, MAX_URL
from segue.memories.written import from_json, identifier
from segue.packets import drafts
from segue.packets import fields as packet_fields
from segue.search import entities
from segue.services.transfer_lines import TYPES, VERSION
from segue.storage import capsules as capsule_rows
from segue.storage.memory_entities import Alias
from segue.storage.memory_history import Conflict, Tombstone, Version
from segue.storage.memory_sources import Said

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from segue.capsules import Capsule
    from segue.memories.memory import Memory
    from segue.packets.model import Packet

REASONS = ("overlap", "value", "polarity", "contested")
_MAX_ID = 64
_LONGEST_HEADER = 1 << 16
_MAX_PROJECT = 4_096
_MAX_REASON = 200
_MAX_ENTITY = 160
_HASH = frozenset("0123456789abcdef")
_HASH_LENGTH = 64
_ON_PURPOSE = "It was not imported: mend it where it was exported"
_IF_FLAGGED = _ON_PURPOSE + ", or let what was stored on purpose pass" + redaction.ON_PURPOSE

_PACKET = frozenset(("type", "id", "revision", "saved_at", "project_key", "project_label", "flagged", "body"))
_CAPSULE = frozenset(("type", "id", "saved_at", "origin", "project_key", "flagged", "text"))
_SAID = frozenset(("source", "place", "identity", "origin", "url", "author_class", "author", "seen_at"))
_VERSION = frozenset(("revision", "replaced_at", "actor", "memory"))
_CONFLICT = frozenset(("type", "memory_id", "other_id", "reason", "found_at"))
_ALIAS = frozenset(("type", "alias", "alias_name", "key", "name"))
_TOMBSTONE = frozenset(("type", "id", "keyed_hash", "forgotten_at", "reason"))


@dataclass(frozen=True, slots=True)
class PacketRecord:
    """A packet with what its store knows of it."""

    packet: Packet
    revision: int
    saved_at: datetime
    project_key: str | None
    project_label: str | None
    flagged: bool


@dataclass(frozen=True, slots=True)
class CapsuleRecord:
    """A capsule, its text as it was given, and what its store knows of it."""

    id: str
    capsule: Capsule
    text: str
    saved_at: datetime
    origin: str
    project_key: str
    flagged: bool


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A memory with the places that say it and with what it said before; `document` is all of it as JSON."""

    memory: Memory
    said: tuple[Said, ...]
    versions: tuple[Version, ...]
    document: Mapping[str, Any]


Record = PacketRecord | CapsuleRecord | MemoryRecord | Conflict | Alias | Tombstone


def require_header(line: bytes) -> dict[str, int]:
    """Return how many lines of each type follow, as far as the header says so.

    Raises InvalidInput `transfer.header` where the line is none, `transfer.version` where another version wrote it.
    """
    try:
        found = jsontext.parse(line[:_LONGEST_HEADER])
    except InvalidInput:
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("segue_export"), str):
        raise InvalidInput("transfer.header", "this is no export of Segue: its first line does not say so")
    if found["segue_export"] != VERSION:
        shown = redaction.shown(found["segue_export"], 20)
        raise InvalidInput("transfer.version", f"this export has version {shown}; version {VERSION} is understood")
    counts = found.get("counts")
    counted = counts if isinstance(counts, dict) else {}
    return {kind: counted[kind] for kind in TYPES if type(counted.get(kind)) is int}


def parsed(line: bytes, *, allow_unredacted: bool) -> Record:
    """Return what a line says, checked and free of secrets.

    Raises InvalidInput for a line that is not as an export writes it, RedactionRefused `transfer.redaction` for one
    that holds what must not travel, unless its exporter stored that on purpose and `allow_unredacted`.
    """
    document = jsontext.parse(line, code="transfer.json")
    kind = document.get("type") if isinstance(document, dict) else None
    if not isinstance(kind, str) or kind not in _READERS:
        raise InvalidInput("transfer.type", f"not one of {', '.join(TYPES)}")
    record = _READERS[kind](document)
    flagged = isinstance(record, PacketRecord | CapsuleRecord) and record.flagged
    if not (flagged and allow_unredacted):
        credentials = not isinstance(record, PacketRecord | CapsuleRecord)  # as when memories and names are written
        found = redaction.scan(_texts(record), core_only=True, credentials=credentials)
        if found:
            raise RedactionRefused(found, "transfer.redaction", _IF_FLAGGED if flagged else _ON_PURPOSE)
    return record


def _packet(document: Mapping[str, Any]) -> PacketRecord:
    members.exactly(document, _PACKET, "a packet")
    body = members.text(document, "body")
    packet, fresh = drafts.finished(body, time.parse("1970-01-01T00:00:00Z"))
    if fresh or packet.id != document["id"]:
        raise invalid("id is not that of the body")
    if packet.canonical.decode() != body:
        raise invalid("body is not in canonical form")
    return PacketRecord(
        packet=packet,
        revision=members.whole(document, "revision", 1, MAX_COUNT),
        saved_at=_saved_at(document),
        project_key=members.optional(document, "project_key", _MAX_PROJECT) or None,
        project_label=members.optional(document, "project_label", _MAX_PROJECT) or None,
        flagged=members.flag(document, "flagged"),
    )


def _capsule(document: Mapping[str, Any]) -> CapsuleRecord:
    members.exactly(document, _CAPSULE, "a capsule")
    text = members.text(document, "text")
    capsule = capsules.parse(text)
    if capsule_rows.key_of(capsule) != document["id"]:
        raise invalid("id is not that of the text")
    origin = members.optional(document, "origin", _MAX_ID)
    if origin == document["id"]:
        raise invalid("origin: nothing is made from itself")
    return CapsuleRecord(
        id=capsule_rows.key_of(capsule),
        capsule=capsule,
        text=text,
        saved_at=_saved_at(document),
        origin=origin,
        project_key=members.optional(document, "project_key", _MAX_PROJECT),
        flagged=members.flag(document, "flagged"),
    )


def _memory(document: Mapping[str, Any]) -> MemoryRecord:
    own = {name: value for name, value in document.items() if name not in ("type", "sources", "versions")}
    memory = from_json(own)
    if len(document) != len(own) + 3:
        raise invalid("a memory lacks sources or versions")
    said = tuple(_said(each, memory.id) for each in members.items(document, "sources"))
    places = [(each.source, each.place) for each in said]
    if places != sorted(set(places)):
        raise invalid("sources are not in order, or one stands there twice")
    if memory.occurrences != max(len(said), 1):
        raise invalid("occurrences is not the number of sources")
    versions = tuple(_version(each, memory) for each in members.items(document, "versions"))
    revisions = [each.revision for each in versions]
    if revisions != sorted(set(revisions)):
        raise invalid("versions are not in order, or one stands there twice")
    return MemoryRecord(memory, said, versions, document)


def _said(document: object, memory_id: str) -> Said:
    dated = isinstance(document, dict) and "updated_at" in document
    given = members.exactly(document, _SAID | {"updated_at"} if dated else _SAID, "a source")
    said = Said(
        source=members.text(given, "source", MAX_REF),
        place=members.text(given, "place", MAX_REF),
        memory_id=memory_id,
        identity=_digest(given, "identity"),
        origin=_one_of(given, "origin", ORIGINS),
        url=members.optional(given, "url", MAX_URL),
        author_class=_one_of(given, "author_class", AUTHOR_CLASSES),
        author=members.optional(given, "author", MAX_NAME),
        seen_at=members.instant(given, "seen_at"),
        updated_at=members.instant(given, "updated_at") if dated else None,
    )
    if "#" in said.source or len(said.ref) > MAX_REF:
        raise invalid("a source has a # in its name, or is too long with its place")
    return said


def _version(document: object, memory: Memory) -> Version:
    given = members.exactly(document, _VERSION, "a version")
    before = from_json(given["memory"])
    revision = members.whole(given, "revision", 1, MAX_COUNT)
    if before.id != memory.id or before.revision != revision or revision >= memory.revision:
        raise invalid("a version is of another memory, or not older than it")
    actor = members.text(given, "actor", MAX_NAME)
    return Version(revision, members.instant(given, "replaced_at"), actor, given["memory"])


def _conflict(document: Mapping[str, Any]) -> Conflict:
    members.exactly(document, _CONFLICT, "a conflict")
    first = identifier(document["memory_id"], "memory_id")
    second = identifier(document["other_id"], "other_id")
    if first >= second:
        raise invalid("the two memories of a conflict are not in the order of their ids")
    return Conflict(first, second, _one_of(document, "reason", REASONS), members.instant(document, "found_at"))


def _alias(document: Mapping[str, Any]) -> Alias:
    members.exactly(document, _ALIAS, "an alias")
    alias, key = members.text(document, "alias", _MAX_ENTITY), members.text(document, "key", _MAX_ENTITY)
    found = Alias(alias, members.text(document, "alias_name", MAX_NAME), key, members.text(document, "name", MAX_NAME))
    if not found.alias or found.alias != entities.key(found.alias_name) or found.key != entities.key(found.name):
        raise invalid("alias and key are not the names in the form in which they are compared")
    if found.alias == found.key or not found.key:
        raise invalid("an alias is another name")
    return found


def _tombstone(document: Mapping[str, Any]) -> Tombstone:
    members.exactly(document, _TOMBSTONE, "a tombstone")
    return Tombstone(
        id=identifier(document["id"], "id"),
        keyed_hash=_digest(document, "keyed_hash"),
        forgotten_at=members.instant(document, "forgotten_at"),
        reason=members.text(document, "reason", _MAX_REASON),
    )


_READERS: dict[str, Callable[[Mapping[str, Any]], Record]] = {
    "packet": _packet,
    "capsule": _capsule,
    "memory": _memory,
    "conflict": _conflict,
    "alias": _alias,
    "tombstone": _tombstone,
}


def _saved_at(given: Mapping[str, Any]) -> datetime:
    saved_at = members.instant(given, "saved_at")
    if time.microseconds(saved_at) < 0:
        raise invalid("saved_at: no store is that old")
    return saved_at


def _digest(given: Mapping[str, Any], name: str) -> str:
    value = members.text(given, name)
    if len(value) != _HASH_LENGTH or not _HASH.issuperset(value):
        raise invalid(f"{name} is not a hash of {_HASH_LENGTH} hex digits")
    return value


def _one_of(given: Mapping[str, Any], name: str, allowed: Sequence[str]) -> str:
    value = members.text(given, name)
    if value not in allowed:
        raise invalid(f"{name} is none of {', '.join(allowed)}")
    return value


# -- what the redactor looks at -----------------------------------------------------------------------------------


def _texts(record: Record) -> list[Field]:
    """The texts of a line that somebody wrote, so no ids, hashes and times."""
    if isinstance(record, PacketRecord):
        named = {"project_key": record.project_key or "", "project_label": record.project_label or ""}
        return [*packet_fields.texts(record.packet.document()), *_fields(named)]
    if isinstance(record, CapsuleRecord):
        lines = {f"line {number}": line for number, line in enumerate(record.text.splitlines(), 1)}
        return list(_fields(lines | {"project_key": record.project_key, "origin": record.origin}))
    if isinstance(record, MemoryRecord):
        return list(_memory_texts(record))
    if isinstance(record, Alias):
        return list(_fields({"alias_name": record.alias_name, "name": record.name}))
    return list(_fields({"reason": record.reason}))


def _memory_texts(record: MemoryRecord) -> Iterator[Field]:
    yield from _fields(_own_texts(record.memory, ""))
    for place, said in enumerate(record.said):
        named = f"sources[{place}]"
        yield from _fields({f"{named}.ref": said.ref, f"{named}.url": said.url, f"{named}.author": said.author})
    for place, version in enumerate(record.versions):
        yield from _fields({f"versions[{place}].actor": version.actor})
        yield from _fields(_own_texts(from_json(version.body), f"versions[{place}]."))


def _own_texts(memory: Memory, before: str) -> dict[str, str]:
    written = memory.provenance
    named = {
        "content": memory.content,
        "summary": memory.summary,
        "project": memory.project,
        "thread": memory.thread,
        "speaker": memory.speaker,
        "ref": written.ref,
        "url": written.url,
        "author": written.author,
        "receipt": written.receipt,
    }
    named |= {f"entities[{place}]": text for place, text in enumerate(memory.entities)}
    named |= {f"tags[{place}]": text for place, text in enumerate(memory.tags)}
    return {before + name: text for name, text in named.items()}


def _fields(texts: Mapping[str, str]) -> Iterator[Field]:
    return (Field(path, text, True) for path, text in texts.items() if text)
