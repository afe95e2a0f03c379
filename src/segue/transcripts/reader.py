"""One door to all recorded sessions: the host is told from the first lines."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from segue.base.errors import InvalidInput
from segue.base.files import open_ordinary
from segue.transcripts.claude import ClaudeReader
from segue.transcripts.codex import CodexReader
from segue.transcripts.lines import MAX_LINE, Record, Records, Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from segue.transcripts.events import Event

Host: TypeAlias = Literal["claude-code", "codex"]

_UNDECIDED = 50


class _Reader(Protocol):
    def feed(self, record: Record) -> Iterator[Event]: ...
    def finish(self, skipped: int) -> Iterator[Event]: ...


def read(source: Source, host: Host | None = None, *, max_line: int = MAX_LINE) -> Iterator[Event]:
    """Yield the events of a recorded session: a binary file or an iterable of lines, read once, one line at a time.

    Without `host` the first lines decide; a source that looks like neither host gives no events. Never raises for
    what the lines hold. The last event of a known host is its final `Meta`.
    """
    records = Records(source, max_line)
    stream = iter(records)
    first: list[Record] = []
    while host is None and len(first) < _UNDECIDED:
        record = next(stream, None)
        if record is None:
            return
        first.append(record)
        host = host_of(record)
    if host is None:
        return
    reader: _Reader = ClaudeReader() if host == "claude-code" else CodexReader()
    yield from _events(reader, chain(first, stream))
    yield from reader.finish(records.skipped)


def read_file(path: Path, host: Host | None = None) -> Iterator[Event]:
    """Yield the events of the session in the file at `path`, as `read` does.

    Raises InvalidInput `transcript.read` where the file cannot be read.
    """
    try:
        with open_ordinary(path) as file:
            yield from read(file, host)
    except OSError as error:
        raise InvalidInput("transcript.read", f"cannot read {path}: {error.strerror or error}") from None


def host_of(record: Record) -> Host | None:
    """Return the host that wrote `record`, or None where it could be anyone's."""
    if isinstance(record.get("payload"), dict) and isinstance(record.get("type"), str):
        return "codex"
    if isinstance(record.get("sessionId"), str) or isinstance(record.get("message"), dict) or "leafUuid" in record:
        return "claude-code"
    if _flat_head(record) or (record.get("type") == "message" and isinstance(record.get("role"), str)):
        return "codex"
    return None


def _flat_head(record: Record) -> bool:
    return "type" not in record and isinstance(record.get("id"), str) and isinstance(record.get("timestamp"), str)


def _events(reader: _Reader, records: Iterable[Record]) -> Iterator[Event]:
    for record in records:
        yield from reader.feed(record)
