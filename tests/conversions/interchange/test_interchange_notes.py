"""Markdown folders and basic-memory notes."""

from __future__ import annotations

from datetime import timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from segue.conversions.interchange import basic_memory, markdown, source
from segue.conversions.interchange.formats import read_items
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
    assert [item.place for item in found if isinstance(item, Problem)] == ["a.md:3", "b.md", "c.md", "d.md:1"]
    assert [item.content for item in found if isinstance(item, Item)] == ["Still read.", "caf\ufffd\nau lait"]
    (missing,) = markdown.read(tmp_path / "none.md")
    assert isinstance(missing, Problem)


@pytest.mark.parametrize("data", [b"Rye\ncaf\xe9", b"Rye\n\xe2\x82", b"Rye\n\xed\xa0\x80"])
def test_bytes_that_are_no_utf_8_are_said_once(tmp_path: Path, data: bytes) -> None:
    problem, item = markdown.read(put(tmp_path, "a.md", data))
    assert isinstance(problem, Problem)
    assert (problem.code, problem.place) == ("import.value", "a.md:2")
    assert "UTF-8" in problem.message
    assert isinstance(item, Item)
    assert item.content.startswith("Rye\n")
    assert "\ufffd" in item.content
    (written,) = markdown.read(put(tmp_path, "b.md", "Written so: \ufffd"))
    assert isinstance(written, Item)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.md", b"---\nid: 1\n---\ncaf\xe9\n"),
        ("a.md", b"---\npermalink: a\n---\ncaf\xe9\n"),
    ],
    ids=["mem0", "basic-memory"],
)
def test_bytes_that_are_no_utf_8_are_said_of_every_text(tmp_path: Path, name: str, data: bytes) -> None:
    problem, *items = read_items(put(tmp_path, name, data))
    assert isinstance(problem, Problem)
    assert "UTF-8" in problem.message
    assert any(isinstance(item, Item) and "caf\ufffd" in item.content for item in items)


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("kind: nonsense", "kind 'nonsense' is none of claim, "),
        ("kind: [claim]", "kind is no single text"),
        ("layer: nonsense", "layer 'nonsense' is none of semantic, "),
        ("confidence: 99", "confidence '99' is no number from 0 to 1"),
        ("date: not a date", "date 'not a date' is no date or time"),
        ("created: tomorrow", "created 'tomorrow' is no date or time"),
        ("url: javascript:alert(1)", "url 'javascript:alert(1)' is no address that begins with http:// or https://"),
        ("project: [x]", "project is no single text"),
        ("author: {name: x}", "author is no single text"),
        ("title: [x]", "title is no single text"),
    ],
)
def test_a_value_that_is_left_out_is_said(tmp_path: Path, head: str, said: str) -> None:
    problem, item = markdown.read(put(tmp_path, "a.md", f"---\n{head}\n---\nRye.\n"))
    assert isinstance(problem, Problem)
    assert problem.code == "import.value"
    assert f"left out: {said}" in problem.message
    assert [item] == read(put(tmp_path, "a.md", "Rye.\n"))


def test_all_that_is_left_out_of_a_note_is_one_problem(tmp_path: Path) -> None:
    secret = "AK" + "IA" + "Q7Z2" * 4
    head = f"kind: x\nconfidence: -1\ndate: {secret}"
    text = f"---\n{head}\n---\n# A\n\nRye.\n\n# B\n\nOats.\n"
    problem, *items = markdown.read(put(tmp_path, "a.md", text))
    assert isinstance(problem, Problem)
    assert [problem.message.count(f"{each} '") for each in ("kind", "confidence", "date")] == [1, 1, 1]
    assert secret not in problem.message
    assert len(items) == 2


@pytest.mark.parametrize(
    "head",
    ["kind: decision", "type: note", "source: A book", "confidence: High", "kind:", "date: 2026-09-01", "x: [1]"],
)
def test_of_a_head_that_is_in_order_nothing_is_said(tmp_path: Path, head: str) -> None:
    assert len(list(markdown.read(put(tmp_path, "a.md", f"---\n{head}\n---\nRye.\n")))) == 1


def test_a_url_counts_beside_a_source_in_words(tmp_path: Path) -> None:
    (item,) = read(put(tmp_path, "a.md", "---\nsource: A book\nurl: https://example.org/rye\n---\nRye.\n"))
    assert item.provenance.url == "https://example.org/rye"


def test_a_note_of_basic_memory_says_what_is_left_out(tmp_path: Path) -> None:
    head = "permalink: a\ncreated: some day\nkind: whatever"
    problem, *_ = basic_memory.read(put(tmp_path, "a.md", f"---\n{head}\n---\n- [fact] Rye.\n"), OSLO)
    assert isinstance(problem, Problem)
    assert problem.message.endswith("left out: created 'some day' is no date or time")


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
