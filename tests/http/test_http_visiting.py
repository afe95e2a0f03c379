"""What the tools of agents may change on a server: no more than the routes, by either door, on both databases."""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING, Any, Literal

import pytest
from http_live import MCP_HEADERS, packet, served

from client.scripted import Answer, Scripted
from segue.http.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx2
    from http_live import Live

    import segue

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
        reply = proposer.post("/v1/memories/proposals", json=again | {"valid_to": "2020-01-01T00:00:00Z"})
    assert reply.status_code < 300, reply.text
    assert owner.get(f"/v1/memories/{said}").json() == before | {"occurrences": 2}


TEXTS = {
    "new": "The importer runs at six.",
    "active": "The importer runs at night.",
    "waiting": "The importer runs at noon.",
    "forgotten": "The importer runs at dawn.",
    "retired": "The importer runs at dusk.",
}


def scope_with(live: Live, token: str) -> segue.Segue:
    """The scope of whoever has a token, with a text of each state in it."""
    seen = live.segue.seen_by(live.caller(token))
    seen.memories.remember(TEXTS["active"], kind="decision", entities=["importer"])
    seen.memories.propose(TEXTS["waiting"])
    seen.memories.forget(seen.memories.remember(TEXTS["forgotten"]).memory.id)
    seen.memories.supersede(seen.memories.remember(TEXTS["retired"]).memory.id, "The importer runs twice.")
    return seen


