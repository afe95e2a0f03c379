"""Packet to capsule (decision C-10), deterministic, with a report of what did not come along."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, TypeVar

from segue.base import time
from segue.base.text import sentences
from segue.capsules import CAPS, MAX_CHARS, Capsule, Loop, Meta, Node, Rejection, fit
from segue.conversions.reports import Kind, Loss, masked
from segue.conversions.transliteration import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from segue.packets.model import Attempt, Packet

_E = TypeVar("_E", Node, Rejection, Loop)

HARD_LIMIT = "stated as a hard limit"

_TOPIC = 40
_LONG_TOPIC, _LONG_SEED, _LONG_STEP = 128, 300, 400
_DEEP, _WORKING = 8, 2
_INNER_STOP = re.compile(r"[.!?]+(?=\s)")
_BREAK = re.compile(r"[\t-\r\x1c-\x1e\x85\u2028\u2029]")
# A rejection begins with its option: one that looks like another line of the format would be read as that line.
_LINE = re.compile(r"(CHAIN|INTEGRITY|SEED):")
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
    paths: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def lose(self, kind: Kind, path: str, text: str) -> None:
        self.losses.append(Loss(kind, path, text))

    def text(self, text: str, path: str, stand_in: str = "") -> str:
        """Return `text` as a field: ASCII, one line, no pipe, not empty where there is a stand-in."""
        result = plain(text, path)
        changes = [f"{old} as {new or 'nothing'}" for old, new in result.replaced.items()]
        changes += ["line breaks and tabs as spaces"] if _BREAK.search(text.strip()) else []
        changes += ["| as /"] if "|" in result.text else []
        if changes:
            self.lose("replaced", path, ", ".join(changes))
        if not result.text and stand_in:
            self.lose("filled", path, stand_in)
        return result.text.replace("|", "/") or stand_in

    def place(self, entry: _E, path: str) -> _E:
        """Note where an entry comes from, and return it."""
        self.paths.setdefault((entry.layer, entry.line), []).append(path)
        return entry

    def drop(self, layer: str, line: str) -> None:
        """Report an entry that goes; of two that became the same, the later one."""
        self.lose("dropped", self.paths[layer, line].pop(), line)


def to_capsule(packet: Packet) -> ToCapsule:
    """Return the capsule of a packet by decision C-10, cut to caps and budget by PCSF section 5.

    Every packet fits: where the budget is too small for L1, the last of it go, and a very long goal or next step is
    cut. Secrets in the report are masked; whether the capsule holds one is for whoever lets it travel (decision C-9).

    Raises InvalidInput `capsule.transliteration`, with the place, for text that has no ASCII form.
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
        writer.drop(line.layer, line.entry)
    return ToCapsule(fitted.capsule, masked(writer.losses))


def _meta(packet: Packet, writer: _Writer) -> Meta:
    if packet.project is not None and packet.project.name.strip():
        topic = _cut(writer.text(packet.project.name, "project.name", "work"), _LONG_TOPIC, "project.name", writer)
    else:  # what is replaced in the goal is reported where SEED is made of it
        topic = plain(packet.goal[:_TOPIC], "goal").text.replace("|", "/") or "work"
    entries = len(packet.decisions) + len(packet.attempts)
    depth = "DEEP" if entries >= _DEEP else "WORKING" if entries >= _WORKING else "SURFACE"
    moment = time.to_text(packet.created.replace(microsecond=0))[:16] + "Z"
    return Meta(topic, packet.tags[0] if packet.tags else "software", depth, moment)


