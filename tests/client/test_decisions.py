"""What a sync decides about one packet: nothing that changed is overwritten, nothing that was removed comes back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.client.syncing import decide

STATES = st.sampled_from([None, "a", "b", "c"])


@pytest.mark.parametrize(
    ("here", "there", "known", "action"),
    [
        (None, None, None, "forget"),
        (None, None, "a", "forget"),
        ("a", "a", None, "settle"),
        ("b", "b", "a", "settle"),
        ("a", None, None, "push"),
        (None, "a", None, "pull"),
        ("a", "b", None, "conflict"),
        ("b", "a", "a", "push"),
        ("a", "b", "a", "pull"),
        ("b", "c", "a", "conflict"),
        (None, "a", "a", "gone_here"),
        (None, "b", "a", "conflict"),
        ("a", None, "a", "gone_there"),
        ("b", None, "a", "conflict"),
    ],
)
def test_each_case(here: str | None, there: str | None, known: str | None, action: str) -> None:
    assert decide(here, there, known) == action


@given(STATES, STATES, STATES)
def test_only_what_did_not_change_is_replaced(here: str | None, there: str | None, known: str | None) -> None:
    action = decide(here, there, known)
    if action == "push":
        assert there in (None, known)
        assert there is not None or known is None
    elif action == "pull":
        assert here in (None, known)
        assert here is not None or known is None
    elif action == "gone_here":
        assert (here, there) == (None, known)
    elif action == "gone_there":
        assert (here, there) == (known, None)


@given(STATES, STATES, STATES)
def test_both_sides_are_treated_alike(here: str | None, there: str | None, known: str | None) -> None:
    mirrored = {"push": "pull", "pull": "push", "gone_here": "gone_there", "gone_there": "gone_here"}
    action = decide(here, there, known)
    assert decide(there, here, known) == mirrored.get(action, action)
