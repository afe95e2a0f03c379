"""Streamable HTTP for one user on one machine: loopback alone, a bearer, Host and Origin checked, bodies bounded.

What a web page can make a browser send is refused before anything is read: a page's Origin is another one, a name that
was rebound to this machine stands in Host, and no page knows the token.
"""

from __future__ import annotations

import contextlib
import hmac
import ipaddress
import logging
import signal
import socket
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.responses import PlainTextResponse

from segue.base.errors import Failed, InvalidInput
from segue.mcp.ending import end_now, end_soon

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from starlette.types import ASGIApp, Receive, Scope, Send

    from segue.mcp.server import Server

PATH = "/mcp"
MOST_BYTES = 1 << 20
_MOST_SESSIONS = 1_000  # many clients leave without a word, and a session is small
_IDLE_SECONDS = 30 * 60
_SAID = {
    401: "the token is missing or wrong: send the header `Authorization: Bearer TOKEN`",
    403: "this Origin may not call: pages of other sites are refused",
    421: "this Host is not served: use the address that the server printed",
}


@contextlib.contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """Yield a socket that listens there. Raises InvalidInput `http.host`, Failed `http.port`."""
    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        address = None
    if address is None or not address.is_loopback:
        said = "is an address of this machine alone: 127.0.0.1, ::1 or localhost; nothing else is served yet"
        raise InvalidInput("http.host", f"--host {said}")
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    # With the protocol named, asyncio sends at once; else each answer waits for the client's acknowledgement (40 ms).
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    with contextlib.closing(listener):
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((str(address), port))
            listener.listen()
        except (OSError, OverflowError) as error:
            said = getattr(error, "strerror", None) or "there is no such port"
            raise Failed("http.port", f"cannot listen on port {port}: {said}; choose another with --port") from None
        yield listener


def address(listener: socket.socket) -> str:
    """Return the URL of the endpoint."""
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}{PATH}"


def run(server: Server, listener: socket.socket, token: str) -> None:
    """Serve until SIGTERM or SIGINT, then end at once."""
    host, port = listener.getsockname()[:2]
    app = server.protocol.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=MOST_BYTES,
        max_sessions=_MOST_SESSIONS,
        session_idle_timeout=_IDLE_SECONDS,
    )
    guarded = Guarded(app, _authorities(host, port), token)
    config = uvicorn.Config(
        guarded, log_config=None, access_log=False, timeout_graceful_shutdown=0, server_header=False, lifespan="on"
    )
    ending = _Ending(config)
    # uvicorn takes signals while it runs, and hands each on once it has ended: by then there is nothing left to do.
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda *_: None if ending.should_exit else end_now())
    ending.run(sockets=[listener])


def _authorities(host: str, port: int) -> frozenset[str]:
    names = {f"[{host}]" if ":" in host else host, "127.0.0.1", "localhost", "[::1]"}
    return frozenset(f"{name}:{port}" for name in names)


class _Ending(uvicorn.Server):
    """A server that does not wait for streams that are open, or for calls that run."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        end_soon()
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # what is broken off now is no error
        super().handle_exit(sig, frame)


class Guarded:
    """An application behind its guard: Host, then Origin, then the token."""

    def __init__(self, app: ASGIApp, authorities: frozenset[str], token: str) -> None:
        self._app = app
        self._hosts = {each.encode() for each in authorities}
        self._origins = {f"http://{each}".encode() for each in authorities}
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            refused = self._refused(scope["headers"])
            if refused is None:
                await self._app(scope, receive, send)
            else:
                await PlainTextResponse(_SAID[refused], refused, _headers(refused))(scope, receive, send)

    def _refused(self, headers: list[tuple[bytes, bytes]]) -> int | None:
        """The status of a request that is refused. A header that is there twice is as good as a wrong one."""
        given: dict[bytes, list[bytes]] = {}
        for name, value in headers:
            given.setdefault(name.lower(), []).append(value)
        host = given.get(b"host", [])
        if len(host) != 1 or host[0].lower() not in self._hosts:
            return 421
        if any(each.lower() not in self._origins for each in given.get(b"origin", [])):
            return 403
        said = given.get(b"authorization", [])
        scheme, _, token = said[0].partition(b" ") if len(said) == 1 else (b"", b"", b"")
        right = hmac.compare_digest(token.strip(), self._token)
        return None if right and scheme.lower() == b"bearer" else 401


def _headers(status: int) -> dict[str, Any]:
    return {"WWW-Authenticate": 'Bearer realm="segue"'} if status == 401 else {}
