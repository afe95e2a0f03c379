"""The snapshot: what holds across records, and that it is whole or not there."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from segue.base.errors import InvalidInput, Refused, SegueError
from segue.sources import snapshot
from segue.sources.limits import DEFAULT, Limits
from segue.sources.snapshot import Resource, Validators, resource


def listed(*records: Any) -> Resource:
    document = {"memories_version": "0.1", "records": list(records)}
    return resource("memories.json", json.dumps(document).encode())


def files(**texts: str) -> list[Resource]:
    return [resource(f"{name}.md", text.encode()) for name, text in texts.items()]


def problems(manifest: Resource, records: list[Resource]) -> list[tuple[str, str]]:
    found = snapshot.examined(manifest, records, DEFAULT)[1]
    return [(each.rule, each.where) for each in found if each.fails]


@pytest.mark.requirement("sources-snapshot")
def test_a_snapshot_is_in_the_order_of_its_manifest() -> None:
    manifest, records = listed("b.md", "a.md"), files(a="A", b="B", stray="never listed")
    found = snapshot.assembled(manifest, records, DEFAULT, unchanged=True)
    assert [each.id for each in found.records] == ["b", "a"]
    assert [each.path for each in found.resources] == ["memories.json", "b.md", "a.md"]
    assert found.resources[1].sha256 == hashlib.sha256(b"B").hexdigest() == found.records[0].sha256
    assert found.unchanged
    assert snapshot.assembled(listed(), [], DEFAULT).records == ()


def test_a_resource_does_not_show_its_bytes() -> None:
    assert "secret text" not in repr(resource("a.md", b"secret text", Validators(etag='"1"')))


@pytest.mark.requirement("sources-snapshot")
@pytest.mark.parametrize(
    ("manifest", "records", "expected"),
    [
        (listed("a.md", "b.md"), files(a="A"), [("record.missing", "b.md")]),
        (listed("a.md", "b.md"), files(a="A", b=""), [("record.empty", "b.md")]),
        (
            listed("a.md", "b.md"),
            files(a="---\nid: x\n---\nA", b="---\nid: x\n---\nB"),
            [("record.duplicate_id", "b.md")],
        ),
        (listed({"id": "b", "path": "a.md"}, "b.md"), files(a="A", b="B"), [("record.duplicate_id", "b.md")]),
        (listed("a.md"), files(a="---\nsupersedes: a\n---\nA"), [("record.cycle", "a.md")]),
        (
            listed("a.md", "b.md", "c.md"),
            files(a="---\nsupersedes: b\n---\nA", b="---\nsupersedes: [c, a]\n---\nB", c="C"),
            [("record.cycle", "a.md"), ("record.cycle", "b.md")],
        ),
        (
            listed({"id": "a", "path": "a.md", "sha256": "0" * 64, "bytes": 9}),
            files(a="A"),
            [("record.bytes", "a.md"), ("record.sha256", "a.md")],
        ),
    ],
)
def test_what_does_not_hold_across_records(
    manifest: Resource, records: list[Resource], expected: list[tuple[str, str]]
) -> None:
    assert problems(manifest, records) == expected
    with pytest.raises(InvalidInput) as caught:
        snapshot.assembled(manifest, records, DEFAULT)
    assert caught.value.code == "source.record"
    assert caught.value.details["count"] == len(expected)


@pytest.mark.requirement("sources-supersedes")
def test_a_record_supersedes_within_its_source_only() -> None:
    records = files(a="---\nsupersedes: [b, gone]\n---\nA", b="B")
    found = snapshot.assembled(listed("a.md", "b.md"), records, DEFAULT)
    assert [each.supersedes for each in found.records] == [("b",), ()]
    assert [(each.rule, each.where) for each in found.remarks] == [("record.superseded", "a.md")]


@pytest.mark.requirement("sources-limits")
def test_all_of_a_source_has_a_size() -> None:
    manifest, records = listed("a.md", "b.md"), files(a="A" * 50, b="B" * 50)
    size = len(manifest.data) + 100
    assert snapshot.assembled(manifest, records, Limits(total_bytes=size))
    with pytest.raises(InvalidInput) as caught:
        snapshot.assembled(manifest, records, Limits(total_bytes=size - 1))
    assert caught.value.code == "source.limit"


def test_what_is_refused_comes_first_and_everything_is_listed() -> None:
    secret = "AKIA" + "ABCDEFGH" * 2
    with pytest.raises(Refused) as caught:
        snapshot.assembled(listed("a.md", "b.md", "c.md"), files(a="", b=secret), DEFAULT)
    assert caught.value.code == "source.credential"
    assert [each["rule"] for each in caught.value.details["problems"]] == [
        "record.empty",
        "credential.aws-key",
        "record.missing",
    ]
    assert isinstance(caught.value, SegueError)
    assert caught.value.message.startswith("b.md:1: ")
    assert caught.value.message.endswith("(and 2 more)")
