"""The capsule as a value, and its canonical text.

PCSF section 2 gives the parts of a capsule; section 2.1 the 1,200 characters that all of them share. A value of
this module is only what its text says: whether that text keeps the rules is `segue.capsules.rules`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from segue.capsules import integrity

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_CHARS = 1_200
MAX_HOPS = 999_999_999

TOKENS = {"===PCSF:v1===": "v1", "===PCSF:v1.1===": "v1.1", "===PCSF:v1.2===": "v1.2"}
CLOSE = "===END==="
HEADERS = ("L1:SKELETON", "L2:NEGATIVE", "L3:INTERNAL", "L4:RELATION", "L5:LOOPS")
CAPS = (12, 8, 6, 5, 8)

DEPTHS = ("SURFACE", "WORKING", "DEEP")
EVENT_TYPES = ("CHOICE", "CONSTRAINT", "DISCOVERY", "PIVOT", "OUTCOME")
STATE_TYPES = ("UNCERTAINTY", "DIRECTION", "INTUITION", "UNRESOLVED")
LOOP_TYPES = ("PROMISE", "DEFERRED_QUESTION", "INCOMPLETE_TASK", "HYPOTHESIS_UNTESTED")
PRIORITIES = ("HIGH", "MED", "LOW")

Version = Literal["v1", "v1.1", "v1.2"]


@dataclass(frozen=True, slots=True)
class Meta:
    """The META line (section 2.4): topic, domain, depth and the minute in UTC, as text."""

    topic: str
    domain: str
    depth: str
    timestamp: str

    @property
    def line(self) -> str:
        """The line as a capsule writes it."""
        return f"META: {self.topic} | {self.domain} | {self.depth} | {self.timestamp}"


@dataclass(frozen=True, slots=True)
class Chain:
    """The CHAIN line (section 2.10b): how often the capsule was stitched, and the time of the first one."""

    hops: int
    origin: str

    @property
    def line(self) -> str:
        """The line as a capsule writes it."""
        return f"CHAIN: hops={self.hops} origin={self.origin}"


@dataclass(frozen=True, slots=True)
class Node:
    """An entry of L1:SKELETON (section 2.5): what was decided or found, and why."""

    type: str
    fact: str
    reason: str
    layer: ClassVar[str] = HEADERS[0]

    @property
    def line(self) -> str:
        """The line as a capsule writes it."""
        return f"{self.type} | {self.fact} | {self.reason}"

    @property
    def key(self) -> tuple[str, ...]:
        """What makes two nodes the same thread (section 7.1): type and fact."""
        return (self.type, self.fact)


@dataclass(frozen=True, slots=True)
class Rejection:
    """An entry of L2:NEGATIVE (section 2.6): what was dropped, why, and what to learn from it."""

    option: str
    reason: str
    lesson: str
    layer: ClassVar[str] = HEADERS[1]

    @property
    def line(self) -> str:
        """The line as a capsule writes it."""
        return f"{self.option} | {self.reason} | {self.lesson}"

    @property
    def key(self) -> tuple[str, ...]:
        """What makes two rejections the same thread (section 7.1): option and reason."""
        return (self.option, self.reason)


@dataclass(frozen=True, slots=True)
class State:
    """An entry of L3:INTERNAL (section 2.7): what the model itself held, in the first person."""

    type: str
    content: str
    layer: ClassVar[str] = HEADERS[2]

    @property
    def line(self) -> str:
        """The line as a capsule writes it."""
        return f"{self.type}: {self.content}"

    @property
    def key(self) -> tuple[str, ...]:
        """What makes two states the same thread (section 7.1): the type."""
        return (self.type,)


@dataclass(frozen=True, slots=True)
class Relation:
    """An entry of L4:RELATION (section 2.8): one axis of the working relationship and its value."""

    dimension: str
    state: str
    layer: ClassVar[str] = HEADERS[3]

    @property
    def line(self) -> str:
        """The line as a capsule writes it."""
        return f"{self.dimension}: {self.state}"

    @property
    def key(self) -> tuple[str, ...]:
        """What makes two relations the same thread (section 7.1): the dimension."""
        return (self.dimension,)


@dataclass(frozen=True, slots=True)
class Loop:
    """An entry of L5:LOOPS (section 2.9): a thread that is still open."""

    type: str
    description: str
    priority: str
    layer: ClassVar[str] = HEADERS[4]

    @property
    def line(self) -> str:
        """The line as a capsule writes it."""
        return f"{self.type} | {self.description} | {self.priority}"

    @property
    def key(self) -> tuple[str, ...]:
        """What makes two loops the same thread (section 7.1): the description."""
        return (self.description,)


Entry = Node | Rejection | State | Relation | Loop


@dataclass(frozen=True, slots=True)
class Capsule:
    """One capsule (PCSF section 2.2). `stamped` says that its text carries an INTEGRITY line.

    The values of that line are no part of the capsule: `render` computes them, so they are never stale.
    """

    version: Version
    meta: Meta
    chain: Chain | None
    stamped: bool
    skeleton: tuple[Node, ...]
    negative: tuple[Rejection, ...]
    internal: tuple[State, ...]
    relation: tuple[Relation, ...]
    loops: tuple[Loop, ...]
    seed: str

    @property
    def layers(self) -> tuple[tuple[Entry, ...], ...]:
        """The five layers in their order."""
        return (self.skeleton, self.negative, self.internal, self.relation, self.loops)

    @property
    def text(self) -> str:
        """The canonical text, as `render` gives it."""
        return render(self)

    def to_json(self) -> dict[str, Any]:
        """Return the capsule as a JSON object: header fields, and each layer as a list of objects."""
        chain = None if self.chain is None else {"hops": self.chain.hops, "origin": self.chain.origin}
        meta = {"topic": self.meta.topic, "domain": self.meta.domain, "depth": self.meta.depth}
        layers = {
            header: [{name: getattr(entry, name) for name in entry.__match_args__} for entry in entries]
            for header, entries in zip(HEADERS, self.layers, strict=True)
        }
        return {
            "version": self.version,
            "meta": {**meta, "timestamp": self.meta.timestamp},
            "chain": chain,
            "stamped": self.stamped,
            "layers": layers,
            "seed": self.seed,
        }


@dataclass(frozen=True, slots=True)
class Line:
    """An entry in a report: the full header of its layer, and its text (decision C-8a)."""

    layer: str
    entry: str

    @classmethod
    def of(cls, entry: Entry) -> Line:
        """Return the line of `entry`."""
        return cls(entry.layer, entry.line)

    def to_json(self) -> dict[str, str]:
        """Return `{"layer", "entry"}`."""
        return {"layer": self.layer, "entry": self.entry}


def render(capsule: Capsule) -> str:
    """Return the canonical text of `capsule`: one blank line between all sections, a final LF (decision C-1).

    A stamped capsule gets a fresh INTEGRITY line (section 2.10a). Nothing is checked here.
    """
    text = frame(capsule, capsule.layers)
    return integrity.stamp(text) if capsule.stamped else text


def frame(capsule: Capsule, layers: Sequence[Sequence[Entry]]) -> str:
    """Return the text of `capsule` with `layers` in place of its own, without an INTEGRITY line."""
    lines = [f"===PCSF:{capsule.version}===", capsule.meta.line]
    if capsule.chain is not None:
        lines.append(capsule.chain.line)
    for header, entries in zip(HEADERS, layers, strict=True):
        lines += ("", header)
        lines += [entry.line for entry in entries]
    lines += ("", f"SEED: {capsule.seed}", CLOSE, "")
    return "\n".join(lines)
