"""One file of another program on the disk: read once, replaced in one step, with a backup beside it.

The file may be a link: what it points to is replaced, and the link stays. The backup lies beside the real file. Folders
that had to be made are noted beside the file (`.segue-created`), so that they can go when it goes.
"""

from __future__ import annotations

import contextlib
import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from segue.base import files
from segue.base.errors import Failed, InvalidInput, Refused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BACKUP = ".segue-backup"
CREATED = ".segue-created"
MAX_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Place:
    """A configuration file as it was when it was looked at.

    `path` is its name, `target` the real file; `base` is the folder above which nothing is ever removed; `data` is
    None where there is no file.
    """

    path: Path
    target: Path
    base: Path
    data: bytes | None
    mode: int

    @property
    def backup(self) -> Path:
        """Where the bytes from before are kept."""
        return self.target.with_name(self.target.name + BACKUP)

    @property
    def record(self) -> Path:
        """Where the number of folders is kept that were made for the file."""
        return self.target.with_name(self.target.name + CREATED)


def look(path: Path, base: Path, *, new_mode: int = 0o644) -> Place:
    """Return the file at `path` as it is now; `new_mode` is for a file that is not there yet.

    Raises InvalidInput `hosts.unreadable` for what is no file, cannot be read, or is larger than 64 MB.
    """
    try:
        target = path.resolve()
        status = target.stat()
    except (FileNotFoundError, NotADirectoryError):
        return Place(path, target, base, None, new_mode)
    except (OSError, RuntimeError) as error:  # a loop of links is a RuntimeError before Python 3.13
        raise unreadable(path, (error.strerror if isinstance(error, OSError) else None) or "its links loop") from None
    if not stat.S_ISREG(status.st_mode):
        raise unreadable(path, "it is not a file")
    try:
        data = files.read_bytes(target, MAX_BYTES)
    except InvalidInput as error:
        raise unreadable(path, error.message) from None
    if len(data) > MAX_BYTES:
        raise unreadable(path, f"it is larger than {MAX_BYTES} bytes")
    return Place(path, target, base, data, stat.S_IMODE(status.st_mode))


def unreadable(path: Path, reason: str) -> InvalidInput:
    """Return the error that names a file which is left alone."""
    message = f"{path} was left alone, because it cannot be read: {reason}"
    return InvalidInput("hosts.unreadable", message, {"path": str(path), "reason": reason})


def backup_bytes(place: Place) -> bytes | None:
    """Return the bytes that were kept before, None where there are none.

    A link in the place of a backup is not ours, and is not followed.
    """
    if place.backup.is_symlink() or not place.backup.is_file():
        return None
    return files.read_bytes(place.backup, MAX_BYTES)


def check_writable(place: Place) -> None:
    """Raise Failed `hosts.not_writable` where file or folder may not be written, Refused `hosts.backup_link` where a
    link stands in the place of the backup.

    A rename would replace a read-only file, and an administrator may write anything: a missing write permission is
    taken as a wish nevertheless.
    """
    folder = place.target.parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise Failed("hosts.not_writable", f"{folder} is not a folder, so {place.path} cannot be made")
    for item in (place.target, folder) if place.data is not None else (folder,):
        if not os.access(item, os.W_OK) or not item.stat().st_mode & 0o222:
            kind = "file" if item == place.target else "folder"
            message = f"the {kind} {item} is read-only; nothing was changed. Make it writable, then try again"
            raise Failed("hosts.not_writable", message, {"path": str(item)})
    for item in (place.backup, place.record):
        if item.is_symlink():
            raise Refused("hosts.backup_link", f"{item} is a link; remove it, then try again", {"path": str(item)})


def write(place: Place, data: bytes, *, backup: bytes | None = None) -> None:
    """Replace the file by `data`, and keep `backup` beside it, if given: both or neither.

    Raises Failed `file.write`, or `hosts.changed` where another program wrote the file in the meantime.
    """
    with _folders(place), _kept(place, backup), files.staged(place.target, mode=place.mode) as partial:
        partial.write_bytes(data)
        _keep_owner(place, partial)
        _check_unchanged(place)
    if place.data is None:
        place.backup.unlink(missing_ok=True)  # of an earlier file: it says nothing about this one


