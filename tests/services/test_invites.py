"""Invites: good once, for a week, for one person; on both databases."""

from __future__ import annotations

import re
import threading
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from server_samples import body, code, events, join, person, same_answer

import segue

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Clock
    from segue.services.callers import Caller

PARALLEL = 20


def _users(opened: segue.Segue) -> tuple[int, int, int]:
    counts = opened.store.counts()
    return counts["users"], counts["tokens"], counts["team_members"]


def _team(opened: segue.Segue) -> Caller:
    ann = person(opened, "Ann")
    opened.teams.create(ann, "bakers")
    return ann


def test_somebody_new_comes_in_and_gets_a_token(segue_: segue.Segue, clock: Clock) -> None:
    ann = _team(segue_)
    invite = segue_.invites.create(ann, "bakers")
    assert re.fullmatch(r"[0-9a-f]{48}", invite.code)
    assert invite.expires_at - clock.now == timedelta(days=7)
    accepted = segue_.invites.accept(invite.code, display=" Bob ")
    assert (accepted.user.display, accepted.team.name) == ("Bob", "bakers")
    assert accepted.token is not None
    bob = segue_.accounts.authenticate(accepted.token)
    assert (bob.user_id, bob.permissions) == (accepted.user.id, frozenset({"read", "write"}))
    assert accepted.token not in repr(accepted)
    assert segue_.hub.push(bob, body(), team="bakers").outcome == "created"
    assert segue_.hub.push(bob, body()).outcome == "created"
    team_id = accepted.team.id
    assert ("invite.accepted", invite.id, bob.user_id) in events(segue_, team_id)
    assert [kind for kind, _, _ in events(segue_, bob.user_id)][:2] == ["user.created", "token.issued"]


def test_without_a_name_one_is_made(segue_: segue.Segue) -> None:
    user = segue_.invites.accept(segue_.invites.create(_team(segue_), "bakers").code).user
    assert user.display == f"invited-{user.id[-6:]}"


@pytest.mark.parametrize("display", ["a\nb", "x" * 101, "\x1b[31m"])
def test_a_bad_name_uses_nothing_up(segue_: segue.Segue, display: str) -> None:
    invite = segue_.invites.create(_team(segue_), "bakers")
    before = _users(segue_)
    assert code(segue_.invites.accept, invite.code, display=display) == "user.display"
    assert _users(segue_) == before
    assert segue_.invites.accept(invite.code).token


def test_somebody_known_comes_in_without_a_token(segue_: segue.Segue) -> None:
    ann, bob = _team(segue_), person(segue_, "Bob")
    before = _users(segue_)
    invite = segue_.invites.create(ann, "bakers")
    accepted = segue_.invites.accept(invite.code, bob, display="Robert")
    assert (accepted.token, accepted.user.id, accepted.user.display) == (None, bob.user_id, "Bob")
    assert _users(segue_) == (before[0], before[1], before[2] + 1)
    again = segue_.invites.accept(invite.code, bob)  # the answer was lost on its way
    assert (again.user.id, again.team.id, again.token) == (bob.user_id, accepted.team.id, None)
    assert code(segue_.invites.accept, invite.code, person(segue_, "Cid")) == "invite.gone"
    segue_.teams.leave(bob, "bakers")
    assert code(segue_.invites.accept, invite.code, bob) == "invite.gone"


def test_a_member_uses_nothing_up(segue_: segue.Segue) -> None:
    """Decision H4."""
    ann, bob = _team(segue_), person(segue_, "Bob")
    join(segue_, ann, "bakers", bob)
    invite = segue_.invites.create(ann, "bakers")
    before = _users(segue_)
    for each in (ann, bob, bob):
        assert segue_.invites.accept(invite.code, each).user.id == each.user_id
    assert _users(segue_) == before
    assert [each.state for each in segue_.invites.ls(ann, "bakers")] == ["consumed", "open"]
    assert segue_.invites.accept(invite.code).token


def test_what_is_not_good_any_more_and_what_never_was(segue_: segue.Segue, clock: Clock) -> None:
    ann = _team(segue_)
    invites = [segue_.invites.create(ann, "bakers") for _ in range(3)]
    segue_.invites.accept(invites[0].code)
    segue_.invites.revoke(ann, "bakers", invites[1].id)
    segue_.invites.revoke(ann, "bakers", invites[0].id)  # nothing to take back any more
    clock.now = invites[2].expires_at
    before = _users(segue_)
    codes = [each.code for each in invites] + ["0" * 48, "", "x", "A" * 48, "0" * 47 + "\0", "\ud800"]
    accept = segue_.invites.accept
    assert same_answer(*(lambda each=each: accept(each) for each in codes)) == "invite.gone"
    assert _users(segue_) == before
    states = [each.state for each in segue_.invites.ls(ann, "bakers")]
    assert states == ["consumed", "revoked", "expired"]


