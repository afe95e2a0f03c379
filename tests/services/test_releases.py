"""Release transactions: prepared, committed or aborted as a whole; what was changed in between gets no receipt."""

from __future__ import annotations

import copy
import hashlib
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

import segue
from segue.base.errors import Failed, InvalidInput, NotFound, Refused
from segue.base.redaction import RedactionRefused
from segue.continuity import canonical, files
from segue.services import receipt_chain
from segue.services.releases import Releases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conftest import Clock, Locate

ANSWER = "正式文档已生成。\n".encode()
PATHS = {"qa": "PROJECT_STUDY_QA.md", "log": "PROJECT_STUDY_LOG.md", "memory": "store/", "document": "guide.md"}


def manifest(**members: Any) -> dict[str, Any]:
    whole: dict[str, Any] = {
        "tx_id": "TX-001",
        "doc_tx_id": "DOC-TX-001",
        "artifact_paths": dict(PATHS),
        "source_revision": "git:0123abc",
        "readiness_manifest": {"ready": True, "sections": 4},
        "validator_results": {"qa_log": "pass", "memory": "pass", "document": "pass"},
        "cold_start_result": {"status": "pass", "report_hash": "a" * 64},
        "not_run": ["screen reader"],
        "current_step": "STEP-3",
        "current_node": "NODE-012",
    }
    return {name: value for name, value in (whole | members).items() if value is not None}


@pytest.fixture
def opened(locate: Locate, clock: Clock, project_directory: Path) -> Iterator[segue.Segue]:
    for name in ("PROJECT_STUDY_QA.md", "PROJECT_STUDY_LOG.md", "guide.md"):
        (project_directory / name).write_text(f"# {name}\n")
    (project_directory / "store").mkdir()
    (project_directory / "store" / "MEMORY.md").write_text("# Memory Index\n")
    with segue.open(locate("sqlite"), directory=project_directory, clock=clock) as one:
        yield one


def record_file(opened: segue.Segue) -> Path:
    return opened.continuity.place.folder / files.RELEASE


def state(opened: segue.Segue) -> str:
    return str(json.loads(record_file(opened).read_bytes())["state"])


