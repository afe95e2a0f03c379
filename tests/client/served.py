"""A running server in this process, over a real socket, and people who are signed in at it."""

from __future__ import annotations

import io
import socket
import threading
from typing import TYPE_CHECKING, Any, Self

import uvicorn

import segue
from segue.client.contract import PacketServer
from segue.http.app import create_app
from segue.http.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path


class Served:
    """A server over a new store. Use it as a context manager."""

    def __init__(self, location: str | Path, **settings: Any) -> None:
        self.store = segue.open(location, actor="server")
        self.store.accounts.init()
        # With the protocol named, what is sent does not wait for more (asyncio looks at it).
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.listen()
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        app = create_app(Settings(**settings), self.store, log=io.StringIO())
        self._server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="on"))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()
        self.store.close()

    def token(self, name: str, **options: Any) -> str:
        """A token for a new user."""
        return self.store.accounts.issue(name, **options)

    def client(self, token: str | None) -> PacketServer:
        """The host, as whoever has the token sees it."""
        return PacketServer(self.address, token)


class Person:
    """Somebody with a store of their own and a token for the server."""

    def __init__(
        self, server: Served, folder: Path, name: str, *, token: str = "", clock: Callable[[], datetime] | None = None
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.token = token or server.token(name)
        options: dict[str, Any] = {"clock": clock} if clock else {}
        self.segue = segue.open(folder / "segue.db", directory=folder, **options)
        self.host = server.client(self.token)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.host.close()
        self.segue.close()
