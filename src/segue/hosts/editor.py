"""Changing one entry of a JSON text with comments, in an object or a list: every other byte stays.

What is added takes the text's own indentation, line breaks and spacing, and is strict JSON. An edit is a list of
replacements at byte offsets; its result is read again and compared before it is handed back.
"""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from segue.base.errors import Failed
from segue.hosts.jsonc import BOM, SPACE, Document, Key, Member, Table, Unreadable, as_read, read

if TYPE_CHECKING:
    from collections.abc import Sequence

_COLON = re.compile(rb"[ \t]*:[ \t]*")
_INDENT = re.compile(rb"[ \t]*")
_DEFAULT_UNIT = b"  "

Edit = tuple[int, int, bytes]
"""Bytes from the first offset to the second (exclusive) are replaced by the third."""


@dataclass(frozen=True, slots=True)
class _Style:
    """How a text is written: its line break, one step of indentation, and what stands between key and value."""

    newline: bytes
    unit: bytes
    colon: bytes

    @property
    def gap(self) -> bytes:
        return b"" if self.colon == b":" else b" "


def get(raw: bytes, keys: Sequence[str], name: str) -> dict[str, Any] | None:
    """Return the entry `name` of the object under `keys`, None where it is not there.

    An entry that is no object is returned as an empty one. Raises Unreadable.
    """
    document = read(raw, keys)
    if len(document.tables) <= len(keys):
        return None
    table = document.value
    for key in keys:
        table = table[key]
    if name not in table:
        return None
    entry = table[name]
    return entry if isinstance(entry, dict) else {}


def put(raw: bytes, keys: Sequence[Key], name: Key, entry: Any) -> bytes:
    """Return `raw` with `entry` as member `name` of the object (the list, for a number) under `keys`.

    A member of that name is replaced where it stands, a new one becomes the last; one that has that value already is
    left as it is. Objects and lists that are missing are made. Raises Unreadable.
    """
    document = read(raw, keys, last_is_list=isinstance(name, int))
    path = (*keys, name)
    expected = _with(document.value or {}, path, as_read(entry))
    if document.tables and expected == document.value:
        return raw
    depth = max(len(document.tables), 1)
    value = entry
    for key in reversed(path[depth:]):
        value = [value] if isinstance(key, int) else {key: value}
    key = path[depth - 1]
    style = _style(document)
    if not document.tables:
        return _checked(document, raw + _whole(document, {key: value}, style), expected)
    table = document.tables[-1]
    member = table.member(key)
    if member is None:
        return _checked(document, _apply(raw, _insert(document, table, key, value, style)), expected)
    return _checked(document, _apply(raw, _replace(document, table, member, value, style)), expected, gone=member)


def drop(raw: bytes, keys: Sequence[Key], name: Key, origin: bytes | None) -> bytes | None:
    """Return `raw` without member `name` of the object (the list) under `keys`, None where nothing is left to keep.

    `origin` is the text from before the entry was put in, None where there was none; what differs from it otherwise is
    kept. It tells whether an object or a list that is empty now, or a comma, was there before; of what lies within an
    element of a list it tells nothing, because elements move. Raises Unreadable.
    """
    document = read(raw, keys, last_is_list=isinstance(name, int))
    base = None if origin is None else _read_named(origin, (*keys, name))
    entry = document.tables[-1].member(name) if len(document.tables) > len(keys) else None
    if entry is None:
        return raw
    path = [*keys, name]
    changed, value = raw, document.value
    while path:
        *outer, key = path
        current = read(changed, outer, last_is_list=isinstance(key, int))
        changed = _apply(changed, _remove(current, key, _table_of(base, len(outer)), base))
        value = _with(value, path, None)
        path.pop()
        emptied = read(changed, path, last_is_list=isinstance(key, int))
        if not path or _table_of(base, len(path)) is not None or not _is_bare(emptied):
            break
    _checked(document, changed, value, gone=entry)
    return _without_shell(changed, base)


def _read_named(raw: bytes, path: Sequence[Key]) -> Document:
    """Read with the tables along `path` up to the first list."""
    names = list(itertools.takewhile(lambda key: isinstance(key, str), path))
    is_list = len(names) < len(path)
    return read(raw, names if is_list else names[:-1], last_is_list=is_list)


