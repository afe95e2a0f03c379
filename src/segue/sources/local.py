"""The local reader: a folder of the user's, read by directory handles, so that nothing outside of it is ever touched.

Each part of a path is opened relative to the handle of the part before. A link is refused wherever it leads (decision
S1), but for the folder itself, which may be reached through one. Nothing is opened before it is known to be an ordinary
file or a folder, and what was opened must be what was looked at.
"""

from __future__ import annotations

import os
import stat
from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

from segue.base.errors import Failed, NotFound, Refused, SegueError
from segue.sources import paths
from segue.sources.problems import Problem, error_of, too_long
from segue.sources.reading import gathered
from segue.sources.snapshot import resource

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from pathlib import Path

    from segue.sources.limits import Limits
    from segue.sources.snapshot import Resource, Snapshot

_CHUNK = 64 << 10
_BY_HANDLES = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_FILE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)


def read(
    directory: Path,
    limits: Limits,
    *,
    before: Mapping[str, Resource] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Snapshot:
    """Return the snapshot of the source in `directory`, an absolute path.

    `before` are the resources of the last snapshot by path, to say whether anything changed; `on_progress` is told how
    many of how many records are read. Raises what `Folder` and `snapshot.assembled` raise.
    """
    with Folder(directory) as folder:
        return gathered(folder, limits, before=before or {}, on_progress=on_progress)


class Folder:
    """The folder of a source, held by a handle. Close it, or use it as a context manager.

    Raises Refused `source.path` for a path that is not absolute, NotFound `source.folder` where there is no such
    folder, Failed `source.unreachable` where it may not be read or the system cannot read by handles.
    """

    def __init__(self, directory: Path) -> None:
        if not directory.is_absolute():
            problem = {"rule": "path.relative", "where": str(directory)}
            raise Refused("source.path", "a source's folder is given by its absolute path", problem)
        if not _BY_HANDLES:
            raise Failed("source.unreachable", "this system cannot read a folder without following links")
        self._directory = directory
        try:
            self._handle = os.open(directory, _FOLDER | getattr(os, "O_CLOEXEC", 0))
        except (FileNotFoundError, NotADirectoryError):
            rule = {"rule": "folder.missing", "where": str(directory)}
            raise NotFound("source.folder", f"there is no folder {directory}", rule) from None
        except (OSError, ValueError) as error:
            raise self._failed(error, str(directory)) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the folder."""
        os.close(self._handle)

    def fetch(self, path: str, limit: int) -> Resource:
        """Return the file at `path`, of at most `limit` bytes; they are counted while they are read.

        Raises Refused `source.path` for a path that is refused, a link, a pipe, a device, a folder, and what was
        exchanged meanwhile; InvalidInput `source.manifest` or `source.record` for what is not there, `source.limit`;
        Failed `source.unreachable` for what cannot be read, `source.changed` for what changed while it was read.
        """
        parts = (path,) if path == paths.MANIFEST else paths.checked(path)
        with ExitStack() as handles:
            at = self._handle
            for part in parts[:-1]:
                at = self._open(part, at, path, _FOLDER)
                handles.callback(os.close, at)
            file = self._open(parts[-1], at, path, _FILE)
            handles.callback(os.close, file)
            return resource(path, self._read(file, path, limit))

    def fetch_all(self, listed: Sequence[str], limit: int) -> Generator[Resource | SegueError]:
        """Yield what `fetch` returns or raises for each path, in their order."""
        for path in listed:
            try:
                yield self.fetch(path, limit)
            except SegueError as error:
                yield error

    def _open(self, name: str, folder: int, path: str, flags: int) -> int:
        """Open one name in `folder`, if it is what is asked for and nobody exchanges it."""
        try:
            seen = os.stat(name, dir_fd=folder, follow_symlinks=False)
            _require_kind(seen, path, flags)
            handle = os.open(name, flags | _NOFOLLOW, dir_fd=folder)
        except OSError as error:
            raise self._refusal(error, name, folder, path) from None
        opened = os.fstat(handle)
        if (seen.st_dev, seen.st_ino, stat.S_IFMT(seen.st_mode)) != (
            opened.st_dev,
            opened.st_ino,
            stat.S_IFMT(opened.st_mode),
        ):
            os.close(handle)
            raise _exchanged(path)
        return handle

    def _read(self, file: int, path: str, limit: int) -> bytes:
        before, data = os.fstat(file), bytearray()
        try:
            while chunk := os.read(file, min(_CHUNK, limit + 1 - len(data))):
                data += chunk
        except OSError as error:
            raise self._failed(error, path) from None
        if len(data) > limit:
            raise too_long(path, limit)
        after = os.fstat(file)
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            raise Failed("source.changed", f"{path} changed while it was read; try again", {"where": path})
        return bytes(data)

    def _refusal(self, error: OSError, name: str, folder: int, path: str) -> SegueError:
        if isinstance(error, FileNotFoundError):
            if path == paths.MANIFEST:
                message = "it is not there; a source is a folder with one, as `segue source publish` writes it"
                return error_of([Problem(rule="manifest.missing", message=message, where=path)])
            return error_of([Problem(rule="record.missing", message="it is not there", where=path)])
        if _is_link(name, folder) or isinstance(error, NotADirectoryError):  # it became one after it was looked at
            return _exchanged(path)
        return self._failed(error, path)

    def _failed(self, error: OSError | ValueError, where: str) -> Failed:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        rule = {"rule": "folder.unreadable", "where": where}
        return Failed("source.unreachable", f"cannot read {where} of the source in {self._directory}: {reason}", rule)


def _require_kind(seen: os.stat_result, path: str, flags: int) -> None:
    if stat.S_ISLNK(seen.st_mode):
        raise _refused("link", path, "it is a symbolic link, or leads through one")
    if flags == _FOLDER:
        if not stat.S_ISDIR(seen.st_mode):
            raise _refused("no_folder", path, "it leads through something that is no folder")
    elif not stat.S_ISREG(seen.st_mode):
        kind = "a folder" if stat.S_ISDIR(seen.st_mode) else "a pipe, a device or a socket"
        raise _refused("no_file", path, f"it is {kind}, no ordinary file")


def _is_link(name: str, folder: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _exchanged(path: str) -> SegueError:
    return _refused("exchanged", path, "it was exchanged for something else while it was opened")


def _refused(rule: str, path: str, why: str) -> SegueError:
    return error_of([Problem(rule=f"path.{rule}", message=f"the path is refused: {why}", where=path, refused=True)])
