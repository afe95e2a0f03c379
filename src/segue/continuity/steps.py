"""The steps of a change of a memory store, and the journal that names them while the change is made."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from segue.base import files, jsontext, members
from segue.continuity.canonical import SCHEMA_VERSION, is_hash
from segue.continuity.store.layout import ARCHIVE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

MAX_FILES = 4_000  # of a store, and as many of its archive

_MAX_STEPS, _MAX_JOURNAL = 2 * MAX_FILES + 1, 8 * 1024 * 1024  # every file into the archive, and the index
_NAME = re.compile(rf"(?:{ARCHIVE}/)?(?!\.)[^/\\\0]+\.md", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Step:
    """A file on the disk that a change is about, and the hashes of what it becomes and of what it was; None: absent."""

    name: str
    new: str | None
    old: str | None

    def to_json(self) -> dict[str, Any]:
        """Return `{"name", "new", "old"}`."""
        return {"name": self.name, "new": self.new, "old": self.old}


def dumped(steps: Sequence[Step]) -> bytes:
    """Return the journal of a change."""
    return jsontext.dump({"schema_version": SCHEMA_VERSION, "steps": [each.to_json() for each in steps]}) + b"\n"


def read(path: Path) -> list[Step] | None:
    """Return the steps that the journal at `path` names, None where there is none.

    Somebody else may have written it: it names files of the store, each once, and nothing else. Raises InvalidInput.
    """
    if not os.path.lexists(path):
        return None
    if path.is_symlink():
        raise members.invalid("it is a link")
    steps = list(_steps(jsontext.parse(files.read_bytes(path, _MAX_JOURNAL))))
    if len({unicodedata.normalize("NFC", each.name) for each in steps}) < len(steps):
        raise members.invalid("it names a file twice")
    return steps


def _steps(document: Any) -> Iterator[Step]:
    found = members.exactly(document, frozenset({"schema_version", "steps"}), "it")
    if found["schema_version"] != SCHEMA_VERSION:
        raise members.invalid("its version is not known")
    for each in members.items(found, "steps", _MAX_STEPS):
        step = members.exactly(each, frozenset({"name", "new", "old"}), "a step")
        if not _NAME.fullmatch(members.text(step, "name", 300)):
            raise members.invalid("a step names no file of the store")
        if not all(step[key] is None or is_hash(step[key]) for key in ("new", "old")):
            raise members.invalid("a step has something else than hashes")
        yield Step(step["name"], step["new"], step["old"])


def hash_of(path: Path, limit: int) -> str | None:
    """Return the SHA-256 of a file, 64 hex digits, None where there is none. Raises OSError.

    Links, folders, pipes and devices are none, and neither is what is longer than `limit` bytes: they have a hash that
    nothing has, "".
    """
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return ""
        with files.open_ordinary(path) as file:
            data = file.read(limit + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return digest(data) if len(data) <= limit else ""


def digest(data: bytes | None) -> str | None:
    """Return the SHA-256 of bytes, 64 hex digits, None for none."""
    return None if data is None else hashlib.sha256(data).hexdigest()
