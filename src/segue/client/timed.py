"""A transport whose requests end in time, whatever a host does.

The limits of the HTTP library are for one read each: a host that sends a byte now and then never meets them. Here all
that a request does on the network, from the connection to the last byte of the body, has one end.
"""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING, Any

import httpcore2
import httpx2

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterable, Iterator

    Ticks = Callable[[], float]


class Deadline:
    """When the request of this thread must be over; outside of `within` there is no end."""

    def __init__(self, ticks: Ticks = time.monotonic) -> None:
        self._ticks = ticks
        self._local = threading.local()

    @contextlib.contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Let all that is done on the network inside take that long together."""
        self._local.until = self._ticks() + seconds
        try:
            yield
        finally:
            self._local.until = None

    def left(self, timeout: float | None) -> float | None:
        """Return the seconds that a step may take which has `timeout` by itself. Raises httpcore2.ReadTimeout."""
        until = getattr(self._local, "until", None)
        if until is None:
            return timeout
        seconds: float = until - self._ticks()
        if seconds <= 0:
            raise httpcore2.ReadTimeout
        return seconds if timeout is None else min(seconds, timeout)


class Timed(httpx2.HTTPTransport):
    """The usual transport, over a network that keeps to `deadline`; nothing is taken from the environment."""

    def __init__(self, deadline: Deadline) -> None:
        super().__init__(trust_env=False)
        self._pool._network_backend = _Network(deadline)  # there is no other way to give it one


class _Network(httpcore2.NetworkBackend):
    """The network, each step of which takes what is left of the time at most."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self._network = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        stream = self._network.connect_tcp(host, port, self._deadline.left(timeout), local_address, socket_options)
        return _Stream(stream, self._deadline)

    def sleep(self, seconds: float) -> None:
        self._network.sleep(seconds)


class _Stream(httpcore2.NetworkStream):
    def __init__(self, stream: httpcore2.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._deadline.left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._deadline.left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        stream = self._stream.start_tls(ssl_context, server_hostname, self._deadline.left(timeout))
        return _Stream(stream, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
