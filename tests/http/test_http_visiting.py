"""What the tools of agents may change on a server: no more than the routes, by either door, on both databases."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Literal

import pytest
from http_live import MCP_HEADERS, packet

if TYPE_CHECKING:
    import httpx2
    from http_live import Live

pytest_plugins = ["http_fixtures"]

Door = Literal["/v1/tools/call", "/mcp"]
DOORS: tuple[Door, ...] = ("/v1/tools/call", "/mcp")
SECRET = "The key is AKIA" + "IOSFODNN7EXAMPLE."
EXTENDED = "Listen on localhost:8080."
CAPSULE = (
    "===PCSF:v1.2===\nMETA: report export | software | WORKING | 2026-05-04T09:30Z\n\nL1:SKELETON\n\nL2:NEGATIVE\n\n"
    "L3:INTERNAL\n\nL4:RELATION\nSTYLE: short\n\nL5:LOOPS\n\nSEED: Export by {}.\n===END===\n"
)


def spoken(client: httpx2.Client, door: Door, team: str | None, name: str, /, **arguments: Any) -> str:
    """Call a tool through a door; return "" where it did what it was to do, else what it refused with."""
    query = "" if team is None else f"?team={team}"
    call = {"name": name, "arguments": arguments}
    if door == "/v1/tools/call":
        reply = client.post(door + query, json=call)
        return "" if reply.status_code == 200 else str(reply.json()["error"])
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    result = client.post(door + query, json=message, headers=MCP_HEADERS).json()["result"]
    return str(result["content"][0]["text"]) if result.get("isError") else ""


def shared(live: Live) -> tuple[httpx2.Client, httpx2.Client, str]:
    """The owner of a new team, a member of it, and its name."""
    owner, member, name = live.user("owner"), live.user("member"), f"team-{secrets.token_hex(4)}"
    assert owner.post("/v1/teams", json={"name": name}).status_code == 201
    code = owner.post(f"/v1/teams/{name}/invites").json()["code"]
    assert member.post(f"/v1/invites/{code}/accept").status_code == 201
    return owner, member, name


@pytest.mark.parametrize("door", DOORS)
def test_a_tool_changes_no_packet_of_another_member(live: Live, door: Door) -> None:
    owner, member, team = shared(live)
    theirs, mine = packet(), packet()
    owner.post(f"/v1/packets?team={team}", json=theirs)
    before = owner.get(f"/v1/packets/{theirs['id']}?team={team}")
    assert "another member's packet" in spoken(
        member, door, team, "save", packet=theirs | {"goal": "Something else."}, replace=True
    )
    assert "packet not found" in spoken(member, door, team, "rm", id=theirs["id"])
    after = owner.get(f"/v1/packets/{theirs['id']}?team={team}")
    assert (after.content, after.headers["etag"]) == (before.content, before.headers["etag"])

    assert spoken(member, door, team, "save", packet=theirs, replace=True) == ""  # the same is no change
    assert spoken(member, door, team, "save", packet=mine) == ""
    assert spoken(member, door, team, "save", packet=mine | {"goal": "Better."}, replace=True) == ""
    again = mine | {"goal": "The owner's."}
    assert "another member's packet" in spoken(owner, door, team, "save", packet=again, replace=True)
    assert spoken(owner, door, team, "rm", id=mine["id"]) == ""  # whoever owns the team deletes what is in it
    assert member.get(f"/v1/packets/{mine['id']}?team={team}").status_code == 404


@pytest.mark.parametrize("door", DOORS)
def test_own_packets_are_changed_by_tools(live: Live, door: Door) -> None:
    ann, mine = live.user("ann"), packet()
    assert spoken(ann, door, None, "save", packet=mine) == ""
    assert spoken(ann, door, None, "save", packet=mine | {"goal": "Better."}, replace=True) == ""
    assert spoken(ann, door, None, "rm", id=mine["id"]) == ""
    assert ann.get(f"/v1/packets/{mine['id']}").status_code == 404


@pytest.mark.parametrize("door", DOORS)
def test_no_tool_is_talked_out_of_what_the_server_refuses(live: Live, door: Door) -> None:
    _, member, team = shared(live)
    for where in (team, None):
        secret = packet(goal=SECRET)
        said = spoken(member, door, where, "save", packet=secret, allow_unredacted=True)
        assert "whatever the client allowed" in said
        assert member.get(f"/v1/packets/{secret['id']}").status_code == 404
        held = CAPSULE.format("AKIA" + "IOSFODNN7EXAMPLE")
        assert "redact" in spoken(member, door, where, "capsule_write", capsule=held, allow_unredacted=True)
        assert spoken(member, door, where, "capsule_write", capsule=CAPSULE.format("pages")) == ""


@pytest.mark.parametrize(
    ("policy", "text", "taken"),
    [("core", SECRET, False), ("core", EXTENDED, True), ("extended", EXTENDED, False), ("off", SECRET, True)],
)
def test_what_a_team_refuses_is_its_owners_to_say(live: Live, policy: str, text: str, taken: bool) -> None:
    owner, member, team = shared(live)
    assert owner.patch(f"/v1/teams/{team}", json={"redaction": policy}).status_code == 200
    said = spoken(member, "/v1/tools/call", team, "save", packet=packet(goal=text), allow_unredacted=True)
    assert (said == "") is taken
    assert (member.post(f"/v1/packets?team={team}", json=packet(goal=text)).status_code == 201) is taken


def test_who_may_only_propose_reads_nothing_by_mcp(live: Live) -> None:
    ann = live.caller(live.token("ann"))
    accounts, seen = live.segue.accounts, live.segue.seen_by(ann)
    memory = seen.memories.remember("The importer runs at night.").memory.id
    stored = seen.packets.save(packet()).id
    capsule = seen.capsules.save(CAPSULE.format("pages")).capsule.id
    asked: list[tuple[str, dict[str, Any]]] = [
        ("resources/list", {}),
        *(("resources/read", {"uri": f"segue://{each}"}) for each in (f"memory/{memory}", f"packet/{stored}")),
        ("resources/read", {"uri": f"segue://capsule/{capsule.removeprefix('capsule:')}"}),
        ("prompts/get", {"name": "resume", "arguments": {"id": stored}}),
        ("prompts/get", {"name": "resume"}),
    ]
    for permission, answered in (("propose", "error"), ("read", "result")):
        client = live.client(accounts.issue("second", user=ann.user_id, permissions=(permission,)))
        for method, params in asked:
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            reply = client.post("/mcp", json=message, headers=MCP_HEADERS).json()
            if method != "prompts/get" or "arguments" in params or permission == "propose":
                assert answered in reply, (permission, method, params, reply)
            if permission == "propose":
                assert reply["error"]["message"] == "this token may not read"


@pytest.mark.parametrize("by_tool", [False, True])
def test_a_proposal_changes_no_memory_that_holds(live: Live, by_tool: bool) -> None:
    ann = live.token("ann")
    owner = live.client(ann)
    proposer = live.client(live.segue.accounts.issue("second", user=live.caller(ann).user_id, permissions=("propose",)))
    said = owner.post("/v1/memories", json={"content": "The importer runs at night."}).json()["id"]
    before = owner.get(f"/v1/memories/{said}").json()
    again = {"content": "The importer runs at night.", "tags": ["attacker"], "entities": ["Mallory"]}
    if by_tool:
        reply = proposer.post("/v1/tools/call", json={"name": "propose_memory", "arguments": again})
    else:
        reply = proposer.post(
            "/v1/memories/proposals", json=again | {"author_class": "user", "valid_to": "2020-01-01T00:00:00Z"}
        )
    assert reply.status_code < 300, reply.text
    assert owner.get(f"/v1/memories/{said}").json() == before | {"occurrences": 2}