def _skeleton(packet: Packet, writer: _Writer) -> list[Node]:
    numbered = list(enumerate(packet.decisions))
    nodes = []
    for index, decision in sorted(numbered, key=lambda pair: not pair[1].locked):
        what = writer.text(decision.what, f"decisions[{index}].what", "a decision without a text")
        why = writer.text(decision.why, f"decisions[{index}].why", _FILLED["why"])
        nodes.append(writer.place(Node("CHOICE", what, why), f"decisions[{index}]"))
    for path, text in _filled("constraints", packet.constraints, writer):
        nodes.append(writer.place(Node("CONSTRAINT", text, HARD_LIMIT), path))
    for index, attempt in enumerate(packet.attempts):
        if attempt.outcome == "succeeded":
            tried, learned = _attempt(attempt, index, writer)
            nodes.append(writer.place(Node("OUTCOME", tried, learned), f"attempts[{index}]"))
    return nodes


def _filled(name: str, texts: Sequence[str], writer: _Writer) -> list[tuple[str, str]]:
    """Return path and written text of each of the texts that says something; report the others."""
    found = []
    for index, text in enumerate(texts):
        path = f"{name}[{index}]"
        if written := writer.text(text, path):
            found.append((path, written))
        else:
            writer.lose("dropped", path, "it is empty")
    return found


def _negative(packet: Packet, writer: _Writer) -> list[Rejection]:
    entries = []
    for index, attempt in enumerate(packet.attempts):
        if attempt.outcome != "succeeded":
            tried, learned = _attempt(attempt, index, writer)
            if _LINE.match(tried):
                writer.lose("replaced", f"attempts[{index}].tried", ": as -")
                tried = tried.replace(":", " -", 1)
            reason = f"{attempt.outcome}, {attempt.confidence}" if attempt.confidence else attempt.outcome
            entries.append(writer.place(Rejection(tried, reason, learned), f"attempts[{index}]"))
    return entries


def _attempt(attempt: Attempt, index: int, writer: _Writer) -> tuple[str, str]:
    tried = writer.text(attempt.tried, f"attempts[{index}].tried", "an attempt without a text")
    return tried, writer.text(attempt.learned, f"attempts[{index}].learned", _FILLED["learned"])


def _loops(packet: Packet, writer: _Writer) -> list[Loop]:
    step = writer.text(packet.next_step, "next_step", "-")  # a reader asks about such a loop (PCSF section 6)
    loops = [writer.place(Loop("INCOMPLETE_TASK", step, "HIGH"), "next_step")]
    for path, text in _filled("open_questions", packet.open_questions, writer):
        loops.append(writer.place(Loop("DEFERRED_QUESTION", text, "MED"), path))
    for path, text in _filled("success_criteria", packet.success_criteria, writer):
        loops.append(writer.place(Loop("PROMISE", text, "LOW"), path))
    return loops


def _seed(packet: Packet, writer: _Writer) -> str:
    """The goal's first sentence; a stop inside it that PCSF would take for its end (C-4) is left out."""
    goal = writer.text(packet.goal, "goal", "Go on with the work.")
    found = sentences(goal)
    speaks = next((count for count, each in enumerate(found, 1) if any(map(str.isalnum, each))), len(found))
    first, rest = " ".join(found[:speaks]), " ".join(found[speaks:])
    if rest:
        writer.lose("cut", "goal", rest)
    seed = " ".join(_INNER_STOP.sub("", first).split())
    if seed != first:
        writer.lose("replaced", "goal", "stops inside the sentence are left out")
    return seed


def _capped(entries: list[_E], layer: int, writer: _Writer) -> tuple[_E, ...]:
    for entry in reversed(entries[CAPS[layer] :]):
        writer.drop(entry.layer, entry.line)
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
    if packet.provenance is not None:
        for member in fields(packet.provenance):
            _lose_present(writer, f"provenance.{member.name}", getattr(packet.provenance, member.name))
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
        writer.drop(capsule.skeleton[-1].layer, capsule.skeleton[-1].line)
        capsule = replace(capsule, skeleton=capsule.skeleton[:-1])
    return capsule


def _cut(text: str, limit: int, path: str, writer: _Writer) -> str:
    if len(text) <= limit:
        return text
    kept = text[: limit - 3].rsplit(" ", 1)[0].rstrip(" .!?,;:") or text[: limit - 3]
    writer.lose("cut", path, text[len(kept) :].strip())
    return kept + "..."