def _without_shell(raw: bytes, base: Document | None) -> bytes | None:
    """Take away the outermost object as well, where it is empty and was not there before."""
    document = read(raw)
    if not _is_bare(document) or (base is not None and base.tables):
        return raw
    table = document.tables[0]
    if base is None:
        return None if document.raw.strip(SPACE + BOM) == document.raw[table.start : table.end] else raw
    newline = _style(document).newline
    before = raw[: table.start]
    if base.comments and not base.raw.endswith(b"\n"):
        before = before.removesuffix(newline)  # a line break went in between the comment and the object
    return before + raw[table.end :].removeprefix(newline)


def _is_bare(document: Document) -> bool:
    """Whether the innermost table holds neither a member nor a comment, and none stands between it and its key."""
    table = document.tables[-1]
    outer = next((member for above in document.tables for member in above.members if member.end == table.end), table)
    return not table.members and not document.comments_in(outer.start, table.end)


def _table_of(document: Document | None, depth: int) -> Table | None:
    if document is None or len(document.tables) <= depth:
        return None
    return document.tables[depth]


# What is added


def _whole(document: Document, value: Any, style: _Style) -> bytes:
    before = b"" if not document.comments or document.raw.endswith(b"\n") else style.newline
    return before + _render(value, style, b"") + style.newline


def _insert(document: Document, table: Table, key: Key, value: Any, style: _Style) -> list[Edit]:
    raw, close = document.raw, table.end - 1
    at = len(raw[:close].rstrip(SPACE))
    edits: list[Edit] = []
    if table.members and not document.trailing_comma(table):
        edits.append((table.members[-1].end, table.members[-1].end, b","))
    name = json.dumps(key, ensure_ascii=False).encode() + style.colon if isinstance(key, str) else b""
    if not _is_multiline(document, table):
        gap = style.gap if table.members else raw[at:close][:1]
        return [*edits, (at, at, gap + name + _render(value, style, None))]
    indent = _member_indent(raw, table, style)
    text = style.newline + indent + name + _render(value, style, indent)
    if not table.members and b"\n" not in raw[at:close]:
        text += style.newline + _line_indent(raw, table.start)
    return [*edits, (at, at, text)]


def _replace(document: Document, table: Table, member: Member, value: Any, style: _Style) -> list[Edit]:
    alone = _is_multiline(document, table) and _stands_alone(document.raw, member.start)
    indent = _line_indent(document.raw, member.start) if alone else None
    return [(member.value_start, member.end, _render(value, style, indent))]


def _render(value: Any, style: _Style, indent: bytes | None) -> bytes:
    """Write `value`: objects, and lists of them, over several lines from `indent` on, all on one line without one."""
    if not value or not isinstance(value, dict | list) or not _holds_objects(value):
        separators = ("," + style.gap.decode(), style.colon.decode())
        return json.dumps(value, ensure_ascii=False, separators=separators).encode()
    inner = None if indent is None else indent + style.unit
    if isinstance(value, dict):
        opening, closing = b"{", b"}"
        members = [json.dumps(key).encode() + style.colon + _render(item, style, inner) for key, item in value.items()]
    else:
        opening, closing = b"[", b"]"
        members = [_render(item, style, inner) for item in value]
    if indent is None or inner is None:
        return opening + (b"," + style.gap).join(members) + closing
    start = style.newline + inner
    return opening + start + (b"," + start).join(members) + style.newline + indent + closing


def _holds_objects(value: dict[str, Any] | list[Any]) -> bool:
    return isinstance(value, dict) or any(isinstance(item, dict) for item in value)


def _is_multiline(document: Document, table: Table) -> bool:
    raw = document.raw
    if table.members:
        return b"\n" in raw[table.start : table.members[0].start] or b"\n" in raw[table.members[-1].end : table.end]
    root = document.tables[0]
    return table is root or b"\n" in raw[root.start : table.start] or b"\n" in raw[table.start : table.end]


def _style(document: Document) -> _Style:
    raw = document.raw
    windows = raw.count(b"\r\n")
    newline = b"\r\n" if windows * 2 > raw.count(b"\n") else b"\n"
    members = [member for table in reversed(document.tables) for member in table.members]
    colons = (raw[member.key_end : member.value_start] for member in members)
    colon = next((text for text in colons if _COLON.fullmatch(text)), b": ")
    return _Style(newline, _unit(document), colon)


def _unit(document: Document) -> bytes:
    raw = document.raw
    for table in reversed(document.tables):
        outer = _line_indent(raw, table.start)
        for member in table.members:
            inner = _line_indent(raw, member.start)
            if _stands_alone(raw, member.start) and inner.startswith(outer) and inner != outer:
                return inner[len(outer) :]
    return _DEFAULT_UNIT


