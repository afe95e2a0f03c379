"""The lifecycle: five states, five steps between them, each with its conditions."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from continuity.samples import HASH, LATER, NOW, TEXT, TEXTS, candidates, keyed
from segue.base.errors import Conflict, InvalidInput, Refused
from segue.continuity import journal, lifecycle
from segue.continuity.candidate import REDUCED, STATUSES, Candidate, content_hash
from segue.continuity.journal import Journal

LEGAL = {
    ("candidate", "approved"),
    ("candidate", "rejected"),
    ("approved", "saved"),
    ("approved", "rejected"),
    ("saved", "stale"),
}
STEPS = ("approved", "saved", "stale", "rejected")


def stepped(held: Candidate, step: str, reason: str = "not so any more") -> Candidate:
    """Take a step with all that it needs."""
    if step == "approved":
        return lifecycle.approve(held, seen_hash=held.content_hash, approved_by="user", now=LATER)
    if step == "saved":
        return lifecycle.save(held, release_tx_id="TX-0001", receipt_hash=HASH, now=LATER)
    if step == "stale":
        return lifecycle.retire(held, reason=reason, now=LATER)
    return lifecycle.reject(held, reason=reason, keyed=keyed, now=LATER)


@pytest.mark.requirement("continuity-lifecycle")
@pytest.mark.parametrize("before", STATUSES)
@pytest.mark.parametrize("after", STEPS)
def test_only_these_steps_are_legal(before: str, after: str) -> None:
    candidate = candidates()[before]
    if (before, after) in LEGAL:
        assert stepped(candidate, after).status == after
        return
    with pytest.raises(Refused) as refused:
        stepped(candidate, after)
    assert refused.value.code == "continuity.transition"
    assert refused.value.details == {"id": "M-0001", "from": before, "to": after}


@pytest.mark.requirement("continuity-lifecycle")
def test_what_was_given_stays_as_it_is() -> None:
    every = candidates()
    for before, after in LEGAL:
        given = every[before]
        kept = copy.deepcopy(given.to_json())
        made = stepped(given, after)
        assert given.to_json() == kept
        assert made is not given
        made.to_json()["status"] = "candidate"
        assert made.status == after
    with pytest.raises(TypeError):
        every["candidate"].members["status"] = "saved"  # type: ignore[index]
    assert pickle.loads(pickle.dumps(every["saved"])) == every["saved"]


def test_a_new_candidate() -> None:
    made = lifecycle.propose("M-0007", f"  {TEXT}\n", kind="correction", trigger="message", now=NOW)
    assert made.to_json() == {
        "schema_version": "6.0",
        "candidate_id": "M-0007",
        "kind": "correction",
        "trigger": "message",
        "status": "candidate",
        "content": TEXT,
        "content_hash": content_hash(TEXT),
        "reason": "",
        "created_at": "2026-05-04T09:30:00Z",
        "updated_at": "2026-05-04T09:30:00Z",
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"candidate_id": "M-"},
        {"candidate_id": "7"},
        {"candidate_id": "M-1\n"},
        {"content": " \n "},
        {"content": "x" * 4_001},
        {"content": "half \ud800"},
        {"kind": "opinion"},
    ],
)
def test_what_is_no_candidate(wrong: dict[str, str]) -> None:
    whole: dict[str, Any] = {"candidate_id": "M-1", "content": TEXT, "kind": "feedback", "trigger": "message"} | wrong
    with pytest.raises(InvalidInput) as invalid:
        lifecycle.propose(**whole, now=NOW)
    assert invalid.value.code == "continuity.candidate"


@pytest.mark.requirement("continuity-approval")
def test_approval_names_who_and_when() -> None:
    approved = candidates()["approved"]
    assert (approved.approved_by, approved.members["approved_at"]) == ("user", "2026-05-04T09:30:00Z")


@pytest.mark.requirement("continuity-approval")
def test_approval_is_bound_to_the_text() -> None:
    proposed = candidates()["candidate"]
    with pytest.raises(Conflict) as changed:
        lifecycle.approve(proposed, seen_hash=content_hash("another text"), approved_by="user", now=NOW)
    assert changed.value.code == "continuity.changed"
    for wrong in ({"seen_hash": "abc"}, {"approved_by": "agent"}, {"approved_by": ""}):
        whole = {"seen_hash": proposed.content_hash, "approved_by": "policy"} | wrong
        with pytest.raises(InvalidInput):
            lifecycle.approve(proposed, **whole, now=NOW)


@pytest.mark.requirement("continuity-approval")
def test_another_text_under_an_approval_is_found() -> None:
    for status in ("approved", "saved"):
        entry = candidates()[status].to_json()
        for change in ({"content": "something else"}, {"content": ""}):
            with pytest.raises(InvalidInput):
                Candidate.of(entry | change)


@pytest.mark.requirement("continuity-saved")
@pytest.mark.parametrize(
    "wrong", [{"release_tx_id": ""}, {"release_tx_id": "TX-"}, {"receipt_hash": ""}, {"receipt_hash": HASH.upper()}]
)
def test_saved_needs_a_receipt(wrong: dict[str, str]) -> None:
    whole = {"release_tx_id": "TX-12", "receipt_hash": HASH} | wrong
    with pytest.raises(InvalidInput):
        lifecycle.save(candidates()["approved"], **whole, now=NOW)
    with pytest.raises(InvalidInput):
        Candidate.of(candidates()["saved"].to_json() | wrong)


@pytest.mark.requirement("continuity-rejected")
def test_of_a_rejected_one_five_members_are_left() -> None:
    every = candidates()
    for before in ("candidate", "approved"):
        rejected = lifecycle.reject(every[before], reason="  not\n so ", keyed=keyed, now=LATER)
        assert rejected.to_json() == {
            "candidate_id": "M-0001",
            "status": "rejected",
            "content_hash": keyed(content_hash(TEXT)),
            "rejected_at": "2026-05-05T09:30:00Z",
            "reason": "not so",
        }


@pytest.mark.requirement("continuity-rejected")
@pytest.mark.parametrize("reason", ["", " ", "x" * 201, "half \ud800", TEXT, f"“{TEXT.upper()}” is wrong"])
def test_reasons_that_are_none_or_repeat_the_text(reason: str) -> None:
    with pytest.raises(InvalidInput):
        lifecycle.reject(candidates()["candidate"], reason=reason, keyed=keyed, now=NOW)


def test_a_reason_may_share_words_with_the_text() -> None:
    reason = "the stride is as it was: no correction"
    assert lifecycle.reject(candidates()["approved"], reason=reason, keyed=keyed, now=NOW).reason == reason


def test_a_reason_keeps_no_secret() -> None:
    secret = "AKIA" + "QWERTYUIOPASDFGH"
    rejected = lifecycle.reject(candidates()["candidate"], reason=f"it said {secret}", keyed=keyed, now=NOW)
    assert rejected.reason == "it said [redacted:aws-key]"


def test_stale_says_why_and_when() -> None:
    stale = candidates()["stale"]
    assert (stale.reason, stale.members["stale_at"]) == ("replaced by M-0002", "2026-05-05T09:30:00Z")
    assert (stale.content, stale.release_tx_id) == (TEXT, "TX-0001")
    with pytest.raises(InvalidInput):
        lifecycle.retire(candidates()["saved"], reason=" ", now=NOW)


@given(st.lists(st.tuples(st.sampled_from(STEPS), TEXTS), max_size=8), TEXTS)
@settings(max_examples=80)
def test_no_way_leads_around_a_step(steps: list[tuple[str, str]], text: str) -> None:
    """Whatever is tried in whatever order: each step is one of the legal ones, and the journal takes the outcome."""
    held = lifecycle.propose("M-1", text, kind="feedback", trigger="message", now=NOW)
    for step, reason in steps:
        before = held
        try:
            held = stepped(held, step, reason)
        except (Refused, InvalidInput):
            assert held is before
            continue
        assert (before.status, held.status) in LEGAL
        assert journal.parse(journal.dump(Journal((held,)), NOW), keyed).candidates == (held,)
        if held.status == "rejected":
            assert set(held.members) == set(REDUCED)
        else:
            assert held.content == text.strip()
