"""A sync with a real server over a real socket: both ways, stopped and gone on, conflicts, removals, teams."""

from __future__ import annotations

import hashlib
import itertools
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

import segue
from client.served import Person, Served
from segue.base.errors import Conflict, NotFound, Refused
from segue.client.contract import PacketServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from segue.services.synced import Synced

_numbers = itertools.count(1)
_SECRET = "The key is AKIA" + "IOSFODNN7" + "EXAMPLE."


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("server") / "server.db", rescan="off") as running:
        yield running


@pytest.fixture
def person(server: Served, tmp_path: Path) -> Iterator[Callable[..., Person]]:
    """A function that makes a person, or, with a token, another machine of one."""
    made: list[Person] = []

    def new(token: str = "", **options: Any) -> Person:
        number = next(_numbers)
        token = token or server.token(f"user-{number}", **options)
        made.append(Person(server, tmp_path / f"machine-{number}", f"user-{number}", token=token))
        return made[-1]

    yield new
    for each in made:
        each.__exit__()


def packet(number: int, **members: Any) -> dict[str, Any]:
    """A packet with an id of its own."""
    whole = {"ltm_version": "0.2", "goal": f"Goal {number}.", "next_step": "Run the tests."} | members
    return whole | {"id": f"packet-{number:04d}", "created_at": f"2026-05-{number % 28 + 1:02d}T09:30:00Z"}


def synced(who: Person, **options: Any) -> Synced:
    return who.segue.syncing.sync(who.host, **options)


def goals(who: segue.Segue) -> dict[str, str]:
    return {each.id: each.goal for each in who.packets.ls(limit=500).packets}


def counts(done: Synced) -> tuple[int, int, int]:
    assert not done.conflicts
    assert not done.held
    return done.pushed, done.pulled, done.unchanged


def test_both_ways_and_then_nothing(person: Callable[..., Person], monkeypatch: pytest.MonkeyPatch) -> None:
    here = person()
    there = person(here.token)
    for number in range(1, 4):
        here.segue.packets.save(packet(number))
    there.segue.packets.save(packet(4))
    assert counts(synced(here)) == (3, 0, 0)
    assert counts(synced(there)) == (1, 3, 0)
    assert counts(synced(here)) == (0, 1, 3)
    assert goals(here.segue) == goals(there.segue)
    here.segue.packets.save(packet(2, goal="Changed."), replace_existing=True)
    assert counts(synced(here)) == (1, 0, 3)
    assert counts(synced(there)) == (0, 1, 3)
    assert there.segue.packets.get("packet-0002").goal == "Changed."
    assert there.segue.packets.stored("packet-0002").revision == 2
    # What has not changed is neither fetched nor sent.
    monkeypatch.setattr(PacketServer, "pull", None)
    monkeypatch.setattr(PacketServer, "push", None)
    assert counts(synced(here)) == counts(synced(there)) == (0, 0, 4)


def test_a_draft_that_nobody_pushed_stays(person: Callable[..., Person]) -> None:
    who = person()
    for number in (1, 2):
        who.segue.packets.save(packet(next(_numbers), tags=["draft"]) | {"goal": f"Draft {number}."})
    found = synced(who)
    assert (found.pushed, found.unchanged) == (0, 0)
    assert who.host.all_packets().packets == {}
    pushed = next(each for each, goal in goals(who.segue).items() if goal == "Draft 1.")
    who.segue.delivery.push(who.host, pushed)
    assert synced(who).unchanged == 1
    assert set(who.host.all_packets().packets) == {pushed}
    assert set(goals(who.segue).values()) == {"Draft 1.", "Draft 2."}


def test_what_is_pulled_belongs_to_no_project_of_this_machine(person: Callable[..., Person]) -> None:
    here = person()
    there = person(here.token)
    here.segue.packets.save(packet(1, decisions=[{"what": "Use rye flour.", "why": "It keeps longer."}]))
    synced(here)
    synced(there)
    assert here.segue.packets.ls(project=".").packets
    assert not there.segue.packets.ls(project=".").packets
    # It is remembered like what is saved here.
    assert [each.memory.content for each in there.segue.search.find("rye flour")]


