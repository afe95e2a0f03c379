"""Candidates: from proposal to stale, in the journal and the store; nothing is left of a rejected one, none is lost."""

from __future__ import annotations

import json
import os
import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

import segue
from segue.base import files as base_files
from segue.base.errors import Conflict, InvalidInput, NotFound, Refused, SegueError
from segue.continuity import files
from segue.services.candidates import Candidates
from segue.storage.tables import metadata

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conftest import Clock, Locate
    from segue.continuity.candidate import Candidate

TEXT = "Correction: the Zephyr probe measures salt, never wind."
RULE = "Ask which Zephyr probe is meant before you answer."
WAIT = "Wait for the probe."
PIECES = ("Zephyr", "zephyr", "salt")
STATE: dict[str, Any] = {
    **dict.fromkeys(("current_step", "current_run", "current_node", "continuation_node")),
    **{name: [] for name in ("completed_nodes", "open_questions", "pending_user_intents")},
    **{name: [] for name in ("retest_due_questions", "recent_corrections", "evidence_ids")},
    "unique_next_action": "Go on.",
}


@pytest.fixture
def opened(locate: Locate, clock: Clock, project_directory: Path) -> Iterator[segue.Segue]:
    """A Segue over an embedded store, for what does not hang on the database."""
    with segue.open(locate("sqlite"), directory=project_directory, clock=clock) as one:
        yield one


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEGUE_HOME", str(tmp_path / "home"))


def of(opened: segue.Segue) -> Candidates:
    return opened.continuity.candidates


def proposed(opened: segue.Segue, text: str = TEXT, **options: Any) -> Candidate:
    made = of(opened).propose(text, **options)
    assert made is not None
    return made


def approved(opened: segue.Segue, text: str = TEXT, **options: Any) -> Candidate:
    made = proposed(opened, text, **options)
    return of(opened).approve(made.id, made.content_hash)


def receipt(opened: segue.Segue, *texts: str, name: str = "LOG.md") -> str:
    (opened.directory / name).write_text("\n\n".join(texts) + "\n", "utf-8")
    return opened.continuity.receipts.issue([name]).tx_id


def journal_of(opened: segue.Segue) -> Path:
    return opened.continuity.place.folder / files.JOURNAL


# -- the life of one --------------------------------------------------------------------------------------------------


@pytest.mark.requirement("continuity-saved-memory")
def test_from_proposal_to_stale(segue_: segue.Segue) -> None:
    made = proposed(segue_)
    assert (made.id, made.kind, made.status, made.content) == ("M-0001", "correction", "candidate", TEXT)
    assert segue_.memories.count() == 0  # it lives in the journal alone
    after = of(segue_).approve("M-0001", f"sha256:{made.content_hash}")
    assert (after.status, after.approved_by) == ("approved", "user")
    assert segue_.memories.count() == 0

    tx = receipt(segue_, "# Log", TEXT.replace(" ", "\n"))
    saved = of(segue_).save("m-1", tx)
    assert (saved.candidate.status, saved.candidate.release_tx_id) == ("saved", tx)
    assert saved.candidate.receipt_hash == segue_.continuity.receipts.get(tx).receipt_hash
    memory = segue_.memories.get(saved.memory_id)
    folder = segue_.continuity.place.folder.name
    assert (memory.status, memory.kind, memory.content) == ("active", "claim", TEXT)
    assert memory.project == segue_.project.name
    written = memory.provenance
    assert (written.origin, written.ref) == ("continuity", f"continuity:{folder}#M-0001")
    assert (written.receipt, written.author_class) == (tx, "user")
    assert [hit.memory.id for hit in segue_.search.find("salt probe")] == [memory.id]
    assert segue_.store.doctor() == []

    stale = of(segue_).retire("M-0001", "the probe was changed")
    assert (stale.candidate.status, stale.archived, stale.fault) == ("stale", "", "")
    assert segue_.memories.get(memory.id).status == "retired"
    assert segue_.search.find("salt probe").hits == []
    assert of(segue_).ls() == [stale.candidate] == [of(segue_).get("M-0001")]
    kinds = [event.kind for event in segue_.store.events(20) if event.kind.startswith("candidate.")]
    assert kinds == ["candidate.retired", "candidate.saved", "candidate.approved", "candidate.proposed"]


