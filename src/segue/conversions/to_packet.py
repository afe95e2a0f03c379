"""Capsule to packet (decision C-11): the same capsule always gives the same packet."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from segue.base import jsontext, time
from segue.capsules.identity import identity
from segue.conversions.reports import Loss
from segue.conversions.to_capsule import HARD_LIMIT
from segue.packets.model import Attempt, Decision, Packet, Project, Provenance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from segue.capsules import Capsule, Loop, Rejection

NO_NEXT_STEP = "No open loop names a next step; ask the user what comes first."

_TAG = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
_OUTCOME = re.compile(r"(failed|partial)(?:, (low|medium|high))?")


@dataclass(frozen=True, slots=True)
class ToPacket:
    """A packet made from a capsule, and what is not in it."""

    packet: Packet
    losses: list[Loss]


def to_packet(capsule: Capsule) -> ToPacket:
    """Return the packet of a capsule by decision C-11: the same capsule always gives the same packet."""
    text = capsule.text.encode("ascii")
    created = capsule.meta.timestamp.removesuffix("Z") + ":00Z"
    losses: list[Loss] = []
    loops, next_step = _next_step(capsule.loops)
    tag = capsule.meta.domain.lower().replace(" ", "-")
    if not _TAG.fullmatch(tag):
        losses.append(Loss("no place", "META", f"domain {capsule.meta.domain}"))
    losses.append(Loss("no place", "META", f"depth {capsule.meta.depth}"))
    if capsule.chain is not None:
        losses.append(Loss("no place", "CHAIN", capsule.chain.line))
    packet = Packet.new(
        goal=capsule.seed,
        next_step=next_step,
        now=time.parse(created),
        id=identity(capsule),
        created_at=created,
        project=Project(name=capsule.meta.topic[:128]),
        constraints=_constraints(capsule),
        decisions=tuple(
            Decision(what=node.fact, why=node.reason) for node in capsule.skeleton if node.type in ("CHOICE", "PIVOT")
        ),
        attempts=_attempts(capsule),
        open_questions=tuple(loop.description for loop in loops)
        + tuple(state.content for state in capsule.internal if state.type in ("UNCERTAINTY", "UNRESOLVED")),
        tags=(tag,) if _TAG.fullmatch(tag) else (),
        provenance=Provenance(source_hash=jsontext.sha256(text)),
    )
    losses += [Loss("no place", loop.layer, f"{loop.type} and {loop.priority}: {loop.description}") for loop in loops]
    return ToPacket(packet, losses)


def _next_step(loops: Sequence[Loop]) -> tuple[list[Loop], str]:
    chosen = next((loop for loop in loops if loop.priority == "HIGH"), loops[0] if loops else None)
    if chosen is None:
        return [], NO_NEXT_STEP
    return [loop for loop in loops if loop is not chosen], chosen.description


def _constraints(capsule: Capsule) -> tuple[str, ...]:
    hard = [
        node.fact if node.reason == HARD_LIMIT else f"{node.fact} ({node.reason})"
        for node in capsule.skeleton
        if node.type == "CONSTRAINT"
    ]
    leanings = [state.line for state in capsule.internal if state.type in ("DIRECTION", "INTUITION")]
    return (*hard, *leanings, *(relation.line for relation in capsule.relation))


def _attempts(capsule: Capsule) -> tuple[Attempt, ...]:
    worked = [
        Attempt(tried=node.fact, outcome="succeeded", learned=node.reason)
        for node in capsule.skeleton
        if node.type in ("DISCOVERY", "OUTCOME")
    ]
    return (*worked, *(_failed(entry) for entry in capsule.negative))


def _failed(entry: Rejection) -> Attempt:
    """What C-10 wrote as the reason (an outcome and its confidence) is read back; any other reason joins the lesson."""
    known = _OUTCOME.fullmatch(entry.reason)
    if known is None:
        return Attempt(tried=entry.option, outcome="failed", learned=f"{entry.lesson} ({entry.reason})")
    partial = known[1] == "partial"
    learned = f"{entry.lesson} (it worked in part)" if partial else entry.lesson
    return Attempt(tried=entry.option, outcome="failed", learned=learned, confidence=known[2] or "")
