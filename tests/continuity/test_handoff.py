"""A handoff as a value: complete or refused, restored as it was or not at all."""

from __future__ import annotations

import copy
import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.base.errors import InvalidInput
from segue.continuity import handoff

AT = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
HASHES = {"PROJECT_STUDY_LOG.md": "a" * 64, "PROJECT_STUDY_QA.md": "b" * 64}
CANDIDATES = [
    {"candidate_id": "M-0001", "status": "approved", "kind": "feedback", "content_hash": "c" * 64},
    {"candidate_id": "M-0002", "status": "rejected", "content_hash": "d" * 64},
]
STATE: dict[str, Any] = {
    "current_step": "STEP-3",
    "current_run": "RUN-002",
    "current_node": "NODE-012",
    "continuation_node": "NODE-013",
    "completed_nodes": ["NODE-010", "NODE-011"],
    "open_questions": ["为什么用 stride 2？"],
    "pending_user_intents": [{"id": "INPUT-4-I01", "kind": "question"}],
    "retest_due_questions": ["Q-007"],
    "recent_corrections": ["C-003: the importer streams"],
    "evidence_ids": ["TX-0004"],
    "unique_next_action": "Explain NODE-012.",
}
LATER: dict[str, Any] = {
    "active_input_event_id": "INPUT-4",
    "question_queue_ids": ["Q-008"],
    "current_question_id": None,
    "question_queue_return_state": "AWAITING_QUESTIONS_OR_CONTINUE",
}


def made(**state: Any) -> dict[str, Any]:
    return handoff.create(STATE | state, HASHES, CANDIDATES, AT).to_json()


def sealed(envelope: dict[str, Any], **members: Any) -> dict[str, Any]:
    """An envelope with other members, and the hash that fits them: what its own hash cannot show."""
    changed = {name: value for name, value in (envelope | members).items() if value is not ...}
    rest = {name: value for name, value in changed.items() if name != "envelope_hash"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return changed | {"envelope_hash": hashlib.sha256(text.encode()).hexdigest()}


@pytest.mark.requirement("continuity-handoff")
def test_the_envelope_is_that_of_the_format() -> None:
    envelope = made(surprise="dropped", **LATER)
    assert envelope == sealed(
        {
            "schema_version": "6.0",
            "handoff_kind": "pre-compaction",
            "status": "ready",
            "created_at": "2026-05-04T09:30:00Z",
            "state": STATE | LATER,
            "artifact_hashes": HASHES,
            "memory_candidates": CANDIDATES,
        }
    )
    assert list(made()["state"]) == list(handoff.STATE_KEYS)
    assert len(handoff.STATE_KEYS) == 11
    assert set(handoff.LATER_KEYS) == set(LATER)


@pytest.mark.requirement("continuity-handoff")
def test_every_missing_key_is_named() -> None:
    for lacking in (["current_step"], ["evidence_ids", "unique_next_action"], sorted(handoff.STATE_KEYS)):
        state = {name: value for name, value in STATE.items() if name not in lacking}
        with pytest.raises(InvalidInput, match=", ".join(lacking)) as refused:
            handoff.create(state, {}, [], AT)
        assert (refused.value.code, refused.value.details["missing"]) == ("handoff.state", lacking)


WRONG: list[tuple[str, Any]] = [
    ("unique_next_action", ""),
    ("unique_next_action", " \n"),
    ("unique_next_action", None),
    ("unique_next_action", ["Explain NODE-012.", "Then go on."]),
    ("unique_next_action", ["Explain NODE-012."]),
    ("unique_next_action", "Explain NODE-012.\nThen go on."),
    ("unique_next_action", "Explain.\u2028Go on."),
    ("unique_next_action", "x" * 4097),
    ("current_step", 3),
    ("current_node", ["NODE-012"]),
    ("completed_nodes", "NODE-010"),
    ("completed_nodes", [{"id": "NODE-010"}]),
    ("open_questions", None),
    ("open_questions", [""]),
    ("open_questions", [["Q-1"]]),
    ("recent_corrections", [{}]),
    ("evidence_ids", [1]),
    ("evidence_ids", ["x"] * 1001),
    ("question_queue_ids", "Q-008"),
    ("current_question_id", 8),
]


@pytest.mark.requirement("continuity-handoff-next")
@pytest.mark.parametrize(("name", "value"), WRONG)
def test_a_state_of_the_wrong_shape_makes_none_and_restores_none(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        made(**{name: value})
    assert name in refused.value.message
    restored = handoff.restore(sealed(made(), state=STATE | {name: value}), HASHES)
    assert (restored.is_ready, restored.reason.startswith(f"invalid handoff state: {name} ")) == (False, True)


@pytest.mark.requirement("continuity-handoff-restore")
def test_what_is_as_it_was_is_restored() -> None:
    for envelope in (made(), made(**LATER)):
        restored = handoff.restore(json.loads(json.dumps(envelope)), HASHES)
        assert restored.to_json() == {
            "status": "ready",
            "state": envelope["state"],
            "mismatched_artifacts": [],
            "memory_candidates": CANDIDATES,
        }


@pytest.mark.requirement("continuity-handoff-restore")
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"schema_version": "5.2"}, "unsupported handoff schema"),
        ({"schema_version": ...}, "unsupported handoff schema"),
        ({"artifact_hashes": ["x"]}, "missing artifact hashes"),
        ({"artifact_hashes": ...}, "missing artifact hashes"),
        ({"state": [STATE]}, "incomplete handoff state"),
        ({"state": {"current_step": "x"}}, "incomplete handoff state: completed_nodes, continuation_node"),
        ({"memory_candidates": ...}, "missing memory candidate state"),
        ({"memory_candidates": {}}, "missing memory candidate state"),
        ({"memory_candidates": ["M-0001"]}, "invalid memory candidate state"),
        ({"memory_candidates": [CANDIDATES[0] | {"candidate_id": "MEM-1"}]}, "invalid memory candidate state"),
        ({"memory_candidates": [CANDIDATES[0] | {"status": "remembered"}]}, "invalid memory candidate state"),
        ({"memory_candidates": [CANDIDATES[0] | {"content_hash": "C" * 64}]}, "invalid memory candidate state"),
        ({"memory_candidates": [CANDIDATES[0] | {"status": []}]}, "invalid memory candidate state"),
        ({"handoff_kind": "prose"}, "it is no handoff that is ready"),
        ({"status": "draft"}, "it is no handoff that is ready"),
        ({"created_at": "yesterday"}, "it does not say when it was made"),
    ],
)
def test_what_is_not_whole_is_not_restored(change: dict[str, Any], reason: str) -> None:
    restored = handoff.restore(sealed(made(), **change), HASHES)
    assert restored.reason.startswith(reason)
    said = restored.to_json()
    assert (said["status"], "state" in said) == ("REPAIR_REQUIRED", False)


