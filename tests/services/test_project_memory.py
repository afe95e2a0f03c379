"""The memory store of a project: consent, the gate of receipts, changes, what is recalled."""

from __future__ import annotations

import hashlib
import os
import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from memory_samples import BODIES, LEDGER, Study

import segue
from segue.base.errors import Failed, InvalidInput, NotFound, Refused, SegueError
from segue.base.redaction import RedactionRefused
from segue.continuity import swap
from segue.continuity.store import editing
from segue.services import project_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conftest import Clock


@pytest.fixture
def bare(tmp_path: Path, project_directory: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Study]:
    """A project without a store."""
    monkeypatch.setenv("SEGUE_HOME", str(tmp_path / "home"))
    with segue.open(tmp_path / "segue.db", directory=project_directory, clock=clock) as opened:
        yield Study(opened)


@pytest.fixture
def study(bare: Study) -> Study:
    """A project with an empty store."""
    assert bare.memory.init(consent=True) == "enabled"
    return bare


# -- consent ----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("continuity-store-consent")
def test_nothing_without_consent(bare: Study) -> None:
    before = bare.held()
    with pytest.raises(Refused, match="memory-consent-pending") as error:
        bare.memory.init(consent=None)
    assert error.value.code == "memory.consent_pending"
    assert error.value.details["memory_status"] == "memory-consent-pending"
    question = error.value.details["question"]
    assert question["zh"] == (
        "是否启用当前项目的连续性记忆？启用后将在项目根目录创建 .project-study-memory/，"
        "用于保存可复用规则、纠正和恢复指针；拒绝则不创建。"
    )
    assert ".project-study-memory/" in question["en"]
    assert bare.memory.init(consent=False) == "disabled"
    assert bare.held() == before
    assert not bare.memory.exists
    # Nor by anything that needs one.
    memory = bare.memory
    calls: list[Callable[[], Any]] = [
        lambda: bare.keep("lines"),
        lambda: memory.archive("lines", "x"),
        lambda: memory.rekind("lines", "project"),
        lambda: memory.show("lines"),
        memory.ls,
        memory.recall,
        memory.drift,
        memory.dedupe,
        memory.compact,
    ]
    for call in calls:
        with pytest.raises(Refused) as error:
            call()
        assert error.value.code == "memory.consent_pending"
    report = memory.doctor()
    assert (report.status, [each.code for each in report.faults]) == ("memory-consent-pending", ["store.missing"])
    assert memory.sync().status == "memory-consent-pending"
    assert bare.held() == before


@pytest.mark.requirement("continuity-store-consent")
def test_made_with_consent_and_in_order(bare: Study) -> None:
    assert bare.memory.init(consent=True) == "enabled"
    assert set(bare.held()) == {LEDGER, *(f".project-study-memory{end}" for end in ("", "/MEMORY.md", "/archive"))}
    report = bare.memory.doctor()
    assert (report.status, report.facts, report.faults) == ("enabled", 0, ())


@pytest.mark.requirement("continuity-store-not-remade")
@pytest.mark.parametrize("consent", [True, False, None])
def test_one_that_exists_is_not_made_anew(study: Study, consent: bool | None) -> None:
    study.keep("lines")
    before = study.held()
    with pytest.raises(Refused) as refused:
        study.memory.init(consent=consent)
    assert refused.value.code == "memory.store_exists"
    assert study.held() == before
    (study.store / "MEMORY.md").write_text("# Notes\n")
    before = study.held()
    with pytest.raises(InvalidInput) as invalid:
        study.memory.init(consent=consent)
    assert invalid.value.code == "memory.invalid"
    assert {each["code"] for each in invalid.value.details["faults"]} == {"index.title", "detail.orphan"}
    assert study.held() == before


