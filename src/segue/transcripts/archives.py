"""The files of an export, wherever they stand: one file, a folder, or zip archives in it (sections 6 and 7)."""

from __future__ import annotations

import os
import re
import struct
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from segue.base.errors import InvalidInput
from segue.base.files import open_ordinary
from segue.transcripts.conversation import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_FILES = 100_000
MAX_UNPACKED = 16 * 1024**3
MAX_RATIO = 250

# What zipfile raises for damaged, encrypted or foreign archives, beside its own error.
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    struct.error,
    OverflowError,
)

_RATIO_COUNTS_FROM = 16 * 1024**2
_BUFFER = 64 * 1024
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_ENCRYPTED = 0x1
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_WANTED = re.compile(
    r"(?:^|/)(?:conversations(?:-\d{1,6})?\.json|projects\.json|memories\.json"
    r"|(?:projects|memories|design_chats)(?:-\d{1,6})?/[^/]{1,200}\.json|manifest-[^/]{1,300}\.json)$"
)
_FOLDER_EXTRA = re.compile(r"\.(?:jsonl|zip)$", re.IGNORECASE)
_JUNK = re.compile(r"(?:^|/)(?:__MACOSX/|\._)")


@dataclass(frozen=True, slots=True)
class Part:
    """One file of an export: its name within what was given, its size, and its bytes, open for one reading."""

    name: str
    size: int
    file: IO[bytes]

    def head(self) -> bytes:
        """Return its first bytes without moving in its file; b"" where it is empty. Raises what BROKEN names."""
        return bytes(self.file.peek(1))  # type: ignore[attr-defined] # both kinds of file can

    def is_utf16(self) -> bool:
        """Whether it begins as files in UTF-16 do, which no reader takes."""
        return self.head().startswith(_UTF16)


def parts(path: Path) -> Iterator[Part | Problem]:
    """Yield the parts of the export at `path`, in the order of their names; each is closed when the next is asked for.

    A single file is a part whatever its name. Of folders and archives only the names that exports use are taken.
    Links inside a folder are not followed. Raises InvalidInput `transcript.read` where `path` cannot be read.
    """
    try:
        if path.is_dir():
            yield from _of_folder(path)
            return
        with open_ordinary(path, _BUFFER) as file:
            is_zip = file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")
            file.seek(0)
            if not is_zip:
                yield Part(path.name, path.stat().st_size, file)
                return
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "that is no name of a file"
        raise InvalidInput("transcript.read", f"cannot read {path}: {reason or error}") from None
    yield from _of_zip(path, path.name)


def _of_folder(folder: Path) -> Iterator[Part | Problem]:
    count = 0
    for name in _names(folder):
        count += 1
        if count > MAX_FILES:
            yield Problem("import.limit", f"the folder holds more than {MAX_FILES:,} files; the rest was left", name)
            return
        if _JUNK.search(name) or not (_WANTED.search(name) or _FOLDER_EXTRA.search(name)):
            continue
        path = folder / name
        try:
            with open_ordinary(path, _BUFFER) as file:
                is_zip = zipfile.is_zipfile(file)
                file.seek(0)
                if not is_zip and not name.lower().endswith(".zip"):
                    yield Part(name, path.stat().st_size, file)
                    continue
            if is_zip:
                yield from _of_zip(path, name)
            else:
                yield Problem("import.read", "it is no zip archive, or it is cut off; download it again", name)
        except OSError as error:
            yield Problem("import.read", f"it cannot be read: {error.strerror or error}", name)


def _names(folder: Path) -> Iterator[str]:
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(here, name)
            if not path.is_symlink():
                yield path.relative_to(folder).as_posix()


def _of_zip(path: Path, name: str) -> Iterator[Part | Problem]:
    try:
        with open_ordinary(path) as file, zipfile.ZipFile(file) as archive:
            members = sorted(archive.infolist(), key=lambda member: member.filename)
            if len(members) > MAX_FILES or sum(member.file_size for member in members) > MAX_UNPACKED:
                yield Problem("import.limit", "the archive holds too much to be an export", name)
                return
            for member in members:
                if _WANTED.search(member.filename) and not _JUNK.search(member.filename):
                    yield from _member(archive, member, f"{name}/{member.filename}")
    except BROKEN as error:
        yield Problem("import.read", f"the archive is damaged ({_reason(error)}); download it again", name)


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> Iterator[Part | Problem]:
    if member.flag_bits & _ENCRYPTED or member.compress_type not in _METHODS:
        yield Problem("import.read", "it is encrypted or packed in a way that exports do not use", name)
        return
    if member.file_size > max(_RATIO_COUNTS_FROM, MAX_RATIO * member.compress_size):
        yield Problem("import.limit", f"it unpacks to more than {MAX_RATIO} times its size", name)
        return
    with archive.open(member) as file:
        yield Part(name, member.file_size, file)


def _reason(error: Exception) -> str:
    return str(error)[:200] or type(error).__name__
