"""Packets over HTTP: the shapes and texts of the protocol, and what goes beyond it (facts, 000.3; H1 to H3, H8)."""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING, Any

import pytest
from http_live import MADE, packet

if TYPE_CHECKING:
    import httpx2
    from http_live import Live

pytest_plugins = ["http_fixtures"]


def pushed(client: httpx2.Client, query: str = "", **members: Any) -> dict[str, Any]:
    """Push a packet and return its document."""
    document = packet(**members)
    reply = client.post(f"/v1/packets{query}", json=document)
    assert reply.status_code == 201, reply.text
    return document


def ids(reply: httpx2.Response) -> list[str]:
    assert reply.status_code == 200, reply.text
    return [each["id"] for each in reply.json()["packets"]]


def test_a_packet_goes_there_and_back(live: Live) -> None:
    ann = live.user()
    document = packet(goal="<Ship> & go", created_at="2026-05-04T09:30:00.123Z", tags=[])
    reply = ann.post("/v1/packets", json=document)
    assert (reply.status_code, reply.text) == (201, json.dumps({"id": document["id"]}, indent=2))
    assert reply.headers["location"] == f"/v1/packets/{document['id']}"

    got = ann.get(f"/v1/packets/{document['id']}")
    del document["tags"]  # what is empty is left out of the canonical form
    assert got.text == json.dumps({"ltm_version": "0.2", **document}, indent=2)
    assert got.headers["content-type"] == "application/json"
    assert got.headers["etag"] == reply.headers["etag"]

    line = {"id": document["id"], "created_at": MADE, "goal": "<Ship> & go"}  # whole seconds in lists
    assert ann.get("/v1/packets").text == json.dumps({"packets": [line]}, indent=2)
    assert ann.delete(f"/v1/packets/{document['id']}").status_code == 204
    assert ann.get("/v1/packets").json() == {"packets": []}


def test_health_needs_no_token(live: Live) -> None:
    reply = live.nobody.get("/v1/healthz")
    assert (reply.status_code, reply.json()) == (200, {"ok": True, "version": "0.2"})


