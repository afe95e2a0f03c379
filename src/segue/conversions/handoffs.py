"""Handoff to packet, and packet to handoff: what both can say goes over, the rest is reported.

What a packet has no member of its own for stands among its constraints and questions under a fixed opening, by which
it is known again on the way back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from segue.base import ids, jsontext, time
from segue.base.untrusted import one_line, shorten
from segue.continuity.handoff import LATER_KEYS
from segue.conversions.reports import Loss, masked
from segue.packets.model import CURRENT_VERSION, MAX_BYTES, Attempt, Packet, Project, Provenance

if TYPE_CHECKING:
    from segue.continuity.handoff import Handoff
    from segue.conversions.reports import Kind

TAG = "handoff"
# Where a member of a state stands in a packet, and how it begins there.
_CONSTRAINTS = {
    "current_run": "Run: ",
    "current_node": "Node: ",
    "continuation_node": "Continues at: ",
    "recent_corrections": "Correction: ",
    "pending_user_intents": "The user wants: ",
    "evidence_ids": "Evidence: ",
}
_SINGLE = ("current_run", "current_node", "continuation_node")
_AGAIN = "Ask again: "  # a question that is due once more
_LONGEST, _NAME = 1_024, 128
_MOST = {"attempts": 64, "constraints": 32, "open_questions": 32}


@dataclass(frozen=True, slots=True)
class ToPacket:
    """A packet made from a handoff, and what is not in it."""

    packet: Packet
    losses: list[Loss]


@dataclass(frozen=True, slots=True)
class ToState:
    """The state of a handoff made from a packet, and what is not in it."""

    state: dict[str, Any]
    losses: list[Loss]


def to_packet(handoff: Handoff, *, project: str = "", goal: str = "") -> ToPacket:
    """Return the packet of a handoff: the same handoff, goal and project always give the same one."""
    losses: list[Loss] = []

    def text(value: object, path: str) -> str:
        said = value if isinstance(value, str) else jsontext.dump(value, sort_keys=True).decode()
        return _shortened(said, path, losses)

    state = handoff.state
    step = state["current_step"] or next((state[name] for name in _SINGLE if state[name]), "")
    completed = [
        Attempt(tried=text(each, f"completed_nodes[{n}]"), outcome="succeeded")
        for n, each in _each(state, "completed_nodes")
    ]
    constraints = [
        text(
            opening + (each if isinstance(each, str) else jsontext.dump(each, sort_keys=True).decode()), f"{name}[{n}]"
        )
        for name, opening in _CONSTRAINTS.items()
        for n, each in _each(state, name)
    ]
    questions = [text(each, f"open_questions[{n}]") for n, each in _each(state, "open_questions")]
    for n, each in _each(state, "retest_due_questions"):
        said = each if isinstance(each, str) else jsontext.dump(each, sort_keys=True).decode()
        questions.append(text(_AGAIN + said, f"retest_due_questions[{n}]"))
    packet = Packet(
        ltm_version=CURRENT_VERSION,
        id=ids.of(time.parse(handoff.created_at), bytes.fromhex(handoff.envelope_hash)[:10]),
        created_at=handoff.created_at,
        project=Project(name=shorten(one_line(project), _NAME)) if project else None,
        goal=text(goal or step or handoff.next_action, "current_step"),
        next_step=text(handoff.next_action, "unique_next_action"),
        attempts=tuple(completed),
        constraints=tuple(constraints),
        open_questions=tuple(questions),
        tags=(TAG,),
        provenance=Provenance(source_hash=f"sha256:{handoff.envelope_hash}"),
    )
    losses += _without_place(handoff, goal)
    return ToPacket(_within_limits(packet, losses), masked(losses))


def _each(state: Any, name: str) -> list[tuple[int, Any]]:
    """The entries of a member with their places; a single text is one entry."""
    value = state[name]
    return list(enumerate(value if isinstance(value, list) else [value] if value else []))


def _shortened(said: str, path: str, losses: list[Loss]) -> str:
    written = shorten(said, _LONGEST)
    if written != said:
        losses.append(Loss("cut", path, said[_LONGEST - 1 :]))
    return written


def _without_place(handoff: Handoff, goal: str) -> list[Loss]:
    step = handoff.state["current_step"]
    said = [("current_step", step)] if goal and step else []
    said += [(name, handoff.state[name]) for name in LATER_KEYS if handoff.state.get(name)]
    said += [("artifact_hashes", name) for name in handoff.artifact_hashes]
    said += [("memory_candidates", f"{each['candidate_id']} {each['status']}") for each in handoff.memory_candidates]
    return [Loss("no place", path, text if isinstance(text, str) else ", ".join(text)) for path, text in said]


def _within_limits(packet: Packet, losses: list[Loss]) -> Packet:
    """Drop entries from the end of each list: beyond what a packet takes, then until its bytes are few enough."""
    for name, most in _MOST.items():
        kept = getattr(packet, name)
        losses += [Loss("dropped", name, _said(each)) for each in kept[most:]]
        packet = _with(packet, name, kept[:most])
    while len(packet.canonical) > MAX_BYTES:
        name = max(_MOST, key=lambda each: len(getattr(packet, each)))
        *left, last = getattr(packet, name)
        losses.append(Loss("dropped", name, _said(last)))
        packet = _with(packet, name, tuple(left))
    return packet


def _with(packet: Packet, name: str, entries: tuple[Any, ...]) -> Packet:
    changed: dict[str, Any] = {name: entries}
    return replace(packet, **changed)


def _said(entry: Any) -> str:
    return entry.tried if isinstance(entry, Attempt) else str(entry)


def from_packet(packet: Packet) -> ToState:
    """Return the state that a packet describes; what it does not say is null or empty, nothing is guessed."""
    losses: list[Loss] = []
    lists: dict[str, list[str]] = {name: [] for name in (*_CONSTRAINTS, "open_questions", "retest_due_questions")}
    for place, limit in enumerate(packet.constraints):
        name = next((each for each, opening in _CONSTRAINTS.items() if limit.startswith(opening)), "")
        if name and limit != _CONSTRAINTS[name]:
            lists[name].append(limit.removeprefix(_CONSTRAINTS[name]))
        else:
            losses.append(Loss("no place", f"constraints[{place}]", limit))
    for question in filter(None, packet.open_questions):
        is_due = question.startswith(_AGAIN) and question != _AGAIN
        lists["retest_due_questions" if is_due else "open_questions"].append(question.removeprefix(_AGAIN))
    for name in _SINGLE:
        losses += [Loss("no place", name, each) for each in lists[name][1:]]
    completed = [each.tried for each in packet.attempts if each.outcome == "succeeded" and each.tried]
    lists["evidence_ids"].append(packet.id)
    losses += _of_packet_alone(packet)
    action = one_line(packet.next_step)
    if action != packet.next_step:
        losses.append(Loss("replaced", "next_step", packet.next_step))
    state: dict[str, Any] = {
        "current_step": packet.goal,
        **{name: (lists[name][0] if lists[name] else None) for name in _SINGLE},
        "completed_nodes": completed,
        **{name: lists[name] for name in lists if name not in _SINGLE},
        "unique_next_action": action,
    }
    state["evidence_ids"] = list(dict.fromkeys(state["evidence_ids"]))
    return ToState(state, masked(losses))


def _of_packet_alone(packet: Packet) -> list[Loss]:
    """What a packet says and a handoff has no place for; its id stands among the evidence."""
    said: list[tuple[Kind, str, str]] = [
        ("no place", f"decisions[{n}]", each.what) for n, each in enumerate(packet.decisions)
    ]
    said += [("no place", f"methods[{n}]", each.name) for n, each in enumerate(packet.methods)]
    said += [("no place", f"success_criteria[{n}]", each) for n, each in enumerate(packet.success_criteria)]
    said += [
        ("no place", f"attempts[{n}]", each.tried)
        for n, each in enumerate(packet.attempts)
        if each.outcome != "succeeded"
    ]
    return [Loss(kind, path, text) for kind, path, text in said]
