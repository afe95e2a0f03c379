"""The record: its front matter as text, and everything that is wrong with one, with its line."""

from __future__ import annotations

import hashlib
import json
from typing import get_args

import pytest

from segue.base.errors import InvalidInput, Refused
from segue.memories.item import Kind
from segue.sources import moments, record
from segue.sources.limits import DEFAULT, Limits
from segue.sources.manifest import Entry
from segue.sources.record import KEYS, KINDS, Record

ENTRY = Entry(path="records/a.md")


def read(text: str, entry: Entry = ENTRY) -> Record:
    return record.read(entry, text.encode(), DEFAULT)


@pytest.mark.requirement("sources-record")
def test_every_key_of_a_record() -> None:
    text = (
        "---\nid: test-command\ntitle: How to test\nkind: procedure\nscope: team\nproject: Ledger\n"
        "tags: [ci, 'a, b']\nentities: pytest, uv\ncreated: 2026-05-26\nupdated: 2026-05-26T10:00:00+02:00\n"
        "occurred_at: 2026-05-25T08:00:00.5Z\nconfidence: high\nsupersedes: [old, older]\nexpires: 2027-01-01\n"
        "source: https://example.org/wiki\nhue: {a: [no]}\n---\n\nRun `make test`.\n"
    )
    data = text.encode()
    assert record.read(ENTRY, data, DEFAULT) == Record(
        id="test-command",
        path="records/a.md",
        sha256=hashlib.sha256(data).hexdigest(),
        bytes=len(data),
        body="\nRun `make test`.\n",
        title="How to test",
        kind="procedure",
        scope="team",
        project="Ledger",
        tags=("ci", "a, b"),
        entities=("pytest", "uv"),
        created="2026-05-26",
        updated="2026-05-26T10:00:00+02:00",
        occurred_at="2026-05-25T08:00:00.5Z",
        confidence=0.9,
        supersedes=("old", "older"),
        expires="2027-01-01",
        source="https://example.org/wiki",
        unknown={"hue": {"a": ["no"]}},
    )


@pytest.mark.requirement("sources-front-matter")
@pytest.mark.parametrize("value", ["no", "017", "12:30:45", "2026-05-26", "~", "null", "1.10", "0x1F", "true", "1e3"])
def test_strings_stay_strings(value: str) -> None:
    found = read(f"---\ntitle: {value}\nproject: '{value}'\ntags: [{value}]\nmore: {value}\n---\nx")
    assert (found.title, found.project, found.tags) == (value, value, (value,))
    assert found.unknown == {"more": value}


def test_a_record_without_front_matter() -> None:
    found = read("# Heading\n\nText.\n", Entry(path="notes/plain.v2.md", title="Given"))
    assert (found.id, found.title, found.body, found.kind) == ("plain.v2", "Given", "# Heading\n\nText.\n", "")


@pytest.mark.requirement("sources-ids")
def test_where_the_id_is_from() -> None:
    assert read("x", Entry(path="r/one.md", id="given")).id == "given"
    assert read("---\nid: own\n---\nx", Entry(path="r/one.md")).id == "own"
    assert read("---\nid: given\n---\nx", Entry(path="r/one.md", id="given")).id == "given"
    assert read("x", Entry(path="r/one.md")).id == "one"


@pytest.mark.requirement("sources-confidence")
@pytest.mark.parametrize(
    ("text", "value"),
    [("low", 0.3), ("medium", 0.6), ("high", 0.9), ("0", 0.0), ("1", 1.0), ("1.0", 1.0), ("0.75", 0.75), (".5", 0.5)],
)
def test_confidence(text: str, value: float) -> None:
    assert read(f"---\nconfidence: {text}\n---\nx").confidence == value


@pytest.mark.requirement("sources-front-matter")
@pytest.mark.requirement("sources-record")
@pytest.mark.parametrize(
    ("head", "rule", "line"),
    [
        ("title: a: b", "record.front_matter", 2),
        ("kind: claim\nx: [1", "record.front_matter", 4),
        ("- a\n- b", "record.front_matter", 2),
        ("title: a\ntitle: b", "record.front_matter", 3),
        ("title: a\nx: !!str b", "record.front_matter", 3),
        ("x: !python/object:os.system [b]", "record.front_matter", 2),
        ("x: ! b", "record.front_matter", 2),
        ("a: &a x\n" + "".join(f"k{n}: *a\n" for n in range(60)), "record.front_matter", 53),
        ("title: [a]", "record.value", 2),
        ("kind: claim\nscope: {a: b}", "record.value", 3),
        ("title: |\n  a\n  b", "record.value", 2),
        ('project: "a\\0b"', "record.value", 2),
        (f"project: {'x' * 321}", "record.value", 2),
        ("tags: {a: b}", "record.value", 2),
        ("kind: claim\ntags: [a, [b]]", "record.value", 3),
        (f"tags: [{', '.join(f't{n}' for n in range(51))}]", "record.value", 2),
        (f"tags: [{'x' * 65}]", "record.value", 2),
        (f"entities: [{'x' * 161}]", "record.value", 2),
        ("created: yesterday", "record.time", 2),
        ("created: 2026-13-01", "record.time", 2),
        ("updated: 12:30", "record.time", 2),
        ("occurred_at: 2026-05-26T10:00:00", "record.time", 2),
        ("kind: claim\nexpires: never", "record.time", 3),
        ("confidence: 1.1", "record.confidence", 2),
        ("confidence: -0.1", "record.confidence", 2),
        ("confidence: nan", "record.confidence", 2),
        ("confidence: 1e-1", "record.confidence", 2),
        ("confidence: sure", "record.confidence", 2),
        ("confidence: [high]", "record.value", 2),
        ("id: A b", "record.id", 2),
        ("kind: claim\nid: ''\nsupersedes: [Old]", "record.supersedes", 4),
        ("supersedes: ../other#a", "record.supersedes", 2),
        ('more: "\\ud800"', "record.text", 1),
    ],
)
def test_what_does_not_parse_fails_with_its_line(head: str, rule: str, line: int) -> None:
    data = f"---\n{head}\n---\nText.\n".encode()
    found, problems = record.examined(ENTRY, data, DEFAULT)
    assert found is None
    assert [(each.rule, each.line, each.where) for each in problems if each.fails] == [(rule, line, "records/a.md")]
    with pytest.raises(InvalidInput) as caught:
        record.read(ENTRY, data, DEFAULT)
    assert (caught.value.code, caught.value.exit_code) == ("source.record", 3)


