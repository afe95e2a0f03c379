"""Two kinds of agent: one speaks through the SDK's client, one writes the lines of the protocol itself."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

import forks
import segue

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

PROGRAM = str(Path(sys.executable).with_name("segue"))
ENOUGH_SECONDS = 60
CAPSULE = (
    "===PCSF:v1.2===\nMETA: report export | software | WORKING | 2026-05-04T09:30Z\n\nL1:SKELETON\n\nL2:NEGATIVE\n\n"
    "L3:INTERNAL\n\nL4:RELATION\nSTYLE: short\n\nL5:LOOPS\n\nSEED: Export by pages.\n===END===\n"
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool answered."""

    text: str
    refused: bool
    data: dict[str, Any] | None

    @classmethod
    def of(cls, result: Mapping[str, Any]) -> Answer:
        """The answer in a tool's result, which holds one block of text."""
        (block,) = result["content"]
        assert block["type"] == "text"
        return cls(block["text"], result.get("isError", False), result.get("structuredContent"))


@dataclass(frozen=True, slots=True)
class Place:
    """Where an agent works: a home with nothing in it, and a project."""

    root: Path

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def segue_home(self) -> Path:
        return self.root / "home" / "segue"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.root / "home"),
            "SEGUE_HOME": str(self.segue_home),
        }


def place(root: Path) -> Place:
    """Make an empty home and a project below `root`."""
    found = Place(root)
    found.project.mkdir()
    (root / "home").mkdir()
    return found


ERAS = ("legacy", "2026-07-28")  # the handshake, and the revision whose requests stand alone


@contextlib.asynccontextmanager
async def connected(where: Place, *arguments: str, era: str = "auto", **options: Any) -> AsyncIterator[Client]:
    """Yield the SDK's client, connected to a server that it has started in the project."""
    arguments = ("mcp", *(arguments or ("--toolset", "full")))
    server = StdioServerParameters(
        command=forks.program("segue"), args=[*arguments], env=where.environment, cwd=where.project
    )
    with Path(os.devnull).open("a", encoding="utf-8") as errors:
        async with Client(stdio_client(server, errlog=errors), mode=era, **options) as client:
            yield client


async def call(client: Client, tool: str, **arguments: Any) -> Answer:
    """Call a tool through the SDK's client."""
    result = await client.call_tool(tool, arguments)
    return Answer.of(result.model_dump(by_alias=True, mode="json", exclude_none=True))


