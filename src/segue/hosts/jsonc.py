"""Reading JSON with comments: its value, and the exact places of the members that an edit needs.

The grammar of tree-sitter says where comments, commas and members stand; the standard library's strict parser then
reads the same bytes with comments and trailing commas blanked out. Both must agree, so nothing is guessed: a text that
one of them does not take is `Unreadable`.

Beyond RFC 8259: `//` and `/* */` comments, one trailing comma in an object or array, a byte order mark. Lone surrogates
are accepted (unlike `base.jsontext`): hosts write them when they cut a prompt within a character.
"""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Language, Node

SPACE = b" \t\r\n"
BOM = b"\xef\xbb\xbf"
_VISIBLE = re.compile(rb"[^\r\n]")
_TO_CLOSER = re.compile(rb"[ \t\r\n]*[}\]]")
_TO_NEXT = re.compile(rb"[ \t\r\n]*")


class Unreadable(ValueError):
    """The text is not JSON with comments, or not of the expected shape; its message is ready for people."""


Key = str | int
"""What leads into a value: a name into an object, a number from 0 on into a list."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object: byte offsets of its key and its value (ends exclusive).

    An element of a list is a member whose key is its number and takes no bytes.
    """

    key: Key
    start: int
    key_end: int
    value_start: int
    end: int


@dataclass(frozen=True, slots=True)
class Table:
    """An object or a list: the offsets of its opening bracket and after its closing one, and its members in order."""

    start: int
    end: int
    members: tuple[Member, ...]

    def member(self, key: Key) -> Member | None:
        """Return the member with that key, None where there is none."""
        return next((member for member in self.members if member.key == key), None)


@dataclass(frozen=True, slots=True)
class Document:
    """A text that was read.

    `code` is `raw` with comments blanked out, offsets unchanged. `tables` holds the outermost object and the objects
    and lists under the given keys, as far as these are there; it is empty where the text holds no value at all.
    """

    raw: bytes
    code: bytes
    value: Any
    comments: tuple[tuple[int, int], ...]
    tables: tuple[Table, ...]

    def after(self, offset: int) -> int:
        """Return the offset of the next token that is no comment, at or after `offset`."""
        match = _TO_NEXT.match(self.code, offset)
        return match.end() if match else offset

    def before(self, offset: int) -> int:
        """Return the offset of the last byte before `offset` that is neither space nor comment."""
        return _last_visible(self.code, offset)

    def trailing_comma(self, table: Table) -> bool:
        """Whether a comma stands between the last member of `table` and its closing bracket."""
        return self.code[self.before(table.end - 1)] == ord(",")

    def line_comment_before(self, offset: int) -> bool:
        """Whether the last thing before `offset` is a comment that goes to the end of its line."""
        last = _last_visible(self.raw, offset)
        return any(start <= last < end and self.raw.startswith(b"//", start) for start, end in self.comments)

    def comments_in(self, start: int, end: int) -> list[bytes]:
        """Return the comments from `start` to `end` in order, without space at their ends."""
        inside = [(first, last) for first, last in self.comments if start <= first < end]
        return [self.raw[first:last].rstrip(SPACE) for first, last in inside]


def read(raw: bytes, keys: Sequence[Key] = (), *, last_is_list: bool = False) -> Document:
    """Return what `raw` holds, with the tables along `keys`; the last of them is an object unless told otherwise.

    Raises Unreadable: no UTF-8, no JSON with comments, a key that stands twice in one object, the outermost value
    or one under `keys` that is no object, or no list where a number leads on.
    """
    text_of(raw)
    code = bytearray(raw)
    if raw.startswith(BOM):
        code[: len(BOM)] = b" " * len(BOM)
    root = _tree(bytes(code))
    comments = tuple(sorted((node.start_byte, node.end_byte) for node in _capture(root, "(comment)")))
    for start, end in comments:
        _check_line_comment(raw[start:end])
        code[start:end] = _VISIBLE.sub(b" ", code[start:end])
    strict = _without_trailing_commas(code, root)
    if not strict.strip(SPACE):
        return Document(raw, bytes(code), None, comments, ())
    value = _value(strict)
    if comments or root.has_error:
        root = _tree(strict)
    lists = [isinstance(key, int) for key in keys] + [last_is_list]
    return Document(raw, bytes(code), value, comments, _tables(root, strict, keys, lists))


def text_of(raw: bytes) -> str:
    """Return the text of a file, its byte order mark with it. Raises Unreadable where it is not UTF-8."""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Unreadable("it is UTF-16; save it as UTF-8")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(f"byte {error.start} is not UTF-8") from None


