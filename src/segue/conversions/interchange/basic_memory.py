"""Reader of basic-memory notes (section 8.2 of the host facts): observations, relations, and the prose beside them.

An observation's category says what it is; its tags and its context stay in the text. A relation becomes a sentence,
a link in the prose names an entity. Front matter values are text.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, tzinfo
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from segue.conversions.interchange import markdown
from segue.conversions.interchange.item import Found, headed, pieces, strings
from segue.conversions.interchange.sections import sections
from segue.memories.item import LAYER_OF, Item, Kind, Provenance
from segue.memories.source import source_of
from segue.transcripts import moments
from segue.transcripts.conversation import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from segue.conversions.interchange.markdown import Note

_BULLET = r"[ \t]{0,40}[-*+][ \t]+"
_OBSERVATION = re.compile(rf"{_BULLET}\[([^\[\]()\n]{{2,100}}|[^\[\]()\n xX>/?-])\](?![\[(])[ \t]+(\S[^\n]*)")
_CLOCK = re.compile(r"[0-9]{1,2}(?::[0-9]{2}){1,2}")
_TAGGED = re.compile(rf"{_BULLET}([^\n]*(?<!\S)#\w[^\n]*)")
_TAG = re.compile(r"(?<!\S)#([\w][\w/-]{0,60})")
_RELATION = re.compile(
    rf'{_BULLET}(?:"([^"\n]{{1,100}})"|([^\s\[\]"]{{1,100}}))[ \t]+\[\[([^\[\]\n]{{1,300}})\]\]'
    r"[ \t]*(\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\))?[ \t]*$"
)
_LINK = re.compile(r"\[\[([^\[\]\n]{1,300})\]\]")
_FENCE = re.compile(r"[ \t]*(```|~~~)")
_KINDS: dict[str, Kind] = {
    "decision": "decision",
    "preference": "preference",
    "constraint": "constraint",
    "requirement": "constraint",
    "rule": "constraint",
    "question": "question",
    "action": "action",
    "todo": "action",
    "task": "action",
    "next": "action",
    "method": "procedure",
    "technique": "procedure",
    "procedure": "procedure",
    "process": "procedure",
    "style": "style",
    "event": "event",
    "summary": "summary",
    "observation": "observation",
}


_RULES: markdown.Rules = {
    "title": markdown.ANY_TEXT,
    "permalink": markdown.ANY_TEXT,
    "created": markdown.A_TIME,
    "modified": markdown.A_TIME,
}


def is_note(note: Note) -> bool:
    """Whether `note` is written in the way of basic-memory: it has a permalink, observations or relations."""
    if "permalink" in note.head.values:
        return True
    found = [line for line in _outside_code(note.body) if _observation(line) or _RELATION.fullmatch(line)]
    return bool(found) and "type" in note.head.values


def read(path: Path, zone: tzinfo = UTC) -> Iterator[Found]:
    """Yield what the note at `path` holds, or all notes of the folder; `zone` is that of times without one."""
    for found in markdown.notes(path):
        if isinstance(found, Problem):
            yield found
        else:
            yield from _note(found, zone)


def _note(note: Note, zone: tzinfo) -> Iterator[Found]:
    yield from markdown.left_out(note, _RULES)
    title = note.first("title") or PurePosixPath(note.name).stem
    at = moments.from_iso(note.first("created", "modified"), zone)
    prose: list[str] = []
    number = 0
    for line, code in _lines(note.body):
        stated = None if code else _stated(line, title)
        if stated is None:
            prose.append(line)
            continue
        prose.append("")
        content, kind, tags, entities = stated
        for piece in pieces(content):
            yield _item(note, str(number), piece, kind, strings([*note.listed("tags"), *tags]), (title, *entities), at)
            number += 1
    rest = replace(note, body="\n".join(prose))
    for order, section in enumerate(sections(rest.body)):
        headings = section.headings if section.headings[:1] == (title,) else (title, *section.headings)
        heading = markdown.SEPARATOR.join(headings)
        for part, text in enumerate(headed(heading, section.text, "\n\n")):
            links = _links(text[len(heading) :])
            yield _item(note, f"/{order}.{part}", text, "claim", note.listed("tags"), (title, *links), at)


def _stated(line: str, title: str) -> tuple[str, Kind, tuple[str, ...], tuple[str, ...]] | None:
    """Return content, kind, tags and entities of an observation or a relation, or None for any other line."""
    relation = _RELATION.fullmatch(line)
    if relation:
        name, target = relation[1] or relation[2], _target(relation[3])
        context = f" {relation[4]}" if relation[4] else ""
        return f"{title} {name.replace('_', ' ')} {target}{context}", "claim", ("relation",), (target,)
    observation = _observation(line)
    if observation is None:
        return None
    category, text = observation
    kind = _KINDS.get(category.lower(), "claim")
    return text, kind, (category, *_TAG.findall(text)), _links(text)


def _observation(line: str) -> tuple[str, str] | None:
    found = _OBSERVATION.fullmatch(line)
    if found:
        category = found[1].strip()
        return (category, found[2].strip()) if category and not _CLOCK.fullmatch(category) else None
    tagged = _TAGGED.fullmatch(line)
    if tagged and not tagged[1].startswith("["):
        return "Note", tagged[1].strip()
    return None


def _item(
    note: Note, place: str, content: str, kind: Kind, tags: tuple[str, ...], entities: tuple[str, ...], at: str | None
) -> Item:
    return Item(
        content=content,
        kind=kind,
        layer=LAYER_OF[kind],
        tags=tags,
        entities=strings(entities),
        occurred_at=at,
        provenance=Provenance(
            origin="import",
            ref=f"{source_of('basic-memory', note.first('permalink') or note.name)}#{place}",
            author_class="external",
        ),
    )


def _links(text: str) -> tuple[str, ...]:
    return tuple(_target(name) for name in _LINK.findall(text))


def _target(name: str) -> str:
    return name.split("|", 1)[0].strip()


def _outside_code(text: str) -> Iterator[str]:
    return (line for line, code in _lines(text) if not code)


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each line, and whether it stands in fenced code."""
    fence = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if found and not fence:
            fence = found[1]
            yield line, True
        elif found and found[1] == fence:
            fence = ""
            yield line, True
        else:
            yield line, bool(fence)