@pytest.mark.requirement("continuity-saved-memory")
@pytest.mark.parametrize(
    ("text", "options", "kind"),
    [
        ("From now on name the probe.", {}, "preference"),
        (TEXT, {}, "claim"),
        (RULE, {"trigger": "step_complete"}, "decision"),
        ("Always look limits up in the manual.", {"kind": "reference"}, "claim"),
    ],
)
def test_what_each_kind_becomes(opened: segue.Segue, text: str, options: dict[str, str], kind: str) -> None:
    approved(opened, text, **options)
    saved = of(opened).save("M-0001", receipt(opened, text))
    assert opened.memories.get(saved.memory_id).kind == kind


@pytest.mark.requirement("continuity-saved-memory")
def test_what_is_known_already_gets_the_receipt(segue_: segue.Segue) -> None:
    known = segue_.memories.remember(TEXT, project=segue_.project.name).memory
    approved(segue_)
    tx = receipt(segue_, TEXT)
    saved = of(segue_).save("M-0001", tx)
    assert saved.memory_id == known.id
    assert segue_.memories.get(known.id).provenance.receipt == tx
    waiting = segue_.memories.propose(RULE, project=segue_.project.name).memory
    approved(segue_, RULE, trigger="step_complete")
    saved = of(segue_).save("M-0002", receipt(segue_, TEXT, RULE))
    now = segue_.memories.get(waiting.id)
    assert (saved.memory_id, now.status, now.provenance.receipt) == (waiting.id, "active", "TX-0002")
    assert segue_.store.doctor() == []


@pytest.mark.requirement("continuity-saved-memory")
def test_what_it_contradicts_is_told(opened: segue.Segue) -> None:
    other = opened.memories.remember("The shop opens at 8.", project=opened.project.name).memory
    approved(opened, "Correction: the shop opens at 9.")
    approved(opened, "The shop opens at 9.", trigger="step_complete")
    of(opened).save("M-0001", receipt(opened, "Correction: the shop opens at 9."))
    saved = of(opened).save("M-0002", receipt(opened, "The shop opens at 9."))
    assert other.id in saved.conflicts


def _with_fact(opened: segue.Segue) -> None:
    """A saved candidate, and the fact that was made of it in the project's own store."""
    approved(opened)
    tx = receipt(opened, TEXT)
    of(opened).save("M-0001", tx)
    opened.continuity.memory.init(consent=True)
    opened.continuity.memory.upsert(
        "probe-salt",
        kind="correction",
        description="The probe measures salt",
        body="Original: wind\nCanonical: salt\nStale patterns: measures wind\nImpact: all readings\n",
        receipt=tx,
        sources=[opened.directory / "LOG.md"],
        candidate="M-0001",
    )


@pytest.mark.requirement("continuity-saved-memory")
def test_the_fact_that_was_made_of_it_is_archived(opened: segue.Segue) -> None:
    _with_fact(opened)
    stale = of(opened).retire("M-0001", "the probe was changed")
    assert (stale.archived, stale.fault) == ("probe-salt", "")
    report = opened.continuity.memory.doctor()
    assert (report.facts, report.archived, report.faults) == (0, 1, ())


def test_a_store_that_cannot_be_changed_keeps_nothing_from_being_stale(
    opened: segue.Segue, monkeypatch: pytest.MonkeyPatch
) -> None:
    _with_fact(opened)

    def full(*_: object) -> None:
        raise segue.Failed("file.write", "the disk is full")

    monkeypatch.setattr(type(opened.continuity.memory), "archive", full)
    stale = of(opened).retire("M-0001", "the probe was changed")
    assert (stale.candidate.status, stale.archived, stale.fault) == ("stale", "", "the disk is full")


# -- saved needs a receipt that covers it -----------------------------------------------------------------------------


