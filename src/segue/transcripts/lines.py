"""JSON Lines as a stream: bounded memory, and no line can end the reading.

Rules 1 to 3 of the host facts: UTF-8 with or without a byte order mark, bad bytes replaced, lines end at `\\n` only,
a line that does not parse is skipped and counted.
"""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Source: TypeAlias = "IO[bytes] | Iterable[bytes]"
Record: TypeAlias = dict[str, Any]

MAX_LINE = 8 * 1024 * 1024

BOM = b"\xef\xbb\xbf"
_PIECE = 65_536
_LONE_SURROGATE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)


class Records:
    """The JSON objects of a file of JSON lines, one at a time.

    `source` is a binary file or an iterable of lines. `skipped` counts what was passed over: lines that are no JSON
    object (a crash cuts the last one) and lines of more than `max_line` bytes.
    """

    def __init__(self, source: Source, max_line: int = MAX_LINE) -> None:
        self._source = source
        self._max_line = max_line
        self.skipped = 0

    def __iter__(self) -> Iterator[Record]:
        first = True
        for line in self._lines():
            text = line.removeprefix(BOM) if first and line else line
            first = False
            if text is not None and not text.strip():
                continue
            record = None if text is None else parse_object(text)
            if record is None:
                self.skipped += 1
            else:
                yield record

    def _lines(self) -> Iterator[bytes | None]:
        """Yield each line, or None for one that is too long."""
        readline = getattr(self._source, "readline", None)
        if readline is None:
            for line in self._source:
                yield line if len(line) <= self._max_line else None
            return
        while line := readline(self._max_line + 1):
            if len(line) <= self._max_line:
                yield line
                continue
            while line and not line.endswith(b"\n"):
                line = readline(_PIECE)
            yield None


def parse_object(line: bytes) -> Record | None:
    """Return the JSON object that `line` holds, bad bytes and half characters replaced; None where it holds none."""
    try:
        value = orjson.loads(line)
    except ValueError:
        try:
            value = orjson.loads(_mended(line))
        except ValueError:
            return None
    return value if isinstance(value, dict) else None


def _mended(line: bytes) -> bytes:
    """Replace what is not UTF-8 and escapes of half a character: hosts cut texts in the middle of an emoji."""
    return _LONE_SURROGATE.sub(rb"\\ufffd", line.decode("utf-8", "replace").encode())
