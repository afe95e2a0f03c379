"""Accounts: users, tokens, who may ask; on both databases."""

from __future__ import annotations

import hashlib
import re
import threading
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from server_samples import FIRST, SECOND, body, code, events, everything, join, person

import segue
from segue.services import tenancy
from segue.services.callers import Caller

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Clock


def test_the_root_user_is_whoever_the_store_belongs_to(segue_: segue.Segue) -> None:
    mine = segue_.packets.save({"ltm_version": "0.2", "goal": "Mine.", "next_step": "n"})
    assert not segue_.accounts.is_initialised()
    token = segue_.accounts.init()
    assert re.fullmatch(r"[A-Za-z0-9]{48}", token)
    assert segue_.accounts.is_initialised()
    root = segue_.accounts.authenticate(token)
    assert (root.display, root.permissions) == ("root", frozenset({"admin"}))
    assert segue_.hub.pull(root, mine.id).body == mine.canonical
    assert [each.id for each in segue_.hub.ls(root).packets] == [mine.id]
    assert code(segue_.accounts.init) == "server.initialised"
    assert len(segue_.accounts.tokens()) == 1


def test_a_token_is_nowhere_but_with_its_owner(segue_: segue.Segue) -> None:
    secrets = [segue_.accounts.init(), segue_.accounts.issue("Ann"), segue_.accounts.issue("Ann")]
    ann = segue_.accounts.authenticate(secrets[1])
    segue_.teams.create(ann, "bakers")
    invite = segue_.invites.create(ann, "bakers")
    secrets += [invite.code, segue_.invites.accept(segue_.invites.create(ann, "bakers").code).token or ""]
    assert len(set(secrets)) == 5
    told = everything(segue_)
    for secret in secrets:
        assert len(secret) == 48
        assert secret not in told
        assert hashlib.sha256(secret.encode()).hexdigest() in told
        assert secret not in repr(invite)
    for given in (secrets[1][:-1] + "!", secrets[1][:-1], secrets[1] + "a"):
        with pytest.raises(segue.Refused) as refused:
            segue_.accounts.authenticate(given)
        assert given not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("", "auth.missing"),
        ("a" * 48, "auth.invalid"),
        ("a" * 47, "auth.invalid"),
        ("a" * 47 + "\0", "auth.invalid"),
        ("é" * 48, "auth.invalid"),
        ("a" * 47 + "\ud800", "auth.invalid"),
    ],
)
def test_who_has_no_token_is_refused(segue_: segue.Segue, given: str, expected: str) -> None:
    assert code(segue_.accounts.authenticate, given) == expected


def test_tokens_end_when_they_expire_or_are_taken_back(segue_: segue.Segue, clock: Clock) -> None:
    token = segue_.accounts.issue("Ann", expires=clock.now + timedelta(hours=1))
    other = segue_.accounts.issue("Ann")
    assert segue_.accounts.authenticate(token).display == "Ann"
    clock.now += timedelta(hours=1)
    assert code(segue_.accounts.authenticate, token) == "auth.expired"
    assert segue_.accounts.authenticate(other)
    listed = {each.state: each for each in segue_.accounts.tokens()}
    assert set(listed) == {"expired", "active"}
    ended = segue_.accounts.revoke(listed["active"].id[:6])
    assert (ended.id, ended.state) == (listed["active"].id, "revoked")
    assert code(segue_.accounts.authenticate, other) == "auth.revoked"
    assert segue_.accounts.revoke(ended.id) == ended, "once is enough"
    kinds = [kind for kind, _, _ in events(segue_, ended.user_id)]
    assert kinds == ["user.created", "token.issued", "token.revoked"]


def test_a_token_that_was_found_can_be_taken_back_by_itself(segue_: segue.Segue) -> None:
    token = segue_.accounts.issue("Ann")
    assert segue_.accounts.revoke(token).state == "revoked"
    assert code(segue_.accounts.authenticate, token) == "auth.revoked"


