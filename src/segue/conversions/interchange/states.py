"""Readers of packet and capsule files, for the items that `segue.conversions.memories` makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segue.base.errors import InvalidInput
from segue.base.files import read_bytes
from segue.capsules import clean, parse
from segue.conversions import memories
from segue.conversions.interchange import source
from segue.packets.checking import check
from segue.packets.model import MAX_BYTES
from segue.transcripts.conversation import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from segue.conversions.interchange.item import Found

_LONGEST_CAPSULE = 64 * 1024


def read_packet(path: Path) -> Iterator[Found]:
    """Yield the items of the packet in the file at `path`, or what its schema has against it."""
    try:
        report = check(read_bytes(path, MAX_BYTES))
    except InvalidInput as error:
        yield Problem("import.read", error.message, path.name)
        return
    if report.packet is None:
        for wrong in report.errors:
            message = f"{wrong.path}: {wrong.message}" if wrong.path else wrong.message
            yield Problem("import.value", message, path.name)
        return
    yield from memories.from_packet(report.packet)


def read_capsule(path: Path) -> Iterator[Found]:
    """Yield the items of the capsule in the file at `path`, or the rule that it breaks."""
    text = source.text_of(path, path.name, _LONGEST_CAPSULE)
    if isinstance(text, Problem):
        yield text
        return
    try:
        yield from memories.from_capsule(parse(clean(text).text))
    except InvalidInput as error:
        yield Problem("import.value", error.message, path.name)
