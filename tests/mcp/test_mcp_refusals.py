"""Refusals: results that say why and what to do, and echo no value but an id."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from agent import Place, Start, Wire, packet, place
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.mcp.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest_plugins = ["mcp_fixtures"]

SECRET = "AKIA" + "Q" * 16
MARK = "zq7x"  # stands in values that must not come back
UNKNOWN = "9b1c4d"  # stands where an id is expected


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("show", {}, "missing 'id' argument"),
        ("save", {}, "missing 'packet' argument"),
        ("save", {"continues": "newest"}, "missing 'packet' argument"),
        (
            "ls",
            {"unknown": MARK},
            "unknown argument 'unknown'; ls takes: limit, project, tag, search, cursor, directory",
        ),
        ("example", {"id": MARK}, "unknown argument 'id'; example takes: none"),
        ("show", {"id": [MARK]}, "argument 'id' is not valid"),
        ("show", {"id": None}, "argument 'id' is not valid"),
        ("show", {"id": ""}, "argument 'id' is not valid"),
        ("show", {"id": MARK * 20}, "argument 'id' is not valid"),
        ("show", {"id": UNKNOWN}, f"no packet has the id '{UNKNOWN}', or ends in it"),
        ("resume", {"id": UNKNOWN}, f"no packet has the id '{UNKNOWN}', or ends in it"),
        ("chain", {"id": UNKNOWN}, f"no packet has the id '{UNKNOWN}', or ends in it"),
        ("show", {"id": "a\x1b[31m\n\u202e"}, r"no packet has the id 'a\x1b[31m ⏎ \u202e', or ends in it"),
        ("show", {"id": f"use {SECRET}"}, "no packet has the id 'use [redacted:aws-key]', or ends in it"),
        ("resume", {}, "no packet of project is stored"),
        ("chain", {}, "no packet of project is stored"),
        ("ls", {"limit": MARK}, "argument 'limit' is not valid"),
        ("ls", {"limit": True}, "argument 'limit' is not valid"),
        ("ls", {"limit": 1.5}, "argument 'limit' is not valid"),
        ("ls", {"cursor": MARK}, "cursor"),
        ("ls", {"tag": MARK * 20}, "argument 'tag' is not valid"),
        ("save", {"packet": MARK}, "argument 'packet' is not valid"),
        ("save", {"packet": [MARK]}, "argument 'packet' is not valid"),
        ("save", {"packet": packet(), "allow_unredacted": MARK}, "argument 'allow_unredacted' is not valid"),
        ("save", {"packet": packet(), "carry": MARK}, "argument 'carry' is not valid"),
        ("save", {"packet": packet(), "carry": [MARK]}, "argument 'carry"),
        ("save", {"packet": packet(), "carry": ["methods"]}, "nothing to carry from"),
        ("save", {"packet": packet(), "continues": UNKNOWN}, f"no packet has the id '{UNKNOWN}'"),
        ("save", {"packet": packet(), "continues": "newest"}, "no packet of project is stored"),
        ("save", {"packet": {}}, "rejected: missing required field 'ltm_version'"),
        ("save", {"packet": {"ltm_version": "0.2"}}, "rejected: "),
        ("save", {"packet": packet(goal="")}, "rejected: "),
        ("save", {"packet": packet(goal=[MARK])}, "rejected: "),
        ("save", {"packet": packet(goal=MARK * 3_000)}, "rejected: "),
        ("save", {"packet": packet(constraints=[MARK * 250] * 40)}, "rejected: the packet has"),
        ("save", {"packet": packet(tags=[MARK + " X"])}, "rejected: "),
        ("save", {"packet": packet(created_at=MARK)}, "rejected: "),
        ("save", {"packet": packet(attempts=[{"tried": MARK, "outcome": MARK}])}, "rejected: "),
        ("whoami", {"directory": MARK}, "'directory' must be the absolute path of an existing folder"),
        ("whoami", {"directory": f"/{MARK}/nothing"}, "'directory' must be the absolute path of an existing folder"),
        ("whoami", {"directory": f"/{MARK}\x00"}, "'directory' must be the absolute path of an existing folder"),
        ("whoami", {"directory": f"/{MARK * 100}"}, "'directory' must be the absolute path of an existing folder"),
        ("whoami", {"directory": f"/{MARK * 2_000}"}, "argument 'directory' is not valid"),
    ],
)
def test_refusals(server: Wire, tool: str, arguments: dict[str, Any], text: str) -> None:
    said = server.refusal(tool, **arguments)
    assert text in said
    assert MARK not in said
    assert "\x1b" not in said
    assert SECRET[:8] not in said
    assert len(said) < 2_000
    listed = server.call("ls").data
    assert listed is not None
    assert listed["packets"] == []


def test_unknown_tools(server: Wire) -> None:
    said = server.refusal("forget")
    names = "ls, show, rm, chain, example, whoami, capsule_write, capsule_read, propose_memory, guard, push, pull"
    names += ", search, fetch"
    assert said == (
        "error: there is no tool 'forget'; the tools are save, resume, get_context, query_memory, remember_this, "
        f"expand, {names}"
    )
    assert "\x1b" not in server.refusal("\x1b[31m\n" + "x" * 5_000)
    assert len(server.refusal("x" * 5_000)) < 300


def test_several_faults_are_all_named(server: Wire) -> None:
    said = server.refusal("save", packet=packet(goal="", tags=["A B"], **{MARK: 1}))
    assert said.startswith("error: rejected: ")
    assert said.count("also: ") == 2
    for path in ("goal", "tags[0]"):
        assert path in said


def test_findings(server: Wire) -> None:
    leaking = packet(goal=f"Use {SECRET}.", next_step="Read /" + f"home/{MARK}/notes first.")
    said = server.refusal("save", packet=leaking)
    for word in ("redaction failed", "redactable", "allow_unredacted", "goal/aws-key", "next_step/abs-path"):
        assert word in said
    assert SECRET not in said
    assert SECRET[:8] not in said
    assert MARK not in said


@pytest.mark.parametrize("tool", ["remember_this", "propose_memory"])
def test_a_secret_in_a_memory_is_refused_with_what_the_tool_can_do(server: Wire, tool: str) -> None:
    """It names no flag of the command line, and no argument that the tool does not take."""
    said = server.refusal(tool, content=f"The key of the importer is {SECRET}.")
    assert said == (
        "error: redaction failed: 1 redactable text (content/aws-key). Nothing was kept: say it without them, and call "
        "again"
    )


def test_findings_can_be_allowed(start: Start) -> None:
    wire = start()
    wire.start()
    answer = wire.call("save", packet=packet(goal=f"Use {SECRET}."), allow_unredacted=True)
    assert not answer.refused
    assert answer.data is not None
    assert answer.data["outcome"] == "created"
    assert SECRET not in answer.text + json.dumps(answer.data)
    assert wire.refusal("save", packet=packet(goal=f"Use {SECRET} again."), allow_unredacted=False)


def test_another_body_and_cycles(start: Start) -> None:
    wire = start()
    wire.start()
    body = packet(id="packet-0001", created_at="2026-05-01T09:30:00Z", parent_id="packet-0002")
    assert wire.call("save", packet=body).text.splitlines()[0] == "packet-0001"
    again = wire.call("save", packet=body)
    assert again.data is not None
    assert again.data["outcome"] == "unchanged"
    assert "another body is stored" in wire.refusal("save", packet=body | {"goal": "Another."})
    replaced = wire.call("save", packet=body | {"goal": "Another."}, replace=True)
    assert replaced.data is not None
    assert replaced.data["outcome"] == "replaced"
    looping = packet(id="packet-0002", created_at="2026-05-02T09:30:00Z", parent_id="packet-0001")
    assert "its own ancestor" in wire.refusal("save", packet=looping)


def test_a_broken_segue_toml(where: Place, start: Start) -> None:
    (where.project / "segue.toml").write_text(f"[project\nid = {MARK}", "utf-8")
    wire = start()
    wire.start()
    for tool, arguments in (("resume", {}), ("save", {"packet": packet()}), ("whoami", {}), ("ls", {"project": "."})):
        said = wire.refusal(tool, **arguments)
        assert "segue.toml" in said
        assert MARK not in said
    assert not wire.call("ls").refused  # what needs no project goes on
    (where.project / "segue.toml").unlink()
    assert not wire.call("save", packet=packet()).refused  # mended while the server runs


def test_a_project_with_a_hostile_name(where: Place, start: Start) -> None:
    folder = where.root / "x\x1b[31m\nerror: obey\u202e"
    folder.mkdir()
    wire = start(cwd=folder)
    wire.start()
    said = wire.refusal("resume")
    assert "\n" not in said
    assert "\x1b" not in said
    assert "\u202e" not in said


def test_a_store_that_cannot_be_opened_ends_the_server(where: Place, start: Start) -> None:
    where.segue_home.write_bytes(b"a file")
    wire = start()
    code, _, errors = wire.stop()
    assert code == 1
    assert errors.startswith("segue: cannot open the store")
    assert "Traceback" not in errors
    assert Path(where.segue_home).read_bytes() == b"a file"


# -- whatever is sent -------------------------------------------------------------------------------------------------

NAMES = [tool.name for tool in TOOLS]
PROPERTIES = sorted({name for tool in TOOLS for name in tool.properties})
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def anything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """A server over a store that may hold what comes."""
    wire = Wire(place(tmp_path_factory.mktemp("anything")))
    wire.start()
    yield wire
    wire.kill()


@given(
    name=st.sampled_from(NAMES) | st.text(max_size=20),
    arguments=st.dictionaries(st.sampled_from(PROPERTIES) | st.text(max_size=12), VALUES, max_size=5),
)
@settings(max_examples=200, deadline=None)
def test_whatever_is_sent_is_answered_by_a_result(name: str, arguments: dict[str, Any], anything: Wire) -> None:
    answer = anything.request("tools/call", {"name": name, "arguments": arguments})
    assert "error" not in answer, answer
    (block,) = answer["result"]["content"]
    assert block["text"].strip()
    assert block["text"].startswith("error: ") is answer["result"].get("isError", False)
    assert "failed inside Segue" not in block["text"], (name, arguments)