def test_what_names_no_token(segue_: segue.Segue, monkeypatch: pytest.MonkeyPatch) -> None:
    ann = person(segue_, "Ann")
    for given, expected in [
        ("abc", "token.short_id"),
        ("", "token.short_id"),
        ("%%%%", "token.not_found"),
        ("0000\0", "token.not_found"),
        ("a" * 48, "token.not_found"),
        ("é" * 12, "token.not_found"),
    ]:
        assert code(segue_.accounts.revoke, given) == expected
    bob = person(segue_, "Bob", "admin")
    assert code(segue_.accounts.revoke, ann.token_id, caller=bob) == "token.not_found"
    assert code(segue_.accounts.revoke, bob.token_id, caller=ann) == "auth.permission"
    assert segue_.accounts.revoke(ann.token_id, caller=ann).state == "revoked"


def test_the_last_use_is_written_once_a_minute(segue_: segue.Segue, clock: Clock) -> None:
    token = segue_.accounts.issue("Ann")
    assert segue_.accounts.tokens()[0].last_used_at is None
    segue_.accounts.authenticate(token)
    first = segue_.accounts.tokens()[0].last_used_at
    assert first is not None
    for _ in range(5):
        segue_.accounts.authenticate(token)
    assert segue_.accounts.tokens()[0].last_used_at == first
    clock.now += timedelta(minutes=1)
    segue_.accounts.authenticate(token)
    later = segue_.accounts.tokens()[0].last_used_at
    assert later is not None
    assert later - first >= timedelta(minutes=1)


def test_an_address_is_one_user(segue_: segue.Segue) -> None:
    first = segue_.accounts.authenticate(segue_.accounts.issue("Ann", email="Ann@Example.org"))
    second = segue_.accounts.authenticate(segue_.accounts.issue("laptop", email=" ann@example.org "))
    other = person(segue_, "Ann")
    assert first.user_id == second.user_id != other.user_id
    assert second.display == "Ann"
    assert [each.name for each in segue_.accounts.tokens(first.user_id)] == ["Ann", "laptop"]


def test_bad_values_are_refused(segue_: segue.Segue, clock: Clock) -> None:
    accounts = segue_.accounts
    assert code(accounts.issue, "") == "user.display"
    assert code(accounts.issue, "a\nb") == "user.display"
    assert code(accounts.issue, "a" * 101) == "user.display"
    assert code(accounts.issue, "A", email="nobody") == "user.email"
    assert code(accounts.issue, "A", email="a@" + "b" * 260) == "user.email"
    assert code(accounts.issue, "A", permissions=()) == "token.permission"
    assert code(accounts.issue, "A", permissions=("read", "fly")) == "token.permission"
    assert code(accounts.issue, "A", expires=clock.now) == "token.expires"
    assert code(accounts.init, rescan="sometimes") == "team.policy"
    assert accounts.tokens() == ()
    assert segue_.store.counts()["users"] == 0


@pytest.mark.parametrize(
    ("given", "allowed"),
    [
        ({"read"}, "read"),
        ({"propose"}, "propose"),
        ({"read", "propose"}, "read propose"),
        ({"write"}, "read propose write"),
        ({"admin"}, "read propose write admin"),
    ],
)
def test_what_permissions_contain(given: set[str], allowed: str) -> None:
    caller = Caller("u", "U", frozenset(given), "t")
    assert [each for each in ("read", "propose", "write", "admin") if caller.may(each)] == allowed.split()


