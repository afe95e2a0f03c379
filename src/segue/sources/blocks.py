"""The block that Segue owns in a file of its user's, between two lines that are comments in Markdown.

Only what stands between the markers is ever changed; every other byte stays. The opening marker has a hash of what
Segue wrote, so that a change by hand is seen before it is lost. Nothing here touches a disk.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from segue.base.errors import InvalidInput, Refused

END = "<!-- END SEGUE SOURCES -->"
_BEGIN = re.compile(r"<!-- BEGIN SEGUE SOURCES(?: v:\d{1,3})?(?: hash:([0-9a-f]{1,64}))? -->", re.ASCII)
_MARKER = re.compile(r"<!--(?=\s*(?:BEGIN|END)\s+SEGUE\s+SOURCES)", re.IGNORECASE)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)", re.DOTALL)
_BOM = b"\xef\xbb\xbf"
_HASH_LENGTH = 16


@dataclass(frozen=True, slots=True)
class Block:
    """A block in a file: its bytes from `start` to `end`, markers included; `edited` says that a person changed it."""

    start: int
    end: int
    edited: bool


def found(data: bytes) -> Block | None:
    """Return the block in a file, None where there is none. Markers inside fenced code are none.

    Raises InvalidInput `source.block` for markers that are no one pair in their order, with their lines, and for a
    file that is no UTF-8 text.
    """
    lines = _lines(data)
    markers = _markers([line for _, line in lines])
    if not markers:
        return None
    numbers = [number for number, _ in markers]
    if [begins for _, begins in markers] != [True, False]:
        listed = ", ".join(str(number + 1) for number in numbers)
        message = f"the markers of Segue's block stand on the lines {listed}, which is not one pair in its order"
        raise InvalidInput("source.block", f"{message}; mend the file", {"lines": [each + 1 for each in numbers]})
    first, last = numbers
    match = _BEGIN.fullmatch(_bare(lines[first][1]))
    inside = "".join(line for _, line in lines[first + 1 : last])
    edited = match is None or match[1] != _hash(inside)
    start = lines[first][0] + (len(_BOM) if lines[first][1].startswith("\ufeff") else 0)
    return Block(start, lines[last][0] + len(lines[last][1].encode()), edited)


def with_block(data: bytes, content: str, *, replace_edited: bool = False) -> bytes:
    """Return a file with `content` in its block, which is appended behind a blank line where there is none.

    Its byte order mark, line endings and all else stay as they are. Raises InvalidInput as `found` does, Refused
    `source.block_edited` where a person changed the block, unless told otherwise.
    """
    block = found(data)
    if block is not None and block.edited and not replace_edited:
        raise _edited()
    newline = _newline(data)
    text = newline.join(_written(content)).encode()
    if block is None:
        written = _appended(data, text, newline.encode())
    else:
        ending = newline.encode() if data[block.start : block.end].endswith(b"\n") else b""
        written = data[: block.start] + text + ending + data[block.end :]
    if found(written) is None:
        raise InvalidInput("source.block", "a fenced block in the file is not closed; mend it, then try again")
    return written


def _appended(data: bytes, text: bytes, newline: bytes) -> bytes:
    if not data.removeprefix(_BOM):
        return data + text + newline
    # What did not end with a line's end does not afterwards; `without_block` goes by that.
    return data + newline + text + newline if data.endswith(b"\n") else data + newline * 2 + text


def without_block(data: bytes, *, replace_edited: bool = False) -> bytes:
    """Return a file without its block and the blank line that came with it; the same bytes where it has none.

    Raises as `with_block` does.
    """
    block = found(data)
    if block is None:
        return data
    if block.edited and not replace_edited:
        raise _edited()
    before, after = data[: block.start], data[block.end :]
    if data.endswith(b"\n") or after:
        blank = next((each for each in (b"\r\n", b"\n") if before.endswith(b"\n" + each)), b"")
    else:
        blank = next((each for each in (b"\r\n\r\n", b"\n\n") if before.endswith(each)), b"")
    return before.removesuffix(blank) + after


def shielded(content: str) -> str:
    """Return a text in which nothing can be taken for one of the markers."""
    return _MARKER.sub("<!- -", content)


def _edited() -> Refused:
    message = "somebody changed what stands inside Segue's block; move it out of the block"
    return Refused("source.block_edited", f"{message}, or `segue source export --to … --replace`")


def _written(content: str) -> list[str]:
    lines = shielded(content).rstrip("\n").split("\n")
    digest = _hash("".join(f"{line}\n" for line in lines))
    return [f"<!-- BEGIN SEGUE SOURCES v:1 hash:{digest} -->", *lines, END]


def _hash(inside: str) -> str:
    return hashlib.sha256(inside.replace("\r\n", "\n").encode()).hexdigest()[:_HASH_LENGTH]


def _lines(data: bytes) -> list[tuple[int, str]]:
    """The lines of a file with their ends, each with the number of bytes before it."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidInput("source.block", "the file is no UTF-8 text; it was left alone") from None
    found, position = [], 0
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):
        found.append((position, line))
        position += len(line.encode())
    return found


def _markers(lines: list[str]) -> list[tuple[int, bool]]:
    """The numbers of the lines that are markers, each with whether it begins a block."""
    markers, fence = [], ""
    for number, line in enumerate(lines):
        bare = _bare(line)
        opened = _FENCE.match(line.rstrip("\r\n"))
        if fence:
            if opened and opened[1].startswith(fence) and not opened[2].strip():
                fence = ""
        elif opened and not (opened[1][0] == "`" and "`" in opened[2]):
            fence = opened[1]
        elif bare == END:
            markers.append((number, False))
        elif _BEGIN.fullmatch(bare):
            markers.append((number, True))
    return markers


def _bare(line: str) -> str:
    return line.removeprefix("\ufeff").strip()


def _newline(data: bytes) -> str:
    crlf = data.count(b"\r\n")
    return "\r\n" if crlf and 2 * crlf >= data.count(b"\n") else "\n"
