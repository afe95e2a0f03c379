"""A server over real TLS on loopback that answers whatever a test tells it to, byte by byte."""

from __future__ import annotations

import contextlib
import hashlib
import socket
import ssl
import threading
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import trustme

from segue.sources import base_url
from segue.sources.https import Https
from segue.sources.limits import Limits
from segue.sources.network import policy
from sources.folders import RECORDS, manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from segue.sources.base_url import BaseUrl

NAME = "memories.example.org"
MARKDOWN = "text/markdown; charset=utf-8"
LOOPBACK = policy(["127.0.0.0/8"])
USUAL = Limits()
_DONE = 10.0  # seconds after which a connection of the server ends by itself

# Bytes, or what makes them of a request, at once or piece by piece; after the latter the connection ends.
Answer: TypeAlias = "bytes | Callable[[Asked], bytes | Iterator[bytes]]"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came in; header names are in lower case."""

    target: str
    headers: dict[str, str]


def reply(body: bytes = b"", status: int = 200, *, media: str = MARKDOWN, **headers: str) -> bytes:
    """The bytes of an answer. Headers are given as `content_length="5"`; one that is "" is left out."""
    given = {"content_type": media, "content_length": str(len(body)), **headers}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in given.items() if value]
    return "\r\n".join([f"HTTP/1.1 {status} Said", *lines, "", ""]).encode("latin-1") + body


def served(*paths: str, **headers: str) -> bytes:
    """The answer with a manifest that lists `paths`."""
    return reply(manifest(*paths), 200, media="application/json", **headers)


@cache
def authority() -> trustme.CA:
    """Who signs the certificates of all tests."""
    return trustme.CA()


@cache
def trusting() -> ssl.SSLContext:
    """What a client trusts: that authority alone."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authority().configure_trust(context)
    return context


class Liar:
    """The server. `answers` are by target, a list is given in turn, its last one again and again."""

    def __init__(self, certified: str = NAME, trusted: trustme.CA | None = None) -> None:
        self.asked: list[Asked] = []
        self.connections = 0
        self.names: list[str | None] = []  # what TLS was asked for
        self._answers: dict[str, list[Answer]] = {}
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        (trusted or authority()).issue_cert(certified).configure_cert(self._context)
        self._context.sni_callback = lambda secured, name, context: self.names.append(name)
        self._over = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        self._thread = threading.Thread(target=self._accept, daemon=True)

    @property
    def base(self) -> BaseUrl:
        """The base URL of the source that it serves."""
        return base_url.parse(f"https://{NAME}:{self.port}/team/")

    def answers(self, answers: Mapping[str, Answer | list[Answer]]) -> None:
        """Answer so from now on (targets below the base), and forget what was asked before."""
        listed = {path: each if isinstance(each, list) else [each] for path, each in answers.items()}
        self._answers = {path if path.startswith("/") else f"/team/{path}": list(each) for path, each in listed.items()}
        self.asked.clear()
        self.names.clear()
        self.connections = 0

    def serves(self, records: Mapping[str, str] = RECORDS, **headers: str) -> None:
        """Serve a source as a good server does; with an ETag for each file, and 304 where that is asked with."""
        bodies = {"memories.json": manifest(*records)} | {path: text.encode() for path, text in records.items()}
        self.answers({path: _good(path, body, headers) for path, body in bodies.items()})

    def pause(self, seconds: float) -> bool:
        """Let that time pass; False once the server is to end."""
        return not self._over.wait(seconds)

    def targets(self) -> list[str]:
        """What was asked for, below the base."""
        return [each.target.removeprefix("/team/") for each in self.asked]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join(_DONE)

    def _accept(self) -> None:
        while not self._over.is_set():
            try:
                connected, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connected,), daemon=True).start()

    def _serve(self, connected: socket.socket) -> None:
        self.connections += 1
        connected.settimeout(_DONE)
        with connected, contextlib.suppress(OSError):
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._context.wrap_socket(connected, server_side=True) as secured:
                while asked := _read(secured):
                    self.asked.append(asked)
                    if not self._say(secured, asked):
                        break

    def _say(self, secured: ssl.SSLSocket, asked: Asked) -> bool:
        """Answer; False where the connection ends with that."""
        listed = self._answers.get(asked.target, [reply(b"not here", 404)])
        answer = listed.pop(0) if len(listed) > 1 else listed[0]
        said = answer if isinstance(answer, bytes) else answer(asked)
        if isinstance(said, bytes):
            secured.sendall(said)
            return True
        for piece in said:
            secured.sendall(piece)
        return False


def _good(path: str, body: bytes, headers: dict[str, str]) -> Answer:
    tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
    media = "application/json" if path == "memories.json" else MARKDOWN

    def answered(asked: Asked) -> bytes:
        if asked.headers.get("if-none-match") == tag:
            return reply(b"", 304, media="", content_length="", etag=tag)
        return reply(body, 200, media=media, **{"etag": tag, **headers})

    return answered


def _read(secured: ssl.SSLSocket) -> Asked | None:
    head = b""
    while b"\r\n\r\n" not in head:
        piece = secured.recv(65_536)
        if not piece:
            return None
        head += piece
    first, *lines = head.decode("latin-1").split("\r\n\r\n")[0].split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return Asked(first.split(" ")[1], headers)


def reader(**given: Any) -> Https:
    """A reader that finds every name on loopback, where that is permitted, and waits for nothing."""
    usual: dict[str, Any] = {
        "resolver": lambda host, port: ["127.0.0.1"],
        "policy": LOOPBACK,
        "limits": USUAL,
        "sleep": lambda seconds: None,
        "random": lambda: 1.0,
        "ssl_context": trusting(),
    }
    return Https(**(usual | given))