def test_what_a_token_may_not_do(segue_: segue.Segue) -> None:
    owner = person(segue_, "Owner")
    segue_.teams.create(owner, "bakers")
    invite = segue_.invites.create(owner, "bakers")
    segue_.hub.push(owner, body())
    reader = Caller(owner.user_id, "Owner", frozenset({"read"}), "t")
    nothing = Caller(owner.user_id, "Owner", frozenset({"propose"}), "t")
    hub, teams, invites, publishing = segue_.hub, segue_.teams, segue_.invites, segue_.publishing
    writing: list[Callable[[Caller], object]] = [
        lambda each: hub.push(each, body(SECOND)),
        lambda each: hub.rm(each, FIRST),
        lambda each: hub.move(each, FIRST, "bakers"),
        lambda each: teams.create(each, "millers"),
        lambda each: teams.rm(each, "bakers"),
        lambda each: teams.remove(each, "bakers", "x"),
        lambda each: teams.leave(each, "bakers"),
        lambda each: teams.hand_over(each, "bakers", "x"),
        lambda each: teams.set_policy(each, "bakers", "off"),
        lambda each: invites.create(each, "bakers"),
        lambda each: invites.revoke(each, "bakers", invite.id),
        lambda each: invites.accept(invite.code, each),
        lambda each: publishing.publish(each, FIRST),
        lambda each: publishing.unpublish(each, FIRST),
    ]
    reading: list[Callable[[Caller], object]] = [
        lambda each: hub.pull(each, FIRST),
        hub.ls,
        lambda each: hub.chain(each, FIRST),
        teams.ls,
        lambda each: teams.get(each, "bakers"),
        lambda each: teams.members(each, "bakers"),
        lambda each: invites.ls(each, "bakers"),
    ]
    before = everything(segue_)
    for call in writing:
        assert code(call, reader) == "auth.permission"
        assert code(call, nothing) == "auth.permission"
    for call in reading:
        assert code(call, nothing) == "auth.permission"
        call(reader)
    assert everything(segue_) == before


def test_whoever_leaves_loses_all_access(segue_: segue.Segue) -> None:
    segue_.accounts.init()
    ann, bob, cid = (person(segue_, name) for name in ("Ann", "Bob", "Cid"))
    token = segue_.accounts.issue("Ann", email="ann@example.org")
    ann = segue_.accounts.authenticate(token)
    for team in ("bakers", "alone"):
        segue_.teams.create(ann, team)
    segue_.teams.create(bob, "guests")
    join(segue_, ann, "bakers", cid, bob)
    join(segue_, bob, "guests", ann)
    segue_.hub.push(ann, body())
    segue_.hub.push(ann, body(SECOND), team="bakers")
    page = segue_.publishing.publish(ann, FIRST)
    shared = segue_.publishing.publish(ann, SECOND)
    way_back = segue_.invites.create(ann, "guests")

    ended = segue_.accounts.offboard("ann@example.org")
    root = segue_.accounts.tokens()[0].user_id
    assert ended.to_json() == {
        "user_id": ann.user_id,
        "display": "Ann",
        "tokens": 1,
        "invites": 1,
        "publications": 1,
        "left": ["bakers", "alone", "guests"],
        "handed_over": {"bakers": cid.user_id, "alone": root},
        "packets": 1,
        "team_packets": 1,
    }
    assert code(segue_.accounts.authenticate, token) == "auth.revoked"
    assert code(segue_.invites.accept, way_back.code) == "invite.gone"
    assert code(segue_.publishing.read, page.slug) == "publication.not_found"
    assert segue_.publishing.read(shared.slug).id == SECOND
    assert [(each.display, each.role) for each in segue_.teams.members(cid, "bakers")] == [
        ("Cid", "owner"),
        ("Bob", "member"),
    ]
    assert [each.display for each in segue_.teams.members(bob, "guests")] == ["Bob"]
    assert segue_.hub.pull(bob, SECOND).team == "bakers"
    segue_.hub.rm(cid, SECOND)
    assert ("user.offboarded", ann.user_id, "operator") in events(segue_, ann.user_id)

    back = segue_.accounts.authenticate(segue_.accounts.issue("Ann", email="ann@example.org"))
    assert back.user_id == ann.user_id
    assert segue_.teams.ls(back) == ()
    assert segue_.hub.pull(back, FIRST).team == ""


def test_whom_to_offboard(segue_: segue.Segue) -> None:
    segue_.accounts.init()
    ann = person(segue_, "Ann")
    person(segue_, "Ann")
    assert code(segue_.accounts.offboard, "Ann") == "user.ambiguous"
    assert code(segue_.accounts.offboard, "Nobody") == "user.not_found"
    assert code(segue_.accounts.offboard, "a\0b") == "user.not_found"
    assert code(segue_.accounts.offboard, "root") == "user.root"
    assert segue_.accounts.offboard(ann.user_id).tokens == 1
    assert segue_.accounts.offboard("Ann").user_id != ann.user_id, "the other one alone is still there"


