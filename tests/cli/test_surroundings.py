"""Whatever surrounds the program: locales, closed and full streams, no home, no folder, seeds and time zones.

What hangs on a process's own start or end is tried with the installed program itself, all else with a fork.
"""

from __future__ import annotations

import json
import os
import pwd
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli.shell import ENOUGH_SECONDS, FIRST, FIRST_ID, PROGRAM, SECOND, SECOND_ID, InPlace, Shell, full, packet

NOW = ("--now", "2026-09-16T08:00:00Z")
READING = (
    ("ls", *NOW),
    ("show", SECOND_ID, *NOW),
    ("resume",),
    ("chain", "--json"),
    ("save", "--print", *NOW),
)


@pytest.fixture
def stocked(shell: Shell) -> Shell:
    shell.stock(FIRST, SECOND)
    return shell


@pytest.fixture
def large(shell: Shell) -> Shell:
    """A store whose list is longer than a pipe holds."""
    shell.stock(*(full(number, goal="導入" * 500, next_step=f"Take step {number}.") for number in range(1, 29)))
    return shell


def test_locale_seed_zone_and_terminal_change_no_byte(stocked: Shell) -> None:
    stocked.stock(full(1, goal="Grüße 導入 👩\u200d👧", created_at="2026-09-15T12:00:00Z"))
    bare = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    one = bare | {"PYTHONHASHSEED": "1", "TZ": "Pacific/Kiritimati"}
    two = {"LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "2", "TZ": "America/Lima", "NO_COLOR": "1", "TERM": "dumb"}
    for arguments in READING:
        results = [stocked.run(*arguments, env=each) for each in (one, two)]
        assert results[0].code == 0, results[0].err
        assert results[0].stdout
        assert results[0] == results[1], arguments
    assert "Grüße 導入 👩\u200d👧" in stocked.run("ls", env=one).out


def test_input_is_utf_8_whatever_the_locale(shell: Shell) -> None:
    document = full(1, goal="Grüße 導入.")
    data = json.dumps(document, ensure_ascii=False).encode()
    assert (
        shell.run("save", "-", stdin=data, env={"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}).code
        == 0
    )
    assert shell.run("show", "--raw", "packet-0001").json == document


def test_plain_terminals_get_no_escape(stocked: Shell) -> None:
    for arguments in (("ls",), ("resume",), ("--help",), ("--nope",)):
        result = stocked.real.terminal(*arguments, env={"TERM": "dumb", "NO_COLOR": "1"}, columns=20)
        assert b"\x1b" not in result.stdout, arguments
    assert b"\x1b[3" not in stocked.terminal("--help", env={"NO_COLOR": "1"}).stdout


@pytest.mark.parametrize(
    "command",
    ["--version", "--help", "example", "ls", f"show --raw {FIRST_ID}", f"save '{SECOND}'"],
)
def test_closed_stdout(stocked: Shell, command: str) -> None:
    result = stocked.real.script(f"segue {command} >&-")
    assert (result.code, result.out) == (0, "")
    assert "Traceback" not in result.err
    assert stocked.run("doctor").code == 0


def test_closed_or_full_stderr_leaves_the_exit_code(stocked: Shell) -> None:
    stocked.write("draft.json", packet(goal="Ship it. Then rest."))
    for command, code in (("show nothing", 5), ("--nope", 2), ("save draft.json", 0)):
        for stream in ("2>&-", "2>/dev/full"):
            result = stocked.real.script(f"segue {command} {stream}")
            assert (result.code, len(result.out)) == (code, 27 if code == 0 else 0), (command, stream)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full here")  # noqa: PTH110
@pytest.mark.parametrize("command", ["--version", "--help", "ls", f"show --raw {FIRST_ID}"])
def test_full_stdout(stocked: Shell, command: str) -> None:
    result = stocked.real.script(f"segue {command} >/dev/full")
    assert result.code == 1
    assert result.err.splitlines()[-1] == "segue: No space left on device"
    assert "Traceback" not in result.err


@pytest.mark.parametrize("arguments", [("ls", "--json"), ("ls",), ("--help",), ("show", "--raw", "packet-0001")])
def test_a_pipe_without_reader(large: Shell, arguments: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        result = large.real.run(*arguments, stdout=writing)
    finally:
        os.close(writing)
    assert (result.code, result.err) == (0, "")


def test_a_reader_that_goes_away(large: Shell) -> None:
    with subprocess.Popen(
        [PROGRAM, "ls", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=large.environment,
        cwd=large.project,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"{\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(ENOUGH_SECONDS) == 0


def test_an_error_keeps_its_exit_code_without_reader(stocked: Shell) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        assert stocked.real.run("show", "nothing", "--json", stdout=writing).code == 5
    finally:
        os.close(writing)


def test_a_closed_stdin(stocked: Shell) -> None:
    for command, code in (("save -", 3), ("check -", 3), ("save", 4), ("resume --pick", 4)):
        result = stocked.real.script(f"segue {command} <&-")
        assert result.code == code, command
        assert "Traceback" not in result.err


def test_without_home(shell: Shell) -> None:
    assert shell.run("save", FIRST, without=("HOME",)).code == 0
    assert shell.run("resume", without=("HOME",)).code == 0


@pytest.mark.skipif(sys.platform != "linux", reason="the folder for user data has another place elsewhere")
def test_where_the_store_is_without_segue_home(shell: Shell) -> None:
    shell.run("save", FIRST, without=("SEGUE_HOME",))
    assert (shell.home / ".local" / "share" / "segue" / "segue.db").is_file()
    elsewhere = {"XDG_DATA_HOME": str(shell.root / "data")}
    assert shell.run("save", FIRST, without=("SEGUE_HOME", "HOME"), env=elsewhere).code == 0
    assert (shell.root / "data" / "segue" / "segue.db").is_file()
    assert shell.run("save", FIRST, without=("HOME",), env={"SEGUE_DB": str(shell.root / "x" / "my.db")}).code == 0
    assert (shell.root / "x" / "my.db").is_file()


@pytest.mark.skipif(sys.platform != "linux", reason="the folder for user data has another place elsewhere")
def test_a_user_without_any_home(cli: InPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_: int) -> Any:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.delenv("HOME")
    assert cli("save", FIRST).code == 0
    assert cli("save", "--print").code == 0
    hosts = cli("hosts", "status", "--json")
    assert (hosts.code, hosts.error["code"]) == (1, "home.missing")


@pytest.mark.skipif(sys.platform != "linux", reason="the folder for user data has another place elsewhere")
def test_no_folder_for_the_store(cli: InPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_: int) -> Any:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    for name in ("HOME", "SEGUE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    missing = cli("ls", "--json")
    assert (missing.code, missing.error["code"]) == (1, "home.missing")
    assert "SEGUE_HOME" in missing.error["message"]


def test_a_removed_current_folder(stocked: Shell) -> None:
    gone = stocked.root / "gone"
    gone.mkdir()
    for command, code in (
        ("--version", 0),
        (f"check '{FIRST}'", 0),
        ("ls", 1),
        ("demo", 1),
        ("mcp", 1),
    ):
        result = stocked.script(f"mkdir -p '{gone}'; cd '{gone}' && rmdir '{gone}' && exec segue {command}")
        assert result.code == code, (command, result.err)
        if code:
            assert result.err == "segue: the current folder does not exist any more; change to another one\n"


def test_a_folder_that_cannot_be_used(shell: Shell) -> None:
    shell.segue_home.write_bytes(b"a file")
    result = shell.run("save", FIRST, "--json")
    assert result.code == 1
    assert result.error["code"] == "store.cannot_open"
    assert shell.segue_home.read_bytes() == b"a file"


def test_a_project_with_a_hostile_name(shell: Shell) -> None:
    folder = shell.root / "a\x1b[31m\nfake: line\u202e"
    folder.mkdir()
    for arguments in (("where",), ("status",), ("resume",), ("save", "--print"), ("where", "--json")):
        result = shell.run(*arguments, cwd=folder)
        assert b"\x1b" not in result.stdout + result.stderr, arguments
        assert "\u202e" not in result.out + result.err or arguments == ("save", "--print"), arguments
        assert "fake: line" not in [line.strip()[:10] for line in (result.out + result.err).splitlines()], arguments


def test_names_of_files_with_control_characters(shell: Shell) -> None:
    name = "a\x1b[31m\nb.json"
    shell.write(name, FIRST.read_bytes())
    assert shell.run("save", name).out == f"{FIRST_ID}\n"
    assert shell.run("check", name, "--fix").code == 0
    copied = shell.run("backup", "c\x1b[2J.db")
    assert copied.code == 0
    assert b"\x1b" not in copied.stdout
    assert shell.run("restore", "c\x1b[2J.db").code == 0
    assert Path(shell.project / "c\x1b[2J.db").is_file()


_INTERRUPTED = """
import os, signal, sys
from segue.cli import arguments, main
arguments.files.read_bytes = lambda *_: signal.raise_signal(signal.SIGINT)
sys.exit(main.run(["check", "x.json"]))
"""


def test_an_interrupted_command_says_nothing_of_python(shell: Shell) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _INTERRUPTED],
        capture_output=True,
        env=shell.environment,
        cwd=shell.project,
        timeout=ENOUGH_SECONDS,
    )
    assert done.returncode == 130
    assert b"Traceback" not in done.stderr
