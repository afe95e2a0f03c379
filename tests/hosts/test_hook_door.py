"""The door: whatever comes in, and whatever state the store is in, the host goes on."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import segue
from hosts.hook_samples import EVENTS, NOW, Host, lines, transcript
from segue.hosts import embedded, hook, pre_compact

if TYPE_CHECKING:
    from collections.abc import Mapping

ANSWERING = [event for event in EVENTS if event != "stop"]
HEAVY = {"sqlalchemy", "numpy", "pydantic", "typer", "rich", "fastapi", "mcp", "alembic", "psycopg", "ulid"}


@pytest.fixture
def host(tmp_path: Path) -> Host:
    """A host over a store in which each event finds something to answer."""
    (tmp_path / "shop").mkdir()
    made = Host(tmp_path / "shop", tmp_path / "segue.db")
    with segue.open(made.store, directory=made.folder, clock=lambda: NOW) as opened:
        opened.packets.save({"ltm_version": "0.2", "goal": "Ship the importer.", "next_step": "Run the tests."})
        opened.memories.remember("We use PostgreSQL as the database for orders.", kind="decision")
    (made.folder / "recorded.jsonl").write_bytes(lines(transcript("Make the importer read columns by their header.")))
    return made


def changed(host: Host, statement: str) -> None:
    with closing(sqlite3.connect(host.store)) as connection, connection:
        connection.execute(statement)


def process(host: Host, *arguments: str, data: bytes, **environment: str) -> subprocess.CompletedProcess[bytes]:
    variables = {**os.environ, "SEGUE_DB": str(host.store), "PYTHONWARNINGS": "default", **environment}
    command = [sys.executable, "-m", "segue", "hook", *arguments]
    return subprocess.run(command, input=data, env=variables, cwd=host.folder, capture_output=True, timeout=60)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" \n",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b"\xff\xfe\x00",
        b"{}" * 3,
        b"[" * 100_000,
        b'{"a":' * 3_000,
        b"x" * 1_000_000,
    ],
)
@pytest.mark.parametrize("event", EVENTS)
def test_what_is_no_call_is_said_in_a_line(host: Host, event: str, data: bytes) -> None:
    said, note = host.sends(event, data)
    assert said is None
    assert note == f"{event}: standard input holds no JSON object"


def test_more_than_a_host_sends_is_refused(host: Host) -> None:
    data = json.dumps({"prompt": "x" * hook.MOST_INPUT}).encode()
    assert host.sends("user-prompt-submit", data)[1].startswith("user-prompt-submit: the host sent more than")


def test_a_byte_order_mark_does_no_harm(host: Host) -> None:
    data = b"\xef\xbb\xbf" + json.dumps(host.given("session-start")).encode()
    assert host.sends("session-start", data)[0]


_STATEMENTS = {
    "older": "UPDATE alembic_version SET version_num = '0001'",
    "newer": "UPDATE alembic_version SET version_num = '9999'",
    "without tables": "DROP TABLE context_sessions; DROP TABLE packet_tags",
}


def unusable(host: Host, state: str) -> Host:
    """The host over a store in a state in which no hook can use it."""
    if state in _STATEMENTS:
        for statement in _STATEMENTS[state].split(";"):
            changed(host, statement)
        return host
    if state == "folder":
        return Host(host.folder, host.folder)
    if state == "no path":
        return Host(host.folder, host.store.with_name("x" * 300))
    store = host.store.with_name(f"{state}.db")
    data = host.store.read_bytes()
    contents = {"empty": b"", "text": b"no database " * 1_000, "damaged": data[:100] + b"\xaa" * 20_000 + data[20_100:]}
    if state in contents:
        store.write_bytes(contents[state])
    if state == "foreign":
        with closing(sqlite3.connect(store)) as connection, connection:
            connection.execute("CREATE TABLE t (a)")
    return Host(host.folder, store)


@pytest.mark.parametrize(
    "state",
    ["missing", "no path", "folder", "older", "newer", "foreign", "empty", "text", "damaged", "without tables"],
)
@pytest.mark.parametrize("event", ANSWERING)
def test_a_store_that_cannot_be_used_is_said_in_a_line(host: Host, event: str, state: str) -> None:
    over = unusable(host, state)
    answered, note = over.calls(event, transcript_path=str(host.folder / "recorded.jsonl"))
    assert answered is None
    assert note.startswith(f"{event}: ")
    assert "internal error" not in note
    if state == "missing":
        assert not over.store.exists()


@pytest.mark.parametrize("event", ANSWERING)
def test_a_server_is_not_asked(host: Host, event: str) -> None:
    environment = {"SEGUE_DB": "postgresql+psycopg://somebody:" + "secret" + "@db.example/segue"}
    data = json.dumps(host.given(event, transcript_path=str(host.folder / "recorded.jsonl"))).encode()
    said, note = hook.answer(event, [], data, environment)
    assert said == b""
    assert "names a server" in note
    assert "secret" not in note


@pytest.mark.parametrize("event", ANSWERING)
def test_a_locked_store_is_not_waited_for(host: Host, event: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "WRITE_SECONDS", 0.05)
    monkeypatch.setattr(pre_compact, "WAITED", 0.05)
    with closing(sqlite3.connect(host.store, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        started = time.monotonic()
        answered, note = host.calls(event, transcript_path=str(host.folder / "recorded.jsonl"))
        assert time.monotonic() - started < 10
    if event == "session-start":  # it only has to be read
        assert (bool(answered), note) == (True, "")
    else:
        assert answered is None
        assert "another process holds it" in note


def test_rows_that_do_not_read_do_no_harm(host: Host) -> None:
    changed(host, "UPDATE memories SET captured_us = 'soon', entities = 7")
    answered, note = host.calls("session-start")
    assert answered is None
    assert "does not read" in note
    changed(host, "UPDATE memory_index SET terms = 5")
    assert host.calls("user-prompt-submit")[0] is None


def test_a_session_that_does_not_read_does_no_harm(host: Host) -> None:
    assert host.calls("user-prompt-submit")[0]
    changed(host, "UPDATE context_sessions SET known = '[]'")
    answered, note = host.calls("user-prompt-submit")
    assert answered is None
    assert "segue session reset" in note


def test_a_store_that_cannot_be_written(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "_mode", lambda _path: "mode=ro")
    assert "Ship the importer." in host.told("session-start")
    for event in ("user-prompt-submit", "pre-compact"):
        answered, note = host.calls(event, session_id="another", transcript_path=str(host.folder / "recorded.jsonl"))
        assert answered is None
        assert "cannot be written" in note


@pytest.mark.parametrize(
    "members", [{"cwd": None}, {"cwd": 7}, {"cwd": "none"}, {"cwd": "/x\0y"}, {"cwd": "/none/at/all"}]
)
@pytest.mark.parametrize("event", ANSWERING)
def test_a_folder_that_is_none(host: Host, event: str, members: dict[str, Any]) -> None:
    answered, note = host.calls(event, **members, transcript_path=str(host.folder / "recorded.jsonl"))
    assert answered is None
    assert "no folder that exists" in note


@pytest.mark.parametrize("options", [["--nonsense"], ["--now"], ["--now", "soon"]])
def test_wrong_options_are_said_in_a_line(host: Host, options: list[str]) -> None:
    said, note = hook.answer("stop", options, json.dumps(host.given("stop")).encode(), {})
    assert said == b""
    assert note.startswith("stop: ")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
members = st.fixed_dictionaries(
    {},
    optional={
        name: values | st.sampled_from(["startup", "compact", "PostgreSQL database orders", "I saved this to memory."])
        for name in (
            *("session_id", "transcript_path", "cwd", "source", "prompt", "trigger"),
            *("last_assistant_message", "stop_hook_active", "hook_event_name"),
        )
    },
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(event=st.sampled_from(sorted(EVENTS)), changes=members, keep=st.booleans())
def test_any_json_gives_an_answer_or_a_line(host: Host, event: str, changes: Mapping[str, Any], keep: bool) -> None:
    said = {**(host.given(event) if keep else {}), **changes}
    answered, note = host.sends(event, json.dumps(said).encode())
    assert answered is None or not note


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=60), at=st.integers(0, 4_000), gone=st.integers(0, 400), value=values)
def test_any_transcript_gives_a_draft_or_a_line(host: Host, data: bytes, at: int, gone: int, value: object) -> None:
    records: list[Any] = [
        *transcript("Make the importer read columns by their header."),
        {"message": value, "type": "user"},
    ]
    whole = lines(records)
    path = host.folder / "fuzzed.jsonl"
    path.write_bytes(whole[:at] + data + whole[at + gone :])
    answered, note = host.calls("pre-compact", transcript_path=str(path))
    assert answered is None
    assert note == ""


def test_as_a_process(host: Host) -> None:
    """Each event once: the exit code, what is printed, and what is imported."""
    script = (
        "import sys, json\nfrom segue.__main__ import main\ntry:\n    main()\nexcept SystemExit as end:\n"
        "    print(json.dumps([end.code, sorted({n.partition('.')[0] for n in sys.modules})]), file=sys.stderr)\n"
    )
    for event in EVENTS:
        said = host.given(
            event,
            transcript_path=str(host.folder / "recorded.jsonl"),
            last_assistant_message="I have saved this to memory.",
            session_id=f"process-{event}",
        )
        done = subprocess.run(
            [sys.executable, "-c", script, "hook", event],
            input=json.dumps(said).encode(),
            env={**os.environ, "SEGUE_DB": str(host.store)},
            capture_output=True,
            timeout=60,
        )
        code, names = json.loads(done.stderr.splitlines()[-1])
        assert code == 0
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert HEAVY.isdisjoint(names), event
        assert json.loads(done.stdout) if event != "pre-compact" else done.stdout == b""


def test_wrong_use_ends_well_too(host: Host) -> None:
    for arguments in ([], ["no-such-event"], ["stop", "--help"]):
        done = process(host, *arguments, data=b"{}")
        assert (done.returncode, done.stdout) == (0, b"")
        assert len(done.stderr.splitlines()) == 1


def test_closed_streams_end_well(host: Host) -> None:
    program = f"{sys.executable} -m segue hook session-start <&- >&- 2>&-"
    variables = {**os.environ, "SEGUE_DB": str(host.store)}
    assert subprocess.run(["sh", "-c", program], env=variables, timeout=60).returncode == 0


def test_a_host_that_does_not_close_the_stream(host: Host) -> None:
    command = [sys.executable, "-m", "segue", "hook", "session-start"]
    variables = {**os.environ, "SEGUE_DB": str(host.store)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=variables) as running:
        assert running.stdin is not None
        running.stdin.write(json.dumps(host.given("session-start")).encode())
        running.stdin.flush()
        assert running.wait(60) == 0
        assert running.stdout is not None
        assert json.load(running.stdout)


def asleep() -> bytes:
    time.sleep(30)
    return b""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this platform has no alarm")
def test_the_time_runs_out(host: Host, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(hook, "EVENTS", {"stop": ("segue.hosts.stop", 0.05)})
    monkeypatch.setattr(hook, "read", asleep)
    before = signal.getsignal(signal.SIGALRM)
    assert hook.main(["stop"]) == 0
    assert signal.getsignal(signal.SIGALRM) is before
    assert capfd.readouterr() == ("", "segue: stop: it took too long\n")


def test_what_hears_no_alarm_is_ended() -> None:
    script = (
        "import time, signal\nfrom segue.hosts import deadline\ndeadline._GRACE = 0.2\n"
        "with deadline.limited(0.05, lambda: print('last words', flush=True)):\n"
        "    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])\n    time.sleep(30)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=30)
    assert (done.returncode, done.stdout) == (0, b"last words\n")


def test_fifty_cycles_leave_nothing_behind(host: Host) -> None:
    before = sorted(host.folder.parent.rglob("*"))
    open_files = len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else 0
    for number in range(50):
        for event in EVENTS:
            path = str(host.folder / "recorded.jsonl")
            assert host.calls(event, transcript_path=path, session_id=f"s{number % 3}")[1] == ""
    assert sorted(host.folder.parent.rglob("*")) == before
    if open_files:
        assert len(list(Path("/proc/self/fd").iterdir())) == open_files
    with contextlib.suppress(ChildProcessError):  # what tests share, as a database server, may be a child that lives
        assert os.waitpid(-1, os.WNOHANG) == (0, 0)
    assert threading.active_count() < 5
