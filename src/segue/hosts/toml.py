"""Reading TOML: its value, and the exact places of the statements that an edit needs.

The standard library's parser says whether a text is TOML and what it holds; a scan over the same bytes then finds where
each statement stands. It may be simple, because it only sees texts that are known to be valid.

Beyond TOML 1.0: a byte order mark. Numbers are kept as written, as in `jsonc`.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from segue.hosts.jsonc import BOM, Unreadable, number, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_KEY = re.compile(rb"""[ \t]*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)[ \t]*""")
_HEADER = re.compile(rb"\[\[?")
_BETWEEN = re.compile(rb"[ \t\r\n]*")
_REST_OF_LINE = re.compile(rb"[^\n]*\n?")
_TOKEN = re.compile(
    rb'(?P<text>"""(?:[^\\]|\\.)*?"""\"{0,2}|\'\'\'.*?\'\'\'\'{0,2}|"(?:[^"\\]|\\.)*"|\'[^\']*\')'
    rb"|(?P<comment>\#[^\r\n]*)|(?P<open>[\[{])|(?P<close>[\]}])"
    rb"|(?P<space>[ \t\r\n,]+)|(?P<bare>[^\s,\[\]{}#\"']+(?:[ ]\d[^\s,\]}#]*)?)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Pair:
    """`key = value`: the names that lead to it from the outermost table, and byte offsets (ends exclusive)."""

    path: tuple[str, ...]
    start: int
    value_start: int
    end: int


@dataclass(frozen=True, slots=True)
class Header:
    """`[table]` or `[[table]]`: the names in it, and byte offsets (the end exclusive)."""

    path: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Document:
    """A text that was read: its value, its statements in order, and where its comments stand."""

    raw: bytes
    value: dict[str, Any]
    statements: tuple[Pair | Header, ...]
    comments: tuple[tuple[int, int], ...]

    def pair(self, path: Sequence[str]) -> Pair | None:
        """Return the pair at `path`, inside an inline table too; None where nothing is written as `key = value`."""
        wanted = tuple(path)
        for statement in self.statements:
            if isinstance(statement, Pair) and statement.path == wanted[: len(statement.path)]:
                return _within(self.raw, statement, wanted)
        return None

    def comments_outside(self, spans: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return the comments in order that start in none of `spans`."""
        return [
            self.raw[first:last].rstrip()
            for first, last in self.comments
            if not any(start <= first < end for start, end in spans)
        ]

    def line_of(self, start: int, end: int) -> tuple[int, int]:
        """Return the whole lines that hold the bytes from `start` to `end`, with the last one's line break."""
        match = _REST_OF_LINE.match(self.raw, end)
        first = max(self.raw.rfind(b"\n", 0, start) + 1, len(BOM) if self.raw.startswith(BOM) else 0)
        return first, match.end() if match else end


def read(raw: bytes) -> Document:
    """Return what `raw` holds.

    Raises Unreadable: no UTF-8, no TOML, a key that stands twice.
    """
    text = text_of(raw)
    try:
        value = tomllib.loads(text.removeprefix("\ufeff"), parse_float=number)
    except tomllib.TOMLDecodeError as error:
        said = str(error)
        raise Unreadable(f"it is not TOML: {said[:1].lower()}{said[1:200]}") from None
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    except ValueError:  # a number of more digits than Python reads
        raise Unreadable("it holds a number that is too long") from None
    comments: list[tuple[int, int]] = []
    return Document(raw, value, tuple(_statements(raw, comments)), tuple(comments))


def items(raw: bytes, start: int) -> list[Pair]:
    """Return the pairs of the inline table that opens at `start`, with the names that lead to them from there."""
    found: list[Pair] = []
    offset = _after_space(raw, start + 1)
    while raw[offset : offset + 1] != b"}":
        path, equals = _names(raw, offset)
        value = _after_space(raw, equals + 1)
        end = _value_end(raw, value, [])
        found.append(Pair(path, offset, value, end))
        offset = _after_space(raw, end)
        if raw[offset : offset + 1] == b",":
            offset = _after_space(raw, offset + 1)
    return found


def _statements(raw: bytes, comments: list[tuple[int, int]]) -> Iterator[Pair | Header]:
    table: tuple[str, ...] = ()
    offset = len(BOM) if raw.startswith(BOM) else 0
    while (offset := _after_space(raw, offset)) < len(raw):
        if raw[offset : offset + 1] == b"#":
            offset = _comment(raw, offset, comments)
        elif opening := _HEADER.match(raw, offset):
            table, end = _names(raw, opening.end())
            end += len(opening.group())
            yield Header(table, offset, end)
            offset = end
        else:
            names, equals = _names(raw, offset)
            value = _after_space(raw, equals + 1)
            end = _value_end(raw, value, comments)
            yield Pair(table + names, offset, value, end)
            offset = end


def _within(raw: bytes, pair: Pair, path: tuple[str, ...]) -> Pair | None:
    """Return the pair at `path`, which `pair` is or holds in inline tables."""
    while pair.path != path:
        if raw[pair.value_start : pair.value_start + 1] != b"{":
            return None
        inner = (
            Pair(pair.path + item.path, item.start, item.value_start, item.end) for item in items(raw, pair.value_start)
        )
        fitting = next((item for item in inner if item.path == path[: len(item.path)]), None)
        if fitting is None:
            return None
        pair = fitting
    return pair


def _names(raw: bytes, offset: int) -> tuple[tuple[str, ...], int]:
    """Return the names of a dotted key at `offset`, and the offset after them."""
    names: list[str] = []
    while match := _KEY.match(raw, offset):
        names.append(_name(match.group(1).decode()))
        offset = match.end()
        if raw[offset : offset + 1] != b".":
            break
        offset += 1
    return tuple(names), offset


def _name(written: str) -> str:
    if written.startswith('"'):
        return str(tomllib.loads(f"name = {written}")["name"])
    return written.strip("'") if written.startswith("'") else written


def _value_end(raw: bytes, offset: int, comments: list[tuple[int, int]]) -> int:
    depth = 0
    while match := _TOKEN.match(raw, offset):
        offset = match.end()
        if match.lastgroup == "comment":
            comments.append(match.span())
        depth += {"open": 1, "close": -1}.get(match.lastgroup or "", 0)
        if depth == 0:
            break
    return offset


def _comment(raw: bytes, offset: int, comments: list[tuple[int, int]]) -> int:
    match = _REST_OF_LINE.match(raw, offset)
    end = match.end() if match else len(raw)
    comments.append((offset, offset + len(raw[offset:end].rstrip(b"\r\n"))))
    return end


def _after_space(raw: bytes, offset: int) -> int:
    match = _BETWEEN.match(raw, offset)
    return match.end() if match else offset
