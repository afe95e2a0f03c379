"""What one more pack changes for a conversation."""

from __future__ import annotations

import pytest

from segue.base.errors import InvalidInput
from segue.context import delta as deltas
from segue.context.delta import Delta, New, Served, State, Superseded, query_tokens, step


def packed(*refs: str) -> list[Served]:
    return [Served(ref, 0.5) for ref in refs]


def new(delta: Delta) -> list[str]:
    return [each.ref for each in delta.new]


def after(*packs: str, state: State | None = None) -> State:
    """The state after packs, each written as its ids with spaces between."""
    state = state or State()
    for each in packs:
        state, _ = step(state, packed(*each.split()))
    return state


@pytest.fixture
def small_cap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deltas, "CAP", 3)


# -- what is announced ----------------------------------------------------------------------------------------------


@pytest.mark.requirement("context-delta-no-resend")
def test_a_fresh_session_is_told_the_whole_pack_in_its_order() -> None:
    state, delta = step(State(), packed("c", "a", "b", "a"))
    assert new(delta) == ["c", "a", "b"]
    assert (delta.evicted, delta.superseded, delta.cursor) == ((), (), "1")
    assert list(state.known) == ["c", "a", "b"]


@pytest.mark.requirement("context-delta-no-resend")
def test_what_is_known_is_not_announced_again() -> None:
    state, delta = step(after("a b"), packed("b", "c", "a"))
    assert new(delta) == ["c"]
    _, delta = step(state, packed("a", "b", "c"))
    assert new(delta) == []


@pytest.mark.requirement("context-delta-no-resend")
def test_what_was_evicted_is_announced_when_it_comes_again() -> None:
    state = after("a", "b", "b", "b", "b")
    assert "a" not in state.known
    _, delta = step(state, packed("a"))
    assert new(delta) == ["a"]


def test_relevance_has_six_decimals_or_is_null() -> None:
    served = [Served("a", 2 / 3), Served("b", None), Served("c", 1), Served("a", 0.1)]
    _, delta = step(State(), served)
    assert delta.new == (New("a", 0.666667), New("b", None), New("c", 1))


@pytest.mark.requirement("context-delta-no-leak")
def test_the_wire_is_that_of_the_specification_and_holds_only_ids() -> None:
    state = after("old cold", "old", "old", "old")
    _, delta = step(state, [Served("head", 0.25)], superseded={"old": "head"})
    assert delta.to_json() == {
        "new": [{"ref": "head", "delta_relevance": 0.25}],
        "evicted": ["cold"],
        "superseded": [{"ref": "old", "replacement": "head"}],
        "cursor": "5",
    }


# -- what is evicted ------------------------------------------------------------------------------------------------


@pytest.mark.requirement("context-delta-eviction")
def test_what_was_unseen_for_four_turns_is_evicted() -> None:
    state = after("cold b", "b", "b", "b")
    assert "cold" in state.known
    state, delta = step(state, packed("b"))
    assert delta.evicted == ("cold",)
    assert list(state.known) == ["b"]


@pytest.mark.requirement("context-delta-eviction")
def test_what_comes_back_in_the_fourth_turn_stays() -> None:
    state, delta = step(after("a b", "b", "b", "b"), packed("a"))
    assert (delta.evicted, new(delta)) == ((), [])
    assert state.known["a"].turn == 5
    for _ in range(3):
        state, delta = step(state, [])
        assert "a" not in delta.evicted


@pytest.mark.requirement("context-delta-eviction")
def test_evicted_ids_are_sorted_and_evicted_once() -> None:
    state, delta = step(after("c a b", "", "", ""), [])
    assert delta.evicted == ("a", "b", "c")
    _, delta = step(state, [])
    assert delta.evicted == ()


@pytest.mark.requirement("context-delta-eviction")
def test_what_was_forgotten_is_evicted_at_once() -> None:
    state, delta = step(after("a b"), packed("b"), gone={"a", "never-served"})
    assert delta.evicted == ("a",)
    assert list(state.known) == ["b"]