@pytest.mark.parametrize(
    ("headers", "text"),
    [
        ({}, "missing bearer token"),
        ({"Authorization": "Basic YTpi"}, "missing bearer token"),
        ({"Authorization": "bearer " + "a" * 48}, "missing bearer token"),
        ({"Authorization": "Bearer " + "a" * 48}, "invalid token"),
        ({"Authorization": "Bearer no such"}, "invalid token"),
    ],
)
def test_a_bearer_is_asked_for(live: Live, headers: dict[str, str], text: str) -> None:
    reply = live.nobody.get("/v1/packets", headers=headers)
    assert (reply.status_code, reply.json()["error"]) == (401, text)
    assert reply.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"", "invalid json"),
        (b"{", "invalid json"),
        (b"[]", "packet must be a JSON object"),
        (b"{}", "missing required field 'ltm_version'"),
        (b'{"ltm_version":"0.3"}', 'unsupported ltm_version "0.3" (supported: 0.1, 0.2)'),
        (json.dumps(packet(surplus=1)).encode(), "additional"),
        (json.dumps(packet("short")).encode(), "minLength"),
        (json.dumps(packet("x" * 65)).encode(), "maxLength"),
        (json.dumps(packet(goal="")).encode(), "minLength"),
        (json.dumps(packet(created_at="2026-02-30T00:00:00Z")).encode(), "schema violation:"),
        (b" " * 32_769, "max is"),
        (b" " * 33_793, "max is"),
        (b" " * 3_000_000, "max is"),
    ],
)
def test_what_is_no_packet_is_400(live: Live, body: bytes, text: str) -> None:
    reply = live.user().post("/v1/packets", content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code == 400
    assert set(reply.json()) == {"error", "code", "details"}
    assert text in reply.json()["error"]


def test_the_largest_packet_is_taken(single: Live) -> None:
    body = json.dumps(packet()).encode()
    client = single.user()
    headers = {"Content-Type": "application/json; charset=utf-8"}
    assert client.post("/v1/packets", content=body.ljust(32_768), headers=headers).status_code == 201
    assert client.post("/v1/packets", content=body.ljust(32_769), headers=headers).status_code == 400


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_body_is_json(single: Live, media_type: str) -> None:
    headers = {"Content-Type": media_type} if media_type else {}
    reply = single.user().post("/v1/packets", content=json.dumps(packet()).encode(), headers=headers)
    assert (reply.status_code, reply.json()["code"]) == (415, "body.content_type")


# -- an id that is there already (H1) ---------------------------------------------------------------------------------


def test_another_body_under_an_id_needs_to_be_meant(live: Live) -> None:
    ann = live.user()
    first = pushed(ann)
    again = ann.post("/v1/packets", json=first)
    assert again.status_code == 201
    other = first | {"goal": "Ship it better."}
    refused = ann.post("/v1/packets", json=other)
    assert (refused.status_code, refused.json()["code"]) == (409, "packet.exists")
    assert ann.get(f"/v1/packets/{first['id']}").json()["goal"] == "Ship it."

    stale = ann.post("/v1/packets?replace=true", json=other, headers={"If-Match": '"9-0000000000000000"'})
    assert (stale.status_code, stale.json()["code"]) == (412, "packet.changed")
    replaced = ann.post("/v1/packets?replace=true", json=other, headers={"If-Match": again.headers["etag"]})
    assert replaced.status_code == 201
    assert replaced.headers["etag"] != again.headers["etag"]
    assert ann.get("/v1/packets").json()["packets"][0]["goal"] == "Ship it better."  # the list follows the body
    lost = ann.post("/v1/packets?replace=true", json=first, headers={"If-Match": again.headers["etag"]})
    assert lost.status_code == 412


def test_a_deleted_id_may_be_used_again(live: Live) -> None:
    ann = live.user()
    first = pushed(ann)
    assert ann.delete(f"/v1/packets/{first['id']}").status_code == 204
    assert ann.delete(f"/v1/packets/{first['id']}").status_code == 404
    assert ann.post("/v1/packets", json=first | {"goal": "Ship it anew."}).status_code == 201
    assert ann.get(f"/v1/packets/{first['id']}").json()["goal"] == "Ship it anew."


@pytest.mark.requirement("packets-73")
def test_nobody_touches_or_sees_the_packet_of_another(live: Live) -> None:
    ann, bob = live.user(), live.user("bob")
    first = pushed(ann)
    own = first | {"goal": "Take it over."}
    assert bob.post("/v1/packets?replace=true", json=own).status_code == 201
    assert ann.get(f"/v1/packets/{first['id']}").json()["goal"] == "Ship it."
    assert bob.get(f"/v1/packets/{first['id']}").json()["goal"] == "Take it over."
    assert bob.delete(f"/v1/packets/{first['id']}").status_code == 204
    assert ann.get(f"/v1/packets/{first['id']}").status_code == 200


def test_what_may_not_be_seen_is_as_if_it_were_not_there(live: Live) -> None:
    ann, bob = live.user(), live.user("bob")
    hidden, deleted = pushed(ann)["id"], pushed(bob)["id"]
    bob.delete(f"/v1/packets/{deleted}")
    paths = [f"/v1/packets/{each}" for each in (hidden, deleted, "no-such-packet", "%00", "%FF", "a%2Fb")]
    answers = [bob.get(each) for each in paths] + [bob.delete(each) for each in paths]
    answers += [bob.post(f"{each}/publish") for each in paths] + [bob.get(f"{each}/chain") for each in paths]
    assert {each.status_code for each in answers} == {404}
    assert {each.text for each in answers} == {answers[0].text}
    assert answers[0].json() == {"error": "packet not found", "code": "packet.not_found", "details": {}}
    assert {frozenset(each.headers) for each in answers} == {frozenset(answers[0].headers)}


def test_an_id_may_hold_a_slash(live: Live) -> None:
    ann = live.user()
    document = pushed(ann, packet_id="2026/05/04 übergabe?#%2F")
    path = "/v1/packets/2026%2F05%2f04%20%C3%BCbergabe%3F%23%252F"
    assert ann.get(path).json()["id"] == document["id"]
    assert ann.get(f"{path}/chain").json()["packets"][0]["id"] == document["id"]
    assert ann.delete(path).status_code == 204


def test_what_the_caller_holds_is_not_sent_again(single: Live) -> None:
    ann = single.user()
    path = f"/v1/packets/{pushed(ann)['id']}"
    etag = ann.get(path).headers["etag"]
    reply = ann.get(path, headers={"If-None-Match": etag})
    assert (reply.status_code, reply.content, reply.headers["etag"]) == (304, b"", etag)
    assert ann.get(path, headers={"If-None-Match": '"other"'}).status_code == 200


# -- the server's own redactor ----------------------------------------------------------------------------------------


@pytest.mark.requirement("packets-71")
def test_what_is_let_in_though_it_does_not_conform_is_flagged(live: Live) -> None:
    ann, secret = live.user(), "Use AKIA" + "IOSFODNN7EXAMPLE."
    team = f"lax-{secrets.token_hex(4)}"
    ann.post("/v1/teams", json={"name": team})
    ann.patch(f"/v1/teams/{team}", json={"redaction": "off"})
    plain = pushed(ann, f"?team={team}")
    document = packet(goal=secret, parent_id=plain["id"])
    path = f"/v1/packets/{document['id']}?team={team}"

    def flags() -> list[dict[str, Any]]:
        lists = [ann.get(f"/v1/packets?team={team}").json()["packets"]]
        lists.append(ann.get(f"/v1/packets/{document['id']}/chain?team={team}").json()["packets"])
        return [{each["id"]: each.get("flagged", False) for each in listed} for listed in lists]

    for _ in range(2):  # and where it is there already
        reply = ann.post(f"/v1/packets?team={team}", json=document)
        assert (reply.status_code, reply.json()) == (201, {"id": document["id"], "flagged": True})
    assert ann.get(path).headers["x-segue-flagged"] == "redaction"
    assert "x-segue-flagged" not in ann.get(f"/v1/packets/{plain['id']}?team={team}").headers
    assert flags() == [{document["id"]: True, plain["id"]: False}] * 2

    mended = ann.post(f"/v1/packets?team={team}&replace=true", json=document | {"goal": "Use the vault."})
    assert mended.json() == {"id": document["id"]}
    assert "x-segue-flagged" not in ann.get(path).headers
    assert flags() == [{document["id"]: False, plain["id"]: False}] * 2


@pytest.mark.requirement("packets-43")
def test_the_server_looks_for_secrets_again(live: Live) -> None:
    ann = live.user()
    secret = "AKIA" + "IOSFODNN7EXAMPLE"
    reply = ann.post("/v1/packets", json=packet(goal=f"Use {secret}."))
    assert (reply.status_code, reply.json()["code"]) == (400, "packet.redaction")
    assert reply.json()["details"] == {"redaction": ["goal/aws-key"]}
    assert secret not in reply.text
    assert secret not in live.log.getvalue()

    assert ann.post("/v1/teams", json={"name": "lax"}).status_code == 201
    assert ann.patch("/v1/teams/lax", json={"redaction": "off"}).json()["team"]["redaction"] == "off"
    assert ann.post("/v1/packets?team=lax", json=packet(goal=f"Use {secret}.")).status_code == 201
    ann.delete("/v1/teams/lax")


# -- lists ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "number"), [("2", 2), ("0", 50), ("-1", 50), ("many", 50), ("", 50), ("501", 60), ("9" * 30, 50)]
)
def test_limits(many: httpx2.Client, limit: str, number: int) -> None:
    assert len(ids(many.get(f"/v1/packets?limit={limit}"))) == number


