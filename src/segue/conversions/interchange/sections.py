"""A Markdown text cut into its sections. Headings are found as CommonMark says: none inside code or quotes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Section:
    """What stands below one heading and above the next; `line` counts from 1, `headings` are the way down to it."""

    headings: tuple[str, ...]
    text: str
    line: int


def sections(text: str) -> Iterator[Section]:
    """Yield the sections of `text` that hold more than their heading."""
    lines = text.split("\n")
    path: list[tuple[int, str]] = []
    start = 0
    for level, title, begins, ends in _headings(text):
        yield from _section(path, lines, start, begins)
        path = [item for item in path if item[0] < level]
        path.append((level, title))
        start = ends
    yield from _section(path, lines, start, len(lines))


def _section(path: list[tuple[int, str]], lines: list[str], start: int, end: int) -> Iterator[Section]:
    body = lines[start:end]
    blank = next((number for number, line in enumerate(body) if line.strip()), None)
    if blank is not None:
        headings = tuple(title for _, title in path if title)
        yield Section(headings, "\n".join(body[blank:]).rstrip(), start + blank + 1)


def _headings(text: str) -> Iterator[tuple[int, str, int, int]]:
    """Yield level, title, first line and line after, of each heading that stands in nothing else."""
    tokens = MarkdownIt("commonmark").disable("inline").parse(text)
    for number, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            title = tokens[number + 1].content.strip() if number + 1 < len(tokens) else ""
            yield int(token.tag[1:]), " ".join(title.split()), token.map[0], token.map[1]
