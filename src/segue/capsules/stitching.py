"""Stitching two capsules into one that is no larger (PCSF section 7, decisions C-8 and C-8a).

The policy `exact` is the specification's. On long chains its order lets L1, which it never gives up, take the room of
everything else, and at a full layer it gives up what is newest. `balanced` is ours: the same merge, then each layer
keeps a share, and what the new capsule does not name goes before what it names, oldest first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from segue.base.errors import InvalidInput
from segue.capsules.capsule import CAPS, DEPTHS, MAX_HOPS, PRIORITIES, Capsule, Chain, Entry, Line, Loop, frame
from segue.capsules.fitting import (
    INTERNAL,
    LOOPS,
    NEGATIVE,
    ORDER,
    RELATION,
    SKELETON,
    Room,
    Stage,
    cannot_fit,
    last,
    matches,
    sacrifice,
    with_layers,
)
from segue.capsules.rules import validated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Pick = Callable[[Sequence[Entry], Stage], int | None]

Policy = Literal["exact", "balanced"]
POLICIES: tuple[Policy, ...] = ("exact", "balanced")

_RANK = {priority: rank for rank, priority in enumerate(PRIORITIES)}

# Section 7.5 promises 1,200 characters always, so a stitch goes on where section 5 ends.
_LAST_RESORT = (Stage(SKELETON, earliest=True), Stage(RELATION))

# The shares leave, at usual lengths of entries, six nodes, three lessons, three loops and a state side by side.
_BALANCED = (
    Stage(LOOPS, priority="LOW"),
    Stage(RELATION, keep=2),
    Stage(INTERNAL, keep=1),
    Stage(LOOPS, keep=3, priority="MED"),
    Stage(NEGATIVE, keep=3),
    Stage(SKELETON, keep=6),
    Stage(LOOPS, keep=3, priority="HIGH"),
    Stage(NEGATIVE, keep=2),
    Stage(SKELETON, keep=4),
    *ORDER,
)


@dataclass(frozen=True, slots=True)
class Stitched:
    """The successor of two capsules. `replaced`: old entries that newer ones displaced; `dropped`: what found no room.

    Both are in the order in which it happened. `hops` and `origin` are those of the successor's CHAIN line.
    """

    capsule: Capsule
    replaced: tuple[Line, ...]
    dropped: tuple[Line, ...]
    hops: int
    origin: str
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return `{"capsule", "replaced", "dropped", "hops", "origin", "warnings"}`; the capsule is its text."""
        return {
            "capsule": self.capsule.text,
            "replaced": [line.to_json() for line in self.replaced],
            "dropped": [line.to_json() for line in self.dropped],
            "hops": self.hops,
            "origin": self.origin,
            "warnings": list(self.warnings),
        }


def stitch(
    old: Capsule | str | bytes,
    new: Capsule | str | bytes,
    *,
    integrity: bool | None = None,
    policy: Policy = "exact",
) -> Stitched:
    """Return the successor of `old` (the prior) and `new` (the latest session), by PCSF section 7.

    `integrity` says whether it carries an INTEGRITY line; None: if one of the two does.

    Raises InvalidInput: `capsule.C1` and so on if one of the two is no valid capsule; `capsule.cannot_fit` if META and
    SEED of the new one alone leave no room; `capsule.policy` for another policy than `exact` and `balanced`.
    """
    if policy not in POLICIES:
        raise InvalidInput("capsule.policy", f"there is no such policy; use {' or '.join(POLICIES)}")
    prior, latest = validated(old), validated(new)
    stamped = (prior.stamped or latest.stamped) if integrity is None else integrity
    replaced: list[Entry] = []
    layers = [_merge(a, b, replaced) for a, b in zip(prior.layers, latest.layers, strict=True)]
    layers[LOOPS].sort(key=_rank)
    named = [entry for entries in latest.layers for entry in entries]
    pick: Pick = last if policy == "exact" else _Stale(named)
    dropped = _cap(layers, pick)
    successor = _frame_of(prior, latest)
    room = Room(len(frame(successor, layers)), stamped)
    dropped += sacrifice(layers, room, ORDER if policy == "exact" else _BALANCED, pick)
    dropped += sacrifice(layers, room, _LAST_RESORT)
    if room.over > 0:
        raise cannot_fit(room.over, "shorten the topic, the domain or SEED of the new capsule")
    capsule = with_layers(successor, layers, stamped=stamped)
    return _result(capsule, replaced, dropped, _warnings(prior, latest, frozenset(named).intersection(dropped)))