@pytest.fixture(scope="module")
def many(live: Live) -> httpx2.Client:
    """Somebody with sixty packets, each a minute older than the one before."""
    client = live.user()
    caller = live.caller(client.headers["authorization"].removeprefix("Bearer "))
    for each in range(60):
        members: dict[str, Any] = {"created_at": f"2026-05-04T09:{59 - each:02d}:00Z", "goal": f"Step {each}."}
        if each % 2:
            members |= {"tags": ["odd"], "project": {"name": "importer"}}
        if each == 0:
            members["parent_id"] = "packet-of-many-01"
        live.segue.hub.push(caller, json.dumps(packet(f"packet-of-many-{each:02d}", **members)).encode())
    return client


def test_pages_follow_one_another_and_miss_nothing(many: httpx2.Client) -> None:
    found: list[str] = []
    query = "/v1/packets?limit=25"
    reply = many.get(query)
    while True:
        found += ids(reply)
        if "cursor" not in reply.json():
            break
        reply = many.get(query, params={"cursor": reply.json()["cursor"], "limit": "25"})
    assert found == [f"packet-of-many-{each:02d}" for each in range(60)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("tag=odd&limit=3", ["01", "03", "05"]),
        ("project=importer&limit=2", ["01", "03"]),
        ("q=STEP+42.", ["42"]),
        ("parent=packet-of-many-01", ["00"]),
        ("since=2026-05-04T09:58:00Z", ["00", "01"]),
        ("until=2026-05-04T09:01:00Z&since=2026-05-04T09:01:00Z", []),
        ("tag=none", []),
    ],
)
def test_filters(many: httpx2.Client, query: str, expected: list[str]) -> None:
    assert ids(many.get(f"/v1/packets?{query}")) == [f"packet-of-many-{each}" for each in expected]


