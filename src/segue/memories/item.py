"""The item: one thing to remember, as a person, an agent or a reader hands it in, before it is a memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal[
    "claim",
    "decision",
    "event",
    "preference",
    "observation",
    "action",
    "question",
    "summary",
    "style",
    "negative",
    "procedure",
    "constraint",
]
Layer = Literal["semantic", "episodic", "style", "decision", "preference", "negative", "procedural"]
Origin = Literal["packet", "capsule", "handoff", "continuity", "record", "text", "import"]
AuthorClass = Literal["user", "agent", "external"]

KINDS: tuple[Kind, ...] = get_args(Kind)
LAYERS: tuple[Layer, ...] = get_args(Layer)
ORIGINS: tuple[Origin, ...] = get_args(Origin)
AUTHOR_CLASSES: tuple[AuthorClass, ...] = get_args(AuthorClass)
LAYER_OF: dict[Kind, Layer] = {
    "claim": "semantic",
    "decision": "decision",
    "event": "episodic",
    "preference": "preference",
    "observation": "episodic",
    "action": "episodic",
    "question": "episodic",
    "summary": "semantic",
    "style": "style",
    "negative": "negative",
    "procedure": "procedural",
    "constraint": "negative",
}
# What a layer alone says of the kind (decision M2 for `negative`).
KIND_OF: dict[Layer, Kind] = {
    "semantic": "claim",
    "episodic": "observation",
    "style": "style",
    "decision": "decision",
    "preference": "preference",
    "negative": "constraint",
    "procedural": "procedure",
}

MAX_CONTENT = 8_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where an item comes from.

    `ref` is stable: the same source read again gives the same ones. What stands in it before the first `#` names the
    source, what follows the place there. `author_class` is what the source lets one conclude about the author, not
    what is proven. `receipt` is the id of the receipt that proves that it was saved, "" where there is none.
    """

    origin: Origin
    ref: str
    author_class: AuthorClass
    url: str = ""
    author: str = ""
    receipt: str = ""

    @property
    def source(self) -> str:
        """The source that the item was read from: a packet's id, `chatgpt:…`, `markdown:…`; "" where none is known."""
        return self.ref.partition("#")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing to remember. Times are RFC 3339, an absent text is "", `confidence` lies in 0 to 1.

    `speaker` is who said it, of a turn in a `thread`; `position` counts the turns there. `retired` says that the source
    no longer holds it true; `supersedes` are the `ref`s of items that this one replaces. `updated_at` is when the
    source says that it was changed last: of two readings of one place the later one holds.
    """

    content: str
    kind: Kind
    layer: Layer
    provenance: Provenance
    summary: str = ""
    entities: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    project: str = ""
    occurred_at: str | None = None
    updated_at: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    confidence: float | None = None
    retired: bool = False
    supersedes: tuple[str, ...] = ()
    thread: str = ""
    position: int | None = None
    speaker: str = ""