def test_a_conflict_is_shown_and_overwrites_nothing(person: Callable[..., Person]) -> None:
    here = person()
    there = person(here.token)
    here.segue.packets.save(packet(1))
    synced(here)
    synced(there)
    for who, goal in ((here, "Mine."), (there, "Theirs.")):
        who.segue.packets.save(packet(1, goal=goal), replace_existing=True)
    assert synced(here).pushed == 1
    for _ in range(2):
        done = synced(there)
        assert [(each.id, each.goal, each.reason) for each in done.conflicts] == [
            ("packet-0001", "Mine.", "changed_both")
        ]
        assert (done.pushed, done.pulled) == (0, 0)
        assert goals(there.segue) == {"packet-0001": "Theirs."}
        assert goals(here.segue) == {"packet-0001": "Mine."}
    # A person says which one holds: the host's …
    with pytest.raises(Conflict):
        there.segue.delivery.pull(there.host, "packet-0001")
    there.segue.delivery.pull(there.host, "packet-0001", replace_existing=True)
    assert counts(synced(there)) == (0, 0, 1)
    # … or the own one.
    for who, goal in ((here, "Mine 2."), (there, "Theirs 2.")):
        who.segue.packets.save(packet(1, goal=goal), replace_existing=True)
    synced(here)
    with pytest.raises(Conflict):
        there.segue.delivery.push(there.host, "packet-0001")
    there.segue.delivery.push(there.host, "packet-0001", replace_existing=True)
    assert counts(synced(there)) == (0, 0, 1)
    assert counts(synced(here)) == (0, 1, 0)
    assert goals(here.segue) == {"packet-0001": "Theirs 2."}


def test_two_that_never_met_are_a_conflict(person: Callable[..., Person]) -> None:
    here = person()
    there = person(here.token)
    for who, goal in ((here, "Mine."), (there, "Theirs.")):
        who.segue.packets.save(packet(1, goal=goal))
    synced(here)
    assert [each.reason for each in synced(there).conflicts] == ["changed_both"]
    assert goals(there.segue) == {"packet-0001": "Theirs."}


def test_what_was_removed_does_not_come_back(person: Callable[..., Person]) -> None:
    here = person()
    there = person(here.token)
    for number in range(1, 4):
        here.segue.packets.save(packet(number))
    synced(here)
    synced(there)
    here.segue.packets.rm("packet-0001")
    for _ in range(2):
        done = synced(here)
        assert [(each.id, each.where) for each in done.removed] == [("packet-0001", "here")]
        assert done.unchanged == 2
    assert synced(here, delete=True).deleted == 1
    done = synced(there)
    assert [(each.id, each.where) for each in done.removed] == [("packet-0001", "host")]
    assert "packet-0001" in goals(there.segue)
    assert synced(there, delete=True).deleted == 1
    assert set(goals(there.segue)) == {"packet-0002", "packet-0003"}
    assert counts(synced(here)) == counts(synced(there)) == (0, 0, 2)
    # Saved once more, it is there once more.
    here.segue.packets.save(packet(1))
    assert counts(synced(here)) == (1, 0, 2)
    assert counts(synced(there)) == (0, 1, 2)


def test_removed_on_one_side_and_changed_on_the_other(person: Callable[..., Person]) -> None:
    here = person()
    there = person(here.token)
    here.segue.packets.save(packet(1))
    here.segue.packets.save(packet(2))
    synced(here)
    synced(there)
    there.segue.packets.save(packet(1, goal="Changed."), replace_existing=True)
    here.segue.packets.rm("packet-0001")
    synced(here, delete=True)
    done = synced(there, delete=True)
    assert [(each.id, each.reason) for each in done.conflicts] == [("packet-0001", "gone_there")]
    assert there.segue.packets.get("packet-0001").goal == "Changed."
    there.segue.delivery.push(there.host, "packet-0001")
    there.segue.packets.rm("packet-0002")
    here.segue.packets.save(packet(2, goal="Changed too."), replace_existing=True)
    synced(here)
    done = synced(there, delete=True)
    assert [(each.id, each.reason) for each in done.conflicts] == [("packet-0002", "gone_here")]
    assert done.deleted == 0
    assert here.host.pull("packet-0002") is not None


