"""A memory store on the disk: read whole, and changed as one, all of it or nothing.

A change is staged in the store's own folder `.swap`: the new files, copies of the old ones, and last a journal that
names them with their hashes. From the journal on, the change is certain: whoever comes next (`recover`) finishes it
from what is staged. Without a journal nothing has happened yet. Where the disk refuses in between, the old files are
put back. The journal goes first when all is done, so that leftovers never count.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from segue.base import files, jsontext
from segue.base.errors import Failed, InvalidInput, Refused, SegueError, Stale
from segue.continuity import steps as journals
from segue.continuity.files import alone
from segue.continuity.steps import MAX_FILES, Step
from segue.continuity.store.fault import Fault
from segue.continuity.store.layout import ARCHIVE, STORE
from segue.continuity.store.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from segue.continuity.store.snapshot import Plan

SWAP, JOURNAL = ".swap", "journal.json"
MAX_FILE = 256 * 1024  # bytes of one file of a store
_WAIT_SECONDS = 5.0  # for others who change the same store
MAX_STORE = 64 * 1024 * 1024  # bytes of all files together

_Change: TypeAlias = "tuple[str, bytes | None, bytes | None]"  # a file, what it becomes and what it was


# -- reading ----------------------------------------------------------------------------------------------------------


def exists(folder: Path) -> bool:
    """Whether there is anything where a project's store would be, an empty folder apart."""
    if folder.is_symlink() or not folder.is_dir():
        return os.path.lexists(folder)
    with contextlib.suppress(OSError):
        return next(folder.iterdir(), None) is not None
    return True


def read(folder: Path) -> Snapshot:
    """Return the files of a store; what cannot be read is among the faults. It follows no link out of the store."""
    if folder.is_symlink() or not folder.is_dir():
        mend = f"make {STORE} a folder of the project itself, or remove it"
        return Snapshot({}, {}, (Fault("store.folder", STORE, 1, "it is no folder of its own", mend),))
    found: dict[str, bytes] = {}
    names: dict[str, str] = {}
    faults: list[Fault] = []
    left = MAX_STORE
    for prefix, place in (("", folder), (f"{ARCHIVE}/", folder / ARCHIVE)):
        for entry in _entries(place, prefix, faults):
            name = unicodedata.normalize("NFC", f"{prefix}{entry.name}")
            data, fault = _read_entry(entry, name)
            left -= len(data or b"")
            if left < 0:
                mend = "take out what is no fact"
                faults.append(Fault("store.size", STORE, 1, f"it has more than {MAX_STORE:,} bytes", mend))
                return Snapshot(found, names, tuple(faults))
            if name in found:
                fault = Fault("store.name", name, 1, "two files have this name, spelled differently", "rename one")
            if fault is not None:
                faults.append(fault)
            elif data is not None:
                found[name] = data
                if name != f"{prefix}{entry.name}":
                    names[name] = f"{prefix}{entry.name}"
    faults += _left_behind(folder)
    return Snapshot(found, names, tuple(faults))


def _entries(place: Path, prefix: str, faults: list[Fault]) -> list[os.DirEntry[str]]:
    if prefix and not _is_own(place):
        mend = "make it a folder of the store itself, or remove it"
        faults.append(Fault("store.archive", ARCHIVE, 1, "the archive is no folder of the store's own", mend))
        return []
    if prefix and not place.exists():
        return []
    try:
        with os.scandir(place) as entries:
            found = sorted((each for each in entries if each.name.endswith(".md")), key=lambda each: each.name)
    except OSError as error:
        said = f"it cannot be read: {error.strerror or error}"
        faults.append(Fault("store.unreadable", prefix.rstrip("/") or STORE, 1, said, "let its owner read it"))
        return []
    if len(found) > MAX_FILES:
        said = f"it holds more than {MAX_FILES:,} files"
        faults.append(Fault("store.size", prefix.rstrip("/") or STORE, 1, said, "take out what is no fact"))
    return found[:MAX_FILES]


def _read_entry(entry: os.DirEntry[str], name: str) -> tuple[bytes | None, Fault | None]:
    if not jsontext.is_unicode(name):
        return None, Fault("store.name", repr(name), 1, "its name is no text", "rename it")
    if entry.is_symlink():
        return None, Fault(
            "store.link", name, 1, "it is a link, and nothing outside the store is read", "copy the file"
        )
    if entry.is_dir():
        return None, None
    try:
        data = files.read_bytes(Path(entry.path), MAX_FILE)
    except InvalidInput as error:
        mend = "let its owner read it" if entry.is_file() else "remove it: a fact is an ordinary file"
        return None, Fault("store.unreadable", name, 1, error.message, mend)
    if len(data) > MAX_FILE:
        return None, Fault("store.size", name, 1, f"it has more than {MAX_FILE:,} bytes", "split it: one fact a file")
    return data, None