@pytest.mark.requirement("context-delta-no-leak")
def test_what_was_forgotten_while_the_pack_was_made_is_not_told() -> None:
    state, delta = step(after("a"), packed("a", "b", "c"), gone={"a", "b"})
    assert (new(delta), delta.evicted) == (["c"], ("a",))
    assert list(state.known) == ["c"]
    assert state.trajectory[-1].ids == ("c",)


@pytest.mark.requirement("context-delta-cap")
@pytest.mark.usefixtures("small_cap")
def test_what_the_cap_pushes_out_is_evicted_at_once() -> None:
    """The longest unseen go first, of these the first by id."""
    state, delta = step(after("b c", "a"), packed("d"))
    assert (new(delta), delta.evicted) == (["d"], ("b",))
    assert list(state.known) == ["c", "a", "d"]


@pytest.mark.requirement("context-delta-cap")
@pytest.mark.usefixtures("small_cap")
def test_nothing_of_the_pack_is_pushed_out() -> None:
    state, delta = step(after("a b"), packed("c", "d", "e", "f", "b"))
    assert (new(delta), delta.evicted) == (["c", "d", "e", "f"], ("a",))
    assert set(state.known) == set("bcdef")
    state, delta = step(state, packed("g"))
    assert delta.evicted == ("b", "c", "d")
    assert set(state.known) == set("efg")


@pytest.mark.requirement("context-delta-cap")
def test_five_hundred_and_twelve_are_known() -> None:
    state = after(" ".join(f"m{number:03}" for number in range(512)))
    state, delta = step(state, packed("one", "two"))
    assert delta.evicted == ("m000", "m001")
    assert len(state.known) == 512


# -- what is superseded ---------------------------------------------------------------------------------------------


@pytest.mark.requirement("context-delta-superseded")
@pytest.mark.parametrize(
    ("served", "head", "replacement"),
    [
        ("head", "head", "head"),  # served now
        ("", "b", "b"),  # known before
        ("", "head", None),  # it would be an id that the receiver does not have
        ("", "", None),  # taken back
    ],
)
def test_a_replacement_is_named_only_where_the_receiver_has_it(served: str, head: str, replacement: str | None) -> None:
    state, delta = step(after("old b"), packed(*served.split()), superseded={"old": head})
    assert delta.superseded == (Superseded("old", replacement),)
    assert "old" not in state.known
    assert "old" not in delta.evicted


@pytest.mark.requirement("context-delta-superseded")
def test_only_known_ids_are_called_superseded_once_and_sorted() -> None:
    state, delta = step(after("z a k"), packed("k"), superseded={"z": "", "a": "z", "stranger": "k"})
    assert delta.superseded == (Superseded("a", None), Superseded("z", None))
    _, delta = step(state, packed("k"), superseded={"z": "", "a": "z", "stranger": "k"})
    assert delta.superseded == ()


@pytest.mark.requirement("context-delta-superseded")
def test_a_head_that_leaves_in_the_same_turn_is_no_replacement() -> None:
    state = after("head old", "old", "old", "old")
    _, delta = step(state, packed("b"), superseded={"old": "head"})
    assert (delta.evicted, delta.superseded) == (("head",), (Superseded("old", None),))


@pytest.mark.requirement("context-delta-superseded")
def test_what_was_superseded_while_the_pack_was_made_is_not_announced() -> None:
    state, delta = step(after("a"), packed("a", "b", "c"), superseded={"a": "c", "b": "c"})
    assert (new(delta), delta.superseded) == (["c"], (Superseded("a", "c"),))
    assert list(state.known) == ["c"]


@pytest.mark.requirement("context-delta-superseded")
def test_what_was_superseded_and_then_forgotten_is_evicted() -> None:
    _, delta = step(after("a b"), packed("b"), superseded={"a": "b"}, gone={"a"})
    assert (delta.evicted, delta.superseded) == (("a",), ())


# -- what is served in another version ------------------------------------------------------------------------------


def versions(**served: int) -> list[Served]:
    return [Served(ref, 0.5, version) for ref, version in served.items()]


