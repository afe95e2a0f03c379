"""Paths of records: relative, with one spelling on every system, and never out of their source.

A path is checked before anything is looked up by it. It is also checked as compatibility forms would spell it, since
some file systems and servers take a full-width slash for a slash.
"""

from __future__ import annotations

import re
import unicodedata

from segue.base.errors import Refused
from segue.base.jsontext import is_unicode
from segue.base.redaction import shown
from segue.base.untrusted import visible

MANIFEST = "memories.json"
MAX_PATH = 512  # characters
MAX_PART = 255  # bytes, what file systems take
MAX_PARTS = 16

_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?:[ .].*)?", re.IGNORECASE | re.DOTALL)
_CHARACTERS = {
    "\\": ("backslash", "it has a backslash; parts are separated by /"),
    "%": ("escape", "it has a percent sign, which an address takes for an escape"),
    ":": ("drive", "it has a colon, which names a drive, a stream or a scheme"),
    "?": ("address", "it has a question mark, which ends the path of an address"),
    "#": ("address", "it has a number sign, which ends the path of an address"),
}


def fault(path: str) -> tuple[str, str] | None:
    """Return the rule that `path` breaks (`path.parent`) and why, None for a path that a record may have."""
    found = _text_fault(path)
    if found is None:
        for spelled in (path, unicodedata.normalize("NFKC", path)):
            found = found or _structure_fault(spelled)
    return None if found is None else (f"path.{found[0]}", found[1])


def checked(path: str) -> tuple[str, ...]:
    """Return the parts of `path`. Raises Refused `source.path`."""
    found = fault(path)
    if found is not None:
        rule, why = found
        raise Refused("source.path", f"the path '{shown(path, 80)}' is refused: {why}", {"rule": rule})
    return tuple(path.split("/"))


def folded(path: str) -> str:
    """Return what two paths share that a file system may take for one: composition and case do not count."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", path).casefold())


def _text_fault(path: str) -> tuple[str, str] | None:
    if not path:
        return "empty", "it is empty"
    if "\0" in path:
        return "nul", "it has a NUL character"
    if not is_unicode(path) or visible(path) != path or any(char in path for char in "\n\t"):
        return "hidden", "it has a control character or one that is not seen"
    if len(path) > MAX_PATH or any(len(part.encode()) > MAX_PART for part in path.split("/")):
        return "length", f"it has more than {MAX_PATH} characters, or a part of more than {MAX_PART} bytes"
    return None


def _structure_fault(path: str) -> tuple[str, str] | None:
    if path.startswith("/"):
        return "absolute", "it begins with a slash; it is relative to the source"
    if path.startswith("~"):
        return "home", "it begins with ~, which can name a home folder"
    for char, found in _CHARACTERS.items():
        if char in path:
            return found
    parts = path.split("/")
    if len(parts) > MAX_PARTS:
        return "length", f"it has more than {MAX_PARTS} parts"
    if folded(path) == MANIFEST:
        return "manifest", "it names the manifest"
    return next(filter(None, map(_part_fault, parts)), None)


def _part_fault(part: str) -> tuple[str, str] | None:
    if part == "":
        return "empty_part", "it has an empty part"
    if part == ".":
        return "dot", "it has a part that is a dot"
    if part == "..":
        return "parent", "it has a part that is two dots"
    if part != part.strip() or part.endswith("."):
        return "edge", "a part begins or ends with a space, or ends with a dot, which some systems drop"
    if _DEVICE.fullmatch(part):
        return "device", "a part is the name of a device on some systems"
    return None