@pytest.mark.requirement("sources-record")
@pytest.mark.parametrize(
    ("data", "rule", "line"),
    [
        (b"\xef\xbb\xbfText", "record.bom", 1),
        (b"one\ntwo \xff", "record.utf8", 2),
        ("Text".encode("utf-16"), "record.utf8", 1),
        (b"one\n\ntwo\0", "record.nul", 3),
        (b"", "record.empty", 1),
        (b" \n\t\n", "record.empty", 1),
        (b"---\ntitle: a\n---\n \n", "record.empty", 4),
        (b"---\ntitle: a\n\nnothing closes this\n", "record.front_matter", 1),
    ],
)
def test_what_is_no_text(data: bytes, rule: str, line: int) -> None:
    _, problems = record.examined(ENTRY, data, DEFAULT)
    assert [(each.rule, each.line) for each in problems] == [(rule, line)]


@pytest.mark.requirement("sources-ids")
@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (Entry(path="a.md", id="listed"), "---\nid: other\n---\nx"),
        (Entry(path="Über uns.md"), "x"),
        (Entry(path=".md"), "x"),
    ],
)
def test_ids_that_do_not_fit(entry: Entry, text: str) -> None:
    _, problems = record.examined(entry, text.encode(), DEFAULT)
    assert [each.rule for each in problems] == ["record.id"]


@pytest.mark.requirement("sources-hashes")
@pytest.mark.parametrize(
    ("entry", "rule"),
    [
        (Entry(path="a.md", sha256="0" * 64), "record.sha256"),
        (Entry(path="a.md", bytes=2), "record.bytes"),
    ],
)
def test_hash_and_size_are_those_of_the_manifest(entry: Entry, rule: str) -> None:
    _, problems = record.examined(entry, b"x", DEFAULT)
    assert [each.rule for each in problems] == [rule]
    fitting = Entry(path="a.md", sha256=hashlib.sha256(b"x").hexdigest(), bytes=1)
    assert record.read(fitting, b"x", DEFAULT).body == "x"


@pytest.mark.requirement("sources-limits")
def test_a_record_has_a_size() -> None:
    assert record.read(ENTRY, b"x" * 10, Limits(record_bytes=10)).bytes == 10
    with pytest.raises(InvalidInput) as caught:
        record.read(ENTRY, b"x" * 11, Limits(record_bytes=10))
    assert caught.value.code == "source.limit"


@pytest.mark.requirement("sources-no-credentials")
@pytest.mark.parametrize("escaped", [False, True])
def test_a_credential_refuses_the_record(escaped: bool) -> None:
    secret = "AKIA" + "ABCDEFGH" * 2
    text = f'---\ntitle: "{secret}"\n---\nText.' if escaped else f"One.\nTwo {secret}.\n"
    text = text.replace('"AKIA', '"\\x41KIA')
    with pytest.raises(Refused) as caught:
        read(text)
    assert (caught.value.code, caught.value.exit_code) == ("source.credential", 4)
    assert caught.value.details["problems"][0]["line"] == (None if escaped else 2)
    assert secret not in caught.value.message + json.dumps(caught.value.details)


@pytest.mark.requirement("sources-unknown-keys")
def test_unknown_keys_and_kinds_are_reported_and_do_not_fail() -> None:
    found, problems = record.examined(ENTRY, b"---\nkind: rumour\nhue: red\napproved: yes\n---\nx", DEFAULT)
    assert found is not None
    assert (found.kind, found.unknown) == ("rumour", {"hue": "red", "approved": "yes"})
    assert [(each.rule, each.line, each.fails) for each in problems] == [
        ("record.unknown_key", 3, False),
        ("record.unknown_key", 4, False),
        ("record.unknown_kind", 2, False),
    ]


def test_the_kinds_are_those_of_memories() -> None:
    assert tuple(KINDS) == get_args(Kind)
    assert len(set(KEYS)) == 14


def test_a_day_begins_in_utc() -> None:
    day, moment = moments.instant("2026-05-26"), moments.instant("2026-05-26T02:00:00+02:00")
    assert day is not None
    assert day == moment
    assert moments.instant("2026-05-26 ") is None
