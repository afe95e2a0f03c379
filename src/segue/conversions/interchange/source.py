"""What the readers of interchange files have in common: opening, limits, and the text of a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from segue.base.errors import InvalidInput
from segue.base.files import open_ordinary, read_bytes
from segue.transcripts.conversation import Problem, not_utf8
from segue.transcripts.elements import Elements

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from segue.transcripts.elements import Element

MAX_TEXT = 4 * 1024 * 1024
MAX_JSON = 32 * 1024 * 1024
MAX_FILES = 100_000
LISTS = ("conversations", "memories", "results")  # the keys under which the list of a JSON file may stand
TEXTS = (".md", ".markdown", ".txt")

_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_MARKDOWN = (".md", ".markdown")
_SKIPPED = {"node_modules", "__pycache__"}


def text_of(path: Path, name: str, limit: int = MAX_TEXT) -> str | Problem:
    """Return the text of a file, bad bytes replaced and line ends as `\\n`; a Problem where it is none or too long."""
    found = decoded(path, name, limit)
    return found if isinstance(found, Problem) else found[0]


def decoded(path: Path, name: str, limit: int = MAX_TEXT) -> tuple[str, Problem | None] | Problem:
    """Return what `text_of` does, the text with a Problem beside it where bytes of it had to be replaced."""
    try:
        data = read_bytes(path, limit)
    except InvalidInput as error:
        return Problem("import.read", error.message, name)
    if len(data) > limit:
        return Problem("import.limit", f"it is longer than {limit:,} bytes; split it", name)
    if data.startswith(_UTF16):
        return Problem("import.read", "it is UTF-16; save it as UTF-8", name)
    fault = None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        fault = not_utf8(name, line=line)
        text = data.decode("utf-8", "replace")
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"), fault


def elements(path: Path, *keys: str, name: str = "") -> Iterator[Element | Problem]:
    """Yield the elements of the JSON file at `path`: of its list, or of the list under one of `keys`."""
    try:
        with open_ordinary(path) as file:
            said = False
            for element in Elements(file, keys):
                if element.mended and not said:
                    said = True
                    yield not_utf8(name or path.name, index=element.index)
                if element.value is None:
                    yield Problem("import.element", element.fault, name or path.name, index=element.index)
                else:
                    yield element
    except (OSError, ValueError) as error:
        yield Problem("import.read", f"it cannot be read: {error}", name or path.name)


def markdown_files(path: Path) -> Iterator[tuple[str, Path] | Problem]:
    """Yield name and path of the Markdown files in a folder, or of the one file that `path` is.

    Hidden folders, links, and the folders of package managers are left out.
    """
    if not path.is_dir():
        yield path.name, path
        return
    count = 0
    for here, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        for name in sorted(files):
            file = Path(here, name)
            if not name.lower().endswith(_MARKDOWN) or name.startswith(".") or file.is_symlink():
                continue
            count += 1
            if count > MAX_FILES:
                yield Problem("import.limit", f"the folder holds more than {MAX_FILES:,} notes", path.name)
                return
            yield file.relative_to(path).as_posix(), file


def single(path: Path, names: Sequence[str]) -> Path:
    """Return the file of one of `names` in the folder `path`, or `path` itself where it is a file."""
    if not path.is_dir():
        return path
    return next((path / name for name in names if (path / name).is_file()), path / names[0])
