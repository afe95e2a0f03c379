"""Strict reading of JSON text, and hashes of JSON values.

The standard library's parser keeps the last of two equal keys, takes NaN, lone surrogates and any depth.
A document that two programs can read differently is refused here instead (RFC 8259 section 4, RFC 7493).
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import orjson

from segue.base.errors import InvalidInput

MAX_DEPTH = 64
MAX_DIGITS = 400

_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
# Possessive, and the closing quote may lack: a string without an end must not be tried again from each quote in it.
_STRUCTURE = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*"?|[\[\]{}]', re.DOTALL)


class _Rejected(ValueError):
    """A rule of ours is broken; its text is ready for people."""


def parse(data: bytes, *, code: str = "json") -> Any:
    """Return the value that `data` (UTF-8 bytes of one JSON text) holds.

    Raises InvalidInput with `code`; the message begins with "invalid json" and names line and column where
    these are known. Refused beyond RFC 8259: a byte order mark, duplicate keys, NaN and infinities, lone
    surrogates, more than 64 levels, numbers of more than 400 characters.
    """
    try:
        return _parse(data)
    except _Rejected as error:
        raise InvalidInput(code, f"invalid json: {error}") from None
    except json.JSONDecodeError as error:
        where = {"line": error.lineno, "column": error.colno}
        text = f"invalid json: {error.msg.lower()} at line {error.lineno}, column {error.colno}"
        raise InvalidInput(code, text, where) from None


def _parse(data: bytes) -> Any:
    if data.startswith(b"\xef\xbb\xbf"):
        raise _Rejected("it begins with a byte order mark; save it as UTF-8 without one")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _Rejected(f"byte {error.start} is not UTF-8") from None
    if data.count(b"{") + data.count(b"[") > MAX_DEPTH:
        _check_depth(data)
    if not text.strip():
        raise _Rejected("it is empty")
    value = _DECODER.decode(text)
    if _SURROGATE_ESCAPE.search(data):
        _check_surrogates(value)
    return value


def _check_depth(data: bytes) -> None:
    depth = 0
    for token in _STRUCTURE.finditer(data):
        first = token.group()[:1]
        if first in b"{[":
            depth += 1
            if depth > MAX_DEPTH:
                raise _Rejected(f"it is nested deeper than {MAX_DEPTH} levels")
        elif first in b"}]":
            depth -= 1


def _check_surrogates(value: Any) -> None:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            if not is_unicode(item):
                raise _Rejected("a string holds a lone surrogate, which is no character")
        elif isinstance(item, dict):
            pending.extend(item)
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)


def said(value: Any) -> str:
    """Return all texts of a JSON value, names of members too, each on its lines."""
    if isinstance(value, dict):
        return "\n".join(said(each) for pair in value.items() for each in pair)
    return "\n".join(map(said, value)) if isinstance(value, list) else str(value)


def is_json(value: Any) -> bool:
    """Whether a value is the same once it was written as JSON text and read again by `parse`."""
    try:
        return bool(parse(dump(value)) == value)
    except (InvalidInput, TypeError, ValueError, RecursionError):
        return False


def is_unicode(text: str) -> bool:
    """Whether `text` can be written as UTF-8, that is, holds no lone surrogate."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                from segue.base.redaction import shown

                raise _Rejected(f"the key '{shown(key, 40)}' stands twice in one object")
            seen.add(key)
    return members


def _no_constant(name: str) -> Any:
    raise _Rejected(f"{name} is not a JSON number")


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise _Rejected(f"a number has {len(digits)} characters; {MAX_DIGITS} are allowed")
    return int(digits)


def _float(digits: str) -> float:
    if len(digits) > MAX_DIGITS:
        raise _Rejected(f"a number has {len(digits)} characters; {MAX_DIGITS} are allowed")
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise _Rejected("a number is too large")
    return value


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_no_constant, parse_int=_integer, parse_float=_float
)


def dump(value: Any, *, indent: bool = False, sort_keys: bool = False) -> bytes:
    """Return `value` as UTF-8 JSON without a final line break; the same value gives the same bytes."""
    try:
        return _dump(value, indent=indent, sort_keys=sort_keys)
    except TypeError:  # orjson stops at 64 bits, which a document that is no packet may exceed
        text = json.dumps(value, ensure_ascii=False, indent=2 if indent else None, sort_keys=sort_keys)
        return text.encode("utf-8")


def _dump(value: Any, *, indent: bool, sort_keys: bool) -> bytes:
    option = (orjson.OPT_INDENT_2 if indent else 0) | (orjson.OPT_SORT_KEYS if sort_keys else 0)
    return orjson.dumps(value, option=option)


def sha256(data: bytes) -> str:
    """Return `sha256:` and the 64 lowercase hex digits of the hash of `data`."""
    return "sha256:" + hashlib.sha256(data).hexdigest()
