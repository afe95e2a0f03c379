"""Whatever people do, in any order: each sees and changes what the rules let them, and nothing else."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st
from hypothesis import given, settings
from server_samples import body, join, person

import segue
from segue.services.hub import Hub
from segue.services.packets import Packets
from segue.services.projects import NOWHERE

if TYPE_CHECKING:
    from collections.abc import Callable

    from segue.services.callers import Caller

PEOPLE, NAMES, IDS = range(4), ("alpha", "beta"), ("packet-0001", "packet-0002")
WHO, TEAM, ID = st.sampled_from(PEOPLE), st.sampled_from(NAMES), st.sampled_from(IDS)
SCOPE = st.none() | TEAM
CHANGE = st.one_of(
    st.tuples(st.just("create"), WHO, TEAM),
    st.tuples(st.just("join"), WHO, WHO, TEAM),
    st.tuples(st.just("leave"), WHO, TEAM),
    st.tuples(st.just("remove"), WHO, WHO, TEAM),
    st.tuples(st.just("hand_over"), WHO, WHO, TEAM),
    st.tuples(st.just("disband"), WHO, TEAM),
)
PUSH = st.tuples(st.just("push"), WHO, ID, SCOPE, st.sampled_from(["One.", "Two."]), st.booleans())
USE = st.one_of(
    st.tuples(st.just("pull"), WHO, ID, SCOPE),
    st.tuples(st.just("rm"), WHO, ID, SCOPE),
    st.tuples(st.just("move"), WHO, ID, SCOPE, SCOPE),
    st.tuples(st.just("publish"), WHO, ID, SCOPE),
    st.tuples(st.just("unpublish"), WHO, ID, SCOPE),
)
STEP = st.one_of(PUSH, USE, USE, CHANGE)
BEGINNING: list[tuple[Any, ...]] = [  # so that there is something to go wrong
    ("create", 0, "alpha"),
    ("join", 0, 1, "alpha"),
    ("join", 1, 2, "alpha"),
    ("create", 1, "beta"),
    ("join", 1, 0, "beta"),
    ("push", 2, "packet-0001", "alpha", "One.", False),
    ("push", 0, "packet-0001", "beta", "One.", False),
]


class No(Exception):
    """What the rules say against a step: the code of the error."""


@dataclass
class Team:
    owner: int
    members: set[int]
    packets: dict[str, list[Any]] = field(default_factory=dict)  # owner, goal, published


@dataclass
class Rules:
    """The rules of the reference (facts 000.3), and of decisions H1, H2 and H6, over plain values."""

    teams: dict[str, Team] = field(default_factory=dict)
    own: dict[int, dict[str, list[Any]]] = field(default_factory=lambda: {who: {} for who in PEOPLE})

    def team(self, who: int, name: str) -> Team:
        if name not in self.teams or who not in self.teams[name].members:
            raise No("team.not_found")
        return self.teams[name]

    def owned(self, who: int, name: str) -> Team:
        team = self.team(who, name)
        if team.owner != who:
            raise No("team.not_owner")
        return team

    def packets(self, who: int, name: str | None) -> dict[str, list[Any]]:
        return self.own[who] if name is None else self.team(who, name).packets

    def find(self, who: int, packet_id: str, name: str | None, *, left: bool = False) -> tuple[str | None, list[Any]]:
        names: list[str | None] = [None]
        names += [each for each in sorted(self.teams) if who in self.teams[each].members]
        if left:
            mine = [each for each in sorted(self.teams) if self.teams[each].packets.get(packet_id, [None])[0] == who]
            names += [each for each in mine if each not in names]
        for each in names if name is None else [each for each in names if each == name]:
            held = self.own[who] if each is None else self.teams[each].packets
            if packet_id in held:
                return each, held[packet_id]
        raise No("packet.not_found")

    def changeable(self, who: int, packet_id: str, name: str | None, *, left: bool = False) -> str | None:
        where, packet = self.find(who, packet_id, name, left=left)
        if packet[0] != who and (where is None or self.teams[where].owner != who):
            raise No("packet.not_found")
        return where

    def create(self, who: int, name: str) -> None:
        if name in self.teams:
            raise No("team.exists")
        self.teams[name] = Team(who, {who})

    def join(self, host: int, guest: int, name: str) -> None:
        self.team(host, name).members.add(guest)

    def leave(self, who: int, name: str) -> None:
        team = self.team(who, name)
        if team.owner == who:
            raise No("team.owner_stays")
        team.members.remove(who)

    def remove(self, who: int, whom: int, name: str) -> None:
        team = self.owned(who, name)
        if whom == who:
            raise No("team.owner_stays")
        if whom not in team.members:
            raise No("team.not_member")
        team.members.remove(whom)

    def hand_over(self, who: int, whom: int, name: str) -> None:
        team = self.owned(who, name)
        if whom not in team.members:
            raise No("team.not_member")
        team.owner = whom

    def disband(self, who: int, name: str) -> None:
        self.owned(who, name)
        del self.teams[name]

    def push(self, who: int, packet_id: str, name: str | None, goal: str, replace: bool) -> str:
        held = self.packets(who, name)
        if packet_id not in held:
            held[packet_id] = [who, goal, False]
            return "created"
        owner, before, _ = held[packet_id]
        if before == goal:
            return "unchanged"
        if owner != who or not replace:
            raise No("packet.exists")
        held[packet_id][1] = goal
        return "replaced"

    def pull(self, who: int, packet_id: str, name: str | None) -> tuple[str, str]:
        where, packet = self.find(who, packet_id, name)
        return where or "", packet[1]

    def rm(self, who: int, packet_id: str, name: str | None) -> None:
        where = self.changeable(who, packet_id, name, left=True)
        del (self.own[who] if where is None else self.teams[where].packets)[packet_id]

    def move(self, who: int, packet_id: str, name: str | None, source: str | None) -> None:
        target = self.packets(who, name)
        where, packet = self.find(who, packet_id, source)
        if packet[0] != who:
            raise No("packet.not_found")
        if where == name:
            return
        if packet_id in target:
            raise No("packet.exists")
        target[packet_id] = self.packets(who, where).pop(packet_id)

    def publish(self, who: int, packet_id: str, name: str | None) -> None:
        where = self.changeable(who, packet_id, name)
        self.packets(who, where)[packet_id][2] = True

    def unpublish(self, who: int, packet_id: str, name: str | None) -> bool:
        where = self.changeable(who, packet_id, name)
        packet = self.packets(who, where)[packet_id]
        was, packet[2] = packet[2], False
        return bool(was)


class Server:
    """The same steps on a real server, with people of its own."""

    def __init__(self, opened: segue.Segue) -> None:
        self.opened = opened
        self.people = [person(opened, f"Person {who}") for who in PEOPLE]
        self.hub = Hub(opened._database, self._packets)  # without memories, for speed
        self.slugs: set[str] = set()

    def _packets(self, scope_id: str, owner: str) -> Packets:
        shared: dict[str, Any] = {"project": lambda: NOWHERE, "clock": self.opened._clock}
        return Packets(self.opened._database, scope_id, actor=owner, owner=owner, **shared)

    def create(self, who: int, name: str) -> None:
        self.opened.teams.create(self.people[who], name)

    def join(self, host: int, guest: int, name: str) -> None:
        join(self.opened, self.people[host], name, self.people[guest])

    def leave(self, who: int, name: str) -> None:
        self.opened.teams.leave(self.people[who], name)

    def remove(self, who: int, whom: int, name: str) -> None:
        self.opened.teams.remove(self.people[who], name, self.people[whom].user_id)

    def hand_over(self, who: int, whom: int, name: str) -> None:
        self.opened.teams.hand_over(self.people[who], name, self.people[whom].user_id)

    def disband(self, who: int, name: str) -> None:
        self.opened.teams.rm(self.people[who], name)

    def push(self, who: int, packet_id: str, name: str | None, goal: str, replace: bool) -> str:
        return self.hub.push(self.people[who], body(packet_id, goal=goal), name, replace=replace).outcome

    def pull(self, who: int, packet_id: str, name: str | None) -> tuple[str, str]:
        pulled = self.hub.pull(self.people[who], packet_id, name)
        return pulled.team, str(json.loads(pulled.body)["goal"])

    def rm(self, who: int, packet_id: str, name: str | None) -> None:
        self.hub.rm(self.people[who], packet_id, name)

    def move(self, who: int, packet_id: str, name: str | None, source: str | None) -> None:
        self.hub.move(self.people[who], packet_id, name, source=source)

    def publish(self, who: int, packet_id: str, name: str | None) -> None:
        self.slugs.add(self.opened.publishing.publish(self.people[who], packet_id, name).slug)

    def unpublish(self, who: int, packet_id: str, name: str | None) -> bool:
        return self.opened.publishing.unpublish(self.people[who], packet_id, name)

    def published(self) -> int:
        """How many of the addresses that were given out show something."""
        found = 0
        for slug in self.slugs:
            try:
                self.opened.publishing.read(slug)
            except segue.NotFound:
                continue
            found += 1
        return found

    def end(self) -> None:
        """Delete the teams, so that their names are free for the next ones."""
        for caller in self.people:
            for team in self.opened.teams.ls(caller):
                if team.role == "owner":
                    self.opened.teams.rm(caller, team.name)


def _outcome(call: Callable[..., Any], *given: Any) -> Any:
    try:
        return call(*given)
    except No as no:
        return str(no)
    except segue.SegueError as error:
        return error.code


def _lists(opened: segue.Segue, hub: Hub, caller: Caller) -> dict[str, list[str]]:
    names = ["", *(team.name for team in opened.teams.ls(caller))]
    return {name: sorted(each.id for each in hub.ls(caller, team=name or None).packets) for name in names}


@settings(max_examples=30, deadline=None)
@given(steps=st.lists(STEP, min_size=5, max_size=30))
def _keeps_the_rules(opened: segue.Segue, steps: list[tuple[Any, ...]]) -> None:
    rules, server = Rules(), Server(opened)
    try:
        for name, *given_ in BEGINNING + steps:
            expected = _outcome(getattr(rules, name), *given_)
            assert _outcome(getattr(server, name), *given_) == expected, (name, given_)
        for who in PEOPLE:
            seen = {"": sorted(rules.own[who])}
            seen |= {name: sorted(team.packets) for name, team in rules.teams.items() if who in team.members}
            assert _lists(opened, server.hub, server.people[who]) == seen
        held = [*rules.own.values(), *(team.packets for team in rules.teams.values())]
        assert server.published() == sum(packet[2] for packets in held for packet in packets.values())
    finally:
        server.end()


def test_people_keep_to_the_rules(segue_: segue.Segue) -> None:
    _keeps_the_rules(segue_)
    assert segue_.store.doctor() == []
    assert segue_.store.counts()["team_members"] == 0