@pytest.mark.requirement("continuity-saved")
def test_saved_needs_a_receipt_that_covers_the_text(segue_: segue.Segue) -> None:
    approved(segue_)
    with pytest.raises(NotFound):
        of(segue_).save("M-0001", "TX-0001")
    other = receipt(segue_, "something else", name="other.md")
    with pytest.raises(Refused) as refused:
        of(segue_).save("M-0001", other)
    assert refused.value.code == "continuity.not_covered"
    tx = receipt(segue_, TEXT)
    (segue_.directory / "LOG.md").write_text("gone\n")
    with pytest.raises(Refused):  # it covered the text once
        of(segue_).save("M-0001", tx)
    assert of(segue_).get("M-0001").status == "approved"
    assert segue_.memories.count() == 0
    text = segue_.continuity.receipts.issue([], TEXT.encode())
    assert of(segue_).save("M-0001", text.tx_id).candidate.status == "saved"


@pytest.mark.requirement("continuity-saved")
def test_only_what_was_approved_is_saved(opened: segue.Segue) -> None:
    proposed(opened)
    tx = receipt(opened, TEXT)
    with pytest.raises(Refused) as refused:
        of(opened).save("M-0001", tx)
    assert refused.value.code == "continuity.transition"
    assert opened.memories.count() == 0
    of(opened).reject("M-0001", "no")
    with pytest.raises(Refused):
        of(opened).save("M-0001", tx)


@pytest.mark.requirement("continuity-approval")
def test_an_approval_is_for_the_text_that_was_seen(opened: segue.Segue) -> None:
    one, two = proposed(opened), proposed(opened, RULE, trigger="step_complete")
    with pytest.raises(Conflict) as changed:
        of(opened).approve(one.id, two.content_hash)
    assert changed.value.code == "continuity.changed"
    assert of(opened).get(one.id).status == "candidate"


# -- what makes none --------------------------------------------------------------------------------------------------


@pytest.mark.requirement("continuity-classifier")
def test_a_question_leaves_no_trace(opened: segue.Segue) -> None:
    assert of(opened).propose("What does the Zephyr probe measure?") is None
    assert of(opened).ls() == of(opened).waiting() == []
    assert not opened.continuity.place.folder.exists()


@pytest.mark.requirement("continuity-duplicate")
def test_duplicates_are_named(opened: segue.Segue) -> None:
    approved(opened)
    with pytest.raises(Conflict) as duplicate:
        proposed(opened, TEXT.upper())
    assert duplicate.value.details == {"id": "M-0001", "status": "approved"}
    of(opened).save("M-0001", receipt(opened, TEXT))
    with pytest.raises(Conflict) as duplicate:
        proposed(opened)
    assert duplicate.value.details == {"id": "M-0001", "status": "saved"}
    of(opened).retire("M-0001", "it held until May")
    assert proposed(opened).id == "M-0002"


@pytest.mark.requirement("continuity-duplicate")
def test_what_was_rejected_comes_again_only_on_purpose(segue_: segue.Segue) -> None:
    proposed(segue_)
    of(segue_).reject("M-0001", "not so")
    with pytest.raises(Refused) as refused:
        proposed(segue_)
    assert (refused.value.code, refused.value.details) == ("continuity.rejected", {"id": "M-0001"})
    assert proposed(segue_, again=True).id == "M-0002"


# -- nothing is left of a rejected one --------------------------------------------------------------------------------


def held(opened: segue.Segue, home: Path) -> bytes:
    """All that is stored anywhere: every file of the home and of the store, every column of a server's tables."""
    store = opened.store.path
    folders = [home, *([store.parent] if store is not None else [])]
    data = [each.read_bytes() for folder in folders for each in sorted(folder.rglob("*")) if each.is_file()]
    if store is None:
        with opened._database.read() as connection:
            for table in metadata.sorted_tables:
                data += [repr(tuple(row)).encode() for row in connection.execute(sa.select(table))]
    return b"\n".join(data)


def _plainly(opened: segue.Segue, _: pytest.MonkeyPatch) -> None:
    proposed(opened)


def _after_approval(opened: segue.Segue, _: pytest.MonkeyPatch) -> None:
    approved(opened)