@pytest.mark.requirement("context-delta-no-resend")
def test_a_higher_version_of_what_is_known_is_renewed_once_in_the_order_of_the_pack() -> None:
    state, delta = step(State(), versions(a=0, b=1, c=2))
    assert (new(delta), delta.renewed) == (["a", "b", "c"], ())
    state, delta = step(state, versions(c=3, d=7, b=1, a=1))
    assert (new(delta), delta.renewed) == (["d"], ("c", "a"))
    _, delta = step(state, versions(c=3, d=7, b=1, a=1))
    assert (new(delta), delta.renewed) == ([], ())


@pytest.mark.requirement("context-delta-no-resend")
def test_the_highest_version_counts_also_of_two_in_one_pack() -> None:
    state, _ = step(State(), versions(a=5))
    state, delta = step(state, versions(a=4))
    assert delta.renewed == ()
    state, delta = step(state, versions(a=5))
    assert delta.renewed == ()
    state, delta = step(state, [Served("a", 0.5, 6), Served("b", 0.5, 1), Served("a", 1, 8), Served("a", 1, 2)])
    assert (delta.renewed, state.known["a"].version) == (("a",), 8)


@pytest.mark.requirement("context-delta-no-leak")
def test_what_is_renewed_is_not_on_the_wire() -> None:
    state, _ = step(State(), versions(a=1))
    _, delta = step(state, versions(a=2))
    assert delta.renewed == ("a",)
    assert delta.to_json() == {"new": [], "evicted": [], "superseded": [], "cursor": "2"}


def test_what_comes_back_is_new_in_whatever_version() -> None:
    state, _ = step(State(), versions(a=9))
    state, delta = step(after("", "", "", "", state=state), versions(a=2))
    assert (new(delta), delta.renewed) == (["a"], ())
    _, delta = step(state, versions(a=3))
    assert delta.renewed == ("a",)


def test_what_is_gone_or_superseded_is_not_renewed() -> None:
    state, _ = step(State(), versions(a=1, b=1))
    _, delta = step(state, versions(a=2, b=2), gone={"a"}, superseded={"b": ""})
    assert delta.renewed == ()


@pytest.mark.requirement("context-delta-since")
def test_a_version_that_came_with_a_lost_answer_is_sent_again() -> None:
    state, _ = step(State(), versions(a=1, b=1))
    state, _ = step(state, versions(a=3, b=1))  # lost
    _, delta = step(state, versions(b=1, a=3), since=1)
    assert (new(delta), delta.renewed) == ([], ("a",))
    _, delta = step(state, versions(a=2), since=1)
    assert delta.renewed == ("a",)
    _, delta = step(state, versions(a=3), since=2)
    assert delta.renewed == ()
    _, delta = step(state, versions(a=3), since=0)
    assert (new(delta), delta.renewed) == (["a", "b"], ())


@pytest.mark.requirement("context-delta-since")
def test_a_version_that_was_lost_is_sent_when_a_pack_holds_it_again() -> None:
    state, _ = step(State(), versions(a=1))
    state, _ = step(state, versions(a=3))  # lost
    state, delta = step(state, versions(b=1), since=1)
    assert (new(delta), delta.renewed) == (["b"], ())
    state, delta = step(state, versions(a=3))
    assert delta.renewed == ("a",)
    _, delta = step(state, versions(a=3))
    assert delta.renewed == ()


@pytest.mark.requirement("context-delta-since")
def test_what_is_announced_again_is_not_renewed_as_well() -> None:
    state, _ = step(State(), versions(a=1, b=1))
    state, delta = step(state, versions(a=2), since=0)
    assert (new(delta), delta.renewed) == (["a", "b"], ())
    _, delta = step(state, versions(b=1, a=2))
    assert (new(delta), delta.renewed) == ([], ())
    _, delta = step(state, versions(b=1, a=3))
    assert (new(delta), delta.renewed) == ([], ("a",))


@pytest.mark.requirement("context-delta-since")
def test_what_is_announced_again_in_a_lower_version_is_known_in_that_one() -> None:
    """Whole at first, and lost; then in part."""
    state, _ = step(State(), versions(a=5))  # lost
    state, delta = step(state, versions(a=4), since=0)
    assert new(delta) == ["a"]
    _, delta = step(state, versions(a=5))
    assert delta.renewed == ("a",)


# -- packs of what held at an earlier time --------------------------------------------------------------------------


