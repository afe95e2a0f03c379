"""The working set of a conversation: which memories it was told, and when (specification, section 8.2).

It is kept as JSON texts. What cannot be read strictly is an error, never an empty set: a receiver would be told
everything again as if it were new.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from segue.base import jsontext, members
from segue.base.errors import Failed, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

_TURN = frozenset({"turn", "tokens", "ids"})
_LEFT = frozenset({"cursor", "evicted", "superseded"})


class Known(NamedTuple):
    """When a known memory was served last (a turn), and at which cursor it was announced; both from 1.

    `version` is the highest in which it was served, from 0, and `renewed` the cursor at which it first was.
    """

    turn: int
    cursor: int
    version: int
    renewed: int


@dataclass(frozen=True, slots=True)
class Turn:
    """What was asked and served in one turn: the words of the task, sorted, and ids in the order of the pack."""

    turn: int
    tokens: tuple[str, ...]
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Superseded:
    """A memory that does not hold any more, and the one that holds instead, None where the receiver has none."""

    ref: str
    replacement: str | None

    def to_json(self) -> dict[str, Any]:
        """Return the shape of an entry in `working_memory.superseded`."""
        return {"ref": self.ref, "replacement": self.replacement}


@dataclass(frozen=True, slots=True)
class Left:
    """What left the working set at a cursor, each sorted by id."""

    cursor: int
    evicted: tuple[str, ...] = ()
    superseded: tuple[Superseded, ...] = ()


class Texts(NamedTuple):
    """A working set as JSON texts, as the columns of a session hold it."""

    known: str
    trajectory: str
    centroid: str
    log: str


@dataclass(frozen=True, slots=True)
class State:
    """A working set. `known` is in the order of announcement, `trajectory` and `log` are oldest first.

    `centroid` weighs the words of the tasks: each turn of the trajectory gives its place in it, from 1 for the
    oldest. `log` holds the turns of the last 32 cursors in which something left. `cursor` and `turn` count from 0.
    """

    known: Mapping[str, Known] = field(default_factory=dict)
    trajectory: tuple[Turn, ...] = ()
    centroid: Mapping[str, int] = field(default_factory=dict)
    log: tuple[Left, ...] = ()
    cursor: int = 0
    turn: int = 0

    def without(self, refs: Collection[str]) -> State:
        """Return the same without memories that the receiver was told of but not told."""
        return replace(self, known={ref: each for ref, each in self.known.items() if ref not in refs})

    def texts(self) -> Texts:
        """Return the JSON texts that `read` takes; the same state gives the same texts."""
        return Texts(
            _text({ref: list(each) for ref, each in self.known.items()}),
            _text([{"turn": each.turn, "tokens": each.tokens, "ids": each.ids} for each in self.trajectory]),
            _text(dict(sorted(self.centroid.items()))),
            _text([_logged(each) for each in self.log]),
        )


def read(texts: Texts, *, cursor: int, turn: int) -> State:
    """Return the state that was written as `texts`. Raises Failed `session.state` for whatever it cannot have been."""
    try:
        counts = {"cursor": cursor, "turn": turn}
        members.whole(counts, "cursor", 0, 2**63 - 1)
        members.whole(counts, "turn", 0, 2**63 - 1)
        return State(
            _known(_parsed(texts.known), cursor, turn),
            tuple(_turns(_parsed(texts.trajectory), turn)),
            _centroid(_parsed(texts.centroid)),
            tuple(_log(_parsed(texts.log), cursor)),
            cursor,
            turn,
        )
    except InvalidInput as error:
        raise Failed(
            "session.state",
            f"what this session was told cannot be read: {error.message}; reset the session (`segue session reset`)",
        ) from error


def _text(value: object) -> str:
    return jsontext.dump(value).decode()


def _logged(left: Left) -> dict[str, Any]:
    replaced = {each.ref: each.replacement for each in left.superseded}
    return {"cursor": left.cursor, "evicted": left.evicted, "superseded": replaced}


def _parsed(text: str) -> Any:
    return jsontext.parse(text.encode("utf-8", "surrogatepass"))


def _known(document: Any, cursor: int, turn: int) -> dict[str, Known]:
    found = {}
    for ref, entry in _object(document, "known").items():
        if not isinstance(entry, list) or len(entry) != len(Known._fields):
            raise members.invalid(f"known: an entry is not {', '.join(Known._fields)}")
        named = dict(zip(Known._fields, entry, strict=True))
        announced = members.whole(named, "cursor", 1, cursor)
        found[_name(ref)] = Known(
            members.whole(named, "turn", 1, turn),
            announced,
            members.whole(named, "version", 0, 2**63 - 1),
            members.whole(named, "renewed", announced, cursor),
        )
    _require_order("known", [each.cursor for each in found.values()], strictly=False)
    return found


def _turns(document: Any, turn: int) -> Iterable[Turn]:
    listed = members.items({"trajectory": document}, "trajectory")
    for entry in listed:
        members.exactly(entry, _TURN, "a turn of the trajectory")
        yield Turn(members.whole(entry, "turn", 1, turn), _names(entry, "tokens"), _names(entry, "ids"))
    _require_order("trajectory", [entry["turn"] for entry in listed])


def _centroid(document: Any) -> dict[str, int]:
    weights = _object(document, "centroid")
    return {_name(token): members.whole(weights, token, 1, 2**31) for token in weights}


def _log(document: Any, cursor: int) -> Iterable[Left]:
    listed = members.items({"log": document}, "log")
    for entry in listed:
        members.exactly(entry, _LEFT, "an entry of the log")
        replaced = _object(entry["superseded"], "superseded")
        yield Left(
            members.whole(entry, "cursor", 1, cursor),
            _names(entry, "evicted"),
            tuple(Superseded(_name(ref), members.optional(replaced, ref) or None) for ref in replaced),
        )
    _require_order("log", [entry["cursor"] for entry in listed])


def _object(value: Any, called: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise members.invalid(f"{called} is not an object")
    return value


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise members.invalid("an id or a word is not a text, or empty")
    return value


def _names(document: Mapping[str, Any], name: str) -> tuple[str, ...]:
    found = tuple(map(_name, members.items(document, name)))
    if len(set(found)) < len(found):
        raise members.invalid(f"{name} names something twice")
    return found


def _require_order(called: str, numbers: Sequence[int], *, strictly: bool = True) -> None:
    if any(after < before or (strictly and after == before) for before, after in pairwise(numbers)):
        raise members.invalid(f"{called} is out of order")