def test_a_cursor_is_for_its_list_and_its_caller(live: Live, many: httpx2.Client) -> None:
    cursor = many.get("/v1/packets?limit=5").json()["cursor"]
    assert many.get("/v1/packets", params={"cursor": cursor}).status_code == 200
    stranger = live.user()
    for client, params in (
        (stranger, {"cursor": cursor}),
        (many, {"cursor": cursor, "tag": "odd"}),
        (many, {"cursor": cursor[:-2] + "AA"}),
        (many, {"cursor": "?"}),
    ):
        reply = client.get("/v1/packets", params=params)
        assert (reply.status_code, reply.json()["code"]) == (400, "cursor.invalid")
    assert many.get("/v1/packets?since=yesterday").status_code == 400


# -- chains, moves, publishing ----------------------------------------------------------------------------------------


@pytest.mark.requirement("packets-74")
def test_a_chain_goes_across_what_the_caller_may_read(live: Live) -> None:
    ann, bob = live.user(), live.user("bob")
    ann.post("/v1/teams", json={"name": "chained"})
    code = ann.post("/v1/teams/chained/invites").json()["code"]
    assert bob.post(f"/v1/invites/{code}/accept").status_code == 201
    first = pushed(ann)
    second = pushed(ann, "?team=chained", parent_id=first["id"])
    third = pushed(bob, parent_id=second["id"])
    told = ann.get(f"/v1/packets/{second['id']}/chain").json()
    assert [each["id"] for each in told["packets"]] == [second["id"], first["id"]]
    assert told["children"] == []  # the third is Bob's own
    told = bob.get(f"/v1/packets/{third['id']}/chain").json()
    assert [each["id"] for each in told["packets"]] == [third["id"], second["id"]]
    assert told["missing"] == first["id"]
    ann.delete("/v1/teams/chained")


@pytest.mark.requirement("packets-72", "packets-78")
def test_a_move_changes_no_byte(live: Live) -> None:
    ann, bob = live.user(), live.user("bob")
    ann.post("/v1/teams", json={"name": "moved"})
    code = ann.post("/v1/teams/moved/invites").json()["code"]
    bob.post(f"/v1/invites/{code}/accept")
    path = f"/v1/packets/{pushed(ann)['id']}"
    before = ann.get(path)
    assert bob.get(path).status_code == 404
    reply = ann.post(f"{path}/move?team=moved")
    assert (reply.status_code, reply.json()["team"]) == (200, "moved")
    assert bob.get(path).content == before.content
    assert ids(ann.get("/v1/packets")) == []
    assert bob.post(f"{path}/move").status_code == 404  # it is Ann's
    assert ann.post(f"{path}/move").json()["team"] is None
    assert (ann.get(path).content, bob.get(path).status_code) == (before.content, 404)
    assert ann.post(f"{path}/move?team=no-such").json()["error"] == "team not found"
    ann.delete("/v1/teams/moved")