@pytest.mark.requirement("context-delta-superseded")
def test_a_historic_pack_announces_what_is_superseded_now_and_the_next_tells_it() -> None:
    served, heads = packed("old", "b", "taken-back"), {"old": "b", "taken-back": ""}
    state, delta = step(State(), served, superseded=heads, historic=True)
    assert (new(delta), delta.superseded) == (["old", "b", "taken-back"], ())
    assert list(state.known) == ["old", "b", "taken-back"]
    state, delta = step(state, served, superseded=heads)
    assert (new(delta), delta.superseded) == ([], (Superseded("old", "b"), Superseded("taken-back", None)))
    assert list(state.known) == ["b"]


@pytest.mark.requirement("context-delta-superseded")
def test_what_is_known_stays_in_a_historic_pack_and_leaves_without_it() -> None:
    state, delta = step(after("old other b"), packed("old"), superseded={"old": "b", "other": "b"}, historic=True)
    assert (new(delta), delta.evicted, delta.superseded) == ([], (), (Superseded("other", "b"),))
    assert list(state.known) == ["old", "b"]
    _, delta = step(state, packed("b"), superseded={"old": "b", "other": "b"}, historic=True)
    assert delta.superseded == (Superseded("old", "b"),)


@pytest.mark.requirement("context-delta-no-leak")
def test_what_is_gone_is_not_announced_by_a_historic_pack_either() -> None:
    state, delta = step(after("a"), packed("a", "b"), gone={"a", "b"}, superseded={"b": ""}, historic=True)
    assert (new(delta), delta.evicted, list(state.known)) == ([], ("a",), [])


@pytest.mark.requirement("context-delta-since")
def test_what_was_superseded_is_new_in_a_historic_pack_and_superseded_again_after_it() -> None:
    state, _ = step(after("old b"), packed("b"), superseded={"old": "b"})
    state, delta = step(state, packed("old"), superseded={"old": "b"}, historic=True)
    assert new(delta) == ["old"]
    _, delta = step(state, packed("old"), superseded={"old": "b"}, historic=True, since=1)
    assert (new(delta), delta.superseded) == (["old"], ())
    _, delta = step(state, packed("b"), superseded={"old": "b"}, since=1)
    assert (new(delta), delta.superseded) == ([], (Superseded("old", "b"),))


# -- cursors, and what is sent again --------------------------------------------------------------------------------


@pytest.mark.requirement("context-delta-cursor")
def test_cursors_count_answers() -> None:
    state = State()
    for number in range(1, 12):
        state, delta = step(state, packed("a"))
        assert (delta.cursor, state.cursor, state.turn) == (str(number), number, number)


@pytest.mark.requirement("context-delta-since")
def test_what_was_announced_later_comes_again_the_pack_first() -> None:
    state = after("a", "c b", "d")
    _, delta = step(state, [Served("d", 0.5), Served("e", 0.25), Served("a", 1)], since=1)
    assert delta.new == (New("d", 0.5), New("e", 0.25), New("c", None), New("b", None))
    _, delta = step(state, packed("e"), since=3)
    assert new(delta) == ["e"]
    _, delta = step(state, [], since=0)
    assert new(delta) == ["a", "c", "b", "d"]


@pytest.mark.requirement("context-delta-since")
def test_what_left_later_is_said_again() -> None:
    state = after("old cold head", "old head", "old head", "old head", "old head")  # cold left at cursor 5
    state, _ = step(state, packed("head"), superseded={"old": "head"})
    state, _ = step(state, packed("head"), gone={"gone"})
    _, delta = step(state, packed("head"), since=4)
    assert (delta.evicted, delta.superseded) == (("cold",), (Superseded("old", "head"),))
    _, delta = step(state, packed("head"), since=5)
    assert (delta.evicted, delta.superseded) == ((), (Superseded("old", "head"),))
    _, delta = step(state, packed("head"), since=6)
    assert (delta.evicted, delta.superseded) == ((), ())


@pytest.mark.requirement("context-delta-since")
def test_what_left_and_came_back_is_only_new() -> None:
    state = after("a", "", "", "", "", "a")
    _, delta = step(state, [], since=1)
    assert (new(delta), delta.evicted) == (["a"], ())