def remove(place: Place) -> None:
    """Remove the file, what was kept beside it, and the folders that were made for it if they are empty.

    Raises Failed `file.write` or `hosts.changed`.
    """
    _check_unchanged(place)
    made = _made_folders(place)
    try:
        place.target.unlink()
    except OSError as error:
        raise Failed("file.write", f"could not remove {place.path}: {error.strerror or error}") from error
    forget(place)
    _remove_folders(place, made)


@dataclass(frozen=True, slots=True)
class Kept:
    """What lay beside a file before it was touched: the backup and the record of folders, None where there was none."""

    backup: bytes | None
    record: bytes | None


def keep(place: Place) -> Kept:
    """Return what lies beside the file now, for `put_back`."""
    record = None if place.record.is_symlink() or not place.record.is_file() else place.record.read_bytes()
    return Kept(backup_bytes(place), record)


def put_back(place: Place, kept: Kept) -> None:
    """Make the file, and what lay beside it, as they were when `place` was looked at. Raises OSError, Failed."""
    made = _made_folders(place)
    if place.data is None:
        place.target.unlink(missing_ok=True)
    else:
        place.target.parent.mkdir(parents=True, exist_ok=True)  # it may have gone with the file
        files.write_bytes(place.target, place.data, mode=place.mode)
    for path, data, mode in ((place.backup, kept.backup, place.mode), (place.record, kept.record, 0o644)):
        if data is None:
            path.unlink(missing_ok=True)
        else:
            files.write_bytes(path, data, mode=mode)
    if place.data is None:
        _remove_folders(place, made)


def forget(place: Place, *, backup: bool = True) -> None:
    """Remove the record of folders and, unless told otherwise, the backup."""
    with contextlib.suppress(OSError):
        place.record.unlink(missing_ok=True)
        if backup:
            place.backup.unlink(missing_ok=True)


def _check_unchanged(place: Place) -> None:
    try:
        now = place.target.read_bytes()
    except OSError:
        now = None
    if now != place.data:
        message = f"another program wrote {place.path} in the meantime; nothing was changed. Try again"
        raise Failed("hosts.changed", message, {"path": str(place.path)})


def _keep_owner(place: Place, partial: Path) -> None:
    """Under `sudo` the file shall not become the administrator's."""
    if place.data is None or not hasattr(os, "chown"):
        return
    with contextlib.suppress(OSError):
        status = place.target.stat()
        os.chown(partial, status.st_uid, status.st_gid)


@contextlib.contextmanager
def _kept(place: Place, data: bytes | None) -> Iterator[None]:
    """Keep `data` as the backup; when the write fails, put back what was there."""
    if data is None:
        yield
        return
    before = backup_bytes(place)
    files.write_bytes(place.backup, data, mode=place.mode)
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError, Failed):
            if before is None:
                place.backup.unlink(missing_ok=True)
            else:
                files.write_bytes(place.backup, before, mode=place.mode)
        raise


@contextlib.contextmanager
def _folders(place: Place) -> Iterator[None]:
    """Make the folders that are missing, and note how many; when the write fails, take them away again."""
    folder, missing = place.target.parent, 0
    while not folder.exists() and folder != folder.parent:
        folder, missing = folder.parent, missing + 1
    if not missing:
        yield
        return
    try:
        place.target.parent.mkdir(parents=True, exist_ok=True)
        files.write_bytes(place.record, f"{missing}\n".encode(), mode=0o644)
        yield
    except BaseException as error:
        with contextlib.suppress(OSError):
            place.record.unlink(missing_ok=True)
        _remove_folders(place, missing)
        if isinstance(error, OSError):
            raise Failed("file.write", f"could not write {place.path}: {error.strerror or error}") from error
        raise


def _made_folders(place: Place) -> int:
    try:
        text = place.record.read_bytes()[:4].strip() if not place.record.is_symlink() else b""
    except OSError:
        return 0
    return int(text) if text.isdigit() else 0


def _remove_folders(place: Place, count: int) -> None:
    base = place.base.resolve()
    with contextlib.suppress(OSError):  # a folder that holds something stays
        for folder in list(place.target.parents)[:count]:
            if folder == base or folder in base.parents:
                return
            folder.rmdir()