def test_a_host_that_lost_everything_takes_nothing_along(person: Callable[..., Person]) -> None:
    here = person()
    for number in range(1, 4):
        here.segue.packets.save(packet(number))
    synced(here)
    for number in range(1, 4):
        here.host.rm(f"packet-{number:04d}")
    done = synced(here, delete=True)
    assert (done.deleted, len(done.removed), len(goals(here.segue))) == (0, 3, 3)


@pytest.mark.parametrize("stops", [1, 3])
def test_stopped_in_between_the_next_one_goes_on(
    person: Callable[..., Person], monkeypatch: pytest.MonkeyPatch, stops: int
) -> None:
    here = person()
    there = person(here.token)
    for number in range(1, 6):
        here.segue.packets.save(packet(number))
    push, pull = PacketServer.push, PacketServer.pull
    calls = itertools.count()

    def stopped(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            if next(calls) == stops:
                raise KeyboardInterrupt
            return real(*arguments, **options)

        return call

    with monkeypatch.context() as patch:
        patch.setattr(PacketServer, "push", stopped(push))
        with pytest.raises(KeyboardInterrupt):
            synced(here)
    assert counts(synced(here)) == (5 - stops, 0, stops)
    calls = itertools.count()
    with monkeypatch.context() as patch:
        patch.setattr(PacketServer, "pull", stopped(pull))
        with pytest.raises(KeyboardInterrupt):
            synced(there)
    assert len(goals(there.segue)) == stops
    assert counts(synced(there)) == (0, 5 - stops, stops)


def test_pushed_and_not_noted(person: Callable[..., Person], monkeypatch: pytest.MonkeyPatch) -> None:
    """The host has it, and the machine went off before that was written down."""
    here = person()
    here.segue.packets.save(packet(1))
    here.host.push(here.segue.packets.raw("packet-0001"))
    assert counts(synced(here)) == (0, 0, 1)


def test_secrets_stay_where_they_are(person: Callable[..., Person]) -> None:
    here = person()
    there = person(here.token)
    here.segue.packets.save(packet(1, goal=_SECRET), allow_unredacted=True)
    here.segue.packets.save(packet(2))
    done = synced(here)
    assert [(each.id, each.code) for each in done.held] == [("packet-0001", "packet.redaction")]
    assert done.pushed == 1
    assert "AKIA" not in str(done.to_json())
    here.segue.delivery.push(here.host, "packet-0001", allow_unredacted=True)
    done = synced(there)
    assert [(each.id, each.code) for each in done.held] == [("packet-0001", "packet.redaction")]
    assert set(goals(there.segue)) == {"packet-0002"}
    there.segue.delivery.pull(there.host, "packet-0001", allow_unredacted=True)
    assert counts(synced(there)) == (0, 0, 2)


def test_a_token_that_may_only_read(person: Callable[..., Person], server: Served) -> None:
    here = person(email="reader@example.org")
    here.segue.packets.save(packet(1))
    synced(here)
    reader = person(server.token("reader", email="reader@example.org", permissions=("read",)))
    reader.segue.packets.save(packet(2))
    reader.segue.packets.save(packet(3))
    done = synced(reader)
    assert (done.pushed, done.pulled) == (0, 1)
    assert [each.id for each in done.held] == ["packet-0002"]


def test_another_user_at_the_same_machine(person: Callable[..., Person], server: Served) -> None:
    here = person()
    here.segue.packets.save(packet(1))
    synced(here)
    here.host.close()
    here.host = server.client(server.token("somebody else"))
    done = synced(here, delete=True)
    assert (done.pushed, done.deleted, len(goals(here.segue))) == (1, 0, 1)


def test_another_token_of_the_same_user(person: Callable[..., Person], server: Served) -> None:
    here = person(email="two@example.org")
    here.segue.packets.save(packet(1))
    here.segue.packets.save(packet(2))
    synced(here)
    here.segue.packets.rm("packet-0001")
    here.host.close()
    here.host = server.client(server.token("again", email="two@example.org"))
    assert [each.id for each in synced(here).removed] == ["packet-0001"]


def test_changed_here_while_it_is_fetched(person: Callable[..., Person], monkeypatch: pytest.MonkeyPatch) -> None:
    here = person()
    there = person(here.token)
    here.segue.packets.save(packet(1))
    synced(here)
    synced(there)
    here.segue.packets.save(packet(1, goal="Mine."), replace_existing=True)
    synced(here)
    pull = PacketServer.pull

    def meanwhile(*arguments: Any, **options: Any) -> Any:
        there.segue.packets.save(packet(1, goal="Meanwhile."), replace_existing=True)
        return pull(*arguments, **options)

    monkeypatch.setattr(PacketServer, "pull", meanwhile)
    assert [each.id for each in synced(there).conflicts] == ["packet-0001"]
    assert goals(there.segue) == {"packet-0001": "Meanwhile."}


def test_changed_on_the_host_while_it_is_pushed(person: Callable[..., Person], monkeypatch: pytest.MonkeyPatch) -> None:
    here = person()
    here.segue.packets.save(packet(1))
    synced(here)
    here.segue.packets.save(packet(1, goal="Mine."), replace_existing=True)
    push = PacketServer.push

    def meanwhile(host: PacketServer, body: bytes, **options: Any) -> Any:
        theirs = body.replace(b"Mine.", b"Theirs.")
        push(host, theirs, replace=True)
        return push(host, body, **options)

    monkeypatch.setattr(PacketServer, "push", meanwhile)
    assert [each.id for each in synced(here).conflicts] == ["packet-0001"]
    fetched = here.host.pull("packet-0001")
    assert fetched is not None
    assert b"Theirs." in fetched.body


# -- teams ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def crew(person: Callable[..., Person]) -> tuple[str, Person, Person]:
    """A team with its name, its owner and a member."""
    owner, member = person(), person()
    name = f"crew-{next(_numbers)}"
    owner.host.create_team(name)
    member.host.accept(owner.host.invite(name).url.rpartition("/")[2])
    return name, owner, member


def give(who: Person, team: str, number: int, **members: Any) -> None:
    who.segue.delivery.send(who.host, packet(number, **members), team=team, replace_existing=True)


def remember(server: Served, who: Person, team: str, text: str) -> str:
    caller = server.store.accounts.authenticate(who.token)
    return server.store.seen_by(caller, team).memories.remember(text).memory.id


def test_a_team_is_read_offline(server: Served, crew: tuple[str, Person, Person]) -> None:
    name, owner, member = crew
    give(owner, name, 1, decisions=[{"what": "Use rye flour.", "why": "It keeps longer."}])
    give(owner, name, 2)
    told = remember(server, owner, name, "The oven runs at 230 degrees.")
    done = synced(member)
    assert [(each.name, each.pulled, each.unchanged) for each in done.teams] == [(name, 2, 0)]
    member.host.close()  # from here on nothing can be asked
    copy = member.segue.team(name)
    assert set(goals(copy)) == {"packet-0001", "packet-0002"}
    assert "Use rye flour." in copy.packets.resume("packet-0001")
    found = copy.search.find("which temperature has the oven")
    assert found.hits[0].memory.id == told
    pack = copy.context.assemble("bake rye bread in the oven").to_json()
    assert "230 degrees" in str(pack)
    assert "rye flour" in str(pack)
    # The member's own packets and memories are others.
    assert goals(member.segue) == {}
    assert not member.segue.search.find("oven").hits
    assert member.segue.store.doctor() == []


def test_the_copy_follows_the_team(server: Served, crew: tuple[str, Person, Person]) -> None:
    name, owner, member = crew
    for number in range(1, 4):
        give(owner, name, number)
    first, second = (remember(server, owner, name, f"The {each} runs at 230 degrees.") for each in ("oven", "mixer"))
    synced(member)
    assert [(each.pulled, each.removed, each.memories) for each in synced(member).teams] == [(0, 0, 0)]
    give(owner, name, 1, goal="Changed.")
    owner.host.rm("packet-0002", team=name)
    memories = server.store.seen_by(server.store.accounts.authenticate(owner.token), name).memories
    memories.edit(first, content="The oven runs at 240 degrees.")
    memories.forget(second)
    done = synced(member).teams[0]
    assert (done.pulled, done.removed, done.unchanged) == (1, 1, 1)
    copy = member.segue.team(name)
    assert goals(copy) == {"packet-0001": "Changed.", "packet-0003": "Goal 3."}
    theirs = {each.id: each.content for each in memories.ls(statuses=["active"], limit=500).memories}
    ours = {each.id: each.content for each in copy.memories.ls(statuses=["active"], limit=500).memories}
    assert ours == theirs
    assert ours[first] == "The oven runs at 240 degrees."
    assert second not in ours
    assert [each.memory.id for each in copy.search.find("oven degrees") if each.memory.id == first]
    assert not [each for each in copy.search.find("mixer") if each.memory.id == second]
    assert member.segue.store.doctor() == []


def test_a_copy_on_either_database(server: Served, crew: tuple[str, Person, Person], segue_: segue.Segue) -> None:
    name, owner, member = crew
    give(owner, name, 1)
    told = remember(server, owner, name, "The oven runs at 230 degrees.")
    assert segue_.syncing.sync(member.host).teams[0].pulled == 1
    copy = segue_.team(name)
    assert copy.search.find("which temperature has the oven").hits[0].memory.id == told
    memories = server.store.seen_by(server.store.accounts.authenticate(owner.token), name).memories
    memories.edit(told, content="The oven runs at 240 degrees.")
    owner.host.rm("packet-0001", team=name)
    done = segue_.syncing.sync(member.host).teams[0]
    assert (done.pulled, done.removed) == (0, 1)
    assert [each.content for each in copy.memories.ls(limit=500).memories] == ["The oven runs at 240 degrees."]
    assert segue_.store.doctor() == []
    member.host.leave(name)
    assert segue_.syncing.sync(member.host).dropped == (name,)
    assert segue_.store.doctor() == []


def test_a_copy_does_not_take_secrets(server: Served, crew: tuple[str, Person, Person]) -> None:
    name, owner, member = crew
    owner.segue.delivery.send(owner.host, packet(1, goal=_SECRET), team=name, allow_unredacted=True)
    give(owner, name, 2)
    done = synced(member)
    assert {(each.id, each.team, each.code) for each in done.held} == {("packet-0001", name, "packet.redaction")}
    assert set(goals(member.segue.team(name))) == {"packet-0002"}


@pytest.mark.parametrize("how", ["left", "removed", "deleted"])
def test_a_team_that_is_not_ones_own_any_more_is_dropped(
    server: Served, crew: tuple[str, Person, Person], how: str
) -> None:
    name, owner, member = crew
    give(owner, name, 1, goal="Only for the crew.")
    remember(server, owner, name, "Only the crew knows the oven.")
    synced(member)
    scope = member.segue.replicas.named(name).scope_id
    if how == "left":
        member.host.leave(name)
    elif how == "removed":
        user = member.host.whoami()
        assert user is not None
        owner.host.remove_member(name, user.id)
    else:
        owner.host.rm_team(name)
        owner.host.create_team(name)  # another one of that name is not the one that was copied
    done = synced(member)
    assert done.dropped == (name,)
    with pytest.raises(NotFound):
        member.segue.team(name)
    with member.segue._database.read() as connection:
        for table in ("packets", "memories", "memory_index", "events", "scopes", "replicated_packets", "replicas"):
            query = f"SELECT count(*) FROM {table} WHERE scope_id = '{scope}'"
            assert connection.exec_driver_sql(query).scalar() == 0, table
    assert synced(member).dropped == ()


def test_a_revoked_token_takes_the_copies_along_and_nothing_else(
    server: Served, crew: tuple[str, Person, Person]
) -> None:
    name, owner, member = crew
    give(owner, name, 1)
    member.segue.packets.save(packet(2))
    synced(member)
    user = member.host.whoami()
    assert user is not None
    server.store.accounts.offboard(user.id)
    with pytest.raises(Refused) as refused:
        synced(member)
    assert refused.value.code == "auth.revoked"
    assert member.segue.replicas.ls() == []
    assert set(goals(member.segue)) == {"packet-0002"}


def test_a_token_that_is_not_known_takes_nothing_along(server: Served, crew: tuple[str, Person, Person]) -> None:
    name, owner, member = crew
    give(owner, name, 1)
    synced(member)
    member.host.close()
    member.host = server.client("x" * 48)
    with pytest.raises(Refused) as refused:
        synced(member)
    assert refused.value.code == "auth.invalid"
    assert [each.name for each in member.segue.replicas.ls()] == [name]


def test_a_packet_of_a_team_that_is_pulled_is_ones_own_from_then(crew: tuple[str, Person, Person]) -> None:
    name, owner, member = crew
    give(owner, name, 1)
    for team in (None, name):
        member.segue.delivery.pull(member.host, "packet-0001", team=team)
    done = synced(member, delete=True)
    assert (done.pushed, done.deleted, done.removed) == (1, 0, ())
    assert set(goals(member.segue)) == {"packet-0001"}


def test_a_stopped_copy_goes_on(crew: tuple[str, Person, Person], monkeypatch: pytest.MonkeyPatch) -> None:
    name, owner, member = crew
    for number in range(1, 5):
        give(owner, name, number)
    pull, calls = PacketServer.pull, itertools.count()

    def stopped(*arguments: Any, **options: Any) -> Any:
        if next(calls) == 2:
            raise KeyboardInterrupt
        return pull(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(PacketServer, "pull", stopped)
        with pytest.raises(KeyboardInterrupt):
            synced(member)
    assert len(goals(member.segue.team(name))) == 2
    assert [(each.pulled, each.unchanged) for each in synced(member).teams] == [(2, 2)]


def test_progress_comes_to_its_end(crew: tuple[str, Person, Person]) -> None:
    name, owner, member = crew
    give(owner, name, 1)
    member.segue.packets.save(packet(2))
    seen: list[tuple[int, int]] = []
    synced(member, on_progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]


# -- other hosts ------------------------------------------------------------------------------------------------------


def plain_host(packets: dict[str, bytes], asked: list[str]) -> httpx2.MockTransport:
    """A host of the protocol and nothing more: no cursors, etags, memories, and nothing about whose token it is."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(f"{request.method} {request.url.path}")
        if request.url.path == "/v1/teams":
            team = {"id": "team-1", "name": "crew", "owner_id": "u", "created_at": "2026-05-04T09:30:00Z"}
            return httpx2.Response(200, json={"teams": [team]})
        if request.url.path == "/v1/packets" and request.method == "GET":
            lines = [{"id": each, "created_at": "2026-05-04T09:30:00Z", "goal": "g"} for each in packets]
            return httpx2.Response(200, json={"packets": lines if "team" in request.url.params else []})
        if request.url.path == "/v1/packets":
            return httpx2.Response(201, json={"id": "packet-0009"})
        body = packets.get(request.url.path.rpartition("/")[2])
        return httpx2.Response(404, text="404 page not found") if body is None else httpx2.Response(200, content=body)

    return httpx2.MockTransport(answer)


def test_a_host_that_knows_the_protocol_alone(segue_: segue.Segue, tmp_path: Path) -> None:
    with segue.open(tmp_path / "other.db") as other:
        for number in (1, 2):
            other.packets.save(packet(number, decisions=[{"what": "Use rye flour.", "why": "It keeps longer."}]))
        bodies = {each: other.packets.raw(each) for each in ("packet-0001", "packet-0002")}
    asked: list[str] = []
    with PacketServer("https://packets.example.org", "t" * 48, transport=plain_host(bodies, asked)) as host:
        done = segue_.syncing.sync(host)
        assert [(each.pulled, each.unchanged) for each in done.teams] == [(2, 0)]
        # Its packets make the memories here.
        assert segue_.team("crew").search.find("rye flour").hits
        assert [(each.pulled, each.unchanged) for each in segue_.syncing.sync(host).teams] == [(0, 2)]
        del bodies["packet-0001"]
        assert [(each.removed, each.unchanged) for each in segue_.syncing.sync(host).teams] == [(1, 1)]
        assert segue_.store.doctor() == []
        assert segue_.syncing.drop(host.address) == ("crew",)
    assert segue_.replicas.ls() == []


def test_memories_that_break_a_rule_are_not_taken(segue_: segue.Segue, tmp_path: Path) -> None:
    with segue.open(tmp_path / "other.db") as other:
        texts = [f"The oven runs at {degrees} degrees." for degrees in (210, 220, 230)]
        told = [other.memories.remember(text).memory.to_json() for text in texts]
    told[1] = told[1] | {"content": _SECRET, "content_hash": "sha256:" + hashlib.sha256(_SECRET.encode()).hexdigest()}
    told[2] = told[2] | {"trust": 7}

    def answer(request: httpx2.Request) -> httpx2.Response:
        team = {"id": "team-1", "name": "crew", "owner_id": "u", "created_at": "2026-05-04T09:30:00Z"}
        bodies = {"/v1/teams": {"teams": [team]}, "/v1/packets": {"packets": []}}
        bodies |= {"/v1/memories": {"memories": told, "cursor": None}}
        found = bodies.get(request.url.path)
        return httpx2.Response(200 if found else 404, json=found or {"error": "no"})

    with PacketServer("https://packets.example.org", "t" * 48, transport=httpx2.MockTransport(answer)) as host:
        done = segue_.syncing.sync(host)
    assert [each.content for each in segue_.team("crew").memories.ls().memories] == texts[:1]
    assert [(each.id, each.code) for each in done.held] == [
        (told[1]["id"], "memory.redaction"),
        (told[2]["id"], "value.invalid"),
    ]
    assert "AKIA" not in str(done.to_json())


def test_a_full_list_without_cursor_says_nothing_of_what_it_lacks(segue_: segue.Segue) -> None:
    lines = [{"id": f"packet-{n:04d}", "created_at": "2026-05-04T09:30:00Z", "goal": "g"} for n in range(500)]
    present: list[dict[str, str]] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/v1/teams":
            return httpx2.Response(200, json={"teams": []})
        if request.url.path == "/v1/packets" and request.method == "GET":
            return httpx2.Response(200, json={"packets": present})
        if request.method == "POST":
            return httpx2.Response(201, json={"id": "packet-9999"})
        return httpx2.Response(404, json={"error": "no"})

    segue_.packets.save(packet(9999))
    with PacketServer("https://packets.example.org", "t" * 48, transport=httpx2.MockTransport(answer)) as host:
        assert segue_.syncing.sync(host).pushed == 1
        present[:] = lines
        done = segue_.syncing.sync(host, delete=True)
    assert (done.deleted, done.removed, done.unchanged) == (0, (), 1)
    assert goals(segue_) == {"packet-9999": "Goal 9999."}


def test_a_host_that_sends_something_else(segue_: segue.Segue, tmp_path: Path) -> None:
    with segue.open(tmp_path / "other.db") as other:
        other.packets.save(packet(1))
        body = other.packets.raw("packet-0001")
    asked: list[str] = []
    for sent in (b"{}", b"<html>", body.replace(b"packet-0001", b"packet-0002"), b"[" * 1_000):
        transport = plain_host({"packet-0001": sent}, asked)
        with PacketServer("https://packets.example.org", "t" * 48, transport=transport) as host:
            done = segue_.syncing.sync(host)
        assert [each.id for each in done.held] == ["packet-0001"]
        assert goals(segue_.team("crew")) == {}
