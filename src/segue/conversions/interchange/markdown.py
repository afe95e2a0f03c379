"""Reader of plain Markdown: each section of a note is one item, a note without headings is one as a whole.

An item's content begins with the way to it (`Title › Heading`), so that it can be understood by itself. Front matter
is optional; of it count `title`, `tags`, `kind`, `layer`, `project`, `entities`, `confidence`, `source` or `url`,
`author`, and `date` or `created`. Without a `kind` each item is a claim.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any

from segue.base import frontmatter, redaction
from segue.conversions.interchange import source
from segue.conversions.interchange.item import Found, fraction, headed, kind_of, string, strings
from segue.conversions.interchange.sections import sections
from segue.memories.item import KINDS, LAYER_OF, LAYERS, Item, Kind, Provenance
from segue.memories.source import source_of
from segue.transcripts import moments
from segue.transcripts.conversation import Problem
from segue.transcripts.own import without_own

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SEPARATOR = " › "

_URL = re.compile(r"https?://[^\s<>\"]{1,2000}")


Rules = dict[str, tuple[Callable[[str], object], str]]

ANY_TEXT: tuple[Callable[[str], object], str] = (bool, "")
A_TIME: tuple[Callable[[str], object], str] = (moments.from_iso, "no date or time")
# By key whether a text fits, and what one that does not is. A `type` or a `source` may say anything: it counts or not.
_RULES: Rules = {
    "title": ANY_TEXT,
    "kind": (KINDS.__contains__, f"none of {', '.join(KINDS)}"),
    "layer": (LAYERS.__contains__, f"none of {', '.join(LAYERS)}"),
    "confidence": (lambda text: fraction(text) is not None, "no number from 0 to 1"),
    "date": A_TIME,
    "created": A_TIME,
    "url": (_URL.fullmatch, "no address that begins with http:// or https://"),
    "project": ANY_TEXT,
    "author": ANY_TEXT,
}


@dataclass(frozen=True, slots=True)
class Note:
    """A note as it was read: its name in the folder, its head, and the text below."""

    name: str
    head: frontmatter.FrontMatter
    body: str

    def first(self, *keys: str) -> str:
        """The first of the values under `keys` that is text and not empty."""
        return next((text for key in keys if (text := string(self.head.values.get(key)))), "")

    def listed(self, key: str) -> tuple[str, ...]:
        """The texts of a list, or of a text with commas; a leading `#` is no part of them."""
        value: Any = self.head.values.get(key)
        if isinstance(value, str):
            value = value.split(",")
        return strings([item.strip().lstrip("#") for item in value if isinstance(item, str)]) if value else ()


def read(path: Path, zone: tzinfo = UTC) -> Iterator[Found]:
    """Yield the sections of the Markdown file at `path`, or of all that lie in the folder; `zone` is of naive times."""
    for found in notes(path):
        if isinstance(found, Problem):
            yield found
        else:
            yield from _note(found, zone)


def notes(path: Path) -> Iterator[Note | Problem]:
    """Yield the notes at `path`. A head that cannot be read is a Problem; the text below it is read all the same."""
    for found in source.markdown_files(path):
        if isinstance(found, Problem):
            yield found
            continue
        name, file = found
        given = source.decoded(file, name)
        if isinstance(given, Problem):
            yield given
            continue
        text, fault = given
        yield from [fault] if fault else []
        head = frontmatter.split(text)
        if head.fault:
            yield Problem("import.value", f"its front matter is left out: {head.fault}", name, line=head.fault_line)
        yield Note(name, head, without_own(head.body))


def left_out(note: Note, rules: Rules) -> Iterator[Problem]:
    """Say, once for a note, which values of its head are left out since they break one of `rules`."""
    faults = []
    for key, (fits, otherwise) in rules.items():
        value = note.head.values.get(key, "")
        if isinstance(value, str) and value.strip() and not fits(value.strip()):
            faults.append(f"{key} '{redaction.shown(value.strip(), 40)}' is {otherwise}")
        elif value and not isinstance(value, str):
            faults.append(f"{key} is no single text")
    if faults:
        yield Problem("import.value", f"values of its front matter are left out: {'; '.join(faults)}", note.name)


def _note(note: Note, zone: tzinfo) -> Iterator[Found]:
    yield from left_out(note, _RULES)
    title = note.first("title")
    kind = kind_of(note.first("kind", "type"))
    for number, section in enumerate(sections(note.body)):
        headings = section.headings if section.headings[:1] == (title,) else (title, *section.headings)
        yield from items(note, number, SEPARATOR.join(filter(None, headings)), section.text, kind, zone)


def items(note: Note, number: int, heading: str, text: str, kind: Kind, zone: tzinfo) -> Iterator[Item]:
    """Yield a section of `note` as items: one, or several where it is long."""
    layer = next((item for item in LAYERS if item == note.first("layer")), LAYER_OF[kind])
    url = next(filter(_URL.fullmatch, (note.first("source"), note.first("url"))), "")
    for order, content in enumerate(headed(heading, text, "\n\n")):
        ref = f"{source_of('markdown', note.name)}#{number}"
        yield Item(
            content=content,
            kind=kind,
            layer=layer,
            entities=note.listed("entities"),
            tags=note.listed("tags"),
            project=note.first("project"),
            occurred_at=moments.from_iso(note.first("date", "created"), zone),
            confidence=fraction(note.first("confidence")),
            provenance=Provenance(
                origin="import",
                ref=f"{ref}.{order}" if order else ref,
                url=url,
                author_class="user",
                author=note.first("author"),
            ),
        )
