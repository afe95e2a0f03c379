"""Reader of plain Markdown: each section of a note is one item, a note without headings is one as a whole.

An item's content begins with the way to it (`Title › Heading`), so that it can be understood by itself. Front matter
is optional; of it count `title`, `tags`, `kind`, `layer`, `project`, `entities`, `confidence`, `source` or `url`,
`author`, and `date` or `created`. Without a `kind` each item is a claim.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any

from segue.conversions.interchange import frontmatter, source
from segue.conversions.interchange.item import Found, fraction, headed, in_ref, kind_of, string, strings
from segue.conversions.interchange.sections import sections
from segue.memories.item import LAYER_OF, LAYERS, Item, Kind, Provenance
from segue.transcripts import moments
from segue.transcripts.conversation import Problem
from segue.transcripts.own import without_own

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SEPARATOR = " › "

_URL = re.compile(r"https?://[^\s<>\"]{1,2000}")


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
        text = source.text_of(file, name)
        if isinstance(text, Problem):
            yield text
            continue
        head = frontmatter.split(text)
        if head.fault:
            yield Problem("import.value", f"its front matter is left out: {head.fault}", name, line=head.fault_line)
        yield Note(name, head, without_own(head.body))


def _note(note: Note, zone: tzinfo) -> Iterator[Found]:
    title = note.first("title")
    kind = kind_of(note.first("kind", "type"))
    for number, section in enumerate(sections(note.body)):
        headings = section.headings if section.headings[:1] == (title,) else (title, *section.headings)
        yield from items(note, number, SEPARATOR.join(filter(None, headings)), section.text, kind, zone)


def items(note: Note, number: int, heading: str, text: str, kind: Kind, zone: tzinfo) -> Iterator[Item]:
    """Yield a section of `note` as items: one, or several where it is long."""
    layer = next((item for item in LAYERS if item == note.first("layer")), LAYER_OF[kind])
    url = _URL.fullmatch(note.first("source", "url"))
    for order, content in enumerate(headed(heading, text, "\n\n")):
        ref = f"markdown:{in_ref(note.name)}#{number}"
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
                url=url[0] if url else "",
                author_class="user",
                author=note.first("author"),
            ),
        )
