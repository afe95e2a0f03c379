"""Fuzzing of manifests and front matter: whatever comes is read by the rules, or is wrong by one of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.base.errors import InvalidInput, Refused, SegueError
from segue.base.jsontext import is_unicode
from segue.sources import manifest as manifests
from segue.sources import moments, paths, snapshot
from segue.sources import record as records
from segue.sources.limits import DEFAULT
from segue.sources.manifest import ID, Entry
from segue.sources.snapshot import resource
from sources.liar import Liar, reader, reply, served

if TYPE_CHECKING:
    from segue.sources.problems import Problem

PATHS = ("a.md", "A.md", "r/b.md", "../x.md", "/x", "a//b", "c%2e.md", "x\0", "", "memories.json", "é.md", "\ud800")
IDS = ("a", "b", "A", "", "a b", "../a", "x" * 129, "a.b-c_d")
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8))
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
entries = st.one_of(
    st.sampled_from(PATHS),
    st.fixed_dictionaries(
        {"id": st.sampled_from(IDS) | values, "path": st.sampled_from(PATHS) | values},
        optional={
            "sha256": st.sampled_from(["0" * 64, "0" * 63, "F" * 64]) | values,
            "bytes": st.integers(-2, 300_000) | values,
            "title": values,
            "more": values,
        },
    ),
    values,
)
documents = st.fixed_dictionaries(
    {"memories_version": st.just("0.1") | values, "records": st.lists(entries, max_size=5) | values},
    optional={"title": values, "description": values, "updated_at": st.just("2026-05-26") | values, "more": values},
)
GOOD = json.dumps(
    {
        "memories_version": "0.1",
        "title": "T",
        "updated_at": "2026-05-26T10:00:00Z",
        "records": [{"id": "a", "path": "r/a.md", "sha256": "0" * 64, "bytes": 7, "title": "A"}, "r/b.md"],
    }
).encode()
HEAD = (
    b"---\nid: a\ntitle: 'T: x'\nkind: claim\ntags: [x, &t y, *t]\nconfidence: 0.5\ncreated: 2026-05-26\n"
    b"supersedes: [b]\nmore: {deep: [1, |\n}\n---\nText \xc3\xa9.\n"
)
VALUES = (
    "a",
    "no",
    "017",
    "12:30:45",
    "2026-05-26",
    "2026-05-26T10:00:00Z",
    "high",
    "0.5",
    "1.1",
    "[a, b]",
    "a, b",
    "[a, [b]]",
    "{a: b}",
    "|\n  a\n  b",
    ">-\n  a\n  b",
    "&x a",
    "*x",
    "!!str a",
    "'a'",
    '"\\ud800"',
    '"\\0"',
    "a: b",
    "[",
    "",
    "é\u2028b",
    "x" * 400,
)
JUNK = ("# c", "- x", "? k", ": v", "...", "%YAML 1.1", "<<: *x", "\t", "  deep: a", "\ufeff", "\x85", "@", "`")
pairs = st.tuples(st.sampled_from([*records.KEYS, "more"]), st.sampled_from(VALUES)).map(": ".join)
heads = st.lists(pairs, max_size=4, unique_by=lambda line: line.partition(":")[0]).map("\n".join)
odd_heads = st.lists(pairs | st.sampled_from(JUNK), max_size=6).map("\n".join)


def mutated(data: bytes, changes: list[tuple[int, bytes, int]]) -> bytes:
    """`data` with some pieces exchanged, put in or left out."""
    for place, piece, left_out in changes:
        at = place % (len(data) + 1)
        data = data[:at] + piece + data[at + left_out :]
    return data


changes = st.lists(
    st.tuples(
        st.integers(0, 400),
        st.sampled_from(
            [b"", b"\0", b"\xff", b"\xef\xbb\xbf", b'"', b"{", b"]", b",", b"\\u0041", b"..", b"\n", b": ", b"*a", b"!"]
        ),
        st.integers(0, 6),
    ),
    min_size=1,
    max_size=4,
)


def check_manifest(data: bytes) -> None:
    found, problems = manifests.examined(data, DEFAULT)
    check_problems(problems)
    failing = [each for each in problems if each.fails]
    if found is not None:
        listed = [each.path for each in found.records]
        assert all(paths.fault(path) is None for path in listed)
        assert len({paths.folded(path) for path in listed}) == len(listed)
        assert all(each.id == "" or ID.fullmatch(each.id) for each in found.records)
        assert all(each.sha256 == "" or len(each.sha256) == 64 for each in found.records)
    if not failing:
        assert manifests.read(data, DEFAULT) == found
        return
    with pytest.raises((InvalidInput, Refused)) as caught:
        manifests.read(data, DEFAULT)
    assert isinstance(caught.value, Refused) == any(each.refused for each in failing)


def check_record(data: bytes) -> None:
    found, problems = records.examined(Entry(path="r/a.md"), data, DEFAULT)
    check_problems(problems)
    assert (found is None) == any(each.fails for each in problems)
    if found is None:
        with pytest.raises((InvalidInput, Refused)):
            records.read(Entry(path="r/a.md"), data, DEFAULT)
        return
    assert records.read(Entry(path="r/a.md"), data, DEFAULT) == found
    assert ID.fullmatch(found.id)
    assert data.decode().endswith(found.body)
    assert found.body.strip()
    assert found.confidence is None or 0 <= found.confidence <= 1
    times = (found.created, found.updated, found.occurred_at, found.expires)
    assert all(each == "" or moments.instant(each) is not None for each in times)
    for text in (found.title, found.kind, found.scope, found.project, found.source, *found.tags, *found.entities):
        assert is_unicode(text)
        assert not set("\0\n\r").intersection(text)
    assert all(map(ID.fullmatch, found.supersedes))
    json.dumps(found.unknown).encode()


def check_problems(problems: list[Problem]) -> None:
    for each in problems:
        json.dumps(each.to_json()).encode()
        assert each.message
        assert is_unicode(str(each))
        assert "\n" not in str(each)


@pytest.mark.requirement("sources-manifest")
@settings(max_examples=150, deadline=None, derandomize=True)
@given(documents)
def test_any_document(document: Any) -> None:
    check_manifest(json.dumps(document).encode())


@pytest.mark.requirement("sources-manifest")
@settings(max_examples=150, deadline=None, derandomize=True)
@given(changes)
def test_any_change_of_a_manifest(given_changes: list[tuple[int, bytes, int]]) -> None:
    check_manifest(mutated(GOOD, given_changes))


@pytest.mark.requirement("sources-record")
@settings(max_examples=150, deadline=None, derandomize=True)
@given(changes)
def test_any_change_of_a_record(given_changes: list[tuple[int, bytes, int]]) -> None:
    check_record(mutated(HEAD, given_changes))


@pytest.mark.requirement("sources-front-matter")
@settings(max_examples=300, deadline=None, derandomize=True)
@given(heads | odd_heads)
def test_any_front_matter(head: str) -> None:
    check_record(f"---\n{head}\n---\nText.\n".encode())


@pytest.mark.requirement("sources-snapshot")
@settings(max_examples=100, deadline=None, derandomize=True)
@given(documents, st.dictionaries(st.sampled_from(PATHS[:3]), st.binary(max_size=20), max_size=3))
def test_any_source_is_whole_or_wrong(document: Any, files: dict[str, bytes]) -> None:
    first = resource("memories.json", json.dumps(document).encode())
    found, problems = snapshot.examined(first, [resource(path, data) for path, data in files.items()], DEFAULT)
    check_problems(problems)
    assert (found is None) == any(each.fails for each in problems)
    if found is not None:
        assert [each.path for each in found.records] == [each.path for each in found.manifest.records]
        assert len({each.id for each in found.records}) == len(found.records)


@pytest.mark.soak
@settings(max_examples=4_000, deadline=None)
@given(documents, changes, changes, heads | odd_heads)
def test_at_length(document: Any, one: Any, other: Any, head: str) -> None:
    check_manifest(json.dumps(document).encode())
    check_manifest(mutated(GOOD, one))
    check_record(mutated(HEAD, other))
    check_record(f"---\n{head}\n---\nText.\n".encode())


ANSWER = reply(b"Text.\n", etag='"1"', last_modified="Tue, 26 May 2026 10:00:00 GMT")
said = st.lists(
    st.tuples(
        st.integers(0, len(ANSWER)),
        st.sampled_from(
            [
                *[
                    b"",
                    b"\r\n",
                    b"\n",
                    b"\r\n\r\n",
                    b"\0",
                    b"\xff",
                    b" ",
                    b":",
                    b";",
                    b"0",
                    b"9999999999999999999",
                    b"HTTP/1.1 100 x\r\n\r\n",
                ],
                *[
                    b"HTTP/1.0 200 OK\r\n",
                    b"Content-Length: 5\r\n",
                    b"Transfer-Encoding: chunked\r\n",
                    b"Location: b.md\r\n",
                ],
                *[
                    b"Content-Encoding: gzip\r\n",
                    b"Content-Type: text/html\r\n",
                    b"charset=x",
                    b"Connection: close\r\n",
                    b"304",
                    b"302",
                ],
            ]
        ),
        st.integers(0, 12),
    ),
    min_size=1,
    max_size=3,
)


@pytest.mark.requirement("sources-lies")
def test_any_answer_of_a_server() -> None:
    """Whatever comes, and then the end: it is read, or it fails as errors of sources do."""

    @settings(max_examples=80, deadline=None, derandomize=True)
    @given(said)
    def check(given_changes: list[tuple[int, bytes, int]]) -> None:
        answer = mutated(ANSWER, given_changes)
        liar.answers({"memories.json": served("a.md"), "a.md": lambda asked: iter([answer])})
        try:
            found = reader().read(liar.base)
        except SegueError as error:
            assert error.code.startswith("source.")
            json.dumps(error.details).encode()
            assert "\n" not in error.message
            return
        assert found.resources[1].data.decode() == found.records[0].body
        assert 0 < len(found.resources[1].data) <= len(answer)

    with Liar() as liar:
        check()
