"""Drift: where the old wording of a correction still stands in a project's ledgers."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from segue.base.text import fold
from segue.continuity.store import labels

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from segue.continuity.store.detail import Detail

_MARKER = re.compile(r"^[ \t]*(?:[-*+>]|\d{1,3}[.)])[ \t]+")
_BLOCK = re.compile(rf"[ \t\r]*$|[ \t]*(?:#|\|)|{_MARKER.pattern}")
_PAIRS = (("`", "`"), ('"', '"'), ("“", "”"), ("「", "」"), ("『", "』"), ("‘", "’"), ("'", "'"))
_QUOTED = re.compile("|".join(rf"{begin}([^{begin}{end}\n]+){end}" for begin, end in _PAIRS))
_BETWEEN = re.compile(r"(?:[\s,，;；、|/.。]|\band\b|\bor\b|和|或)*", re.IGNORECASE)
_SEPARATOR = re.compile(r"[;；|]")
_NONE = frozenset({"", "-", "—", "none", "n/a", "no", "无", "没有"})
LEAST = 2  # characters: a shorter pattern would stand everywhere
MOST = 100  # patterns of one correction
LONGEST = 500  # characters by which a pattern is known
_REST_OF_WORD = re.compile(r"[a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Drift:
    """A place where old wording stands: file and line (from 1) of a ledger, what stands there, and the correction."""

    file: str
    line: int
    pattern: str
    memory_id: str
    name: str
    canonical: str

    def to_json(self) -> dict[str, Any]:
        """Return all of it, named as here."""
        return {
            "file": self.file,
            "line": self.line,
            "pattern": self.pattern,
            "memory_id": self.memory_id,
            "name": self.name,
            "canonical": self.canonical,
        }


def patterns(text: str) -> list[str]:
    """Return the wordings that `Stale patterns:` lists: one a line, or with `;` between them, quoted or not."""
    found: list[str] = []
    for line in text.splitlines():
        line_ = _MARKER.sub("", line).strip()
        quoted = [next(filter(None, each.groups())) for each in _QUOTED.finditer(line_)]
        if quoted and _BETWEEN.fullmatch(_QUOTED.sub(" ", line_)):
            found += quoted
        else:
            found += _SEPARATOR.split(line_)
    kept = (each.strip().strip("*").strip() for each in found)
    return [each for each in dict.fromkeys(kept) if fold(each) not in _NONE and len(fold(each)) >= LEAST][:MOST]


def find(corrections: Sequence[Detail], file: str, text: str) -> list[Drift]:
    """Return where the old wordings of corrections stand in a ledger, in the order of its lines.

    Case, width and white space do not count, nor where a line is broken. A line that also holds the new wording,
    beside the old one, tells of the correction itself, and is no drift.
    """
    ledger = _Folded(text)
    found: list[Drift] = []
    for detail in corrections:
        said = detail.labelled
        canonical = said.get(labels.CANONICAL, "")
        right = list(ledger.places(fold(canonical)))
        for pattern in patterns(said.get(labels.STALE, "")):
            lines = ledger.lines(list(ledger.places(fold(pattern))), right)
            found += (Drift(file, line, pattern, detail["memory_id"], detail.name, canonical) for line in lines)
    return sorted(found, key=lambda each: (each.line, each.memory_id, each.pattern))


class _Folded:
    """A text as it is compared, all of it on one line, and the line that each character of it stands on."""

    def __init__(self, text: str) -> None:
        pieces: list[str] = []
        self._starts: list[int] = []
        self._lines: list[int] = []
        at = 0
        for number, line in enumerate(text.split("\n"), 1):
            piece = ("\0 " if _BLOCK.match(line) else "") + fold(_MARKER.sub("", line))  # no sentence goes past it
            if piece:
                self._starts.append(at)
                self._lines.append(number)
                pieces.append(piece)
                at += len(piece) + 1
        self._text = " ".join(pieces)

    def places(self, wanted: str) -> Iterator[tuple[int, int]]:
        """Yield where each occurrence of a folded text begins and ends; words are whole.

        A search for a plain text takes a time linear in what is searched, whatever both hold; a pattern would not.
        """
        wanted, is_cut = wanted[:LONGEST], len(wanted) > LONGEST
        begins_word, ends_word = _is_word(wanted[:1]), _is_word(wanted[-1:]) and not is_cut
        at = self._text.find(wanted) if wanted else -1
        while at >= 0:
            end = at + len(wanted)
            if begins_word and at and _is_word(self._text[at - 1]):
                end = self._after_word(at)
            elif ends_word and _is_word(self._text[end : end + 1]):
                end = self._after_word(at) if begins_word else at + 1
            else:
                yield at, end
            at = self._text.find(wanted, end)

    def _after_word(self, at: int) -> int:
        rest = _REST_OF_WORD.match(self._text, at)
        return max(rest.end() if rest else 0, at + 1)

    def lines(self, stale: Sequence[tuple[int, int]], right: Sequence[tuple[int, int]]) -> set[int]:
        """Return the lines on which old wording begins, but for those that hold the new one beside it."""
        begins = [begin for begin, _ in stale]
        beside = set()
        for begin, end in right:
            place = bisect_right(begins, begin) - 1
            if place < 0 or stale[place][1] < end:  # it is no part of the old wording
                beside.add(self._line(begin))
        return {
            line for begin, end in stale if not beside.intersection((line := self._line(begin), self._line(end - 1)))
        }

    def _line(self, at: int) -> int:
        return self._lines[bisect_right(self._starts, at) - 1]


def _is_word(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")
