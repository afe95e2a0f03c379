"""The list of tools: what a host makes of names, schemas, descriptions and hints."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import anyio
import jsonschema_rs
import pytest
from agent import CAPSULE, Place, Start, Wire, connected, packet

import segue
from segue import examples

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest_plugins = ["mcp_fixtures"]

CORE = ["save", "resume", "get_context", "query_memory", "remember_this", "expand"]
NAMES = [
    *CORE,
    *("ls", "show", "rm", "chain", "example", "whoami", "capsule_write", "capsule_read", "propose_memory"),
    *("guard", "push", "pull"),
    *("search", "fetch"),
]
_WRITTEN = ["content", "layer", "kind", "entities", "tags", "project", "source_url", "occurred_at", "directory"]
ARGUMENTS = {
    "save": ["packet", "continues", "carry", "allow_unredacted", "replace", "directory"],
    "resume": ["id", "directory"],
    "ls": ["limit", "project", "tag", "search", "cursor", "directory"],
    "show": ["id"],
    "rm": ["id"],
    "chain": ["id", "directory"],
    "example": [],
    "whoami": ["directory"],
    "get_context": [
        *("task", "model", "surface", "token_budget", "intent", "session_id", "items", "since", "as_of", "project"),
        *("format", "graph", "pin", "cursor", "directory"),
    ],
    "query_memory": [
        *("find", "ask", "layers", "entities", "as_of", "valid_only", "min_relevance", "min_trust", "budget_tokens"),
        *("model", "expand", "k", "cursor", "directory"),
    ],
    "expand": ["ref", "direction", "limit"],
    "remember_this": _WRITTEN,
    "propose_memory": _WRITTEN,
    "capsule_write": ["capsule", "continues", "allow_unredacted", "directory"],
    "capsule_read": ["capsule", "id", "directory"],
    "guard": ["text", "receipt", "directory"],
    "push": ["id", "team", "replace"],
    "pull": ["id", "team", "replace"],
    "search": ["query"],
    "fetch": ["id"],
}
REQUIRED = {
    "save": ["packet"],
    "show": ["id"],
    "expand": ["ref"],
    "remember_this": ["content"],
    "propose_memory": ["content"],
    "capsule_write": ["capsule"],
    "rm": ["id"],
    "guard": ["text"],
    "push": ["id"],
    "pull": ["id"],
    "search": ["query"],
    "fetch": ["id"],
}
WRITING = ("save", "remember_this", "propose_memory", "capsule_write", "rm", "push", "pull")
OF_HOST = ("push", "pull")  # they need a host; see test_mcp_host
TEXTS = ("resume", "show", "example")  # answer with a text and no structure


@pytest.fixture(scope="module")
def tools(server: Wire) -> dict[str, dict[str, Any]]:
    return {tool["name"]: tool for tool in server.request("tools/list")["result"]["tools"]}


def schemas(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for each in value.values():
            yield from schemas(each)
    elif isinstance(value, list):
        for each in value:
            yield from schemas(each)


def test_names_in_their_order(tools: dict[str, dict[str, Any]]) -> None:
    assert list(tools) == NAMES
    assert all(re.fullmatch(r"[a-z_]{1,63}", name) for name in tools)


@pytest.mark.parametrize("name", NAMES)
def test_schemas_are_plain_objects(tools: dict[str, dict[str, Any]], name: str) -> None:
    schema = tools[name]["inputSchema"]
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert list(schema["properties"]) == ARGUMENTS[name]
    assert schema.get("required", []) == REQUIRED.get(name, [])
    for part in schemas(schema):
        assert {"anyOf", "oneOf", "allOf", "$ref", "$defs", "$schema", "$id"} & set(part) == set()
        assert None not in part.values()
        assert part.get("type") != "null"
        assert None not in part.get("enum", ())
    for argument in schema["properties"].values():
        assert isinstance(argument["type"], str)
        assert argument["description"]
    jsonschema_rs.meta.validate(schema)


@pytest.mark.parametrize("name", NAMES)
def test_descriptions(tools: dict[str, dict[str, Any]], name: str) -> None:
    tool = tools[name]
    assert 10 < len(tool["description"]) < 2_048
    for part in schemas(tool["inputSchema"]):
        assert len(str(part.get("description", ""))) < 2_048
    assert len(json.dumps(tool)) < 12_000


def test_hints(tools: dict[str, dict[str, Any]]) -> None:
    for name, tool in tools.items():
        hints = tool["annotations"]
        assert hints["readOnlyHint"] is (name not in WRITING)
        assert hints["destructiveHint"] is (name in ("rm", *OF_HOST))
        assert hints["openWorldHint"] is (name in OF_HOST)
        assert hints["idempotentHint"] is (name not in ("get_context", "rm"))


def test_the_example_satisfies_the_schema_of_save(tools: dict[str, dict[str, Any]]) -> None:
    schema = tools["save"]["inputSchema"]
    for name in (examples.FIRST, examples.SECOND):
        jsonschema_rs.validate(schema, {"packet": json.loads(examples.read(name))})
    draft = {"ltm_version": "0.2", "goal": "Ship it.", "next_step": "Run the tests."}
    jsonschema_rs.validate(schema, {"packet": draft})
    assert not jsonschema_rs.is_valid(schema, {"packet": draft, "unknown": 1})


# -- toolsets ---------------------------------------------------------------------------------------------------------


def named(wire: Wire) -> list[str]:
    return [tool["name"] for tool in wire.request("tools/list")["result"]["tools"]]


@pytest.mark.requirement("context-advertised")
@pytest.mark.parametrize(("toolset", "names"), [("core", CORE), ("chatgpt", ["search", "fetch"])])
def test_toolsets_are_advertisement(start: Start, toolset: str, names: list[str]) -> None:
    wire = start(toolset=toolset)
    wire.start()
    assert named(wire) == names
    assert not wire.call("example").refused  # not named, and there all the same
    assert f"the tools are {', '.join(names)}" in wire.refusal("forget")


def test_the_default_toolset_is_core(where: Place) -> None:
    async def session() -> None:
        async with connected(where, "--read-only", "--debug") as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["resume", *CORE[2:4], "expand"]
        async with connected(where, "--debug") as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == CORE

    anyio.run(session)


def test_full_is_no_longer_than_twenty() -> None:
    assert len(NAMES) <= 20


def test_an_unknown_toolset_is_refused(start: Start) -> None:
    code, _, errors = start(toolset="everything").stop()
    assert code == 3
    assert errors == "segue: the toolsets are core, chatgpt, full, not 'everything'\n"


# -- permissions ------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("context-advertised")
def test_a_server_that_only_reads_refuses_what_writes(where: Place, start: Start) -> None:
    writer = start()
    writer.start()
    saved = writer.call("save", packet=packet()).text
    before = writer.call("whoami").data
    wire = start("--read-only")
    assert "only reads" in wire.start()["instructions"]
    assert set(named(wire)) == set(NAMES) - set(WRITING)
    calls: dict[str, dict[str, Any]] = {
        "save": {"packet": packet(goal="Another.")},
        "remember_this": {"content": "The importer reads."},
        "propose_memory": {"content": "The importer reads."},
        "capsule_write": {"capsule": "x"},
        "rm": {"id": saved},
        "push": {"id": saved},
        "pull": {"id": saved},
        "get_context": {"pin": True},
    }
    assert set(calls) == {*WRITING, "get_context"}
    for tool, arguments in calls.items():
        assert "this server only reads" in wire.refusal(tool, **arguments)
    assert f"Packet:    {saved}" in wire.call("resume").text
    assert not wire.call("get_context", task="importer", session_id="s").refused
    assert writer.call("whoami").data == before
    with segue.open(where.segue_home / "segue.db", directory=where.project) as store:
        assert [each.provenance.origin for each in store.memories.ls().memories] == ["packet"] * 2


# -- output schemas ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_output_schemas_are_plain_objects(tools: dict[str, dict[str, Any]], name: str) -> None:
    schema = tools[name].get("outputSchema")
    assert (schema is None) is (name in TEXTS)
    if schema is None:
        return
    assert schema["type"] == "object"
    jsonschema_rs.meta.validate(schema)
    for part in schemas(schema):
        assert {"anyOf", "oneOf", "allOf", "$ref", "$defs", "$schema", "$id"} & set(part) == set()
        assert isinstance(part.get("type", ""), (str, dict))  # a property may have the name `type`
        assert part.get("type") != "null"
    for member in schema["properties"].values():
        assert member["description"]


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("save", {"packet": packet()}),
    ("resume", {}),
    ("ls", {}),
    ("show", {"id": "newest"}),
    ("chain", {}),
    ("example", {}),
    ("whoami", {}),
    ("remember_this", {"content": "The importer of Harbor reads manifests.", "entities": ["Harbor"]}),
    ("remember_this", {"content": "The importer of Harbor reads manifests.", "entities": ["Harbor"]}),
    ("propose_memory", {"content": "The user likes streams."}),
    *(
        ("get_context", {"task": "importer", "format": shape, "session_id": "s"})
        for shape in ("markdown", "smp", "json")
    ),
    *(("query_memory", {mode: "importer", "expand": "document"}) for mode in ("find", "ask")),
    ("query_memory", {"find": "nothing of the kind", "min_trust": 1}),
    *(
        ("expand", {"ref": ref, "direction": way})
        for ref in ("Harbor", "x")
        for way in ("document", "neighbors", "more")
    ),
    ("capsule_write", {"capsule": CAPSULE}),
    ("capsule_read", {}),
    ("guard", {"text": "All tests pass."}),
    ("guard", {"text": "Your preference has been recorded."}),
    ("guard", {"text": "It is saved to memory.", "receipt": "TX-0001"}),
    ("search", {"query": "importer"}),
    ("search", {"query": "nothing of the kind"}),
    ("fetch", {"id": "newest"}),
    ("rm", {"id": "newest"}),
]


def test_what_is_answered_keeps_to_its_schema_and_is_never_empty(start: Start) -> None:
    assert {name for name, _ in CALLS} == set(NAMES) - set(OF_HOST)
    wire = start()
    wire.start()
    tools = {tool["name"]: tool for tool in wire.request("tools/list")["result"]["tools"]}
    saved = ""
    for name, arguments in CALLS:
        given = {key: saved if value == "newest" else value for key, value in arguments.items()}
        answer = wire.call(name, **given)
        assert not answer.refused, answer.text
        assert answer.text.strip()
        saved = answer.text if name == "save" else saved
        if name in TEXTS:
            assert answer.data is None
        else:
            assert answer.data
            jsonschema_rs.Draft202012Validator(tools[name]["outputSchema"]).validate(answer.data)
            assert tools[name]["outputSchema"].get("required") is not None or name == "get_context"


# -- the reference (facts, section 000.5) -----------------------------------------------------------------------------

REFERENCE: list[tuple[str, dict[str, Any], str]] = [
    ("ls", {}, r"No packets on server\."),
    ("show", {}, r"error: missing 'id' argument"),
    ("rm", {}, r"error: missing 'id' argument"),
    ("save", {}, r"error: missing 'packet' argument"),
    ("save", {"packet": {"goal": "x"}}, r"error: rejected: .*"),
    ("resume", {"id": "nothing"}, r"error: .*"),
    ("save", {"packet": packet(id="packet-0001", created_at="2026-05-01T09:30:00Z")}, r"packet-0001"),
    ("ls", {"limit": 0}, r"ID +CREATED +GOAL\npacket-0001 +2026-05-01T09:30:00Z  Ship the importer\."),
    ("ls", {"limit": 1_000}, r"ID +CREATED +GOAL\npacket-0001 +2026-05-01T09:30:00Z  Ship the importer\."),
    ("show", {"id": "packet-0001"}, r"ID: +packet-0001\n.*"),
    ("resume", {"id": "packet-0001"}, r"# Resume context — ltm Core Memory Packet\n.*"),
    ("example", {}, r"\{.*\}"),
    ("whoami", {}, r"\{.*\}"),
    ("rm", {"id": "packet-0001"}, r"deleted packet-0001"),
    ("ls", {}, r"No packets on server\."),
]


def test_names_and_texts_of_the_reference(start: Start) -> None:
    wire = start()
    wire.start()
    for tool, arguments, text in REFERENCE:
        answer = wire.call(tool, **arguments)
        assert re.fullmatch(text, answer.text, re.DOTALL), (tool, answer.text)
        assert answer.refused is text.startswith("error")


def test_instructions(start: Start) -> None:
    instructions = start().start()["instructions"]
    assert len(instructions) < 2_048
    first, _, _ = instructions.partition(". ")
    for word in ("`resume`", "`save`"):
        assert word in first
    for name in CORE:
        assert f"`{name}`" in instructions


def test_instructions_name_no_tool_that_a_connector_lacks(start: Start) -> None:
    instructions = start(toolset="chatgpt").start()["instructions"]
    assert re.findall(r"`(\w+)`", instructions) == ["search", "fetch"]