@pytest.mark.requirement("context-delta-since")
def test_the_last_way_to_leave_counts() -> None:
    state = after("a", "", "", "", "", "a")
    state, _ = step(state, [], superseded={"a": ""})
    _, delta = step(state, [], since=1)
    assert (delta.evicted, delta.superseded) == ((), (Superseded("a", None),))


@pytest.mark.requirement("context-delta-since")
def test_what_was_superseded_and_holds_again_is_not_called_superseded() -> None:
    state, _ = step(after("a b"), packed("b"), superseded={"a": "b"})
    state = after("a b", state=state)
    _, delta = step(state, packed("b"), since=1)
    assert (new(delta), delta.superseded) == (["a"], ())
    state = after("b", "b", "b", "b", state=state)
    _, delta = step(state, packed("b"), since=1)
    assert (new(delta), delta.evicted, delta.superseded) == ([], ("a",), ())


@pytest.mark.requirement("context-delta-since")
def test_a_replacement_that_is_told_again_is_the_head_of_now() -> None:
    state, _ = step(after("a b"), packed("b"), superseded={"a": "b"})
    state, delta = step(state, packed("c"), superseded={"a": "c", "b": "c"}, since=1)
    assert delta.superseded == (Superseded("a", "c"), Superseded("b", "c"))
    _, delta = step(state, [], gone={"c"}, superseded={"a": ""}, since=1)
    assert delta.superseded == (Superseded("a", None), Superseded("b", None))


@pytest.mark.requirement("context-delta-since")
def test_thirty_two_turns_can_be_sent_again_and_beyond_them_all_that_is_known() -> None:
    state = after("a old", "a b")
    state, _ = step(state, packed("a", "b"), superseded={"old": "b"})
    state = after(*["a b"] * 31, state=state)
    assert state.cursor == 34
    _, delta = step(state, packed("b"), since=2)
    assert (new(delta), delta.superseded) == ([], (Superseded("old", "b"),))
    _, delta = step(state, packed("b"), since=1)
    assert new(delta) == ["b", "a"]
    state = after("a b", state=state)
    _, delta = step(state, packed("b"), since=3)
    assert (new(delta), delta.superseded) == ([], ())
    _, delta = step(state, packed("b"), since=2)
    assert (new(delta), delta.superseded) == (["b", "a"], ())


@pytest.mark.requirement("context-delta-since")
@pytest.mark.parametrize("since", [-1, 3, 2**70])
def test_a_cursor_that_no_answer_had_is_refused(since: int) -> None:
    with pytest.raises(InvalidInput, match="its last is 2") as caught:
        step(after("a", "b"), packed("c"), since=since)
    assert (caught.value.code, caught.value.details) == ("session.since", {"cursor": "2"})


# -- what else is kept ----------------------------------------------------------------------------------------------


def test_the_trajectory_has_eight_turns_and_the_centroid_weighs_them() -> None:
    state = State()
    for number in range(10):
        state, _ = step(state, packed(f"m{number}"), tokens=("always", f"word{number}"))
    assert [each.turn for each in state.trajectory] == list(range(3, 11))
    assert state.trajectory[-1].ids == ("m9",)
    assert state.centroid == {"always": 36, **{f"word{number}": number - 1 for number in range(2, 10)}}
    assert list(state.centroid) == sorted(state.centroid)


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("Ship the CSV-importer, v10: ship it_now!", "csv importer now ship the v10"),
        ("", ""),
        ("Über Straße, ÜBER ΣΊΣΥΦΟΣ", "strasse über σίσυφοσ"),
        ("ＡＢＣ ﬁle", "abc file"),
        ("移行計画 v2 カード 字", "カー ード 移行 行計 計画"),
        ("मेरी किताब", "किताब मेरी"),
        ("배포 계획서", "계획 배포 획서"),
        ("half \ud83d a pair", "half pair"),
    ],
)
def test_words_of_a_task_in_any_script(task: str, expected: str) -> None:
    assert query_tokens(task) == tuple(expected.split())


def test_words_of_a_secret_are_not_kept() -> None:
    secret = "ghp" + "_" + "Zx81" * 9
    assert query_tokens(f"push with {secret} today") == ("push", "today", "with")
