"""The single-parent chain that `parent_id` forms, over plain pairs of ids: any length, no recursion."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from segue.base.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from segue.packets.model import Packet

CARRIED = ("methods", "constraints", "locked-decisions")


@dataclass(frozen=True, slots=True)
class Lineage:
    """A packet's ancestors: `ids` from the packet itself to the oldest one known.

    `missing` is the parent that the oldest one names and nobody has ("" where the chain is complete);
    `cycle` says that the chain runs into itself, and `ids` ends before the repetition.
    """

    ids: tuple[str, ...]
    missing: str = ""
    cycle: bool = False


def trace(packet_id: str, parents: Mapping[str, str]) -> Lineage:
    """Return the lineage of `packet_id`; `parents` maps each known id to its parent's id, or ""."""
    ids: dict[str, None] = {}
    current = packet_id
    while current in parents:
        if current in ids:
            return Lineage(tuple(ids), cycle=True)
        ids[current] = None
        current = parents[current]
    return Lineage(tuple(ids), missing=current)


def closes_cycle(packet_id: str, parent_id: str, parents: Mapping[str, str]) -> bool:
    """Whether naming `parent_id` as the parent of `packet_id` would make a packet its own ancestor."""
    return parent_id == packet_id or packet_id in trace(parent_id, parents).ids


def in_cycles(parents: Mapping[str, str]) -> list[str]:
    """Return the ids whose chain leads back to themselves, sorted; `parents` maps ids to their parents' ids."""
    state: dict[str, int] = {}  # the number of the walk that met an id
    found: list[str] = []
    for walk, start in enumerate(parents):
        path, current = [], start
        while current in parents and current not in state:
            state[current] = walk
            path.append(current)
            current = parents[current]
        if state.get(current) == walk and current in path:
            found += path[path.index(current) :]
    return sorted(found)


def carry(packet: Packet, parent: Packet, what: tuple[str, ...]) -> Packet:
    """Return `packet` with the parent's methods, constraints or locked decisions added where it lacks them.

    `what` names some of CARRIED. Entries of the packet win over the parent's of the same name or text.
    Raises InvalidInput `packet.carry` for another name.
    """
    unknown = [name for name in what if name not in CARRIED]
    if unknown:
        raise InvalidInput("packet.carry", f"cannot carry {unknown[0]!a}; choose among {', '.join(CARRIED)}")
    if "methods" in what:
        names = {method.name for method in packet.methods}
        added_methods = tuple(method for method in parent.methods if method.name not in names)
        packet = replace(packet, methods=packet.methods + added_methods)
    if "constraints" in what:
        added = tuple(text for text in parent.constraints if text not in packet.constraints)
        packet = replace(packet, constraints=packet.constraints + added)
    if "locked-decisions" in what:
        known = {decision.what for decision in packet.decisions}
        locked = tuple(item for item in parent.decisions if item.locked and item.what not in known)
        packet = replace(packet, decisions=locked + packet.decisions)
    return packet
