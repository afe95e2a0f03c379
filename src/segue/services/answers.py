"""Pages of what a query found, as long as their reader takes, and what the next ones are made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from segue.base import jsontext
from segue.context import query as language
from segue.context.candidate import Candidate, Packed
from segue.context.ladder import CUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from segue.context.candidate import Compression
    from segue.context.query import Query
    from segue.memories.memory import Memory

_ENDS = 1_000  # characters for a cursor, a follow-up and what else stands around items


@dataclass(frozen=True, slots=True)
class Answer:
    """One page of what a query found.

    `offset` counts the items of earlier pages; `considered` what was found without filters, `narrowed` what passes
    them, both as it was at the first page. `more` says whether anything follows, `cursor` begins with `mqlc:` and
    holds for an hour; without one `notes` say why.
    """

    query: Query
    items: tuple[dict[str, Any], ...]
    offset: int
    considered: int
    narrowed: int
    cursor: str | None
    more: bool = False
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `query_memory` (facts, section 004.5)."""
        return {
            "mql": self.query.to_json(),
            "mode": self.query.mode,
            "scope": "read",
            "items": list(self.items),
            "count": len(self.items),
            "offset": self.offset,
            "candidates_considered": self.considered,
            "narrowed_total": self.narrowed,
            "coverage": {
                "narrowed_from": self.considered,
                "narrowed_to": self.narrowed,
                "returned": len(self.items),
                "has_more": self.more,
                "notes": list(self.notes),
            },
            "cursor": self.cursor,
            "follow_ups": self._follow_ups(),
        }

    def _follow_ups(self) -> list[dict[str, Any]]:
        direction = self.query.expand
        ref = self.cursor if direction == "more" else self.items[0]["ref"] if self.items else None
        if direction is None or ref is None:
            return []
        why = {
            "document": "all of the best match",
            "neighbors": "what stands around the best match",
            "more": "the next matches",
        }
        return [{"tool": "expand", "arguments": {"ref": ref, "direction": direction}, "why": why[direction]}]


# -- as long as the reader takes --------------------------------------------------------------------------------------


def length(value: Any) -> int:
    """Return how many characters a value takes as JSON without white space."""
    return len(jsontext.dump(value).decode())


def fitting(items: Sequence[dict[str, Any]], most: int | None, around: Any) -> list[dict[str, Any]]:
    """Return the first of `items` that fit into `most` characters of JSON together with `around`, at least one.

    A first item that is too long by itself is cut, and says so as the items of a pack do. None fits everything.
    """
    if most is None or not items:
        return list(items)
    room = most - length(around) - _ENDS
    fit = 0
    while fit < len(items) and (room := room - length(items[fit]) - 1) >= 0:
        fit += 1
    return list(items[:fit]) if fit else [_shortened(items[0], -room)]


def _shortened(item: dict[str, Any], over: int) -> dict[str, Any]:
    """An item that takes `over` characters less, as far as its content has as many."""
    content = item["content"]
    kept = len(content)
    whole = length(content)
    while kept and whole - length(content[:kept]) < over + len(CUT) + len("cut"):
        kept = kept * 9 // 10
    return item | {
        "content": content[:kept].rstrip() + CUT,
        "why": item["why"] | {"compressed": "cut", "truncated": True},
    }


# -- what the next page is made from ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Line:
    """An item of a pack without its text: `length` is how many of its characters the pack had room for."""

    ref: str
    layer: str
    relevance: float | None
    basis: str | None
    why: Mapping[str, Any]
    folded: tuple[str, ...]
    how: str
    length: int

    @classmethod
    def of(cls, packed: Packed) -> Line:
        """Return the line of what stands in a pack."""
        one = packed.candidate
        folded = tuple(each.id for each in one.folded)
        kept = len(packed.content) - (len(CUT) if packed.compressed == "cut" else 0)
        return cls(one.ref, one.layer, one.relevance, one.basis, dict(one.why), folded, packed.compressed, kept)

    def packed(self, memories: Mapping[str, Memory]) -> Packed:
        """Return what stood in the pack, with the texts of `memories`, which need not have all that was folded."""
        memory = memories[self.ref]
        folded = tuple(memories[each] for each in self.folded if each in memories)
        layer, basis = cast("Any", self.layer), cast("Any", self.basis)
        text, how = self._text(memory)
        return Packed(Candidate(memory, layer, self.relevance, basis, self.why, folded), text, 0, how)

    def _text(self, memory: Memory) -> tuple[str, Compression]:
        if self.how == "summary" and memory.summary.strip():
            return memory.summary.strip(), "summary"
        text = memory.content.strip()
        if self.how not in ("head", "cut") or self.length >= len(text):
            return memory.content, ""
        return (text[: self.length], "head") if self.how == "head" else (text[: self.length] + CUT, "cut")

    def to_json(self) -> list[Any]:
        """Return the line as JSON values."""
        return [
            self.ref,
            self.layer,
            self.relevance,
            self.basis,
            dict(self.why),
            list(self.folded),
            self.how,
            self.length,
        ]

    @classmethod
    def from_json(cls, given: Sequence[Any]) -> Line:
        """Return the line that `to_json` gave."""
        ref, layer, relevance, basis, why, folded, how, length = given
        return cls(ref, layer, relevance, basis, why, tuple(folded), how, length)

    @property
    def refs(self) -> Iterable[str]:
        """The ids of all memories that the line needs."""
        return (self.ref, *self.folded)


@dataclass(frozen=True, slots=True)
class Asked:
    """A query and where its next page begins.

    `inner` is the cursor of the search that goes on, `lines` what is left of a pack; both None at the first page.
    """

    query: Query
    offset: int = 0
    considered: int = 0
    narrowed: int = 0
    inner: str | None = None
    lines: tuple[Line, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return what is kept."""
        return {
            "query": self.query.to_json(),
            "offset": self.offset,
            "considered": self.considered,
            "narrowed": self.narrowed,
            "inner": self.inner,
            "lines": None if self.lines is None else [each.to_json() for each in self.lines],
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Asked:
        """Return what `to_json` gave."""
        lines = given["lines"]
        return cls(
            language.parse(given["query"]),
            given["offset"],
            given["considered"],
            given["narrowed"],
            given["inner"],
            None if lines is None else tuple(map(Line.from_json, lines)),
        )
