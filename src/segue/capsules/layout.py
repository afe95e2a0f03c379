"""The structure of a capsule: which line stands where (PCSF sections 2.2, 2.10a, 2.10b; decisions C-1 and C-2).

This module sorts the lines of a text into their places and reports rules C3 and C5, and the places of C10 and C12.
What a line says in its place is read by `segue.capsules.lines`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from segue.capsules.capsule import CLOSE, HEADERS, TOKENS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from segue.capsules.problems import Problems

_INDEX = {header: index for index, header in enumerate(HEADERS)}
_NEAR_HEADER = re.compile(r"[Ll]([1-5]) ?:[^|]*", re.ASCII)
_STRAY = {
    "CHAIN:": ("C12", "CHAIN stands directly after META and nowhere else; move or remove this line"),
    "INTEGRITY:": ("C10", "INTEGRITY stands directly after META, or after CHAIN if there is one; move or remove it"),
}

Placed = tuple[int, str]
"""The number of a line, from 1, and its text."""


@dataclass(slots=True)
class Layout:
    """The lines of a capsule by place; what is missing is None or empty."""

    version: str | None = None
    readable: bool = True
    meta: Placed | None = None
    chain: Placed | None = None
    integrity: Placed | None = None
    layers: tuple[list[Placed], ...] = field(default_factory=lambda: ([], [], [], [], []))
    seed: Placed | None = None
    compact: bool = False


def read_layout(lines: Sequence[str], problems: Problems) -> Layout:
    """Return where each of `lines` belongs (they come without line ends and trailing spaces).

    Another version than those of section 4 is not read further: `readable` is False then.
    """
    layout = Layout()
    start = _opening(lines, layout, problems)
    if not layout.readable:
        return layout
    end = _closing(lines, start, problems)
    body = next((i for i in range(start, end) if _header_index(lines[i]) is not None or _is_seed(lines[i])), end)
    _read_header(lines, start, body, layout, problems)
    _Body(layout, problems).read(lines, body, end)
    return layout


def _header_index(line: str) -> int | None:
    index = _INDEX.get(line)
    if index is None and line[:1] in ("L", "l") and (near := _NEAR_HEADER.fullmatch(line)):
        return int(near[1]) - 1
    return index


def _is_seed(line: str) -> bool:
    return line.startswith("SEED:")


def _stray(line: str) -> tuple[str, str] | None:
    for prefix, rule in _STRAY.items():
        if line.startswith(prefix):
            return rule
    return None


def _opening(lines: Sequence[str], layout: Layout, problems: Problems) -> int:
    """Read the token; return the index of the line after it."""
    tokens = ", ".join(TOKENS)
    found = next((i for i, line in enumerate(lines) if line.startswith("===PCSF:")), None)
    if found is None:
        hint = "; this text looks quoted or indented: --lenient reads it" if _looks_pasted(lines) else ""
        problems.add("C3", 1, 1, f"the first line is one of {tokens}{hint}")
        return 0 if lines and lines[0].startswith("META:") else 1
    layout.version = TOKENS.get(lines[found])
    if layout.version is None:
        layout.readable = False
        problems.add("C3", found + 1, 1, f"this version is not known here and nothing is guessed; known are {tokens}")
    elif found:
        problems.add("C3", 1, 1, f"the capsule begins on line {found + 1}; remove what stands before it")
    return found + 1


def _looks_pasted(lines: Sequence[str]) -> bool:
    return any("===PCSF:v" in line for line in lines)


def _closing(lines: Sequence[str], start: int, problems: Problems) -> int:
    """Return the index of the closing line, or of the end."""
    end = next((i for i in range(start, len(lines)) if lines[i] == CLOSE), None)
    if end is None:
        problems.add("C3", max(len(lines), 1), 1, f"the last line is {CLOSE}; the text may have been cut")
        return len(lines)
    if end + 1 < len(lines):
        problems.add("C3", end + 2, 1, f"nothing but one line feed follows {CLOSE}; remove what stands after it")
        for index in range(end + 1, len(lines)):
            if rule := _stray(lines[index]):
                problems.add(rule[0], index + 1, 1, rule[1])
    return end


def _read_header(lines: Sequence[str], start: int, body: int, layout: Layout, problems: Problems) -> None:
    last = body
    while last > start and not lines[last - 1]:
        last -= 1
    for index in range(start, last):
        _header_line(lines[index], index + 1, layout, problems)
    if layout.meta is None:
        problems.add("C4", start + 1, 1, "META: topic | domain | depth | timestamp stands on the second line; add it")
    if body < len(lines) and body - last != 1:
        problems.add("C5", body + 1, 1, "exactly one blank line stands between the header and L1:SKELETON")


def _header_line(line: str, number: int, layout: Layout, problems: Problems) -> None:
    meta = layout.meta[0] if layout.meta else -1
    if line.startswith("META:"):
        if layout.meta is None:
            layout.meta = (number, line)
        else:
            problems.add("C4", number, 1, "META stands once; remove the second")
    elif line.startswith("CHAIN:"):
        _place_chain(line, number, meta, layout, problems)
    elif line.startswith("INTEGRITY:"):
        before = layout.chain[0] if layout.chain else meta
        if layout.integrity or number != before + 1 or meta < 0:
            problems.add("C10", number, 1, _STRAY["INTEGRITY:"][1])
        layout.integrity = layout.integrity or (number, line)
    elif line:
        problems.add("C5", number, 1, "only META, CHAIN and INTEGRITY stand before L1:SKELETON; remove this line")
    else:
        problems.add("C5", number, 1, "no blank line stands inside the header; remove it")


def _place_chain(line: str, number: int, meta: int, layout: Layout, problems: Problems) -> None:
    if layout.chain or number != meta + 1 or meta < 0:
        problems.add("C12", number, 1, _STRAY["CHAIN:"][1])
        if layout.integrity and layout.chain is None:
            problems.add("C10", layout.integrity[0], 1, "INTEGRITY stands after CHAIN; swap the two lines")
    layout.chain = layout.chain or (number, line)


class _Body:
    """Walks from the first layer header to the closing line."""

    def __init__(self, layout: Layout, problems: Problems) -> None:
        self._layout = layout
        self._problems = problems
        self._current = -1
        self._seen: list[int] = []
        self._blanks = 0

    def read(self, lines: Sequence[str], start: int, end: int) -> None:
        for index in range(start, end):
            line = lines[index]
            if line:
                self._line(index + 1, line)
                self._blanks = 0
                continue
            self._blanks += 1
            if self._blanks == 2:
                self._problems.add("C5", index + 1, 1, "at most one blank line stands between sections; remove it")
        if self._blanks == 1:
            self._problems.add("C5", end, 1, f"no blank line stands before {CLOSE}; remove it")
        if self._layout.seed is None:
            self._problems.add("C9", end + 1, 1, f"SEED: and one sentence stand before {CLOSE}; add them")
        self._missing(end + 1)

    def _line(self, number: int, line: str) -> None:
        header = _header_index(line)
        if header is not None:
            self._header(number, header, line)
        elif _is_seed(line):
            self._seed(number, line)
        elif rule := _stray(line):
            self._problems.add(rule[0], number, 1, rule[1])
        elif self._layout.seed is not None or self._current < 0:
            self._problems.add("C9", number, 1, f"SEED is one line and {CLOSE} follows it; remove this line")
        else:
            if self._blanks == 1:
                message = "no blank line stands inside a layer, nor between its header and its entries; remove it"
                self._problems.add("C5", number - 1, 1, message)
            self._layout.layers[self._current].append((number, line))

    def _header(self, number: int, header: int, line: str) -> None:
        name = HEADERS[header]
        if line != name:
            self._problems.add("C5", number, 1, f"the header is exactly {name}")
        if header in self._seen:
            self._problems.add("C5", number, 1, f"{name} stands twice; remove or rename this header")
        elif self._seen and header < max(self._seen):
            self._problems.add("C5", number, 1, f"{name} stands before {HEADERS[max(self._seen)]}; move it there")
        if self._layout.seed is not None:
            self._problems.add("C5", number, 1, "the five layers stand before SEED; move this one")
        self._gap()
        self._seen.append(header)
        self._current = header

    def _seed(self, number: int, line: str) -> None:
        if self._layout.seed is None:
            self._layout.seed = (number, line)
            self._gap()
        else:
            self._problems.add("C9", number, 1, "SEED stands once; remove one of the two")

    def _gap(self) -> None:
        if self._seen and not self._blanks:
            self._layout.compact = True

    def _missing(self, number: int) -> None:
        seed = self._layout.seed
        for header, name in enumerate(HEADERS):
            if header not in self._seen:
                where = seed[0] if seed else number
                self._problems.add("C5", where, 1, f"{name} is missing; a layer without entries keeps its header")
