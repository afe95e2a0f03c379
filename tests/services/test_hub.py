"""The hub: packets over personal and team scopes, as each caller sees them; on both databases."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from server_samples import FIRST, SECOND, body, code, events, everything, join, person, same_answer

import segue
from segue.base.redaction import RedactionRefused
from segue.services.hub import Hub, bounded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conftest import Clock
    from segue.services.callers import Caller
    from segue.services.packets import Packets


def _path() -> str:
    return "/".join(["", "home", "alice", "work"])  # in pieces: it is what must not travel


def _team(opened: segue.Segue, *names: str, team: str = "bakers") -> list[Caller]:
    """People who share a team; the first one owns it."""
    people = [person(opened, name) for name in names]
    opened.teams.create(people[0], team)
    join(opened, people[0], team, *people[1:])
    return people


def _goal(opened: segue.Segue, caller: Caller, packet_id: str = FIRST, **named: Any) -> str:
    return str(json.loads(opened.hub.pull(caller, packet_id, **named).body)["goal"])


def _ids(opened: segue.Segue, caller: Caller, **named: Any) -> list[str]:
    return [each.id for each in opened.hub.ls(caller, **named).packets]


# -- push (H1) --------------------------------------------------------------------------------------------------


def test_what_is_pushed_is_pulled_and_nobody_else_sees_it(segue_: segue.Segue) -> None:
    ann, bob = person(segue_, "Ann"), person(segue_, "Bob")
    pushed = segue_.hub.push(ann, body())
    assert (pushed.id, pushed.outcome, pushed.revision) == (FIRST, "created", 1)
    pulled = segue_.hub.pull(ann, FIRST)
    assert (pulled.etag, pulled.team, pulled.scope_id) == (pushed.etag, "", ann.user_id)
    assert json.loads(pulled.body) == json.loads(body())
    assert _ids(segue_, bob) == []
    hub = segue_.hub
    assert same_answer(partial(hub.pull, bob, FIRST), partial(hub.pull, bob, SECOND)) == "packet.not_found"
    assert same_answer(partial(hub.rm, bob, FIRST), partial(hub.rm, bob, SECOND)) == "packet.not_found"
    assert events(segue_, ann.user_id)[-1] == ("packet.saved", FIRST, ann.user_id)
    with segue_._database.read() as connection:
        from segue.storage import packets as rows

        stored = rows.get(connection, ann.user_id, FIRST)
    assert stored is not None
    assert (stored.owner_id, stored.project_key, stored.project_label) == (ann.user_id, None, None)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (b"", "packet.json"),
        (b"[]", "packet.type"),
        (b"{}", "packet.version"),
        (b'{"ltm_version": "0.2"}', "packet.schema"),
        (b'{"ltm_version": "0.2", "goal": "g", "next_step": "n"}', "packet.schema"),
        (b'{"ltm_version": "0.3", "id": "packet-0001"}', "packet.version"),
        (body("0123"), "packet.schema"),
        (body("packet\t0001"), "packet.id"),
        (b" " * 32_769, "packet.size"),
    ],
)
def test_what_is_no_packet(segue_: segue.Segue, given: bytes, expected: str) -> None:
    ann = person(segue_, "Ann")
    assert code(segue_.hub.push, ann, given) == expected
    assert _ids(segue_, ann) == []


def test_a_version_0_1_packet_is_taken(segue_: segue.Segue) -> None:
    ann = person(segue_, "Ann")
    assert segue_.hub.push(ann, body(ltm_version="0.1")).outcome == "created"


def test_again_replaced_and_by_its_version(segue_: segue.Segue) -> None:
    ann = person(segue_, "Ann")
    push = partial(segue_.hub.push, ann)
    first = push(body(tags=["one"], project={"name": "Old"}))
    assert push(b" " + body(tags=["one"], project={"name": "Old"})).outcome == "unchanged"
    other = body(goal="Another.", tags=["two"], project={"name": "New"}, created_at="2026-05-05T09:30:00Z")
    assert code(push, other) == "packet.exists"
    assert _goal(segue_, ann) == "Ship it."
    second = push(other, replace=True, if_match=first.etag)
    assert (second.outcome, second.revision, second.etag == first.etag) == ("replaced", 2, False)
    line = segue_.hub.ls(ann).packets[0]
    assert (line.goal, line.tags, line.project_name) == ("Another.", ("two",), "New")
    assert line.created_at == "2026-05-05T09:30:00Z"
    assert (_ids(segue_, ann, tag="one"), _ids(segue_, ann, project="Old")) == ([], [])
    assert _ids(segue_, ann, tag="two") == _ids(segue_, ann, project="new") == [FIRST]
    for etag in (first.etag, '"x"', "", f"W/{second.etag}"):
        with pytest.raises(segue.Stale) as stale:
            push(body(goal="Third."), replace=True, if_match=etag)
        assert stale.value.code == "packet.changed"
    assert code(push, body(goal="Third."), if_match=second.etag) == "packet.exists"
    assert push(body(goal="Third."), replace=True, if_match=f'"x", {second.etag}').revision == 3
    assert push(body(goal="Fourth."), replace=True, if_match="*").revision == 4
    assert code(push, body(SECOND), if_match="*") == "packet.changed"
    assert code(push, body(SECOND), if_match=first.etag) == "packet.changed"


def test_an_id_that_was_deleted_is_free(segue_: segue.Segue) -> None:
    ann = person(segue_, "Ann")
    first = segue_.hub.push(ann, body())
    segue_.hub.rm(ann, FIRST)
    assert code(segue_.hub.pull, ann, FIRST) == "packet.not_found"
    assert code(segue_.hub.rm, ann, FIRST) == "packet.not_found"
    again = segue_.hub.push(ann, body(goal="Another."))
    assert (again.outcome, again.revision) == ("created", 1)
    assert again.etag != first.etag, "the old version does not match by chance"


def test_one_id_in_many_scopes(segue_: segue.Segue) -> None:
    """Facts 000.6, 1: nobody's packet is another's to replace."""
    ann, bob = _team(segue_, "Ann", "Bob")
    for number, (caller, team) in enumerate([(ann, None), (bob, None), (ann, "bakers")]):
        assert segue_.hub.push(caller, body(goal=f"Goal {number}."), team, replace=True).outcome == "created"
    assert [_goal(segue_, ann), _goal(segue_, bob)] == ["Goal 0.", "Goal 1."]
    assert _goal(segue_, bob, team="bakers") == "Goal 2."


def test_a_team_mates_packet_is_not_touched(segue_: segue.Segue) -> None:
    ann, bob = _team(segue_, "Ann", "Bob")
    segue_.hub.push(bob, body(), "bakers")
    before = events(segue_, segue_.teams.get(ann, "bakers").id)
    for replace in (False, True):
        assert code(segue_.hub.push, ann, body(goal="Mine."), "bakers", replace=replace) == "packet.exists"
    assert segue_.hub.push(ann, body(), "bakers").outcome == "unchanged"
    assert _goal(segue_, ann) == "Ship it."
    assert events(segue_, segue_.teams.get(ann, "bakers").id) == before
    segue_.hub.rm(bob, FIRST)


def test_the_servers_own_redactor(segue_: segue.Segue) -> None:
    ann, bob = _team(segue_, "Ann", "Bob")
    secret, local = body(goal=f"Look at {_path()}."), body(SECOND, goal="Listen on localhost:8080.")
    with pytest.raises(RedactionRefused) as refused:
        segue_.hub.push(bob, secret)
    assert refused.value.code == "packet.redaction"
    assert refused.value.details == {"redaction": ["goal/abs-path"]}
    assert "alice" not in refused.value.message
    assert segue_.hub.push(bob, local).outcome == "created", "core alone by default: clients know no more"
    segue_.teams.set_policy(ann, "bakers", "extended")
    assert code(segue_.hub.push, bob, local, "bakers") == "packet.redaction"
    assert code(segue_.hub.move, bob, SECOND, "bakers") == "packet.redaction"
    segue_.teams.set_policy(ann, "bakers", "off")
    assert segue_.hub.push(bob, secret, "bakers").outcome == "created"
    assert segue_.hub.ls(bob, team="bakers").packets[0].flagged
    assert code(segue_.hub.move, bob, FIRST, None) == "packet.redaction"
    assert code(segue_.hub.push, bob, secret) == "packet.redaction"
    segue_.tenancy.set_policy("off")
    assert segue_.hub.push(bob, secret).outcome == "created"
    assert code(segue_.hub.push, bob, body("packet-0003", goal=f"At {_path()}"), rescan="core") == "packet.redaction"


# -- reading (H2, H3) -------------------------------------------------------------------------------------------


def test_the_own_packet_goes_before_those_of_teams_and_these_by_name(segue_: segue.Segue) -> None:
    ann, bob = _team(segue_, "Ann", "Bob", team="zoo")
    for team in ("mill", "bakers"):
        segue_.teams.create(ann, team)
        join(segue_, ann, team, bob)
    for team in ("zoo", "mill", "bakers"):
        segue_.hub.push(bob, body(goal=team), team)
    segue_.hub.push(bob, body(goal="own"))
    for expected in ("own", "bakers", "mill", "zoo"):
        assert _goal(segue_, bob) == expected
        for team in ("zoo", "mill", "bakers"):
            if team >= expected or expected == "own":
                assert _goal(segue_, bob, team=team) == team
        assert segue_.hub.pull(bob, FIRST).team == ("" if expected == "own" else expected)
        segue_.hub.rm(bob, FIRST)
    assert code(segue_.hub.pull, bob, FIRST) == "packet.not_found"


def test_ids_are_exact(segue_: segue.Segue) -> None:
    ann = person(segue_, "Ann")
    segue_.hub.push(ann, body("long-packet-0001"))
    for given in (FIRST, "0001", "", "LONG-PACKET-0001", "long-packet-0001 ", "%", "a\0", "\ud800", "x" * 100_000):
        for call in (segue_.hub.pull, segue_.hub.rm, segue_.hub.chain, segue_.publishing.publish):
            assert code(call, ann, given) == "packet.not_found"
        assert code(segue_.hub.move, ann, given, None) == "packet.not_found"
    assert _ids(segue_, ann) == ["long-packet-0001"]


@pytest.mark.parametrize(("given", "shown"), [(1, 1), (500, 500), (501, 500), (10**30, 500), (0, 50), (-1, 50)])
def test_how_many_a_list_shows(given: int, shown: int) -> None:
    assert bounded(given) == shown


def test_lists_by_what_they_are_asked_for(segue_: segue.Segue) -> None:
    ann, bob = _team(segue_, "Ann", "Bob")
    days = [f"2026-05-0{day}T09:30:00Z" for day in range(1, 6)]
    for number, day in enumerate(days, 1):
        extra: dict[str, Any] = {"parent_id": "packet-0001"} if number == 3 else {}
        tags, project = ["even" if number % 2 == 0 else "odd"], {"name": f"Project {number % 2}"}
        segue_.hub.push(
            ann,
            body(f"packet-000{number}", created_at=day, tags=tags, project=project, goal=f"Loaf {number}.", **extra),
        )
    segue_.hub.push(ann, body("packet-9999"), "bakers")
    every = [f"packet-000{number}" for number in (5, 4, 3, 2, 1)]
    assert _ids(segue_, ann) == every
    assert _ids(segue_, ann, team="bakers") == _ids(segue_, bob, team="bakers") == ["packet-9999"]
    assert _ids(segue_, bob) == []
    assert _ids(segue_, ann, tag="even") == ["packet-0004", "packet-0002"]
    assert _ids(segue_, ann, project="project 1") == ["packet-0005", "packet-0003", "packet-0001"]
    assert _ids(segue_, ann, project=".") == [], "a server belongs to no project"
    assert _ids(segue_, ann, q="loaf 3") == _ids(segue_, ann, parent="packet-0001") == ["packet-0003"]
    since, until = datetime(2026, 5, 2, tzinfo=UTC), datetime(2026, 5, 4, tzinfo=UTC)
    assert _ids(segue_, ann, since=since, until=until) == ["packet-0003", "packet-0002"]
    assert _ids(segue_, ann, limit=-7) == every
    assert code(segue_.hub.ls, ann, q="x" * 2_000) == "filter.invalid"


def test_a_cursor_is_for_one_caller_and_one_list(segue_: segue.Segue) -> None:
    ann, bob = _team(segue_, "Ann", "Bob")
    segue_.teams.create(ann, "millers")
    for number in range(5):
        for team in (None, "bakers", "millers"):
            segue_.hub.push(ann, body(f"packet-000{number}", tags=["x"]), team)
    page = segue_.hub.ls(ann, team="bakers", limit=2)
    assert page.cursor is not None
    rest = segue_.hub.ls(ann, team="bakers", limit=500, cursor=page.cursor)
    assert [*page.packets, *rest.packets] == segue_.hub.ls(ann, team="bakers").packets
    assert rest.cursor is None
    refused = [
        partial(segue_.hub.ls, bob, team="bakers", cursor=page.cursor),
        partial(segue_.hub.ls, ann, cursor=page.cursor),
        partial(segue_.hub.ls, ann, team="millers", cursor=page.cursor),
        partial(segue_.hub.ls, ann, team="bakers", tag="x", cursor=page.cursor),
        partial(segue_.hub.ls, ann, team="bakers", cursor=page.cursor + "A"),
        partial(segue_.hub.ls, ann, team="bakers", cursor="x"),
        partial(segue_.hub.ls, ann, team="bakers", cursor=""),
    ]
    assert same_answer(*refused) == "cursor.invalid"


def test_a_chain_across_scopes(segue_: segue.Segue) -> None:
    ann, bob = _team(segue_, "Ann", "Bob")
    segue_.teams.create(ann, "secret")
    segue_.hub.push(ann, body("packet-0000"), "secret")
    segue_.hub.push(bob, body("packet-0001", parent_id="packet-0000"))
    segue_.hub.push(ann, body("packet-0002", parent_id="packet-0001"), "bakers")
    segue_.hub.push(bob, body("packet-0003", parent_id="packet-0002"))
    segue_.hub.push(bob, body("packet-0004", parent_id="packet-0003"), "bakers")
    segue_.hub.push(bob, body("packet-0005", parent_id="packet-0003"))
    chain = segue_.hub.chain(bob, "packet-0003")
    assert [each.id for each in chain.packets] == ["packet-0003", "packet-0002", "packet-0001"]
    assert {each.id for each in chain.children} == {"packet-0004", "packet-0005"}
    assert chain.missing == "packet-0000"
    above = segue_.hub.chain(ann, "packet-0002")
    assert [each.id for each in above.packets] == ["packet-0002"]
    assert (above.children, above.missing) == ([], "packet-0001")


def test_a_chain_that_bites_its_tail_ends(segue_: segue.Segue) -> None:
    ann = _team(segue_, "Ann")[0]
    segue_.hub.push(ann, body(FIRST, parent_id=SECOND))
    segue_.hub.push(ann, body(SECOND, parent_id=FIRST), "bakers")
    chain = segue_.hub.chain(ann, FIRST)
    assert [each.id for each in chain.packets] == [FIRST, SECOND]
    assert [each.id for each in chain.children] == [SECOND]


def test_of_one_id_in_two_scopes_a_chain_takes_the_nearer(segue_: segue.Segue) -> None:
    ann = _team(segue_, "Ann")[0]
    segue_.hub.push(ann, body(FIRST, goal="own"))
    segue_.hub.push(ann, body(FIRST, goal="shared"), "bakers")
    segue_.hub.push(ann, body(SECOND, parent_id=FIRST), "bakers")
    assert [each.goal for each in segue_.hub.chain(ann, SECOND).packets][1] == "shared"


# -- delete and move --------------------------------------------------------------------------------------------


def test_who_may_delete(segue_: segue.Segue) -> None:
    ann, bob, cid = _team(segue_, "Ann", "Bob", "Cid")
    for number, caller in enumerate([ann, bob, bob, bob, cid]):
        segue_.hub.push(caller, body(f"packet-000{number}"), "bakers")
    assert code(segue_.hub.rm, cid, "packet-0001") == "packet.not_found"
    assert code(segue_.hub.rm, cid, "packet-0001", team="bakers") == "packet.not_found"
    segue_.hub.rm(bob, "packet-0001")
    segue_.hub.rm(ann, "packet-0002")
    assert code(segue_.hub.rm, bob, "packet-0000") == "packet.not_found"
    segue_.teams.leave(bob, "bakers")
    assert code(segue_.hub.pull, bob, "packet-0003") == "packet.not_found"
    assert code(segue_.hub.rm, bob, "packet-0004", team="bakers") == "packet.not_found"
    assert code(segue_.hub.move, bob, "packet-0003", None) == "packet.not_found"
    assert code(segue_.publishing.publish, bob, "packet-0003") == "packet.not_found"
    segue_.hub.rm(bob, "packet-0003", team="bakers")
    assert _ids(segue_, ann, team="bakers") == ["packet-0004", "packet-0000"]
    segue_.hub.rm(ann, "packet-0004")
    team_events = events(segue_, segue_.teams.get(ann, "bakers").id)
    assert ("packet.deleted", "packet-0003", bob.user_id) in team_events


def test_what_is_not_the_callers_to_delete_hides_nothing_behind_it(segue_: segue.Segue) -> None:
    """What GET shows is what DELETE is about, never another packet of the same id."""
    ann, bob = _team(segue_, "Ann", "Bob", team="first")
    segue_.teams.create(bob, "second")
    segue_.hub.push(ann, body(), "first")
    segue_.hub.push(bob, body(), "second")
    assert segue_.hub.pull(bob, FIRST).team == "first"
    assert code(segue_.hub.rm, bob, FIRST) == "packet.not_found"
    segue_.hub.rm(bob, FIRST, team="second")
    assert _ids(segue_, bob, team="second") == []


def test_a_move_changes_no_byte(segue_: segue.Segue) -> None:
    ann, bob = _team(segue_, "Ann", "Bob")
    segue_.hub.push(bob, body(goal="Older."))
    pushed = segue_.hub.push(bob, body(tags=["x"], project={"name": "P"}), replace=True)
    before = segue_.hub.pull(bob, FIRST)
    page = segue_.publishing.publish(bob, FIRST)
    counts = segue_.store.counts()
    moved = segue_.hub.move(bob, FIRST, "bakers")
    assert (moved.body, moved.etag, moved.revision) == (before.body, pushed.etag, 2)
    assert segue_.hub.pull(ann, FIRST) == segue_.hub.pull(bob, FIRST) == moved
    assert moved.team == "bakers"
    assert (_ids(segue_, bob), _ids(segue_, ann, team="bakers", tag="x", project="p")) == ([], [FIRST])
    assert segue_.publishing.read(page.slug).id == FIRST
    assert segue_.publishing.of(moved.scope_id, FIRST) == page
    assert events(segue_, bob.user_id)[-1] == ("packet.moved", FIRST, bob.user_id)
    assert ("packet.moved", FIRST, bob.user_id) in events(segue_, moved.scope_id)
    assert segue_.hub.move(bob, FIRST, "bakers") == moved, "it is there already"
    assert code(segue_.hub.move, ann, FIRST, None) == "packet.not_found", "it is not hers to take"
    back = segue_.hub.move(bob, FIRST, None, source="bakers")
    assert (back.body, back.team, back.scope_id) == (before.body, "", bob.user_id)
    assert code(segue_.hub.pull, ann, FIRST) == "packet.not_found"
    after = segue_.store.counts()
    for name in ("packets", "packet_tags", "packet_projects", "publications", "memory_sources"):
        assert after[name] == counts[name], name
    assert segue_.store.doctor() == []


def test_a_move_into_what_is_taken_or_hidden(segue_: segue.Segue) -> None:
    ann, bob = _team(segue_, "Ann", "Bob")
    segue_.teams.create(ann, "secret")
    segue_.hub.push(bob, body())
    segue_.hub.push(ann, body(goal="Another."), "bakers")
    before = everything(segue_)
    assert code(segue_.hub.move, bob, FIRST, "bakers") == "packet.exists"
    move = segue_.hub.move
    assert same_answer(partial(move, bob, FIRST, "secret"), partial(move, bob, FIRST, "x")) == "team.not_found"
    assert everything(segue_) == before
    assert _goal(segue_, bob) == "Ship it."


def test_memories_go_with_their_packet(segue_: segue.Segue) -> None:
    ann, bob = _team(segue_, "Ann", "Bob")
    segue_.hub.push(bob, body(decisions=[{"what": "Use rye flour.", "why": "It keeps.", "locked": True}]))

    def found(caller: Caller, team: str | None) -> int:
        return len(segue_.seen_by(caller, team).search.find("rye flour").hits)

    assert (found(bob, None) > 0, found(ann, "bakers")) == (True, 0)
    segue_.hub.move(bob, FIRST, "bakers")
    assert (found(bob, None), found(ann, "bakers") > 0) == (0, True)
    segue_.hub.rm(bob, FIRST)
    assert (found(bob, None), found(ann, "bakers")) == (0, 0)


# -- at once ----------------------------------------------------------------------------------------------------


def _at_once(calls: Sequence[Callable[[], Any]]) -> list[str]:
    """Make all calls at one moment; return what each ended in: the code of an error, or the outcome."""
    barrier = threading.Barrier(len(calls))
    ended: list[str] = []

    def run(call: Callable[[], Any]) -> None:
        barrier.wait()
        try:
            ended.append(getattr(call(), "outcome", "done"))
        except segue.SegueError as error:
            ended.append(error.code)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(ended)


def test_many_push_at_once(location: str, clock: Clock) -> None:
    with segue.open(location, clock=clock) as one, segue.open(location, clock=clock) as other:
        ann, bob = _team(one, "Ann", "Bob")
        stores = [one, other] * 4
        same = [partial(each.hub.push, ann, body(), "bakers") for each in stores]
        assert _at_once(same) == ["created", *["unchanged"] * 7]
        etag = one.hub.pull(ann, FIRST).etag
        replacing = [
            partial(each.hub.push, ann, body(goal=f"Goal {number}."), "bakers", replace=True, if_match=etag)
            for number, each in enumerate(stores)
        ]
        assert _at_once(replacing) == [*["packet.changed"] * 7, "replaced"], "no change is lost"
        different = [partial(each.hub.push, bob, body(f"packet-1{n:03}"), "bakers") for n, each in enumerate(stores)]
        assert _at_once(different) == ["created"] * 8
        assert len(other.hub.ls(ann, team="bakers").packets) == 9
        assert one.hub.pull(ann, FIRST).revision == 2
        assert one.store.doctor() == []


def test_moves_against_one_another(location: str, clock: Clock) -> None:
    """Two packets change places, again and again: nobody waits for the other for ever, nothing is lost."""
    with segue.open(location, clock=clock) as one, segue.open(location, clock=clock) as other:
        ann = _team(one, "Ann")[0]
        one.hub.push(ann, body(FIRST))
        one.hub.push(ann, body(SECOND), "bakers")
        for there, back in [("bakers", None), (None, "bakers")] * 3:
            ended = _at_once([partial(one.hub.move, ann, FIRST, there), partial(other.hub.move, ann, SECOND, back)])
            assert ended == ["done", "done"]
        assert one.hub.pull(ann, FIRST).team == ""
        assert one.hub.pull(ann, SECOND).team == "bakers"
        calls: list[Callable[[], Any]] = [partial(each.hub.rm, ann, FIRST) for each in (one, other)]
        assert sorted(_at_once(calls)) == ["done", "packet.not_found"]
        calls = [partial(one.hub.move, ann, SECOND, None), partial(other.hub.rm, ann, SECOND)]
        assert set(_at_once(calls)) <= {"done", "packet.not_found"}
        assert one.store.counts()["packets"] == 0 or _ids(one, ann) + _ids(one, ann, team="bakers") == [SECOND]
        assert one.store.doctor() == []


def test_whether_somebody_belongs_is_asked_again_in_the_transaction(segue_: segue.Segue) -> None:
    """Whoever is removed, or sees the packet go, between the first look and the transaction is told so."""
    ann, bob = _team(segue_, "Ann", "Bob")
    segue_.hub.push(bob, body(SECOND))
    between: list[Callable[[], object]] = []

    def packets(scope_id: str, owner: str) -> Packets:
        while between:
            between.pop()()
        return segue_.of(scope_id, owner=owner).packets

    hub = Hub(segue_._database, packets)
    between.append(partial(segue_.teams.remove, ann, "bakers", bob.user_id))
    assert code(hub.push, bob, body(), "bakers") == "team.not_found"
    join(segue_, ann, "bakers", bob)
    between.append(partial(segue_.teams.remove, ann, "bakers", bob.user_id))
    assert code(hub.move, bob, SECOND, "bakers") == "team.not_found"
    between.append(partial(segue_.hub.rm, bob, SECOND))
    assert code(hub.rm, bob, SECOND) == "packet.not_found"
    assert _ids(segue_, ann, team="bakers") == []
    join(segue_, ann, "bakers", bob)
    segue_.hub.push(bob, body(SECOND))
    between.append(partial(segue_.hub.move, bob, SECOND, "bakers"))
    hub.rm(bob, SECOND)  # it is found where it is now
    assert segue_.store.counts()["packets"] == 0


def test_whoever_is_removed_meanwhile_pushes_nothing_more(location: str, clock: Clock) -> None:
    with segue.open(location, clock=clock) as one, segue.open(location, clock=clock) as other:
        ann, bob = _team(one, "Ann", "Bob")
        for number in range(4):
            push = partial(other.hub.push, bob, body(f"packet-2{number:03}"), "bakers")
            ended = _at_once([push, partial(one.teams.remove, ann, "bakers", bob.user_id)])
            assert ended in (["created", "done"], ["done", "team.not_found"])
            assert code(push) == "team.not_found"
            join(one, ann, "bakers", bob)
