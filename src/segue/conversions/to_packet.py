"""Capsule to packet (decision C-11): the same capsule always gives the same packet."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from segue.base import jsontext
from segue.base.untrusted import shorten
from segue.capsules.capsule import HEADERS
from segue.capsules.identity import identity
from segue.conversions.reports import Kind, Loss, masked
from segue.conversions.to_capsule import HARD_LIMIT
from segue.packets.model import CURRENT_VERSION, Attempt, Decision, Packet, Project, Provenance

if TYPE_CHECKING:
    from segue.capsules import Capsule, Loop, Meta, Rejection

NO_NEXT_STEP = "No open loop names a next step; ask the user what comes first."

_LONGEST_NAME, _LONGEST = 128, 1_024  # of a project's name, and of every other text of a packet
_TAG = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
_OUTCOME = re.compile(r"(failed|partial)(?:, (low|medium|high))?")
# What C-10 makes of a packet's own entries needs no word in the report.
_USUAL_TYPES = ("CHOICE", "CONSTRAINT", "OUTCOME")
_USUAL_STEP = ("INCOMPLETE_TASK", "HIGH")


@dataclass(frozen=True, slots=True)
class ToPacket:
    """A packet made from a capsule, and what is not in it."""

    packet: Packet
    losses: list[Loss]


@dataclass
class _Writer:
    """Collects the texts of a packet, and the losses on the way."""

    losses: list[Loss] = field(default_factory=list)

    def lose(self, kind: Kind, path: str, text: str) -> None:
        self.losses.append(Loss(kind, path, text))

    def text(self, text: str, path: str, limit: int = _LONGEST) -> str:
        """Return `text` as long as a packet takes it."""
        written = shorten(text, limit)
        if written != text:
            self.lose("cut", path, text[limit - 1 :])
        return written


def to_packet(capsule: Capsule) -> ToPacket:
    """Return the packet of a capsule by decision C-11: the same capsule always gives the same packet."""
    writer = _Writer()
    project, tags = _header(capsule.meta, writer)
    if capsule.chain is not None:
        writer.lose("no place", "CHAIN", capsule.chain.line)
    goal = writer.text(capsule.seed, "SEED")
    decisions, constraints, attempts = _skeleton(capsule, writer)
    attempts += [_failed(place, entry, writer) for place, entry in enumerate(capsule.negative)]
    questions, leanings = _internal(capsule, writer)
    constraints += leanings
    constraints += [
        writer.text(relation.line, f"{HEADERS[3]}[{place}]") for place, relation in enumerate(capsule.relation)
    ]
    next_step, open_loops = _loops(capsule.loops, writer)
    packet = Packet(
        ltm_version=CURRENT_VERSION,
        id=identity(capsule),
        created_at=capsule.meta.timestamp.removesuffix("Z") + ":00Z",
        project=project,
        goal=goal,
        constraints=tuple(constraints),
        decisions=tuple(decisions),
        attempts=tuple(attempts),
        open_questions=(*open_loops, *questions),
        next_step=next_step,
        tags=tags,
        provenance=Provenance(source_hash=jsontext.sha256(capsule.text.encode("ascii"))),
    )
    return ToPacket(packet, masked(writer.losses))


def _header(meta: Meta, writer: _Writer) -> tuple[Project, tuple[str, ...]]:
    tag = meta.domain.lower().replace(" ", "-")
    tags = (tag,) if _TAG.fullmatch(tag) else ()
    if not tags:
        writer.lose("no place", "META", f"domain {meta.domain}")
    elif tag != meta.domain:
        writer.lose("replaced", "META", f"domain {meta.domain} as {tag}")
    writer.lose("no place", "META", f"depth {meta.depth}")
    return Project(name=writer.text(meta.topic, "META", _LONGEST_NAME)), tags


def _skeleton(capsule: Capsule, writer: _Writer) -> tuple[list[Decision], list[str], list[Attempt]]:
    decisions, constraints, worked = [], [], []
    for place, node in enumerate(capsule.skeleton):
        path = f"{HEADERS[0]}[{place}]"
        if node.type not in _USUAL_TYPES:
            writer.lose("no place", path, f"type {node.type}")
        if node.type == "CONSTRAINT":
            limit = node.fact if node.reason == HARD_LIMIT else f"{node.fact} ({node.reason})"
            constraints.append(writer.text(limit, path))
            continue
        fact, reason = writer.text(node.fact, path), writer.text(node.reason, path)
        if node.type in ("CHOICE", "PIVOT"):
            decisions.append(Decision(what=fact, why=reason))
        else:
            worked.append(Attempt(tried=fact, outcome="succeeded", learned=reason))
    return decisions, constraints, worked


def _failed(place: int, entry: Rejection, writer: _Writer) -> Attempt:
    """What C-10 wrote as the reason (an outcome and its confidence) is read back; any other reason joins the lesson."""
    path = f"{HEADERS[1]}[{place}]"
    tried = writer.text(entry.option, path)
    known = _OUTCOME.fullmatch(entry.reason)
    if known is None:
        return Attempt(tried=tried, outcome="failed", learned=writer.text(f"{entry.lesson} ({entry.reason})", path))
    learned = entry.lesson
    if known[1] == "partial":
        writer.lose("replaced", path, "partial as failed")
        learned += " (it worked in part)"
    return Attempt(tried=tried, outcome="failed", learned=writer.text(learned, path), confidence=known[2] or "")


def _internal(capsule: Capsule, writer: _Writer) -> tuple[list[str], list[str]]:
    """Return what L3 asks, and where it leans."""
    questions, leanings = [], []
    for place, state in enumerate(capsule.internal):
        path = f"{HEADERS[2]}[{place}]"
        if state.type in ("UNCERTAINTY", "UNRESOLVED"):
            writer.lose("no place", path, f"type {state.type}")
            questions.append(writer.text(state.content, path))
        else:
            leanings.append(writer.text(state.line, path))
    return questions, leanings


def _loops(loops: tuple[Loop, ...], writer: _Writer) -> tuple[str, list[str]]:
    """Return the next step, and what else is open."""
    chosen = next((place for place, loop in enumerate(loops) if loop.priority == "HIGH"), 0)
    next_step, others = NO_NEXT_STEP, []
    for place, loop in enumerate(loops):
        path = f"{HEADERS[4]}[{place}]"
        text = writer.text(loop.description, path)
        if place == chosen:
            next_step = text
        else:
            others.append(text)
        if place != chosen or (loop.type, loop.priority) != _USUAL_STEP:
            writer.lose("no place", path, f"type {loop.type}, priority {loop.priority}")
    return next_step, others
