"""Teams and invites over HTTP: the shapes and texts of the protocol, and one invite for one (facts, 000.3; H4, H6)."""

from __future__ import annotations

import json
import re
import secrets
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from http_live import packet

from segue.base import time

if TYPE_CHECKING:
    import httpx2
    from http_live import Live

pytest_plugins = ["http_fixtures"]


def team_of(client: httpx2.Client) -> str:
    """Make a team and return its name."""
    name = f"team-{secrets.token_hex(5)}"
    assert client.post("/v1/teams", json={"name": name}).status_code == 201
    return name


def code_of(client: httpx2.Client, team: str) -> str:
    return str(client.post(f"/v1/teams/{team}/invites").json()["code"])


def told(reply: httpx2.Response) -> tuple[int, str]:
    return reply.status_code, str(reply.json()["error"])


def test_a_team_from_its_beginning_to_its_end(live: Live) -> None:
    ann, bob = live.user("ann"), live.user("bob")
    name = f"core-{secrets.token_hex(4)}"
    made = ann.post("/v1/teams", json={"name": f"  {name} "})
    team = made.json()["team"]
    assert made.status_code == 201
    assert made.text == json.dumps({"team": {"id": team["id"], "name": name, "owner_id": team["owner_id"]}}, indent=2)
    (line,) = ann.get("/v1/teams").json()["teams"]
    assert line == team | {"created_at": line["created_at"]}

    assert bob.post(f"/v1/invites/{code_of(ann, name)}/accept").status_code == 201
    members = ann.get(f"/v1/teams/{name}/members").json()["members"]
    assert [(each["display"], each["role"]) for each in members] == [("ann", "owner"), ("bob", "member")]
    assert set(members[1]) == {"user_id", "display", "role", "joined_at"}  # no address is known
    bobs = members[1]["user_id"]

    assert ann.post("/v1/packets?team=" + name, json=packet("of-a-team-01")).status_code == 201
    assert bob.get("/v1/packets/of-a-team-01").status_code == 200
    assert told(bob.delete(f"/v1/teams/{name}")) == (403, "only the team's owner may do that")
    assert told(bob.delete(f"/v1/teams/{name}/members/{bobs}"))[0] == 403
    assert told(ann.delete(f"/v1/teams/{name}/members/{team['owner_id']}"))[0] == 400
    assert told(ann.delete(f"/v1/teams/{name}/members/no-such")) == (404, "not a member")
    assert told(ann.post(f"/v1/teams/{name}/leave"))[0] == 400
    assert bob.post(f"/v1/teams/{name}/leave").status_code == 204
    assert bob.get("/v1/packets/of-a-team-01").status_code == 404
    assert bob.get(f"/v1/teams/{name}").json()["error"] == "team not found"
    assert ann.delete(f"/v1/teams/{name}").status_code == 204
    assert ann.get("/v1/packets/of-a-team-01").status_code == 404
    assert ann.get("/v1/teams").json() == {"teams": []}
    assert bob.post("/v1/teams", json={"name": name}).status_code == 201  # the name is free again


