"""Text of a capsule as it comes from a clipboard, brought back to what was copied.

Chats and editors put a capsule into a Markdown fence, quote it, indent it, change its line ends and make its quotes
typographic. `clean` undoes exactly that, and says what it undid; whatever else is wrong is left for `check` to report.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from segue.capsules import integrity
from segue.capsules.capsule import CLOSE

if TYPE_CHECKING:
    from collections.abc import Sequence

_OPEN = re.compile(r"[>\s]*===PCSF:\S*===\s*")
_END = re.compile(rf"[>\s]*{CLOSE}\s*")
_FENCE = re.compile(r"[>\s]*(?:`{3,}|~{3,})[\w.+-]*\s*")
_QUOTE = re.compile(r"^[ \t]*>[ \t]?")
_SPACES = re.compile("[\t\u00a0\u2000-\u200a\u202f\u205f\u3000]")
_HIDDEN = re.compile("[\u200b-\u200f\u2060\ufeff]")

_MOST_LEVELS = 8
_PLAIN = {
    "\u2018": "'", "\u2019": "'", "\u201a": "'", "\u201b": "'", "\u2032": "'", "\u2039": "'", "\u203a": "'",
    "\u201c": '"', "\u201d": '"', "\u201e": '"', "\u201f": '"', "\u2033": '"', "\u00ab": '"', "\u00bb": '"',
    "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2014": "-", "\u2015": "-", "\u2212": "-",
    "\u2026": "...",
}  # fmt: skip
_TYPOGRAPHIC = re.compile(f"[{''.join(_PLAIN)}]")


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A cleaned text, and one sentence for each thing that was changed (none if the text came unharmed)."""

    text: str
    changes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return `{"text", "changes"}`."""
        return {"text": self.text, "changes": list(self.changes)}


def clean(source: str | bytes) -> Cleaned:
    """Return `source` without what a clipboard did to it. Raises nothing; the result may still be no capsule."""
    text = source if isinstance(source, str) else source.decode("utf-8", "replace")
    changes: list[str] = []
    lines = _split(text, changes)
    lines = _unquote(_cut(lines, changes), changes)
    lines = _unindent(lines, changes)
    lines = _ascii(lines, changes)
    stripped = [line.rstrip(" ") for line in lines]
    _note(changes, _differ(lines, stripped), "spaces at the end of {lines} removed")
    return Cleaned(_join(stripped, text, changes), tuple(changes))


def _note(changes: list[str], count: int, sentence: str) -> None:
    if count:
        changes.append(sentence.format(lines=f"{count} line{'s' if count > 1 else ''}", count=count))


def _differ(before: Sequence[str], after: Sequence[str]) -> int:
    return sum(a != b for a, b in zip(before, after, strict=True))


def _split(text: str, changes: list[str]) -> list[str]:
    unhidden, count = _HIDDEN.subn("", text)
    _note(changes, count, "invisible characters removed: {count}")
    _note(changes, unhidden.count("\r"), "carriage returns made line feeds: {count}")
    return unhidden.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _cut(lines: list[str], changes: list[str]) -> list[str]:
    """Return the lines from the token to the closing line, if there is one capsule; fences go with the rest."""
    opens = [i for i, line in enumerate(lines) if _OPEN.fullmatch(line)]
    ends = [i for i, line in enumerate(lines) if _END.fullmatch(line)]
    if len(opens) != 1 or len(ends) != 1 or opens[0] > ends[0]:
        return lines
    outside = [line for line in (*lines[: opens[0]], *lines[ends[0] + 1 :]) if line.strip(" \t>")]
    fences = sum(bool(_FENCE.fullmatch(line)) for line in outside)
    _note(changes, fences, "a Markdown fence removed ({lines})")
    _note(changes, len(outside) - fences, "{lines} before and after the capsule left out")
    if not outside and (opens[0] or ends[0] + 2 < len(lines)):
        changes.append("empty lines before and after the capsule removed")
    return lines[opens[0] : ends[0] + 1]


def _unquote(lines: list[str], changes: list[str]) -> list[str]:
    """Remove `> ` where each line that says something has it, again for quotes of quotes."""
    levels = 0
    while (
        levels < _MOST_LEVELS
        and any(map(str.strip, lines))
        and all(_QUOTE.match(line) or not line.strip() for line in lines)
    ):
        lines = [_QUOTE.sub("", line, count=1) for line in lines]
        levels += 1
    _note(changes, levels, "quotation marks at the beginning of lines (>) removed, levels: {count}")
    return lines


def _unindent(lines: list[str], changes: list[str]) -> list[str]:
    # No line of a capsule begins with white space, so none of it can belong to the text.
    bare = [line.lstrip(" \t\u00a0") for line in lines]
    _note(changes, _differ(lines, bare), "the indent of {lines} removed")
    return bare


def _ascii(lines: list[str], changes: list[str]) -> list[str]:
    spaced = [_SPACES.sub(" ", line) for line in lines]
    _note(changes, _differ(lines, spaced), "tabs and wide spaces in {lines} made plain spaces")
    plain = [_TYPOGRAPHIC.sub(lambda match: _PLAIN[match.group()], line) for line in spaced]
    _note(changes, _differ(spaced, plain), "typographic quotes, dashes and dots in {lines} made plain")
    return plain


def _join(lines: list[str], text: str, changes: list[str]) -> str:
    joined = "\n".join(lines)
    if lines[-1] != CLOSE:
        return joined
    stamped = next((stated for line in lines if (stated := integrity.read_line(line))), None)
    if stamped and stamped[1] == str(len(joined)):  # the file was stamped without a final line feed
        return joined
    if not text.endswith(("\n", "\r")):
        changes.append("the line feed at the end added")
    return joined + "\n"
