"""The files of a project that receipts and handoffs speak of: found inside the project, read, hashed and validated."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from segue.base import files, frontmatter, redaction
from segue.base.errors import InvalidInput, Refused
from segue.base.jsontext import is_unicode
from segue.base.redaction import RedactionRefused, harmless, shown
from segue.continuity.receipt import MAX_ARTIFACTS, Artifact

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_FILE = 16 * 1024 * 1024  # bytes of one file
MAX_FOLDER = 64 * 1024 * 1024  # bytes of all files of a folder
VALIDATOR_SECONDS = 120

_MARKDOWN = (".md", ".markdown", ".mdx")
_LAST_WORDS = 600  # characters of what a validator said


def located(root: Path, given: str | Path) -> str:
    """Return the path of a file or folder relative to the project, a folder's with `/` at its end.

    `root` is resolved; a relative path begins there. Raises Refused `receipt.outside` where it, or what its links lead
    to, lies elsewhere, InvalidInput `file.read` where there is nothing, or its name is no text.
    """
    path = root / given
    name = shown(os.path.relpath(path, root), 80)
    try:
        real = path.resolve(strict=True)
    except (OSError, ValueError, RuntimeError) as error:
        said = getattr(error, "strerror", None) or "it leads nowhere"
        raise InvalidInput("file.read", f"cannot read {name}: {said}") from None
    if real == root or not real.is_relative_to(root):
        raise Refused("receipt.outside", f"{name} does not lie in the project, and nothing else is read or proven")
    relative = real.relative_to(root).as_posix()
    if not is_unicode(relative):
        raise InvalidInput("file.read", f"cannot name {name} in a receipt: its name is no Unicode text")
    return f"{relative}/" if real.is_dir() else relative


def measured(root: Path, path: str) -> Artifact:
    """Return what the artifact at `path` (as `located` gives it) is now. Raises InvalidInput `file.read`, Refused."""
    return taken(root, path)[0]


def taken(root: Path, path: str) -> tuple[Artifact, list[bytes]]:
    """Return what an artifact is now, and the bytes of its files that say so. Raises as `measured`."""
    if located(root, path) != path:
        raise InvalidInput("file.read", f"cannot read {shown(path, 80)}: it is not what it was")
    if not path.endswith("/"):
        data = _read(root / path)
        return Artifact(path, hashlib.sha256(data).hexdigest(), len(data)), [data]
    hashed, held, size = hashlib.sha256(), [], 0
    for name, data in contents(root, path):
        for part in (name.encode("utf-8"), data):
            hashed.update(len(part).to_bytes(8, "big"))
            hashed.update(part)
        held.append(data)
        size += len(data)
        if size > MAX_FOLDER:
            raise InvalidInput("receipt.size", f"{shown(path, 80)} holds more than {MAX_FOLDER:,} bytes")
    return Artifact(path, hashed.hexdigest(), size), held


def current(root: Path, path: str) -> Artifact | None:
    """Return what an artifact is now, None where it cannot be read in the project."""
    try:
        return measured(root, path)
    except (InvalidInput, Refused):
        return None


def contents(root: Path, path: str) -> Iterator[tuple[str, bytes]]:
    """Yield the files of an artifact with their bytes: relative to a folder and sorted by path, or the file itself.

    Raises InvalidInput `file.read`, Refused `receipt.outside` for a link that leads out of the project.
    """
    if not path.endswith("/"):
        yield path, _read(root / path)
        return
    folder = root / path
    names = sorted(each.relative_to(folder).as_posix() for each in _inside(folder))
    if len(names) > MAX_ARTIFACTS:
        raise InvalidInput("receipt.size", f"{shown(path, 80)} holds more than {MAX_ARTIFACTS:,} files")
    for name in names:
        located(root, path + name)
        yield name, _read(folder / name)


def _inside(folder: Path) -> Iterator[Path]:
    def failed(error: OSError) -> None:
        raise InvalidInput("file.read", f"cannot read {folder}: {error.strerror or error}")

    for parent, folders, names in os.walk(folder, onerror=failed):
        yield from (Path(parent) / name for name in names)
        # A link to a folder would be walked by nobody; as an artifact it is refused.
        yield from (Path(parent) / name for name in folders if (Path(parent) / name).is_symlink())


def _read(path: Path) -> bytes:
    data = files.read_bytes(path, MAX_FILE)
    if len(data) > MAX_FILE:
        raise InvalidInput("receipt.size", f"{path} has more than {MAX_FILE:,} bytes")
    return data


def validated(root: Path, paths: Sequence[str], command: Sequence[str]) -> list[Artifact]:
    """Return what artifacts are, as they were before they were read back and the project's validator was run.

    So what is not the same when it is hashed again (see `require_same`) is not what was looked at. Raises as
    `measured`, `read_back` and `run_validator`, and RedactionRefused `receipt.redaction` for a name that lets somebody
    in: a receipt says it for good.
    """
    found = [each for path in paths for each in redaction.credentials("path", path)]
    if found:
        raise RedactionRefused(found, "receipt.redaction", "Rename the file: a receipt names it for good")
    before = [measured(root, each) for each in paths]
    read_back(root, paths)
    run_validator(command, root)
    return before


def require_same(root: Path, before: Sequence[Artifact]) -> None:
    """Raise InvalidInput `receipt.changed` where an artifact is not what it was."""
    for each in before:
        if current(root, each.path) != each:
            raise InvalidInput("receipt.changed", f"{shown(each.path, 80)} was changed while it was validated")


def read_back(root: Path, paths: Sequence[str]) -> None:
    """Read each artifact as one who opens it later would: UTF-8, and front matter that parses (decision K4).

    Raises InvalidInput `receipt.validator`, which names the file.
    """
    for path in paths:
        for name, data in contents(root, path):
            whole = path + name if path.endswith("/") else path
            try:
                text = data.decode("utf-8")
            except UnicodeDecodeError as error:
                raise _rejected(f"{shown(whole, 80)} is not UTF-8 at byte {error.start}") from None
            head = frontmatter.split(text) if whole.lower().endswith(_MARKDOWN) else None
            if head is not None and head.fault:
                where = f"{shown(whole, 80)}, line {head.fault_line}"
                raise _rejected(f"{where}: the front matter does not read: {head.fault}")


def run_validator(command: Sequence[str], root: Path) -> None:
    """Run a project's own validator in its root, without a shell, and wait for its verdict.

    Raises InvalidInput `receipt.validator` where it says no, takes too long, or cannot be started.
    """
    if not command:
        return
    with tempfile.TemporaryFile() as said:
        try:
            process = subprocess.Popen(
                list(command), cwd=root, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise _rejected(f"the validator {shown(command[0], 80)} does not start: {reason}") from None
        try:
            code = process.wait(VALIDATOR_SECONDS)
        except subprocess.TimeoutExpired:
            raise _rejected(f"the validator did not end within {VALIDATOR_SECONDS} seconds") from None
        finally:
            _end(process)
        if code != 0:
            size = said.seek(0, os.SEEK_END)
            said.seek(max(size - 4 * _LAST_WORDS, 0))
            last = harmless(said.read().decode("utf-8", "replace").strip()[-_LAST_WORDS:])
            raise _rejected(f"the validator said no (exit code {code}){': ' if last else ''}{last}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a validator with all that it started."""
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _rejected(message: str) -> InvalidInput:
    return InvalidInput("receipt.validator", f"{message}; no receipt was issued")
