"""The two transports: stdin and stdout, and streamable HTTP on this machine's own addresses."""

from __future__ import annotations

import contextlib
import logging
import signal
import sys
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.stdio import stdio_server

import segue as library
from segue.base.errors import InvalidInput
from segue.base.untrusted import shorten
from segue.mcp.ending import end_soon
from segue.mcp.log import Log
from segue.mcp.server import Server
from segue.mcp.tools import DEFAULT, TOOLSETS
from segue.mcp.wire import Answering

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from segue.mcp.tools import Toolset


def toolset_named(name: str) -> Toolset:
    """Return the toolset of that name. Raises InvalidInput `toolset.invalid`."""
    for each in TOOLSETS:
        if each == name:
            return each
    raise InvalidInput("toolset.invalid", f"the toolsets are {', '.join(TOOLSETS)}, not {shorten(name, 40)!a}")


def serve(
    location: str | None, directory: Path, *, toolset: Toolset = DEFAULT, read_only: bool = False, debug: bool = False
) -> None:
    """Serve over stdin and stdout until stdin closes. Raises SegueError where the store cannot be opened."""
    with _opened(location, directory, debug=debug) as segue:
        # A thread waits for stdin and cannot be interrupted, so Ctrl-C ends the process as SIGTERM does.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        anyio.run(_over_stdio, Server(segue, toolset=toolset, read_only=read_only))


def serve_http(
    location: str | None,
    directory: Path,
    *,
    host: str,
    port: int,
    say: Callable[[str], None],
    toolset: Toolset = DEFAULT,
    read_only: bool = False,
    debug: bool = False,
) -> None:
    """Serve streamable HTTP until the process is told to end. `say` tells the user where, on stderr.

    `port` 0 takes a free one. Raises SegueError where the store cannot be opened, InvalidInput `http.host`,
    Failed `http.port`, `http.token`.
    """
    from segue.mcp import bearer, endpoint

    with _opened(location, directory, debug=debug) as segue, endpoint.listening(host, port) as listener:
        token = bearer.token(segue.home)
        say(f"serving MCP at {endpoint.address(listener)}; Ctrl-C ends it")
        if token.new:
            say(f"clients send the header `Authorization: Bearer TOKEN`; the token stands in {token.path}")
        endpoint.run(Server(segue, toolset=toolset, read_only=read_only), listener, token.value)


@contextlib.contextmanager
def _opened(location: str | None, directory: Path, *, debug: bool) -> Iterator[Any]:
    """An open Segue. What anything prints meanwhile goes to stderr: stdout is for the protocol."""
    log = Log(sys.stderr.fileno())
    logging.basicConfig(handlers=[log], level=logging.WARNING, format="%(name)s: %(message)s")
    if debug:
        logging.getLogger("segue").setLevel(logging.DEBUG)
    with contextlib.redirect_stdout(sys.stderr):
        segue = library.open(location, directory=directory, actor="mcp")
    with segue:
        yield segue
    log.drain()


async def _over_stdio(server: Server) -> None:
    # What is printed would wait in a buffer until the end, and then reach the client as a line of the protocol.
    async with stdio_server() as (incoming, outgoing):
        with contextlib.redirect_stdout(sys.stderr):
            messages = Answering(incoming, outgoing, at_end=end_soon)
            await server.protocol.run(messages, outgoing, server.protocol.create_initialization_options())
