"""What a repetition adds: what was missing, and nothing in the place of what is there."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.memories import making
from segue.memories.item import KINDS, LAYER_OF
from segue.memories.repetition import completed, joined

if TYPE_CHECKING:
    from segue.memories.item import Item
    from segue.memories.memory import Memory

NOW = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
EARLY, LATE = "2026-01-01T00:00:00Z", "2026-12-31T00:00:00Z"
MISSING: dict[str, Any] = {
    "kind": "claim",
    "summary": "",
    "confidence": None,
    "valid_from": None,
    "valid_to": None,
    "speaker": "",
}
DETAILS = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(KINDS),
        "summary": st.sampled_from(["", "Of bread.", "Of rye."]),
        "confidence": st.sampled_from([None, 0.0, 0.5, 1.0]),
        "valid_from": st.sampled_from([None, EARLY, LATE]),
        "valid_to": st.sampled_from([None, LATE]),
        "speaker": st.sampled_from(["", "Ada", "Ben"]),
        "tags": st.lists(st.sampled_from(["a", "b", "c"]), max_size=2),
        "entities": st.lists(st.sampled_from(["Ada", "Ben"]), max_size=2),
        "occurred_at": st.sampled_from([None, EARLY, LATE]),
    },
)


def item(**details: Any) -> Item:
    return making.checked(making.item("Rye keeps.", **details))


def memory(**details: Any) -> Memory:
    return making.made(item(**details), memory_id="mem_1", now=NOW)


@pytest.mark.parametrize(
    "more", [{"kind": "decision"}, {"summary": "Of rye."}, {"confidence": 0.0}, {"valid_to": LATE}, {"speaker": "Ada"}]
)
def test_what_is_missing_is_filled(more: dict[str, Any]) -> None:
    assert completed(memory(), item(**more)) == memory(**more)


@settings(max_examples=60)
@given(DETAILS, DETAILS)
def test_what_is_there_stays(first: dict[str, Any], second: dict[str, Any]) -> None:
    before, more = memory(**first), item(**second)
    after, known = completed(before, more), memory(**second)
    assert after.layer == LAYER_OF[after.kind]
    for name, nothing in MISSING.items():
        was, now = getattr(before, name), getattr(after, name)
        assert now == was if was != nothing else now in (nothing, getattr(known, name))
    if after.valid_from and after.valid_to:
        assert after.valid_from <= after.valid_to
    assert completed(after, more) == after
    with_lists = joined(before, more)
    assert set(with_lists.tags) == {*before.tags, *more.tags}
    assert with_lists.tags[: len(before.tags)] == before.tags
    assert with_lists.occurred_at == (before.occurred_at or known.occurred_at)


def test_a_bound_on_the_wrong_side_is_left() -> None:
    ended = memory(valid_to=EARLY)
    assert completed(ended, item(valid_from=LATE)) == ended
    assert completed(memory(valid_from=LATE), item(valid_to=EARLY)).valid_to is None