def test_who_takes_the_name_of_root_is_not_taken_for_it(segue_: segue.Segue) -> None:
    root = segue_.accounts.authenticate(segue_.accounts.init())
    segue_.teams.create(root, "bakers")
    code_ = segue_.invites.create(root, "bakers").code
    impostor = segue_.invites.accept(code_, display="root").user
    issued = segue_.accounts.authenticate(segue_.accounts.issue("second", user="root", permissions=("admin",)))
    assert issued.user_id == root.user_id != impostor.id
    assert code(segue_.accounts.offboard, "root") == "user.root"
    assert segue_.accounts.offboard(impostor.id).left == ("bakers",)


def test_a_user_who_ended_meanwhile_joins_nothing(segue_: segue.Segue) -> None:
    ann, bob = person(segue_, "Ann"), person(segue_, "Bob")
    segue_.teams.create(ann, "bakers")
    invite = segue_.invites.create(ann, "bakers")
    segue_.accounts.offboard(bob.user_id)
    assert code(segue_.invites.accept, invite.code, bob) == "auth.revoked"
    assert segue_.invites.accept(invite.code, person(segue_, "Cid")).team.name == "bakers"


def test_answers_are_kept_for_a_day_and_for_one_caller(segue_: segue.Segue, clock: Clock) -> None:
    from segue.services.requests import Answer

    ann, bob = person(segue_, "Ann"), person(segue_, "Bob")
    requests = segue_.requests
    assert requests.begin(ann, "k", b"one") is None
    assert requests.begin(ann, "k", b"one") is None, "nobody knows how it ended: again"
    assert code(requests.begin, ann, "k", b"two") == "idempotency.other"
    requests.finish(ann, "k", b"one", Answer(201, b'{"id": 1}'))
    assert requests.begin(ann, "k", b"one") == Answer(201, b'{"id": 1}')
    assert code(requests.begin, ann, "k", b"two") == "idempotency.other"
    assert requests.begin(bob, "k", b"two") is None
    clock.now += timedelta(days=1)
    assert requests.begin(ann, "k", b"two") is None
    for key in ("", "a" * 256, "a\n", "é"):
        assert code(requests.begin, ann, key, b"") == "idempotency.key"