def _after_half_a_save(opened: segue.Segue, patch: pytest.MonkeyPatch) -> None:
    """Killed between the store and the journal."""
    approved(opened)
    tx = receipt(opened, TEXT)
    with patch.context() as broken:
        broken.setattr(Candidates, "_write", lambda *_: (_ for _ in ()).throw(segue.Failed("test", "killed")))
        with pytest.raises(segue.Failed):
            of(opened).save("M-0001", tx)
    assert opened.memories.count() == 1
    (opened.directory / "LOG.md").unlink()


def _after_half_a_write(opened: segue.Segue, _: pytest.MonkeyPatch) -> None:
    """Killed while the journal was written, and the partial file is left."""
    proposed(opened)
    path = journal_of(opened)
    path.with_name(base_files.partial_name(path.name)).write_bytes(path.read_bytes())


def _after_a_handoff(opened: segue.Segue, _: pytest.MonkeyPatch) -> None:
    """A handoff that was made before outlives what it speaks of."""
    proposed(opened)
    opened.continuity.handoffs.create(STATE)


@pytest.mark.requirement("continuity-rejected")
@pytest.mark.parametrize("way", [_plainly, _after_approval, _after_half_a_save, _after_half_a_write, _after_a_handoff])
def test_nothing_is_left_of_what_was_rejected(
    segue_: segue.Segue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: Callable[..., None]
) -> None:
    way(segue_, monkeypatch)
    plain = of(segue_).get("M-0001").content_hash
    assert TEXT.encode() in held(segue_, tmp_path / "home")  # the search would find it
    rejected = of(segue_).reject("M-0001", "it was never measured")
    segue_.store.vacuum()
    left = held(segue_, tmp_path / "home")
    assert [piece for piece in PIECES if piece.encode() in left] == []
    assert plain.encode() not in left  # a plain hash would tell who guesses the text
    assert rejected.content_hash.encode() in left
    entry = json.loads(journal_of(segue_).read_bytes())["candidates"][0]
    assert entry == rejected.to_json()
    assert list(entry) == ["candidate_id", "status", "content_hash", "rejected_at", "reason"]
    assert segue_.store.doctor() == []


@pytest.mark.requirement("continuity-forgotten")
@pytest.mark.parametrize("first", ["", "memory", "stale"])
def test_nothing_is_left_of_what_was_forgotten(segue_: segue.Segue, tmp_path: Path, first: str) -> None:
    approved(segue_)
    saved = of(segue_).save("M-0001", receipt(segue_, TEXT))
    segue_.continuity.handoffs.create(STATE)
    (segue_.directory / "LOG.md").unlink()
    places = segue_.memories.still_in(saved.memory_id)
    assert places == [("candidate", f"{segue_.continuity.place.folder.name}#M-0001")]
    if first == "memory":
        segue_.memories.forget(saved.memory_id)
        assert TEXT.encode() in held(segue_, tmp_path / "home")
    if first == "stale":
        of(segue_).retire("M-0001", "tides")
    left = of(segue_).forget("m-1")
    assert (left.status, left.content) == ("stale", "")
    assert left.release_tx_id == "TX-0001"
    assert left.reason == ("tides" if first == "stale" else "forgotten")
    assert of(segue_).forget("m-1") == left == of(segue_).get("M-0001")
    segue_.store.vacuum()
    stored = held(segue_, tmp_path / "home")
    assert [piece for piece in (*PIECES, saved.candidate.content_hash) if piece.encode() in stored] == []
    assert segue_.continuity.handoffs.create(STATE).handoff.memory_candidates[0]["content_hash"] == left.content_hash
    assert proposed(segue_).id == "M-0002"


@pytest.mark.requirement("continuity-journal")
@pytest.mark.parametrize("then", ["rejected", "saved", "forgotten"])
def test_a_new_journal_gives_no_number_again_that_a_memory_has(segue_: segue.Segue, then: str) -> None:
    approved(segue_)
    saved = of(segue_).save("M-0001", receipt(segue_, TEXT))
    journal_of(segue_).unlink()
    other = approved(segue_, RULE, trigger="step_complete")
    assert other.id == "M-0002"
    if then == "rejected":
        of(segue_).reject(other.id, "no")
    else:
        of(segue_).save(other.id, receipt(segue_, RULE, name="QA.md"))
    if then == "forgotten":
        of(segue_).forget(other.id)
    assert segue_.memories.get(saved.memory_id).status == "active"


