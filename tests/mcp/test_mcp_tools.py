"""The list of tools: what a host makes of names, schemas, descriptions and hints."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest

from segue import examples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent import Wire

pytest_plugins = ["mcp_fixtures"]

NAMES = [
    *("save", "resume", "ls", "show", "chain", "example", "whoami"),
    *("get_context", "query_memory", "expand", "remember_this", "propose_memory"),
    *("capsule_write", "capsule_read"),
]
_WRITTEN = ["content", "layer", "kind", "entities", "tags", "project", "source_url", "occurred_at", "directory"]
ARGUMENTS = {
    "save": ["packet", "continues", "carry", "allow_unredacted", "replace", "directory"],
    "resume": ["id", "directory"],
    "ls": ["limit", "project", "tag", "search", "cursor", "directory"],
    "show": ["id"],
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
}
REQUIRED = {
    "save": ["packet"],
    "show": ["id"],
    "expand": ["ref"],
    "remember_this": ["content"],
    "propose_memory": ["content"],
    "capsule_write": ["capsule"],
}
WRITING = ("save", "remember_this", "propose_memory", "capsule_write")


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
        assert hints["destructiveHint"] is False
        assert hints["openWorldHint"] is False
        assert hints["idempotentHint"] is (name != "get_context")


def test_the_example_satisfies_the_schema_of_save(tools: dict[str, dict[str, Any]]) -> None:
    schema = tools["save"]["inputSchema"]
    for name in (examples.FIRST, examples.SECOND):
        jsonschema_rs.validate(schema, {"packet": json.loads(examples.read(name))})
    draft = {"ltm_version": "0.2", "goal": "Ship it.", "next_step": "Run the tests."}
    jsonschema_rs.validate(schema, {"packet": draft})
    assert not jsonschema_rs.is_valid(schema, {"packet": draft, "unknown": 1})
