"""push and pull: one packet to the host that the user is signed in at, and from it, by a local server alone."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from agent import ERAS, Place, Start, Wire, call, connected, packet
from mcp_types import ElicitRequestParams, ElicitResult

from client.scripted import Answer, Scripted

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest_plugins = ["mcp_fixtures"]

TOKEN = "tok" + "A1b2C3d4" * 6
SECRET = "AKIA" + "Q" * 16
DOCUMENT = {
    "ltm_version": "0.2",
    "id": "packet-0001",
    "created_at": "2026-05-04T09:30:00Z",
    "goal": "Ship it.",
    "next_step": "Test it.",
}


@pytest.fixture(scope="module")
def running() -> Iterator[Scripted]:
    with Scripted() as host:
        yield host


@pytest.fixture
def host(running: Scripted, where: Place) -> Scripted:
    """A host that the user is signed in at."""
    running.answers(Answer(500))
    signed_in(where, running.address)
    return running


def signed_in(where: Place, address: str, token: str = TOKEN) -> None:
    where.segue_home.mkdir(parents=True, exist_ok=True)
    (where.segue_home / "config.toml").write_text(f'host = "{address}"\ncredentials = "file"\n', "utf-8")
    kept = where.segue_home / "credentials.json"
    kept.write_text(json.dumps({"hosts": {address: token} if token else {}}), "utf-8")
    kept.chmod(0o600)


def test_a_packet_is_pushed_as_it_is_stored(host: Scripted, wire: Wire) -> None:
    saved = wire.call("save", packet=packet()).text
    host.answers(Answer(201, {"id": saved}, {"ETag": '"1-ab"'}))
    answer = wire.call("push", id=saved[-8:])
    assert not answer.refused, answer.text
    assert answer.data == {"id": saved, "host": host.address, "team": ""}
    assert answer.text == f"pushed {saved} to {host.address}"
    (asked,) = host.asked
    assert (asked.method, asked.path, asked.headers["authorization"]) == ("POST", "/v1/packets", f"Bearer {TOKEN}")
    assert json.loads(asked.body)["goal"] == "Ship the importer."
    host.answers(Answer(201, {"id": saved}))
    assert wire.call("push", id=saved, team="crew", replace=True).data == {
        "id": saved,
        "host": host.address,
        "team": "crew",
    }
    assert host.asked[0].path == "/v1/packets?team=crew&replace=true"


def test_a_packet_is_pulled_into_the_store(host: Scripted, wire: Wire) -> None:
    host.answers(Answer(200, DOCUMENT, {"ETag": '"1-ab"'}))
    answer = wire.call("pull", id="packet-0001", team="crew")
    assert answer.data == {"id": "packet-0001", "outcome": "created", "host": host.address}
    assert host.asked[0].path == "/v1/packets/packet-0001?team=crew"
    assert "Ship it." in wire.call("show", id="packet-0001").text
    assert wire.call("pull", id="packet-0001").data == {**answer.data, "outcome": "unchanged"}
    host.answers(Answer(200, DOCUMENT | {"goal": "Ship another."}))
    assert "another body is stored" in wire.refusal("pull", id="packet-0001")
    replaced = wire.call("pull", id="packet-0001", replace=True).data
    assert replaced is not None
    assert replaced["outcome"] == "replaced"


def test_what_must_not_travel_does_not(host: Scripted, wire: Wire) -> None:
    kept = wire.call("save", packet=packet(goal=f"Use {SECRET}."), allow_unredacted=True).data
    assert kept is not None
    saved = kept["id"]
    said = wire.refusal("push", id=saved)
    assert "goal/aws-key" in said
    assert "`segue push`" in said
    assert host.asked == []
    host.answers(Answer(200, DOCUMENT | {"goal": f"Use {SECRET}."}))
    pulled = wire.refusal("pull", id="packet-0001")
    assert SECRET not in said + pulled
    assert wire.call("show", id="packet-0001").refused


def test_what_a_host_says_is_told_without_the_token(host: Scripted, wire: Wire) -> None:
    saved = wire.call("save", packet=packet()).text
    host.answers(Answer(409, {"error": f"no, {TOKEN}", "code": "packet.exists"}))
    said = wire.refusal("push", id=saved)
    assert host.address in said
    assert TOKEN not in said
    host.answers(Answer(404, {"error": "packet not found"}))
    assert "packet not found" in wire.refusal("pull", id="packet-0001")


def test_whoami_names_the_host_and_never_the_token(where: Place, host: Scripted, wire: Wire) -> None:
    answer = wire.call("whoami")
    assert answer.data is not None
    assert (answer.data["host"], answer.data["token_hash8"]) == (
        host.address,
        hashlib.sha256(TOKEN.encode()).hexdigest()[:8],
    )
    assert TOKEN not in answer.text
    signed_in(where, host.address, token="")
    (where.segue_home / "credentials.json").chmod(0o644)  # which is not read then
    again = wire.call("whoami").data
    assert again is not None
    assert (again["host"], again["token_hash8"]) == (host.address, "")
    assert host.asked == []


def test_nobody_is_signed_in(where: Place, wire: Wire) -> None:
    for name in ("host", "token_hash8"):
        assert (wire.call("whoami").data or {})[name] == ""
    saved = wire.call("save", packet=packet()).text
    for tool in ("push", "pull"):
        assert "no host is set; `segue auth HOST`" in wire.refusal(tool, id=saved)
    signed_in(where, "http://127.0.0.1:9", token="")
    for tool in ("push", "pull"):
        assert "there is no token for http://127.0.0.1:9" in wire.refusal(tool, id=saved)


@pytest.mark.parametrize("era", ERAS)
def test_the_user_is_asked_first(where: Place, host: Scripted, era: str) -> None:
    questions: list[str] = []
    answers = iter(("decline", "decline", "accept", "accept"))

    async def ask(_: Any, params: ElicitRequestParams) -> ElicitResult:
        questions.append(params.message)
        return ElicitResult(action=next(answers))  # type: ignore[arg-type]

    async def session() -> None:
        async with connected(where, era=era, elicitation_callback=ask) as client:
            saved = (await call(client, "save", packet=packet(goal="Ship \x1b[31m\nit."))).text
            for tool in ("push", "pull"):
                assert "did not agree" in (await call(client, tool, id=saved, team="crew", replace=True)).text
            assert host.asked == []
            host.answers(Answer(201, {"id": saved}), Answer(200, DOCUMENT))
            assert not (await call(client, "push", id=saved)).refused
            assert not (await call(client, "pull", id="packet-0001")).refused
            assert [each.method for each in host.asked] == ["POST", "GET"]
            there = f"{host.address}, team crew, replacing another body"
            assert questions == [
                f"Push the packet {saved} to {there}? Its goal: Ship \\x1b[31m ⏎ it.",
                f"Fetch the packet {saved} from {there} into this store?",
                f"Push the packet {saved} to {host.address}? Its goal: Ship \\x1b[31m ⏎ it.",
                f"Fetch the packet packet-0001 from {host.address} into this store?",
            ]
            assert (await call(client, "push", id="nothing")).refused  # and nobody is asked

    anyio.run(session)


def test_a_server_that_only_reads_has_neither(host: Scripted, start: Start) -> None:
    wire = start("--read-only")
    wire.start()
    assert {"push", "pull"} & {tool["name"] for tool in wire.request("tools/list")["result"]["tools"]} == set()
    for tool in ("push", "pull"):
        assert "this server only reads" in wire.refusal(tool, id="packet-0001")
    assert host.asked == []
