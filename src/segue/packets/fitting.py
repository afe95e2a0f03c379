"""A resume block that is cut to fit: what is least needed for going on is left out first, and that is said."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from segue.base.untrusted import shorten
from segue.packets import resume

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from segue.packets.model import Packet

_SHORTER = (400, 160, 80)  # characters of each text, where leaving out is not enough
_KEPT = (4, 2, 1, 0)  # entries of each list


def fitted(packet: Packet, fits: Callable[[str], bool]) -> str:
    """Return the resume block of `packet`, with as much of it as `fits` takes; "" where not even its core does."""
    whole = resume.render(packet)
    if fits(whole):
        return whole
    for smaller in _smaller(packet):
        block = resume.render(smaller)
        if fits(block):
            return block
    return ""


def _smaller(packet: Packet) -> Iterator[Packet]:
    """Yield packets that say less and less; goal, next step and who wrote it are in each."""
    failed = tuple(each for each in packet.attempts if each.outcome != "succeeded")
    locked = tuple(each for each in packet.decisions if each.locked)
    steps: list[dict[str, Any]] = [{"methods": ()}, {"attempts": failed}]
    for most in _KEPT:
        tentative = tuple(each for each in packet.decisions if not each.locked)[:most]
        chosen = (*locked, *tentative) if most else locked[:4]
        steps += [
            {"open_questions": packet.open_questions[:most]},
            {"decisions": chosen},
            {"attempts": failed[-most:] if most else ()},
            {"success_criteria": packet.success_criteria[:most]},
            {"constraints": packet.constraints[: 2 * most]},
        ]
    for step in steps:
        packet = replace(packet, **step)
        yield packet
    for length in _SHORTER:
        yield _shortened(packet, length)


def _shortened(packet: Packet, length: int) -> Packet:
    decisions = tuple(
        replace(each, what=shorten(each.what, length), why=shorten(each.why, length), consequences="")
        for each in packet.decisions
    )
    goal, following = shorten(packet.goal, length), shorten(packet.next_step, length)
    return replace(packet, goal=goal, next_step=following, decisions=decisions, project=None)