@pytest.mark.parametrize("name", ["", " ", "Core", "-core", "_core", "c" * 41, "kärn", "a b", "a/b"])
def test_bad_names_are_400(single: Live, name: str) -> None:
    reply = single.user().post("/v1/teams", json={"name": name})
    assert (reply.status_code, reply.json()["code"]) == (400, "team.name")


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b"{}", b'{"name":1}', b'{"name":"a","more":1}', b'{"name":"a","name":"b"}']
)
def test_bad_bodies_are_400(single: Live, body: bytes) -> None:
    reply = single.user().post("/v1/teams", content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code == 400
    assert reply.json()["error"]


def test_long_bodies_are_400_and_a_taken_name_is_409(live: Live) -> None:
    ann, bob = live.user(), live.user("bob")
    assert ann.post("/v1/teams", json={"name": "a" * 5_000}).json()["code"] == "body.size"
    name = team_of(ann)
    assert bob.post("/v1/teams", json={"name": name}).json()["code"] == "team.exists"
    assert ann.post("/v1/teams", json={"name": name}).status_code == 409


@pytest.mark.requirement("packets-80")
def test_an_invite_makes_a_user_who_gets_a_token(live: Live) -> None:
    ann = live.user()
    team = team_of(ann)
    made = ann.post(f"/v1/teams/{team}/invites")
    invite = made.json()
    assert (made.status_code, list(invite)) == (201, ["code", "url", "expires_at"])
    assert re.fullmatch("[0-9a-f]{48}", invite["code"])
    assert invite["url"] == f"{live.url}/v1/invites/{invite['code']}"
    left = time.parse(invite["expires_at"]) - live.segue.now()
    assert timedelta(days=7) - timedelta(minutes=1) < left <= timedelta(days=7)

    for _ in range(2):  # to look is not to accept
        assert "segue join" in live.nobody.get(invite["url"]).text
    joined = live.nobody.post(f"{invite['url']}/accept", json={"display": "Carol"})
    assert joined.status_code == 201
    assert list(joined.json()) == ["user", "team", "token"]
    assert joined.json()["user"]["display"] == "Carol"
    assert re.fullmatch("[A-Za-z0-9]{48}", joined.json()["token"])
    carol = live.client(joined.json()["token"])
    assert [each["name"] for each in carol.get("/v1/teams").json()["teams"]] == [team]
    again = live.nobody.post(f"{invite['url']}/accept")
    assert told(again) == (410, "invite expired or already consumed")
    assert {each["state"] for each in ann.get(f"/v1/teams/{team}/invites").json()["invites"]} == {"consumed"}


def test_a_name_is_given_to_whoever_gives_none(live: Live) -> None:
    ann = live.user()
    user = live.nobody.post(f"/v1/invites/{code_of(ann, team_of(ann))}/accept").json()["user"]
    assert user["display"] == f"invited-{user['id'][-6:]}"


def test_a_user_accepts_as_who_it_is_and_members_use_nothing_up(live: Live) -> None:
    ann, bob = live.user(), live.user("bob")
    team = team_of(ann)
    code = code_of(ann, team)
    assert ann.post(f"/v1/invites/{code}/accept").status_code == 201  # a member already
    joined = bob.post(f"/v1/invites/{code}/accept", json={"display": "Robert"})
    assert (joined.status_code, list(joined.json())) == (201, ["user", "team"])
    assert joined.json()["user"]["display"] == "bob"
    assert bob.post(f"/v1/invites/{code}/accept").status_code == 201  # whoever used it may ask again
    assert live.user("dan").post(f"/v1/invites/{code}/accept").status_code == 410


@pytest.mark.requirement("packets-79")
def test_with_a_token_of_another_server_one_is_nobody_with_a_revoked_one_refused(live: Live) -> None:
    ann = live.user()
    team = team_of(ann)
    stranger = live.client("x" * 48)
    assert "token" in stranger.post(f"/v1/invites/{code_of(ann, team)}/accept").json()
    token = live.token("gone")
    live.segue.accounts.revoke(live.caller(token).token_id)
    code = code_of(ann, team)
    assert live.client(token).post(f"/v1/invites/{code}/accept").status_code == 401
    assert live.nobody.post(f"/v1/invites/{code}/accept").status_code == 201


@pytest.mark.requirement("packets-79", "packets-80")
def test_codes_that_are_none_and_codes_that_are_used_are_answered_alike(live: Live) -> None:
    ann = live.user()
    team = team_of(ann)
    used, revoked = code_of(ann, team), code_of(ann, team)
    live.nobody.post(f"/v1/invites/{used}/accept")
    ids = [each["id"] for each in ann.get(f"/v1/teams/{team}/invites").json()["invites"]]
    assert ann.delete(f"/v1/teams/{team}/invites/{ids[1]}").status_code == 204
    codes = (used, revoked, "0" * 48, "short", "%00", "a%2Fb")
    answers = {live.nobody.post(f"/v1/invites/{each}/accept").text for each in codes}
    assert len(answers) == 1
    assert "invite.gone" in answers.pop()


@pytest.mark.parametrize(
    ("body", "media_type", "status"),
    [
        (b'{"display":"' + b"x" * 1_100 + b'"}', "application/json", 400),
        (b'{"display":"' + b"x" * 200 + b'"}', "application/json", 400),
        (b'{"display":"\\u0007"}', "application/json", 400),
        (b'{"display":5}', "application/json", 400),
        (b"{", "application/json", 400),
        (b"{}", "text/plain", 415),
    ],
)
def test_a_bad_body_uses_no_invite_up(live: Live, body: bytes, media_type: str, status: int) -> None:
    ann = live.user()
    path = f"/v1/invites/{code_of(ann, team_of(ann))}/accept"
    assert live.nobody.post(path, content=body, headers={"Content-Type": media_type}).status_code == status
    assert live.nobody.post(path).status_code == 201


@pytest.mark.requirement("packets-80")
def test_of_twenty_who_accept_at_once_one_comes_in(live: Live) -> None:
    ann = live.user()
    path = f"/v1/invites/{code_of(ann, team_of(ann))}/accept"
    before = len(live.segue.accounts.tokens())
    with ThreadPoolExecutor(20) as pool:
        statuses = list(pool.map(lambda _: live.nobody.post(path, json={"display": "Crowd"}).status_code, range(20)))
    assert sorted(statuses) == [201] + [410] * 19
    tokens = live.segue.accounts.tokens()
    assert len(tokens) == before + 1
    assert sum(each.user_id == tokens[-1].user_id for each in tokens) == 1


def test_a_team_is_handed_over(live: Live) -> None:
    ann, bob = live.user(), live.user("bob")
    team = team_of(ann)
    bobs = bob.post(f"/v1/invites/{code_of(ann, team)}/accept").json()["user"]["id"]
    handed = ann.post(f"/v1/teams/{team}/owner", json={"user_id": bobs}).json()["team"]
    assert (handed["owner_id"], handed["role"]) == (bobs, "member")
    assert ann.post(f"/v1/teams/{team}/leave").status_code == 204
    assert bob.get(f"/v1/teams/{team}").json()["team"]["role"] == "owner"


def test_who_one_is_and_ones_tokens(live: Live) -> None:
    token = live.segue.accounts.issue("ann", email="ann@example.com")
    live.segue.accounts.issue("laptop", email="ann@example.com", permissions=("read",))
    ann = live.client(token)
    told = ann.get("/v1/whoami").json()
    assert (told["user"]["display"], told["permissions"]) == ("ann", ["read", "write"])
    listed = ann.get("/v1/tokens").json()["tokens"]
    assert [each["name"] for each in listed] == ["ann", "laptop"]
    assert token not in json.dumps(listed)


@pytest.mark.parametrize("permission", ["read", "propose", "write"])
def test_a_token_takes_back_itself_alone(live: Live, permission: str) -> None:
    accounts, ann = live.segue.accounts, live.user("ann")
    who, other = ann.get("/v1/whoami").json(), live.caller(live.token("bob"))
    token = accounts.issue("second", user=who["user"]["id"], permissions=(permission,))
    second, own = live.client(token), live.caller(token).token_id
    for named in (who["token_id"], who["token_id"][:4], other.token_id, "f" * 12):  # there or not: one answer
        refused = second.delete(f"/v1/tokens/{named}")
        assert (refused.status_code, refused.json()["code"]) == (403, "auth.permission")
        assert own not in refused.text
    assert ann.get("/v1/whoami").status_code == 200
    assert second.delete(f"/v1/tokens/{own}").status_code == 204
    assert second.get("/v1/whoami").json()["code"] == "auth.revoked"


def test_who_may_admin_takes_back_the_own_tokens(live: Live) -> None:
    accounts, ann = live.segue.accounts, live.user("ann")
    who = ann.get("/v1/whoami").json()
    admin = live.client(accounts.issue("admin", user=who["user"]["id"], permissions=("admin",)))
    assert admin.delete(f"/v1/tokens/{live.caller(live.token('bob')).token_id}").status_code == 404  # not the own
    assert admin.delete(f"/v1/tokens/{who['token_id']}").status_code == 204
    assert ann.get("/v1/whoami").json()["code"] == "auth.revoked"
