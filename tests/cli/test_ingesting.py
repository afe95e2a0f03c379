"""`segue ingest`: what is said of each path, and how it ends."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

from cli.shell import PROGRAM, InPlace, Shell, packet
from segue.conversions.interchange.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator

SECRET = "AK" + "IA" + "Q7Z2" * 4


def chat(name: str, *texts: str) -> dict[str, Any]:
    """A conversation of ChatGPT's export, of which the user says all."""
    mapping: dict[str, Any] = {"n0": {"id": "n0", "message": None, "parent": None, "children": ["n1"]}}
    for number, text in enumerate(texts, 1):
        message = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": [text]}, "recipient": "all"}
        node = {"id": f"n{number}", "message": message, "parent": f"n{number - 1}", "children": [f"n{number + 1}"]}
        mapping[f"n{number}"] = node
    return {"id": name, "title": None, "create_time": 1_780_000_000.0, "mapping": mapping, "current_node": node["id"]}


def notes(shell: Shell, text: str = "# Bread\n\nAda prefers rye.\n") -> str:
    folder = shell.project / "notes"
    folder.mkdir(exist_ok=True)
    (folder / "bread.md").write_text(text, "utf-8")
    return "notes"


def test_a_line_a_path(cli: InPlace) -> None:
    notes(cli.shell)
    talk = cli.write("conversations.json", [chat("c-1", "I prefer rye.", "And tea.", f"My key is {SECRET}.")])
    result = cli("ingest", talk)
    assert (result.code, result.lines) == (0, ["chatgpt: 2 new; 1 passed over"])
    assert "chatgpt:c-1#" in result.err
    assert SECRET not in result.err + result.out
    again = cli("ingest", talk, "notes")
    assert again.lines == ["conversations.json (chatgpt): 0 new, 2 known; 1 passed over", "notes (markdown): 1 new"]
    masked = cli("ingest", talk, "--mask")
    assert masked.lines == ["chatgpt: 1 new, 2 known"]


def test_a_changed_note(cli: InPlace) -> None:
    cli("ingest", notes(cli.shell, "# Bread\n\nAda prefers rye.\n\n# Oven\n\nLeft.\n"))
    result = cli("ingest", notes(cli.shell, "# Bread\n\nAda prefers wheat.\n"))
    assert result.lines == ["markdown: 1 new, 1 replaced, 1 gone from there"]


def test_json(cli: InPlace) -> None:
    talk = cli.write("conversations.json", [chat("c-1", "I prefer rye.", f"My key is {SECRET}.")])
    result = cli("ingest", talk, "missing", notes(cli.shell), "--json")
    assert result.code == 3
    first, second, third = result.json["ingested"]
    assert (first["path"], first["format"], first["counts"]["new"], first["passed_over"]) == (talk, "chatgpt", 1, 1)
    assert first["problems"][0]["code"] == "memory.redaction"
    assert (second["path"], second["error"]["code"]) == ("missing", "transcript.read")
    assert (third["format"], third["counts"]["new"]) == ("markdown", 1)


def test_every_entry_of_the_json_has_the_same_keys(cli: InPlace) -> None:
    talk = cli.write("conversations.json", [chat("c-1", "I prefer rye.")])
    found = [
        *cli("ingest", talk, "missing", notes(cli.shell), "--json").json["ingested"],
        *cli("ingest", talk, "--json").json["ingested"],
        *cli("ingest", "--json").json["ingested"],
    ]
    assert len(found) == 5
    keys = {"path", "error", "format", "counts", "sources", "passed_over", "problems"}
    assert all(each.keys() == keys for each in found)
    counted = ["new", "merged", "known", "approved", "forgotten", "replaced", "retired", "refused"]
    assert all(list(each["counts"]) == counted for each in found)
    assert [each["error"] is None for each in found] == [True, False, True, True, True]


def test_standard_input(cli: InPlace) -> None:
    talk = json.dumps([chat("c-1", "I prefer rye.")]).encode()
    assert cli("ingest", "-", stdin=talk).lines == ["chatgpt: 1 new"]
    assert cli("ingest", "-", "--format", "chatgpt", stdin=talk).lines == ["chatgpt: 0 new, 1 known"]
    note = b"# Bread\n\nAda prefers rye.\n"
    assert cli("ingest", "-", "--format", "markdown", stdin=note).lines == ["markdown: 1 new"]
    assert cli("ingest", "-", stdin=note).lines == ["markdown: 0 new, 1 known"]
    # Another text is another source: it takes nothing back.
    assert cli("ingest", "-", stdin=b"# Bread\n\nBen prefers wheat.\n").lines == ["markdown: 1 new"]
    assert {each["status"] for each in cli("memories", "ls", "--json").json["memories"]} == {"active"}
    names = [each["source"] for each in cli("memories", "sources", "--json").json["sources"]]
    assert [each.partition("-")[0] for each in names] == ["chatgpt:c", "markdown:stdin", "markdown:stdin"]
    assert cli("forget", "--source", names[-1], "--yes").code == 0


