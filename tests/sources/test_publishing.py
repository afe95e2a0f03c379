"""A folder that is published is a source, and says what its records say, the same bytes each time."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.base.errors import Refused
from segue.sources import publishing, snapshot
from segue.sources.limits import DEFAULT
from segue.sources.publishing import Draft

TEXT = st.text(
    alphabet=st.sampled_from("ab Z0:#-\"'\\{}[]&*!|>%@`,é日🙂\u00ad\u200d~?=<"), min_size=1, max_size=24
).map(str.strip)
LINE = TEXT.filter(bool)
BODY = st.text(alphabet=st.sampled_from("ab -#:`\n\r\t\"'\\é🙂\u2028\ufeff."), min_size=1, max_size=60).filter(
    str.strip
)
LIST = st.lists(LINE, max_size=3, unique=True).map(tuple)
DRAFT = st.builds(
    Draft,
    id=st.from_regex(r"[a-z0-9][a-z0-9._-]{0,20}", fullmatch=True),
    body=BODY,
    title=TEXT,
    kind=st.sampled_from(["", "claim", "decision"]),
    project=TEXT,
    tags=LIST,
    entities=LIST,
    created=st.sampled_from(["", "2026-05-04T09:30:00Z", "2026-05-04"]),
    occurred_at=st.sampled_from(["", "2025-12-31T23:59:59+02:00"]),
    confidence=st.none() | st.floats(0, 1) | st.sampled_from([0.0, 1.0, 1e-9, 0.1, 0.014811549526361215]),
    expires=st.sampled_from(["", "2031-02-03"]),
)


def _read(files: dict[str, bytes]) -> snapshot.Snapshot:
    resources = [snapshot.resource(path, data) for path, data in files.items()]
    return snapshot.assembled(resources[-1], resources[:-1], DEFAULT)  # the manifest is the last


def _plain(value: object) -> object:
    return value.replace("\r\n", "\n").strip() if isinstance(value, str) else value


@pytest.mark.requirement("sources-publish")
@settings(max_examples=60)
@given(st.lists(DRAFT, min_size=1, max_size=3, unique_by=lambda each: each.id), TEXT)
def test_what_is_published_is_read_as_it_was(drafts: list[Draft], title: str) -> None:
    files = publishing.folder(drafts, title=title)
    assert publishing.folder(list(reversed(drafts)), title=title) == files
    found = _read(files)
    assert found.manifest.title == title
    assert found.remarks == ()
    records = {each.id: each for each in found.records}
    assert set(records) == {each.id for each in drafts}
    for draft in drafts:
        record = records[draft.id]
        for each in fields(Draft):
            wanted, given = getattr(draft, each.name), getattr(record, each.name)
            if each.name == "confidence" and wanted is not None:
                assert given == pytest.approx(wanted, abs=1e-17)
            else:
                assert _plain(given) == _plain(wanted)


@pytest.mark.requirement("sources-publish")
def test_the_manifest_has_the_hashes_and_a_new_version_is_another_file() -> None:
    draft = Draft(id="amounts", body="Amounts are integers of cents.", created="2026-05-04T09:30:00Z")
    files = publishing.folder([draft])
    manifest = json.loads(files["memories.json"])
    (entry,) = manifest["records"]
    assert (len(entry["sha256"]), entry["bytes"]) == (64, len(files[entry["path"]]))
    assert manifest["updated_at"] == draft.created
    assert entry["path"].startswith("records/amounts-are-integers-of-cents-")
    other = publishing.folder([replace(draft, body="Amounts are integers of pence.")])
    assert set(files) & set(other) == {"memories.json"}


def test_what_no_reader_would_take_is_not_published() -> None:
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    with pytest.raises(Refused):
        publishing.folder([Draft(id="a", body=f"The key is {key}.")])


def test_what_was_published_is_told_from_what_lies_there() -> None:
    files = publishing.folder([Draft(id="amounts", body="Amounts are integers of cents.")])
    (path,) = set(files) - {"memories.json"}
    assert publishing.is_own(path, files[path])
    assert not publishing.is_own(path, files[path] + b"\nEdited.\n")
    name = path.removeprefix("records/")
    for other in (name, f"src/{name}", f"records/more/{name}", f"records/{name}x", "records/notes.md"):
        assert not publishing.is_own(other, files[path])