@pytest.mark.requirement("continuity-forgotten")
def test_what_something_else_says_too_stays(opened: segue.Segue) -> None:
    own = opened.memories.remember(TEXT, kind="claim", project="project").memory
    approved(opened)
    saved = of(opened).save("M-0001", receipt(opened, TEXT))
    assert saved.memory_id == own.id
    of(opened).forget("M-0001")
    assert opened.memories.get(own.id).content == TEXT


@pytest.mark.requirement("continuity-forgotten")
def test_what_was_never_saved_is_rejected_and_not_forgotten(opened: segue.Segue) -> None:
    proposed(opened)
    with pytest.raises(Refused):
        of(opened).forget("M-0001")
    assert of(opened).get("M-0001").content == TEXT


@pytest.mark.requirement("continuity-rejected")
def test_a_journal_of_the_reference_is_reduced_with_the_next_write(opened: segue.Segue) -> None:
    proposed(opened)
    path = journal_of(opened)
    document = json.loads(path.read_bytes())
    foreign = document["candidates"][0] | {"candidate_id": "M-007", "status": "rejected", "reason": "no"}
    path.write_bytes(_journal([*document["candidates"], foreign]))
    assert of(opened).get("M-7").content == ""
    proposed(opened, RULE, trigger="step_complete")
    entries = json.loads(path.read_bytes())["candidates"]
    assert [each["candidate_id"] for each in entries] == ["M-0001", "M-007", "M-0008"]
    assert set(entries[1]) == {"candidate_id", "status", "content_hash", "rejected_at", "reason"}
    assert entries[1]["content_hash"] != foreign["content_hash"]


def _journal(entries: list[Any]) -> bytes:
    from continuity.samples import journal_file

    return journal_file(entries)


# -- the journal is one -----------------------------------------------------------------------------------------------


@pytest.mark.requirement("continuity-journal")
def test_a_journal_that_was_changed_is_not_used(opened: segue.Segue) -> None:
    proposed(opened)
    path = journal_of(opened)
    path.write_bytes(path.read_bytes().replace(b"never wind", b"never rain"))
    before = path.read_bytes()
    for act in (of(opened).ls, of(opened).waiting, lambda: proposed(opened, RULE, trigger="step_complete")):
        with pytest.raises(InvalidInput) as invalid:
            act()
        assert invalid.value.code == "continuity.journal"
    assert path.read_bytes() == before


def test_the_journal_is_its_owners_alone(opened: segue.Segue) -> None:
    proposed(opened)
    folder = opened.continuity.place.folder
    assert (folder.stat().st_mode & 0o777, journal_of(opened).stat().st_mode & 0o777) == (0o700, 0o600)


def test_other_projects_have_their_own(opened: segue.Segue, tmp_path: Path) -> None:
    proposed(opened)
    (tmp_path / "other").mkdir()
    other = opened.at(tmp_path / "other")
    assert of(other).ls() == []
    assert proposed(other, RULE, trigger="step_complete").id == "M-0001"
    elsewhere = opened.of("another-scope")
    assert of(elsewhere).waiting() == []
    with pytest.raises(Refused):
        of(elsewhere).ls()


