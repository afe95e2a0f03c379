"""One line for each request, as JSON on stderr, with an id that the answer carries too.

A line names the route by its template: paths hold invites' codes and pages' slugs. It holds no header and no body.
"""

from __future__ import annotations

import logging
import re
import secrets
import sys
import time
import traceback
from typing import TYPE_CHECKING, Any

import structlog
from starlette.datastructures import MutableHeaders

from segue.base.errors import Failed, SegueError
from segue.http.answers import answer
from segue.http.errors import body

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from segue.http.metrics import Metrics

HEADER = "X-Request-Id"
_GIVEN = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)
_NO_ROUTE = "(none)"
_QUIET = ("/v1/healthz", "/readyz", "/metrics")
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))


def logger(stream: TextIO | None = None) -> Any:
    """Return a logger that writes a JSON line for each event to `stream`, else to stderr."""
    return structlog.wrap_logger(
        structlog.PrintLogger(stream or sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(sort_keys=True),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
    )


class Logged:
    """An application of which each request is counted and logged, and none ends without an answer."""

    def __init__(
        self, app: ASGIApp, *, log: Any, metrics: Metrics, timer: Callable[[], float] = time.perf_counter
    ) -> None:
        self._app = app
        self._log = log
        self._metrics = metrics
        self._timer = timer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope.setdefault("state", {})
        request_id = _request_id(scope)
        status, begun = 0, self._timer()

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[HEADER] = request_id
            await send(message)

        failure: Exception | None = None
        try:
            await self._app(scope, receive, noted)
        except Exception as error:  # noqa: BLE001 - it is logged, and the client gets an answer
            failure = error
            if not status:
                await answer(body("the server failed; see its log", "server.internal"), 500)(scope, receive, noted)
        self._note(scope, request_id, status, self._timer() - begun, failure)

    def _note(self, scope: Scope, request_id: str, status: int, seconds: float, failure: Exception | None) -> None:
        method = scope["method"] if scope["method"] in _METHODS else "OTHER"
        route = _route(scope)
        self._metrics.count(method, route, status, seconds)
        if route in _QUIET and status < 400:
            return
        event: dict[str, Any] = {
            "request_id": request_id,
            "method": method,
            "route": route,
            "status": status,
            "ms": round(seconds * 1_000, 1),
            "address": (scope.get("client") or ("",))[0],
        }
        event |= {"user_id": user} if (user := scope["state"].get("user_id")) else {}
        event |= _of_error(failure or scope["state"].get("error"))
        (self._log.error if status >= 500 else self._log.info)("request", **event)


def _of_error(error: Exception | None) -> dict[str, Any]:
    """What is said of an error. Of one that nobody expected neither the message nor values: these may hold anything."""
    if error is None:
        return {}
    if isinstance(error, SegueError):
        return {"code": error.code} | ({"failure": error.message} if isinstance(error, Failed) else {})
    frames = traceback.extract_tb(error.__traceback__)[-12:]
    return {
        "code": "server.internal",
        "failure": type(error).__name__,
        "trace": [f"{each.filename.rpartition('/segue/')[2]}:{each.lineno} {each.name}" for each in frames],
    }


def _request_id(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"x-request-id":
            given = value.decode("latin-1")
            if _GIVEN.fullmatch(given):
                return str(given)
    return secrets.token_hex(8)


def _route(scope: Scope) -> str:
    route = scope.get("route")
    return str(getattr(route, "path", None) or scope["state"].get("route") or _NO_ROUTE)
