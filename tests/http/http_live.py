"""A running server in this process, over a real socket, and packets as clients send them."""

from __future__ import annotations

import contextlib
import io
import json
import secrets
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import httpx2
import uvicorn

import segue
from segue.http.app import create_app
from segue.http.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from segue.services.callers import Caller

MADE = "2026-05-04T09:30:00Z"
MCP_HEADERS = {"Accept": "application/json, text/event-stream"}


def packet(packet_id: str = "", **members: Any) -> dict[str, Any]:
    """The document of a small packet; its id is new unless one is given."""
    packet_id = packet_id or f"packet-{secrets.token_hex(8)}"
    document = {"ltm_version": "0.2", "id": packet_id, "created_at": MADE, "goal": "Ship it.", "next_step": "Test it."}
    return document | members


class Live:
    """A server that runs. `segue` is the store that it serves, `log` what it has logged."""

    def __init__(self, store: segue.Segue, settings: Settings) -> None:
        self.segue = store
        self.log = io.StringIO()
        self.app = create_app(settings, store, log=self.log)
        # With the protocol named, asyncio sends at once; else each answer waits for an acknowledgement (40 ms).
        self._listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(256)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        config = uvicorn.Config(
            self.app, log_config=None, access_log=False, server_header=False, proxy_headers=False, lifespan="on"
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._listener],))
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive()
            time.sleep(0.002)
        self._clients: list[httpx2.Client] = []
        self.nobody = self.client()

    def client(self, token: str = "", **headers: str) -> httpx2.Client:
        """A client with a token; it is closed with the server."""
        given = {"Authorization": f"Bearer {token}"} if token else {}
        limits = httpx2.Limits(max_connections=100)
        made = httpx2.Client(base_url=self.url, headers=given | headers, trust_env=False, timeout=120, limits=limits)
        self._clients.append(made)
        return made

    def user(self, name: str = "ann", *permissions: str) -> httpx2.Client:
        """A client of a new user."""
        return self.client(self.token(name, *permissions))

    def token(self, name: str = "ann", *permissions: str) -> str:
        """The token of a new user."""
        return self.segue.accounts.issue(name, permissions=permissions or ("read", "write"))

    def caller(self, token: str) -> Caller:
        """Who has a token."""
        return self.segue.accounts.authenticate(token)

    def lines(self) -> list[dict[str, Any]]:
        """What was logged."""
        return [json.loads(line) for line in self.log.getvalue().splitlines()]

    def line(self, request_id: str) -> dict[str, Any]:
        """The one line of a request; it is written once the answer is sent."""
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            found = [each for each in self.lines() if each["request_id"] == request_id]
            if found:
                assert len(found) == 1
                return found[0]
            time.sleep(0.005)
        raise AssertionError(f"nothing was logged of {request_id}")

    def close(self) -> None:
        """End the server."""
        for each in self._clients:
            each.close()
        self._server.should_exit = True
        self._thread.join(120)  # a machine that is busy takes its time
        assert not self._thread.is_alive()


@contextlib.contextmanager
def served(location: str, settings: Settings | None = None) -> Iterator[Live]:
    """A server over a new store."""
    with segue.open(location) as store:
        store.accounts.init()
        live = Live(store, settings or Settings())
        try:
            yield live
        finally:
            live.close()
