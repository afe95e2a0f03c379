"""Contradictions among the memories of a pack: which is preferred, what is looked at, and what is told of it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.context import conflicts
from segue.context.candidate import Candidate
from segue.context.conflicts import MOST, Conflict, scan
from segue.context.contested import Contested
from segue.memories import making

if TYPE_CHECKING:
    from collections.abc import Sequence

    from segue.memories.memory import Memory

DAY = datetime(2026, 5, 4, tzinfo=UTC)
SAID = [
    "The importer listens on port 8080.",
    "The importer listens on port 9090.",
    "The importer's port is 7070.",
    "Never deploy on Fridays.",
    "Deploy on Fridays.",
    "The default branch is main.",
    "The default branch is develop.",
    "Ana owns the importer.",
    "The importer is owned by Ben.",
    "Standup is at noon.",
    "Rye keeps for a week.",
]


def memory(content: str, number: int, **details: Any) -> Memory:
    """A memory captured `number` days after the first; the details are those of an item, or of the memory itself."""
    itself = {name: details.pop(name) for name in ("status", "superseded_by") if name in details}
    made = making.made(making.item(content, **details), memory_id=f"mem_{number:03}", now=DAY + timedelta(days=number))
    return replace(made, **itself)


def ids(found: Sequence[Conflict]) -> list[tuple[str, str]]:
    return [(each.current.id[-1], each.stale.id[-1]) for each in found]


@pytest.mark.requirement("context-conflicts")
def test_the_newest_current_one_comes_first_and_both_are_named() -> None:
    old, new = memory("The default branch is main.", 1), memory("The default branch is develop.", 2)
    for given_ in ([old, new], [new, old]):
        (found,) = scan(given_)
        assert (found.current, found.stale, found.field, found.kind) == (new, old, "value", "name")
        assert found.to_json() == {
            "type": "contradiction",
            "field": "value",
            "memory_ids": [new.id, old.id],
            "prefer": new.id,
            "note": (
                "Both are active and give different values for the same thing. Go by the first, which is newer;"
                " check it before you rely on either, and retire the other once it is settled."
            ),
        }


@pytest.mark.requirement("context-conflicts")
def test_when_it_occurred_counts_before_when_it_was_captured() -> None:
    late = memory("Never deploy on Fridays.", 1, occurred_at="2026-05-20T00:00:00Z")
    early = memory("Deploy on Fridays.", 9, occurred_at="2026-05-01T00:00:00Z")
    (found,) = scan([late, early])
    assert (found.current, found.field, found.kind) == (late, "polarity", "polarity")
    (found,) = scan([late, replace(early, occurred_at=None, captured_at=DAY + timedelta(days=17))])
    assert found.current.id == early.id


@pytest.mark.requirement("context-conflicts")
@pytest.mark.parametrize(
    ("older", "newer", "preferred"),
    [
        ("user", "external", "older"),
        ("agent", "external", "older"),
        ("external", "user", "newer"),
        ("external", "external", "newer"),
        ("user", "agent", "newer"),
        ("agent", "user", "newer"),
    ],
)
def test_nothing_from_outside_outranks_the_users_own(older: Any, newer: Any, preferred: str) -> None:
    one = memory("The limit of uploads is 5 MB.", 1, author_class=older)
    other = memory("The limit of uploads is 9 MB.", 2, author_class=newer)
    (found,) = scan([one, other])
    assert found.current == (one if preferred == "older" else other)
    outside = found.stale.provenance.author_class == "external" != found.current.provenance.author_class
    assert ("comes from outside" in found.to_json()["note"]) == outside


@pytest.mark.requirement("context-conflicts")
@pytest.mark.parametrize("status", ["pending", "retired"])
def test_only_active_memories_are_looked_at(status: str) -> None:
    one, other = memory(SAID[0], 1), memory(SAID[1], 2)
    assert len(scan([one, other])) == 1
    assert scan([one, replace(other, status=status)]) == ()  # type: ignore[arg-type]
    assert scan([replace(one, status=status), other]) == ()  # type: ignore[arg-type]


def test_what_holds_at_no_common_time_is_none() -> None:
    before = memory(SAID[0], 1, valid_to="2026-06-01T00:00:00Z")
    after = memory(SAID[1], 2, valid_from="2026-06-01T00:00:00Z")
    both = memory("The importer listens on port 7070.", 3, valid_from="2026-05-31T00:00:00Z")
    assert scan([before, after]) == scan([after, before]) == ()
    assert ids(scan([before, after, both])) == [("3", "2"), ("3", "1")]


def test_only_what_holds_at_a_given_time() -> None:
    one = memory(SAID[0], 1, valid_to="2026-06-01T00:00:00Z")
    other = memory(SAID[1], 2, valid_from="2026-05-20T00:00:00Z")
    end, start = datetime(2026, 6, 1, tzinfo=UTC), datetime(2026, 5, 20, tzinfo=UTC)
    second = timedelta(seconds=1)
    assert [len(scan([one, other], now=when)) for when in (start - second, start, end - second, end)] == [0, 1, 1, 0]
    assert len(scan([one, other])) == 1


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ({"project": "alpha"}, {"project": "beta"}),
        ({"project": "alpha"}, {}),
        ({"speaker": "Ana"}, {"speaker": "Ben"}),
        ({"kind": "question"}, {}),
        ({"kind": "event"}, {}),
    ],
)
def test_others_words_and_things_are_others(mine: dict[str, str], theirs: dict[str, str]) -> None:
    assert scan([memory(SAID[0], 1, **mine), memory(SAID[1], 2, **theirs)]) == ()


def test_the_same_project_in_other_letters_is_the_same() -> None:
    assert len(scan([memory(SAID[0], 1, project="Alpha"), memory(SAID[1], 2, project="alpha")])) == 1


def test_each_is_told_against_what_is_current() -> None:
    """Of three values the newest is current, also against one that agrees with the other stale one."""
    texts = [SAID[0], SAID[1], SAID[0], "Rye keeps for a week.", "The importer listens on port 7070."]
    found = scan([memory(text, number) for number, text in enumerate(texts)])
    assert ids(found) == [("4", "2"), ("4", "1"), ("4", "0")]


def test_two_contradictions_of_one_pair_are_told_once() -> None:
    one = memory("The port of the importer is 80. The user likes rye bread.", 1)
    other = memory("The port of the importer is 81. The user does not like rye bread.", 2)
    assert ids(scan([one, other])) == [("2", "1")]


def test_a_memory_given_twice_does_not_contradict_itself() -> None:
    one, other = memory(SAID[0], 1), memory(SAID[1], 2)
    assert ids(scan([one, other, one, other])) == [("2", "1")]


def test_a_kind_that_is_not_served_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    both = [memory(SAID[0], 1), memory(SAID[1], 2), memory(SAID[3], 3), memory(SAID[4], 4)]
    assert [each.kind for each in scan(both)] == ["polarity", "number"]
    monkeypatch.setattr(conflicts, "SERVED_KINDS", frozenset(("polarity",)))
    assert [each.kind for each in scan(both)] == ["polarity"]


def test_at_most_as_many_as_there_are_candidates() -> None:
    many = [memory(f"The port of service{number} is 80.", number) for number in range(MOST - 1)]
    last = [memory(SAID[0], 600), memory(SAID[1], 601)]
    assert scan([*many, *last]) == ()
    assert len(scan([*many[1:], *last])) == 1


@pytest.mark.requirement("context-conflicts")
@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(SAID), st.sampled_from(["user", "agent", "external"]), st.integers(0, 9)), max_size=12
    ),
    st.randoms(use_true_random=False),
)
def test_the_order_of_memories_changes_nothing_and_no_word_is_repeated(drawn: Any, random: Any) -> None:
    memories = [
        memory(text, number, author_class=who, occurred_at=f"2026-05-0{day}T00:00:00Z" if day else None)
        for number, (text, who, day) in enumerate(drawn)
    ]
    found = scan(memories)
    random.shuffle(memories)
    assert scan(memories) == found
    pairs = [each.to_json()["memory_ids"] for each in found]
    assert len({frozenset(pair) for pair in pairs}) == len(pairs)
    for each in found:
        told = each.to_json()
        assert told["prefer"] == told["memory_ids"][0] != told["memory_ids"][1]
        assert each.field in ("value", "polarity")
        spoken = json.dumps(told).casefold()
        for content in (each.current.content, each.stale.content):
            words = {word.strip(".").casefold() for word in content.split()}
            assert not {word for word in words if len(word) > 4 and word in spoken}


def test_many_about_one_subject_are_quick_and_all_told() -> None:
    """None is compared with all others: 400 that contradict each other are 399 pairs, not 79,800."""
    found = scan([memory(f"The importer listens on port {8_000 + number}.", number) for number in range(MOST)])
    assert len(found) == MOST - 1
    assert {each.current.id for each in found} == {"mem_399"}


def test_what_holds_stands_in_a_pack_without_what_it_contradicts() -> None:
    """Told is what an item of the pack contradicts and is newer than, whether or not all candidates were read."""
    old, new = memory("The default branch is main.", 1), memory("The default branch is develop.", 2)
    for read_before in (False, True):
        contested = Contested([Candidate(old, "facts"), Candidate(new, "facts")], DAY)
        if read_before:
            assert old.id in contested
        assert contested.told(frozenset([new.id])) == ()
        for packed in ([old.id], [old.id, new.id]):
            assert ids(contested.told(frozenset(packed))) == [("2", "1")]
