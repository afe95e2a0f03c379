"""Where the state of a project's continuity lies, and how it is locked, read and written.

All of it is in Segue's own folder, one folder for each project, so that nothing appears in a project without consent:

    SEGUE_HOME/continuity/importer-3f9a1c0d22b7/
      journal.json   receipts/TX-0001.json   handoffs/…   release.json   lock

No other module of the part touches the disk, but for `swap`, which replaces several files as one, and its `steps`.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import threading
import time
from typing import TYPE_CHECKING, Any

from segue.base import files, jsontext
from segue.base.errors import Failed, InvalidInput
from segue.continuity.receipt import number_of, tx_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOLDER = "continuity"
JOURNAL, RECEIPTS, HANDOFFS, RELEASE, LOCK = "journal.json", "receipts", "handoffs", "release.json", "lock"
MAX_DOCUMENT = 4 * 1024 * 1024  # bytes of one file of ours
LOCK_SECONDS = 30.0

_TRY_SECONDS = 0.05
_KEY_DIGITS = 12
_SLUG = 40
_RECEIPT = re.compile(r"(TX-\d{4,9})\.json", re.ASCII)
_NO_SLUG = re.compile(r"[^a-z0-9]+")
_held = threading.local()


def folder(home: Path, project_key: str, label: str) -> Path:
    """Return the folder of a project: one that its key names already, else a new name made of `label`; none is made.

    The key alone decides, so a project that is called otherwise later keeps its folder.
    """
    digits = hashlib.sha256(project_key.encode("utf-8", "surrogatepass")).hexdigest()[:_KEY_DIGITS]
    base = home / FOLDER
    with contextlib.suppress(OSError):
        known = sorted(each for each in base.glob(f"*-{digits}") if each.is_dir())
        if known:
            return known[0]
    slug = _NO_SLUG.sub("-", label.casefold())[:_SLUG].strip("-") or "project"
    return base / f"{slug}-{digits}"


@contextlib.contextmanager
def locked(folder: Path, seconds: float = LOCK_SECONDS) -> Iterator[None]:
    """Have a project's folder for oneself, made where it is not there; the thread that has it may ask again.

    Raises Failed `continuity.busy` where others do not let go of it within `seconds`, `file.write` where it cannot
    be made.
    """
    name = str(folder / LOCK)
    depth: dict[str, int] = _held.__dict__.setdefault("depth", {})
    if depth.get(name):
        yield
        return
    from filelock import FileLock, Timeout  # most commands do without

    lock = FileLock(name, mode=0o600)
    try:
        make(folder)
        lock.acquire(timeout=seconds)
    except Timeout:
        raise Failed("continuity.busy", "another process works on this project's continuity; try again") from None
    except OSError as error:
        raise Failed("file.write", f"could not lock {folder}: {error.strerror or error}") from error
    depth[name] = 1
    try:
        yield
    finally:
        del depth[name]
        lock.release()


@contextlib.contextmanager
def alone(folder: Path, seconds: float) -> Iterator[None]:
    """Have a folder for oneself, also among those who come by way of another home of Segue's than this one.

    The thread that has it may ask again; what is no folder is not waited for. The folder itself is locked, so that no
    file is left in it. Systems that cannot do that go by Segue's own lock.
    Raises Failed `continuity.busy` where others do not let go of it within `seconds`, `file.write`.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    name = str(folder)
    depth: dict[str, int] = _held.__dict__.setdefault("depth", {})
    if depth.get(name):
        yield
        return
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except (NotADirectoryError, FileNotFoundError):
        yield
        return
    except OSError as error:
        raise Failed("file.write", f"could not lock {folder}: {error.strerror or error}") from error
    try:
        for left in reversed(range(max(int(seconds / _TRY_SECONDS), 1))):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not left:
                    raise Failed("continuity.busy", "another process changes this memory store; try again") from None
                time.sleep(_TRY_SECONDS)
            except OSError:  # a file system without locks
                break
        depth[name] = 1
        yield
    finally:
        depth.pop(name, None)
        os.close(handle)


def make(folder: Path) -> None:
    """Make a folder that only its owner may enter, with those above it. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)


def exists(path: Path) -> bool:
    """Whether there is anything at a path, a link that leads nowhere too. Raises InvalidInput `file.read`."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise _unreadable(path, error) from None
    return True


def listed(folder: Path) -> list[Path]:
    """Return what lies in a folder, by name, nothing where there is none. Raises InvalidInput `file.read`.

    What cannot be looked at is never taken for what is not there: it may be all of it, and in order.
    """
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise _unreadable(folder, error) from None


def _unreadable(path: Path, error: OSError) -> InvalidInput:
    return InvalidInput("file.read", f"cannot read {path}: {error.strerror or error}")


def sweep(folder: Path) -> None:
    """Remove what killed writes have left in a folder; the project has to be locked. Raises Failed `file.write`."""
    try:
        for each in folder.glob(f"*{files.PARTIAL}"):
            if files.PARTIAL_NAME.fullmatch(each.name):
                each.unlink(missing_ok=True)
    except OSError as error:
        raise Failed("file.write", f"could not tidy {folder}: {error.strerror or error}") from error


def read(path: Path, limit: int = MAX_DOCUMENT) -> bytes | None:
    """Return the bytes of a file, None where there is none.

    Raises InvalidInput `file.read` where it cannot be read, `continuity.size` where it has more than `limit` bytes.
    """
    if not exists(path):
        return None
    data = files.read_bytes(path, limit)
    if len(data) > limit:
        raise InvalidInput("continuity.size", f"{path} has more than {limit:,} bytes")
    return data


def read_json(path: Path, *, code: str) -> Any:
    """Return what a JSON file holds, None where there is no file. Raises InvalidInput with `code`, or as `read`."""
    data = read(path)
    return None if data is None else jsontext.parse(data, code=code)


def receipts(folder: Path) -> dict[int, bytes]:
    """Return the files of receipts in a project's folder, by number; what has another name is nobody's receipt.

    Raises InvalidInput `file.read`.
    """
    found = {}
    for path in listed(folder / RECEIPTS):
        match = _RECEIPT.fullmatch(path.name)
        if match is None or tx_id(number_of(match[1])) != match[1]:
            continue
        found[number_of(match[1])] = _receipt(path)
    return found


def _receipt(path: Path) -> bytes:
    """The bytes of a receipt's file, none for what is there and no receipt."""
    if not exists(path) or not path.is_file():
        return b""
    try:
        return read(path) or b""
    except InvalidInput as error:
        if error.code == "file.read":
            raise  # it may hold, if only it could be read
        return b""


def write(path: Path, data: bytes) -> None:
    """Replace a file, whole or not at all, in a folder that only its owner may enter. Raises Failed `file.write`."""
    try:
        make(path.parent)
    except OSError as error:
        raise Failed("file.write", f"could not write {path}: {error.strerror or error}") from error
    files.write_bytes(path, data)


def write_json(path: Path, document: Any) -> None:
    """Replace a file by a JSON document, indented, with a line break at its end.

    What could not be read again as it is given is not written: too large, too deep, no JSON. Raises InvalidInput
    `continuity.size`, `continuity.unwritable`, Failed `file.write`.
    """
    if not jsontext.is_json(document):
        raise InvalidInput("continuity.unwritable", "this cannot be kept: it is too deep, or holds what JSON has not")
    data = jsontext.dump(document, indent=True) + b"\n"
    if len(data) > MAX_DOCUMENT:
        raise InvalidInput("continuity.size", f"this cannot be kept: it has more than {MAX_DOCUMENT:,} bytes")
    write(path, data)
