"""Teams: who belongs to them, who may do what, and what others see of them (nothing); on both databases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from server_samples import FIRST, SECOND, body, code, events, everything, join, person, same_answer

if TYPE_CHECKING:
    from collections.abc import Callable

    import segue
    from segue.services.callers import Caller


def _members(opened: segue.Segue, caller: Caller, team: str) -> list[tuple[str, str]]:
    return [(each.display, each.role) for each in opened.teams.members(caller, team)]


def test_a_team_from_its_beginning_to_its_end(segue_: segue.Segue) -> None:
    ann, bob = person(segue_, "Ann"), person(segue_, "Bob")
    team = segue_.teams.create(ann, " bakers ")
    assert (team.name, team.owner_id, team.redaction, team.role) == ("bakers", ann.user_id, "core", "owner")
    assert segue_.teams.ls(ann) == (team,)
    assert segue_.teams.ls(bob) == ()
    join(segue_, ann, "bakers", bob)
    assert _members(segue_, bob, "bakers") == [("Ann", "owner"), ("Bob", "member")]
    assert segue_.teams.get(bob, "bakers").role == "member"
    segue_.teams.leave(bob, "bakers")
    assert _members(segue_, ann, "bakers") == [("Ann", "owner")]
    assert segue_.teams.ls(bob) == ()
    join(segue_, ann, "bakers", bob)
    segue_.teams.remove(ann, "bakers", bob.user_id)
    assert segue_.teams.ls(bob) == ()
    segue_.teams.rm(ann, "bakers")
    assert segue_.teams.ls(ann) == ()
    kinds = [kind for kind, _, _ in events(segue_, team.id)]
    joining = ["invite.created", "invite.accepted", "member.joined"]
    assert kinds == ["team.created", *joining, "member.left", *joining, "member.removed", "team.deleted"]


@pytest.mark.parametrize("name", ["a", "0", "a" * 40, "a_b-c", "9-"])
def test_names(segue_: segue.Segue, name: str) -> None:
    assert segue_.teams.create(person(segue_, "Ann"), name).name == name


@pytest.mark.parametrize("name", ["", " ", "A", "-a", "_a", "a b", "a" * 41, "é", "a\n", "a\0", "a/b", "a.b", "\ud800"])
def test_what_is_no_name(segue_: segue.Segue, name: str) -> None:
    ann = person(segue_, "Ann")
    if name != "a\n":  # white space at the ends goes
        assert code(segue_.teams.create, ann, name) == "team.name"
    assert code(segue_.teams.get, ann, name) == "team.not_found"
    assert code(segue_.hub.push, ann, body(), team=name) == "team.not_found"
    assert code(segue_.hub.pull, ann, FIRST, team=name) == "packet.not_found"


def test_a_name_is_one_team_and_free_again_when_that_is_deleted(segue_: segue.Segue) -> None:
    ann, bob = person(segue_, "Ann"), person(segue_, "Bob")
    first = segue_.teams.create(ann, "bakers")
    for each in (ann, bob):
        assert code(segue_.teams.create, each, "bakers") == "team.exists"
    segue_.hub.push(ann, body(), team="bakers")
    segue_.teams.rm(ann, "bakers")
    second = segue_.teams.create(bob, "bakers")
    assert second.id != first.id
    assert segue_.hub.ls(bob, team="bakers").packets == []
    assert code(segue_.teams.get, ann, "bakers") == "team.not_found"


ROUTES: dict[str, Callable[[segue.Segue, Caller, str], Any]] = {
    "get": lambda s, who, name: s.teams.get(who, name),
    "members": lambda s, who, name: s.teams.members(who, name),
    "rm": lambda s, who, name: s.teams.rm(who, name),
    "remove": lambda s, who, name: s.teams.remove(who, name, who.user_id),
    "leave": lambda s, who, name: s.teams.leave(who, name),
    "hand over": lambda s, who, name: s.teams.hand_over(who, name, who.user_id),
    "policy": lambda s, who, name: s.teams.set_policy(who, name, "off"),
    "invite": lambda s, who, name: s.invites.create(who, name),
    "invites": lambda s, who, name: s.invites.ls(who, name),
    "revoke": lambda s, who, name: s.invites.revoke(who, name, "x"),
    "push": lambda s, who, name: s.hub.push(who, body("packet-9999"), team=name),
    "list": lambda s, who, name: s.hub.ls(who, team=name),
    "pull": lambda s, who, name: s.hub.pull(who, FIRST, team=name),
    "delete": lambda s, who, name: s.hub.rm(who, FIRST, team=name),
    "chain": lambda s, who, name: s.hub.chain(who, FIRST, team=name),
    "move from": lambda s, who, name: s.hub.move(who, FIRST, None, source=name),
    "publish": lambda s, who, name: s.publishing.publish(who, FIRST, team=name),
    "unpublish": lambda s, who, name: s.publishing.unpublish(who, FIRST, team=name),
    "memories": lambda s, who, name: s.seen_by(who, name),
}


def test_a_team_of_others_is_as_if_it_were_not_there(segue_: segue.Segue) -> None:
    """The same answer for a team that is missing, deleted, another's, or left."""
    ann, bob, cid = (person(segue_, name) for name in ("Ann", "Bob", "Cid"))
    segue_.teams.create(ann, "bakers")
    segue_.hub.push(ann, body(), team="bakers")
    segue_.teams.create(ann, "deleted")
    segue_.teams.rm(ann, "deleted")
    join(segue_, ann, "bakers", cid)
    segue_.teams.leave(cid, "bakers")
    before = everything(segue_)
    for call in ROUTES.values():
        answers = [
            lambda who=who, name=name, call=call: call(segue_, who, name)
            for who, name in [(bob, "bakers"), (cid, "bakers"), (bob, "missing"), (bob, "deleted"), (ann, "missing")]
        ]
        assert same_answer(*answers) in ("team.not_found", "packet.not_found")
    assert everything(segue_) == before


