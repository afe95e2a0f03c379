"""Front matter: the YAML block at the head of a note. Every value is text, a list or a mapping; nothing is guessed.

YAML 1.2 by ruamel.yaml, whose parser is asked for events only: `no`, `1.10` and `2026-09-01` stay what was written,
no tag makes an object, and what a small file could blow up into is bounded while it is built.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

Value: TypeAlias = "str | list[Value] | dict[str, Value]"

MAX_CHARS = 64 * 1024
MAX_DEPTH = 16
MAX_ALIASES = 50
MAX_NODES = 5_000

_OPENING = re.compile(r"\ufeff?---[ \t]*\r?\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The values of a note's head, the text below it, and the line (from 1) on which that text begins.

    `lines` says on which line each key of the head stands. `fault` says why the head could not be read, and
    `fault_line` where; then `values` and `lines` are empty.
    """

    body: str
    body_line: int = 1
    values: dict[str, Value] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    fault: str = ""
    fault_line: int = 1


class _Fault(ValueError):
    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def split(text: str, *, strict: bool = False) -> FrontMatter:
    """Return head and body of a note. A text that does not begin with a closed `---` block is all body.

    With `strict` a tag in the head is a fault, and so is a `---` on the first line that nothing closes.
    """
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end(), opening.end() + MAX_CHARS) if opening else None
    if opening is None or closing is None:
        fault = f"nothing closes the front matter within {MAX_CHARS:,} characters" if opening and strict else ""
        return FrontMatter(text.removeprefix("\ufeff"), fault=fault)
    body = text[closing.end() :].removeprefix("\n")
    line = text.count("\n", 0, closing.end()) + 2
    try:
        values, lines = _parsed(text[opening.end() : closing.start()], strict=strict)
    except _Fault as fault:
        return FrontMatter(body, line, fault=str(fault), fault_line=fault.line + 1)
    return FrontMatter(body, line, values, {key: number + 1 for key, number in lines.items()})


def parse(text: str) -> dict[str, Value]:
    """Return the mapping that YAML `text` holds; an empty text holds an empty one.

    Raises ValueError, with a message for people, for what is no YAML, no mapping, or beyond the limits above.
    """
    return _parsed(text, strict=False)[0]


def _parsed(text: str, *, strict: bool) -> tuple[dict[str, Value], dict[str, int]]:
    """The mapping, and the line of each of its keys."""
    if len(text) > MAX_CHARS:
        raise _Fault(f"the front matter is longer than {MAX_CHARS:,} characters", 1)
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    builder = _Builder(strict=strict)
    try:
        value = builder.build(YAML(typ="base", pure=True).parse(text))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _Fault(f"no valid YAML: {error.problem or error.context}", mark.line + 1 if mark else 1) from None
    except YAMLError as error:
        raise _Fault(f"no valid YAML: {str(error).splitlines()[0][:200]}", 1) from None
    except _Fault:
        raise
    except ValueError:  # an escape beyond Unicode
        raise _Fault("no valid YAML: an escape names no character", 1) from None
    if not isinstance(value, dict):
        raise _Fault("the front matter is no mapping of keys to values", 1)
    return value, builder.lines


class _Builder:
    """Makes values of the parser's events, and counts."""

    def __init__(self, *, strict: bool) -> None:
        self.lines: dict[str, int] = {}
        self._strict = strict
        self._anchors: dict[str, tuple[Value, int]] = {}
        self._open: list[tuple[Any, Value, int]] = []  # the event that opened it, the value, the nodes before it
        self._keys: list[str | None] = []
        self._nodes = 0
        self._aliases = 0
        self._root: Value | None = None

    def build(self, events: Iterator[Any]) -> Value:
        """Return the value of the first document; an empty mapping where there is none."""
        for event in events:
            if self._strict and getattr(event, "tag", None) is not None:
                raise _Fault("it has a tag; every value is plain text, a list or a mapping", _line(event))
            name = type(event).__name__
            if name in ("MappingStartEvent", "SequenceStartEvent"):
                self._start(event, {} if name.startswith("M") else [])
            elif name in ("MappingEndEvent", "SequenceEndEvent"):
                opened, value, before = self._open.pop()
                self._keys.pop()
                self._finish(opened, value, self._nodes - before)
            elif name == "ScalarEvent":
                self._finish(event, event.value, self._count(event, 1))
            elif name == "AliasEvent":
                self._alias(event)
            elif name == "DocumentEndEvent":
                break
        return {} if self._root is None or self._root == "" else self._root

    def _start(self, event: Any, value: Value) -> None:
        if len(self._open) >= MAX_DEPTH:
            raise _Fault(f"it is nested deeper than {MAX_DEPTH} levels", _line(event))
        self._open.append((event, value, self._nodes))
        self._keys.append(None)
        self._count(event, 1)

    def _alias(self, event: Any) -> None:
        self._aliases += 1
        known = self._anchors.get(event.anchor)
        if known is None:
            raise _Fault("an alias names an anchor that is not there", _line(event))
        if self._aliases > MAX_ALIASES:
            raise _Fault(f"it has more than {MAX_ALIASES} aliases", _line(event))
        self._count(event, known[1])
        self._put(event, known[0])

    def _count(self, event: Any, nodes: int) -> int:
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            raise _Fault(f"it holds more than {MAX_NODES:,} values, aliases counted in full", _line(event))
        return nodes

    def _finish(self, event: Any, value: Value, nodes: int) -> None:
        if event.anchor:
            self._anchors[event.anchor] = (value, nodes)
        self._put(event, value)

    def _put(self, event: Any, value: Value) -> None:
        if not self._open:
            self._root = value
            return
        holder = self._open[-1][1]
        if isinstance(holder, list):
            holder.append(value)
        elif isinstance(holder, dict):
            key = self._keys[-1]
            if key is not None:
                holder[key], self._keys[-1] = value, None
            elif isinstance(value, str) and value not in holder:
                self._keys[-1] = value
                if len(self._open) == 1:
                    self.lines[value] = _line(event)
            else:
                raise _Fault("a key stands twice, or is no text", _line(event))


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1
