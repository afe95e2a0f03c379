"""Markdown folders and basic-memory notes."""

from __future__ import annotations

from datetime import timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from segue.conversions.interchange import basic_memory, markdown, source
from segue.memories.item import Item
from segue.transcripts.conversation import Problem

if TYPE_CHECKING:
    from pathlib import Path

OSLO = timezone(timedelta(hours=2))


def put(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def read(path: Path) -> list[Item]:
    return [item for item in markdown.read(path) if isinstance(item, Item)]


def noted(path: Path) -> list[Item]:
    return [item for item in basic_memory.read(path, OSLO) if isinstance(item, Item)]


def test_each_section_is_an_item_that_names_its_way(tmp_path: Path) -> None:
    text = (
        "Before.\n\n# Bread\n\n## Rye\n\nKeeps.\n\n```sh\n# no heading\n```\n\n## Empty\n\n### Deep\n\nDeeper.\n\n"
        "Wheat\n=====\n\n> # quoted\n"
    )
    assert [(item.content, item.provenance.ref) for item in read(put(tmp_path, "a.md", text))] == [
        ("Before.", "markdown:a.md#0"),
        ("Bread › Rye\n\nKeeps.\n\n```sh\n# no heading\n```", "markdown:a.md#1"),
        ("Bread › Empty › Deep\n\nDeeper.", "markdown:a.md#2"),
        ("Wheat\n\n> # quoted", "markdown:a.md#3"),
    ]


def test_front_matter_says_what_the_items_are(tmp_path: Path) -> None:
    text = (
        "---\ntitle: Bread\ntags: '#rye, food'\nkind: decision\nproject: shop\nentities: [Ana]\nconfidence: high\n"
        "source: https://example.org/a\nauthor: Ana\ndate: 2026-09-01\n---\n# Bread\n\nRye it is.\n"
    )
    found = list(markdown.read(put(tmp_path, "a.md", text), OSLO))
    (item,) = found
    assert isinstance(item, Item)
    assert (item.content, item.kind, item.layer, item.tags) == (
        "Bread\n\nRye it is.",
        "decision",
        "decision",
        ("rye", "food"),
    )
    assert (item.project, item.entities, item.confidence) == ("shop", ("Ana",), 0.9)
    assert item.occurred_at == "2026-08-31T22:00:00Z"
    assert (item.provenance.url, item.provenance.author) == ("https://example.org/a", "Ana")
    assert item.provenance.author_class == "user"


def test_a_folder_is_read_in_order_without_what_is_hidden_or_linked(tmp_path: Path) -> None:
    put(tmp_path, "b/two.md", "Two.")
    put(tmp_path, "a.markdown", "One.")
    put(tmp_path, ".obsidian/x.md", "Hidden.")
    put(tmp_path, "node_modules/p/readme.md", "Foreign.")
    put(tmp_path, "c.txt", "Other.")
    (tmp_path / "link.md").symlink_to(tmp_path / "a.markdown")
    assert [item.content for item in read(tmp_path)] == ["One.", "Two."]


def test_faults_of_single_files_are_problems(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "---\na: [1\n---\nStill read.\n")
    put(tmp_path, "b.md", "x" * (source.MAX_TEXT + 1))
    put(tmp_path, "c.md", "Text.".encode("utf-16"))
    put(tmp_path, "d.md", b"caf\xe9\r\nau lait")
    found = list(markdown.read(tmp_path))
    assert [item.place for item in found if isinstance(item, Problem)] == ["a.md:3", "b.md", "c.md"]
    assert [item.content for item in found if isinstance(item, Item)] == ["Still read.", "caf\ufffd\nau lait"]
    (missing,) = markdown.read(tmp_path / "none.md")
    assert isinstance(missing, Problem)


def test_a_capsule_in_a_note_is_left_out(tmp_path: Path) -> None:
    path = put(tmp_path, "a.md", "Mine.\n\n===PCSF:v1===\nMETA: a | b | DEEP | 2026-09-01T08:00Z\n===END===\n")
    assert [item.content for item in read(path)] == ["Mine."]


NOTE = """\
---
title: Rye
type: note
tags: [bread]
permalink: notes/rye
created: 2026-09-01
---
# Rye

Prose about [[Sour Dough|dough]].

## Observations
- [decision] We bake rye #rye/dark (since 2025)
- [x] a task
- [/] half a task
- [00:11] a time
- [link](https://example.org) is no observation
- [[Wiki]] neither
- plain item with a #tag
- [custom kind] something with [[Oven]]

```
- [decision] in code
```

## Relations
- part_of [[Bakery]] (main (one))
- "bakes with" [[Oven]]
- part_of [[Bakery]] and more
"""


def test_observations_relations_and_prose(tmp_path: Path) -> None:
    items = noted(put(tmp_path, "rye.md", NOTE))
    assert [(item.content, item.kind, item.tags, item.entities) for item in items[:5]] == [
        ("We bake rye #rye/dark (since 2025)", "decision", ("bread", "decision", "rye/dark"), ("Rye",)),
        ("plain item with a #tag", "claim", ("bread", "Note", "tag"), ("Rye",)),
        ("something with [[Oven]]", "claim", ("bread", "custom kind"), ("Rye", "Oven")),
        ("Rye part of Bakery (main (one))", "claim", ("bread", "relation"), ("Rye", "Bakery")),
        ("Rye bakes with Oven", "claim", ("bread", "relation"), ("Rye", "Oven")),
    ]
    prose = items[5:]
    assert prose[0].content == "Rye\n\nProse about [[Sour Dough|dough]]."
    assert prose[0].entities == ("Rye", "Sour Dough")
    assert "- [x] a task" in prose[1].content
    assert "- [decision] in code" in prose[1].content
    assert prose[2].content == "Rye › Relations\n\n- part_of [[Bakery]] and more"
    assert {item.occurred_at for item in items} == {"2026-08-31T22:00:00Z"}
    assert items[0].provenance.ref == "basic-memory:notes/rye#0"
    assert len({item.provenance.ref for item in items}) == len(items)


def test_a_note_without_head_is_named_after_its_file(tmp_path: Path) -> None:
    (item,) = noted(put(tmp_path, "sub/dough.md", "- [tip] Rest it.\n"))
    assert (item.entities, item.provenance.ref) == (("dough",), "basic-memory:dough.md#0")


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("---\npermalink: a\n---\nx", True),
        ("---\ntype: note\n---\n- [tip] x", True),
        ("---\ntype: note\n---\n- [x] x", False),
        ("- [tip] x", False),
        ("---\ntype: note\n---\n```\n- [tip] x\n```", False),
    ],
)
def test_what_makes_a_note_of_basic_memory(tmp_path: Path, text: str, holds: bool) -> None:
    (note,) = markdown.notes(put(tmp_path, "a.md", text))
    assert isinstance(note, markdown.Note)
    assert basic_memory.is_note(note) is holds