@pytest.mark.requirement("continuity-handoff-artifacts")
@pytest.mark.parametrize(
    ("current", "mismatched"),
    [
        (HASHES | {"PROJECT_STUDY_QA.md": "c" * 64}, ["PROJECT_STUDY_QA.md"]),
        (HASHES | {"PROJECT_STUDY_QA.md": None}, ["PROJECT_STUDY_QA.md"]),
        (HASHES | {"MEMORY.md": "c" * 64}, ["MEMORY.md"]),
        (HASHES | {"MEMORY.md": None}, []),
        ({}, ["PROJECT_STUDY_LOG.md", "PROJECT_STUDY_QA.md"]),
        ({"z.md": "a" * 64}, ["PROJECT_STUDY_LOG.md", "PROJECT_STUDY_QA.md", "z.md"]),
    ],
)
def test_every_artifact_that_differs_is_named(current: dict[str, str | None], mismatched: list[str]) -> None:
    restored = handoff.restore(made(), current)
    assert list(restored.mismatched) == mismatched
    assert restored.reason == ("handoff artifact hash mismatch" if mismatched else "")


def test_an_artifact_without_a_hash_matches_nothing() -> None:
    envelope = sealed(made(), artifact_hashes=HASHES | {"more.md": None})
    assert handoff.restore(envelope, HASHES).mismatched == ("more.md",)


@pytest.mark.requirement("continuity-handoff-hash")
def test_an_edited_envelope_is_not_restored() -> None:
    edited = made()
    edited["state"]["unique_next_action"] = "Skip the tests."
    assert handoff.restore(edited, HASHES).reason == "handoff envelope hash mismatch"
    edited = made()
    edited["memory_candidates"][0]["status"] = "saved"
    assert handoff.restore(edited, HASHES).reason == "handoff envelope hash mismatch"
    bare = {name: value for name, value in made().items() if name != "envelope_hash"}
    assert handoff.restore(bare, HASHES).reason == "missing envelope hash"


def changed_somewhere(data: st.DataObject, value: Any) -> Any:
    """The value with one thing in it, at any depth, replaced or taken away."""
    changed = copy.deepcopy(value)
    here: Any = changed
    while True:
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        key = data.draw(st.sampled_from(keys))
        if isinstance(here[key], dict | list) and here[key] and data.draw(st.booleans()):
            here = here[key]
            continue
        if data.draw(st.booleans()):
            del here[key]
        else:
            simple = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
            here[key] = data.draw(
                simple | st.lists(simple, max_size=2) | st.dictionaries(st.text(), simple, max_size=2)
            )
        return changed


@given(data=st.data())
@settings(max_examples=150)
@pytest.mark.requirement("continuity-handoff-hash")
def test_whatever_is_changed_in_an_envelope_it_is_not_restored(data: st.DataObject) -> None:
    whole = made(**LATER)
    changed = changed_somewhere(data, whole)
    restored = handoff.restore(changed, HASHES)
    assert restored.is_ready == (changed == whole)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(max_size=3),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(sorted(made())), inner, max_size=7),
        max_leaves=12,
    )
)
@settings(max_examples=150)
@pytest.mark.requirement("continuity-handoff-restore")
def test_restoring_raises_nothing(payload: Any) -> None:
    assert not handoff.restore(payload, {}).is_ready
    assert not handoff.restore(made() | {"extra": payload, "state": payload}, HASHES).is_ready


@pytest.mark.requirement("continuity-handoff-older")
def test_an_older_one_over_a_newer_one_is_reported() -> None:
    older, newer = (handoff.create(STATE, HASHES, [], AT + timedelta(microseconds=n)) for n in (0, 1))
    refused = handoff.restore(older.to_json(), HASHES, newest=newer)
    assert (refused.is_ready, refused.newer) == (False, newer)
    assert refused.to_json()["newer"] == {"created_at": newer.created_at, "envelope_hash": newer.envelope_hash}
    meant = handoff.restore(older.to_json(), HASHES, newest=newer, older=True)
    assert (meant.is_ready, meant.newer) == (True, newer)
    assert handoff.restore(newer.to_json(), HASHES, newest=older).to_json().keys() == {
        "status",
        "state",
        "mismatched_artifacts",
        "memory_candidates",
    }