@pytest.mark.requirement("packets-72", "packets-77")
def test_of_one_id_in_several_scopes_the_own_goes_first_then_teams_by_name(live: Live) -> None:
    ann = live.user()
    for name in ("beta", "alpha"):
        ann.post("/v1/teams", json={"name": name})
    shared = packet()
    for goal, query in (("Beta.", "?team=beta"), ("Alpha.", "?team=alpha"), ("Own.", "")):
        assert ann.post(f"/v1/packets{query}", json=shared | {"goal": goal}).status_code == 201
    path = f"/v1/packets/{shared['id']}"
    assert ann.get(f"{path}?team=beta").json()["goal"] == "Beta."
    for goal in ("Own.", "Alpha.", "Beta."):
        assert ann.get(path).json()["goal"] == goal
        assert ann.delete(path).status_code == 204
    assert ann.get(path).status_code == 404
    for name in ("beta", "alpha"):
        ann.delete(f"/v1/teams/{name}")


def test_a_publication_is_told_by_headers(live: Live) -> None:
    ann = live.user()
    path = f"/v1/packets/{pushed(ann)['id']}"
    assert "x-ltm-public-url" not in ann.get(path).headers
    first, second = ann.post(f"{path}/publish"), ann.post(f"{path}/publish")
    assert (first.status_code, first.text) == (200, second.text)
    url = first.json()["public_url"]
    assert url.startswith(f"{live.url}/p/")
    headers = ann.get(path).headers
    assert (headers["x-ltm-public-url"], headers["x-ltm-published-at"]) == (url, first.json()["published_at"])
    assert live.nobody.get(url).status_code == 200
    assert ann.delete(f"{path}/publish").status_code == 204
    assert "x-ltm-public-url" not in ann.get(path).headers
    assert live.nobody.get(url).status_code == 404
    assert ann.post(f"{path}/publish").json()["public_url"] != url  # what was taken back stays so


# -- idempotency ------------------------------------------------------------------------------------------------------


def test_the_same_key_and_body_is_answered_the_same(live: Live) -> None:
    ann = live.user()
    document, headers = packet(), {"Idempotency-Key": "one"}
    first = ann.post("/v1/packets", json=document, headers=headers)
    ann.delete(f"/v1/packets/{document['id']}")
    again = ann.post("/v1/packets", json=document, headers=headers)
    assert (again.status_code, again.content) == (first.status_code, first.content) == (201, again.content)
    assert ann.get(f"/v1/packets/{document['id']}").status_code == 404  # it was answered, not done again

    other = ann.post("/v1/packets", json=packet(), headers=headers)
    assert (other.status_code, other.json()["code"]) == (409, "idempotency.other")
    elsewhere = ann.post("/v1/packets?replace=true", json=document, headers=headers)
    assert elsewhere.status_code == 409
    bob = live.user("bob")  # keys are each caller's own
    assert bob.post("/v1/packets", json=packet(), headers=headers).status_code == 201
    assert ann.post("/v1/packets", json=packet(), headers={"Idempotency-Key": "k" * 256}).status_code == 400


def test_a_refusal_is_kept_under_its_key_too(single: Live) -> None:
    ann = single.user()
    first = pushed(ann)
    headers = {"Idempotency-Key": "two"}
    refused = ann.post("/v1/packets", json=first | {"goal": "Other."}, headers=headers)
    assert refused.status_code == 409
    ann.delete(f"/v1/packets/{first['id']}")
    again = ann.post("/v1/packets", json=first | {"goal": "Other."}, headers=headers)
    assert (again.status_code, again.content) == (409, refused.content)
