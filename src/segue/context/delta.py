"""What one more pack changes in the working set of a conversation (specification, section 8; decision M7).

Three things always hold. Only ids are told, of memories that were served to this conversation. What it knows is not
announced again, unless it asks with `since`. What is evicted is absent from the pack, and was unseen for four turns,
pushed out of a full set, or forgotten. So a receiver that adds `new` to its own set and takes out `evicted` and
`superseded` knows after each answer what is known here.

Of what it knows already it may still need the text anew: the memory was edited, or was served only in part. That is
`renewed`, which is not told but says whose text to deliver.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from segue.base.errors import InvalidInput
from segue.context.working_set import Known, Left, State, Superseded, Turn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

__all__ = ["CAP", "LOG", "TTL", "WINDOW", "Delta", "New", "Served", "State", "Superseded", "query_tokens", "step"]

TTL = 4  # turns unseen after which a memory is evicted
WINDOW = 8  # turns that the trajectory holds
CAP = 512  # ids that are known; a pack of more than that is known whole
LOG = 32  # turns whose answers can be sent again
_SHORTEST = 3  # characters of a word
_DECIMALS = 6
_MARKER = re.compile(r"\[redacted:[^\]]*\]")


class Served(NamedTuple):
    """A memory in a pack; `relevance` is 0 to 1, None where it has none.

    A higher `version`, from 0, has a text that whoever had a lower one needs.
    """

    ref: str
    relevance: float | None = None
    version: int = 0


@dataclass(frozen=True, slots=True)
class New:
    """A memory that is announced; `delta_relevance` has six decimals, None where it has none or is not in the pack."""

    ref: str
    delta_relevance: float | None

    def to_json(self) -> dict[str, Any]:
        """Return the shape of an entry in `working_memory.new`."""
        return {"ref": self.ref, "delta_relevance": self.delta_relevance}


@dataclass(frozen=True, slots=True)
class Delta:
    """What a receiver must add to its set and take out of it. `cursor` is the number of this delta, from "1".

    `renewed` are ids of the pack, in its order, that are not new but are served in a higher version than before.
    """

    new: tuple[New, ...]
    evicted: tuple[str, ...]
    superseded: tuple[Superseded, ...]
    cursor: str
    renewed: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the envelope's `working_memory`, whose shape the specification fixes: without `renewed`."""
        return {
            "new": [each.to_json() for each in self.new],
            "evicted": list(self.evicted),
            "superseded": [each.to_json() for each in self.superseded],
            "cursor": self.cursor,
        }


def step(
    state: State,
    served: Sequence[Served],
    *,
    tokens: Sequence[str] = (),
    gone: Collection[str] = (),
    superseded: Mapping[str, str] | None = None,
    since: int | None = None,
    historic: bool = False,
) -> tuple[State, Delta]:
    """Return the working set after a pack, and what the receiver is told.

    `served` is in the order of the pack, `tokens` are the `query_tokens` of the task. `gone` holds ids that were
    forgotten or may not be read any more, `superseded` those that do not hold any more, each with its active head, ""
    for none. What of them is in the pack nevertheless, because it changed meanwhile, counts as not served. In a
    `historic` pack, of what held at an earlier time, superseded memories are served like others; the next pack that
    is not historic has them superseded.

    `since` is the cursor of the last answer that the receiver has: what was announced later and is still known comes
    again, also what left later. Where more than 32 turns lie between, all that is known comes; the receiver begins
    with an empty set then. A version that was served later counts as not served. Raises
    InvalidInput `session.since` for a cursor that no answer had.
    """
    _require_since(since, state.cursor)
    turn, cursor = state.turn + 1, state.cursor + 1
    replaced = {ref: head for ref, head in (superseded or {}).items() if ref not in gone}
    heard = _heard(since, state.cursor)
    here = _here(served, gone if historic else {*gone, *replaced})
    stale = {ref: None for ref in state.known if ref in replaced and ref not in here}
    rest = {ref: each for ref, each in state.known.items() if ref not in stale}
    left = {ref for ref, each in rest.items() if ref in gone or (ref not in here and turn - each.turn >= TTL)}
    known = {ref: _as_heard(each, heard, served=ref in here) for ref, each in rest.items() if ref not in left}
    for ref, each in here.items():
        known[ref] = _seen(known.get(ref), each.version, turn, cursor)
    for ref in _pushed_out(known, here):
        del known[ref]
        left.add(ref)
    entry = Left(cursor, tuple(sorted(left)), tuple(_replacements(stale, replaced, known)))
    log = tuple(each for each in (*state.log, entry) if each.evicted or each.superseded)
    delta = _delta(known, here, log, replaced, heard, cursor)
    turns = (*state.trajectory, Turn(turn, tuple(tokens), tuple(here)))[-WINDOW:]
    kept = tuple(each for each in log if each.cursor > cursor - LOG)
    return State(known, turns, _centroid(turns), kept, cursor, turn), delta