@pytest.mark.parametrize("door", ["/v1/memories/proposals", *DOORS])
def test_who_may_only_propose_does_not_learn_what_is_known(live: Live, door: str) -> None:
    ann = live.token("ann")
    seen = scope_with(live, ann)
    issued = live.segue.accounts.issue("second", user=live.caller(ann).user_id, permissions=("propose",))
    proposer, told = live.client(issued), set()
    for text in TEXTS.values():
        if door == "/v1/memories/proposals":
            reply = proposer.post(door, json={"content": text})
        else:
            call = {"name": "propose_memory", "arguments": {"content": text}}
            message = call if door != "/mcp" else {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
            reply = proposer.post(door, json=message, headers=MCP_HEADERS)
        answer = reply.json()
        answer.pop("content_hash", None)  # of the text that was sent
        headers = {name: value for name, value in reply.headers.items() if name not in ("date", "x-request-id")}
        told.add((reply.status_code, json.dumps(answer), str(sorted(headers))))
        assert "mem_" not in reply.text
    assert len(told) == 1, told
    # What is new waits, and nothing that was known has changed its state.
    states = {each.content: each.status for each in seen.memories.ls(limit=100).memories}
    assert states == {
        TEXTS["new"]: "pending",
        TEXTS["active"]: "active",
        TEXTS["waiting"]: "pending",
        TEXTS["retired"]: "retired",
        "The importer runs twice.": "active",
    }


def test_who_may_read_too_is_told_what_was_known(live: Live) -> None:
    ann = live.token("ann")
    scope_with(live, ann)
    both = live.segue.accounts.issue("both", user=live.caller(ann).user_id, permissions=("read", "propose"))
    replies = {
        name: live.client(both).post("/v1/memories/proposals", json={"content": text}) for name, text in TEXTS.items()
    }
    assert [replies[name].json()["verdict"] for name in ("new", "active", "waiting")] == ["new", "merged", "merged"]
    assert replies["forgotten"].json()["code"] == "memory.forgotten"


@pytest.mark.parametrize("permissions", [("propose",), ("read", "propose")])
def test_what_is_only_proposed_is_no_users_word(live: Live, permissions: tuple[str, ...]) -> None:
    ann = live.token("ann")
    seen = scope_with(live, ann)
    issued = live.segue.accounts.issue("second", user=live.caller(ann).user_id, permissions=permissions)
    for text in TEXTS.values():
        body = {"content": text, "author_class": "user"}
        reply = live.client(issued).post("/v1/memories/proposals", json=body)
        assert (reply.status_code, reply.json()["code"]) == (403, "auth.permission")
    assert TEXTS["new"] not in {each.content for each in seen.memories.ls(limit=100).memories}
    allowed = live.client(ann).post("/v1/memories/proposals", json={"content": TEXTS["new"], "author_class": "user"})
    assert allowed.status_code == 201


@pytest.mark.parametrize(
    ("policy", "text", "taken"),
    [
        ("core", EXTENDED, True),
        ("extended", EXTENDED, False),
        ("extended", "It is blue.", True),
        ("off", SECRET, False),
    ],
)
def test_what_a_team_refuses_is_refused_in_memories_too(live: Live, policy: str, text: str, taken: bool) -> None:
    owner, member, team = shared(live)
    assert owner.patch(f"/v1/teams/{team}", json={"redaction": policy}).status_code == 200
    known = member.post(f"/v1/memories?team={team}", json={"content": "The importer reads."}).json()["id"]
    bodies = {
        "": {"content": text},
        "/proposals": {"content": text},
        f"/{known}/supersede": {"content": text},
        "/bulk": {"memories": [{"content": text}, {"content": "It is red.", "tags": [text[:64]]}]},
    }
    for path, body in bodies.items():
        if path == f"/{known}/supersede":
            edited = member.patch(f"/v1/memories/{known}?team={team}", json={"summary": text})
            assert (edited.status_code == 200) is taken, edited.text
        reply = member.post(f"/v1/memories{path}?team={team}", json=body)
        results = reply.json()["results"] if path == "/bulk" else [{**reply.json(), "status": reply.status_code}]
        for each in results:
            assert (each["status"] == 201) is taken, each
            assert taken or each["code"] == "memory.redaction"
        assert taken or text not in reply.text
    for door in DOORS:
        for tool in ("remember_this", "propose_memory"):
            said = spoken(member, door, team, tool, content=f"{text} {tool}")
            assert (said == "") is taken, said
    listed = member.get(f"/v1/memories?team={team}&limit=500").text
    assert (text in listed) is taken


def test_the_servers_policy_holds_for_the_own_memories(places: Callable[[str], str]) -> None:
    with served(places("sqlite"), Settings(rescan="extended")) as strict:
        reply = strict.user("ann").post("/v1/memories", json={"content": EXTENDED})
    assert (reply.status_code, reply.json()["code"]) == (422, "memory.redaction")


def test_the_servers_own_sign_in_serves_nobody(single: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs a server may be signed in at a host: no caller of the server acts there."""
    with Scripted() as elsewhere:
        elsewhere.answers(Answer(500))
        monkeypatch.setenv("SEGUE_HOST", elsewhere.address)
        monkeypatch.setenv("SEGUE_TOKEN", "tok" + "A1b2C3d4" * 6)
        admin = single.user("ann", "admin")
        listed = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        named = admin.post("/mcp?toolset=full", json=listed, headers=MCP_HEADERS).json()["result"]["tools"]
        described = admin.get("/v1/tools/schema?toolset=full").json()["tools"]
        assert {"push", "pull"} & {each["name"] for each in (*named, *described)} == set()
        for door in DOORS:
            for tool in ("push", "pull"):
                assert f"there is no tool '{tool}'" in spoken(admin, door, None, tool, id="packet-0001")
        assert elsewhere.asked == []


@pytest.mark.parametrize("door", DOORS)
def test_the_guard_of_a_server_has_no_receipts(single: Live, door: Door) -> None:
    """It reads, and no project of the server's machine proves anything to a caller."""
    reader, proposer = single.user("ann", "read"), single.user("bob", "propose")
    for text, verdict in (("All tests pass.", "passes"), ("Your preference is saved to memory.", "refused")):
        call = {"name": "guard", "arguments": {"text": text}}
        message = call if door != "/mcp" else {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        reply = reader.post(door, json=message, headers=MCP_HEADERS)
        result = reply.json()["result"]
        data = result["structuredContent"] if door == "/mcp" else result
        assert data["verdict"] == verdict, reply.text
        assert [each["why"] for each in data["refused"]] == ["there is no project here whose receipts could prove it"][
            : len(data["refused"])
        ]
    assert "may not read" in spoken(proposer, door, None, "guard", text="All tests pass.")
    assert "unknown argument 'directory'" in spoken(reader, door, None, "guard", text="x", directory="/")