def _result(capsule: Capsule, replaced: Iterable[Entry], dropped: Iterable[Entry], warnings: list[str]) -> Stitched:
    chain = capsule.chain or Chain(0, capsule.meta.timestamp)
    lines = tuple(map(Line.of, replaced)), tuple(map(Line.of, dropped))
    return Stitched(capsule, *lines, chain.hops, chain.origin, tuple(warnings))


def _rank(entry: Entry) -> int:
    return _RANK[entry.priority] if isinstance(entry, Loop) else 0


def _merge(old: Iterable[Entry], new: Iterable[Entry], replaced: list[Entry]) -> list[Entry]:
    """Return the union of one layer: all new entries of a key stand where the first old one of that key stood."""
    newer: dict[tuple[str, ...], dict[Entry, None]] = {}
    for entry in new:
        newer.setdefault(entry.key, {})[entry] = None
    merged: list[Entry] = []
    placed: set[tuple[str, ...]] = set()
    for entry in dict.fromkeys(old):
        successors = newer.get(entry.key)
        if successors is None:
            merged.append(entry)
            continue
        if entry.key not in placed:
            placed.add(entry.key)
            merged.extend(successors)
        if entry not in successors:
            replaced.append(entry)
    for key, entries in newer.items():
        if key not in placed:
            merged.extend(entries)
    return merged


def _cap(layers: Sequence[list[Entry]], pick: Pick) -> list[Entry]:
    """Bring each layer to its cap (section 7.2); return what left, in order."""
    dropped: list[Entry] = []
    for layer, (entries, cap) in enumerate(zip(layers, CAPS, strict=True)):
        while len(entries) > cap:
            # Loops are sorted here: the last one has the lowest priority.
            priority = entries[-1].priority if isinstance(entries[-1], Loop) else None
            place = pick(entries, Stage(layer, priority=priority, earliest=layer == SKELETON))
            dropped.append(entries.pop(-1 if place is None else place))
    return dropped


class _Stale:
    """Picks for `balanced`: the earliest entry that the new capsule does not name, else the last one that it names.

    L4 keeps its first two dimensions, as in section 5.
    """

    def __init__(self, named: Sequence[Entry]) -> None:
        self._place = {entry: place for place, entry in enumerate(named)}

    def __call__(self, entries: Sequence[Entry], stage: Stage) -> int | None:
        if stage.layer == RELATION:
            return last(entries, stage)
        places = [place for place, entry in enumerate(entries) if matches(entry, stage)]
        if len(entries) <= stage.keep or not places:
            return None
        stale = next((place for place in places if entries[place] not in self._place), None)
        return stale if stale is not None else max(places, key=lambda place: self._place[entries[place]])


def _frame_of(prior: Capsule, latest: Capsule) -> Capsule:
    """Return the successor's header and SEED (section 7.4), with the layers of the latest capsule."""
    depth = max(prior.meta.depth, latest.meta.depth, key=DEPTHS.index)
    hops = prior.chain.hops if prior.chain else 0
    origin = prior.chain.origin if prior.chain else prior.meta.timestamp
    chain = Chain(min(hops + 1, MAX_HOPS), origin)
    return replace(latest, version="v1.2", meta=replace(latest.meta, depth=depth), chain=chain)


def _warnings(prior: Capsule, latest: Capsule, lost: frozenset[Entry]) -> list[str]:
    found = []
    if latest.meta.timestamp < prior.meta.timestamp:
        when = f"{latest.meta.timestamp} against {prior.meta.timestamp}"
        found.append(f"the new capsule is older than the old one ({when}); are the two swapped?")
    if latest.chain is not None:
        found.append(
            "the new capsule has a CHAIN of its own, which is not carried on; hops and origin are the old one's"
        )
    if prior.chain is not None and prior.chain.hops >= MAX_HOPS:
        found.append(f"hops stays at {MAX_HOPS}, the most that the line can hold")
    if lost:
        found.append(f"entries of the new capsule that found no room: {len(lost)}; see dropped")
    return found
