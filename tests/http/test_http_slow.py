"""Bodies that come slowly: nobody holds a request open with a token that is over by the end, nor for ever."""

from __future__ import annotations

import json
import secrets
import socket
import time
from typing import TYPE_CHECKING, Any

import pytest
from http_live import Live, packet, served

from segue.http import limits
from segue.http.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

pytest_plugins = ["http_fixtures"]

CALL = {"name": "remember_this", "arguments": {"content": "It was late."}}
WRITES: dict[str, Any] = {
    "/v1/packets": packet(),
    "/v1/teams": {"name": f"late-{secrets.token_hex(4)}"},
    "/v1/memories": {"content": "It was late."},
    "/v1/memories/bulk": {"memories": [{"content": "It was late."}]},
    "/v1/memories/query": {"find": "late"},
    "/v1/context": {"task": "late"},
    "/v1/tools/call": CALL,
    "/mcp": {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CALL},
}


class Slow:
    """A request whose head and first byte were sent."""

    def __init__(self, live: Live, path: str, token: str, document: Any) -> None:
        self.id = f"slow-{secrets.token_hex(6)}"
        body = json.dumps(document).encode()
        self._rest = body[1:]
        host, _, port = live.url.removeprefix("http://").partition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=60)
        head = [
            f"POST {path} HTTP/1.1", f"Host: {host}", f"Authorization: Bearer {token}", "Connection: close",
            "Content-Type: application/json", "Accept: application/json, text/event-stream",
            f"Content-Length: {len(body)}", f"X-Request-Id: {self.id}", "", "",
        ]  # fmt: skip
        self._socket.sendall("\r\n".join(head).encode() + body[:1])

    def give_up(self) -> None:
        """Go away."""
        self._socket.close()

    def finish(self) -> None:
        """Send what is left."""
        self._socket.sendall(self._rest)

    def answer(self) -> tuple[int, dict[str, Any]]:
        """The status and the body."""
        told = b""
        with self._socket:
            while part := self._socket.recv(65_536):
                told += part
        head, _, body = told.partition(b"\r\n\r\n")
        return int(head.split()[1]), json.loads(body)


@pytest.mark.parametrize("path", WRITES)
@pytest.mark.parametrize("ending", ["revoke", "offboard"])
def test_a_token_that_ends_while_the_body_comes_does_nothing(
    single: Live, path: str, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_SOON_SECONDS", 0)  # a busy machine may read the head late, and so wait for less
    accounts, token = single.segue.accounts, single.token("late")
    caller = single.caller(token)
    slow = Slow(single, path, token, WRITES[path])
    time.sleep(0.1)  # by now the head was read
    if ending == "revoke":
        accounts.revoke(token)
    else:
        accounts.offboard(caller.user_id)
    slow.finish()
    status, document = slow.answer()
    assert (status, document.get("code")) == (401, "auth.revoked"), document
    seen = single.segue.seen_by(caller)
    assert (seen.packets.count(), seen.memories.ls().memories, single.segue.teams.ls(caller)) == (0, [], ())


def test_a_slow_body_with_a_good_token_is_taken(single: Live) -> None:
    slow = Slow(single, "/mcp", single.token(), WRITES["/mcp"])
    time.sleep(0.3)
    slow.finish()
    status, document = slow.answer()
    assert (status, document["result"]["structuredContent"]["verdict"]) == (200, "new")


@pytest.mark.parametrize("path", WRITES)
def test_a_body_that_never_comes_is_not_waited_for(hasty: Live, path: str) -> None:
    status, document = Slow(hasty, path, hasty.token(), WRITES[path]).answer()
    assert (status, document["code"]) == (408, "body.slow")


@pytest.mark.parametrize("path", WRITES)
def test_who_goes_away_is_no_failure_of_the_server(single: Live, path: str) -> None:
    slow = Slow(single, path, single.token(), WRITES[path])
    slow.give_up()
    line = single.line(slow.id)
    assert (line["level"], line["code"], line["status"] < 500) == ("info", "body.cut", True)


@pytest.fixture(scope="module")
def hasty(places: Callable[[str], str]) -> Any:
    with served(places("sqlite"), Settings(body_seconds=0.05)) as running:
        yield running