def _require_since(since: int | None, cursor: int) -> None:
    if since is not None and not 0 <= since <= cursor:
        raise InvalidInput(
            "session.since",
            f"this session gave no cursor {since}, its last is {cursor}; give 0 to be sent all that it holds",
            {"cursor": str(cursor)},
        )


def _heard(since: int | None, cursor: int) -> int:
    """The last cursor whose answer the receiver has: by default all; none where the log does not reach back to it."""
    if since is None:
        return cursor
    return since if since >= cursor - LOG else 0


def _here(served: Sequence[Served], dropped: Collection[str]) -> dict[str, Served]:
    """What counts as served, in the order of the pack; of several, the first relevance and the highest version."""
    found: dict[str, Served] = {}
    for each in served:
        if each.ref in dropped:
            continue
        relevance = None if each.relevance is None else round(each.relevance, _DECIMALS)
        first = found.setdefault(each.ref, each._replace(relevance=relevance))
        found[each.ref] = first._replace(version=max(first.version, each.version))
    return found


def _as_heard(known: Known, heard: int, *, served: bool) -> Known:
    """The same without a version that came with an answer which was lost.

    What is announced again though the pack does not hold it keeps its version: its text is sent beside the pack.
    """
    lost = known.renewed > heard and (served or known.cursor <= heard)
    return known._replace(version=0) if lost else known


def _seen(known: Known | None, version: int, turn: int, cursor: int) -> Known:
    """What is known of a memory once it was served."""
    if known is None:
        return Known(turn, cursor, version, cursor)
    if version > known.version:
        return Known(turn, known.cursor, version, cursor)
    return known._replace(turn=turn)


def _pushed_out(known: Mapping[str, Known], here: Collection[str]) -> list[str]:
    """What is too much: of what the pack does not hold, the longest unseen, of these the first by id."""
    absent = sorted((each.turn, ref) for ref, each in known.items() if ref not in here)
    return [ref for _, ref in absent[: max(len(known) - CAP, 0)]]


def _replacements(
    stale: Mapping[str, str | None], replaced: Mapping[str, str], known: Collection[str]
) -> Iterator[Superseded]:
    """Each id with its head as of now, else as it was told before; only a head that the receiver has."""
    for ref in sorted(stale):
        head = replaced.get(ref, stale[ref])
        yield Superseded(ref, head if head in known else None)


def _delta(
    known: Mapping[str, Known],
    here: Mapping[str, Served],
    log: Sequence[Left],
    replaced: Mapping[str, str],
    heard: int,
    cursor: int,
) -> Delta:
    """What was announced after the cursor `heard`, what left after it, unless it came back, and what is renewed."""
    announced = [ref for ref, each in known.items() if each.cursor > heard]
    new = [*(ref for ref in here if known[ref].cursor > heard), *(ref for ref in announced if ref not in here)]
    stale: dict[str, str | None] = {}
    evicted: set[str] = set()
    for each in (each for each in log if each.cursor > heard):
        for ref in each.evicted:
            evicted.add(ref)
            stale.pop(ref, None)
        for one in each.superseded:
            stale[one.ref] = one.replacement
            evicted.discard(one.ref)
    return Delta(
        tuple(New(ref, here[ref].relevance if ref in here else None) for ref in new),
        tuple(sorted(evicted - known.keys())),
        tuple(_replacements({ref: head for ref, head in stale.items() if ref not in known}, replaced, known)),
        str(cursor),
        tuple(ref for ref in here if known[ref].cursor <= heard and known[ref].renewed == cursor),
    )


def _centroid(turns: Sequence[Turn]) -> dict[str, int]:
    """How much each word counts: each turn that has it adds its place, from 1 for the oldest."""
    weights: Counter[str] = Counter()
    for place, each in enumerate(turns, 1):
        weights.update(dict.fromkeys(each.tokens, place))
    return dict(sorted(weights.items()))


def query_tokens(task: str) -> tuple[str, ...]:
    """Return the words of a task, sorted, each once: folded, of three characters or more, in any script.

    Chinese, Japanese and Korean are cut into pairs of neighbours. Secrets are left out: these words are stored.
    """
    from segue.base import redaction

    readable = task.encode("utf-8", "replace").decode()
    masked = redaction.mask(redaction.Field("task", readable, True))[0]
    folded = unicodedata.normalize("NFKC", _MARKER.sub(" ", masked)).casefold()
    found: set[str] = set()
    for kind, run in groupby(folded, _kind):
        text = "".join(run)
        if kind == "dense":
            found.update(map("".join, pairwise(text)))
        elif kind == "word" and len(text) >= _SHORTEST:
            found.add(text)
    return tuple(sorted(found))


def _kind(character: str) -> str:
    """Whether a character belongs to a word, to a run of a script that is written densely, or to neither."""
    if character.isascii():
        return "word" if character.isalnum() else ""
    category = unicodedata.category(character)
    if category[0] not in "LMN":
        return ""
    return "dense" if category[0] == "L" and unicodedata.east_asian_width(character) == "W" else "word"