class Wire:
    """A server process, and the lines that go to it and come from it."""

    def __init__(
        self,
        where: Place,
        *arguments: str,
        toolset: str = "full",
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        real: bool = False,
    ) -> None:
        """Start it; `real` starts the installed program, where otherwise a process is forked (see `forks`)."""
        self.process = subprocess.Popen(
            [PROGRAM if real else forks.program("segue"), "mcp", "--toolset", toolset, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=where.environment | dict(env or {}),
            cwd=cwd or where.project,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._stdin, self._stdout = self.process.stdin, self.process.stdout
        self._buffer = b""
        self._last = 0
        self.received: list[dict[str, Any]] = []

    def send(self, line: bytes) -> None:
        """Write one line as it is."""
        self._stdin.write(line + b"\n")
        self._stdin.flush()

    def receive(self) -> dict[str, Any]:
        """Return the next message; what comes must be one JSON-RPC message a line."""
        deadline = time.monotonic() + ENOUGH_SECONDS
        while b"\n" not in self._buffer:
            assert time.monotonic() < deadline, "the server did not answer"
            if select.select([self._stdout], [], [], 1)[0]:
                chunk = os.read(self._stdout.fileno(), 1 << 16)
                assert chunk, "the server ended"
                self._buffer += chunk
        line, self._buffer = self._buffer.split(b"\n", 1)
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        self.received.append(message)
        return message

    def post(self, method: str, params: Any = None) -> int:
        """Send a request without waiting for its answer and return its id."""
        self._last += 1
        request = {"jsonrpc": "2.0", "id": self._last, "method": method} | (
            {"params": params} if params is not None else {}
        )
        self.send(json.dumps(request).encode())
        return self._last

    def request(self, method: str, params: Any = None) -> dict[str, Any]:
        """Send a request and return the answer to it."""
        number = self.post(method, params)
        while True:
            message = self.receive()
            if message.get("id") == number:
                return message

    def start(self, version: str = "2025-06-18") -> dict[str, Any]:
        """Shake hands and return what the server says of itself."""
        client = {"name": "test", "version": "1"}
        answer = self.request("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": client})
        self.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        found: dict[str, Any] = answer["result"]
        return found

    def call(self, tool: str, **arguments: Any) -> Answer:
        """Call a tool. It must answer with a result, never with a protocol error."""
        answer = self.request("tools/call", {"name": tool, "arguments": arguments})
        assert "error" not in answer, answer
        return Answer.of(answer["result"])

    def refusal(self, tool: str, **arguments: Any) -> str:
        """Call a tool that must refuse, and return the text."""
        answer = self.call(tool, **arguments)
        assert answer.refused, answer
        assert answer.text.startswith("error: ")
        assert answer.data is None
        return answer.text

    def stop(self) -> tuple[int, float, str]:
        """Close stdin and return exit code, seconds until the end, and what was written to stderr.

        What is left on stdout must be messages too.
        """
        started = time.monotonic()
        rest, errors = self.process.communicate(timeout=ENOUGH_SECONDS)
        for line in (self._buffer + rest).splitlines():
            assert json.loads(line)["jsonrpc"] == "2.0"
        return self.process.returncode, time.monotonic() - started, errors.decode("utf-8")

    def leave(self) -> float:
        """Close stdin, read nothing more, and return the seconds until the end."""
        started = time.monotonic()
        self._stdin.close()
        self.process.stdin = None
        assert self.process.wait(ENOUGH_SECONDS) == 0
        return time.monotonic() - started

    def kill(self) -> None:
        """End the process, whatever it does, and close its streams."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


class Endpoint:
    """A server process that serves HTTP, and where it does."""

    def __init__(self, where: Place, *arguments: str, real: bool = False) -> None:
        """Start it; `real` starts the installed program, where otherwise a process is forked (see `forks`)."""
        self.process = subprocess.Popen(
            [PROGRAM if real else forks.program("segue"), "mcp", "--http", "--port", "0", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=where.environment,
            cwd=where.project,
        )
        new = not (where.segue_home / "mcp-token").exists()
        self.lines = [self._line() for _ in range(2 if new else 1)]
        found = re.search(r"http://127\.0\.0\.1:(\d+)/mcp", self.lines[0])
        assert found is not None, self.lines
        self.url, self.port = found[0], int(found[1])
        self.token = (where.segue_home / "mcp-token").read_text("ascii").strip()

    def _line(self) -> str:
        assert self.process.stderr is not None
        return self.process.stderr.readline().decode().rstrip("\n")

    @contextlib.asynccontextmanager
    async def connected(self, era: str, **options: Any) -> AsyncIterator[Client]:
        """Yield the SDK's client, connected by HTTP."""
        headers = {"Authorization": f"Bearer {self.token}"}
        async with httpx2.AsyncClient(headers=headers, trust_env=False, timeout=ENOUGH_SECONDS) as http:
            transport = streamable_http_client(self.url, http_client=http)
            async with Client(transport, mode=era, **options) as client:
                yield client

    def rest(self) -> str:
        """Return what was still written to stderr, once it has ended."""
        return self.process.communicate(timeout=ENOUGH_SECONDS)[1].decode()

    def stop(self) -> None:
        """End it as a user does."""
        self.process.terminate()
        self.process.wait(ENOUGH_SECONDS)

    def kill(self) -> None:
        """End the process, whatever it does, and close its streams."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


Start = Callable[..., Wire]


def opened(where: Place) -> segue.Segue:
    """Open the store that the servers of a place serve."""
    return segue.open(where.segue_home / "segue.db", directory=where.project)


def packet(**members: Any) -> dict[str, Any]:
    """A small packet without id, with the members that are given."""
    return {"ltm_version": "0.2", "goal": "Ship the importer.", "next_step": "Run the tests."} | members
