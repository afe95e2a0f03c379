"""Packet to capsule (decision C-10), deterministic, with a report of what did not come along."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from segue.base import time
from segue.base.text import sentences
from segue.capsules import CAPS, MAX_CHARS, Capsule, Loop, Meta, Node, Rejection, fit
from segue.conversions.reports import Kind, Loss
from segue.conversions.transliteration import plain

if TYPE_CHECKING:
    from segue.packets.model import Attempt, Packet

_E = TypeVar("_E", Node, Rejection, Loop)

HARD_LIMIT = "stated as a hard limit"

_TOPIC = 40
_LONG_SEED, _LONG_STEP = 300, 400
_DEEP, _WORKING = 8, 2
_INNER_STOP = re.compile(r"[.!?]+(?=\s)")
_FILLED = {"why": "no reason was given", "learned": "nothing was noted"}


@dataclass(frozen=True, slots=True)
class ToCapsule:
    """A capsule made from a packet, and what is not in it."""

    capsule: Capsule
    losses: list[Loss]


@dataclass
class _Writer:
    """Collects fields as capsules take them, and the losses on the way."""

    losses: list[Loss] = field(default_factory=list)
    paths: dict[str, str] = field(default_factory=dict)

    def lose(self, kind: Kind, path: str, text: str) -> None:
        self.losses.append(Loss(kind, path, text))

    def text(self, text: str, path: str, stand_in: str = "") -> str:
        """Return `text` as a field: ASCII, one line, no pipe, not empty where there is a stand-in."""
        result = plain(text, path)
        if result.replaced:
            changes = ", ".join(f"{old} as {new or 'nothing'}" for old, new in result.replaced.items())
            self.lose("replaced", path, changes)
        if "|" in result.text:
            self.lose("replaced", path, "| as /")
        written = result.text.replace("|", "/")
        if not written and stand_in:
            self.lose("filled", path, stand_in)
            return stand_in
        return written


def to_capsule(packet: Packet) -> ToCapsule:
    """Return the capsule of a packet by decision C-10, cut to caps and budget by PCSF section 5.

    Raises InvalidInput `capsule.transliteration` for text that has no ASCII form, `capsule.cannot_fit` where what a
    capsule never drops is over its 1,200 characters.
    """
    writer = _Writer()
    capsule = Capsule(
        version="v1.2",
        meta=_meta(packet, writer),
        chain=None,
        stamped=False,
        skeleton=_capped(_skeleton(packet, writer), 0, writer),
        negative=_capped(_negative(packet, writer), 1, writer),
        internal=(),
        relation=(),
        loops=_capped(_loops(packet, writer), 4, writer),
        seed=_seed(packet, writer),
    )
    _without_place(packet, writer)
    fitted = fit(_small_enough(capsule, writer))
    for line in fitted.dropped:
        writer.lose("dropped", writer.paths.get(line.entry, line.layer), line.entry)
    return ToCapsule(fitted.capsule, writer.losses)


def _meta(packet: Packet, writer: _Writer) -> Meta:
    named = packet.project is not None and packet.project.name.strip() != ""
    topic = packet.project.name if packet.project and named else packet.goal[:_TOPIC]
    entries = len(packet.decisions) + len(packet.attempts)
    depth = "DEEP" if entries >= _DEEP else "WORKING" if entries >= _WORKING else "SURFACE"
    moment = time.to_text(packet.created.replace(microsecond=0))[:16] + "Z"
    domain = packet.tags[0] if packet.tags else "software"
    return Meta(writer.text(topic, "project.name" if named else "goal", "work"), domain, depth, moment)


def _skeleton(packet: Packet, writer: _Writer) -> list[Node]:
    numbered = list(enumerate(packet.decisions))
    nodes = []
    for index, decision in sorted(numbered, key=lambda pair: not pair[1].locked):
        what = writer.text(decision.what, f"decisions[{index}].what", "a decision without a text")
        why = writer.text(decision.why, f"decisions[{index}].why", _FILLED["why"])
        nodes.append(_placed(Node("CHOICE", what, why), f"decisions[{index}]", writer))
    for index, constraint in enumerate(packet.constraints):
        if not constraint.strip():
            writer.lose("dropped", f"constraints[{index}]", "it is empty")
            continue
        text = writer.text(constraint, f"constraints[{index}]")
        nodes.append(_placed(Node("CONSTRAINT", text, HARD_LIMIT), f"constraints[{index}]", writer))
    for index, attempt in enumerate(packet.attempts):
        if attempt.outcome == "succeeded":
            tried, learned = _attempt(attempt, index, writer)
            nodes.append(_placed(Node("OUTCOME", tried, learned), f"attempts[{index}]", writer))
    return nodes


def _negative(packet: Packet, writer: _Writer) -> list[Rejection]:
    entries = []
    for index, attempt in enumerate(packet.attempts):
        if attempt.outcome != "succeeded":
            tried, learned = _attempt(attempt, index, writer)
            reason = f"{attempt.outcome}, {attempt.confidence}" if attempt.confidence else attempt.outcome
            entries.append(_placed(Rejection(tried, reason, learned), f"attempts[{index}]", writer))
    return entries


def _attempt(attempt: Attempt, index: int, writer: _Writer) -> tuple[str, str]:
    tried = writer.text(attempt.tried, f"attempts[{index}].tried", "an attempt without a text")
    return tried, writer.text(attempt.learned, f"attempts[{index}].learned", _FILLED["learned"])


def _loops(packet: Packet, writer: _Writer) -> list[Loop]:
    loops = [
        _placed(Loop("INCOMPLETE_TASK", writer.text(packet.next_step, "next_step", "-"), "HIGH"), "next_step", writer)
    ]
    for name, kind, priority in (
        ("open_questions", "DEFERRED_QUESTION", "MED"),
        ("success_criteria", "PROMISE", "LOW"),
    ):
        for index, text in enumerate(getattr(packet, name)):
            path = f"{name}[{index}]"
            if text.strip():
                loops.append(_placed(Loop(kind, writer.text(text, path), priority), path, writer))
            else:
                writer.lose("dropped", path, "it is empty")
    return loops


def _seed(packet: Packet, writer: _Writer) -> str:
    """The goal's first sentence; a stop inside it that PCSF would take for its end (C-4) is left out."""
    goal = writer.text(packet.goal, "goal", "Go on with the work.")
    first, *rest = sentences(goal)
    if rest:
        writer.lose("cut", "goal", " ".join(rest))
    seed = _INNER_STOP.sub("", first)
    if seed != first:
        writer.lose("replaced", "goal", "stops inside the sentence are left out")
    return seed