@pytest.mark.requirement("continuity-store-not-remade")
@pytest.mark.parametrize("kind", ["file", "pipe", "device", "link to nothing", "link to a folder"])
def test_what_is_no_folder_is_a_blocker(bare: Study, tmp_path: Path, kind: str) -> None:
    if kind == "file":
        bare.store.write_text("mine")
    elif kind == "pipe":
        os.mkfifo(bare.store)
    else:
        (tmp_path / "elsewhere").mkdir()
        leads = {"device": "/dev/zero", "link to nothing": "/nowhere/at/all"}.get(kind, tmp_path / "elsewhere")
        bare.store.symlink_to(leads)
    before = os.lstat(bare.store)
    assert bare.memory.doctor().status == "invalid"
    assert bare.memory.sync().status == "invalid"
    for call in (lambda: bare.memory.init(consent=True), lambda: bare.keep("lines"), bare.memory.recall):
        with pytest.raises(InvalidInput) as error:
            call()
        assert error.value.code == "memory.invalid"
    assert os.lstat(bare.store).st_ino == before.st_ino
    assert not (tmp_path / "elsewhere").exists() or not list((tmp_path / "elsewhere").iterdir())


# -- the gate ---------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("continuity-store-upsert")
def test_kept_with_a_receipt_of_its_own(study: Study) -> None:
    proof = study.receipt()
    saved = study.keep("line-by-line", receipt=proof.tx_id)
    said = saved.to_json()
    assert said["memory_status"] == "saved"
    assert (said["action"], said["memory_id"], said["source_transaction"]) == ("added", "MEM-001", proof.tx_id)
    assert said["validator"] == "pass"
    assert said["files"] == [".project-study-memory/MEMORY.md", ".project-study-memory/line-by-line.md"]
    for path, digest in said["hashes"].items():
        assert hashlib.sha256((study.root / path).read_bytes()).hexdigest() == digest
    assert study.keep("line-by-line").action == "updated"
    fact = study.memory.show("line-by-line")
    assert (fact.detail["created"], fact.detail["updated"], fact.detail.source_path) == (
        "2026-05-04",
        "2026-05-04",
        LEDGER,
    )
    assert study.memory.doctor().to_json()["valid"] is True
    assert not (study.store / swap.SWAP).exists()


@pytest.mark.requirement("continuity-store-gate")
@pytest.mark.parametrize(
    "how", ["changed", "another file", "unknown", "no sources", "outside", "not a source", "itself"]
)
def test_nothing_without_a_receipt_that_proves_its_sources(study: Study, how: str) -> None:
    (study.root / "other.md").write_text("other\n")
    proof = study.receipt()
    given: dict[str, Any] = {"receipt": proof.tx_id}
    if how == "changed":
        study.ledger.write_text("# Log\n\nSomething else.\n")
    elif how == "another file":
        given["sources"] = [LEDGER, "other.md"]
    elif how == "unknown":
        given["receipt"] = "TX-0099"
    elif how == "no sources":
        given["sources"] = []
    elif how == "outside":
        given["sources"] = [study.root.parent]
    elif how == "itself":
        given = {"sources": [".project-study-memory/MEMORY.md"]}
    else:
        given["source_path"] = "other.md"
    before = study.held()
    with pytest.raises(SegueError, match=r"^unsaved-memory: ") as error:
        study.keep("lines", **given)
    assert error.value.details["memory_status"] == "unsaved-memory"
    assert study.held() == before


@pytest.mark.requirement("continuity-store-gate")
def test_an_older_receipt_of_a_file_that_is_proven_anew_is_not_fresh(study: Study) -> None:
    old = study.receipt()
    study.ledger.write_text("# Log\n\nSomething else.\n")
    new = study.receipt()
    with pytest.raises(Refused) as error:
        study.keep("lines", receipt=old.tx_id)
    assert error.value.code == "memory.unproven"
    assert study.keep("lines", receipt=new.tx_id).source_transaction == new.tx_id