def _check_line_comment(comment: bytes) -> None:
    # Some readers end a line comment at a lone carriage return, others do not: what follows it is code for one of them.
    if comment.startswith(b"//") and b"\r" in comment.removesuffix(b"\r"):
        raise Unreadable("a comment holds a carriage return, after which programs read it differently")


@functools.cache
def _language() -> Language:
    import tree_sitter
    import tree_sitter_json

    return tree_sitter.Language(tree_sitter_json.language())


def _tree(text: bytes) -> Node:
    import tree_sitter

    return tree_sitter.Parser(_language()).parse(text).root_node


def _capture(root: Node, pattern: str) -> list[Node]:
    import tree_sitter

    cursor = tree_sitter.QueryCursor(tree_sitter.Query(_language(), f"{pattern} @found"))
    return cursor.captures(root).get("found", [])


def _without_trailing_commas(code: bytearray, root: Node) -> bytes:
    """The grammar has no trailing commas and recovers from them in several ways; the comma token stays findable."""
    if not root.has_error:
        return bytes(code)
    strict = bytearray(code)
    for comma in _capture(root, '","'):
        follows_value = code[_last_visible(code, comma.start_byte)] not in b"{[,:"
        if follows_value and _TO_CLOSER.match(code, comma.end_byte):
            strict[comma.start_byte] = ord(" ")
    return bytes(strict)


def _last_visible(text: bytes | bytearray, offset: int) -> int:
    offset -= 1
    while offset > 0 and text[offset] in SPACE:
        offset -= 1
    return offset


def _value(strict: bytes) -> Any:
    try:
        return _DECODER.decode(strict.decode("utf-8"))
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        said = f"{error.msg[:1].lower()}{error.msg[1:]}".removesuffix(" at")
        raise Unreadable(f"it is not JSON with comments: {said} at {where}") from None
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members:
            raise Unreadable(f"the key {key[:40]!a} stands twice in one object")
        members[key] = value
    return members


def _no_constant(name: str) -> Any:
    raise Unreadable(f"{name} is not a JSON number")


def as_read(value: Any) -> Any:
    """Return a value of Python in the form that `read` gives values: a number as `("number", digits)`."""
    if isinstance(value, dict):
        return {key: as_read(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_read(item) for item in value]
    return number(str(value)) if isinstance(value, int) and not isinstance(value, bool) else value


def number(digits: str) -> tuple[str, str]:
    """Return a number as it was written: nothing here computes, and not-a-number would not equal itself."""
    return ("number", digits)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_no_constant, parse_int=number, parse_float=number
)


def _tables(root: Node, strict: bytes, keys: Sequence[Key], lists: Sequence[bool]) -> tuple[Table, ...]:
    """Return the tables along `keys`; `lists` says of each, the outermost first, whether it is to be a list."""
    if root.has_error or root.named_child_count != 1:
        raise Unreadable("it is not JSON with comments")
    node: Node | None = root.named_children[0]
    tables: list[Table] = []
    for name, is_list in zip((None, *keys), lists, strict=True):
        if name is not None:
            node = _value_node(node, tables[-1].member(name))
        if node is None:
            break
        if node.type != ("array" if is_list else "object"):
            said = "its outermost value" if name is None else f"{name!a}"
            raise Unreadable(f"{said} is not {'a list' if is_list else 'an object'}")
        tables.append(_list(node) if is_list else _object(node, strict))
    return tuple(tables)


def _value_node(table: Node | None, member: Member | None) -> Node | None:
    if table is None or member is None:
        return None
    child = next((child for child in table.named_children if child.start_byte == member.start), None)
    return child if child is None or isinstance(member.key, int) else child.child_by_field_name("value")


def _object(node: Node, strict: bytes) -> Table:
    members = []
    for pair in node.named_children:
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if key is None or value is None:
            raise Unreadable("it is not JSON with comments")
        written = strict[key.start_byte : key.end_byte]
        name = json.loads(written) if b"\\" in written else written[1:-1].decode("utf-8")
        members.append(Member(name, pair.start_byte, key.end_byte, value.start_byte, value.end_byte))
    return Table(node.start_byte, node.end_byte, tuple(members))


def _list(node: Node) -> Table:
    members = []
    for place, element in enumerate(node.named_children):
        start, end = element.start_byte, element.end_byte
        members.append(Member(place, start, start, start, end))
    return Table(node.start_byte, node.end_byte, tuple(members))
