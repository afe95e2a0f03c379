"""Resources and prompts, in both protocol eras."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from agent import CAPSULE, ERAS, Place, Wire, call, connected, opened, packet

from segue.context.legend import LEGEND

pytest_plugins = ["mcp_fixtures"]


def error(wire: Wire, method: str, params: dict[str, Any]) -> str:
    """The text of an error: resources and prompts have no results that refuse."""
    answer = wire.request(method, params)
    assert answer["error"]["code"] == -32602, answer
    said: str = answer["error"]["message"]
    assert said.isprintable()
    return said


# -- resources --------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("context-legend-resource")
@pytest.mark.parametrize("era", ERAS)
def test_what_is_kept_is_listed_and_read(where: Place, era: str) -> None:
    async def session() -> None:
        async with connected(where, era=era) as client:
            saved = (await call(client, "save", packet=packet())).text
            told = await call(client, "remember_this", content="Rotterdam sends each manifest twice.")
            kept = await call(client, "capsule_write", capsule=CAPSULE)
            assert told.data is not None
            assert kept.data is not None
            memory, capsule = told.data["stored_id"], kept.data["id"]
            first = await client.list_resources()
            listed = [each.uri for each in first.resources]
            assert listed == ["segue://legend", f"segue://packet/{saved}", f"segue://capsule/{capsule}"]
            assert first.next_cursor is None
            templates = (await client.list_resource_templates()).resource_templates
            assert [each.uri_template for each in templates] == [
                f"segue://{kind}/{{id}}" for kind in ("packet", "memory", "capsule")
            ]
            texts = {}
            for uri in (*listed, f"segue://memory/{memory}"):
                (content,) = (await client.read_resource(uri)).contents
                assert content.uri == uri
                texts[uri] = content.text  # type: ignore[union-attr]
            assert json.loads(texts["segue://legend"]) == LEGEND
            with opened(where) as store:
                assert texts[f"segue://packet/{saved}"].encode() == store.packets.raw(saved)
            assert texts[f"segue://capsule/{capsule}"] == CAPSULE
            document = json.loads(texts[f"segue://memory/{memory}"])
            assert document["content"] == "Rotterdam sends each manifest twice."
            assert document["treat_as_data"] is True

    anyio.run(session)


def test_long_lists_come_in_pages(wire: Wire, where: Place) -> None:
    with opened(where) as store:
        saved = [store.packets.save(packet(goal=f"Take step {number}.")).id for number in range(120)]
        kept = [store.capsules.save(CAPSULE.replace("pages", f"part {number}")).capsule.id for number in range(60)]
    listed: list[str] = []
    cursor: dict[str, str] = {}
    pages = 0
    while not pages or cursor:
        found = wire.request("resources/list", cursor)["result"]
        listed += [each["uri"] for each in found["resources"]]
        cursor = {"cursor": found["nextCursor"]} if "nextCursor" in found else {}
        pages += 1
    packets, capsules = listed[1:121], listed[121:]
    assert listed[0] == "segue://legend"
    assert sorted(packets) == sorted(f"segue://packet/{each}" for each in saved)
    assert sorted(capsules) == sorted(f"segue://capsule/{each}" for each in kept)
    assert pages == 4  # two of packets, one with the last of them and the first capsules, one of capsules


def test_an_id_with_signs_in_it(wire: Wire) -> None:
    odd = "release/2026 #1?"
    saved = wire.call("save", packet=packet(id=odd, created_at="2026-05-01T09:30:00Z"))
    assert saved.text.splitlines()[0] == odd, saved.text
    uri = wire.request("resources/list")["result"]["resources"][1]["uri"]
    assert uri == "segue://packet/release%2F2026%20%231%3F"
    (content,) = wire.request("resources/read", {"uri": uri})["result"]["contents"]
    assert json.loads(content["text"])["id"] == odd


@pytest.mark.parametrize(
    ("uri", "text"),
    [
        ("segue://packet/nothing", "no packet has the id 'nothing'"),
        ("segue://memory/mem_01JZZZZZZZZZZZZZZZZZZZZZZZ", "no memory has the id"),
        ("segue://capsule/nothing", "no capsule has the id 'nothing'"),
        ("segue://packet/", "there is no such address"),
        ("segue://store/x", "there is no such address"),
        ("packet:nothing", "there is no such address"),
        ("file:///etc/passwd", "there is no such address"),
        ("https://example.org/", "there is no such address"),
        ("", "there is no such address"),
        ("segue://packet/%00%1b", "no packet has the id"),
        ("segue://packet/" + "AK" + "IA" + "Q7Z2" * 4, "[redacted:aws-key]"),
    ],
)
def test_addresses_that_lead_nowhere(server: Wire, uri: str, text: str) -> None:
    assert text in error(server, "resources/read", {"uri": uri})


def test_a_waiting_memory_is_no_resource(wire: Wire, where: Place) -> None:
    with opened(where) as store:
        waiting = store.memories.propose("Rotterdam waits.").memory.id
    assert "no memory has the id" in error(wire, "resources/read", {"uri": f"segue://memory/{waiting}"})


@pytest.mark.parametrize("cursor", ["x", "packets:x", "capsules:x", "memories:", "packets:" + "x" * 1_000])
def test_cursors_of_no_list(server: Wire, cursor: str) -> None:
    assert "cursor" in error(server, "resources/list", {"cursor": cursor})


# -- prompts ----------------------------------------------------------------------------------------------------------


def prompt(wire: Wire, name: str, **arguments: str) -> str:
    found = wire.request("prompts/get", {"name": name, "arguments": arguments})
    assert "error" not in found, found
    (message,) = found["result"]["messages"]
    assert message["role"] == "user"
    text: str = message["content"]["text"]
    return text


def test_the_prompts(wire: Wire) -> None:
    listed = wire.request("prompts/list")["result"]["prompts"]
    assert [each["name"] for each in listed] == [
        "resume",
        "hand_over",
        "compress_into_capsule",
        "continue_from_capsule",
    ]
    assert all(each["description"] for each in listed)
    assert [[one["name"] for one in each["arguments"]] for each in listed] == [["id"], [], [], ["capsule", "id"]]
    assert not any(one.get("required") for each in listed for one in each["arguments"])
    saved = [wire.call("save", packet=packet(goal=goal)).text for goal in ("Ship the importer.", "Ship the exporter.")]
    assert "# Resume context" in prompt(wire, "resume")
    assert f"Packet:    {saved[1]}" in prompt(wire, "resume", id="")
    assert f"Packet:    {saved[0]}" in prompt(wire, "resume", id=saved[0])
    assert "`save`" in prompt(wire, "hand_over")
    assert "`success_criteria`" in prompt(wire, "hand_over")
    assert "===PCSF:v1.2===" in prompt(wire, "compress_into_capsule")
    assert "`capsule_write`" in prompt(wire, "compress_into_capsule")
    kept = wire.call("capsule_write", capsule=CAPSULE)
    assert kept.data is not None
    reading = wire.call("capsule_read").text.splitlines()
    for arguments in ({}, {"id": kept.data["id"]}, {"capsule": CAPSULE}):
        assert prompt(wire, "continue_from_capsule", **arguments).splitlines() == reading


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("forget", {}, "there is no prompt 'forget'; the prompts are resume, hand_over"),
        ("resume", {}, "no packet of project is stored"),
        ("resume", {"id": "nothing"}, "no packet has the id 'nothing'"),
        ("resume", {"name": "x"}, "unknown argument 'name'; resume takes: id"),
        ("hand_over", {"id": "x"}, "unknown argument 'id'; hand_over takes: none"),
        ("continue_from_capsule", {}, "no capsule of this project is stored"),
        ("continue_from_capsule", {"id": "x", "capsule": "x"}, "give capsule or id, not both"),
        ("continue_from_capsule", {"capsule": "x" * 20_001}, "at most 20,000 characters"),
        ("continue_from_capsule", {"capsule": "no capsule"}, ""),
    ],
)
def test_prompts_that_cannot_be_written(server: Wire, name: str, arguments: dict[str, str], text: str) -> None:
    assert text in error(server, "prompts/get", {"name": name, "arguments": arguments})