def test_what_the_owner_alone_may_do(segue_: segue.Segue) -> None:
    ann, bob, cid = (person(segue_, name) for name in ("Ann", "Bob", "Cid"))
    segue_.teams.create(ann, "bakers")
    join(segue_, ann, "bakers", bob, cid)
    teams = segue_.teams
    assert code(teams.rm, bob, "bakers") == "team.not_owner"
    assert code(teams.remove, bob, "bakers", cid.user_id) == "team.not_owner"
    assert code(teams.remove, bob, "bakers", bob.user_id) == "team.not_owner"
    assert code(teams.set_policy, bob, "bakers", "off") == "team.not_owner"
    assert code(teams.hand_over, bob, "bakers", bob.user_id) == "team.not_owner"
    assert code(teams.remove, ann, "bakers", ann.user_id) == "team.owner_stays"
    assert code(teams.leave, ann, "bakers") == "team.owner_stays"
    for nobody in ("x", "", "a\0", "\ud800", "x" * 100, person(segue_, "Dee").user_id):
        assert code(teams.remove, ann, "bakers", nobody) == "team.not_member"
        assert code(teams.hand_over, ann, "bakers", nobody) == "team.not_member"
    assert len(teams.members(ann, "bakers")) == 3


def test_a_team_changes_hands(segue_: segue.Segue) -> None:
    ann, bob = person(segue_, "Ann"), person(segue_, "Bob")
    segue_.teams.create(ann, "bakers")
    join(segue_, ann, "bakers", bob)
    assert segue_.teams.hand_over(ann, "bakers", bob.user_id).owner_id == bob.user_id
    assert _members(segue_, ann, "bakers") == [("Ann", "member"), ("Bob", "owner")]
    segue_.teams.leave(ann, "bakers")
    assert _members(segue_, bob, "bakers") == [("Bob", "owner")]


def test_invites_of_whoever_goes_are_taken_back(segue_: segue.Segue) -> None:
    ann, bob, cid = (person(segue_, name) for name in ("Ann", "Bob", "Cid"))
    segue_.teams.create(ann, "bakers")
    segue_.teams.create(bob, "guests")
    join(segue_, ann, "bakers", bob, cid)
    ways = [segue_.invites.create(bob, "bakers"), segue_.invites.create(cid, "bakers")]
    own, other = segue_.invites.create(ann, "bakers"), segue_.invites.create(bob, "guests")
    segue_.teams.remove(ann, "bakers", bob.user_id)
    segue_.teams.leave(cid, "bakers")
    for way in ways:
        assert code(segue_.invites.accept, way.code, bob) == "invite.gone"
        assert code(segue_.invites.accept, way.code) == "invite.gone"
    assert segue_.invites.accept(own.code).team.name == "bakers"
    assert segue_.invites.accept(other.code).team.name == "guests"


