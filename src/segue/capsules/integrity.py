"""The INTEGRITY line (PCSF section 2.10a, decision C-6).

A checksum finds accidents: a lost line, a changed letter. It stops nobody who recomputes it.
"""

from __future__ import annotations

import re
import zlib

_FORM = re.compile(r"INTEGRITY: crc32=([0-9a-f]{8}) chars=([0-9]+)", re.ASCII)
_FIXED = len("INTEGRITY: crc32=00000000 chars=\n")


def read_line(line: str) -> tuple[str, str] | None:
    """Return the hex digits and the count that an INTEGRITY line states, or None if it is not well formed.

    The count stays text: it may have more digits than any file has characters.
    """
    match = _FORM.fullmatch(line)
    return (match[1], match[2].lstrip("0") or "0") if match else None


def crc(data: bytes) -> str:
    """Return the CRC-32 of `data` as eight lowercase hex digits."""
    return f"{zlib.crc32(data):08x}"


def stamped_size(size: int) -> int:
    """Return how long a text of `size` characters is with its INTEGRITY line.

    The line counts itself, so this is the smallest fixed point.
    """
    total = size + _FIXED + 1
    while (exact := size + _FIXED + len(str(total))) != total:
        total = exact
    return total


def stamp(text: str) -> str:
    """Return `text` (a capsule without INTEGRITY line) with that line in its place, after META or CHAIN."""
    data = text.encode("utf-8", "surrogatepass")
    head, blank, rest = text.partition("\n\n")
    return f"{head}\nINTEGRITY: crc32={crc(data)} chars={stamped_size(len(data))}{blank}{rest}"
