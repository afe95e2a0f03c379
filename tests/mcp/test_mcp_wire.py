"""The process and its lines: nothing but JSON-RPC on stdout, an answer to whatever comes in, an end when stdin ends."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sqlite3
import time

import pytest
from agent import Place, Start, Wire, packet

pytest_plugins = ["mcp_fixtures"]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-11-25"])
def test_every_revision_of_the_handshake(start: Start, version: str) -> None:
    wire = start(real=True)
    found = wire.start(version)
    assert found["protocolVersion"] == version
    assert found["serverInfo"]["name"] == "segue"
    assert "tools" in found["capabilities"]
    assert not wire.call("whoami").refused
    assert wire.request("ping")["result"] == {}


def test_stdout_holds_messages_alone(start: Start) -> None:
    wire = start(env={"PYTHONWARNINGS": "default", "PYTHONDEVMODE": "1", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"})
    wire.start()  # the first run of a store: its tables are made here
    wire.call("save", packet=packet(goal="Grüße 導入 👩\u200d👧."))
    wire.call("resume")
    wire.refusal("show", id="nothing")
    code, _, errors = wire.stop()
    assert code == 0
    assert "Traceback" not in errors
    assert len(wire.received) == 4


def test_a_server_without_client_ends_at_once(start: Start) -> None:
    code, seconds, errors = start(real=True).stop()
    assert (code, errors) == (0, "")
    assert seconds < 30  # the start is in it


def test_the_process_ends_soon_after_stdin(start: Start) -> None:
    wire = start(real=True)
    wire.start()
    wire.call("ls")
    code, seconds, errors = wire.stop()
    assert (code, errors) == (0, "")
    assert seconds < 1


def test_calls_that_run_when_stdin_ends_are_whole_or_absent(where: Place, start: Start) -> None:
    wire = start()
    wire.start()
    for number in range(10):
        wire.post("tools/call", {"name": "save", "arguments": {"packet": packet(goal=f"Take step {number}.")}})
    assert wire.stop()[0] == 0
    after = start()
    after.start()
    listed = after.call("ls").data
    assert listed is not None
    assert len(listed["packets"]) <= 10
    for each in listed["packets"]:
        assert not after.call("resume", id=each["id"]).refused


def test_starting_and_stopping_leaves_nothing_behind(where: Place, start: Start) -> None:
    def files() -> set[str]:
        return {str(path.relative_to(where.root)) for path in where.root.rglob("*")}

    expected = {"project", "home", "home/segue", "home/segue/segue.db", "home/segue/segue.db.lock"}
    for number in range(50):
        wire = start(real=number < 2)
        wire.start()
        wire.call("ls")
        assert wire.stop()[0] == 0
        with pytest.raises(ProcessLookupError):
            os.kill(wire.process.pid, 0)
        assert files() <= expected


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_terminated_server_ends_at_once_and_leaves_a_sound_store(
    where: Place, start: Start, number: signal.Signals
) -> None:
    wire = start(real=True)
    wire.start()
    saved = wire.call("save", packet=packet()).text
    begun = time.monotonic()
    wire.process.send_signal(number)
    assert wire.process.wait(60) == -number
    assert time.monotonic() - begun < 1
    assert "Traceback" not in wire.process.communicate()[1].decode()
    again = start()
    again.start()
    assert f"Packet:    {saved}" in again.call("resume").text


CALL = b'{"jsonrpc": "2.0", "id": "seven", "method": "tools/call", "params": '


@pytest.mark.parametrize(
    ("line", "number", "code"),
    [
        (b"nonsense", None, -32700),
        (b"{", None, -32700),
        (b"\xff\xfe", None, -32700),
        (b"[" * 5_000 + b"]" * 5_000, None, -32700),
        (b"[]", None, -32600),
        (b'{"id": "seven", "method": "ping"}', None, -32600),
        (b'{"jsonrpc": "2.0", "id": "seven", "method": "forget"}', "seven", -32601),
        (CALL + b'{"name": "ls", "arguments": []}}', "seven", -32602),
        # Half an emoji, as a host writes it that cuts a text at a fixed length.
        (CALL + rb'{"name": "show", "arguments": {"id": "\ud83d"}}}', "seven", -32700),
    ],
)
def test_lines_that_are_no_request_have_an_answer(server: Wire, line: bytes, number: str | None, code: int) -> None:
    server.send(line)
    answer = server.receive()
    assert answer["id"] == number
    assert answer["error"]["code"] == code
    assert not server.call("ls").refused  # and the server goes on


def test_lines_that_need_no_answer_have_none(server: Wire) -> None:
    before = len(server.received)
    for line in (b"", b"   ", b'{"jsonrpc": "2.0", "method": "notifications/unknown"}'):
        server.send(line)
    assert server.request("ping")["result"] == {}
    assert len(server.received) == before + 1


def test_the_largest_lines(server: Wire) -> None:
    said = server.refusal("save", packet=packet(goal="w" * 2_000_000))
    assert "max is 32768" in said
    assert len(said) < 200


def test_answers_come_back_to_their_questions(server: Wire) -> None:
    questions: dict[int, str] = {}
    for number in range(30):
        tool, arguments = (("show", {"id": f"nothing-{number}"}), ("whoami", {}), ("example", {}))[number % 3]
        questions[server.post("tools/call", {"name": tool, "arguments": arguments})] = tool
    answers = [server.receive() for _ in questions]
    assert {answer["id"] for answer in answers} == set(questions)
    for answer in answers:
        tool = questions[answer["id"]]
        text = answer["result"]["content"][0]["text"]
        assert {"show": text.startswith("error: "), "whoami": '"store"' in text, "example": "ltm_version" in text}[tool]


def test_another_database_by_its_variable(where: Place, start: Start) -> None:
    wire = start(env={"SEGUE_DB": str(where.root / "elsewhere" / "my.db")})
    wire.start()
    about = json.loads(wire.call("whoami").text)
    assert about["store"] == str(where.root / "elsewhere" / "my.db")
    assert not where.segue_home.exists()


# -- stdout, whatever the surroundings --------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [(), ("--debug",)])
def test_a_noisy_server_in_broken_surroundings_keeps_stdout_clean(
    where: Place, start: Start, arguments: tuple[str, ...]
) -> None:
    where.segue_home.mkdir(parents=True)
    (where.segue_home / "config.toml").write_text("[context\nbroken", "utf-8")
    noisy = {"PYTHONWARNINGS": "default", "PYTHONDEVMODE": "1", "PYTHONVERBOSE": "", "SEGUE_DEBUG": "1"}
    wire = start(*arguments, env=noisy)
    wire.start("2025-11-25")
    assert "config.toml" in wire.refusal("get_context", task="x")
    (where.project / "segue.toml").write_text("[project\nbroken", "utf-8")
    assert "segue.toml" in wire.refusal("resume")
    assert "segue.toml" in wire.refusal("remember_this", content="The importer reads.")
    assert not wire.call("remember_this", content="The importer reads.", project="").refused
    for method, params in (("resources/list", {}), ("prompts/get", {"name": "resume"})):
        assert "segue.toml" in wire.request(method, params)["error"]["message"]
    code, _, errors = wire.stop()
    assert code == 0
    assert "segue.mcp: remember_this took " in errors
    assert "The importer reads." not in errors


def test_what_a_tool_prints_is_not_on_stdout(where: Place, start: Start) -> None:
    """A library that prints, in this process or in a child, must not end the connection."""
    site = where.root / "site"
    site.mkdir()
    printing = "import os, segue.packets.summary as one\nwas = one.render\n"
    printing += (
        "def render(*a):\n    print('noise'); os.system('echo more noise'); return was(*a)\none.render = render\n"
    )
    (site / "sitecustomize.py").write_text(printing, "utf-8")
    wire = start(env={"PYTHONPATH": str(site)})
    wire.start()
    saved = wire.call("save", packet=packet()).text
    assert saved in wire.call("show", id=saved).text
    assert "noise" in wire.stop()[2]


@pytest.mark.skipif(not hasattr(fcntl, "F_SETPIPE_SZ"), reason="pipes have one size here")
def test_a_host_that_does_not_read_stderr_stops_nothing(start: Start) -> None:
    wire = start("--debug", real=True)
    assert wire.process.stderr is not None
    fcntl.fcntl(wire.process.stderr.fileno(), fcntl.F_SETPIPE_SZ, 4_096)
    wire.start()
    for _ in range(300):  # a line each, twice what the pipe holds
        assert not wire.call("example").refused
    _, seconds, errors = wire.stop()
    assert seconds < 1
    assert len(errors) > 4_000


# -- the end ----------------------------------------------------------------------------------------------------------


def test_a_call_that_hangs_does_not_keep_the_process(where: Place, start: Start) -> None:
    """The store is locked by another, so the write waits; the client goes; the process goes within a second."""
    first = start()
    first.start()
    first.call("ls")
    with sqlite3.connect(where.segue_home / "segue.db", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        wire = start(real=True)
        wire.start()
        wire.post("tools/call", {"name": "remember_this", "arguments": {"content": "The importer reads."}})
        assert wire.request("ping")["result"] == {}  # the call is on its thread by now
        _, seconds, errors = wire.stop()
        other.execute("ROLLBACK")
    other.close()
    assert seconds < 1
    assert "Traceback" not in errors
    found = first.call("query_memory", find="The importer reads.").data
    assert found is not None
    assert found["items"] == []


def test_a_client_that_does_not_read_does_not_keep_the_process(start: Start) -> None:
    wire = start(real=True)
    wire.start()
    for _ in range(40):
        wire.post("tools/list")
    time.sleep(0.2)  # the pipe is full by now; stdin closes while nobody reads
    assert wire.leave() < 1


def test_calls_run_side_by_side(where: Place, start: Start) -> None:
    """One that waits for the store keeps no other from its answer: each has a thread of its own."""
    wire = start()
    wire.start()
    wire.call("ls")
    with sqlite3.connect(where.segue_home / "segue.db", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        waiting = wire.post("tools/call", {"name": "remember_this", "arguments": {"content": "The importer reads."}})
        assert not wire.call("ls").refused
        assert not any(each.get("id") == waiting for each in wire.received)
        other.execute("ROLLBACK")
    other.close()
    while not any(each.get("id") == waiting for each in wire.received):
        wire.receive()


# -- refusals in the era without a handshake --------------------------------------------------------------------------

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def test_refusals_are_results_without_a_handshake_too(start: Start) -> None:
    wire = start()
    for name, arguments, text in (
        ("forget", {}, "there is no tool 'forget'"),
        ("ls", {"unknown": 1}, "unknown argument 'unknown'"),
        ("show", {"id": "nothing"}, "no packet has the id 'nothing'"),
        ("show", {}, "missing 'id' argument"),
    ):
        answer = wire.request("tools/call", {"name": name, "arguments": arguments, "_meta": ENVELOPE})
        assert answer["result"]["isError"] is True
        assert text in answer["result"]["content"][0]["text"]
    assert "tools" in wire.request("server/discover", {"_meta": ENVELOPE})["result"]["capabilities"]
    assert wire.stop()[0] == 0
