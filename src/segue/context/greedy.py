"""The generic packer: each layer has its share of the room and is filled as its items arrived (facts, 004.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segue.context.candidate import Packed, Selection
from segue.context.layers import PACK_LAYERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from segue.context.candidate import Candidate, Reason
    from segue.context.layers import PackLayer
    from segue.context.profiles import Profile

SHORTEST_FACT = 60  # tokens to which the first fact is cut at the most
CHARS_PER_TOKEN = 4


def fill(
    candidates: Sequence[Candidate], room: int, *, profile: Profile, weights: Mapping[PackLayer, int]
) -> Selection:
    """Return what comes into `room` tokens, of which each layer may take its share and what those before it left.

    A layer ends at the first item that does not fit. The first constraint always comes in, and so does the first fact
    where no fact fits, cut to what is left or to 60 tokens; what these two take too much is missing to the layers that
    follow. So only they can bring `used` above `room`.
    """
    total = sum(weights.values())
    packed: list[Packed] = []
    dropped: list[tuple[Candidate, Reason]] = []
    carried = 0
    for layer in PACK_LAYERS:
        arrived = [each for each in candidates if each.layer == layer]
        allowed = room * weights[layer] // total + carried
        taken = _fill(arrived, allowed, profile)
        packed += taken
        dropped += [(each, "budget") for each in arrived[len(taken) :]]
        carried = allowed - sum(each.cost for each in taken)
    return Selection(tuple(packed), tuple(dropped))


def _fill(arrived: Sequence[Candidate], allowed: int, profile: Profile) -> list[Packed]:
    taken: list[Packed] = []
    for each in arrived:
        item = Packed(each, each.memory.content, profile.cost(each.memory.content))
        if item.cost > allowed and not taken and each.layer == "facts":
            item = _cut(item, allowed, profile)
        elif item.cost > allowed and (taken or each.layer != "constraints"):
            break
        taken.append(item)
        allowed -= item.cost
    return taken


def _cut(item: Packed, allowed: int, profile: Profile) -> Packed:
    kept = item.content[: max(allowed, SHORTEST_FACT) * CHARS_PER_TOKEN]
    if kept == item.content:
        return item
    return Packed(item.candidate, kept, profile.cost(kept), "cut")