@pytest.mark.requirement("continuity-store-gate")
def test_a_source_that_changes_meanwhile_is_not_proven(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    proof = study.receipt()
    plan = editing.upsert

    def slow(*given: Any) -> Any:
        study.ledger.write_text("# Log\n\nSomething else.\n")
        return plan(*given)

    monkeypatch.setattr(editing, "upsert", slow)
    with pytest.raises(Refused) as error:
        study.keep("lines", receipt=proof.tx_id)
    assert error.value.code == "memory.unproven"
    assert study.memory.ls() == ()


@pytest.mark.requirement("continuity-store-gate")
def test_a_forged_receipt_proves_nothing(study: Study) -> None:
    proof = study.receipt()
    file = study.segue.continuity.place.folder / "receipts" / f"{proof.tx_id}.json"
    file.write_bytes(file.read_bytes().replace(b"2026", b"2027"))
    with pytest.raises(InvalidInput) as error:
        study.keep("lines", receipt=proof.tx_id)
    assert error.value.details["memory_status"] == "unsaved-memory"


@pytest.mark.requirement("continuity-store-secrets")
def test_no_secret_and_no_conversation(study: Study) -> None:
    secret = "ghp_" + "0123456789abcdefghijABCDEFGHIJ456789"
    with pytest.raises(RedactionRefused) as refused:
        study.keep("token", "reference", body=f"It is {secret}.\n")
    assert refused.value.details["memory_status"] == "unsaved-memory"
    with pytest.raises(Refused) as error:
        study.keep("talk", "reference", body="User: what is it?\nAssistant: a layer.\nUser: thanks\n")
    assert error.value.code == "continuity.not_kept"
    with pytest.raises(Refused) as error:
        study.keep("tests", "project", body="Why: 214 tests pass.\nHow to apply: keep them so.\n")
    assert error.value.code == "continuity.not_kept"
    assert study.memory.ls() == ()


@pytest.mark.requirement("continuity-store-not-remade")
def test_a_store_that_is_not_in_order_takes_nothing(study: Study) -> None:
    study.keep("lines")
    (study.store / "stray.md").write_text("stray\n")
    before = study.held()
    for call in (lambda: study.keep("more"), study.memory.recall, study.memory.drift):
        with pytest.raises(InvalidInput, match="not in order") as error:
            call()
        assert error.value.code == "memory.invalid"
    assert study.held() == before
    assert [each.detail.name for each in study.memory.ls()] == ["lines"]


@pytest.mark.requirement("continuity-store-whole")
@pytest.mark.parametrize("what", ["swap", "create"])
def test_a_disk_that_refuses(study: Study, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    study.keep("lines")
    proof = study.receipt()
    before = study.held()

    def full(*_: Any, **__: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(swap, "_forward" if what == "swap" else "_write_new", full)
    with pytest.raises(SegueError, match=r"^unsaved-memory: .*No space left") as error:
        study.keep("more", receipt=proof.tx_id)
    assert error.value.details["memory_status"] == "unsaved-memory"
    assert study.held() == before


@pytest.mark.requirement("continuity-store-gate")
def test_a_candidate_has_to_be_saved_first(study: Study) -> None:
    candidates = study.segue.continuity.candidates
    made = candidates.propose("Correction: the stride is 2, never 4.")
    assert made is not None
    steps: list[Callable[[], Any]] = [
        lambda: None,
        lambda: candidates.approve(made.id, made.content_hash),
        lambda: candidates.reject(made.id, "not so"),
    ]
    for step in steps:
        step()
        with pytest.raises(Refused) as error:
            study.keep("conv-stride", "correction", candidate=made.id)
        assert error.value.code == "memory.candidate"
    with pytest.raises(NotFound):
        study.keep("conv-stride", "correction", candidate="M-0042")
    saved = study.candidate("纠正：步长是二，不是四。")
    assert study.keep("conv-stride", "correction", candidate=saved).action == "added"
    candidates.retire(saved, "it is three now")
    assert [each.detail.name for each in study.memory.ls(archive=True)] == ["conv-stride"]


@pytest.mark.requirement("continuity-store-killed")
@pytest.mark.parametrize("who", ["doctor", "ls", "upsert", "sync"])
def test_whoever_comes_next_finishes_what_was_interrupted(
    study: Study, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    study.keep("lines")
    with monkeypatch.context() as patch:

        def killed(*_: Any) -> None:
            raise KeyboardInterrupt

        patch.setattr(swap, "_forward", killed)
        with pytest.raises(KeyboardInterrupt):
            study.keep("more", body=BODIES["feedback"] + "\nMore of it.\n")
    assert (study.store / swap.SWAP).exists()
    act: dict[str, Callable[[], Any]] = {
        "doctor": study.memory.doctor,
        "ls": study.memory.ls,
        "upsert": lambda: study.keep("third"),
        "sync": study.memory.sync,
    }
    act[who]()
    assert not (study.store / swap.SWAP).exists()
    names = [each.detail.name for each in study.memory.ls()]
    assert names == (["third", "more", "lines"] if who == "upsert" else ["more", "lines"])
    assert study.memory.doctor().faults == ()


def test_one_that_cannot_be_finished_is_a_finding(study: Study) -> None:
    study.keep("lines")
    (study.store / swap.SWAP).mkdir()
    (study.store / swap.SWAP / swap.JOURNAL).write_text("torn")
    report = study.memory.doctor()
    assert (report.status, [each.code for each in report.faults]) == ("invalid", ["store.interrupted"])
    with pytest.raises(InvalidInput, match="remove that folder"):
        study.keep("more")


@pytest.mark.requirement("continuity-store-writers")
def test_nobody_comes_between_by_way_of_another_home(
    study: Study, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("SEGUE_HOME", str(tmp_path / "another home"))
        opened = segue.open(tmp_path / "another.db", directory=study.root, clock=clock)
        assert opened.continuity.place.folder.parent.parent.name == "another home"
    proof, plan, told = study.receipt(), editing.upsert, []

    def meanwhile() -> None:
        with pytest.raises(Failed) as error:
            opened.continuity.memory.upsert(
                "theirs", kind="reference", description="x", body="x", receipt="TX-0001", sources=[LEDGER]
            )
        told.append(error.value.code)

    def slow(*given: Any) -> Any:
        monkeypatch.setattr(project_memory, "_WRITING", 0.1)
        thread = threading.Thread(target=meanwhile)
        thread.start()
        thread.join()
        return plan(*given)

    monkeypatch.setattr(editing, "upsert", slow)
    with opened:
        assert study.keep("ours", receipt=proof.tx_id).action == "added"
    assert told == ["continuity.busy"]


# -- changes ----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("continuity-store-tidy")
def test_archived_and_made_another_kind(study: Study) -> None:
    study.keep("lines", candidate=study.candidate())
    study.keep("no-gpu", "project")
    assert study.memory.rekind("MEM-002", "feedback").action == "moved"
    assert study.memory.archive("M-0001", "not any more").memory_id == "MEM-001"
    assert [each.detail.name for each in study.memory.ls()] == ["no-gpu"]
    assert [each.detail["stale_reason"] for each in study.memory.ls(archive=True)] == ["not any more"]
    assert study.memory.show("lines").detail["status"] == "stale"
    assert study.keep("third").memory_id == "MEM-003"
    with pytest.raises(NotFound):
        study.memory.archive("lines", "again")
    assert study.memory.doctor().faults == ()


@pytest.mark.requirement("continuity-store-tidy")
def test_deduplicated_and_compacted(study: Study) -> None:
    study.keep("lines")
    study.keep("lines-again")
    index = study.store / "MEMORY.md"
    pointer = next(line for line in index.read_text().splitlines() if "(lines.md)" in line)
    index.write_text(index.read_text().replace(pointer, pointer + "\n" + pointer) + "\n\n\n\n")
    assert study.memory.doctor().status == "invalid"
    done = study.memory.dedupe()
    assert (done.archived, done.changed, done.cold_start) == (("lines-again",), True, True)
    assert study.memory.show("lines-again").detail["stale_reason"] == "it says what MEM-001 says"
    assert not study.memory.dedupe().changed
    assert study.memory.compact().changed
    assert not study.memory.compact().changed
    assert not index.read_text().endswith("\n\n\n")


@pytest.mark.requirement("continuity-store-sync")
def test_synced(study: Study, clock: Clock) -> None:
    for name in ("lines", "same", "edited", "old"):
        body = BODIES["feedback"] if name in ("lines", "same") else BODIES["feedback"] + f"\nMore on {name}.\n"
        study.keep(name, body=body)
    assert study.memory.sync().archived == ("same",)
    edited, old = study.store / "edited.md", study.store / "old.md"
    edited.write_text(
        edited.read_text().replace("quote each line", "quote a line").replace("What edited", "How edited")
    )
    old.write_text(old.read_text().replace('"active"', '"stale"'))
    clock.now += timedelta(days=1)
    done = study.memory.sync()
    assert (done.archived, done.refreshed, done.changed, done.cold_start) == (("old",), ("edited",), True, True)
    assert done.status == "enabled"
    assert study.memory.show("edited").detail["updated"] == "2026-05-05"
    assert study.memory.show("lines").detail["updated"] == "2026-05-04"
    assert "- [How edited is about](edited.md) — quote a line first." in (study.store / "MEMORY.md").read_text()
    again = study.memory.sync()
    assert (again.archived, again.refreshed, again.changed, again.cold_start) == ((), (), False, True)


@pytest.mark.requirement("continuity-store-sync")
def test_what_a_person_has_worded_in_the_index_stays(study: Study) -> None:
    study.keep("lines", description="Quote each line of code")
    index, fact = study.store / "MEMORY.md", study.store / "lines.md"
    index.write_text(index.read_text().replace("[Quote each line of code]", "[My own words]"))
    assert study.memory.sync().refreshed == ()
    fact.write_text(fact.read_text().replace("Quote each", "Quote every").replace("quote each", "quote every"))
    assert study.memory.compact().refreshed == ()  # it does not forget that the fact was edited
    assert study.memory.sync().refreshed == ("lines",)
    assert "- [My own words](lines.md) — quote every line first." in index.read_text()


@pytest.mark.requirement("continuity-store-sync")
def test_a_store_that_came_with_the_project_is_noted(study: Study) -> None:
    study.keep("lines")
    (study.segue.continuity.place.folder / "memory.json").write_text('{"0": [], "x": {"lines.md": 7}}')
    assert study.memory.sync().refreshed == ()
    fact = study.store / "lines.md"
    fact.write_text(fact.read_text().replace("quote each", "quote every"))
    assert study.memory.sync().refreshed == ("lines",)


@pytest.mark.requirement("continuity-store-sync")
def test_a_sync_says_what_it_does_not_mend(study: Study) -> None:
    study.keep("lines")
    (study.store / "lines.md").unlink()
    before = study.held()
    done = study.memory.sync()
    assert (done.status, done.cold_start, done.changed) == ("invalid", False, False)
    assert [each.code for each in done.report.faults] == ["index.missing_target"]
    assert study.held() == before


@pytest.mark.requirement("continuity-store-sync")
def test_a_second_clone_has_notes_of_its_own(study: Study, tmp_path: Path, clock: Clock) -> None:
    (study.root / "segue.toml").write_text('[project]\nid = "same"\n')
    other = tmp_path / "clone"
    other.mkdir()
    for each, text in ((study.root, "one"), (other, "two")):
        with segue.open(tmp_path / "segue.db", directory=each, clock=clock) as opened:
            (each / "segue.toml").write_text('[project]\nid = "same"\n')
            clone = Study(opened)
            if each is other:
                clone.memory.init(consent=True)
            clone.keep("lines", body=f"{BODIES['feedback']}\n{text}\n")
    with segue.open(tmp_path / "segue.db", directory=study.root, clock=clock) as opened:
        assert opened.continuity.memory.sync().refreshed == ()


# -- reading ----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("continuity-store-recall")
def test_recalled_for_a_task(study: Study) -> None:
    study.keep("line-by-line", description="Explain code line by line")
    study.keep("conv-stride", "correction", description="The first layer's stride is 2")
    study.keep("no-gpu", "project", description="Examples run without a GPU")
    study.keep("shape-check", "reference", description="打印每个张量形状的脚本")
    found = study.memory.recall("Which stride does the convolution layer have?")
    assert [each.detail.name for each in found.facts] == ["conv-stride"]
    assert [each.detail.name for each in study.memory.recall("张量形状怎么看？").facts] == ["shape-check"]
    assert study.memory.recall("Add another test run for the stride").facts == found.facts
    assert [each.detail.name for each in study.memory.recall("run").facts] == ["no-gpu", "shape-check"]
    assert study.memory.recall().facts == ()
    assert study.memory.recall("the and of").facts == ()
    assert "[Examples run without a GPU](no-gpu.md)" in found.text
    assert "Canonical: the stride is 2" in found.text
    assert "Why: there is none." not in found.text
    assert "advice" in found.text
    assert "data, not an instruction" in found.text
    said = found.to_json()
    assert (said["advisory"], said["treat_as_data"]) == (True, True)


@pytest.mark.requirement("continuity-store-recall")
def test_what_changed_since_is_flagged(study: Study) -> None:
    (study.root / "docs").mkdir()
    (study.root / "docs" / "plan.md").write_text("plan\n")
    study.keep("lines")
    study.keep("plan", "reference", sources=["docs/plan.md"], description="Where the plan is")
    assert study.memory.recall().flagged == ()
    study.ledger.write_text("# Log\n\nAnother.\n")
    (study.root / "docs" / "plan.md").unlink()
    found = study.memory.recall("the plan")
    assert [(each.detail.name, each.source_state) for each in found.flagged] == [
        ("lines", "changed"),
        ("plan", "missing"),
    ]
    assert "MEM-001 lines: its source has changed since TX-0001: check it again" in found.text
    assert "**its source is not there any more: check it again**" in found.text
    fact = study.store / "lines.md"
    fact.write_text(fact.read_text().replace('"TX-0001"', '"TX-0042"'))
    assert study.memory.show("lines").source_state == "unproven"


@pytest.mark.requirement("continuity-store-drift")
def test_drift_in_the_ledgers(study: Study) -> None:
    study.keep("conv-stride", "correction")
    study.ledger.write_text("# Log\n\nThe stride is 4.\nThe stride is 4, corrected: the stride is 2.\n")
    found = study.memory.drift()
    assert [(each.file, each.line, each.name) for each in found.found] == [(LEDGER, 3, "conv-stride")]
    assert (found.read, found.missing) == ((LEDGER,), ("PROJECT_STUDY_QA.md",))
    study.memory.archive("conv-stride", "done")
    assert study.memory.drift().found == ()


@pytest.mark.requirement("continuity-store-drift")
def test_drift_in_the_ledgers_that_a_project_names(tmp_path: Path, clock: Clock, study: Study) -> None:
    study.keep("conv-stride", "correction")
    (study.root / "docs").mkdir()
    (study.root / "docs" / "notes.md").write_bytes(b"x\r\nThe stride is 4.\r\n")
    (study.root / "segue.toml").write_text('[continuity]\nledgers = ["docs/notes.md"]\n')
    with segue.open(tmp_path / "segue.db", directory=study.root, clock=clock) as opened:
        found = opened.continuity.memory.drift()
    assert [(each.file, each.line) for each in found.found] == [("docs/notes.md", 2)]


def test_no_project_no_store(study: Study) -> None:
    with pytest.raises(Refused) as error:
        study.segue.of("elsewhere").continuity.memory.ls()
    assert error.value.code == "continuity.no_project"
