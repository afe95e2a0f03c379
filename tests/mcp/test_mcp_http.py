"""Streamable HTTP: one user on one machine. A bearer, Host and Origin, bounded bodies, an end at once."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
import pytest
from agent import ENOUGH_SECONDS, ERAS, PROGRAM, Endpoint, Place, call, packet, place

from segue.mcp import bearer
from segue.mcp.endpoint import Guarded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytest_plugins = ["mcp_fixtures"]

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.fixture
def serve(where: Place) -> Iterator[Callable[..., Endpoint]]:
    """A function that starts an endpoint, which is gone after the test."""
    started: list[Endpoint] = []

    def new(*arguments: str, real: bool = False) -> Endpoint:
        started.append(Endpoint(where, *arguments, real=real))
        return started[-1]

    yield new
    for each in started:
        each.kill()


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """One running endpoint for the tests that leave nothing behind."""
    started = Endpoint(place(tmp_path_factory.mktemp("endpoint")))
    yield started
    started.kill()


def post(endpoint: Endpoint, headers: dict[str, str] | None = None, **body: Any) -> httpx2.Response:
    given = {"Authorization": f"Bearer {endpoint.token}"} | ACCEPT | (headers or {})
    with httpx2.Client(trust_env=False, timeout=ENOUGH_SECONDS) as client:
        return client.post(endpoint.url, headers=given, **(body or {"json": HELLO}))


# -- who may call -----------------------------------------------------------------------------------------------------


def test_the_token_is_made_once_and_kept_to_its_owner(where: Place, serve: Callable[..., Endpoint]) -> None:
    first = serve(real=True)
    file = where.segue_home / "mcp-token"
    assert file.stat().st_mode & 0o777 == 0o600
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}\n", file.read_text("ascii"))
    assert first.lines == [
        f"serving MCP at {first.url}; Ctrl-C ends it",
        f"clients send the header `Authorization: Bearer TOKEN`; the token stands in {file}",
    ]
    assert first.token not in "".join(first.lines)
    first.stop()
    second = serve()
    assert second.token == first.token
    assert second.lines == [f"serving MCP at {second.url}; Ctrl-C ends it"]
    assert post(second).status_code == 200
    assert sorted(each.name for each in where.segue_home.iterdir() if "token" in each.name) == ["mcp-token"]


def test_of_starts_at_the_same_time_one_makes_the_token(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: bearer.token(home), range(32)))
    assert len({each.value for each in made}) == 1
    assert sum(each.new for each in made) == 1
    assert [each.name for each in home.iterdir()] == ["mcp-token"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer"}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "Basic {token}"}, 401),
        ({"Authorization": "Bearer {token}x"}, 401),
        ({"Authorization": "bearer {token}"}, 200),
        ({"Host": "rebound.example:{port}"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Host": "127.0.0.1.rebound.example:{port}"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Host": ""}, 421),
        ({"Host": "localhost:{port}"}, 200),
        ({"Host": "[::1]:{port}"}, 200),
        ({"Origin": "https://rebound.example"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "https://127.0.0.1:{port}"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:{port}"}, 200),
        ({"Origin": "https://rebound.example", "Authorization": ""}, 403),
    ],
)
def test_the_guard(endpoint: Endpoint, headers: dict[str, str], status: int) -> None:
    given = {name: value.format(token=endpoint.token, port=endpoint.port) for name, value in headers.items()}
    answer = post(endpoint, given)
    assert answer.status_code == status
    if status != 200:
        assert endpoint.token not in answer.text
        assert ("www-authenticate" in answer.headers) is (status == 401)


def test_every_path_and_method_is_guarded(endpoint: Endpoint) -> None:
    with httpx2.Client(trust_env=False, timeout=ENOUGH_SECONDS) as client:
        for path in ("", "/", "/mcp", "/other"):
            for method in ("GET", "POST", "DELETE", "OPTIONS"):
                assert client.request(method, endpoint.url.removesuffix("/mcp") + path).status_code == 401


def test_a_header_twice_is_as_good_as_none(endpoint: Endpoint) -> None:
    right = f"Authorization: Bearer {endpoint.token}\r\n"
    host = f"Host: 127.0.0.1:{endpoint.port}\r\n"
    for lines, status in ((right + right, 401), (right + "Host: rebound.example\r\n", 421)):
        with socket.create_connection(("127.0.0.1", endpoint.port), ENOUGH_SECONDS) as connection:
            connection.sendall(f"GET /mcp HTTP/1.1\r\n{host}{lines}Connection: close\r\n\r\n".encode())
            answer = connection.recv(1 << 16).decode()
        assert answer.startswith((f"HTTP/1.1 {status}", "HTTP/1.1 400")), answer


def test_bodies_are_bounded(endpoint: Endpoint) -> None:
    large = b" " * ((1 << 20) + 1)
    assert post(endpoint, {"Content-Type": "application/json"}, content=large).status_code == 413
    chunks = (b" " * 65_536 for _ in range(17))
    assert post(endpoint, {"Content-Type": "application/json"}, content=chunks).status_code == 413
    assert post(endpoint).status_code == 200
    assert post(endpoint, {"Content-Type": "application/json"}, content=b"nonsense").status_code == 400


# -- what is served ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
def test_tools_resources_and_prompts(serve: Callable[..., Endpoint], era: str) -> None:
    started = serve("--toolset", "full")

    async def session() -> None:
        async with started.connected(era) as client:
            assert len((await client.list_tools()).tools) == 20
            saved = await call(client, "save", packet=packet())
            assert f"Packet:    {saved.text}" in (await call(client, "resume")).text
            assert (await call(client, "forget")).refused
            assert [each.uri for each in (await client.list_resources()).resources][1:] == [
                f"segue://packet/{saved.text}"
            ]
            assert (await client.get_prompt("resume", {})).messages

    anyio.run(session)


# -- the end ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_at_once(serve: Callable[..., Endpoint], number: signal.Signals) -> None:
    started = serve(real=True)
    session = post(started).headers["mcp-session-id"]
    headers = {"Authorization": f"Bearer {started.token}", "Mcp-Session-Id": session} | ACCEPT
    with (
        httpx2.Client(trust_env=False, timeout=ENOUGH_SECONDS) as client,
        client.stream("GET", started.url, headers=headers) as stream,  # a client that listens
    ):
        assert stream.status_code == 200
        begun = time.monotonic()
        started.process.send_signal(number)
        assert started.process.wait(ENOUGH_SECONDS) == 0
        assert time.monotonic() - begun < 1
    assert "Traceback" not in started.rest()


# -- the start --------------------------------------------------------------------------------------------------------


def refused(where: Place, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [PROGRAM, "mcp", "--http", "--port", "0", *arguments],
        env=where.environment,
        cwd=where.project,
        capture_output=True,
        text=True,
        timeout=ENOUGH_SECONDS,
        check=False,
    )
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org", ""])
def test_only_this_machine_is_served(where: Place, host: str) -> None:
    code, said = refused(where, "--host", host)
    assert code == 3
    assert "an address of this machine alone" in said


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([], 421),
        ([("host", "127.0.0.1:80")], 401),
        ([("host", "127.0.0.1:80"), ("authorization", "Bearer right")], 200),
        ([("host", "127.0.0.1:80"), ("host", "127.0.0.1:80"), ("authorization", "Bearer right")], 421),
        ([("host", "127.0.0.1:81"), ("authorization", "Bearer right")], 421),
        ([("host", "127.0.0.1.:80"), ("authorization", "Bearer right")], 421),
        ([("host", "127.0.0.1:80"), ("origin", "null"), ("authorization", "Bearer right")], 403),
        ([("host", "127.0.0.1:80"), ("origin", ""), ("authorization", "Bearer right")], 403),
        ([("host", "127.0.0.1:80"), ("origin", "http://rebound.example"), ("authorization", "Bearer right")], 403),
        ([("host", "127.0.0.1:80"), ("authorization", "Bearer right"), ("authorization", "Bearer right")], 401),
        ([("host", "127.0.0.1:80"), ("authorization", "Bearer righ\xe9")], 401),
    ],
)
def test_the_guard_refuses_by_itself(headers: list[tuple[str, str]], status: int) -> None:
    """Whatever the SDK checks behind it; what is refused reaches nothing, and nothing of it is read."""
    reached: list[str] = []
    sent: list[Any] = []

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope["path"])
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive() -> Any:
        raise AssertionError("a body was read")

    async def send(message: Any) -> None:
        sent.append(message)

    given = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    scope: dict[str, Any] = {"type": "http", "method": "POST", "path": "/mcp", "headers": given}
    guarded = Guarded(inner, frozenset({"127.0.0.1:80"}), "right")
    anyio.run(guarded, scope, receive, send)
    assert sent[0]["status"] == status
    assert reached == (["/mcp"] if status == 200 else [])


def test_a_port_that_is_taken(where: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, said = refused(where, "--port", str(taken.getsockname()[1]))
    assert code == 1
    assert "choose another with --port" in said


@pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX's")
@pytest.mark.parametrize(
    ("body", "mode", "text"),
    [
        ("x" * 43, 0o644, "others on this machine may read it"),
        ("x" * 43, 0o640, "others on this machine may read it"),
        ("x" * 43, 0o604, "others on this machine may read it"),
        ("short", 0o600, "holds no token"),
        ("", 0o600, "holds"),
    ],
)
def test_a_token_that_is_none(where: Place, body: str, mode: int, text: str) -> None:
    where.segue_home.mkdir(parents=True)
    file = where.segue_home / "mcp-token"
    file.write_text(body, "ascii")
    file.chmod(mode)
    code, said = refused(where)
    assert code == 1
    assert text in said
    assert "delete it" in said
    assert "x" * 43 not in said
