"""Files that are whole or absent: written beside their place, flushed to the disk, then renamed."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
from typing import TYPE_CHECKING, BinaryIO

from segue.base.errors import Failed, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PARTIAL = ".partial"
# What `partial_name` makes, and the files that SQLite puts beside one; not the partial files of other programs.
PARTIAL_NAME = re.compile(r".+\.[0-9a-f]{8}\.partial(?:-wal|-shm|-journal)?", re.DOTALL)


@contextlib.contextmanager
def staged(path: Path, *, mode: int = 0o600) -> Iterator[Path]:
    """Yield a path beside `path` to write to; on success it becomes `path` in one step, else it is removed.

    The file gets `mode`. Raises Failed `file.write` when the disk does not take it.
    """
    target = _target(path)
    partial = target.with_name(partial_name(target.name))
    try:
        if target.exists() and not target.is_file():
            raise Failed("file.write", f"could not write {path}: it is no ordinary file")
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
        yield partial
        flush_to_disk(partial)
        partial.chmod(mode)
        partial.replace(target)
        flush_to_disk(target.parent)
    except OSError as error:
        raise Failed("file.write", f"could not write {path}: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)


def partial_name(name: str) -> str:
    """Return a name for the file that is to become `name`; it matches PARTIAL_NAME."""
    return f"{name}.{secrets.token_hex(4)}{PARTIAL}"


def _target(path: Path) -> Path:
    """Return the file that `path` leads to: a link stays a link, what it points to is replaced."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # RuntimeError: Python up to 3.12, for a link that leads to itself
        raise Failed("file.write", f"could not write {path}: its symbolic links lead nowhere") from None


def write_bytes(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Replace the file at `path` by `data`, whole or not at all. Raises Failed `file.write`."""
    with staged(path, mode=mode) as partial:
        partial.write_bytes(data)


def flush_to_disk(path: Path) -> None:
    """Wait until the disk holds the file or folder at `path`."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def open_ordinary(path: Path, buffering: int = -1) -> BinaryIO:
    """Open the ordinary file at `path` for reading, buffered.

    A pipe, a device or a socket could keep its reader waiting for ever, or never end: it raises OSError like what
    cannot be opened, and nothing of it is read.
    """
    _require_ordinary(path, path.stat())  # before it is opened: a device may act on that
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        _require_ordinary(path, os.fstat(handle))  # it may have been replaced since
        return os.fdopen(handle, "rb", buffering)
    except BaseException:
        os.close(handle)
        raise


def _require_ordinary(path: Path, found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is no ordinary file", str(path))


def read_bytes(path: Path, limit: int) -> bytes:
    """Return the bytes of the file at `path`, at most `limit` + 1 of them (so that a caller can see an excess).

    Raises InvalidInput `file.read` where it cannot be read.
    """
    try:
        with open_ordinary(path) as file:
            return file.read(limit + 1)
    except OSError as error:
        raise InvalidInput("file.read", f"cannot read {path}: {error.strerror or error}") from None
