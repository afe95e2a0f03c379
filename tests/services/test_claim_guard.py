"""The claim guard over a project's receipts: nothing that is replayed, drifted, tampered with or elsewhere proves."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import segue
from segue.continuity import files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import Clock, Locate

CLAIM = "I've recorded your preference."
NAMING = "I recorded your preference in PROJECT_STUDY_LOG.md."


@pytest.fixture
def opened(locate: Locate, clock: Clock, project_directory: Path) -> Iterator[segue.Segue]:
    """A Segue over an embedded store, for what does not hang on the database."""
    (project_directory / "PROJECT_STUDY_LOG.md").write_text("A fact.\n", "utf-8")
    with segue.open(locate("sqlite"), directory=project_directory, clock=clock) as one:
        yield one


def why(opened: segue.Segue, text: str, given: str | Path | None = None) -> str:
    verdict = opened.continuity.claims.check(text, given)
    return verdict.unproven[0].why if verdict.unproven else ""


@pytest.mark.requirement("continuity-guard")
def test_a_receipt_proves_its_text_to_the_letter(segue_: segue.Segue, project_directory: Path) -> None:
    (project_directory / "PROJECT_STUDY_LOG.md").write_text("A fact.\n", "utf-8")
    assert why(segue_, CLAIM) == "no receipt is bound to this text"
    made = segue_.continuity.receipts.issue(["PROJECT_STUDY_LOG.md"], CLAIM.encode())
    for given in (None, made.tx_id, "TX-1", segue_.continuity.place.folder / files.RECEIPTS / "TX-0001.json"):
        verdict = segue_.continuity.claims.check(CLAIM, given)
        assert (verdict.passes, verdict.receipt, len(verdict.claims)) == (True, "TX-0001", 1)
    assert segue_.continuity.claims.check(CLAIM, made).passes
    assert segue_.continuity.claims.check(CLAIM.encode()).passes


@pytest.mark.requirement("continuity-guard-replay")
@pytest.mark.parametrize("text", [f"{CLAIM} ", f"{CLAIM}\n", f"{CLAIM} And it is saved.", CLAIM.upper(), NAMING])
def test_bound_to_one_text_it_proves_no_other(opened: segue.Segue, text: str) -> None:
    opened.continuity.receipts.issue(["PROJECT_STUDY_LOG.md"], CLAIM.encode())
    assert why(opened, text, "TX-0001") == "TX-0001 is bound to another text"
    assert why(opened, text) == "no receipt is bound to this text"


@pytest.mark.requirement("continuity-guard-replay")
def test_what_has_drifted_proves_nothing(opened: segue.Segue) -> None:
    log = opened.directory / "PROJECT_STUDY_LOG.md"
    opened.continuity.receipts.issue(["PROJECT_STUDY_LOG.md"], CLAIM.encode())
    opened.continuity.receipts.issue(["PROJECT_STUDY_LOG.md"])
    assert why(opened, CLAIM) == why(opened, NAMING, "TX-0002") == ""
    log.write_text("Another fact.\n", "utf-8")
    assert why(opened, CLAIM) == why(opened, CLAIM, "TX-0001") == "PROJECT_STUDY_LOG.md was changed after TX-0001"
    assert why(opened, NAMING, "TX-0002") == "PROJECT_STUDY_LOG.md was changed after TX-0002"
    opened.continuity.receipts.issue(["PROJECT_STUDY_LOG.md"])
    assert why(opened, NAMING, "TX-0003") == ""
    assert (
        why(opened, NAMING, "TX-0002") == "PROJECT_STUDY_LOG.md was changed after TX-0002"
    )  # an older one is a replay
    log.unlink()
    assert why(opened, NAMING, "TX-0003") == "PROJECT_STUDY_LOG.md was changed after TX-0003"


@pytest.mark.requirement("continuity-guard-replay")
def test_files_prove_the_sentences_that_name_them(opened: segue.Segue) -> None:
    (opened.directory / "notes").mkdir()
    (opened.directory / "notes" / "进度.md").write_text("一", "utf-8")
    opened.continuity.receipts.issue(["PROJECT_STUDY_LOG.md", "notes"])
    assert why(opened, NAMING, "TX-0001") == ""
    assert why(opened, "记忆已保存到进度.md。", "TX-0001") == "TX-0001 does not speak of 记忆已保存到进度.md"
    assert why(opened, "记忆已保存到 notes/进度.md。", "TX-0001") == ""
    assert why(opened, CLAIM, "TX-0001") == "TX-0001 is bound to files alone, and the sentence names none"
    assert why(opened, NAMING) == "no receipt is bound to this text"  # it has to be named
    assert (
        why(opened, "I recorded your preference in PROJECT_STUDY_LOG.md and PROJECT_STUDY_QA.md.", "TX-0001")
        == "TX-0001 does not speak of PROJECT_STUDY_QA.md"
    )


@pytest.mark.requirement("continuity-guard-replay")
def test_a_receipt_has_to_hold(opened: segue.Segue) -> None:
    made = opened.continuity.receipts.issue(["PROJECT_STUDY_LOG.md"], CLAIM.encode())
    path = opened.continuity.place.folder / files.RECEIPTS / "TX-0001.json"
    copied = opened.directory / "copy.json"
    copied.write_bytes(path.read_bytes())
    assert why(opened, CLAIM, copied) == ""
    copied.write_bytes(path.read_bytes().replace(b'"pass"', b'"fail"'))
    assert "this is no receipt" in why(opened, CLAIM, copied)
    copied.write_text(json.dumps({"persistence_status": "saved", "validator": "pass"}), "utf-8")  # bound to nothing
    assert "this is no receipt" in why(opened, CLAIM, copied)
    copied.write_text("{", "utf-8")
    assert "does not read" in why(opened, CLAIM, copied)
    assert "does not read" in why(opened, CLAIM, opened.directory / "absent.json")
    assert "there is no receipt TX-0007" in why(opened, CLAIM, "TX-7")
    path.write_bytes(path.read_bytes().replace(made.receipt_hash.encode(), b"0" * 64))
    assert "do not hold" in why(opened, CLAIM)
    assert "do not hold" in why(opened, CLAIM, "TX-0001")
    assert opened.continuity.claims.check("It is not saved.", "TX-0001").passes  # nothing is claimed


def test_a_receipt_of_another_project_proves_nothing(opened: segue.Segue, tmp_path: Path) -> None:
    opened.continuity.receipts.issue(["PROJECT_STUDY_LOG.md"], CLAIM.encode())
    path = opened.continuity.place.folder / files.RECEIPTS / "TX-0001.json"
    (tmp_path / "other").mkdir()
    other = opened.at(tmp_path / "other")
    assert other.continuity.claims.check(CLAIM).unproven[0].why == "no receipt is bound to this text"
    assert why(other, CLAIM, path) == "TX-0001 does not hold: `segue receipt verify` says why"
    assert why(opened.of(opened.memories.scope_id), CLAIM) == ("there is no project here whose receipts could prove it")


def test_the_guard_writes_nothing(opened: segue.Segue) -> None:
    opened.continuity.claims.check(CLAIM)
    opened.continuity.claims.check(CLAIM, "TX-0001")
    assert not opened.continuity.place.folder.exists()
    assert [each.name for each in opened.directory.iterdir()] == ["PROJECT_STUDY_LOG.md"]
    assert json.dumps(opened.continuity.claims.check(CLAIM).to_json())
