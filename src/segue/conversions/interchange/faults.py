"""Why nothing in a file or folder is known: what stands against the first part of it that should hold something."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from segue.conversions.interchange import source
from segue.transcripts.archives import BROKEN, Part, parts
from segue.transcripts.conversation import Problem
from segue.transcripts.elements import Elements
from segue.transcripts.lines import BOM

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LOOKED_AT = 20
_JSON = (b"[", b"{")


def fault_of(path: Path) -> Problem | None:
    """Return what stands against what lies at `path`, in which no format was found; None where nothing does.

    Raises InvalidInput `transcript.read` where it cannot be read.
    """
    return next(_faults(path), None)


def _faults(path: Path) -> Iterator[Problem]:
    count = 0
    for count, part in enumerate(parts(path), 1):  # noqa: B007 - it is asked for below
        fault = _against(part) if isinstance(part, Part) else part
        if fault is not None:
            yield fault
    if path.is_dir() or path.name.lower().endswith(source.TEXTS):
        yield from _of_texts(path)
    elif count == 0:  # a file is a part, so this is an archive
        yield Problem("import.empty", "the archive holds no file of an export", path.name)


def _against(part: Part) -> Problem | None:
    try:
        head = part.head()
        if not head:
            return Problem("import.empty", "it is empty", part.name)
        if part.is_utf16():
            return Problem("import.read", "it is UTF-16; save it as UTF-8", part.name)
        return _in_json(part) if head.removeprefix(BOM).lstrip().startswith(_JSON) else None
    except BROKEN as error:
        return Problem("import.read", f"it cannot be read: {str(error)[:200]}", part.name)


def _in_json(part: Part) -> Problem | None:
    """What is wrong with the first elements of a JSON file; whole ones are only unknown."""
    element = None
    for element in islice(Elements(part.file, source.LISTS), _LOOKED_AT):
        if element.value is None:
            return Problem("import.element", element.fault, part.name, index=element.index)
    return None if element else Problem("import.empty", "its list is empty", part.name)


def _of_texts(path: Path) -> Iterator[Problem]:
    for found in islice(source.markdown_files(path), _LOOKED_AT):
        if isinstance(found, Problem):
            yield found
            continue
        name, file = found
        text = source.text_of(file, name)
        if isinstance(text, Problem):
            yield text
