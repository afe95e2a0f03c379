"""Handoffs of a project: kept apart from it, restored while its files are as they were."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

import segue
from segue.base.errors import Failed, InvalidInput, NotFound, SegueError
from segue.base.redaction import RedactionRefused
from segue.continuity import files, handoff
from segue.services import handoffs as service

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import Clock, Locate

STATE: dict[str, Any] = {
    **dict.fromkeys(("current_run", "current_node", "continuation_node")),
    "current_step": "STEP-3",
    **{name: [] for name in ("completed_nodes", "open_questions", "pending_user_intents")},
    **{name: [] for name in ("retest_due_questions", "recent_corrections", "evidence_ids")},
    "unique_next_action": "Explain NODE-012.",
}
LOG, QA = "PROJECT_STUDY_LOG.md", "PROJECT_STUDY_QA.md"


@pytest.fixture
def opened(locate: Locate, clock: Clock, project_directory: Path) -> Iterator[segue.Segue]:
    (project_directory / LOG).write_text("# Log\n")
    with segue.open(locate("sqlite"), directory=project_directory, clock=clock) as one:
        yield one


@pytest.mark.requirement("continuity-handoff")
def test_a_handoff_holds_the_hashes_of_what_there_is(segue_: segue.Segue) -> None:
    write = {LOG: "# Log\n", QA: "# Questions\n"}
    for name, text in write.items():
        (segue_.directory / name).write_text(text)
    candidate = segue_.continuity.candidates.propose("From now on always explain long-term decisions first.")
    assert candidate is not None
    made = segue_.continuity.handoffs.create(STATE | {"surprise": 1})
    assert set(made.handoff.artifact_hashes) == {LOG, QA}
    assert [dict(each) for each in made.handoff.memory_candidates] == [
        {
            "candidate_id": candidate.id,
            "status": "candidate",
            "kind": candidate.kind,
            "content_hash": made.handoff.memory_candidates[0]["content_hash"],
        }
    ]
    assert candidate.content_hash not in made.path.read_text()  # whoever guesses the text must not be told
    rejected = segue_.continuity.candidates.reject(candidate.id, "not wanted")
    assert rejected.content_hash == made.handoff.memory_candidates[0]["content_hash"]
    assert (made.dropped, made.fault) == (("surprise",), "")
    assert json.loads(made.path.read_bytes()) == made.handoff.to_json()
    assert made.path.parent == segue_.continuity.place.folder / "handoffs"
    assert made.path.stat().st_mode & 0o177 == 0
    assert segue_.continuity.handoffs.restore().handoff == made.handoff
    assert segue_.continuity.handoffs.restore(made.path.read_bytes()).is_ready


@pytest.mark.requirement("continuity-handoff-artifacts")
def test_files_that_changed_appeared_or_went_are_named(opened: segue.Segue) -> None:
    handoffs = opened.continuity.handoffs
    handoffs.create(STATE)
    (opened.directory / QA).write_text("new")
    assert handoffs.restore().mismatched == (QA,)
    (opened.directory / LOG).unlink()
    restored = handoffs.restore()
    assert restored.mismatched == (LOG, QA)
    assert restored.reason == "handoff artifact hash mismatch"


def test_the_ledgers_are_what_the_project_says(opened: segue.Segue) -> None:
    (opened.directory / "segue.toml").write_text('[continuity]\nledgers = ["docs/journal.md"]\n')
    (opened.directory / "docs").mkdir()
    (opened.directory / "docs" / "journal.md").write_text("x")
    assert list(opened.continuity.handoffs.create(STATE).handoff.artifact_hashes) == ["docs/journal.md"]


@pytest.mark.requirement("continuity-handoff-restore")
@pytest.mark.parametrize(
    "data", [b"", b"prose", b"[]", b"{}", b"\xff", b'{"a": ' * 80, b'{"schema_version": "6.0"}', b'{"x": 1, "x": 2}']
)
def test_whatever_is_restored_nothing_is_raised(opened: segue.Segue, data: bytes) -> None:
    opened.continuity.handoffs.create(STATE)
    restored = opened.continuity.handoffs.restore(data)
    assert (restored.is_ready, bool(restored.reason)) == (False, True)


@pytest.mark.requirement("continuity-handoff-restore")
def test_names_that_lead_out_of_the_project_are_not_followed(opened: segue.Segue) -> None:
    outside = opened.directory.parent / "secret.md"
    outside.write_text("secret")
    digest = hashlib.sha256(b"secret").hexdigest()
    for name in ("../secret.md", str(outside), "x/../../secret.md"):
        made = handoff.create(STATE, {name: digest}, (), opened.now()).to_json()
        restored = opened.continuity.handoffs.restore(json.dumps(made).encode())
        assert name in restored.mismatched


@pytest.mark.requirement("continuity-handoff-restore")
def test_where_there_is_none_and_where_it_was_cut(opened: segue.Segue) -> None:
    handoffs = opened.continuity.handoffs
    assert handoffs.restore().reason == "no handoff was made in this project"
    with pytest.raises(NotFound):
        handoffs.get()
    handoffs.create(STATE)
    newest = handoffs.create(STATE).path
    newest.write_bytes(newest.read_bytes()[:-30])
    assert handoffs.restore().reason.startswith("unreadable handoff")  # and not the older one
    with pytest.raises(InvalidInput):
        handoffs.get()
    (opened.directory / "segue.toml").write_text("[continuity]\nledgers = 1\n")
    with segue.open(opened.store.name, directory=opened.directory) as other:
        assert other.continuity.handoffs.restore(newest.read_bytes()).reason.startswith("unreadable handoff")


@pytest.mark.requirement("continuity-handoff-older")
def test_an_older_handoff_is_restored_only_where_it_is_meant(opened: segue.Segue) -> None:
    handoffs = opened.continuity.handoffs
    first = handoffs.create(STATE)
    second = handoffs.create(STATE | {"unique_next_action": "Go on."})
    refused = handoffs.restore(first.path.read_bytes())
    assert (refused.is_ready, refused.newer) == (False, second.handoff)
    assert handoffs.restore(first.path.read_bytes(), older=True).handoff == first.handoff
    assert handoffs.restore().handoff == second.handoff


def test_handoffs_within_one_second_stay_in_order(locate: Locate, project_directory: Path) -> None:
    moments = iter(datetime(2026, 5, 4, 9, 30, tzinfo=UTC) + timedelta(microseconds=n * 10) for n in range(100))
    with segue.open(locate("sqlite"), directory=project_directory, clock=lambda: next(moments)) as opened:
        made = [opened.continuity.handoffs.create(STATE | {"unique_next_action": f"Step {n}."}) for n in range(12)]
        assert opened.continuity.handoffs.get() == made[-1].handoff


@pytest.mark.requirement("continuity-handoff-older")
@pytest.mark.parametrize("back", [timedelta(0), timedelta(microseconds=1), timedelta(days=400)])
def test_the_last_that_was_made_is_the_newest_whatever_the_clock_says(
    locate: Locate, project_directory: Path, monkeypatch: pytest.MonkeyPatch, back: timedelta
) -> None:
    monkeypatch.setattr(service, "MAX_KEPT", 4)
    moment = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
    moments = iter(moment - back * n for n in range(100))
    with segue.open(locate("sqlite"), directory=project_directory, clock=lambda: next(moments)) as opened:
        handoffs = opened.continuity.handoffs
        for number in range(6):
            made = handoffs.create(STATE | {"unique_next_action": f"Step {number}."})
            assert handoffs.restore().handoff == made.handoff
            assert handoffs.restore(made.path.read_bytes()).is_ready
        assert len(list(made.path.parent.iterdir())) == 4


@pytest.mark.parametrize("edge", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
@pytest.mark.parametrize("hours", [-12, 0, 12])
def test_a_clock_at_the_edge_of_the_calendar_loses_no_state(
    locate: Locate, project_directory: Path, edge: datetime, hours: int
) -> None:
    moment = edge.replace(tzinfo=timezone(timedelta(hours=hours)))
    with segue.open(locate("sqlite"), directory=project_directory, clock=lambda: moment) as opened:
        for _ in range(2):
            assert opened.continuity.handoffs.create(STATE).path.exists()
            assert opened.continuity.handoffs.restore().is_ready


def test_what_else_lies_among_handoffs_is_none(opened: segue.Segue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MAX_KEPT", 1)
    handoffs = opened.continuity.handoffs
    folder = handoffs.create(STATE).path.parent
    (folder / "zzz.json").write_text("{")
    (folder / "99990101T000000.000000Z.json").mkdir()
    killed = folder / "20260504T093000.000000Z-5f5fde0a.json.0a1b2c3d.partial"
    killed.write_text("half a state")
    made = handoffs.create(STATE | {"unique_next_action": "Go on."})
    assert handoffs.restore().handoff == made.handoff
    assert sorted(each.name for each in folder.iterdir()) == sorted(
        (made.path.name, "zzz.json", "99990101T000000.000000Z.json")
    )


def test_handoffs_that_quote_a_text_are_named(opened: segue.Segue) -> None:
    handoffs = opened.continuity.handoffs
    text = "columns are read\nby their header"
    quoting = [
        handoffs.create(STATE | change).path
        for change in (
            {"recent_corrections": [{"now": f"so: {text}."}]},
            {"unique_next_action": " ".join(text.split())},
        )
    ]
    damaged = handoffs.create(STATE | {"open_questions": [text]}).path
    damaged.write_bytes(b"{")
    handoffs.create(STATE)
    assert handoffs.quoting(text) == quoting
    assert handoffs.quoting(" ") == []


def test_a_name_that_a_handoff_has_no_place_for_is_masked(opened: segue.Segue) -> None:
    key = "ghp_" + "a1" * 20
    made = opened.continuity.handoffs.create(STATE | {key: 1, "\x1b[2J": 2})
    assert key not in str(made.dropped) and "\x1b" not in "".join(made.dropped)


def test_the_oldest_go(opened: segue.Segue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MAX_KEPT", 3)
    made = [opened.continuity.handoffs.create(STATE) for _ in range(5)]
    assert sorted(made[0].path.parent.glob("*.json")) == [each.path for each in made[2:]]


def test_a_secret_stays_out_of_a_handoff(opened: segue.Segue) -> None:
    key = "ghp_" + "a1" * 20
    for state in (STATE | {"open_questions": [f"why {key}?"]}, STATE | {"recent_corrections": [{"was": {key: 1}}]}):
        with pytest.raises(RedactionRefused) as refused:
            opened.continuity.handoffs.create(state)
        assert refused.value.code == "handoff.redaction"
        assert key not in refused.value.message
    assert opened.continuity.handoffs.restore().reason == "no handoff was made in this project"
    assert opened.continuity.handoffs.create(state, allow_unredacted=True).handoff.state == state
    opened.continuity.handoffs.create(STATE | {"open_questions": ["why /home/ana/shop?"]})


def test_a_state_that_is_none_writes_nothing(opened: segue.Segue) -> None:
    wrong: list[Any] = [{}, [], "prose", STATE | {"unique_next_action": ["a", "b"]}]
    for state in wrong:
        with pytest.raises(InvalidInput):
            opened.continuity.handoffs.create(state)
    assert not opened.continuity.place.folder.exists()


def _nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.requirement("continuity-handoff")
@pytest.mark.parametrize(
    "value",
    [
        [{"a": "x" * 5_000_000}],
        ["x" * 4_000] * 1_000 + [{"a": "x" * 400_000}],
        [_nested(64)],
        [{"a": float("nan")}],
        [{"a": ("x",)}],
        [{"a": {"x"}}],
        [{"a": 10**500}],
        [{"a": 10**5000}],
        [{1: "x"}],
        [{"a": "\ud800"}],
    ],
    ids=["large", "many", "deep", "nan", "tuple", "set", "digits", "more", "key", "surrogate"],
)
def test_a_state_that_could_not_be_read_again_is_not_kept(opened: segue.Segue, value: Any) -> None:
    handoffs = opened.continuity.handoffs
    kept = handoffs.create(STATE)
    with pytest.raises(SegueError):
        handoffs.create(STATE | {"open_questions": value})
    assert handoffs.restore().handoff == kept.handoff
    assert len(list(kept.path.parent.iterdir())) == 1


@pytest.mark.requirement("continuity-handoff")
def test_what_the_disk_gives_back_otherwise_is_not_kept(opened: segue.Segue, monkeypatch: pytest.MonkeyPatch) -> None:
    handoffs = opened.continuity.handoffs
    kept = handoffs.create(STATE)
    with monkeypatch.context() as patch:
        patch.setattr(files, "write", lambda path, data: path.write_bytes(data[:-40]))
        with pytest.raises(Failed) as failed:
            handoffs.create(STATE | {"unique_next_action": "Go on."})
    assert failed.value.code == "handoff.unsaved"
    assert handoffs.restore().handoff == kept.handoff


@pytest.mark.requirement("continuity-handoff-sync")
def test_the_memory_store_is_made_ready_before(opened: segue.Segue) -> None:
    opened.continuity.memory.init(consent=True)
    index = opened.directory / service.MEMORY_INDEX
    fact = (
        '---\nmemory_id: "MEM-001"\nname: "old"\ndescription: "old rule"\nkind: "reference"\n'
        'source_transaction: "TX-001"\nsource_path: "PROJECT_STUDY_LOG.md"\ncreated: "2026-01-01"\n'
        'updated: "2026-01-01"\nstatus: "stale"\n---\n\nIt was so.\n'
    )
    (index.parent / "old.md").write_text(fact)
    index.write_text(index.read_text().replace("## reference\n", "## reference\n- [old](old.md) — old rule\n"))
    made = opened.continuity.handoffs.create(STATE)
    assert made.synced is not None and made.synced.archived == ("old",)
    assert "old.md" not in index.read_text()
    assert set(made.handoff.artifact_hashes) == {LOG, service.MEMORY_INDEX}
    assert opened.continuity.handoffs.restore().is_ready


@pytest.mark.requirement("continuity-handoff-sync")
def test_a_sync_that_fails_loses_no_state(opened: segue.Segue) -> None:
    def fail() -> Any:
        raise Failed("test.full", "the disk is full")

    handoffs = service.Handoffs(opened.continuity.place, candidates=list, sync=fail)
    made = handoffs.create(STATE)
    assert (made.synced, made.fault) == (None, "the disk is full")
    assert handoffs.restore().is_ready


@pytest.mark.requirement("continuity-handoff-sync")
def test_a_store_that_is_not_in_order_is_said(opened: segue.Segue) -> None:
    opened.continuity.memory.init(consent=True)
    index = opened.directory / service.MEMORY_INDEX
    index.write_text(index.read_text() + "- no pointer\n")
    made = opened.continuity.handoffs.create(STATE)
    assert made.synced is not None and made.synced.status == "invalid"
    assert made.fault == "1 thing is wrong in it"
    assert opened.continuity.handoffs.restore().is_ready
