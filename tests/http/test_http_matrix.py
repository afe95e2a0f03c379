"""Who may do what: every route for everybody, on both databases (facts, 000.3 and 000.6; decisions H4, H6, H7)."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from http_live import MCP_HEADERS, packet

from segue.base.errors import NotFound

if TYPE_CHECKING:
    import httpx2
    from http_live import Live

    from segue.services.callers import Caller

pytest_plugins = ["http_fixtures"]

# Nobody sends no token, unknown one that never was; the reader's token is the member's and may only read.
UNKNOWN = ("nobody", "unknown", "revoked", "expired")
KNOWN = ("stranger", "former", "reader", "member", "owner")


@dataclass(frozen=True)
class Row:
    """A route and its answers to those who are KNOWN, in their order; to the UNKNOWN it answers 401.

    `spent` says that what is asked about is gone, or another, once it was answered.
    """

    method: str
    path: str
    answers: str
    body: Any = None
    spent: bool = False
    unknown: str = "401 401 401 401"

    @property
    def route(self) -> tuple[str, str]:
        return self.method, self.path.partition("?")[0]


TOOL = {"name": "query_memory", "arguments": {"find": "importer"}}
SAVE = {"name": "save", "arguments": {"packet": {"ltm_version": "0.2", "goal": "Save it.", "next_step": "Read it."}}}
MCP = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
ROWS = (
    Row("POST", "/v1/packets", "201 201 403 201 201", "PACKET"),
    Row("POST", "/v1/packets?team={name}", "404 404 403 201 201", "PACKET"),
    Row("GET", "/v1/packets", "200 200 200 200 200"),
    Row("GET", "/v1/packets?team={name}", "404 404 200 200 200"),
    Row("GET", "/v1/packets/{id}", "404 404 200 200 200"),
    Row("GET", "/v1/packets/{id}?of=own", "404 404 404 404 200"),
    Row("DELETE", "/v1/packets/{id}", "404 404 403 204 204", spent=True),
    Row("DELETE", "/v1/packets/{id}?of=own", "404 404 403 404 204", spent=True),
    Row("DELETE", "/v1/packets/{id}?of=former", "404 204 403 404 204", spent=True),
    Row("GET", "/v1/packets/{id}/chain", "404 404 200 200 200"),
    Row("POST", "/v1/packets/{id}/move", "404 404 403 200 404", spent=True),
    Row("POST", "/v1/packets/{id}/publish", "404 404 403 200 200", spent=True),
    Row("DELETE", "/v1/packets/{id}/publish", "404 404 403 204 204", spent=True),
    Row("POST", "/v1/teams", "201 201 403 201 201", "TEAM"),
    Row("GET", "/v1/teams", "200 200 200 200 200"),
    Row("GET", "/v1/teams/{name}", "404 404 200 200 200"),
    Row("PATCH", "/v1/teams/{name}", "404 404 403 403 200", {"redaction": "core"}),
    Row("DELETE", "/v1/teams/{name}", "404 404 403 403 204", spent=True),
    Row("GET", "/v1/teams/{name}/members", "404 404 200 200 200"),
    Row("DELETE", "/v1/teams/{name}/members/{user_id}", "404 404 403 403 204", spent=True),
    Row("POST", "/v1/teams/{name}/leave", "404 404 403 204 400", spent=True),
    Row("POST", "/v1/teams/{name}/owner", "404 404 403 403 200", "MEMBER", spent=True),
    Row("POST", "/v1/teams/{name}/invites", "404 404 403 201 201"),
    Row("GET", "/v1/teams/{name}/invites", "404 404 200 200 200"),
    Row("DELETE", "/v1/teams/{name}/invites/{id}", "404 404 403 204 204", spent=True),
    Row("POST", "/v1/invites/{code}/accept", "201 201 403 201 201", spent=True, unknown="201 201 401 401"),
    Row("GET", "/v1/whoami", "200 200 200 200 200"),
    Row("GET", "/v1/tokens", "200 200 200 200 200"),
    Row("DELETE", "/v1/tokens/{id}", "403 403 403 403 403"),  # of the owner's tokens; see the test of taking back
    Row("GET", "/v1/memories?team={name}", "404 404 200 200 200"),
    Row("POST", "/v1/memories?team={name}", "404 404 403 201 201", "MEMORY"),
    Row("POST", "/v1/memories/bulk?team={name}", "404 404 403 200 200", {"memories": [{"content": "It is blue."}]}),
    Row("POST", "/v1/memories/proposals?team={name}", "404 404 403 201 201", "MEMORY"),
    Row("GET", "/v1/memories/search?team={name}&q=importer", "404 404 200 200 200"),
    Row("POST", "/v1/memories/query?team={name}", "404 404 200 200 200", {"find": "importer"}),
    Row("POST", "/v1/memories/expand?team={name}", "404 404 200 200 200", {"ref": "mem_00000000000000000000000000"}),
    Row("GET", "/v1/memories/{id}?team={name}", "404 404 200 200 200"),
    Row("GET", "/v1/memories/{id}/history?team={name}", "404 404 200 200 200"),
    Row("PATCH", "/v1/memories/{id}?team={name}", "404 404 403 200 200", {"tags": ["blue"]}),
    Row("POST", "/v1/memories/{id}/supersede?team={name}", "404 404 403 201 201", "MEMORY", spent=True),
    Row("DELETE", "/v1/memories/{id}?team={name}", "404 404 403 204 204", spent=True),
    Row("POST", "/v1/memories/{id}/approve?team={name}", "404 404 403 200 200", "HASH", spent=True),
    Row("POST", "/v1/memories/{id}/reject?team={name}", "404 404 403 204 204", spent=True),
    Row("GET", "/v1/context?team={name}&task=importer", "404 404 200 200 200"),
    Row("GET", "/v1/context?team={name}&task=importer&pin=true", "404 404 403 200 200"),
    Row("POST", "/v1/context?team={name}", "404 404 200 200 200", {"task": "importer"}),
    Row("GET", "/v1/context/packs?team={name}", "404 404 200 200 200"),
    Row("GET", "/v1/context/packs/{sha}?team={name}", "404 404 200 200 200"),
    Row("GET", "/v1/sessions?team={name}", "404 404 200 200 200"),
    Row("GET", "/v1/sessions/{id}?team={name}", "404 404 200 200 404"),  # a session is of one member alone
    Row("DELETE", "/v1/sessions/{id}?team={name}", "404 404 403 204 404", spent=True),
    Row("GET", "/v1/tools/schema", "200 200 200 200 200"),
    Row("POST", "/v1/tools/call?team={name}", "404 404 200 200 200", TOOL),
    Row("POST", "/v1/tools/call?team={name}&of=save", "404 404 403 200 200", SAVE),
    Row("POST", "/mcp?team={name}", "404 404 200 200 200", MCP),
)
PUBLIC = (
    ("GET", "/v1/healthz"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
    ("GET", "/p/{slug}"),
    ("GET", "/v1/invites/{code}"),
)


@dataclass
class World:
    """People with tokens, and a new team with what belongs to it whenever one was used up."""

    live: Live
    clients: dict[str, httpx2.Client] = field(default_factory=dict)
    callers: dict[str, Caller] = field(default_factory=dict)
    things: dict[str, str] | None = None

    def __post_init__(self) -> None:
        accounts = self.live.segue.accounts
        tokens = {name: self.live.token(name) for name in ("stranger", "former", "revoked")}
        tokens["owner"] = accounts.issue("owner", email="owner@example.com")
        tokens["member"] = accounts.issue("member", email="member@example.com")
        tokens["reader"] = accounts.issue("reader", email="member@example.com", permissions=("read",))
        for name, token in tokens.items():
            self.callers[name] = self.live.caller(token)
        accounts.revoke(self.callers["revoked"].token_id)
        tokens["expired"] = _expired(self.live)
        tokens["unknown"] = secrets.token_hex(24)
        self.clients = {name: self.live.client(token) for name, token in tokens.items()}
        self.clients["nobody"] = self.live.nobody

    def fresh(self) -> dict[str, str]:
        """A team with members, packets, invites, memories, a session and a pin; what names them."""
        served, name = self.live.segue, f"t-{secrets.token_hex(6)}"
        owner, member, former = (self.callers[each] for each in ("owner", "member", "former"))
        served.teams.create(owner, name)
        for each in (member, former):
            served.invites.accept(served.invites.create(owner, name).code, each)
        of_former = served.hub.push(former, _body(), name).id
        served.teams.leave(former, name)
        team, mine = served.seen_by(member, name), served.hub.push(member, _body(), name).id
        served.publishing.publish(member, mine)
        active = team.memories.remember("The importer runs at night.", author_class="agent").memory
        waiting = team.memories.propose("The importer runs at noon.").memory
        session = f"s-{secrets.token_hex(4)}"
        pin = team.context.assemble("importer", session=session, pin=True).pin
        assert pin is not None
        invite, open_invite = served.invites.create(member, name), served.invites.create(member, name)
        return {
            "name": name,
            "packet": mine,
            "own": served.hub.push(owner, _body()).id,
            "of former": of_former,
            "user_id": member.user_id,
            "code": open_invite.code,
            "invite": invite.id,
            "slug": served.publishing.publish(member, mine).slug,
            "memory": active.id,
            "waiting": waiting.id,
            "hash": waiting.content_hash,
            "session": session,
            "sha": str(pin["pack_sha"]),
            "token": self._spare_token(),
        }

    def _spare_token(self) -> str:
        accounts, owner = self.live.segue.accounts, self.callers["owner"]
        before = {each.id for each in accounts.tokens(owner.user_id)}
        accounts.issue("spare", email="owner@example.com", permissions=("read",))
        return next(each.id for each in accounts.tokens(owner.user_id) if each.id not in before)

    def ask(self, row: Row, who: str) -> int:
        """The status that a route answers somebody with."""
        if self.things is None:
            self.things = self.fresh()
        reply = self.clients[who].request(
            row.method, _path(row, self.things), json=_content(row, self.things), headers=MCP_HEADERS
        )
        if row.spent and reply.status_code < 300:
            self.things = None
        assert reply.status_code < 500, reply.text
        return reply.status_code


def _expired(live: Live) -> str:
    """A token whose time is over."""
    accounts = live.segue.accounts
    soon = live.segue.now() + timedelta(milliseconds=40)
    token = accounts.issue("expired", expires=soon)
    while live.segue.now() < soon:
        pass
    return token


def _body() -> bytes:
    return json.dumps(packet()).encode()


def _path(row: Row, things: dict[str, str]) -> str:
    named = dict(things)
    kinds = {"packets": "packet", "invites": "invite", "tokens": "token", "sessions": "session", "memories": "memory"}
    kind = next((kinds[part] for part in reversed(row.route[1].split("/")) if part in kinds), "packet")
    if row.path.endswith("of=own"):
        kind = "own"
    elif row.path.endswith("of=former"):
        kind = "of former"
    elif "/approve" in row.path or "/reject" in row.path:
        kind = "waiting"
    return (
        row.path.format(**named, id=named[kind])
        .replace("?of=own", "")
        .replace("?of=former", "")
        .replace("&of=save", "")
    )


def _content(row: Row, things: dict[str, str]) -> Any:
    made: dict[str, Any] = {
        "PACKET": packet(),
        "TEAM": {"name": f"new-{secrets.token_hex(6)}"},
        "MEMBER": {"user_id": things["user_id"]},
        "MEMORY": {"content": f"The importer has number {secrets.token_hex(4)}."},
        "HASH": {"content_hash": things["hash"]},
    }
    return made.get(row.body, row.body) if isinstance(row.body, str) else row.body


@pytest.fixture(scope="module")
def world(live: Live) -> World:
    return World(live)


@pytest.mark.requirement("packets-73", "packets-74", "packets-75", "packets-77")
@pytest.mark.parametrize("row", ROWS, ids=[f"{each.method} {each.path}" for each in ROWS])
def test_every_route_for_everybody(world: World, row: Row) -> None:
    expected = dict(zip((*UNKNOWN, *KNOWN), f"{row.unknown} {row.answers}".split(), strict=True))
    assert {who: str(world.ask(row, who)) for who in expected} == expected


@pytest.mark.parametrize(("method", "path"), PUBLIC)
def test_public_routes_are_for_everybody(world: World, method: str, path: str) -> None:
    row = Row(method, path, "")
    assert {who: world.ask(row, who) for who in (*UNKNOWN, *KNOWN)} == dict.fromkeys((*UNKNOWN, *KNOWN), 200)


def test_no_route_is_forgotten(world: World) -> None:
    described = world.live.nobody.get("/openapi.json").json()["paths"]
    routes = {(method.upper(), path) for path, methods in described.items() for method in methods}
    assert routes == {row.route for row in ROWS} | set(PUBLIC)


@pytest.mark.parametrize(
    "row", [row for row in ROWS if "{name}" in row.path], ids=lambda row: f"{row.method} {row.path}"
)
def test_a_team_of_others_is_as_one_that_is_not_there(world: World, row: Row) -> None:
    if world.things is None:
        world.things = world.fresh()
    told = set()
    for name in (world.things["name"], "no-such-team", "No Such Team", "%00", "x" * 300):
        things = world.things | {"name": name}
        reply = world.clients["stranger"].request(
            row.method, _path(row, things), json=_content(row, things), headers=MCP_HEADERS
        )
        told.add((reply.status_code, reply.text, frozenset(reply.headers)))
    assert len(told) == 1
    assert told.pop()[0] in (404, 403)


def test_to_propose_is_all_that_some_tokens_may(world: World) -> None:
    proposer = world.live.user("proposer", "propose")
    memory = {"content": "The importer needs a lock."}
    assert proposer.post("/v1/memories/proposals", json=memory).status_code == 201
    assert proposer.post("/v1/memories", json=memory).status_code == 403
    assert proposer.get("/v1/packets").json()["code"] == "auth.permission"
    call = {"name": "propose_memory", "arguments": memory}
    assert proposer.post("/v1/tools/call", json=call).status_code == 200
    assert proposer.post("/v1/tools/call", json=SAVE).status_code == 403


def test_who_was_offboarded_is_refused_at_once(world: World) -> None:
    token = world.live.token("leaver")
    client, caller = world.live.client(token), world.live.caller(token)
    assert client.get("/v1/packets").status_code == 200
    world.live.segue.accounts.offboard(caller.user_id)
    assert client.get("/v1/packets").json()["code"] == "auth.revoked"
    with pytest.raises(NotFound):
        world.live.segue.teams.get(caller, "none")