def _member_indent(raw: bytes, table: Table, style: _Style) -> bytes:
    for member in reversed(table.members):
        if _stands_alone(raw, member.start):
            return _line_indent(raw, member.start)
    return _line_indent(raw, table.start) + style.unit


def _line_indent(raw: bytes, offset: int) -> bytes:
    match = _INDENT.match(raw, raw.rfind(b"\n", 0, offset) + 1)
    return match.group() if match else b""


def _stands_alone(raw: bytes, offset: int) -> bool:
    start = raw.rfind(b"\n", 0, offset) + 1
    return start > 0 and not raw[start:offset].strip(b" \t")


# What is taken away


def _remove(document: Document, name: Key, before: Table | None, base: Document | None) -> list[Edit]:
    table = document.tables[-1]
    index = next(index for index, member in enumerate(table.members) if member.key == name)
    kept_comma = before is not None and base is not None and base.trailing_comma(before)
    edits = _cut(document, table.members[index], kept_comma=kept_comma)
    if len(table.members) > 1:
        return edits
    inner = _apply(document.raw[: table.end - 1], edits)[table.start + 1 :]
    if before is not None and base is not None and not before.members:
        old = base.raw[before.start + 1 : before.end - 1]
        if old.split() == inner.split():
            return [(table.start + 1, table.end - 1, old)]
    return edits if inner.strip(SPACE) else [(table.start + 1, table.end - 1, b"")]


def _cut(document: Document, member: Member, *, kept_comma: bool) -> list[Edit]:
    """Cut the space before a member, the member, and the one comma that it needed."""
    raw, code = document.raw, document.code
    start, end = len(raw[: member.start].rstrip(SPACE)), member.end
    edits: list[Edit] = []
    following, preceding = document.after(member.end), document.before(member.start)
    if code[following : following + 1] == b",":
        if raw[end:following].strip(SPACE):
            edits.append((following, following + 1, b""))  # a comment between member and comma stays
        else:
            end = following + 1
            is_last = code[document.after(end) : document.after(end) + 1] in (b"}", b"]")
            if b"\n" not in raw[start : member.start] and not is_last:
                start, end = member.start, end + len(raw[end:]) - len(raw[end:].lstrip(b" \t"))
    elif code[preceding] == ord(",") and not kept_comma:
        edits.append((preceding, preceding + 1, b""))
    rest = raw[end:]
    if document.line_comment_before(member.start) and b"\n" not in rest[: len(rest) - len(rest.lstrip(SPACE))]:
        start = member.start  # else what follows would become part of that comment
    return sorted([*edits, (start, end, b"")])


# Both


def _apply(raw: bytes, edits: Sequence[Edit]) -> bytes:
    starts = [0, *(end for _, end, _ in edits)]
    ends = [*(start for start, _, _ in edits), len(raw)]
    kept = [raw[start:end] for start, end in zip(starts, ends, strict=True)]
    added = [text for _, _, text in edits]
    return b"".join(itertools.chain.from_iterable(itertools.zip_longest(kept, added, fillvalue=b"")))


def _with(value: Any, path: Sequence[Key], entry: Any) -> Any:
    """Return a copy of `value` with `entry` at `path`; None takes what is there away."""
    key, *rest = path
    copy: Any = list(value) if isinstance(key, int) else dict(value)
    inner = _member(copy, key)
    if rest:
        entry = _with(([] if isinstance(rest[0], int) else {}) if inner is None else inner, rest, entry)
    if isinstance(key, int):
        copy[key : key + 1] = [] if entry is None else [entry]
    elif entry is None:
        copy.pop(key, None)
    else:
        copy[key] = entry
    return copy


def _member(value: Any, key: Key) -> Any:
    if isinstance(key, int):
        return value[key] if key < len(value) else None
    return value.get(key)


def _checked(before: Document, changed: bytes, expected: Any, gone: Member | None = None) -> bytes:
    """Return `changed` if it holds the expected value, and every comment but those within the member that is `gone`.

    No file is trusted to arithmetic alone.
    """
    comments = before.comments_in(0, gone.start if gone else len(before.raw))
    if gone:
        comments += before.comments_in(gone.end, len(before.raw))
    try:
        after = read(changed)
    except Unreadable:
        after = None
    if after is None or after.value != expected or after.comments_in(0, len(changed)) != comments:
        raise Failed("hosts.edit", "the edit would have damaged the file, so it was not made; please report this")
    return changed
