"""Connections that go where the network guard looked: one look-up, every address checked, then that address.

The name stays what TLS asks for and checks. Whatever waits here waits until a deadline that is set from outside, so
that a server that sends a byte now and then keeps nothing open.
"""

from __future__ import annotations

import contextlib
import math
import re
import select
import socket
import ssl
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import httpcore2

from segue.sources import addresses

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from segue.sources.network import Policy

Resolver: TypeAlias = Callable[[str, int], Sequence[str]]  # the addresses of a name, for a port

MAX_ANSWERS = 64
_HEAD_END = re.compile(rb"\n\r?\n")
_INTERIM = re.compile(rb"HTTP/1\.[01] 1\d\d")
_MAX_HEAD = 128 << 10


def resolve(host: str, port: int) -> list[str]:
    """Return the addresses that this machine finds for a name. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(each[4][0]) for each in found]


class Deadline:
    """When to stop waiting, on a clock that only runs forward; never later than the one `within` which it lies."""

    def __init__(self, clock: Callable[[], float], seconds: float, within: Deadline | None = None) -> None:
        self._clock = clock
        self._until = clock() + seconds
        self._within = within

    @property
    def left(self) -> float:
        """The seconds that are left, 0 or less once it has passed."""
        left = self._until - self._clock()
        return left if self._within is None else min(left, self._within.left)

    def end(self) -> None:
        """Let it pass now."""
        self._until = -math.inf


class Names:
    """The addresses of names, each looked up once, and again after `forget`. Several threads may ask."""

    def __init__(self, resolver: Resolver, policy: Policy) -> None:
        self._resolver = resolver
        self._policy = policy
        self._known: dict[tuple[str, int], list[str]] = {}
        self._lock = threading.Lock()

    def addresses(self, host: str, port: int, seconds: float) -> list[str]:
        """Return the addresses to connect to, all of them checked; a look-up may take that many seconds.

        Raises Refused `source.address`, OSError, TimeoutError.
        """
        shown = f"[{host}]" if ":" in host else host
        addresses.require_name(shown, self._policy)
        if addresses.literal(shown) is not None:
            return [host]
        with self._lock:
            if (host, port) not in self._known:
                answers = _within(seconds, lambda: self._resolver(host, port))
                checked = addresses.checked(host, answers, self._policy)
                self._known[host, port] = [str(each) for each in checked][:MAX_ANSWERS]
            return self._known[host, port]

    def forget(self) -> None:
        """Look every name up anew."""
        with self._lock:
            self._known.clear()


class Guard(httpcore2.NetworkBackend):
    """Connects for `httpcore2`, after the guard. Set `deadline` before each request.

    `heard` becomes true when anything comes. Raises Refused `source.address` before anything is sent.
    """

    deadline: Deadline
    heard: bool = False

    def __init__(self, names: Names) -> None:
        self._names = names
        self._open: socket.socket | None = None

    def abort(self) -> None:
        """Wake whoever waits at the connection."""
        opened = self._open
        if opened is not None:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(opened, socket.SHUT_RDWR)  # of TLS nothing is said: another thread may be at it

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - the deadline counts
        local_address: str | None = None,  # noqa: ARG002 - never given
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,  # noqa: ARG002 - never given
    ) -> httpcore2.NetworkStream:
        """Look up, check and connect to the first address that answers."""
        with _errors(httpcore2.ConnectTimeout, httpcore2.ConnectError):
            found = self._names.addresses(host, port, self.deadline.left)
        last: Exception = httpcore2.ConnectError(f"the name {host} has no address")
        for number, address in enumerate(found):
            left = self.deadline.left / (len(found) - number)  # so that one that is silent leaves time for the others
            try:
                with _errors(httpcore2.ConnectTimeout, httpcore2.ConnectError):
                    connected = socket.create_connection((address, port), _some(left))
                    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    return self.opened(connected)
            except (httpcore2.ConnectTimeout, httpcore2.ConnectError) as error:
                last = error
        raise last

    def opened(self, connected: socket.socket) -> Stream:
        """Return the stream over a connection, which is now the one to abort: there is one at a time."""
        self.close()
        self._open = connected
        return Stream(connected, self)

    def close(self) -> None:
        """Close the connection, also where whoever asked for it gave up before it had it."""
        opened, self._open = self._open, None
        if opened is not None:
            with contextlib.suppress(OSError):
                opened.close()


class Stream(httpcore2.NetworkStream):
    """A connection that waits until its guard's deadline, and counts what came below the head of an answer."""

    def __init__(self, connected: socket.socket, guard: Guard) -> None:
        self._socket = connected
        self._guard = guard
        self._head = b""
        self.body_bytes: int | None = None  # None while the head of the answer is not complete

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return what comes next; nothing at the end, which TLS has to announce."""
        with _errors(httpcore2.ReadTimeout, httpcore2.ReadError):
            self._socket.settimeout(self._left(timeout))
            data = self._socket.recv(max_bytes)
        self._guard.heard = self._guard.heard or bool(data)
        self._count(data)
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all of it; an answer begins after that."""
        self._head, self.body_bytes = b"", None
        view = memoryview(buffer)
        while view:
            with _errors(httpcore2.WriteTimeout, httpcore2.WriteError):
                self._socket.settimeout(self._left(timeout))
                view = view[self._socket.send(view) :]

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        """Go on with TLS, for the name that was asked for."""
        try:
            with _errors(httpcore2.ConnectTimeout, httpcore2.ConnectError):
                self._socket.settimeout(self._left(timeout))
                secured = ssl_context.wrap_socket(
                    self._socket, server_hostname=server_hostname, suppress_ragged_eofs=False
                )
        except BaseException:
            self.close()
            raise
        return self._guard.opened(secured)

    def get_extra_info(self, info: str) -> Any:
        """Return what `httpcore2` asks: whether something waits to be read, and the object of TLS."""
        if info == "is_readable":
            return self._is_readable()
        if info == "ssl_object":
            return self._socket if isinstance(self._socket, ssl.SSLSocket) else None
        return None

    def _left(self, timeout: float | None) -> float:
        left = self._guard.deadline.left
        return _some(left if timeout is None else min(left, timeout))

    def _is_readable(self) -> bool:
        if self._socket.fileno() < 0:
            return True
        if isinstance(self._socket, ssl.SSLSocket) and self._socket.pending():
            return True
        return bool(select.select([self._socket], [], [], 0)[0])

    def _count(self, data: bytes) -> None:
        if self.body_bytes is not None:
            self.body_bytes += len(data)
            return
        self._head += data
        while (end := _HEAD_END.search(self._head)) and _INTERIM.match(self._head):
            self._head = self._head[end.end() :]
        if end is not None:
            self.body_bytes = len(self._head) - end.end()
        if end is not None or len(self._head) > _MAX_HEAD:
            self._head = b""


@contextlib.contextmanager
def _errors(late: type[Exception], broken: type[Exception]) -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise late(str(error)) from error
    except (OSError, ValueError) as error:  # ValueError: a name that TLS or the look-up cannot write
        raise broken((isinstance(error, OSError) and error.strerror) or str(error)) from error  # without "[Errno 111]"


def _some(seconds: float) -> float:
    """The time to wait. Raises TimeoutError where none is left, which a socket would take for another wish."""
    if seconds <= 0:
        raise TimeoutError("the time is over")
    return seconds


def _within(seconds: float, call: Callable[[], Sequence[str]]) -> Sequence[str]:
    """What `call` returns or raises, TimeoutError where it takes longer: a look-up has no time limit of its own."""
    found: list[Sequence[str]] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(call())
        except Exception as error:  # noqa: BLE001 - it is raised again, where somebody waits for it
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(_some(seconds))
    if failed:
        raise failed[0]
    if not found:
        raise TimeoutError("the name was not looked up in time")
    return found[0]