def test_a_week_to_the_microsecond(segue_: segue.Segue, clock: Clock) -> None:
    invite = segue_.invites.create(_team(segue_), "bakers")
    clock.now = invite.expires_at - timedelta(
        seconds=1, microseconds=1
    )  # the clock goes on by a second when it is asked
    assert segue_.invites.accept(invite.code).token


def test_who_sees_and_takes_back_invites(segue_: segue.Segue) -> None:
    ann, bob, cid = _team(segue_), person(segue_, "Bob"), person(segue_, "Cid")
    join(segue_, ann, "bakers", bob, cid)
    mine = segue_.invites.create(bob, "bakers")
    listed = segue_.invites.ls(cid, "bakers")[-1]
    assert (listed.id, listed.created_by, listed.state, listed.consumed_by) == (mine.id, bob.user_id, "open", "")
    assert mine.code not in str(listed.to_json())
    assert code(segue_.invites.revoke, cid, "bakers", mine.id) == "invite.not_yours"
    assert code(segue_.invites.revoke, ann, "bakers", "nothing") == "invite.not_found"
    segue_.invites.revoke(bob, "bakers", mine.id)
    others = segue_.invites.create(bob, "bakers")
    segue_.invites.revoke(ann, "bakers", others.id)
    assert [each.state for each in segue_.invites.ls(ann, "bakers")][-2:] == ["revoked", "revoked"]
    segue_.teams.create(ann, "millers")
    elsewhere = segue_.invites.create(ann, "millers")
    assert code(segue_.invites.revoke, ann, "bakers", elsewhere.id) == "invite.not_found"


def _at_once(calls: list[Callable[[], Any]]) -> tuple[list[Any], list[BaseException]]:
    """Make all calls at one moment, each in a thread of its own."""
    barrier = threading.Barrier(len(calls))
    done: list[Any] = []
    failed: list[BaseException] = []

    def run(call: Callable[[], Any]) -> None:
        barrier.wait()
        try:
            done.append(call())
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is looked at
            failed.append(error)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return done, failed


def test_of_twenty_at_once_one_comes_in(location: str, clock: Clock) -> None:
    """Half of them through one open store, half through another, as by two processes."""
    with segue.open(location, clock=clock) as one, segue.open(location, clock=clock) as other:
        ann = _team(one)
        for _ in range(3):
            invite = one.invites.create(ann, "bakers")
            before = _users(one)
            stores = [one, other] * (PARALLEL // 2)
            done, failed = _at_once([partial(each.invites.accept, invite.code) for each in stores])
            assert len(done) == 1
            assert [getattr(each, "code", each) for each in failed] == ["invite.gone"] * (PARALLEL - 1)
            assert {type(each) for each in failed} == {segue.Gone}
            assert _users(one) == tuple(number + 1 for number in before)
            assert other.accounts.authenticate(done[0].token or "").user_id == done[0].user.id
        assert one.store.doctor() == []


def test_of_twenty_at_once_with_tokens_one_comes_in(location: str, clock: Clock) -> None:
    with segue.open(location, clock=clock) as one, segue.open(location, clock=clock) as other:
        ann = _team(one)
        people = [person(one, f"Person {number}") for number in range(PARALLEL)]
        invite = one.invites.create(ann, "bakers")
        pairs = zip([one, other] * (PARALLEL // 2), people, strict=True)
        done, failed = _at_once([partial(store.invites.accept, invite.code, who) for store, who in pairs])
        assert (len(done), len(failed)) == (1, PARALLEL - 1)
        assert {getattr(each, "code", "") for each in failed} == {"invite.gone"}
        assert len(one.teams.members(ann, "bakers")) == 2


def test_a_team_that_is_deleted_meanwhile_gets_no_member(location: str, clock: Clock) -> None:
    with segue.open(location, clock=clock) as one, segue.open(location, clock=clock) as other:
        for round_ in range(6):
            ann = person(one, f"Ann {round_}")
            one.teams.create(ann, "bakers")
            invite = one.invites.create(ann, "bakers")
            accept = partial(other.invites.accept, invite.code)
            done, failed = _at_once([accept, partial(one.teams.rm, ann, "bakers")])
            assert len(done) >= 1
            assert {getattr(each, "code", each) for each in failed} <= {"invite.gone"}
            assert one.store.counts()["team_members"] == 0
        assert one.store.doctor() == []
