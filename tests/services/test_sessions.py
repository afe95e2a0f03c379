"""What a store remembers of conversations, on both databases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa
from memory_rows import everything, rows_of

import segue
from segue.base.errors import Failed, InvalidInput, NotFound
from segue.context import delta as deltas
from segue.context.delta import Served, Superseded
from segue.services.memories import Memories
from segue.services.sessions import Sessions
from segue.storage import context_sessions, kept_queries, tables

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from segue.context.delta import Delta

Clock = Any


def remembered(opened: segue.Segue, *texts: str) -> list[str]:
    return [opened.memories.remember(text).memory.id for text in texts]


def packed(ids: Iterable[str]) -> list[Served]:
    return [Served(each, 0.5) for each in ids]


def new(delta: Delta) -> list[str]:
    return [each.ref for each in delta.new]


def deliver(opened: segue.Segue, session: str, *ids: str, **details: Any) -> Delta:
    return opened.sessions.deliver(session, packed(ids), **details).delta


def spoil(opened: segue.Segue, session: str, **values: Any) -> None:
    """Write what no version of Segue writes."""
    column = tables.context_sessions.c.session_id
    with opened._database.write(opened.memories.scope_id) as connection:
        connection.execute(sa.update(tables.context_sessions).where(column == session).values(**values))


@pytest.mark.requirement("context-delta-no-resend")
def test_a_conversation_is_told_each_memory_once(segue_: segue.Segue) -> None:
    a, b, c = remembered(segue_, "Ana ships.", "Ben tests.", "Cid writes.")
    first = segue_.sessions.deliver("chat-42", [Served(b, 0.25), Served(a)], task="Who ships the importer?")
    assert first.delta.to_json() == {
        "new": [{"ref": b, "delta_relevance": 0.25}, {"ref": a, "delta_relevance": None}],
        "evicted": [],
        "superseded": [],
        "cursor": "1",
    }
    second = segue_.sessions.deliver("chat-42", packed([a, b, c]), task="Who tests it?")
    assert (new(second.delta), second.delta.cursor) == ([c], "2")
    assert new(deliver(segue_, "chat-42", c, b, a)) == []
    shown = segue_.sessions.show("chat-42")
    assert (shown.session_id, list(shown.state.known), shown.state.turn) == ("chat-42", [b, a, c], 3)
    assert shown.state.trajectory[0].tokens == ("importer", "ships", "the", "who")
    assert shown.to_json()["known"][2] == {"ref": c, "turn": 3, "cursor": "2"}


@pytest.mark.requirement("context-delta-eviction")
def test_what_is_forgotten_is_evicted_in_the_next_turn(segue_: segue.Segue) -> None:
    a, b = remembered(segue_, "Ana ships.", "Ben tests.")
    deliver(segue_, "chat", a, b)
    segue_.memories.forget(a)
    assert deliver(segue_, "chat", b).evicted == (a,)
    assert deliver(segue_, "chat", b).evicted == ()
    assert deliver(segue_, "chat", b, since=1).evicted == (a,)


@pytest.mark.requirement("context-delta-no-leak")
def test_what_goes_while_a_pack_is_made_is_not_announced(segue_: segue.Segue) -> None:
    a, b, c = remembered(segue_, "Ana ships.", "Ben tests.", "Cid writes.")
    waiting = segue_.memories.propose("Dora waits.").memory.id
    served = packed([a, b, c, waiting, "mem_never"])
    segue_.memories.forget(a)
    head = segue_.memories.supersede(b, "Eve tests.").memory.id
    delivery = segue_.sessions.deliver("chat", served)
    assert new(delivery.delta) == [c]
    assert list(segue_.sessions.show("chat").state.known) == [c]
    assert new(deliver(segue_, "chat", head, c)) == [head]


@pytest.mark.requirement("context-delta-superseded")
def test_what_was_replaced_is_told_with_its_head(segue_: segue.Segue) -> None:
    first, other = remembered(segue_, "The port is 1.", "Ben tests.")
    deliver(segue_, "chat", first, other)
    deliver(segue_, "elsewhere", first)
    middle = segue_.memories.supersede(first, "The port is 2.").memory.id
    head = segue_.memories.supersede(middle, "The port is 3.").memory.id
    assert deliver(segue_, "chat", head, other).superseded == (Superseded(first, head),)
    assert deliver(segue_, "elsewhere", other).superseded == (Superseded(first, None),)
    assert deliver(segue_, "elsewhere", head, since=1).superseded == (Superseded(first, head),)


@pytest.mark.requirement("context-delta-superseded")
def test_what_was_taken_back_has_no_replacement(segue_: segue.Segue) -> None:
    a, b = remembered(segue_, "Ana ships.", "Ben tests.")
    deliver(segue_, "chat", a, b)
    with segue_.memories.writing() as (_, writer):
        writer.retire(segue_.memories.get(a))
        writer.finish()
    delta = deliver(segue_, "chat", b)
    assert (delta.superseded, delta.evicted) == ((Superseded(a, None),), ())


@pytest.mark.requirement("context-delta-superseded")
@pytest.mark.parametrize(("steps", "reached"), [(1, True), (16, True), (17, False)])
def test_a_head_is_at_most_sixteen_steps_away(segue_: segue.Segue, steps: int, reached: bool) -> None:
    chain = remembered(segue_, *(f"Text {number}." for number in range(steps + 1)))
    deliver(segue_, "chat", chain[0], chain[-1])
    link(segue_, chain)
    assert deliver(segue_, "chat", chain[-1]).superseded == (Superseded(chain[0], chain[-1] if reached else None),)


@pytest.mark.requirement("context-delta-superseded")
def test_a_circle_and_a_gap_in_a_chain_lead_to_nothing(segue_: segue.Segue) -> None:
    a, b, c, d, e = remembered(segue_, *(f"Text {number}." for number in range(5)))
    deliver(segue_, "chat", a, b, c, e)
    link(segue_, [a, b, a])
    link(segue_, [c, d, e])
    segue_.memories.forget(d)
    delta = deliver(segue_, "chat", e)
    assert set(delta.superseded) == {Superseded(a, None), Superseded(b, None), Superseded(c, None)}


@pytest.mark.requirement("context-delta-superseded")
def test_what_became_of_memories(segue_: segue.Segue) -> None:
    active, taken_back, dangling, old, head = remembered(segue_, *(f"Text {number}." for number in range(5)))
    waiting = segue_.memories.propose("Dora waits.").memory.id
    link(segue_, [old, head])
    link(segue_, [dangling, "mem_forgotten"])
    link(segue_, [taken_back, ""])
    asked = {active, taken_back, dangling, old, waiting, "mem_forgotten"}
    with segue_._database.read() as connection:
        found = context_sessions.fates(connection, segue_.memories.scope_id, asked)
    assert found.gone == {waiting, "mem_forgotten"}
    assert found.superseded == {taken_back: "", dangling: "", old: head}


def link(opened: segue.Segue, chain: list[str]) -> None:
    """Say that each memory of a chain was replaced by the next."""
    columns = tables.memories.c
    with opened._database.write(opened.memories.scope_id) as connection:
        for old, by in pairwise(chain):
            values = {"status": "retired", "superseded_by": by or None}
            connection.execute(sa.update(tables.memories).where(columns.id == old).values(**values))


@pytest.mark.requirement("context-delta-no-resend")
def test_a_higher_version_is_renewed_and_not_told(segue_: segue.Segue) -> None:
    a, b, c = remembered(segue_, "Ana ships.", "Ben tests.", "Cid writes.")
    segue_.sessions.deliver("chat", [Served(a, 0.5, 2), Served(b, 0.5, 3)])
    served = [Served(c, 0.5, 1), Served(b, 0.5, 5), Served(a, 0.5, 3)]
    rehearsed = segue_.sessions.rehearse("chat", served)
    delivery = segue_.sessions.deliver("chat", served)
    assert (new(delivery.delta), delivery.renewed) == ([c], (b, a))
    assert (rehearsed.delta, rehearsed.renewed) == (delivery.delta, delivery.renewed)
    assert set(delivery.delta.to_json()) == {"new", "evicted", "superseded", "cursor"}
    assert segue_.sessions.deliver("chat", served).renewed == ()
    assert segue_.sessions.deliver("chat", served, since=1).renewed == (b, a)
    assert segue_.sessions.deliver("elsewhere", served).renewed == ()


@pytest.mark.requirement("context-delta-superseded")
def test_what_is_superseded_now_is_announced_by_a_historic_pack(segue_: segue.Segue) -> None:
    old, gone, other = remembered(segue_, "The port is 1.", "Ana ships.", "Ben tests.")
    head = segue_.memories.supersede(old, "The port is 2.").memory.id
    segue_.memories.forget(gone)
    served = packed([old, gone, other])
    rehearsed = segue_.sessions.rehearse("chat", served, historic=True)
    delivery = segue_.sessions.deliver("chat", served, historic=True)
    assert rehearsed.delta == delivery.delta
    assert (new(delivery.delta), delivery.delta.superseded) == ([old, other], ())
    assert list(segue_.sessions.show("chat").state.known) == [old, other]
    delta = deliver(segue_, "chat", head, other)
    assert (new(delta), delta.superseded) == ([head], (Superseded(old, head),))
    with segue_._database.write(segue_.memories.scope_id) as connection:
        announced = segue_.sessions.announce(connection, "chat", packed([old]), historic=True)
    assert new(announced.delta) == [old]


@pytest.mark.requirement("context-delta-cap")
def test_what_the_cap_pushes_out_is_said_and_kept(segue_: segue.Segue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deltas, "CAP", 2)
    a, b, c = remembered(segue_, "Ana ships.", "Ben tests.", "Cid writes.")
    deliver(segue_, "chat", a, b)
    assert deliver(segue_, "chat", c).evicted == (a,)
    assert list(segue_.sessions.show("chat").state.known) == [b, c]


@pytest.mark.requirement("context-delta-since")
@pytest.mark.parametrize("since", ["2", 2])
def test_a_lost_reply_is_sent_again(segue_: segue.Segue, since: str | int) -> None:
    a, b, c = remembered(segue_, "Ana ships.", "Ben tests.", "Cid writes.")
    deliver(segue_, "chat", a)
    deliver(segue_, "chat", a)
    deliver(segue_, "chat", b)  # lost
    delta = deliver(segue_, "chat", c, since=since)
    assert [each.to_json() for each in delta.new] == [
        {"ref": c, "delta_relevance": 0.5},
        {"ref": b, "delta_relevance": None},
    ]
    assert delta.cursor == "4"


@pytest.mark.requirement("context-delta-since")
@pytest.mark.parametrize("since", ["", "-1", "+1", " 1", "01", "1.0", "two", "²", "9" * 30, -1, 2, True, 1.0, [1]])
def test_a_cursor_that_is_none_is_refused_and_changes_nothing(segue_: segue.Segue, since: Any) -> None:
    a, b = remembered(segue_, "Ana ships.", "Ben tests.")
    deliver(segue_, "chat", a)
    before = rows_of(segue_, "context_sessions")
    with pytest.raises(InvalidInput) as caught:
        deliver(segue_, "chat", b, since=since)
    assert caught.value.code == "session.since"
    assert rows_of(segue_, "context_sessions") == before


def test_sessions_are_named_by_1_to_80_characters(segue_: segue.Segue) -> None:
    (a,) = remembered(segue_, "Ana ships.")
    for name in ("x", "x" * 80, "😀" * 80, " ", "../'\"%_\n", "chat\u202e"):
        assert new(deliver(segue_, name, a)) == [a]
        assert segue_.sessions.show(name).session_id == name
        assert new(deliver(segue_, name, a)) == []
    assert len(segue_.sessions.ls().sessions) == 6


@pytest.mark.parametrize("name", ["", "x" * 81, "a\0b", "\ud800", None, 7, b"chat"])
def test_other_names_are_refused(segue_: segue.Segue, name: Any) -> None:
    for call in (
        lambda: segue_.sessions.deliver(name, []),
        lambda: segue_.sessions.show(name),
        lambda: segue_.sessions.reset(name),
    ):
        with pytest.raises(InvalidInput) as caught:
            call()
        assert caught.value.code == "session.id"
    assert rows_of(segue_, "context_sessions") == []


@pytest.mark.requirement("context-session-owner")
def test_sessions_of_one_name_in_two_scopes_are_two(segue_: segue.Segue, clock: Clock) -> None:
    shared: dict[str, Any] = {"project": lambda: segue_.project, "clock": clock}
    theirs = Memories(segue_._database, "another-scope", embedding=segue_._given.embedding, **shared)
    their_sessions = Sessions(segue_._database, "another-scope", **shared)
    (a,) = remembered(segue_, "Ana ships.")
    b = theirs.remember("Ben tests.").memory.id
    deliver(segue_, "chat", a)
    delivery = their_sessions.deliver("chat", packed([a, b]))
    assert (new(delivery.delta), delivery.delta.cursor) == ([b], "1")
    assert new(deliver(segue_, "chat", a, b)) == []
    assert list(their_sessions.show("chat").state.known) == [b]
    assert list(segue_.sessions.show("chat").state.known) == [a]
    assert their_sessions.reset("chat")
    assert segue_.sessions.show("chat").state.turn == 2
    assert (their_sessions.ls().sessions, len(segue_.sessions.ls().sessions)) == ([], 1)


@pytest.mark.requirement("context-session-owner")
def test_two_sessions_do_not_see_each_other(segue_: segue.Segue) -> None:
    a, b = remembered(segue_, "Ana ships.", "Ben tests.")
    deliver(segue_, "chat", a)
    assert new(deliver(segue_, "Chat", a, b)) == [a, b]
    assert new(deliver(segue_, "chat ", b)) == [b]
    assert list(segue_.sessions.show("chat").state.known) == [a]


@pytest.mark.requirement("context-session-expiry")
def test_a_session_that_was_not_used_for_30_days_never_was(segue_: segue.Segue, clock: Clock) -> None:
    (a,) = remembered(segue_, "Ana ships.")
    deliver(segue_, "used", a)
    deliver(segue_, "unused", a)
    clock.now += timedelta(days=30, seconds=-5)
    assert deliver(segue_, "used", a).cursor == "2"
    clock.now += timedelta(seconds=10)
    with pytest.raises(NotFound):
        segue_.sessions.show("unused")
    assert [each.session_id for each in segue_.sessions.ls().sessions] == ["used"]
    assert len(rows_of(segue_, "context_sessions")) == 2  # reading writes nothing
    delta = deliver(segue_, "unused", a)
    assert (new(delta), delta.cursor) == ([a], "1")
    assert deliver(segue_, "used", a).cursor == "3"
    shown = segue_.sessions.show("used")
    assert shown.expires_at - shown.updated_at == timedelta(days=30)


@pytest.mark.requirement("context-session-expiry")
def test_expired_sessions_are_removed_by_a_sweep(segue_: segue.Segue, clock: Clock) -> None:
    for number in range(3):
        deliver(segue_, f"old {number}")
    clock.now += timedelta(days=31)
    deliver(segue_, "young")
    assert len(rows_of(segue_, "context_sessions")) == 4
    assert segue_.sessions.sweep(clock.now) == 3
    assert [row["session_id"] for row in rows_of(segue_, "context_sessions")] == ["young"]
    assert segue_.sessions.sweep(clock.now) == 0


@pytest.mark.requirement("context-session-expiry")
def test_expired_sessions_and_kept_queries_are_removed_by_a_vacuum(segue_: segue.Segue, clock: Clock) -> None:
    theirs = Sessions(segue_._database, "another-scope", project=lambda: segue_.project, clock=clock)
    theirs.deliver("theirs", [])
    deliver(segue_, "old")
    scope = segue_.memories.scope_id
    with segue_._database.write(scope) as connection:
        for owner, hours in ((scope, 1), (scope, 24 * 40), ("another-scope", 1)):
            details: dict[str, Any] = {"now": clock.now, "lifetime": timedelta(hours=hours)}
            kept_queries.keep(connection, owner, "local", f"{owner} {hours}", **details)
    clock.now += timedelta(days=31)
    deliver(segue_, "young")
    segue_.store.vacuum()
    assert {row["session_id"] for row in rows_of(segue_, "context_sessions")} == {"young", "theirs"}
    assert {row["body"] for row in rows_of(segue_, "kept_queries")} == {f"{scope} 960", "another-scope 1"}


@pytest.mark.requirement("context-session-expiry")
def test_a_call_in_the_far_future_takes_nothing_from_other_sessions(segue_: segue.Segue, clock: Clock) -> None:
    (a,) = remembered(segue_, "Ana ships.")
    for name in ("one", "two"):
        deliver(segue_, name, a)
    before = rows_of(segue_, "context_sessions")
    far = clock.now + timedelta(days=4_000)
    assert segue_.sessions.rehearse("one", packed([a]), now=far).delta.cursor == "1"
    assert rows_of(segue_, "context_sessions") == before
    assert new(deliver(segue_, "replay", a, now=far)) == [a]
    assert [row for row in rows_of(segue_, "context_sessions") if row["session_id"] != "replay"] == before
    assert (new(deliver(segue_, "one", a)), deliver(segue_, "two", a).cursor) == ([], "2")


def test_a_session_at_the_end_of_all_time_is_shown(segue_: segue.Segue, clock: Clock) -> None:
    clock.now = datetime(9999, 12, 20, tzinfo=UTC)
    deliver(segue_, "s", *remembered(segue_, "Ana ships."))
    shown = segue_.sessions.show("s").to_json()
    assert (shown["updated_at"][:10], shown["expires_at"][:10]) == ("9999-12-20", "9999-12-31")


@pytest.mark.requirement("context-session-expiry")
def test_an_expired_session_begins_afresh_in_its_row(segue_: segue.Segue, clock: Clock) -> None:
    a, b = remembered(segue_, "Ana ships.", "Ben tests.")
    deliver(segue_, "chat", a, task="Who ships?")
    spoil(segue_, "chat", known="nonsense")  # what never was is not read
    clock.now += timedelta(days=31)
    with pytest.raises(InvalidInput, match="its last is 0"):
        deliver(segue_, "chat", since=1)
    assert new(deliver(segue_, "chat", b)) == [b]
    (row,) = rows_of(segue_, "context_sessions")
    shown = segue_.sessions.show("chat")
    assert (list(shown.state.known), len(shown.state.trajectory), shown.state.turn) == ([b], 1, 1)
    assert (row["started_us"], row["delta_cursor"]) == (row["updated_us"], 1)
    assert clock.now - shown.started_at < timedelta(minutes=1)


@pytest.mark.requirement("context-session-expiry")
def test_an_expired_session_that_is_reset_was_none_and_its_row_goes(segue_: segue.Segue, clock: Clock) -> None:
    for name in ("one", "two"):
        deliver(segue_, name)
    clock.now += timedelta(days=31)
    assert not segue_.sessions.reset("one")
    assert [row["session_id"] for row in rows_of(segue_, "context_sessions")] == ["two"]
    assert [event for event in segue_.store.events(100) if event.kind == "session.reset"] == []


@pytest.mark.requirement("context-session-expiry")
@pytest.mark.requirement("context-session-owner")
def test_nobody_sweeps_the_sessions_of_another_scope(segue_: segue.Segue, clock: Clock) -> None:
    theirs = Sessions(segue_._database, "another-scope", project=lambda: segue_.project, clock=clock)
    theirs.deliver("chat", [])
    deliver(segue_, "chat")
    clock.now += timedelta(days=31)
    assert segue_.sessions.sweep(clock.now) == 1
    assert [row["scope_id"] for row in rows_of(segue_, "context_sessions")] == ["another-scope"]
    assert theirs.sweep(clock.now) == 1
    assert rows_of(segue_, "context_sessions") == []


@pytest.mark.requirement("context-session-expiry")
def test_an_earlier_now_does_not_shorten_a_session(segue_: segue.Segue, clock: Clock) -> None:
    deliver(segue_, "chat")
    used = segue_.sessions.show("chat").updated_at
    deliver(segue_, "chat", now=used - timedelta(days=400))
    shown = segue_.sessions.show("chat")
    assert (shown.updated_at, shown.started_at, shown.state.turn) == (used, used, 2)


def test_a_session_that_is_reset_begins_anew(segue_: segue.Segue) -> None:
    (a,) = remembered(segue_, "Ana ships.")
    deliver(segue_, "chat", a)
    assert segue_.sessions.reset("chat")
    assert not segue_.sessions.reset("chat")
    with pytest.raises(NotFound) as caught:
        segue_.sessions.show("chat")
    assert caught.value.code == "session.not_found"
    delta = deliver(segue_, "chat", a)
    assert (new(delta), delta.cursor) == ([a], "1")
    assert [event.subject for event in segue_.store.events(100) if event.kind == "session.reset"] == ["chat"]


def test_sessions_are_listed_last_used_first_in_pages(segue_: segue.Segue) -> None:
    for name in ("a", "b", "c", "a"):
        deliver(segue_, name)
    page = segue_.sessions.ls(limit=2)
    assert [each.session_id for each in page.sessions] == ["a", "c"]
    rest = segue_.sessions.ls(limit=2, cursor=page.cursor)
    assert ([each.session_id for each in rest.sessions], rest.cursor) == (["b"], None)
    line = page.to_json()["sessions"][0]
    assert (line["turn"], line["cursor"], line["started_at"] < line["updated_at"]) == (2, "2", True)
    with pytest.raises(InvalidInput):
        segue_.sessions.ls(limit=0)
    with pytest.raises(InvalidInput):
        segue_.sessions.ls(cursor="forged")


@pytest.mark.requirement("context-session-atomic")
@pytest.mark.parametrize("column", ["known", "trajectory", "centroid", "log"])
def test_what_cannot_be_read_is_an_error_and_not_an_empty_session(segue_: segue.Segue, column: str) -> None:
    (a,) = remembered(segue_, "Ana ships.")
    deliver(segue_, "chat", a)
    spoil(segue_, "chat", **{column: "nonsense"})
    before = rows_of(segue_, "context_sessions")
    for call in (lambda: deliver(segue_, "chat", a), lambda: segue_.sessions.show("chat")):
        with pytest.raises(Failed) as caught:
            call()
        assert caught.value.code == "session.state"
    assert rows_of(segue_, "context_sessions") == before
    assert [each.session_id for each in segue_.sessions.ls().sessions] == ["chat"]
    assert segue_.sessions.reset("chat")
    assert new(deliver(segue_, "chat", a)) == [a]


@pytest.mark.requirement("context-session-atomic")
def test_what_fails_at_the_end_changes_nothing(segue_: segue.Segue, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = remembered(segue_, "Ana ships.", "Ben tests.")
    deliver(segue_, "chat", a)
    before = rows_of(segue_, "context_sessions")

    def put(*_: Any, **__: Any) -> None:
        raise Failed("store.full", "the disk is full")

    with monkeypatch.context() as patch, pytest.raises(Failed, match="the disk is full"):
        patch.setattr(context_sessions, "put", put)
        deliver(segue_, "chat", b)
    assert rows_of(segue_, "context_sessions") == before
    with pytest.raises(ZeroDivisionError), segue_._database.write(segue_.memories.scope_id) as connection:
        delivery = segue_.sessions.announce(connection, "chat", packed([b]))
        assert new(delivery.delta) == [b]
        raise ZeroDivisionError
    assert rows_of(segue_, "context_sessions") == before
    assert new(deliver(segue_, "chat", b)) == [b]


def test_another_process_reads_the_state_byte_for_byte(
    segue_: segue.Segue, location: str, project_directory: Path, clock: Clock
) -> None:
    a, b = remembered(segue_, "Ana ships.", "Ben tests.")
    deliver(segue_, "chat", b, task="Who ships?")
    delivered = segue_.sessions.deliver("chat", packed([a, b]), task="移行計画").state
    with segue.open(location, directory=project_directory, clock=clock) as other:
        read = other.sessions.show("chat").state
        assert (read, read.texts()) == (delivered, delivered.texts())
        assert new(deliver(other, "chat", a, b)) == []
    row = rows_of(segue_, "context_sessions")[0]
    assert deliver(segue_, "chat").cursor == "4"
    assert (row["delta_cursor"], row["turn"]) == (3, 3)


@pytest.mark.requirement("context-delta-no-leak")
def test_nothing_of_a_memory_but_its_id_is_kept(segue_: segue.Segue) -> None:
    """Nor a secret that stands in a task."""
    secret = "ghp" + "_" + "Zx81" * 9
    (a,) = remembered(segue_, "Wilhelmina ships.")
    deliver(segue_, "chat", a, task=f"use {secret}")
    row = rows_of(segue_, "context_sessions")[0]
    assert a in row["known"]
    assert "wilhelmina" not in str(row).lower()
    assert secret.lower() not in everything(segue_).lower()
