"""The front matter of a fact: read as YAML, and edited by position, so that whatever is not touched stays as it is.

Other writers of this format put a value between quotes as it is, without YAML's escapes (`"C:\\notes"`, `"say "no""`).
Where such a line makes the head no YAML at all, it is read as they mean it; once it is edited, it is written as YAML.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from segue.base import frontmatter

if TYPE_CHECKING:
    from collections.abc import Mapping

_BLOCK = re.compile(r"(\ufeff?---[ \t]*\r?\n)(.*?)^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE | re.DOTALL)
_LINE = re.compile(r"([A-Za-z_][\w-]*):(?:[ \t]+(.*?))?[ \t]*\r?")
_PLAIN_LINE = re.compile(
    r'([A-Za-z_][A-Za-z0-9_-]*): "([^"\\\x00-\x1f\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]*)"\r?\n'
)
_PLAIN = re.compile(rf"(?:{_PLAIN_LINE.pattern}){{1,64}}")
_UNSAFE = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Head:
    """The texts of a head, its other values left out, and the text below it, which begins on `body_line`.

    `present` is False where there is no head; `fault` says why it could not be read, and on which `fault_line`.
    `raw` holds the lines as another writer meant them, empty where the head is YAML.
    """

    values: Mapping[str, str]
    lines: Mapping[str, int]
    body: str
    body_line: int
    present: bool
    fault: str = ""
    fault_line: int = 1
    raw: tuple[tuple[str, str], ...] = ()


def read(text: str) -> Head:
    """Return the head of a fact's text, and its body."""
    block = _BLOCK.match(text)
    if block is not None and (quick := _quick(text, block)) is not None:
        return quick
    found = frontmatter.split(text)
    if block is None:
        return Head({}, {}, found.body, found.body_line, present=False)
    if len(block[2]) > frontmatter.MAX_CHARS:
        fault = f"the front matter is longer than {frontmatter.MAX_CHARS:,} characters"
        return Head({}, {}, text[block.end() :], 1, present=True, fault=fault)
    if not found.fault:
        texts = {key: value for key, value in found.values.items() if isinstance(value, str)}
        return Head(texts, found.lines, found.body, found.body_line, present=True)
    raw = None if "twice" in found.fault else _raw(block[2])
    if raw is None:
        return Head({}, {}, found.body, found.body_line, True, found.fault, found.fault_line)
    lines = {
        match[1]: number for number, line in enumerate(block[2].split("\n"), 2) if (match := _LINE.fullmatch(line))
    }
    return Head(dict(raw), lines, found.body, found.body_line, present=True, raw=tuple(raw))


def _quick(text: str, block: re.Match[str]) -> Head | None:
    """The head as nearly all are: on each line one text between quotes, with nothing in it that YAML would change.

    A YAML parser takes a hundred times as long, and an archive may hold thousands.
    """
    if len(block[2]) > frontmatter.MAX_CHARS or not _PLAIN.fullmatch(block[2]):
        return None
    found = _PLAIN_LINE.findall(block[2])
    values = dict(found)
    if len(values) < len(found):
        return None
    lines = {key: number for number, (key, _) in enumerate(found, 2)}
    end = block.end()
    return Head(values, lines, text[end:].removeprefix("\n"), text.count("\n", 0, end) + 2, present=True)


def _raw(head: str) -> list[tuple[str, str]] | None:
    """The lines of a head whose quotes are not YAML's; None where something else is wrong with it."""
    found: list[tuple[str, str]] = []
    for line in head.split("\n"):
        if not line.strip():
            continue
        match = _LINE.fullmatch(line)
        value = match[2] or "" if match else ""
        if match is None or match[1] in dict(found):
            return None
        if len(value) > 1 and value[0] == value[-1] == '"':
            found.append((match[1], value[1:-1]))
            continue
        try:
            plain = frontmatter.parse(line).get(match[1])
        except ValueError:
            return None
        if not isinstance(plain, str):
            return None
        found.append((match[1], plain))
    return found


def quoted(value: str) -> str:
    """Return a value as YAML between double quotes, on one line, whatever it holds."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", json.dumps(value, ensure_ascii=False))


def edited(text: str, changes: Mapping[str, str], body: str | None = None) -> str:
    """Return a fact's text with other values in its head, and another body unless it is None.

    What is not changed stays as it is, to the byte; a key that is not there yet comes last. The line breaks are those
    that the text has.
    """
    block = _BLOCK.match(text)
    if block is None:
        raise ValueError("there is no front matter to edit")
    end = "\r\n" if block[1].endswith("\r\n") else "\n"
    head, found = block[2], read(text)
    if found.raw:
        head = "".join(f"{key}: {quoted(value)}{end}" for key, value in found.raw)
    head = _edited_head(head, {key: value for key, value in changes.items() if found.values.get(key) != value}, end)
    rest = text[block.end(2) :]
    if body is not None and body.strip() != found.body.strip():
        closing = rest[: len(rest) - len(found.body)]
        rest = (closing if closing.endswith("\n") else closing + end) + end + laid_out(body, end)
    return block[1] + head + rest


def laid_out(body: str, end: str = "\n") -> str:
    """Return a body as it stands in a file: no empty lines around it, one line break at its end."""
    lines = body.replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip().split("\n")
    return end.join(lines) + end


def _edited_head(head: str, changes: Mapping[str, str], end: str) -> str:
    left, spans = dict(changes), _spans(head)
    for start, stop, key in sorted(((*spans[key], key) for key in changes if key in spans), reverse=True):
        tail = end if head[start:stop].endswith("\n") else ""  # a block of lines takes its last line break with it
        gap = "" if start == 0 or head[start - 1].isspace() else " "
        head = head[:start] + gap + quoted(left.pop(key)) + tail + head[stop:]
    added = "".join(f"{key}: {quoted(value)}{end}" for key, value in left.items())
    return head + (end if added and head and not head.endswith("\n") else "") + added


def _spans(head: str) -> dict[str, tuple[int, int]]:
    """Where the value of each key of a head stands."""
    from ruamel.yaml import YAML

    spans: dict[str, tuple[int, int]] = {}
    depth, key, begin = 0, None, 0
    after_key = 0
    events: Any = YAML(typ="base", pure=True).parse(head)
    for event in events:
        name = type(event).__name__
        if name.endswith("EndEvent") and name.startswith(("Mapping", "Sequence")):
            depth -= 1
        if depth == 1 and name in ("ScalarEvent", "AliasEvent", "MappingEndEvent", "SequenceEndEvent"):
            start = begin if name.endswith("EndEvent") else event.start_mark.index
            if key is None:
                key, after_key = (
                    (event.value if name == "ScalarEvent" else ""),
                    head.find(":", event.end_mark.index) + 1,
                )
            elif start == event.end_mark.index:  # no value: the mark is that of whatever comes next
                spans[key], key = (after_key, after_key), None
            else:
                spans[key], key = (start, event.end_mark.index), None
        if name in ("MappingStartEvent", "SequenceStartEvent"):
            begin = event.start_mark.index if depth == 1 else begin
            depth += 1
    return spans
