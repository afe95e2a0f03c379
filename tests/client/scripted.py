"""A host that answers what a test tells it to, over a real socket, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came in; header names are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: JSON values as its body, or bytes; `then` writes more, by itself."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    then: Callable[[Callable[[bytes], Any]], None] | None = None


class Scripted:
    """A host whose answers come from `script`, in turn, the last one again and again. Use it as a context manager."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self.asked: list[Asked] = []
        self.script: list[Answer] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _any(self) -> None:
                length = int(self.headers.get("content-length", 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                outer.asked.append(Asked(self.command, self.path, headers, self.rfile.read(length)))
                answer = outer.script.pop(0) if len(outer.script) > 1 else outer.script[0]
                self._send(answer)

            do_GET = do_POST = do_DELETE = _any  # noqa: N815 - the base class's names

            def _send(self, answer: Answer) -> None:
                body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
                body = b"" if answer.status == 204 else body
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                if answer.then is None:
                    self.send_header("Content-Length", str(len(body)))
                else:
                    self.close_connection = True
                self.end_headers()
                try:
                    self.wfile.write(body if answer.then is None else b"")
                    if answer.then is not None:
                        answer.then(self.wfile.write)
                except OSError:
                    self.close_connection = True  # the client had enough

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if context is not None:
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.address = f"http{'s' if context else ''}://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def answers(self, *script: Answer) -> None:
        """Answer so from now on, and forget what was asked before."""
        self.script[:] = script
        self.asked.clear()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)
