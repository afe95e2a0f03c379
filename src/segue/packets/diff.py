"""What changed between two packets: decided, tried, answered, dropped, and what became of locked decisions.

Texts are compared as written (case and white space aside). Where a locked decision is gone, the words that the
newer packet shares with it tell whether it was reworded, contradicted or dropped; this is a pointer for the
reader, who sees both texts, never a judgement that changes anything.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from segue.packets.model import Attempt, Decision, Packet

_WORD = re.compile(r"[\w.+#-]*\w[+#]*")
_STOP = frozenset(
    "a an the to of for in on at by with and or as is are be was were it its this that we will must should not no do "
    "does use using only from into over never always than then so if when what which who how why can any all".split()
)
_REVERSAL = re.compile(
    r"\b(?:not|never|no longer|instead of|rather than|abandon\w*|drop\w*|remove\w*|revert\w*|replac\w*|switch\w*"
    r"|migrat\w*|move\w* (?:away|off|to|from)|reopen\w*|undo|reconsider\w*|stop\w*|without|avoid\w*)\b",
    re.I,
)
_SAME_SUBJECT = 0.5
_REWORDED = 0.8


@dataclass(frozen=True, slots=True)
class LockedChange:
    """A locked decision of the older packet that the newer one does not keep as it was.

    `status` is dropped, contradicted, unlocked or reopened; `by` is the text of the newer packet that says so,
    "" for dropped.
    """

    decision: str
    status: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """An open question of the older packet that the newer one no longer asks, and the entry that answers it."""

    question: str
    by: str


@dataclass(frozen=True, slots=True)
class Diff:
    """The differences from `older` to `newer`, both named by id; each list in the order of its packet."""

    older: str
    newer: str
    goal: str = ""
    next_step: str = ""
    decided: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    tried: list[str] = field(default_factory=list)
    answered: list[Answer] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    added: dict[str, list[str]] = field(default_factory=dict)
    dropped: dict[str, list[str]] = field(default_factory=dict)
    locked: list[LockedChange] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        parts = (self.goal, self.next_step, self.decided, self.changed, self.tried, self.answered, self.opened)
        return not any((*parts, self.added, self.dropped, self.locked))

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue diff --json`."""
        return asdict(self)


def compare(older: Packet, newer: Packet) -> Diff:
    """Return what changed from `older` to `newer`; `goal` and `next_step` hold the new text where it changed."""
    answered, unanswered = _questions(older, newer)
    dropped = {
        "decisions": _gone([d.what for d in older.decisions if not d.locked], [d.what for d in newer.decisions]),
        "open_questions": unanswered,
        "attempts": [_attempt_text(attempt) for attempt in _new_attempts(newer, older)],
    } | {name: _gone(_entries(older, name), _entries(newer, name)) for name in _LISTS}
    return Diff(
        older=older.id,
        newer=newer.id,
        goal=newer.goal if _key(newer.goal) != _key(older.goal) else "",
        next_step=newer.next_step if _key(newer.next_step) != _key(older.next_step) else "",
        decided=_gone([d.what for d in newer.decisions], [d.what for d in older.decisions]),
        changed=_changed(older, newer),
        tried=[_attempt_text(a) for a in _new_attempts(older, newer)],
        answered=answered,
        opened=_gone(newer.open_questions, older.open_questions),
        added={name: new for name in _LISTS if (new := _gone(_entries(newer, name), _entries(older, name)))},
        dropped={name: gone for name, gone in dropped.items() if gone},
        locked=_locked(older, newer),
    )


_LISTS = ("success_criteria", "constraints", "methods")


def _entries(packet: Packet, name: str) -> list[str]:
    return [item if isinstance(item, str) else item.name for item in getattr(packet, name)]


def _key(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")


def _gone(texts: Iterable[str], others: Iterable[str]) -> list[str]:
    known = {_key(text) for text in others}
    return [text for text in texts if _key(text) not in known]


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.casefold()) if word not in _STOP}


def _overlap(one: str, other: str) -> float:
    first, second = _words(one), _words(other)
    return len(first & second) / min(len(first), len(second)) if first and second else 0.0


def _attempt_text(attempt: Attempt) -> str:
    return f"[{attempt.outcome}] {attempt.tried}"


def _new_attempts(older: Packet, newer: Packet) -> list[Attempt]:
    known = {(_key(a.tried), a.outcome) for a in older.attempts}
    return [a for a in newer.attempts if (_key(a.tried), a.outcome) not in known]


def _changed(older: Packet, newer: Packet) -> list[str]:
    before = {_key(d.what): d for d in older.decisions}
    pairs = [(before.get(_key(d.what)), d) for d in newer.decisions]
    return [
        d.what
        for old, d in pairs
        if old and (old.why, old.consequences, old.locked) != (d.why, d.consequences, d.locked)
    ]


def _questions(older: Packet, newer: Packet) -> tuple[list[Answer], list[str]]:
    decided = _gone([d.what for d in newer.decisions], [d.what for d in older.decisions])
    news = decided + [f"{a.tried} {a.learned}".strip() for a in _new_attempts(older, newer)]
    answered, dropped = [], []
    for question in _gone(older.open_questions, newer.open_questions):
        best = max(news, key=lambda text: len(_words(text) & _words(question)), default="")
        shared = len(_words(best) & _words(question))
        if shared >= 2 or (shared and shared / len(_words(question)) >= 0.34):
            answered.append(Answer(question, best))
        else:
            dropped.append(question)
    return answered, dropped


def _locked(older: Packet, newer: Packet) -> list[LockedChange]:
    return [change for decision in older.decisions if decision.locked and (change := _fate(decision, older, newer))]


def _fate(decision: Decision, older: Packet, newer: Packet) -> LockedChange | None:
    """What became of one locked decision; None where it was kept, word for word or reworded."""
    kept = next((d for d in newer.decisions if _key(d.what) == _key(decision.what)), None)
    fresh = _gone([d.what for d in newer.decisions], [d.what for d in older.decisions])
    reversing = next((text for text in fresh if _contradicts(decision.what, text, replaced=kept is None)), None)
    if reversing is not None:
        return LockedChange(decision.what, "contradicted", reversing)
    for question in _gone(newer.open_questions, older.open_questions):
        if _covered(decision.what, question) >= _SAME_SUBJECT:
            return LockedChange(decision.what, "reopened", question)
    if kept is not None:
        return None if kept.locked else LockedChange(decision.what, "unlocked", kept.what)
    reworded = any(_overlap(decision.what, text) >= _REWORDED for text in fresh)
    return None if reworded else LockedChange(decision.what, "dropped")


def _covered(decision: str, text: str) -> float:
    words = _words(decision)
    return len(words & _words(text)) / len(words) if words else 0.0


def _contradicts(old: str, new: str, *, replaced: bool) -> bool:
    """Whether `new` speaks of the same thing as `old` with the opposite polarity or another value.

    Another value alone counts only where the old text is gone (`replaced`): beside it, the new one refines it.
    """
    if _overlap(old, new) < _SAME_SUBJECT and _covered(old, new) < _SAME_SUBJECT:
        return False
    polarity = bool(_REVERSAL.search(old)) != bool(_REVERSAL.search(new))
    return polarity or (replaced and bool(_words(old) - _words(new)) and bool(_words(new) - _words(old)))