def _placed(entry: _E, path: str, writer: _Writer) -> _E:
    writer.paths.setdefault(entry.line, path)
    return entry


def _capped(entries: list[_E], layer: int, writer: _Writer) -> tuple[_E, ...]:
    for entry in entries[CAPS[layer] :]:
        writer.lose("dropped", writer.paths[entry.line], entry.line)
    return tuple(entries[: CAPS[layer]])


def _without_place(packet: Packet, writer: _Writer) -> None:
    """List what a capsule has no place for (C-10)."""
    for index, decision in enumerate(packet.decisions):
        _lose_present(writer, f"decisions[{index}].consequences", decision.consequences)
        _lose_present(writer, f"decisions[{index}].locked", "that it is locked" if decision.locked else "")
    for index, method in enumerate(packet.methods):
        _lose_present(writer, f"methods[{index}]", method.name)
    for index, attempt in enumerate(packet.attempts):
        if attempt.outcome == "succeeded":
            _lose_present(writer, f"attempts[{index}].confidence", attempt.confidence)
    for index, tag in enumerate(packet.tags[1:], start=1):
        _lose_present(writer, f"tags[{index}]", tag)
    _lose_present(writer, "project.ref", packet.project.ref if packet.project else "")
    _lose_present(writer, "provenance", "author, source and confidence" if packet.provenance else "")
    _lose_present(writer, "parent_id", packet.parent_id)


def _lose_present(writer: _Writer, path: str, text: str) -> None:
    if text:
        writer.lose("no place", path, text)


def _small_enough(capsule: Capsule, writer: _Writer) -> Capsule:
    """Make the capsule one that can be fitted: PCSF never drops L1 or the seed, and the next step must survive.

    The seed and the next step are cut where they alone are too long; then the last of L1 go.
    """
    least = replace(capsule, skeleton=(), negative=(), loops=capsule.loops[:1])
    if len(least.text) > MAX_CHARS:
        step = replace(
            capsule.loops[0], description=_cut(capsule.loops[0].description, _LONG_STEP, "next_step", writer)
        )
        seed = _cut(capsule.seed, _LONG_SEED, "goal", writer)
        capsule = replace(capsule, seed=seed, loops=(step, *capsule.loops[1:]))
    while len(replace(capsule, negative=(), loops=capsule.loops[:1]).text) > MAX_CHARS and capsule.skeleton:
        gone = capsule.skeleton[-1]
        writer.lose("dropped", writer.paths[gone.line], gone.line)
        capsule = replace(capsule, skeleton=capsule.skeleton[:-1])
    return capsule


def _cut(text: str, limit: int, path: str, writer: _Writer) -> str:
    if len(text) <= limit:
        return text
    kept = text[: limit - 3].rsplit(" ", 1)[0].rstrip(" .!?,;:") or text[: limit - 3]
    writer.lose("cut", path, text[len(kept) :].strip())
    return kept + "..."
