"""The manifest: what it holds, and everything that is wrong with one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from segue.base.errors import InvalidInput, Refused
from segue.sources import manifest
from segue.sources.limits import DEFAULT, Limits
from segue.sources.manifest import Entry, Manifest

HASH = "0a" * 32


def written(**given: Any) -> bytes:
    return json.dumps({"memories_version": "0.1", "records": [], **given}).encode()


def listing(*records: Any) -> bytes:
    return written(records=list(records))


@pytest.mark.requirement("sources-manifest")
def test_every_key_of_a_manifest() -> None:
    found = manifest.read(
        written(
            title="Team",
            description="What\nwe know.",
            updated_at="2026-05-26",
            colour="red",
            records=[
                {"id": "a", "path": "records/a.md", "sha256": HASH.upper(), "bytes": 12, "title": "A", "hue": 1},
                "records/b.md",
                {"id": "c.2_x-y", "path": "c.txt"},
            ],
        ),
        DEFAULT,
    )
    assert found == Manifest(
        version="0.1",
        title="Team",
        description="What\nwe know.",
        updated_at="2026-05-26",
        records=(
            Entry(path="records/a.md", id="a", sha256=HASH, bytes=12, title="A"),
            Entry(path="records/b.md"),
            Entry(path="c.txt", id="c.2_x-y"),
        ),
        unknown=("colour", "records[0].hue"),
    )


@pytest.mark.requirement("sources-unknown-keys")
def test_unknown_keys_are_reported_and_do_not_fail() -> None:
    found, problems = manifest.examined(written(colour="red", records=[{"id": "a", "path": "a.md", "hue": 1}]), DEFAULT)
    assert found is not None
    assert found.unknown == ("colour", "records[0].hue")
    assert [(each.rule, each.fails) for each in problems] == [("manifest.unknown_key", False)] * 2


@pytest.mark.requirement("sources-manifest")
@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"", "manifest.json"),
        (b"{", "manifest.json"),
        (b"\xef\xbb\xbf" + written(), "manifest.json"),
        (b"\xff", "manifest.json"),
        (b'{"memories_version": "0.1", "records": [], "records": []}', "manifest.json"),
        (b"[" * 500 + b"]" * 500, "manifest.json"),
        (b"[]", "manifest.object"),
        (b'"x"', "manifest.object"),
        (b'{"records": []}', "manifest.version"),
        (written(memories_version="0.2"), "manifest.version"),
        (written(memories_version=0.1), "manifest.version"),
        (b'{"memories_version": "0.1"}', "manifest.records"),
        (written(records={}), "manifest.records"),
        (written(title=["x"]), "manifest.title"),
        (written(title="x" * 321), "manifest.title"),
        (written(title="a\nb"), "manifest.title"),
        (listing({"path": "a.md", "id": "a", "title": "a\u2028b"}), "manifest.title"),
        (written(description=1), "manifest.description"),
        (written(description="a\0b"), "manifest.description"),
        (written(updated_at="yesterday"), "manifest.time"),
        (written(updated_at="2026-02-30"), "manifest.time"),
        (listing(7), "manifest.entry"),
        (listing(["a.md"]), "manifest.entry"),
        (listing({"id": "a"}), "manifest.path"),
        (listing({"id": "a", "path": 1}), "manifest.path"),
        (listing({"path": "a.md"}), "manifest.id"),
        (listing({"path": "a.md", "id": ""}), "manifest.id"),
        (listing({"path": "a.md", "id": "A"}), "manifest.id"),
        (listing({"path": "a.md", "id": "-a"}), "manifest.id"),
        (listing({"path": "a.md", "id": "a b"}), "manifest.id"),
        (listing({"path": "a.md", "id": "a\n"}), "manifest.id"),
        (listing({"path": "a.md", "id": "é"}), "manifest.id"),
        (listing({"path": "a.md", "id": "x" * 129}), "manifest.id"),
        (listing({"path": "a.md", "id": 1}), "manifest.id"),
        (listing({"path": "a.md", "id": "a"}, {"path": "b.md", "id": "a"}), "manifest.duplicate_id"),
        (listing("a.md", "a.md"), "manifest.duplicate_path"),
        (listing("a.md", {"id": "b", "path": "A.MD"}), "manifest.duplicate_path"),
        (listing("straße.md", "STRASSE.md"), "manifest.duplicate_path"),
        (listing("e\u0301.md", "\u00c9.md"), "manifest.duplicate_path"),
        (listing({"path": "a.md", "id": "a", "sha256": "ab"}), "manifest.sha256"),
        (listing({"path": "a.md", "id": "a", "sha256": "g" * 64}), "manifest.sha256"),
        (listing({"path": "a.md", "id": "a", "sha256": 1}), "manifest.sha256"),
        (listing({"path": "a.md", "id": "a", "bytes": -1}), "manifest.bytes"),
        (listing({"path": "a.md", "id": "a", "bytes": True}), "manifest.bytes"),
        (listing({"path": "a.md", "id": "a", "bytes": 1.5}), "manifest.bytes"),
        (listing({"path": "a.md", "id": "a", "title": {}}), "manifest.title"),
    ],
)
def test_what_is_malformed_is_invalid_by_its_rule(data: bytes, rule: str) -> None:
    _, problems = manifest.examined(data, DEFAULT)
    assert [each.rule for each in problems if each.fails] == [rule]
    with pytest.raises(InvalidInput) as caught:
        manifest.read(data, DEFAULT)
    assert (caught.value.code, caught.value.exit_code) == ("source.manifest", 3)
    assert caught.value.details["problems"][0]["rule"] == rule
    assert caught.value.details["problems"][0]["where"] == "memories.json"


def test_json_that_does_not_parse_is_reported_with_its_line() -> None:
    _, problems = manifest.examined(b'{\n"memories_version": "0.1",\n"records": [,]}', DEFAULT)
    assert [(each.rule, each.place) for each in problems] == [("manifest.json", "memories.json:3")]


@pytest.mark.requirement("sources-limits")
@pytest.mark.parametrize(
    ("data", "limits", "rule"),
    [
        (written(description="x" * 60), Limits(manifest_bytes=90), "limit.manifest_bytes"),
        (listing(*(f"{n}.md" for n in range(1_001))), DEFAULT, "limit.records"),
        (listing("a.md", "b.md"), Limits(records=1), "limit.records"),
        (listing({"id": "a", "path": "a.md", "bytes": (256 << 10) + 1}), DEFAULT, "limit.record_bytes"),
    ],
)
def test_what_is_beyond_a_limit(data: bytes, limits: Limits, rule: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        manifest.read(data, limits)
    assert caught.value.code == "source.limit"
    assert [each["rule"] for each in caught.value.details["problems"]] == [rule]


def test_what_is_just_within_the_limits() -> None:
    assert len(manifest.read(listing(*(f"{n}.md" for n in range(1_000))), DEFAULT).records) == 1_000
    data = written(description="x" * 60)
    assert manifest.read(data, Limits(manifest_bytes=len(data))).description == "x" * 60


@pytest.mark.requirement("sources-limits")
@pytest.mark.parametrize("name", ["manifest_bytes", "record_bytes", "records", "request_seconds", "refresh_seconds"])
def test_limits_are_set_downwards_only(name: str) -> None:
    changed: Any
    usual = getattr(DEFAULT, name)
    changed = {name: usual / 2}
    assert getattr(Limits(**changed), name) == usual / 2
    for value in (usual + 1, 0, -1, float("nan")):
        with pytest.raises(InvalidInput) as caught:
            changed = {name: value}
            Limits(**changed)
        assert (caught.value.code, caught.value.details) == ("source.limit", {"limit": name})


@pytest.mark.requirement("sources-paths")
def test_a_bad_path_refuses_the_manifest_and_everything_else_is_told_too() -> None:
    data = listing({"id": "A", "path": "a.md"}, "../x.md", "b.md")
    with pytest.raises(Refused) as caught:
        manifest.read(data, DEFAULT)
    assert (caught.value.code, caught.value.exit_code) == ("source.path", 4)
    assert [each["rule"] for each in caught.value.details["problems"]] == ["manifest.id", "path.parent"]
    found, _ = manifest.examined(data, DEFAULT)
    assert found is not None
    assert [each.path for each in found.records] == ["b.md"]


@pytest.mark.requirement("sources-no-credentials")
@pytest.mark.parametrize("place", ["title", "path", "unknown", "key"])
def test_a_credential_anywhere_refuses_the_manifest(place: str) -> None:
    secret = "AKIA" + "ABCDEFGH" * 2
    data = {
        "title": written(title=f"key {secret}"),
        "path": listing(f"{secret}.md"),
        "unknown": written(more=[{"deep": secret}]).replace(b"AKIA", b"\\u0041KIA"),
        "key": written(**{secret: 1}),
    }[place]
    with pytest.raises(Refused) as caught:
        manifest.read(data, DEFAULT)
    assert caught.value.code == "source.credential"
    assert secret not in str(caught.value.message) + json.dumps(caught.value.details)


def test_a_mere_path_is_no_credential() -> None:
    text = "see " + "/home" + "/someone/notes"
    assert manifest.read(written(title=text), DEFAULT).title == text
