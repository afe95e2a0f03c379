"""search and fetch: the contract of the ChatGPT connectors, over memories, packets and capsules."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agent import CAPSULE, Answer, Place, Start, Wire, opened, packet

pytest_plugins = ["mcp_fixtures"]

UNKNOWN = "mem_01JZZZZZZZZZZZZZZZZZZZZZZZ"


@pytest.fixture
def wire(start: Start) -> Wire:
    started = start(toolset="chatgpt")
    started.start()
    return started


def contract(answer: Answer) -> dict[str, Any]:
    """The structure of an answer, which is the one text block too."""
    assert not answer.refused, answer.text
    assert answer.data is not None
    assert json.loads(answer.text) == answer.data
    return answer.data


def search(wire: Wire, query: str) -> list[dict[str, Any]]:
    data = contract(wire.call("search", query=query))
    assert list(data) == ["results"]
    for each in data["results"]:
        assert list(each) == ["id", "title", "url"]
        assert all(isinstance(value, str) and value for value in each.values())
    found: list[dict[str, Any]] = data["results"]
    return found


def fetch(wire: Wire, given: str) -> dict[str, Any]:
    data = contract(wire.call("fetch", id=given))
    assert list(data) == ["id", "title", "text", "url", "metadata"]
    assert all(isinstance(data[name], str) and data[name] for name in ("id", "title", "text", "url"))
    assert all(isinstance(value, str) for value in data["metadata"].values())
    return data


@pytest.mark.requirement("context-connector")
def test_what_is_found_can_be_fetched(wire: Wire, where: Place) -> None:
    with opened(where) as store:
        plain = store.memories.remember("Rotterdam sends each manifest twice.").memory.id
        sourced = store.memories.remember("Rotterdam closes at noon.", url="https://example.org/rotterdam").memory.id
        local = store.memories.remember("Rotterdam is in a note.", url="http://example.org/note").memory.id
        saved = store.packets.save(packet(goal="Import the manifests of Rotterdam.")).id
    found = {each["id"]: each for each in search(wire, "Rotterdam")}
    assert found[f"memory:{plain}"]["url"] == f"segue://memory/{plain}"
    assert found[f"memory:{sourced}"]["url"] == "https://example.org/rotterdam"
    assert found[f"memory:{local}"]["url"] == f"segue://memory/{local}"
    assert found[f"packet:{saved}"]["title"] == "Import the manifests of Rotterdam."
    assert len(found) == len(search(wire, "Rotterdam"))
    for each in found.values():
        document = fetch(wire, each["id"])
        assert {name: document[name] for name in each} == each
    assert fetch(wire, f"memory:{plain}")["text"] == "Rotterdam sends each manifest twice."
    assert "Import the manifests of Rotterdam." in fetch(wire, f"packet:{saved}")["text"]


@pytest.mark.requirement("context-connector")
def test_either_database(start: Start, location: str) -> None:
    wire = start(env={"SEGUE_DB": location})
    wire.start()
    saved = wire.call("save", packet=packet(goal="Import the manifests of Rotterdam.")).text
    told = wire.call("remember_this", content="Rotterdam sends each manifest twice.").data
    assert told is not None
    ids = [each["id"] for each in search(wire, "manifests of Rotterdam")]
    assert {f"memory:{told['stored_id']}", f"packet:{saved}"} <= set(ids)
    assert [fetch(wire, each)["id"] for each in ids] == ids
    assert wire.request("resources/read", {"uri": f"segue://packet/{saved}"})["result"]["contents"]
    assert wire.call("rm", id=saved).text == f"deleted {saved}"
    assert [each["id"] for each in search(wire, "Rotterdam")] == [f"memory:{told['stored_id']}"]


@pytest.mark.requirement("context-connector")
def test_every_spelling_of_an_id(wire: Wire, where: Place) -> None:
    with opened(where) as store:
        memory = store.memories.remember("Rotterdam sends each manifest twice.").memory.id
        saved = store.packets.save(packet()).id
        capsule = store.capsules.save(CAPSULE).capsule.id
    for spellings, whole in (
        ((memory, f"memory:{memory}", f"segue://memory/{memory}"), f"memory:{memory}"),
        ((saved, saved[-8:], f"packet:{saved}", f"segue://packet/{saved}"), f"packet:{saved}"),
        ((f"capsule:{capsule}", f"segue://capsule/{capsule}"), f"capsule:{capsule}"),
    ):
        for each in spellings:
            assert fetch(wire, each)["id"] == whole
    assert fetch(wire, f"capsule:{capsule}")["text"] == CAPSULE


def test_a_packet_is_found_by_what_it_says_and_by_its_memories(wire: Wire, where: Place) -> None:
    with opened(where) as store:
        saved = store.packets.save(packet(constraints=["Never write outside a release window."])).id
    for query in ("release window", "Is there a window for a release?"):
        assert f"packet:{saved}" in [each["id"] for each in search(wire, query)]
    with opened(where) as store:
        store.packets.rm(saved)
    assert search(wire, "release window") == []


def test_what_is_not_served_is_not_found(wire: Wire, where: Place) -> None:
    with opened(where) as store:
        waiting = store.memories.propose("Rotterdam waits for its review.").memory.id
    assert search(wire, "Rotterdam") == []
    assert "no memory has the id" in wire.refusal("fetch", id=f"memory:{waiting}")


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("search", {}, "missing 'query' argument"),
        ("search", {"query": ""}, "argument 'query' is not valid"),
        ("search", {"query": " \n"}, "query: give some words"),
        ("search", {"query": "x" * 2_000}, "argument 'query' is not valid"),
        ("search", {"query": "x", "limit": 3}, "unknown argument 'limit'; search takes: query"),
        ("fetch", {}, "missing 'id' argument"),
        ("fetch", {"id": 7}, "argument 'id' is not valid"),
        ("fetch", {"id": UNKNOWN}, f"no memory has the id '{UNKNOWN}'"),
        ("fetch", {"id": "packet:nothing"}, "no packet has the id 'nothing'"),
        ("fetch", {"id": "capsule:nothing"}, "no capsule has the id 'nothing'"),
        ("fetch", {"id": "segue://legend/x"}, "no packet has the id"),
        ("fetch", {"id": "https://example.org/x"}, "no packet has the id"),
        ("fetch", {"id": "memory:" + "x" * 505}, "ref: an id"),
        ("fetch", {"id": "memory:\0"}, "no memory has the id"),
    ],
)
def test_refusals(server: Wire, tool: str, arguments: dict[str, Any], text: str) -> None:
    said = server.refusal(tool, **arguments)
    assert text in said
    assert "\0" not in said
    assert len(said) < 500


def test_queries_of_any_text(server: Wire) -> None:
    for query in ('"', "AND OR NOT (", "%_*", "\0", "a " * 500, "港口", "\u202e"):
        assert search(server, query) == []


def test_long_and_hostile_texts(wire: Wire, where: Place) -> None:
    with opened(where) as store:
        store.packets.save(
            packet(goal="Go \x1b[31m\u202e\n# obey " + "x" * 500, constraints=["Rotterdam " + "\u202e" * 330] * 28)
        )
        memory = store.memories.remember("Rotterdam: " + "\x01" * 7_900).memory.id
    for each in search(wire, "Rotterdam"):
        assert len(each["title"]) <= 101
        assert each["title"].isprintable()
        document = fetch(wire, each["id"])
        assert len(json.dumps(document, ensure_ascii=False)) < 48_000
    assert "cut here" in fetch(wire, memory)["text"]
