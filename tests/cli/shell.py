"""A person's shell: a home, a project, and the installed program, run as a process, under a terminal, or in place."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import pty
import select
import subprocess
import sys
import termios
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import forks
import segue

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

PROGRAM = str(Path(sys.executable).with_name("segue"))
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FIRST = EXAMPLES / "session-1.json"
SECOND = EXAMPLES / "session-2.json"
FIRST_ID = "01K6Q2V9D4W7XJ3T5N8RBZC1HA"
SECOND_ID = "01K6T9M3E8Y2QH6P0V4KFGD7SB"
ENOUGH_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Result:
    """How a command ended: its exit code and the bytes of both streams (a terminal has only one)."""

    code: int
    stdout: bytes
    stderr: bytes = b""

    @property
    def out(self) -> str:
        return self.stdout.decode("utf-8")

    @property
    def err(self) -> str:
        return self.stderr.decode("utf-8")

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)

    @property
    def error(self) -> dict[str, Any]:
        """The members of `{"error": {…}}`, which must be all that stdout holds."""
        whole = self.json
        assert list(whole) == ["error"]
        found: dict[str, Any] = whole["error"]
        assert list(found) == ["code", "message", "details"]
        return found


class Shell:
    """Runs `segue` for a person who has nothing yet but a home and a project.

    Each run is a process of its own, without its start-up (see `forks`).
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.program = forks.program("segue")
        self.home = root / "home"
        self.segue_home = root / "segue-home"
        self.project = root / "project"
        self.home.mkdir()
        self.project.mkdir()
        self.environment = {
            "PATH": f"{Path(PROGRAM).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "HOME": str(self.home),
            "SEGUE_HOME": str(self.segue_home),
            "TERM": "xterm-256color",
            "PROMPT_TOOLKIT_NO_CPR": "1",
        }

    @property
    def real(self) -> Shell:
        """The same place, where the installed program itself is started: for what hangs on a process's start or end."""
        other = copy.copy(self)
        other.program = PROGRAM
        return other

    def write(self, name: str, document: Any) -> str:
        """Write a file into the project, JSON unless it is bytes, and return its name."""
        data = document if isinstance(document, bytes) else json.dumps(document).encode()
        (self.project / name).write_bytes(data)
        return name

    def stock(self, *packets: Path | dict[str, Any]) -> None:
        """Put packets into the store without starting a process for each."""
        with segue.open(self.segue_home / "segue.db", directory=self.project) as opened:
            for each in packets:
                opened.packets.save(each.read_bytes() if isinstance(each, Path) else each)

    def run(
        self,
        *arguments: str | Path,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        without: tuple[str, ...] = (),
        cwd: Path | None = None,
        **options: Any,
    ) -> Result:
        """Run the installed program as a process."""
        environment = {key: value for key, value in self.environment.items() if key not in without} | dict(env or {})
        streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        done = subprocess.run(
            [self.program, *map(str, arguments)],
            input=stdin,
            env=environment,
            cwd=cwd or self.project,
            timeout=ENOUGH_SECONDS,
            **streams,
        )
        return Result(done.returncode, done.stdout or b"", done.stderr or b"")

    def script(self, text: str, **options: Any) -> Result:
        """Run a line of POSIX shell, in which `segue` is the program, and return its exit code and streams."""
        path = f"{Path(self.program).parent}{os.pathsep}{self.environment['PATH']}"
        environment = self.environment | {"PATH": path} | dict(options.pop("env", {}))
        done = subprocess.run(
            ["/bin/sh", "-c", text],
            input=b"",
            capture_output=True,
            env=environment,
            cwd=self.project,
            timeout=ENOUGH_SECONDS,
            **options,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    def terminal(
        self,
        *arguments: str | Path,
        answers: tuple[tuple[bytes, bytes], ...] = (),
        env: Mapping[str, str] | None = None,
        columns: int = 80,
    ) -> Result:
        """Run the program under a pseudo terminal; each answer is a prompt to wait for and the keys to type then."""
        parent, child = pty.openpty()
        termios.tcsetwinsize(child, (24, columns))
        process = subprocess.Popen(
            [self.program, *map(str, arguments)],
            stdin=child,
            stdout=child,
            stderr=child,
            env=self.environment | dict(env or {}),
            cwd=self.project,
            start_new_session=True,
        )
        os.close(child)
        try:
            output = _converse(parent, list(answers))
            return Result(process.wait(ENOUGH_SECONDS), output)
        finally:
            os.close(parent)
            if process.poll() is None:
                process.kill()
                process.wait()

    def ids(self) -> list[str]:
        """The ids in the store, newest first."""
        return [each["id"] for each in self.run("ls", "--json").json["packets"]]


def _converse(parent: int, answers: list[tuple[bytes, bytes]]) -> bytes:
    output, deadline = b"", time.monotonic() + ENOUGH_SECONDS
    seen = 0
    while time.monotonic() < deadline:
        if not select.select([parent], [], [], 1)[0]:
            continue
        try:
            chunk = os.read(parent, 65536)
        except OSError:  # the other side is closed
            return output
        if not chunk:
            return output
        output += chunk
        if answers and answers[0][0] in output[seen:]:
            seen = len(output)
            os.write(parent, answers.pop(0)[1])
    raise AssertionError(f"the program did not end; it wrote {output!r}")


class InPlace:
    """Runs commands in this process, in the same surroundings as a Shell: for the many cases that need no process."""

    def __init__(self, shell: Shell, patch: pytest.MonkeyPatch) -> None:
        self.shell = shell
        self._patch = patch
        for name in ("SEGUE_DB", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "EDITOR", "VISUAL", "COLUMNS", "FORCE_COLOR"):
            patch.delenv(name, raising=False)
        for name, value in shell.environment.items():
            patch.setenv(name, value)
        patch.chdir(shell.project)

    def __call__(self, *arguments: str | Path, stdin: bytes = b"") -> Result:
        from segue.cli.main import run

        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), self._patch.context() as patch:
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
            code = run([str(each) for each in arguments])
        return Result(code, out.buffer.getvalue(), err.buffer.getvalue())

    def write(self, name: str, document: Any) -> str:
        return self.shell.write(name, document)

    def save(self, **members: Any) -> str:
        """Save a small packet with these members and return its id."""
        name = self.write(f"packet-{len(list(self.shell.project.iterdir()))}.json", packet(**members))
        result = self("save", name)
        assert result.code == 0, result.err
        return result.out.strip()

    def ids(self) -> list[str]:
        """The ids in the store, newest first."""
        return [each["id"] for each in self("ls", "--json").json["packets"]]


def packet(**members: Any) -> dict[str, Any]:
    """The document of a small packet without id, with the members that are given (None takes one away)."""
    whole = {"ltm_version": "0.2", "goal": "Ship the importer.", "next_step": "Run the tests."} | members
    return {key: value for key, value in whole.items() if value is not None}


def full(number: int, **members: Any) -> dict[str, Any]:
    """A small packet with an id and a time of its own; a higher number is newer."""
    return packet(id=f"packet-{number:04d}", created_at=f"2026-05-{number:02d}T09:30:00Z") | members
