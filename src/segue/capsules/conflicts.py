"""Entries of one capsule that contradict each other, and loops that say too little (PCSF section 6, rules 2 and 3).

The rules are plain comparisons of words. They would rather ask once too often: the cost is a question to the user.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from segue.capsules.capsule import Capsule, Line, Loop, Node, Rejection

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORD = re.compile(r"[a-z0-9]+")
_SMALL = frozenset(
    "a an and are as at be by for from has have i if in is it its of on or our so that the their them then there this"
    " to use used uses using via was we were when will with you your".split()
)
# A fact that holds one of these speaks about the rejected option without choosing it: "replication, not snapshots".
_AGAINST = re.compile(
    r"\b(?:not|no|never|without|instead|rather|over|avoid\w*|drop\w*|reject\w*|remov\w*|replac\w*|against|ban\w*|unlike)\b"
)
_REOPENS = re.compile(
    r"\b(?:re-?(?:open|consider|visit|think|evaluat|assess|examin|decid)\w*|undo|revert\w*|roll(?:ing)? back|replac\w*"
    r"|switch\w*|whether|should|instead|alternative\w*|versus|vs|drop\w*|abandon\w*|back out"
    r"|still (?:right|valid|best))\b"
)
_QUESTIONS = ("DEFERRED_QUESTION", "HYPOTHESIS_UNTESTED")
_VAGUE = frozenset(
    "again asap bug bugs check clean cleanup continue do done etc everything finish fix follow handle investigate issue"
    " issues item items later look me misc more need needs next open other problem problems remaining rest review same"
    " see some something stuff task tasks tba tbc tbd test thing things todo up us various wip work".split()
)
_ABSENT = re.compile(
    r"\b(?:as (?:discussed|mentioned|agreed|said)|(?:discussed|mentioned) (?:above|before|earlier)|see above|the above"
    r"|(?:earlier|previous|last) (?:message|chat|conversation))\b"
)


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two entries that cannot both be taken as they stand. `kind` is rejected, reopened, dimension, reason or loop."""

    kind: str
    first: Line
    second: Line
    question: str

    def to_json(self) -> dict[str, object]:
        """Return `{"kind", "lines", "question"}`."""
        return {"kind": self.kind, "lines": [self.first.to_json(), self.second.to_json()], "question": self.question}


@dataclass(frozen=True, slots=True)
class Gap:
    """A loop that leaves open what is to be done, and the question that fills it."""

    loop: Line
    question: str

    def to_json(self) -> dict[str, object]:
        """Return `{"line", "question"}`."""
        return {"line": self.loop.to_json(), "question": self.question}


def find_conflicts(capsule: Capsule) -> tuple[Conflict, ...]:
    """Return the contradictions of `capsule`, in the order of its entries."""
    return (*_rejected(capsule), *_reopened(capsule), *_reasons(capsule), *_dimensions(capsule), *_loops(capsule))


def find_gaps(capsule: Capsule) -> tuple[Gap, ...]:
    """Return the loops of `capsule` that nobody can act on without asking."""
    return tuple(_gaps(capsule))


def _stem(word: str) -> str:
    for ending, length in (("ing", 6), ("ed", 5), ("es", 5), ("s", 4)):
        if len(word) >= length and word.endswith(ending) and not word.endswith("ss"):
            return word.removesuffix(ending).rstrip("e")
    return word.rstrip("e")


def _words(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in _WORD.findall(text.lower()) if word not in _SMALL)


def _same(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


def _choices(capsule: Capsule) -> list[Node]:
    return [node for node in capsule.skeleton if node.type in ("CHOICE", "PIVOT")]


def _rejected(capsule: Capsule) -> Iterator[Conflict]:
    for node in _choices(capsule):
        for rejection in capsule.negative:
            if _chooses(node, rejection):
                question = "One entry chooses what another one rejects. Which of the two holds now?"
                yield Conflict("rejected", Line.of(node), Line.of(rejection), question)


def _chooses(node: Node, rejection: Rejection) -> bool:
    fact, option = _words(node.fact), _words(rejection.option)
    if not option or not option <= fact:
        return False
    return option == fact or (2 * len(option) >= len(fact) and not _AGAINST.search(node.fact.lower()))


def _reopened(capsule: Capsule) -> Iterator[Conflict]:
    for node in _choices(capsule):
        for loop in capsule.loops:
            if _reopens(node, loop):
                question = "A loop puts a choice in question again. Does the choice still hold?"
                yield Conflict("reopened", Line.of(node), Line.of(loop), question)


def _reopens(node: Node, loop: Loop) -> bool:
    fact = _words(node.fact)
    shared = len(fact & _words(loop.description))
    if _REOPENS.search(loop.description.lower()):
        return shared > 0 and shared >= min(2, len(fact)) and 2 * shared >= len(fact)
    return loop.type in _QUESTIONS and len(fact) > 1 and shared == len(fact)


def _reasons(capsule: Capsule) -> Iterator[Conflict]:
    nodes = capsule.skeleton
    for place, node in enumerate(nodes):
        for other in nodes[place + 1 :]:
            if _same(node.fact) == _same(other.fact) and _same(node.reason) != _same(other.reason):
                question = "One fact has two reasons. Which reason is the right one, or are both?"
                yield Conflict("reason", Line.of(node), Line.of(other), question)


def _dimensions(capsule: Capsule) -> Iterator[Conflict]:
    for place, relation in enumerate(capsule.relation):
        for other in capsule.relation[place + 1 :]:
            if relation.dimension == other.dimension and _same(relation.state) != _same(other.state):
                question = "One dimension of the working relationship has two values. Which one holds now?"
                yield Conflict("dimension", Line.of(relation), Line.of(other), question)


def _loops(capsule: Capsule) -> Iterator[Conflict]:
    for place, loop in enumerate(capsule.loops):
        for other in capsule.loops[place + 1 :]:
            if _same(loop.description) == _same(other.description) and loop != other:
                question = "One loop stands twice, with another type or priority. Which of the two holds now?"
                yield Conflict("loop", Line.of(loop), Line.of(other), question)


def _gaps(capsule: Capsule) -> Iterator[Gap]:
    for loop in capsule.loops:
        text = loop.description.lower()
        if _ABSENT.search(text):
            question = "This loop points to a conversation that is not here. What exactly is to be done?"
            yield Gap(Line.of(loop), question)
        elif not {word for word in _WORD.findall(text) if word not in _SMALL and word not in _VAGUE}:
            yield Gap(Line.of(loop), "This loop does not say what to act on. What exactly is to be done?")
