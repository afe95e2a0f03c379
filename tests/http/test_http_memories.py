"""Memories, context, sessions, tools and MCP over HTTP."""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING, Any

import pytest
from http_live import MCP_HEADERS, packet

if TYPE_CHECKING:
    import httpx2
    from http_live import Live

pytest_plugins = ["http_fixtures"]


@pytest.fixture
def ann(live: Live) -> httpx2.Client:
    return live.user("ann")


def remembered(client: httpx2.Client, content: str = "The importer runs at night.", **members: Any) -> str:
    reply = client.post("/v1/memories", json={"content": content} | members)
    assert reply.status_code == 201, reply.text
    return str(reply.json()["id"])


def call(client: httpx2.Client, method: str, query: str = "", /, **params: Any) -> dict[str, Any]:
    """The result, or the error, of a call over MCP."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    reply = client.post(f"/mcp{query}", json=message, headers=MCP_HEADERS)
    assert reply.status_code == 200, reply.text
    answered: dict[str, Any] = reply.json()
    return answered


# -- memories ---------------------------------------------------------------------------------------------------------


def test_a_memory_from_its_beginning_to_its_end(ann: httpx2.Client) -> None:
    memory_id = remembered(ann, tags=["night"], author_class="user", project="importer")
    got = ann.get(f"/v1/memories/{memory_id}")
    memory = got.json()
    assert (memory["content"], memory["tags"], memory["status"]) == ("The importer runs at night.", ["night"], "active")
    assert memory["provenance"]["author_class"] == "user"

    edited = ann.patch(f"/v1/memories/{memory_id}", json={"content": "It runs at noon.", "author_class": "user"})
    assert (edited.status_code, edited.json()["revision"], edited.json()["tags"]) == (200, 2, ["night"])
    story = ann.get(f"/v1/memories/{memory_id}/history").json()
    assert len(story["versions"]) == 1
    assert "The importer runs at night." in json.dumps(story["versions"])

    replaced = ann.post(
        f"/v1/memories/{memory_id}/supersede", json={"content": "It runs at six.", "author_class": "user"}
    )
    assert (replaced.status_code, replaced.json()["replaced"]) == (201, [memory_id])
    assert ann.post(f"/v1/memories/{memory_id}/supersede", json={"content": "No."}).status_code == 409
    assert [each["status"] for each in ann.get("/v1/memories").json()["memories"]] == ["active", "retired"]
    assert ann.delete(f"/v1/memories/{replaced.json()['id']}").status_code == 204
    gone = ann.get(f"/v1/memories/{replaced.json()['id']}")
    assert (gone.status_code, gone.json()) == (
        404,
        {"error": "memory not found", "code": "memory.not_found", "details": {}},
    )


def test_a_change_may_name_the_version_that_it_is_about(ann: httpx2.Client) -> None:
    path = f"/v1/memories/{remembered(ann)}"
    first = {"If-Match": ann.get(path).headers["etag"]}
    edited = ann.patch(path, json={"tags": ["a"]}, headers=first)
    assert edited.status_code == 200
    second = {"If-Match": edited.headers["etag"]}
    for method, body in (("PATCH", {"tags": ["b"]}), ("DELETE", None)):
        stale = ann.request(method, path, json=body, headers=first)
        assert (stale.status_code, stale.json()["code"]) == (412, "memory.changed")
    assert ann.post(f"{path}/supersede", json={"content": "Other."}, headers=first).status_code == 412
    assert ann.get(path).json()["tags"] == ["a"]
    assert ann.delete(path, headers=second).status_code == 204


def test_of_many_each_has_its_result(ann: httpx2.Client) -> None:
    secret = "AKIA" + "IOSFODNN7EXAMPLE"
    given = [{"content": "It is blue."}, {"content": ""}, {"content": f"Key {secret}."}, {"content": "x", "y": 1}, {}]
    reply = ann.post("/v1/memories/bulk", json={"memories": given})
    results = reply.json()["results"]
    assert reply.status_code == 200
    assert [(each["index"], each["status"]) for each in results] == [(0, 201), (1, 422), (2, 422), (3, 422), (4, 422)]
    assert results[0]["memory"]["verdict"] == "new"
    assert results[2]["code"] == "memory.redaction"
    assert secret not in reply.text
    assert [each["content"] for each in ann.get("/v1/memories").json()["memories"]] == ["It is blue."]


def test_a_proposal_waits_and_is_approved_by_its_hash(ann: httpx2.Client) -> None:
    proposed = ann.post("/v1/memories/proposals", json={"content": "It needs a lock."}).json()
    path = f"/v1/memories/{proposed['id']}"
    assert proposed["status"] == "pending"
    assert ann.get("/v1/memories/search?q=lock").json()["hits"] == []
    assert ann.post(f"{path}/approve", json={"content_hash": "sha256:" + "0" * 64}).status_code == 409
    assert ann.post(f"{path}/approve", json={"content_hash": "no"}).status_code == 422
    approved = ann.post(f"{path}/approve", json={"content_hash": proposed["content_hash"]})
    assert (approved.status_code, approved.json()["status"]) == (200, "active")
    assert ann.post(f"{path}/reject").status_code == 409
    assert len(ann.get("/v1/memories/search?q=lock").json()["hits"]) == 1


def test_memories_are_found_listed_and_asked_for(ann: httpx2.Client) -> None:
    for each in range(4):
        remembered(ann, f"The importer has rule {each}.", kind="constraint" if each % 2 else "decision")
    assert len(ann.get("/v1/memories/search?q=importer&kind=decision").json()["hits"]) == 2
    page = ann.get("/v1/memories?limit=3").json()
    assert len(page["memories"]) == 3
    rest = ann.get("/v1/memories", params={"cursor": page["cursor"], "limit": 3}).json()
    assert (len(rest["memories"]), rest["cursor"]) == (1, None)
    assert len(ann.get("/v1/memories?kind=decision&kind=constraint").json()["memories"]) == 4
    found = ann.post("/v1/memories/query", json={"find": "importer", "k": 3}).json()
    assert (found["count"], found["coverage"]["has_more"]) == (3, True)
    more = ann.post("/v1/memories/query", json={"cursor": found["cursor"]}).json()
    assert more["count"] == 1
    told = ann.post("/v1/memories/expand", json={"ref": found["items"][0]["ref"]}).json()
    assert told["document"]["id"] == found["items"][0]["ref"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/memories?limit=0", None),
        ("GET", "/v1/memories?limit=many", None),
        ("GET", "/v1/memories?kind=none", None),
        ("GET", "/v1/memories?cursor=no", None),
        ("GET", "/v1/memories?since=yesterday", None),
        ("GET", "/v1/memories/search", None),
        ("GET", "/v1/memories/search?q=a&min_relevance=2", None),
        ("POST", "/v1/memories", {"content": "a", "kind": "none"}),
        ("POST", "/v1/memories", {"content": "a", "confidence": "high"}),
        ("POST", "/v1/memories", {"content": "a", "author_class": "external"}),
        ("POST", "/v1/memories", ["a"]),
        ("POST", "/v1/memories/query", {"find": "a", "ask": "b"}),
        ("POST", "/v1/memories/query", {"find": "a", "min_relevance": 2.5}),
        ("POST", "/v1/memories/expand", {"ref": "a", "direction": "up"}),
        ("GET", "/v1/context?token_budget=many", None),
        ("GET", "/v1/context?intent=none", None),
        ("GET", "/v1/context?items=new", None),
        ("GET", "/v1/context?as_of=yesterday", None),
        ("POST", "/v1/context", {"task": "a" * 501}),
        ("POST", "/v1/context", {"token_budget": 5.5}),
        ("POST", "/v1/context", {"surplus": 1}),
        ("GET", "/v1/sessions/" + "s" * 81, None),
        ("GET", "/v1/tools/schema?format=none", None),
        ("POST", "/v1/tools/call", {"name": "no_such_tool"}),
        ("POST", "/v1/tools/call", {"name": "query_memory", "arguments": {"surplus": 1}}),
        ("POST", "/v1/tools/call", {"name": "get_context", "arguments": {"directory": "/"}}),
        ("POST", "/v1/tools/call", {"name": "whoami"}),
    ],
)
def test_values_that_break_their_rules_are_422(single: Live, method: str, path: str, body: Any) -> None:
    reply = single.user().request(method, path, json=body)
    assert (reply.status_code, set(reply.json())) == (422, {"error", "code", "details"}), reply.text


def test_bodies_may_not_be_endless(single: Live) -> None:
    reply = single.user().post("/v1/memories", json={"content": "x" * (1 << 20)})
    assert (reply.status_code, reply.json()["code"]) == (413, "body.too_large")


# -- context ----------------------------------------------------------------------------------------------------------


def test_a_pack_is_the_envelope_itself_by_either_method(ann: httpx2.Client) -> None:
    remembered(ann)
    got = ann.get("/v1/context?task=importer&model=claude")
    posted = ann.post("/v1/context", json={"task": "importer", "model": "claude"})
    for reply in (got, posted):
        assert (reply.status_code, reply.json()["smp"]) == (200, "1")
        assert [each["content"] for each in reply.json()["items"]] == ["The importer runs at night."]
    assert ann.get("/v1/context?task=importer&format=json").json()["version"] == 2
    written = ann.get("/v1/context?task=importer&format=markdown")
    assert written.headers["content-type"].startswith("text/markdown")
    assert "The importer runs at night." in written.text


def test_a_session_is_told_nothing_twice(ann: httpx2.Client) -> None:
    memory_id = remembered(ann)
    call = {"task": "importer", "session_id": "chat/42 ü", "items": "new"}
    first = ann.post("/v1/context", json=call).json()
    assert [each["ref"] for each in first["working_memory"]["new"]] == [memory_id]
    second = ann.post("/v1/context", json=call).json()
    assert (second["working_memory"]["new"], second["items"]) == ([], [])
    path = "/v1/sessions/chat%2F42%20%C3%BC"
    assert ann.get(path).json()["turn"] == 2
    assert [each["session_id"] for each in ann.get("/v1/sessions").json()["sessions"]] == ["chat/42 ü"]
    assert ann.delete(path).status_code == 204
    assert ann.delete(path).json()["error"] == "session not found"


def test_a_pinned_pack_comes_back_byte_for_byte(ann: httpx2.Client) -> None:
    remembered(ann)
    pinned = ann.post("/v1/context", json={"task": "importer", "pin": True}).json()
    sha = pinned["pin"]["pack_sha"]
    again = ann.get(f"/v1/context/packs/{sha}").json()
    assert again["items"] == pinned["items"]
    assert [each["pack_sha"] for each in ann.get("/v1/context/packs").json()["pins"]] == [sha]
    assert ann.get("/v1/context/packs/" + "0" * 64).json()["error"] == "pack not found"


def test_a_team_has_memories_of_its_own(live: Live, ann: httpx2.Client) -> None:
    team = f"team-{secrets.token_hex(4)}"
    ann.post("/v1/teams", json={"name": team})
    bob = live.user("bob")
    code = ann.post(f"/v1/teams/{team}/invites").json()["code"]
    bob.post(f"/v1/invites/{code}/accept")
    said = bob.post(f"/v1/memories?team={team}", json={"content": "The team deploys on Fridays."})
    assert said.status_code == 201
    assert ann.get("/v1/memories/search?q=deploys").json()["hits"] == []
    (hit,) = ann.get(f"/v1/memories/search?q=deploys&team={team}").json()["hits"]
    assert hit["memory"]["provenance"]["author"] == "bob"
    assert "Fridays" in ann.get(f"/v1/context?task=deploys&team={team}").text
    found = call(ann, "tools/call", f"?team={team}", name="query_memory", arguments={"find": "deploys"})
    assert "Fridays" in found["result"]["content"][0]["text"]
    assert bob.post(f"/v1/teams/{team}/leave").status_code == 204
    assert bob.get(f"/v1/memories/search?q=deploys&team={team}").status_code == 404


# -- tools and MCP ----------------------------------------------------------------------------------------------------


def test_schemas_have_the_form_that_each_provider_takes(single: Live) -> None:
    client = single.user()
    forms = {
        each: client.get(f"/v1/tools/schema?format={each}").json()["tools"] for each in ("openai", "anthropic", "mcp")
    }
    names = {
        "openai": [each["function"]["name"] for each in forms["openai"]],
        "anthropic": [each["name"] for each in forms["anthropic"]],
        "mcp": [each["name"] for each in forms["mcp"]],
    }
    assert names["openai"] == names["anthropic"] == names["mcp"]
    assert {"save", "resume", "get_context", "query_memory"} <= set(names["mcp"])
    assert "whoami" not in names["mcp"]  # it tells of the machine that it runs on
    assert "directory" not in json.dumps(forms)
    assert all(each["function"]["parameters"]["type"] == "object" for each in forms["openai"])
    assert all(each["input_schema"]["type"] == "object" for each in forms["anthropic"])
    assert len(client.get("/v1/tools/schema?toolset=chatgpt").json()["tools"]) == 2


def test_tools_are_called_by_name(ann: httpx2.Client) -> None:
    arguments = {"packet": {"ltm_version": "0.2", "goal": "Ship it.", "next_step": "Test it."}}
    saved = ann.post("/v1/tools/call", json={"name": "save", "arguments": arguments}).json()["result"]
    resumed = ann.post("/v1/tools/call", json={"name": "resume", "arguments": {}}).json()["result"]
    assert saved["id"] in resumed
    assert ann.get(f"/v1/packets/{saved['id']}").json()["goal"] == "Ship it."
    assert ann.post("/v1/tools/call", json={"name": "show", "arguments": {"id": "none"}}).status_code == 404
    secret = {"name": "remember_this", "arguments": {"content": "Key AKIA" + "IOSFODNN7EXAMPLE."}}
    assert ann.post("/v1/tools/call", json=secret).json()["code"] == "memory.redaction"


def test_mcp_is_spoken_without_sessions(live: Live, ann: httpx2.Client) -> None:
    hello: dict[str, Any] = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    assert call(ann, "initialize", **hello)["result"]["serverInfo"]["name"] == "segue"
    names = [each["name"] for each in call(ann, "tools/list")["result"]["tools"]]
    assert names == ["save", "resume", "get_context", "query_memory", "remember_this", "expand"]
    said = call(ann, "tools/call", name="remember_this", arguments={"content": "The importer runs at night."})
    assert said["result"]["structuredContent"]["verdict"] == "new"
    memory_id = said["result"]["structuredContent"]["stored_id"]
    assert ann.get(f"/v1/memories/{memory_id}").status_code == 200
    bob = live.user("bob")
    found = call(bob, "tools/call", name="query_memory", arguments={"find": "importer"})
    assert found["result"]["structuredContent"]["items"] == []
    read = call(bob, "resources/read", uri=f"segue://memory/{memory_id}")
    assert "error" in read
    assert ann.get("/mcp").status_code == 405


def test_who_may_only_read_is_told_of_no_tool_that_writes(live: Live) -> None:
    reader = live.user("reader", "read")
    names = {each["name"] for each in call(reader, "tools/list", "?toolset=full")["result"]["tools"]}
    assert names & {"save", "rm", "remember_this", "propose_memory", "capsule_write"} == set()
    for name, arguments in (
        ("save", {"packet": packet()}),
        ("remember_this", {"content": "x"}),
        ("get_context", {"task": "x", "pin": True}),
    ):
        refused = call(reader, "tools/call", name=name, arguments=arguments)["result"]
        assert (refused["isError"], refused["content"][0]["text"]) == (True, "error: this token may not write")


def test_pages_of_other_sites_are_refused_by_mcp(single: Live) -> None:
    client = single.user()
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    for origin, status in (("https://evil.example", 403), (single.url, 200)):
        reply = client.post("/mcp", json=message, headers=MCP_HEADERS | {"Origin": origin})
        assert reply.status_code == status
    assert single.nobody.post("/mcp", json=message, headers=MCP_HEADERS).json()["code"] == "auth.missing"
    assert client.post("/mcp?toolset=none", json=message, headers=MCP_HEADERS).status_code == 400
