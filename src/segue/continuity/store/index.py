"""The index of a memory store, `MEMORY.md`: its pointers, its faults, and changes that leave the rest alone."""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from segue.base.errors import InvalidInput
from segue.base.untrusted import one_line, shorten
from segue.continuity.store import layout
from segue.continuity.store.fault import Fault
from segue.continuity.store.layout import INDEX, KINDS, TITLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HOOK, GLOSS = 80, 90  # characters, of what we write

_ITEM = re.compile(r"\s*-")
_POINTER = re.compile(r"\s*-\s+\[(.*?)\]\(([^()]*)\)\s+—\s+(\S.*)")
_HEADING = re.compile(r"(#{1,2})\s+(.*?)\s*")
# What would end the link that a hook is, or begin something else in it, is written as a reference to a character.
_MARKUP = re.compile(r"[\[\]`<\\]|&(?=#?\w+;)")


@dataclass(frozen=True, slots=True)
class Pointer:
    """A line of the index: its number (from 1), the kind that it stands under ("" for none), and what it says."""

    line: int
    kind: str
    hook: str
    target: str
    gloss: str

    @property
    def name(self) -> str:
        return self.target.removesuffix(".md")


@dataclass(frozen=True, slots=True)
class Index:
    """An index as it was read: its lines with their ends, its pointers, its faults; `first` to each file."""

    lines: tuple[str, ...]
    pointers: tuple[Pointer, ...]
    faults: tuple[Fault, ...]
    first: Mapping[str, Pointer] = field(default_factory=dict)

    @property
    def data(self) -> bytes:
        return "".join(self.lines).encode("utf-8")

    @property
    def end(self) -> str:
        """The line break that it is written with."""
        return "\r\n" if self.lines and self.lines[0].endswith("\r\n") else "\n"

    def pointer(self, target: str) -> Pointer | None:
        """Return the first pointer to a file, None where there is none."""
        return self.first.get(target)

    # -- changes ---------------------------------------------------------------------------------------------------

    def with_pointer(self, kind: str, hook: str, target: str, gloss: str) -> Index:
        """Return it with a pointer to `target` under `kind`: in its place, else as the first below the heading.

        Raises InvalidInput `memory.heading` unless the heading stands in it once.
        """
        line = written(hook, target, gloss)
        known = self.pointer(target)
        if known is not None and known.kind == kind:
            return self._with(known.line - 1, line)
        return (self if known is None else self.without(known.line))._added(kind, line)

    def without(self, line: int) -> Index:
        """Return it without the line of that number."""
        return read("".join([*self.lines[: line - 1], *self.lines[line:]]).encode("utf-8"))

    def tightened(self, hook: int, gloss: int, *, close: bool) -> Index:
        """Return it with hooks and glosses of at most so many characters, and no more than one empty line in a row.

        With `close` there is no empty line between pointers, nor between a heading and what stands under it.
        """
        lines = list(self.lines)
        for each in self.pointers:
            if len(each.hook) > hook or len(each.gloss) > gloss:
                short = written(shorten(each.hook, hook), each.target, shorten(each.gloss, gloss))
                lines[each.line - 1] = short + self.end
        kept: list[str] = []
        for line in lines:
            if line.strip() or (kept and kept[-1].strip() and not (close and _HEADING.fullmatch(kept[-1].strip()))):
                if close and _ITEM.match(line) and len(kept) > 1 and not kept[-1].strip() and _ITEM.match(kept[-2]):
                    kept.pop()
                kept.append(line)
        return read("".join(kept).encode("utf-8"))

    def _with(self, place: int, line: str) -> Index:
        end = self.end if self.lines[place].endswith("\n") else ""
        return read("".join([*self.lines[:place], line + end, *self.lines[place + 1 :]]).encode("utf-8"))

    def _added(self, kind: str, line: str) -> Index:
        places = [place for place, each in enumerate(self.lines) if _heading(each) == (2, kind)]
        if len(places) != 1:
            found = "no line" if not places else f"{len(places)} lines"
            raise InvalidInput(
                "memory.heading", f"{INDEX} has {found} `## {kind}`; it needs one, for the pointer to stand under"
            )
        lines, place = list(self.lines), places[0] + 1
        if not lines[place - 1].endswith("\n"):
            lines[place - 1] += self.end
        following = place
        while following < len(lines) and not lines[following].strip():
            following += 1
        if following < len(lines) and _ITEM.match(lines[following]):
            place = following
        return read("".join([*lines[:place], line + self.end, *lines[place:]]).encode("utf-8"))