def _is_own(place: Path) -> bool:
    """Whether a path is a folder, or may become one: no link, and nothing else either."""
    return not os.path.lexists(place) or (place.is_dir() and not place.is_symlink())


def _left_behind(folder: Path) -> Iterator[Fault]:
    """Yield what is wrong where a change was interrupted, or where something stands in the way of the next one."""
    if not _is_own(folder / SWAP):
        yield Fault("store.interrupted", SWAP, 1, "it is no folder of the store's own", "remove it")
    elif os.path.lexists(folder / SWAP / JOURNAL):
        yield _interrupted()


def _interrupted() -> Fault:
    mend = (
        f"`segue continuity doctor` finishes it; where files were changed since, compare them with {SWAP} and remove it"
    )
    return Fault("store.interrupted", SWAP, 1, "a change was interrupted", mend)


# -- making -----------------------------------------------------------------------------------------------------------


def create(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Make a store with these files and an empty archive, whole or not at all.

    Raises Refused `memory.store_exists` where there is something already, Failed `file.write`.
    """
    if exists(folder):
        raise Refused("memory.store_exists", f"there is a {folder.name} already, and it is not made anew")
    for left in folder.parent.glob(f"{folder.name}.*{files.PARTIAL}"):
        if files.PARTIAL_NAME.fullmatch(left.name):
            shutil.rmtree(left, ignore_errors=True)  # of a run that was stopped
    partial = folder.with_name(files.partial_name(folder.name))
    try:
        partial.mkdir()
        (partial / ARCHIVE).mkdir()
        for name, data in contents.items():
            _write_new(partial / name, data)
        files.flush_to_disk(partial)
        with contextlib.suppress(FileNotFoundError):
            folder.rmdir()  # an empty one
        partial.rename(folder)
        files.flush_to_disk(folder.parent)
    except OSError as error:
        raise Failed("file.write", f"could not make {folder}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


# -- changing ---------------------------------------------------------------------------------------------------------


def swap(folder: Path, plan: Plan, base: Snapshot) -> dict[str, str]:
    """Make a change of the store that was read as `base`; return the hashes of the files that it wrote, read back.

    Raises Stale `memory.changed` where one of its files is not any more as it was read, InvalidInput `memory.archive`,
    Failed `file.write`, `continuity.busy`; then every file is as it was.
    """
    changes = [(base.names.get(name, name), data, base.files.get(name)) for name, data in plan.steps(base)]
    steps = [Step(name, journals.digest(new), journals.digest(old)) for name, new, old in changes]
    if not steps:
        return {}
    if not _is_own(folder / ARCHIVE):
        raise InvalidInput(
            "memory.archive", f"{folder.name}/{ARCHIVE} is no folder of the store's own, and nothing is written there"
        )
    with alone(folder, _WAIT_SECONDS):
        _swap(folder, changes, steps)
    return {each.name: each.new for each in steps if each.new is not None}


def _swap(folder: Path, changes: Sequence[_Change], steps: Sequence[Step]) -> None:
    place = folder / SWAP
    own_archive = not (folder / ARCHIVE).exists()
    try:
        place.mkdir(mode=0o700)
    except OSError as error:
        raise _failed(folder, error) from error
    try:
        _stage(folder, place, changes)
        for step in steps:
            if _state(folder, step) != step.old:
                raise Stale("memory.changed", f"{step.name} was changed meanwhile; try again")
        files.write_bytes(place / JOURNAL, journals.dumped(steps))
    except SegueError:
        _undo(folder, place, own_archive)
        raise
    except OSError as error:
        _undo(folder, place, own_archive)
        raise _failed(folder, error) from error
    try:
        _forward(folder, place, steps)
    except OSError as error:
        with _failing(folder):
            _back(folder, place, steps)  # where that fails too, the journal stays, and `recover` goes by it
        _undo(folder, place, own_archive)
        raise _failed(folder, error) from error
    _discard(place)


def _undo(folder: Path, place: Path, own_archive: bool) -> None:
    """Remove what was staged of a change that failed; what is new first, so that nobody can go on with it."""
    with contextlib.suppress(OSError):
        for each in place.glob("new-*"):
            each.unlink()
    _discard(place)
    if own_archive:
        with contextlib.suppress(OSError):
            (folder / ARCHIVE).rmdir()


def _failed(folder: Path, error: OSError) -> Failed:
    return Failed("file.write", f"could not change {folder}: {error.strerror or error}")


@contextlib.contextmanager
def _failing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _failed(folder, error) from error


def recover(folder: Path) -> bool:
    """Bring a change that was interrupted to its end, and return whether there was one.

    Raises InvalidInput `memory.interrupted` where files were changed by others since, Failed `file.write`,
    `continuity.busy`.
    """
    place = folder / SWAP
    if folder.is_symlink() or not os.path.lexists(place):
        return False
    with alone(folder, _WAIT_SECONDS):
        return _recover(folder, place)


def _recover(folder: Path, place: Path) -> bool:
    if not os.path.lexists(place):
        return False  # it was no interrupted change, but one that somebody was making
    for each in (place, folder / ARCHIVE):
        if not _is_own(each):
            raise _conflict(f"{each.name} is no folder of the store's own")
    with _failing(folder):
        steps = _journal(place)
        if steps is not None:
            _finish(folder, place, steps)
        _discard(place)
    return steps is not None


def _finish(folder: Path, place: Path, steps: Sequence[Step]) -> None:
    states = [_state(folder, each) for each in steps]
    for step, state in zip(steps, states, strict=True):
        if state not in (step.new, step.old):
            raise _conflict(f"{step.name} was changed since")
    if all(
        state == step.new or step.new is None or _hash_of(place / f"new-{number}") == step.new
        for number, (step, state) in enumerate(zip(steps, states, strict=True))
    ):
        _forward(folder, place, steps)
    else:
        _back(folder, place, steps)


def _stage(folder: Path, place: Path, changes: Sequence[_Change]) -> None:
    if any(name.startswith(f"{ARCHIVE}/") and new is not None for name, new, _ in changes):
        (folder / ARCHIVE).mkdir(exist_ok=True)
    for number, (name, new, old) in enumerate(changes):
        target = folder / name
        if new is not None:
            staged = place / f"new-{number}"
            _write_new(staged, new)
            if old is not None:
                staged.chmod(target.stat().st_mode & 0o7777)
            if _hash_of(staged) != journals.digest(new):
                raise Failed("file.write", f"could not write {target}: the disk holds something else")
        if old is not None:
            _write_new(place / f"old-{number}", old)
    files.flush_to_disk(place)


def _forward(folder: Path, place: Path, steps: Sequence[Step]) -> None:
    for number, step in enumerate(steps):
        target = folder / step.name
        if step.new is None:
            target.unlink(missing_ok=True)
        elif _state(folder, step) != step.new:
            (place / f"new-{number}").replace(target)
    _flush(folder)
    for step in steps:
        if _state(folder, step) != step.new:
            raise OSError(None, f"{step.name} does not hold what was written")


def _back(folder: Path, place: Path, steps: Sequence[Step]) -> None:
    """Put every file back as it was; the last first, so that the index never names a file that is not there."""
    for number, step in reversed(list(enumerate(steps))):
        target, kept = folder / step.name, place / f"old-{number}"
        if _state(folder, step) == step.old:
            continue
        if step.old is None:
            target.unlink(missing_ok=True)
            continue
        if _hash_of(kept) != step.old:
            raise _conflict(f"the copy of {step.name} is not what it was")
        if target.exists():
            kept.chmod(target.stat().st_mode & 0o7777)
        kept.replace(target)
    _flush(folder)


def _flush(folder: Path) -> None:
    files.flush_to_disk(folder)
    if (folder / ARCHIVE).is_dir():
        files.flush_to_disk(folder / ARCHIVE)


def _discard(place: Path) -> None:
    """Remove what was staged; the journal first, since without it the rest says nothing.

    What the disk does not let go of is removed by the next change.
    """
    with contextlib.suppress(OSError):
        (place / JOURNAL).unlink(missing_ok=True)
        files.flush_to_disk(place)
        shutil.rmtree(place)


def _journal(place: Path) -> list[Step] | None:
    try:
        return journals.read(place / JOURNAL)
    except InvalidInput as error:
        raise _conflict(f"its journal cannot be read: {error.message}") from None


def _conflict(why: str) -> InvalidInput:
    fault = _interrupted()
    return InvalidInput(
        "memory.interrupted",
        f"{fault.message} and cannot be finished: {why}; compare the files with {STORE}/{SWAP} and remove that folder",
        {"memory_status": "invalid", "faults": [fault.to_json()]},
    )


def _state(folder: Path, step: Step) -> str | None:
    return _hash_of(folder / step.name)


def _hash_of(path: Path) -> str | None:
    return journals.hash_of(path, MAX_FILE)


def _write_new(path: Path, data: bytes) -> None:
    """Write a file that is not there yet, as readable as this user's files are."""
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o666)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
