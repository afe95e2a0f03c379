"""Fitting a capsule into 1,200 characters (PCSF section 5, decision C-7), and stamping it (section 2.10a)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from segue.base.errors import InvalidInput
from segue.capsules import integrity as seal
from segue.capsules.capsule import MAX_CHARS, Capsule, Entry, Line, Loop, frame
from segue.capsules.rules import validated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_FORGIVEN = frozenset({"C2", "C11"})
SKELETON, NEGATIVE, INTERNAL, RELATION, LOOPS = range(5)


@dataclass(frozen=True, slots=True)
class Stage:
    """A step of a sacrifice: which layer gives, how many entries it keeps, and of which priority the loops are."""

    layer: int
    keep: int = 0
    priority: str | None = None
    earliest: bool = False


# The order of section 5. L1 and SEED are not in it.
ORDER = (
    Stage(LOOPS, priority="LOW"),
    Stage(RELATION, keep=2),
    Stage(INTERNAL),
    Stage(LOOPS, priority="MED"),
    Stage(NEGATIVE),
    Stage(LOOPS, priority="HIGH"),
)


@dataclass(slots=True)
class Room:
    """How long a capsule is while entries leave it."""

    size: int
    stamped: bool

    @property
    def over(self) -> int:
        """How many characters are too many, the INTEGRITY line included if there will be one."""
        return (seal.stamped_size(self.size) if self.stamped else self.size) - MAX_CHARS

    def free(self, entry: Entry) -> None:
        """Take the line of `entry` out of the count."""
        self.size -= len(entry.line) + 1


@dataclass(frozen=True, slots=True)
class Fitted:
    """A capsule that fits, and what was dropped for it, in that order."""

    capsule: Capsule
    dropped: tuple[Line, ...]

    def to_json(self) -> dict[str, Any]:
        """Return `{"capsule", "dropped"}`; the capsule is its text."""
        return {"capsule": self.capsule.text, "dropped": [line.to_json() for line in self.dropped]}


def matches(entry: Entry, stage: Stage) -> bool:
    """Whether `stage` may take `entry` (a loop has to have its priority)."""
    return stage.priority is None or (isinstance(entry, Loop) and entry.priority == stage.priority)


def last(entries: Sequence[Entry], stage: Stage) -> int | None:
    """Return the place of the entry that section 5 gives up next: later before earlier."""
    places = range(len(entries)) if stage.earliest else range(len(entries) - 1, stage.keep - 1, -1)
    return next((place for place in places if matches(entries[place], stage)), None)


def sacrifice(
    layers: Sequence[list[Entry]],
    room: Room,
    stages: Sequence[Stage],
    pick: Callable[[Sequence[Entry], Stage], int | None] = last,
) -> list[Entry]:
    """Take entries out of `layers`, one at a time in the order of `stages`, until they fit; return them in order."""
    dropped: list[Entry] = []
    for stage in stages:
        entries = layers[stage.layer]
        while room.over > 0 and (place := pick(entries, stage)) is not None:
            entry = entries.pop(place)
            room.free(entry)
            dropped.append(entry)
    return dropped


def with_layers(capsule: Capsule, layers: Sequence[Sequence[Entry]], *, stamped: bool) -> Capsule:
    """Return `capsule` with these layers, stamped or not."""
    names = ("skeleton", "negative", "internal", "relation", "loops")
    fields: dict[str, Any] = {name: tuple(entries) for name, entries in zip(names, layers, strict=True)}
    return replace(capsule, stamped=stamped, **fields)


def fit(source: Capsule | str | bytes, *, integrity: bool | None = None) -> Fitted:
    """Return `source` without as many entries as it takes to fit, by the order of PCSF section 5.

    `integrity` says whether the result carries an INTEGRITY line; None keeps what the source has. The line is fresh.
    L1, SEED and the first two entries of L4 stay.

    Raises InvalidInput: `capsule.C1` and so on for a source that breaks another rule than C2 and C11;
    `capsule.cannot_fit`, with `over` in the details, if what has to stay is too long (decision C-7).
    """
    capsule = validated(source, _FORGIVEN)
    stamped = capsule.stamped if integrity is None else integrity
    layers = [list(entries) for entries in capsule.layers]
    room = Room(len(frame(capsule, layers)), stamped)
    dropped = sacrifice(layers, room, ORDER)
    if room.over > 0:
        raise cannot_fit(room.over, "shorten L1, SEED, META or the first two entries of L4")
    return Fitted(with_layers(capsule, layers, stamped=stamped), tuple(map(Line.of, dropped)))


def stamp(source: Capsule | str | bytes) -> Capsule:
    """Return `source` with a fresh INTEGRITY line (PCSF section 2.10a); a line that it has may be stale.

    Raises InvalidInput: `capsule.C1` and so on; `capsule.cannot_fit` if there is no room for the line.
    """
    capsule = replace(validated(source, frozenset({"C11"})), stamped=True)
    over = len(capsule.text) - MAX_CHARS
    if over > 0:
        raise cannot_fit(over, "shorten an entry, or fit the capsule with --integrity")
    return capsule


def cannot_fit(over: int, mend: str) -> InvalidInput:
    """Return the error for a capsule that stays `over` bytes too long."""
    message = f"the capsule is {over} bytes over {MAX_CHARS} and nothing more may be dropped; {mend}"
    return InvalidInput("capsule.cannot_fit", message, {"over": over})
