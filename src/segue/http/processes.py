"""The processes of a server: one, or several that share a socket and a database, watched by their parent."""

from __future__ import annotations

import contextlib
import gc
import ipaddress
import logging
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
import threading
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

import segue as library
from segue.base.errors import Failed, InvalidInput, SegueError
from segue.base.untrusted import one_line
from segue.http.metrics import SHARED
from segue.http.settings import Settings
from segue.mcp.ending import end_soon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from fastapi import FastAPI

MOST_WORKERS = 64
_GRACE_SECONDS = 5  # for requests that run when the end is asked for
_HEALTHY_SECONDS = 30  # a process that does not answer for so long is replaced
_WAITING = 2_048  # connections


@dataclass(frozen=True, slots=True)
class Plan:
    """What is served and where: `location` as `segue.open` takes it, `port` 0 for a free one."""

    settings: Settings
    location: str | None = None
    host: str = "127.0.0.1"
    port: int = 8787
    workers: int = 1

    def __post_init__(self) -> None:
        """Raise InvalidInput `server.workers`."""
        if not 1 <= self.workers <= MOST_WORKERS:
            raise InvalidInput("server.workers", f"a server has 1 to {MOST_WORKERS} processes")


def run(plan: Plan, say: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT; requests that run then are answered. `say` tells people where, on stderr.

    Raises Failed `store.…` where the database does not answer, `server.no_root` where nobody could log in,
    `http.port`; InvalidInput `http.host`.
    """
    _require_root(plan.location)
    with listening(plan.host, plan.port) as listener, _counting_together(plan.workers):
        say(f"serving at {address(listener)}; Ctrl-C ends it")
        if not _is_private(plan):
            say("tokens travel as they are over plain HTTP: put a proxy with TLS before it, and name --external-url")
        config = uvicorn.Config(
            partial(application, plan),
            factory=True,
            workers=plan.workers,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            lifespan="on",
            timeout_graceful_shutdown=_GRACE_SECONDS,
            timeout_worker_healthcheck=_HEALTHY_SECONDS,
        )
        if plan.workers > 1:
            _supervise(Multiprocess(config, [listener]))
        else:
            # uvicorn hands each signal on once it has ended; by then there is nothing left to do.
            for each in (signal.SIGTERM, signal.SIGINT):
                signal.signal(each, _nothing)
            uvicorn.Server(config).run([listener])


def application(plan: Plan) -> FastAPI:
    """Return the application of one process; called in that process."""
    from segue.http.app import create_app

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
    try:
        segue = library.open(plan.location, actor="server")
        segue.memories.prepare()  # the first request is not to wait for it
    except SegueError as error:
        sys.stderr.write(f"segue: {one_line(error.message)}\n")
        raise SystemExit(STARTUP_FAILURE) from None
    _follow_parent()
    gc.collect()
    gc.freeze()

    def end() -> None:
        segue.close()
        end_soon()  # a thread that hangs in the database is not waited for

    return create_app(plan.settings, segue, at_end=end)


def _supervise(processes: Multiprocess) -> None:
    """Keep processes running until the end is asked for. Raises Failed `server.process` where one cannot start."""
    processes.run()
    if any(each.exitcode == STARTUP_FAILURE for each in processes.processes):
        raise Failed("server.process", "a process could not start; the line before this one says why")


def _require_root(location: str | None) -> None:
    with library.open(location, actor="server") as segue:
        if not segue.accounts.is_initialised():
            raise Failed("server.no_root", "nobody could log in yet; `segue server init` makes the root user first")


def _follow_parent() -> None:
    """End this process when the one that started it is gone, however that ended."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def follow() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=follow, daemon=True).start()


def _nothing(_: int, __: FrameType | None) -> None:
    pass


@contextlib.contextmanager
def _counting_together(workers: int) -> Iterator[None]:
    """Have the processes keep their counts in one folder, where there are several."""
    if workers == 1 or os.environ.get(SHARED):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="segue-metrics-", ignore_cleanup_errors=True) as folder:
        os.environ[SHARED] = folder
        try:
            yield
        finally:
            del os.environ[SHARED]


# -- where ------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """Yield a socket that listens there. Raises InvalidInput `http.host`, Failed `http.port`."""
    try:
        found = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        raise InvalidInput("http.host", "--host is an address of this machine: 127.0.0.1, 0.0.0.0, ::1 or ::") from None
    family = socket.AF_INET6 if found.version == 6 else socket.AF_INET
    # With the protocol named, asyncio sends at once; else each answer waits for the client's acknowledgement (40 ms).
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    with contextlib.closing(listener):
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((str(found), port))
            listener.listen(_WAITING)
        except (OSError, OverflowError) as error:
            said = getattr(error, "strerror", None) or "there is no such port"
            raise Failed("http.port", f"cannot listen on {host} port {port}: {said}; choose another --port") from None
        yield listener


def address(listener: socket.socket) -> str:
    """Return the URL of a server that listens there."""
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _is_private(plan: Plan) -> bool:
    host = "127.0.0.1" if plan.host == "localhost" else plan.host
    return ipaddress.ip_address(host).is_loopback or plan.settings.external_url.startswith("https:")