@pytest.mark.parametrize("data", [b"", b"\0\1", b'{"x": 1}', b"[]", b"PK\x03\x04\x14\0\0", "Rye.".encode("utf-16")])
def test_standard_input_of_nothing_known(cli: InPlace, data: bytes) -> None:
    result = cli("ingest", "-", "--json", stdin=data)
    assert result.code == 3
    assert "/tmp" not in result.error["message"]
    assert "segue-" not in result.error["message"]
    several = cli("ingest", "-", notes(cli.shell), stdin=data)
    assert (several.code, several.lines) == (3, ["notes (markdown): 1 new"])
    assert cli("ingest", "-", "-", stdin=data).code == 2


def test_a_name_with_a_secret_is_masked_where_it_is_printed(cli: InPlace) -> None:
    folder = cli.shell.project / "notes"
    folder.mkdir()
    (folder / f"{SECRET}.md").write_bytes(b"---\nkind: nonsense\n---\n# Bread\n\ncaf\xe9\n")
    (folder / f"{SECRET}-2.md").write_bytes(b"\xff\xfeU\0")
    named = f"notes/{SECRET}.md"
    for arguments in (("notes",), (named,), (named, "notes"), (named, "--mask"), (named, "notes", "--mask")):
        for form in ((), ("--json",)):
            result = cli("ingest", *arguments, *form)
            assert SECRET not in result.out + result.err, arguments
            assert "redacted" in result.out + result.err, arguments


def test_only_the_first_problems_are_named(cli: InPlace) -> None:
    talk = cli.write("conversations.json", [chat("c-1", "I prefer rye.", *[f"Key {SECRET} {n}" for n in range(15)])])
    result = cli("ingest", talk)
    assert result.lines == ["chatgpt: 1 new; 15 passed over"]
    assert len([line for line in result.err.splitlines() if "memory" in line or "chatgpt:" in line]) >= 10
    assert result.err.splitlines()[-1] == "  … and 5 more (--json names them)"


def test_what_cannot_be_read(cli: InPlace) -> None:
    for name, code in (("missing", "transcript.read"), (cli.write("x.bin", b"\0\1\2"), "import.unknown")):
        result = cli("ingest", name, "--json")
        assert (result.code, result.error["code"]) == (3, code)
    several = cli("ingest", "missing", notes(cli.shell))
    assert (several.code, several.lines) == (3, ["notes (markdown): 1 new"])
    assert "missing" in several.err


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--format", "diary"], "import.format"),
        (["--zone", "Berlin"], "time.invalid"),
        (["--zone", "+24:00"], "time.invalid"),
        (["--zone", "+1:00"], "time.invalid"),
    ],
)
def test_wrong_values(cli: InPlace, options: list[str], code: str) -> None:
    result = cli("ingest", notes(cli.shell), *options, "--json")
    assert (result.code, result.error["code"]) == (3, code)
    assert cli("ingest", "notes", "--wrong").code == 2


def test_the_help_names_every_format(cli: InPlace) -> None:
    said = cli("ingest", "--help").out
    assert [each for each in FORMATS if each not in said] == []


def test_zone_project_and_format(cli: InPlace) -> None:
    name = cli.write("note.md", b"---\ndate: 2026-05-04T09:30:00\n---\nAda prefers rye.\n")
    result = cli("ingest", name, "--zone", "-05:30", "--project", ".", "--format", "markdown")
    assert (result.code, result.lines) == (0, ["markdown: 1 new"])
    (memory,) = cli("memories", "ls", "--json").json["memories"]
    assert (memory["occurred_at"], memory["project"]) == ("2026-05-04T15:00:00Z", "project")


def test_packets_and_capsules_of_the_store(cli: InPlace) -> None:
    cli.save(decisions=[{"what": "Bake rye first.", "why": "It keeps."}])
    result = cli("ingest")
    assert result.code == 0
    assert result.out.startswith("store: ")
    assert cli("ingest", "--json").json["ingested"][0]["path"] is None
    contents = [each["content"] for each in cli("memories", "ls", "--json").json["memories"]]
    assert any("Bake rye first." in content for content in contents)


def test_a_packet_in_a_file(cli: InPlace) -> None:
    whole = packet(id="01J9ZZ8Q4M3T7W5X2Y6B1C0D9E", created_at="2026-09-01T08:00:00Z", constraints=["No gas."])
    result = cli("ingest", cli.write("p.json", whole))
    assert result.out.startswith("packet: ")


def test_progress_is_for_people(shell: Shell) -> None:
    talk = shell.write("conversations.json", [chat("c-1", "I prefer rye.")])
    shown = shell.terminal("ingest", talk)
    assert (shown.code, "chatgpt: 1 new" in shown.out) == (0, True)
    assert "%" in shown.out
    assert shell.run("ingest", talk).err == ""


def test_hostile_names_and_texts(shell: Shell) -> None:
    folder = shell.project / "x\x1b[31m\u202ey"
    folder.mkdir()
    (folder / "a\x1b[2J.md").write_text(f"# Bread\x1b[31m\n\nKey {SECRET}\n\n# Oven\n\nLeft.\n", "utf-8")
    for result in (shell.run("ingest", folder.name), shell.run("ingest", folder.name, "missing\x1b[31m")):
        assert "\x1b" not in result.out + result.err
        assert "\u202e" not in result.out + result.err


