"""Packets and capsules as items to remember: every entry one, each with a reference to its place.

Decisions stay decisions and constraints constraints; a failed attempt is an observation in the layer `negative`
(decision M2), with what it taught; methods are procedures; goal, criteria and what worked are claims and observations;
open questions and the next step are questions and actions. What would not be understood by itself says what it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from segue.base import time
from segue.capsules.identity import identity
from segue.conversions.interchange.item import fraction, pieces
from segue.conversions.to_capsule import HARD_LIMIT
from segue.memories.item import LAYER_OF, AuthorClass, Item, Kind, Layer, Origin, Provenance
from segue.memories.source import source_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from segue.capsules import Capsule
    from segue.packets.model import Attempt, Packet

_HANDOFF = "handoff"  # the tag of a packet that was made of a handoff, and how it says there what has no other place
_PLACES = ("Run: ", "Node: ", "Continues at: ", "Evidence: ")
_URL = re.compile(r"https?://[^\s<>\"]{1,2000}")
_TRIED = {
    "succeeded": "Tried, and it worked: ",
    "partial": "Tried, and it worked in part: ",
    "failed": "Tried, and it failed: ",
}
_NODES: dict[str, Kind] = {
    "CHOICE": "decision",
    "PIVOT": "decision",
    "CONSTRAINT": "constraint",
    "DISCOVERY": "claim",
    "OUTCOME": "observation",
}
_STATES: dict[str, tuple[Kind, str]] = {
    "UNCERTAINTY": ("question", "Uncertain: "),
    "UNRESOLVED": ("question", "Unresolved: "),
    "DIRECTION": ("observation", "Direction: "),
    "INTUITION": ("observation", "Intuition: "),
}
_LOOPS: dict[str, tuple[Kind, str]] = {
    "PROMISE": ("action", "Promised: "),
    "INCOMPLETE_TASK": ("action", "To do: "),
    "DEFERRED_QUESTION": ("question", ""),
    "HYPOTHESIS_UNTESTED": ("question", "To be tested: "),
}


class _Source:
    """What all items of one packet or capsule share."""

    def __init__(self, origin: Origin, name: str, author_class: AuthorClass, **shared: str) -> None:
        self._origin = origin
        self._name = source_of(origin, name)
        self._author_class = author_class
        self._author = shared.get("author", "")
        self._url = shared.get("url", "")
        self._project = shared.get("project", "")
        self._at = shared.get("at") or None
        self.tags: tuple[str, ...] = ()

    def items(
        self,
        path: str,
        content: str,
        kind: Kind,
        layer: Layer | None = None,
        *,
        tags: tuple[str, ...] = (),
        confidence: float | None = None,
    ) -> Iterator[Item]:
        for order, text in enumerate(pieces(content)):
            ref = f"{self._name}#{path}"
            yield Item(
                content=text,
                kind=kind,
                layer=layer or LAYER_OF[kind],
                tags=tuple(dict.fromkeys((*self.tags, *tags))),
                project=self._project,
                occurred_at=self._at,
                confidence=confidence,
                provenance=Provenance(
                    origin=self._origin,
                    ref=f"{ref}.{order}" if order else ref,
                    author_class=self._author_class,
                    author=self._author,
                    url=self._url,
                ),
            )


def from_packet(packet: Packet, author_class: AuthorClass = "agent", *, saved_in: str = "") -> tuple[Item, ...]:
    """Return the items of a packet, in its order. Their `ref` is `packet:`, its id, `#` and the path of the member.

    `author_class` is whose word the packet is: external for one that came from somebody else. `saved_in` is the name
    of the project that it was saved in, to which its items belong where it names none itself.
    """
    written, project = packet.provenance, packet.project
    ref = project.ref if project else ""
    source = _Source(
        "packet",
        packet.id,
        author_class,
        author=(written.author_model or written.author_human) if written else "",
        url=ref if _URL.fullmatch(ref) else "",
        project=(project.name if project else "") or saved_in,
        at=time.to_text(packet.created),
    )
    source.tags = packet.tags
    return tuple(_of_packet(packet, source))


def _of_packet(packet: Packet, source: _Source) -> Iterator[Item]:
    sure = fraction(packet.provenance.confidence) if packet.provenance else None
    yield from source.items("goal", _said("Goal: ", packet.goal), "claim", tags=("goal",), confidence=sure)
    for index, text in enumerate(packet.success_criteria):
        path = f"success_criteria[{index}]"
        yield from source.items(path, _said("Done when: ", text), "claim", tags=("success-criterion",), confidence=sure)
    for index, text in enumerate(packet.constraints):
        if _HANDOFF in packet.tags and text.startswith(_PLACES):
            continue  # it tells where a handoff stood, and is no rule
        yield from source.items(f"constraints[{index}]", text, "constraint", confidence=sure)
    for index, decision in enumerate(packet.decisions):
        content = _joined(decision.what, ("Why: ", decision.why), ("Consequences: ", decision.consequences))
        tags = ("locked",) if decision.locked else ()
        yield from source.items(f"decisions[{index}]", content, "decision", tags=tags, confidence=sure)
    for index, method in enumerate(packet.methods):
        content = _joined(method.name, ("When: ", method.when_applicable), ("How: ", method.how))
        yield from source.items(f"methods[{index}]", content, "procedure", confidence=sure)
    for index, attempt in enumerate(packet.attempts):
        yield from _attempt(attempt, f"attempts[{index}]", source, sure)
    for index, text in enumerate(packet.open_questions):
        yield from source.items(f"open_questions[{index}]", text, "question", confidence=sure)
    yield from source.items("next_step", _said("Next step: ", packet.next_step), "action", confidence=sure)


def _attempt(attempt: Attempt, path: str, source: _Source, sure: float | None) -> Iterator[Item]:
    tried = _said(_TRIED.get(attempt.outcome, "Tried: "), attempt.tried)
    layer: Layer = "episodic" if attempt.outcome == "succeeded" else "negative"
    own = fraction(attempt.confidence)
    content = _joined(tried, ("Learned: ", attempt.learned))
    confidence = sure if own is None else own
    yield from source.items(path, content, "observation", layer, tags=(attempt.outcome,), confidence=confidence)


def from_capsule(capsule: Capsule, author_class: AuthorClass = "agent") -> tuple[Item, ...]:
    """Return the items of a capsule, in its order. Their `ref` is `capsule:`, its identity (C-11), layer and place."""
    source = _Source(
        "capsule",
        identity(capsule),
        author_class,
        project=capsule.meta.topic,
        at=capsule.meta.timestamp.removesuffix("Z") + ":00Z",
    )
    return tuple(_of_capsule(capsule, source))


def _of_capsule(capsule: Capsule, source: _Source) -> Iterator[Item]:
    yield from source.items("SEED", _said("Goal: ", capsule.seed), "claim", tags=("goal",))
    for index, node in enumerate(capsule.skeleton):
        reason = "" if node.reason == HARD_LIMIT else node.reason
        yield from source.items(f"L1[{index}]", _joined(node.fact, ("Why: ", reason)), _NODES[node.type])
    for index, entry in enumerate(capsule.negative):
        tried = _said("Tried and rejected: ", entry.option)
        content = _joined(tried, ("Why: ", entry.reason), ("Learned: ", entry.lesson))
        yield from source.items(f"L2[{index}]", content, "observation", "negative", tags=("failed",))
    for index, state in enumerate(capsule.internal):
        kind, prefix = _STATES[state.type]
        yield from source.items(f"L3[{index}]", prefix + state.content, kind)
    for index, relation in enumerate(capsule.relation):
        yield from source.items(f"L4[{index}]", f"{relation.dimension}: {relation.state}", "style")
    for index, loop in enumerate(capsule.loops):
        kind, prefix = _LOOPS[loop.type]
        tags = (f"priority-{loop.priority.lower()}",)
        yield from source.items(f"L5[{index}]", prefix + loop.description, kind, tags=tags)


def _said(prefix: str, text: str) -> str:
    return prefix + text if text.strip() else ""


def _joined(head: str, *parts: tuple[str, str]) -> str:
    """One text of a head and what belongs to it, a line each; empty ones are left out."""
    return "\n".join(filter(None, [head.strip(), *(_said(prefix, text.strip()) for prefix, text in parts)]))
