"""One door to all conversations that people bring along: exports of ChatGPT and Claude.ai, sessions of agents."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, Literal, TypeAlias

from segue.transcripts import archives, chatgpt, claude_export, moments, sessions
from segue.transcripts.archives import Part, parts
from segue.transcripts.conversation import Note, Problem, not_utf8
from segue.transcripts.elements import Elements
from segue.transcripts.lines import Records
from segue.transcripts.reader import host_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from segue.transcripts.conversation import Read
    from segue.transcripts.elements import Element
    from segue.transcripts.lines import Record
    from segue.transcripts.reader import Host

Vendor: TypeAlias = "Host | Literal['chatgpt', 'claude']"
OnProgress: TypeAlias = "Callable[[int, int], None]"

_KEYS = ("conversations",)
_HEAD = 50
_STEP = 1_000_000


def read_conversations(path: Path, on_progress: OnProgress | None = None) -> Iterator[Read]:
    """Yield the conversations and notes at `path`, and a Problem for whatever was passed over; one after another.

    `path` is a file, a zip archive or a folder (sections 1.1, 4.4, 6 and 7 of the host facts); a file is told by its
    content. Of conversations that stand in several files the one with the newest update is taken, so exports are read
    twice. A note that repeats word for word comes once. `on_progress` is told how many bytes of how many were read.

    Raises InvalidInput `transcript.read` where `path` cannot be read; nothing for what it holds.
    """
    newest, total = _survey(path)
    said: set[bytes] = set()
    done = ordinal = 0
    for part in parts(path):
        if isinstance(part, Problem):
            yield part
            continue
        try:
            for read in _of_part(part, _Counted(part.file, on_progress, done, total), newest, ordinal):
                if not _repeats(read, said):
                    yield read
        except archives.BROKEN as error:
            yield Problem("import.read", f"the rest of it cannot be read: {str(error)[:200]}", part.name)
        ordinal += 1
        done += part.size
        if on_progress is not None:
            on_progress(done, total)


def vendor_of(part: Part) -> Vendor | None:
    """Return who wrote the export or session that `part` is, or None; its file is read up to the first sign."""
    host = host_of_part(part)
    if host is not None:
        return host
    with suppress(*archives.BROKEN):
        for element in islice(Elements(part.file, _KEYS), _HEAD):
            vendor = None if element.value is None else export_of(element.value)
            if vendor is not None:
                return vendor
    return None


def export_of(value: Record) -> Literal["chatgpt", "claude"] | None:
    """Return whose export the object `value` stands in, or None."""
    if chatgpt.is_conversation(value):
        return "chatgpt"
    return "claude" if claude_export.is_ours(value) else None


class _Places(dict[str, tuple[int, int, int]]):
    """For each conversation its newest update and where that stands: which part, which element."""

    def add(self, value: Record, part: int, element: int) -> None:
        name, updated = _identity(value)
        known = self.get(name)
        if known is None or updated > known[0]:
            self[name] = (updated, part, element)

    def holds(self, value: Record, part: int, element: int) -> bool:
        known = self.get(_identity(value)[0])
        return known is None or known[1:] == (part, element)


class _Counted:
    """A file that tells how far it was read, now and then."""

    def __init__(self, file: IO[bytes], on_progress: OnProgress | None, before: int, total: int) -> None:
        self._file = file
        self._on_progress = on_progress
        self._done = before
        self._told = before
        self._total = total

    def read(self, size: int = -1) -> bytes:
        return self._count(self._file.read(size))

    def readline(self, size: int = -1) -> bytes:
        return self._count(self._file.readline(size))

    def _count(self, data: bytes) -> bytes:
        self._done += len(data)
        if self._on_progress is not None and self._done - self._told >= _STEP:
            self._told = self._done
            self._on_progress(self._done, self._total)
        return data


def _survey(path: Path) -> tuple[_Places, int]:
    """Read what is an export once, for the places of the conversations, and add up the sizes."""
    places, total, ordinal = _Places(), 0, 0
    for part in parts(path):
        if isinstance(part, Problem):
            continue
        total += part.size
        with suppress(*archives.BROKEN):  # it is said when the part is read
            if not _is_session(part) and not part.is_utf16():
                for element in Elements(part.file, _KEYS):
                    if element.value is not None and export_of(element.value):
                        places.add(element.value, ordinal, element.index)
        ordinal += 1
    return places, total


def _of_part(part: Part, file: Any, places: _Places, ordinal: int) -> Iterator[Read]:
    if part.is_utf16():
        yield Problem("import.read", "it is UTF-16; save it as UTF-8", part.name)
    elif _is_session(part):
        yield from sessions.read(file, part.name)
    else:
        said = False
        for element in Elements(file, _KEYS):
            if element.mended and not said:
                said = True
                yield not_utf8(part.name, index=element.index)
            problem = _against(element)
            if problem:
                yield Problem("import.element", problem, part.name, index=element.index)
            elif element.value is not None and places.holds(element.value, ordinal, element.index):
                reader = chatgpt if chatgpt.is_conversation(element.value) else claude_export
                yield from reader.read(element.value, part.name, element.index)
        while file.read(_STEP):  # an archive says at the end whether what it gave was damaged
            pass


def _against(element: Element) -> str:
    """Say what stands against an element; empty where nothing does."""
    value = element.value
    if value is None:
        return element.fault
    if isinstance(value.get("data_files"), list) and "total_files" in value:
        return "it only lists the archives of an export; download them and give their folder"
    return "" if export_of(value) else "it is nothing that an export holds"


def _is_session(part: Part) -> bool:
    return _host(part) is not None or part.name.lower().endswith(".jsonl")


def host_of_part(part: Part) -> Host | None:
    """Return the agent host whose session `part` is, by its first lines, or None; its file stays where it is."""
    with suppress(*archives.BROKEN):
        return _host(part)
    return None


def _host(part: Part) -> Host | None:
    for record in islice(Records(part.head().split(b"\n")), _HEAD):
        host = host_of(record)
        if host is not None and export_of(record) is None:
            return host
    return None


def _identity(value: Record) -> tuple[str, int]:
    if chatgpt.is_conversation(value):
        updated = moments.from_epoch(value.get("update_time"))
        return f"chatgpt {chatgpt.identity(value)}", moments.microseconds(updated)
    name = value.get("uuid") or value.get("account_uuid")
    return f"claude {name}", moments.microseconds(moments.from_iso(value.get("updated_at")))


def _repeats(read: Read, said: set[bytes]) -> bool:
    if not isinstance(read, Note):
        return False
    known = hashlib.blake2b(f"{read.origin} {read.kind} {read.text}".encode(), digest_size=16).digest()
    if known in said:
        return True
    said.add(known)
    return False