def _forked(act: Callable[[], object]) -> int:
    """Run `act` in a fork, which ends with it; return its process."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            act()
            code = 0
        finally:
            os._exit(code)
    return child


@pytest.mark.requirement("continuity-journal-writers")
def test_eight_writers_lose_nothing(opened: segue.Segue) -> None:
    waiting, go = os.pipe()
    proposed(opened, "The first step taught all.", trigger="step_complete")

    def work(number: int) -> None:
        with segue.open(opened.store.path, directory=opened.directory) as own:
            os.close(go)
            os.read(waiting, 1)  # until all are there
            for step in range(3):
                made = proposed(own, f"Step {step} taught worker {number} to wait.", trigger="step_complete")
                if step == 0:
                    of(own).reject(made.id, "it was the first")

    workers = [_forked(lambda number=number: work(number)) for number in range(8)]  # type: ignore[misc]
    os.close(go)
    assert [os.waitpid(each, 0)[1] for each in workers] == [0] * 8
    os.close(waiting)
    found = of(opened).ls()
    assert [each.id for each in found] == [f"M-{number:04}" for number in range(1, 26)]
    said = {each.content for each in found[1:] if each.status == "candidate"}
    assert said == {f"Step {step} taught worker {number} to wait." for step in (1, 2) for number in range(8)}
    assert len([each for each in found if each.status == "rejected"]) == 8


# -- killed at each write ---------------------------------------------------------------------------------------------


def _killed(act: Callable[[], object], point: int) -> int:
    """Run `act` in a fork, which dies before write number `point` of it; return how many writes there were."""
    reading, writing = os.pipe()

    def watched() -> None:
        count = 0

        def step(event: str, arguments: tuple[Any, ...]) -> None:
            nonlocal count
            writes = event in ("os.rename", "os.remove", "os.mkdir", "os.chmod")
            if event == "open" and isinstance(arguments[2], int):
                writes = bool(arguments[2] & (os.O_CREAT | os.O_WRONLY | os.O_RDWR))
            if writes:
                count += 1
                os.write(writing, b".")
                if count == point:
                    os._exit(9)

        sys.addaudithook(step)
        act()

    child = _forked(watched)
    os.close(writing)
    with os.fdopen(reading, "rb") as seen:
        made = len(seen.read())
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == (9 if point else 0)
    return made


STEPS: dict[str, Callable[[segue.Segue], object]] = {
    "propose": lambda each: of(each).propose("From now on name the probe."),
    "approve": lambda each: of(each).approve("M-0001", of(each).get("M-0001").content_hash),
    "reject": lambda each: of(each).reject("M-0002", "no"),
    "save": lambda each: of(each).save("M-0002", "TX-0001"),
    "retire": lambda each: of(each).retire("M-0003", "no"),
}


@pytest.mark.requirement("continuity-journal-writers")
@pytest.mark.parametrize(
    ("step", "every"),
    [("reject", 4), ("save", 5), *(pytest.param(step, 1, marks=pytest.mark.soak) for step in STEPS)],
)
def test_killed_at_each_write(
    step: str, every: int, tmp_path: Path, project_directory: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    template, copy = tmp_path / "template", tmp_path / "copy"

    def placed(folder: Path) -> segue.Segue:
        monkeypatch.setenv("SEGUE_HOME", str(folder))
        return segue.open(directory=project_directory, clock=clock)

    def act() -> None:
        with placed(copy) as opened:
            STEPS[step](opened)

    def seen() -> tuple[list[str], list[str]]:
        """The states of the candidates, and the texts that are active."""
        with placed(copy) as opened:
            assert opened.store.doctor() == []
            return [each.status for each in of(opened).ls()], [
                each.content for each in opened.memories.ls().memories if each.status == "active"
            ]

    def anew() -> None:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(template, copy)

    with placed(template) as opened:
        proposed(opened)
        approved(opened, RULE, trigger="step_complete")
        approved(opened, WAIT, trigger="step_complete")
        of(opened).save("M-0003", receipt(opened, RULE, WAIT))
    anew()
    before = seen()
    total = _killed(act, 0)
    after = seen()
    assert before != after
    assert total > 5
    found = set()
    for point in {*range(1, total + 1, every), total}:
        anew()
        _killed(act, point)
        states, _ = seen()
        assert states in (before[0], after[0])
        found.add(states == after[0])
        if states == before[0]:
            _killed(act, 0)  # once more, it comes to its end
        assert seen() == after
    assert found == {False, True}


def test_errors_are_ours(opened: segue.Segue) -> None:
    proposed(opened)
    for act in (
        lambda: of(opened).get("M-9"),
        lambda: of(opened).approve("M-0001", ""),
        lambda: of(opened).approve("M-0001", "0" * 64, by="agent"),
        lambda: of(opened).reject("M-0001", ""),
        lambda: of(opened).retire("M-0001", "x"),
        lambda: of(opened).propose("x\ud800", trigger="step_complete"),
        lambda: of(opened).propose("x" * 5_000, trigger="step_complete"),
        lambda: of(opened).propose("x", trigger="step_complete", kind="opinion"),
    ):
        with pytest.raises(SegueError):
            act()