def test_a_deleted_team_takes_all_with_it(segue_: segue.Segue) -> None:
    ann, bob = person(segue_, "Ann"), person(segue_, "Bob")
    team = segue_.teams.create(ann, "bakers")
    join(segue_, ann, "bakers", bob)
    invite = segue_.invites.create(ann, "bakers")
    segue_.hub.push(ann, body())
    before = segue_.store.counts()
    segue_.hub.push(bob, body(FIRST, tags=["x"], project={"name": "Sourdough"}), team="bakers")
    segue_.hub.push(bob, body(SECOND, parent_id=FIRST), team="bakers")
    page = segue_.publishing.publish(bob, SECOND, team="bakers")
    seen = segue_.seen_by(bob, "bakers")
    seen.memories.remember("The oven of the Sourdough Bakery is broken.", tags=["oven"])
    seen.context.assemble("mend the oven", session="chat", pin=True)
    segue_.teams.rm(ann, "bakers")
    after = segue_.store.counts()
    gone = {"events", "team_members", "invites"}
    assert {name: number for name, number in after.items() if name not in gone} == {
        name: number for name, number in before.items() if name not in gone
    }
    assert after["team_members"] == after["invites"] == 0
    assert code(segue_.invites.accept, invite.code) == "invite.gone"
    assert code(segue_.publishing.read, page.slug) == "publication.not_found"
    assert code(segue_.hub.pull, bob, SECOND) == "packet.not_found"
    assert code(segue_.hub.rm, bob, SECOND) == "packet.not_found"
    assert code(segue_.hub.push, bob, body(SECOND), team="bakers") == "team.not_found"
    assert code(lambda: seen.memories.remember("Too late.")) == "team.not_found"
    assert code(lambda: seen.packets.save(body("packet-0003"))) == "team.not_found"
    assert "Sourdough Bakery" not in everything(segue_)
    assert ("team.deleted", team.id, ann.user_id) in events(segue_, team.id)
    assert segue_.store.doctor() == []


def test_memories_of_a_team(segue_: segue.Segue) -> None:
    ann, bob = person(segue_, "Ann"), person(segue_, "Bob")
    team = segue_.teams.create(ann, "bakers")
    join(segue_, ann, "bakers", bob)
    segue_.seen_by(ann).memories.remember("The oven of Ann is old.")
    remembered = segue_.seen_by(ann, "bakers").memories.remember("The oven of the bakery is new.")
    found = segue_.seen_by(bob, "bakers").search.find("oven").hits
    assert [each.memory.id for each in found] == [remembered.memory.id]
    assert segue_.seen_by(bob).search.find("oven").hits == []
    assert segue_.search.find("oven").hits == []
    late = segue_.seen_by(bob, "bakers")
    segue_.teams.remove(ann, "bakers", bob.user_id)
    assert code(lambda: late.memories.remember("The oven is mine.")) == "team.not_found"
    assert code(lambda: late.packets.save(body())) == "team.not_found"
    assert (len(events(segue_, team.id)), code(segue_.seen_by, bob, "bakers")) == (6, "team.not_found")


def test_the_policy_of_a_team(segue_: segue.Segue) -> None:
    ann = person(segue_, "Ann")
    segue_.teams.create(ann, "bakers")
    assert code(segue_.teams.set_policy, ann, "bakers", "on") == "team.policy"
    assert segue_.teams.set_policy(ann, "bakers", "off").redaction == "off"
    segue_.tenancy.set_policy("extended")
    assert segue_.teams.create(ann, "millers").redaction == "extended"
    assert segue_.teams.get(ann, "bakers").redaction == "off"


def test_members_have_sessions_of_their_own(segue_: segue.Segue) -> None:
    ann, bob, cid = (person(segue_, name) for name in ("Ann", "Bob", "Cid"))
    segue_.teams.create(ann, "bakers")
    join(segue_, ann, "bakers", bob, cid)
    memory = segue_.seen_by(ann, "bakers").memories.remember("The oven of the bakery is new.").memory
    for caller in (ann, bob):
        seen = segue_.seen_by(caller, "bakers")
        for turn, told in enumerate(([memory.id], [])):
            delta = seen.context.assemble("heat the oven", session="chat-1").delta
            assert delta is not None
            assert [each.ref for each in delta.new] == told
            assert seen.sessions.show("chat-1").state.turn == turn + 1
    assert [each.session_id for each in segue_.seen_by(bob, "bakers").sessions.ls().sessions] == ["chat-1"]
    assert segue_.seen_by(cid, "bakers").sessions.ls().sessions == []
    assert not segue_.seen_by(cid, "bakers").sessions.reset("chat-1")
    assert segue_.seen_by(bob).sessions.ls().sessions == []
    segue_.teams.leave(bob, "bakers")
    join(segue_, ann, "bakers", bob)
    assert segue_.seen_by(bob, "bakers").sessions.ls().sessions == []
    assert len(segue_.seen_by(ann, "bakers").sessions.ls().sessions) == 1
    assert segue_.store.counts()["context_sessions"] == 1
    segue_.teams.rm(ann, "bakers")
    assert segue_.store.counts()["context_sessions"] == 0
