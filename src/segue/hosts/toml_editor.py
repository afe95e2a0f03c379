"""Changing one table of a TOML text: every other byte stays.

A new table goes to the end of the text, after an empty line: no other table is touched by that. What is replaced or
taken out is cut at byte offsets. The result is read again and compared before it is handed back.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from segue.base.errors import Failed
from segue.hosts.jsonc import BOM, SPACE, Unreadable
from segue.hosts.toml import Document, Pair, items, read

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")

_Span = tuple[int, int]


def get(raw: bytes, keys: Sequence[str], name: str) -> dict[str, Any] | None:
    """Return the entry `name` of the table under `keys`, None where it is not there.

    An entry that is no table is returned as an empty one. Raises Unreadable.
    """
    table = _table(read(raw), keys)
    if table is None or name not in table:
        return None
    entry = table[name]
    return entry if isinstance(entry, dict) else {}


def put(raw: bytes, keys: Sequence[str], name: str, entry: Any) -> bytes:
    """Return `raw` with `entry` as member `name` of the table under `keys`; missing tables are made.

    What is written as `name = …` is replaced where it stands, a table goes to the end; one that has that value already
    is left as it is. A text or a list has to be there to be replaced. Raises Unreadable.
    """
    document = read(raw)
    table = _table(document, keys)
    if table is not None and table.get(name) == entry:
        return raw
    path = (*keys, name)
    expected = _with(document.value, path, entry)
    written = document.pair(path)
    if written is not None:
        span = (written.value_start, written.end)
        return _checked(document, _replaced(raw, span, _inline(entry)), expected, [span])
    holder = next((pair for length in range(1, len(path)) if (pair := document.pair(path[:length]))), None)
    if holder is not None:
        return _checked(document, _added_inline(raw, holder, path, entry), expected, [])
    spans = _own_lines(document, path)
    return _checked(document, _appended(_without(document, spans, None), path, entry), expected, spans)


def drop(raw: bytes, keys: Sequence[str], name: str, origin: bytes | None) -> bytes | None:
    """Return `raw` without member `name` of the table under `keys`, None where nothing is left to keep.

    `origin` is the text from before the entry was put in, None where there was none: it tells how the text ended.
    Raises Unreadable.
    """
    document = read(raw)
    table = _table(document, keys)
    if table is None or name not in table:
        return raw
    path = (*keys, name)
    written = document.pair(path)
    if written is not None and written not in document.statements:
        spans = [_item_span(document, written)]
        changed = _replaced(raw, spans[0], b"")
    else:
        spans = _own_lines(document, path)
        changed = _without(document, spans, origin)
    _check(document, changed, lambda after: _same_but(document.value, after, path), spans)
    return None if origin is None and not changed.removeprefix(BOM).strip(SPACE) else changed


def _table(document: Document, keys: Sequence[str]) -> dict[str, Any] | None:
    table = document.value
    for key in keys:
        if key not in table:
            return None
        inner = table[key]
        if not isinstance(inner, dict):
            raise Unreadable(f"{key!a} is not a table")
        table = inner
    return table


# What is added


def _appended(raw: bytes, path: Sequence[str], entry: Any) -> bytes:
    newline = _newline(raw)
    text = raw
    if raw.removeprefix(BOM).strip(SPACE):
        text += b"" if raw.endswith(b"\n") else newline
        text += newline
    lines = [f"[{'.'.join(map(_key, path))}]", *(f"{_key(key)} = {_written(value)}" for key, value in entry.items())]
    return text + b"".join(line.encode() + newline for line in lines)


def _added_inline(raw: bytes, holder: Pair, path: tuple[str, ...], entry: Any) -> bytes:
    names = ".".join(map(_key, path[len(holder.path) :]))
    added = f"{names} = {_inline(entry).decode()}".encode()
    inner = items(raw, holder.value_start)
    if inner:
        return _replaced(raw, (inner[-1].end, inner[-1].end), b", " + added)
    return _replaced(raw, (holder.value_start, holder.end), b"{ " + added + b" }")


def _inline(entry: Any) -> bytes:
    return _written(entry).encode()


def _written(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_written(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_written, value)) + "]"
    return _text(value)


def _text(value: str) -> str:
    # TOML's escapes are those of JSON; DEL, which JSON leaves as it is, needs one.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _text(name)


# What is taken away


def _own_lines(document: Document, path: tuple[str, ...]) -> list[_Span]:
    """Return the lines of the statements at and below `path`; what stands between two of them goes with them."""
    spans: list[_Span] = []
    follows = False
    for statement in document.statements:
        own = statement.path[: len(path)] == path
        if own:
            start, end = document.line_of(statement.start, statement.end)
            if follows:
                start, _ = spans.pop()
            spans.append((start, end))
        follows = own
    return spans


def _without(document: Document, spans: Sequence[_Span], origin: bytes | None) -> bytes:
    """Cut lines, and the empty line before them; at the end of the text, let it end as `origin` does."""
    raw = document.raw
    for start, end in reversed(spans):
        before, after = raw[:start], raw[end:]
        if after.strip(SPACE):
            raw = _joined(before, after)
        elif origin is None:
            kept = before.rstrip(SPACE)
            raw = kept + (_newline(raw) if kept.removeprefix(BOM) else b"")
        elif origin.removeprefix(BOM).strip(SPACE):
            raw = before.rstrip(SPACE) + origin[len(origin.rstrip(SPACE)) :]
        else:
            # To a text without statements our own lines alone were added, behind what its last line holds.
            raw = before + origin.removeprefix(BOM)[origin.removeprefix(BOM).rfind(b"\n") + 1 :]
    return raw


def _joined(before: bytes, after: bytes) -> bytes:
    for newline in (b"\r\n", b"\n"):
        if before.endswith(b"\n" + newline):
            return before.removesuffix(newline) + after
        if not before.removeprefix(BOM) and after.startswith(newline):
            return before + after.removeprefix(newline)
    return before + after


def _item_span(document: Document, pair: Pair) -> _Span:
    """Return the bytes of a pair in an inline table with the one comma that it needs."""
    raw = document.raw
    opening = next(
        statement.value_start
        for statement in document.statements
        if isinstance(statement, Pair) and statement.start < pair.start < statement.end
    )
    inner = items(raw, opening)
    while all(item.start != pair.start for item in inner):
        inner = items(raw, next(item.value_start for item in inner if item.start < pair.start < item.end))
    number = [item.start for item in inner].index(pair.start)
    if number + 1 < len(inner):
        return pair.start, inner[number + 1].start
    if number:
        return inner[number - 1].end, pair.end
    before, after = raw[: pair.start].rstrip(b" \t"), raw[pair.end :].lstrip(b" \t")
    return len(before), len(raw) - len(after)


# Both


def _newline(raw: bytes) -> bytes:
    return b"\r\n" if raw.count(b"\r\n") * 2 > raw.count(b"\n") else b"\n"


def _replaced(raw: bytes, span: _Span, text: bytes) -> bytes:
    return raw[: span[0]] + text + raw[span[1] :]


def _with(value: dict[str, Any], path: Sequence[str], entry: Any) -> dict[str, Any]:
    key, *rest = path
    return {**value, key: _with(value.get(key, {}), rest, entry) if rest else entry}


def _same_but(before: dict[str, Any], after: dict[str, Any], path: Sequence[str]) -> bool:
    """Whether `after` is `before` without what was at `path`, or without tables too that held nothing else."""
    key, *rest = path
    others = {name: value for name, value in before.items() if name != key}
    if {name: value for name, value in after.items() if name != key} != others:
        return False
    if not rest:
        return key not in after
    return _same_but(before[key], after.get(key, {}), rest)


def _checked(before: Document, changed: bytes, expected: dict[str, Any], gone: Sequence[_Span]) -> bytes:
    _check(before, changed, lambda after: after == expected, gone)
    return changed


def _check(before: Document, changed: bytes, fits: Callable[[dict[str, Any]], bool], gone: Sequence[_Span]) -> None:
    """Raise Failed unless `changed` holds a value that fits, and every comment but those that went with the entry.

    No file is trusted to arithmetic alone.
    """
    try:
        after = read(changed)
    except Unreadable:
        after = None
    if after is None or not fits(after.value) or after.comments_outside([]) != before.comments_outside(gone):
        raise Failed("hosts.edit", "the edit would have damaged the file, so it was not made; please report this")