def written(hook: str, target: str, gloss: str) -> str:
    """Return the line of a pointer, without its end: whatever the texts hold, it is one line and one link."""
    return f"- [{_inert(hook, HOOK)}]({target}) — {_inert(gloss, GLOSS)}"


def is_written(stands: str, text: str) -> bool:
    """Whether what stands in an index was written of that text, perhaps cut shorter since."""
    whole = one_line(text)
    return stands == whole or (stands.endswith("…") and whole.startswith(stands[:-1]))


def _inert(text: str, most: int) -> str:
    line = shorten(one_line(text), most) or "…"
    return _MARKUP.sub(lambda found: f"&#{ord(found.group())};", line)


def read(data: bytes) -> Index:
    """Return the index that the bytes of `MEMORY.md` are; what is wrong with it is among its faults."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        at = data.count(b"\n", 0, error.start) + 1
        fault = Fault("index.encoding", INDEX, at, "it is no UTF-8 text", "save it as UTF-8")
        return Index((), (), (fault,))
    lines = tuple(_lines(text))
    pointers: list[Pointer] = []
    faults: list[Fault] = []
    kind = ""
    for number, line in enumerate(lines, 1):
        heading = _heading(line)
        if heading is not None:
            kind = heading[1] if heading[0] == 2 and heading[1] in KINDS else ""
        elif _ITEM.match(line):
            pointer, found = _pointer(line, number, kind)
            pointers += [pointer] if pointer is not None else []
            faults += found
    faults += _of_whole(lines, data)
    faults += _duplicates(pointers)
    first = {each.target: each for each in reversed(pointers)}
    return Index(lines, tuple(pointers), tuple(sorted(faults, key=lambda each: each.line)), first)


def _lines(text: str) -> Iterator[str]:
    """The lines of a text, ended by line feeds alone."""
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


def _heading(line: str) -> tuple[int, str] | None:
    match = _HEADING.fullmatch(line.removeprefix("\ufeff").strip())
    return (len(match[1]), match[2]) if match else None


def _pointer(line: str, number: int, kind: str) -> tuple[Pointer | None, list[Fault]]:
    match = _POINTER.fullmatch(line.strip())
    if match is None:
        mend = "write `- [hook](file.md) — gloss` on one line, or no `-` at its start"
        return None, [Fault("index.item", INDEX, number, "a list item is no one-line pointer", mend)]
    hook, target, gloss = (
        html.unescape(match[1]).strip(),
        unicodedata.normalize("NFC", match[2]),
        html.unescape(match[3]),
    )
    pointer, faults = Pointer(number, kind, hook, target, gloss.strip()), []
    if not kind:
        mend = f"move it under `## {'`, `## '.join(KINDS[:-1])}` or `## {KINDS[-1]}`"
        faults.append(Fault("index.outside", INDEX, number, "a pointer stands under the heading of no kind", mend))
    if not hook:
        mend = "say between the brackets in a few words what the fact is"
        faults.append(Fault("index.hook", INDEX, number, "a pointer has an empty hook", mend))
    if not layout.is_detail(target):
        mend = "point to a .md file that lies directly in the store"
        faults.append(Fault("index.target", INDEX, number, "a pointer leads to no detail file of the store", mend))
    return pointer, faults


def _of_whole(lines: tuple[str, ...], data: bytes) -> list[Fault]:
    faults = []
    if not any(line.removeprefix("\ufeff").rstrip() == TITLE for line in lines):
        faults.append(Fault("index.title", INDEX, 1, f"the line `{TITLE}` is missing", "put it on the first line"))
    size = f"it has {len(lines):,} lines and {len(data):,} bytes"
    if len(lines) > layout.HARD_LINES or len(data) > layout.HARD_BYTES:
        said = f"{size}; {layout.HARD_LINES} lines and {layout.HARD_BYTES:,} bytes are the most"
        mend = "archive what does not matter any more, then `segue continuity compact`"
        faults.append(Fault("index.hard_cap", INDEX, len(lines), said, mend))
    elif len(lines) > layout.SOFT_LINES or len(data) > layout.SOFT_BYTES:
        said = f"{size}; it should stay within {layout.SOFT_LINES} lines and {layout.SOFT_BYTES:,} bytes"
        mend = "`segue continuity compact`, or archive what does not matter any more"
        faults.append(Fault("index.soft_cap", INDEX, len(lines), said, mend, blocks=False))
    return faults


def _duplicates(pointers: list[Pointer]) -> Iterator[Fault]:
    first: dict[str, int] = {}
    for each in pointers:
        if each.target in first:
            said = f"a pointer leads where line {first[each.target]} leads already"
            yield Fault("index.duplicate", INDEX, each.line, said, "keep one of them; `segue continuity dedupe` does")
        first.setdefault(each.target, each.line)
