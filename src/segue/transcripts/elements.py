"""The objects of a large JSON array, one at a time: bounded memory, and none of them can end the reading.

Exports are single arrays of hundreds of megabytes. A streaming parser that stops at the first bad byte, or builds
whatever it meets, would break rule 2 of the host facts. So the text is only cut here, where its brackets say that an
element ends, and each piece is parsed by itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from segue.transcripts.lines import BOM, parse_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from segue.transcripts.lines import Record

MAX_ELEMENT = 64 * 1024 * 1024
MAX_NESTING = 1_000

_CHUNK = 256 * 1024
_BLANK = b" \t\r\n,"
# Runs are possessive: what was passed over once is not tried again. Groups are not, since the first releases of
# Python 3.11 lose their place in a possessive group.
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*"'
_FLAT = rb'[^"\[\]{}]*+(?:' + _STRING + rb'[^"\[\]{}]*+)*'
_PASSED = re.compile(_FLAT, re.DOTALL)
# Deep in an element nothing can end it but its own bracket: lists and objects that hold no others are passed over.
_PASSED_DEEP = re.compile(
    rb'[^"\[\]{}]*+(?:(?:' + _STRING + rb"|\[" + _FLAT + rb"\]|\{" + _FLAT + rb'\})[^"\[\]{}]*+)*', re.DOTALL
)
_IN_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*', re.DOTALL)
_KEY = re.compile(rb'"(\w{1,40})"\s{0,40}:\s{0,40}\[$')
_KEY_SPAN = 130
_OPENING, _CLOSING = b"{[", b"}]"


@dataclass(frozen=True, slots=True)
class Element:
    """One element: its place in the array, and its value or what is wrong with it.

    `mended` says that bytes of it were no UTF-8 and stand in the value as U+FFFD.
    """

    index: int
    value: Record | None = None
    fault: str = ""
    mended: bool = False


class Elements:
    """The elements of the JSON text in `file`: of the array that it is, or of the array under one of `keys`.

    `keys` are looked for in an object at the top; an object that has none of them is itself the one element. Whole
    objects in a row (JSON Lines) are elements too. An element of more than `max_element` bytes is a fault.
    """

    def __init__(self, file: IO[bytes], keys: Sequence[str] = (), max_element: int = MAX_ELEMENT) -> None:
        self._file = file
        self._keys = {key.encode() for key in keys}
        self._max = max_element
        self._base = 0  # the depth at which the elements stand
        self._depth = 0
        self._index = 0
        self._kept: list[bytes] | None = None  # the pieces of the element that is being read
        self._size = 0

    def __iter__(self) -> Iterator[Element]:
        for piece, bracket in self._pieces():
            if bracket in _OPENING:
                yield from self._opened(piece)
                if self._depth > MAX_NESTING:
                    yield self._faulty(f"it is nested deeper than {MAX_NESTING} levels; nothing after it was read")
                    return
            elif bracket in _CLOSING:
                yield from self._closed(piece)
                if self._depth < self._base:
                    return
            elif self._kept is not None:
                self._keep(piece)
            else:
                yield from self._between(piece)
        yield from self._ended()

    def _opened(self, piece: bytes) -> Iterator[Element]:
        self._depth += 1
        if self._kept is not None:
            if self._base == 0 and self._depth == 2 and piece.endswith(b"[") and self._key(piece) in self._keys:
                self._base, self._kept = 2, None
            else:
                self._keep(piece)
            return
        yield from self._between(piece[:-1])
        if self._base == 0 and self._index == 0 and piece.endswith(b"["):
            self._base = 1
            return
        self._kept, self._size = [], 0
        self._keep(piece[-1:])

    def _closed(self, piece: bytes) -> Iterator[Element]:
        self._depth -= 1
        if self._kept is None:
            yield from self._between(piece[:-1])
            return
        self._keep(piece)
        if self._depth > self._base:
            return
        if self._size > self._max:
            yield self._faulty(f"it is larger than {self._max:,} bytes")
            return
        text = b"".join(self._kept)
        value = parse_object(text)
        if value is None:
            yield self._faulty("it is no JSON object, or it is broken")
            return
        yield Element(self._index, value, mended=not _is_utf8(text))
        self._index, self._kept = self._index + 1, None

    def _between(self, piece: bytes) -> Iterator[Element]:
        if piece.strip(_BLANK):
            yield self._faulty("it is no JSON object")

    def _ended(self) -> Iterator[Element]:
        if self._kept is not None:
            yield self._faulty("the file ends inside it")
        elif self._depth:
            yield self._faulty("the file ends before its list does")

    def _faulty(self, fault: str) -> Element:
        self._index, self._kept = self._index + 1, None
        return Element(self._index - 1, fault=fault)

    def _keep(self, piece: bytes) -> None:
        assert self._kept is not None  # noqa: S101 - only called inside an element
        self._size += len(piece)
        if self._size > self._max:
            self._kept.clear()
        else:
            self._kept.append(piece)

    def _key(self, piece: bytes) -> bytes:
        """The key of the list that `piece` opens; it may begin in the pieces before."""
        for before in reversed(self._kept or []):
            if len(piece) >= _KEY_SPAN:
                break
            piece = before + piece
        found = _KEY.search(piece[-_KEY_SPAN:])
        return found[1] if found else b""

    def _pieces(self) -> Iterator[tuple[bytes, int]]:
        """Yield the text in pieces, each up to the next bracket and with it; where none is left, the rest and 0."""
        data = self._file.read(max(_CHUNK, len(BOM))).removeprefix(BOM) or self._file.read(_CHUNK)
        in_string = False
        while data:
            start = position = 0
            while position < len(data):
                deep = self._kept is not None and (self._base > 0 or self._depth > 1)
                pattern = _IN_STRING if in_string else _PASSED_DEEP if deep else _PASSED
                match = pattern.match(data, position)
                position = match.end() if match else position
                if position >= len(data):
                    break
                if data[position] == 0x5C:  # a backslash waits for what it escapes
                    break
                if data[position] == 0x22:
                    in_string = not in_string
                else:
                    yield data[start : position + 1], data[position]
                    start = position + 1
                position += 1
            if position > start:
                yield data[start:position], 0
            more = self._file.read(_CHUNK)
            if not more:
                return
            data = data[position:] + more


def _is_utf8(text: bytes) -> bool:
    try:
        return text.isascii() or bool(text.decode())
    except UnicodeDecodeError:
        return False
