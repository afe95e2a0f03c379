"""The packet as a value, and its canonical form (section 000.1 of the facts, decision P3)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from segue.base import ids, jsontext, time

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

CURRENT_VERSION = "0.2"
MAX_BYTES = 32_768


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """What the work belongs to: a short `name` and a `ref` (repository or URL, never a local path)."""

    name: str = ""
    ref: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A choice that was made; a `locked` one is settled and not to be reopened."""

    what: str
    why: str
    consequences: str = ""
    locked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A recipe for reuse: when it applies and how it goes. `name` stays the same along a chain."""

    name: str
    when_applicable: str
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """Something that was tried; `outcome` is succeeded, failed or partial, `confidence` low, medium or high."""

    tried: str
    outcome: str
    learned: str = ""
    confidence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Who wrote the packet; `source_hash` is `sha256:` and 64 hex digits of what it was made from."""

    author_model: str = ""
    author_human: str = ""
    source_hash: str = ""
    confidence: str = ""


@dataclass(frozen=True, kw_only=True)
class Packet:
    """One Core Memory Packet.

    `created_at` is kept as the RFC 3339 text that was given; an absent text is "", an absent list is empty.
    `project` and `provenance` are None where the member is absent (a present, empty one stays `{}`).
    """

    ltm_version: str
    id: str
    parent_id: str = ""
    created_at: str
    project: Project | None = None
    goal: str
    success_criteria: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()
    methods: tuple[Method, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    open_questions: tuple[str, ...] = ()
    next_step: str
    tags: tuple[str, ...] = ()
    provenance: Provenance | None = None

    @classmethod
    def new(cls, *, goal: str, next_step: str, now: datetime | None = None, **members: Any) -> Packet:
        """Return a packet of the current version with a fresh ULID and the time `now` (else the clock's).

        `members` are further attributes of the class, lists or tuples. Raises TypeError for one that does not exist.
        """
        instant = now or time.utc_now()
        created = time.to_text(instant.replace(microsecond=0))
        filled = {"ltm_version": CURRENT_VERSION, "id": ids.new(instant), "created_at": created} | members
        filled = {name: tuple(value) if isinstance(value, list) else value for name, value in filled.items()}
        return cls(goal=goal, next_step=next_step, **filled)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Packet:
        """Return the packet that a document, valid against its schema, describes."""
        members = dict(document)
        for name, kind in _OBJECTS.items():
            if name in members:
                members[name] = kind(**members[name])
        for name, kind in _OBJECT_LISTS.items():
            members[name] = tuple(kind(**item) for item in members.get(name, ()))
        for name in _TEXT_LISTS:
            members[name] = tuple(members.get(name, ()))
        return cls(**members)

    def document(self) -> dict[str, Any]:
        """Return the packet as JSON values in canonical order, empty and false optional members left out."""
        return _members(self, required=("ltm_version", "id", "created_at", "goal", "next_step"))

    @cached_property
    def canonical(self) -> bytes:
        """The canonical bytes: UTF-8, two-space indent, or none where that would exceed 32,768 bytes (P3)."""
        document = self.document()
        indented = jsontext.dump(document, indent=True)
        return indented if len(indented) <= MAX_BYTES else jsontext.dump(document)

    @cached_property
    def content_hash(self) -> str:
        """`sha256:…` over all but `id` and `created_at`: equal for two packets that record the same state."""
        document = self.document()
        del document["id"], document["created_at"]
        return jsontext.sha256(jsontext.dump(document))

    @cached_property
    def created(self) -> datetime:
        """The instant that `created_at` names, cut to microseconds."""
        return time.parse(self.created_at)


_OBJECTS: dict[str, Any] = {"project": Project, "provenance": Provenance}
_OBJECT_LISTS: dict[str, Any] = {"decisions": Decision, "methods": Method, "attempts": Attempt}
_TEXT_LISTS = ("success_criteria", "constraints", "open_questions", "tags")
# An empty required text inside an object is kept (P4).
_REQUIRED: dict[type, tuple[str, ...]] = {
    Project: (),
    Provenance: (),
    Decision: ("what", "why"),
    Method: ("name", "when_applicable", "how"),
    Attempt: ("tried", "outcome"),
}
_NAMES = {kind: tuple(field.name for field in fields(kind)) for kind in (*_REQUIRED, Packet)}


def _members(value: Any, required: tuple[str, ...]) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for name in _NAMES[type(value)]:
        member = getattr(value, name)
        if isinstance(member, tuple):
            member = [item if isinstance(item, str) else _members(item, _REQUIRED[type(item)]) for item in member]
        elif type(member) in _REQUIRED:
            document[name] = _members(member, _REQUIRED[type(member)])
            continue
        if member or name in required:
            document[name] = member
    return document