def test_rates_are_counted_over_all_connections(location: str, clock: Clock) -> None:
    """Two open stores are what two processes are."""
    with segue.open(location, clock=clock) as one, segue.open(location, clock=clock) as other:
        clock.now = clock.now.replace(second=0)
        barrier = threading.Barrier(8)
        counted: list[int] = []

        def count(opened: segue.Segue) -> None:
            barrier.wait()
            counted.extend(opened.requests.count("push 10.0.0.1", 5).count for _ in range(4))

        still = clock.now
        for each in (one, other):
            each.requests._clock = lambda: still
        threads = [threading.Thread(target=count, args=(each,)) for each in (one, other) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(counted) == list(range(1, 33))
        rate = other.requests.count("push 10.0.0.2", 1)
        assert (rate.count, rate.allowed, rate.seconds) == (1, True, 60 - still.second)
        assert not other.requests.count("push 10.0.0.2", 1).allowed
        assert one.store.counts()["rate_windows"] == 2
        one.requests._clock = lambda: still + timedelta(minutes=1)
        assert one.requests.count("push " + "x" * 500, 1).count == 1
        assert one.store.counts()["rate_windows"] == 1


def test_what_is_over_goes(segue_: segue.Segue, clock: Clock) -> None:
    ann = person(segue_, "Ann")
    segue_.accounts.issue("Short", expires=clock.now + timedelta(minutes=5))
    segue_.accounts.revoke(person(segue_, "Bob").token_id)
    segue_.teams.create(ann, "bakers")
    segue_.invites.create(ann, "bakers")
    segue_.requests.begin(ann, "k", b"")
    segue_.requests.count("x", 1)
    seen = segue_.seen_by(ann)
    for number in range(9):
        seen.memories.remember(f"Loaf {number} lies in the oven.")
    assert seen.queries.query({"find": "oven", "k": 1}).cursor
    seen.context.assemble("oven", session="chat")
    clock.now += timedelta(days=6)
    kept = segue_.invites.create(ann, "bakers")
    clock.now += timedelta(days=2)
    swept = segue_.tenancy.sweep()
    assert swept.to_json() == {
        "tokens": 2,
        "invites": 1,
        "idempotency_keys": 1,
        "rate_windows": 1,
        "sessions": 0,
        "queries": 1,
        "events": 0,
    }
    assert [each.name for each in segue_.accounts.tokens()] == ["Ann"]
    assert [each.id for each in segue_.invites.ls(ann, "bakers")] == [kept.id]
    swept = segue_.tenancy.sweep(events_before=clock.now - timedelta(days=1))
    assert swept.events > 0
    assert events(segue_, ann.user_id) == []
    clock.now += timedelta(days=23)
    assert segue_.tenancy.sweep().sessions == 1
    assert segue_.tenancy.sweep().to_json() == dict.fromkeys(swept.to_json(), 0)
    assert segue_.store.doctor() == []


@pytest.mark.usefixtures("own_migrations")
def test_how_a_database_is(location: str, clock: Clock) -> None:
    before = tenancy.examine(location, clock)
    assert (before.schema, before.root, bool(before.problems)) == ("", False, True)
    assert tenancy.revision(location) == ""
    with segue.open(location) as opened:
        without_root = tenancy.examine(location, opened._clock)
        assert (without_root.schema, without_root.root) == (tenancy.HEAD, False)
        assert len(without_root.problems) == 1
        opened.accounts.init()
        assert tenancy.examine(location, opened._clock).problems == ()
        assert tenancy.revision(location) == tenancy.HEAD
        assert opened.tenancy.policy() == "core"
        opened.tenancy.set_policy("off")
        assert opened.tenancy.policy() == "off"
        off = tenancy.examine(location, lambda: opened._clock() - timedelta(hours=1))
        assert 3_590 < off.skew < 3_660
        assert "off" in off.problems[0]


def test_looking_at_a_database_makes_none(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "folder" / "segue.db"
    assert tenancy.examine(path, clock).schema == ""
    assert not path.parent.exists()


def test_what_ended_here_stays_ended_after_a_restore(segue_: segue.Segue, tmp_path: Path) -> None:
    segue_.accounts.init()
    token, kept = segue_.accounts.issue("Ann"), segue_.accounts.issue("Bob")
    ann = segue_.accounts.authenticate(token)
    segue_.teams.create(ann, "bakers")
    used, taken_back, open_ = (segue_.invites.create(ann, "bakers") for _ in range(3))
    segue_.hub.push(ann, body())
    page = segue_.publishing.publish(ann, FIRST)
    copied = segue_.store.backup(tmp_path / "backup.db")
    segue_.invites.accept(used.code)
    segue_.invites.revoke(ann, "bakers", taken_back.id)
    segue_.accounts.revoke(ann.token_id)
    segue_.store.restore(copied.path)
    assert code(segue_.accounts.authenticate, token) == "auth.revoked"
    assert code(segue_.invites.accept, used.code) == "invite.gone"
    assert code(segue_.invites.accept, taken_back.code) == "invite.gone"
    assert segue_.accounts.authenticate(kept).display == "Bob"
    assert segue_.invites.accept(open_.code).team.name == "bakers"
    assert segue_.publishing.read(page.slug).id == FIRST


def test_a_backup_carries_the_server_to_another_database(
    kind: str, locate: Callable[[str], str], clock: Clock, tmp_path: Path
) -> None:
    with segue.open(locate(kind), clock=clock) as opened:
        root = opened.accounts.init(rescan="extended")
        token = opened.accounts.issue("Ann")
        ann = opened.accounts.authenticate(token)
        opened.teams.create(ann, "bakers")
        opened.hub.push(ann, body(), team="bakers")
        backup = opened.store.backup(tmp_path / "backup.db").path
    with segue.open(locate("sqlite" if kind == "postgres" else "postgres"), clock=clock) as other:
        other.accounts.init()
        kept = other.store.restore(backup).kept
        assert kept is not None, "a root user is something to keep"
        assert other.accounts.authenticate(root).user_id == other._scope
        again = other.accounts.authenticate(token)
        assert again.user_id == ann.user_id
        assert other.hub.pull(again, FIRST).team == "bakers"
        assert other.teams.get(again, "bakers").redaction == "extended"
        assert other.store.doctor() == []