@pytest.mark.requirement("continuity-release")
def test_a_release_from_manifest_to_receipt(opened: segue.Segue) -> None:
    releases = opened.continuity.releases
    prepared = releases.prepare(manifest(), ANSWER)
    document = json.loads(record_file(opened).read_bytes())
    assert (document["state"], document["prepared"]["tx_id"]) == ("PREPARED", "TX-0001")
    text = json.dumps(document["prepared"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert hashlib.sha256(text.encode()).hexdigest() == document["prepared_hash"] == prepared.prepared_hash
    receipt = releases.commit()
    assert state(opened) == "COMMITTED"
    assert {each.path for each in receipt.artifacts} == set(PATHS.values())
    assert receipt.release is not None
    assert receipt.release["prepared_hash"] == prepared.prepared_hash
    assert receipt.release["not_run"] == ["screen reader"]
    assert opened.continuity.receipts.ls() == (receipt,)
    assert opened.continuity.receipts.covers(receipt, ANSWER.decode())
    assert releases.validate().holds
    assert releases.validate("TX-1", ANSWER).holds
    assert [each.code for each in releases.validate("TX-1", ANSWER + b"x").problems] == ["receipt.response"]
    assert releases.commit() == receipt
    assert releases.recover().state == "COMMITTED"
    assert len(opened.continuity.receipts.ls()) == 1


@pytest.mark.requirement("continuity-release-manifest")
@pytest.mark.parametrize(
    "members",
    [
        {"tx_id": "TX-"},
        {"doc_tx_id": "TX-001"},
        {"doc_tx_id": None},
        {"artifact_paths": {"qa": "a", "log": "b", "memory": "c"}},
        {"artifact_paths": PATHS | {"more": "x.md"}},
        {"artifact_paths": PATHS | {"qa": "../QA.md"}},
        {"source_revision": "git:012345"},
        {"source_revision": "uncommitted:" + "a" * 63},
        {"readiness_manifest": {"ready": "true"}},
        {"readiness_manifest": {}},
        {"validator_results": {"qa_log": "pass", "memory": "pass"}},
        {"validator_results": {"qa_log": "pass", "memory": "pass", "document": "fail"}},
        {"validator_results": {"qa_log": "pass", "memory": "pass", "document": "pass", "links": "warn"}},
        {"cold_start_result": {"status": "pass", "report_hash": "A" * 64}},
        {"cold_start_result": {"status": "fail", "report_hash": "a" * 64}},
        {"not_run": ["a", "a"]},
        {"not_run": "a"},
        {"current_step": " "},
        {"previous_receipt_hash": "x"},
        {"surprise": 1},
        {"readiness_manifest": {"ready": True, "more": "\ud800"}},
        {"readiness_manifest": {"ready": True, "more": float("nan")}},
        {"readiness_manifest": {"ready": True, "more": {1}}},
    ],
)
def test_a_manifest_that_is_not_ready_is_refused(opened: segue.Segue, members: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        opened.continuity.releases.prepare(manifest(**members))
    assert refused.value.code == "release.manifest"
    assert not record_file(opened).exists()


@pytest.mark.requirement("continuity-release-manifest")
def test_the_next_number_and_the_newest_receipt_are_asked_for(opened: segue.Segue) -> None:
    first = opened.continuity.receipts.issue(["guide.md"])
    releases = opened.continuity.releases
    for members, code in (
        ({}, "release.tx"),
        ({"tx_id": "TX-003"}, "release.tx"),
        ({"tx_id": None, "previous_receipt_hash": "0" * 64}, "release.previous"),
    ):
        with pytest.raises(Refused) as refused:
            releases.prepare(manifest(**members))
        assert refused.value.code == code
    releases.prepare(manifest(tx_id="TX-002", previous_receipt_hash=first.receipt_hash))
    assert releases.commit().previous == first.receipt_hash


@pytest.mark.requirement("continuity-release-blocks")
def test_a_prepared_release_keeps_others_out(opened: segue.Segue) -> None:
    opened.continuity.releases.prepare(manifest())
    for attempt in (
        lambda: opened.continuity.releases.prepare(manifest()),
        lambda: opened.continuity.receipts.issue(["guide.md"]),
    ):
        with pytest.raises(Refused) as refused:
            attempt()
        assert refused.value.code == "release.pending"
    opened.continuity.releases.commit()
    assert opened.continuity.receipts.issue(["guide.md"]).number == 2
    opened.continuity.releases.prepare(manifest(tx_id=None, doc_tx_id="DOC-TX-002"))


def drift(opened: segue.Segue) -> None:
    (opened.directory / "store" / "MEMORY.md").write_text("# Memory Index\n\nmore\n")


def delete(opened: segue.Segue) -> None:
    (opened.directory / "guide.md").unlink()


def lead_away(opened: segue.Segue) -> None:
    path = opened.directory / "guide.md"
    held = path.read_bytes()
    path.unlink()
    elsewhere = opened.directory.parent / "guide.md"
    elsewhere.write_bytes(held)
    path.symlink_to(elsewhere)


def edit_record(opened: segue.Segue) -> None:
    data = record_file(opened).read_bytes()
    record_file(opened).write_bytes(data.replace(b"STEP-3", b"STEP-4"))


def cut_record(opened: segue.Segue) -> None:
    record_file(opened).write_bytes(record_file(opened).read_bytes()[:-40])


def forge_record(opened: segue.Segue) -> None:
    """A record that is whole, and says that a check which failed does not matter."""
    document = json.loads(record_file(opened).read_bytes())
    document["prepared"]["validator_results"]["document"] = "fail"
    document["prepared_hash"] = canonical.digest(document["prepared"], "")
    record_file(opened).write_text(json.dumps(document))


def prepare_by_hand(opened: segue.Segue) -> None:
    """A whole record by somebody who writes files and has no store: no validator was asked."""
    document = json.loads(record_file(opened).read_bytes())
    (opened.directory / "guide.md").write_bytes(b"\xff")
    for each in document["prepared"]["artifacts"]:
        if each["path"] == "guide.md":
            each |= {"sha256": hashlib.sha256(b"\xff").hexdigest(), "bytes": 1}
    document["prepared_hash"] = canonical.digest(document["prepared"], "")
    record_file(opened).write_text(json.dumps(document))


def lead_out(opened: segue.Segue) -> None:
    document = json.loads(record_file(opened).read_bytes())
    document["prepared"]["artifacts"][0]["path"] = "../guide.md"
    document["prepared_hash"] = canonical.digest(document["prepared"], "")
    record_file(opened).write_text(json.dumps(document))


def move_chain(opened: segue.Segue) -> None:
    (opened.continuity.place.folder / files.RELEASE).rename(opened.directory / "kept.json")
    opened.continuity.receipts.issue(["guide.md"])
    (opened.directory / "kept.json").rename(record_file(opened))


_CHANGES = [drift, delete, lead_away, edit_record, cut_record, forge_record, prepare_by_hand, lead_out, move_chain]


@pytest.mark.requirement("continuity-release-drift")
@pytest.mark.parametrize("change", _CHANGES)
@pytest.mark.parametrize("verb", ["commit", "recover"])
def test_what_was_changed_since_aborts_it(
    opened: segue.Segue, change: Callable[[segue.Segue], None], verb: str
) -> None:
    releases = opened.continuity.releases
    releases.prepare(manifest(), ANSWER)
    change(opened)
    before = len(opened.continuity.receipts.ls())
    if verb == "commit":
        with pytest.raises(InvalidInput) as refused:
            releases.commit()
        assert refused.value.code == "release.aborted"
        assert refused.value.details["errors"]
    else:
        assert releases.recover().errors
    assert state(opened) == "ABORTED"
    assert len(opened.continuity.receipts.ls()) == before
    assert releases.recover().state == "ABORTED"
    with pytest.raises(InvalidInput):
        releases.commit()


@pytest.mark.requirement("continuity-receipt-validator")
def test_what_its_validator_changes_is_not_prepared(opened: segue.Segue) -> None:
    change = json.dumps([sys.executable, "-c", "open('guide.md', 'a').write('more')"])
    (opened.directory / "segue.toml").write_text(f"[continuity]\nvalidator = {change}\n")
    with pytest.raises(InvalidInput) as refused:
        opened.continuity.releases.prepare(manifest())
    assert refused.value.code == "receipt.changed"
    assert not record_file(opened).exists()


@pytest.mark.parametrize(
    "members",
    [
        {"not_run": ["why ghp_" + "a1" * 20]},
        {"readiness_manifest": {"ready": True, "ghp_" + "a1" * 20: 1}},
        {"current_step": "AKIA" + "QWERTYUIOPASDFGH"},
    ],
)
def test_a_manifest_with_a_secret_is_refused(opened: segue.Segue, members: dict[str, Any]) -> None:
    with pytest.raises(RedactionRefused) as refused:
        opened.continuity.releases.prepare(manifest(**members))
    assert refused.value.code == "release.redaction"
    assert "a1a1a1a1a1" not in str(refused.value.details) + refused.value.message
    assert not record_file(opened).exists()


@pytest.mark.parametrize("depth", [61, 62, 63, 64, 200])
def test_a_manifest_that_no_receipt_could_hold_is_not_prepared(opened: segue.Segue, depth: int) -> None:
    nested: Any = 1
    for _ in range(depth):
        nested = {"a": nested}
    releases = opened.continuity.releases
    try:
        releases.prepare(manifest(readiness_manifest={"ready": True, "more": nested}))
    except InvalidInput:
        assert not record_file(opened).exists()
    else:
        assert releases.commit().tx_id == "TX-0001"
    with pytest.raises(InvalidInput):
        releases.prepare(manifest(tx_id=None, readiness_manifest={"ready": True, "more": "x" * files.MAX_DOCUMENT}))


def test_a_broken_chain_aborts_it(opened: segue.Segue) -> None:
    opened.continuity.receipts.issue(["guide.md"])
    opened.continuity.releases.prepare(manifest(tx_id=None))
    (opened.continuity.place.folder / files.RECEIPTS / "TX-0001.json").unlink()
    record = opened.continuity.releases.recover()
    assert (record.state, "TX-0001 is missing" in record.errors[0]) == ("ABORTED", True)
    with pytest.raises(NotFound):
        opened.at(opened.directory.parent).continuity.releases.recover()


@pytest.mark.requirement("continuity-release-recovers")
@pytest.mark.parametrize("step", ["_vouch", "_name"])
def test_a_commit_that_stopped_is_finished(opened: segue.Segue, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    opened.continuity.releases.prepare(manifest(), ANSWER)

    def crash(*_: object) -> None:
        raise Failed("test.crash", "the machine stopped here")

    with monkeypatch.context() as patch, pytest.raises(Failed):
        patch.setattr(receipt_chain.ReceiptChain, step, crash)
        opened.continuity.releases.commit()
    assert state(opened) == "PREPARED"
    if step == "_name":
        drift(opened)  # too late: it was issued
    assert opened.continuity.releases.recover().state == "COMMITTED"
    assert [each.tx_id for each in opened.continuity.receipts.ls()] == ["TX-0001"]


@pytest.mark.requirement("continuity-release-recovers")
def test_a_receipt_without_its_last_note_is_not_issued_twice(
    opened: segue.Segue, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened.continuity.releases.prepare(manifest(), ANSWER)

    def crash(*_: object) -> None:
        raise Failed("test.crash", "the machine stopped here")

    with monkeypatch.context() as patch, pytest.raises(Failed):
        patch.setattr(Releases, "_ended", crash)
        opened.continuity.releases.commit()
    assert state(opened) == "PREPARED"
    assert opened.continuity.releases.commit() == opened.continuity.receipts.get("TX-0001")
    assert len(opened.continuity.receipts.ls()) == 1


def test_a_plain_receipt_is_no_release(opened: segue.Segue) -> None:
    opened.continuity.receipts.issue(["guide.md"])
    for tx in (None, "TX-0001"):
        with pytest.raises(NotFound) as refused:
            opened.continuity.releases.validate(tx)
        assert refused.value.code == "release.none"


@pytest.mark.requirement("continuity-release-drift")
def test_a_release_of_which_a_file_was_changed_does_not_validate(opened: segue.Segue) -> None:
    opened.continuity.releases.prepare(manifest())
    opened.continuity.releases.commit()
    drift(opened)
    report = opened.continuity.releases.validate()
    assert [(each.code, each.path) for each in report.problems] == [("receipt.drift", "store/")]
    assert [each.code for each in opened.continuity.releases.validate(response=b"x").problems][-1] == "receipt.response"


def test_a_manifest_is_not_changed(opened: segue.Segue) -> None:
    given = manifest()
    kept = copy.deepcopy(given)
    opened.continuity.releases.prepare(given)
    assert given == kept