def test_stopping_keeps_what_was_read(shell: Shell) -> None:
    many = [chat(f"c-{number}", *[f"Turn {turn} of talk {number}." for turn in range(100)]) for number in range(80)]
    talk = shell.write("conversations.json", json.dumps(many).encode())
    process = subprocess.Popen(
        [PROGRAM, "ingest", talk],
        cwd=shell.project,
        env=shell.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    store = shell.segue_home / "segue.db-wal"
    while process.poll() is None and (not store.exists() or store.stat().st_size < 1_500_000):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1, err
    assert b"is kept, run it again to go on" in err
    result = shell.run("ingest", talk, "--json").json["ingested"][0]
    assert result["counts"]["new"] + result["counts"]["known"] == 8_000
    assert result["counts"]["known"] > 0


def test_a_format_that_is_not_there(cli: InPlace) -> None:
    notes(cli.shell)
    for each in ("chatgpt", "claude", "claude-code", "codex"):
        result = cli("ingest", "notes", "--format", each, "--json")
        assert (result.code, result.error["code"]) == (3, "import.empty")
        assert f"nothing of the format {each} was found in notes" in result.error["message"]
    assert cli("ingest", "notes", "--format", "markdown").code == 0
    (cli.shell.project / "notes" / "bread.md").unlink()
    gone = cli("ingest", "notes", "--format", "markdown")  # something of it was there
    assert (gone.code, gone.lines) == (0, ["markdown: 0 new, 1 gone from there"])


def test_a_single_file_names_its_reason(cli: InPlace) -> None:
    cli.write("long.md", b"Rye. " * 1_000_000)
    cli.write("half.json", b'[{"mapping": {')
    for name, reason in (("long.md", "longer than 4,194,304 bytes; split it"), ("half.json", "the file ends inside")):
        result = cli("ingest", name)
        assert (result.code, reason in result.err) == (3, True)
    several = cli("ingest", "long.md", "half.json", notes(cli.shell))
    assert (several.code, several.lines) == (3, ["notes (markdown): 1 new"])
    assert "split it" in several.err
    assert "ends inside" in several.err


def test_a_full_disk_keeps_what_was_read(cli: InPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    from segue.storage import database

    many = [chat(f"c-{number}", *[f"Turn {turn} of talk {number}." for turn in range(100)]) for number in range(30)]
    talk = cli.write("conversations.json", many)
    cli("ingest", notes(cli.shell))
    connect = database._connect

    def small(location: str, *, uri: bool) -> Any:
        connection = connect(location, uri=uri)
        connection.execute("PRAGMA max_page_count = 700")
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(database, "_connect", small)
        result = cli("ingest", talk, "--json")
        assert (result.code, result.error["code"]) == (1, "store.full")
        assert "the disk is full; what was read until then is kept, run it again to go on" in result.error["message"]
        assert "nothing was saved" not in result.error["message"]
    again = cli("ingest", talk, "--json").json["ingested"][0]["counts"]
    assert (again["known"] > 0, again["known"] + again["new"]) == (True, 3_000)


# -- pipes, devices, sockets ----------------------------------------------------------------------------------------


@contextlib.contextmanager
def ends_soon() -> Iterator[None]:
    """Fail rather than wait for ever."""

    def stop(*_: object) -> None:
        raise AssertionError("it waits for ever")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(20)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    "arguments",
    [
        *[("ingest", "pipe", "--format", each) for each in FORMATS],
        ("ingest", "pipe"),
        ("import", "pipe"),
        ("save", "pipe"),
        ("check", "pipe"),
        ("restore", "pipe"),
        ("capsule", "save", "pipe"),
    ],
)
def test_no_command_waits_for_a_pipe(cli: InPlace, arguments: tuple[str, ...]) -> None:
    os.mkfifo(cli.shell.project / "pipe")
    with ends_soon():
        result = cli(*arguments)
    assert result.code == 3
    assert "it is no ordinary file" in result.err


@pytest.mark.parametrize(
    "name", ["a.md", "memory.jsonl", "memory-store.json", "conversations.json", "a.zip", "s.jsonl"]
)
def test_a_pipe_in_a_folder_is_passed_over(cli: InPlace, name: str) -> None:
    notes(cli.shell)
    os.mkfifo(cli.shell.project / "notes" / name)
    with ends_soon():
        result = cli("ingest", "notes")
        conversations = cli("ingest", "notes", "--format", "chatgpt")
    assert (result.code, result.lines[0].startswith("markdown: 1 new")) == (0, True)
    assert "it is no ordinary file" in (result if name == "a.md" else conversations).err or name.startswith("memory")


def test_devices_and_sockets(cli: InPlace) -> None:
    with socket.socket(socket.AF_UNIX) as listening, contextlib.chdir(cli.shell.project), ends_soon():
        listening.bind("socket")
        for path in ("socket", "/dev/zero"):
            for command in ("ingest", "import"):
                result = cli(command, path)
                assert (result.code, "it is no ordinary file" in result.err) == (3, True)
