"""The MCP endpoint `/mcp`: streamable HTTP without sessions, so that any process answers any request.

Each request has a server of its own, over what its caller sees. `?team=` means a team's memories and packets,
`?toolset=` names the tools that are listed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from segue.base.errors import Refused, SegueError
from segue.http.answers import answer
from segue.http.auth import identified
from segue.http.errors import answered, body
from segue.http.limits import MOST_BODY, received
from segue.http.remote import Remote
from segue.http.serving import base_url, served
from segue.mcp.serving import toolset_named

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

    from segue.services.callers import Caller

PATH = "/mcp"
# The bearer is asked for at each request and no page has it, so the name that a server has does not matter.
_SECURITY = TransportSecuritySettings(enable_dns_rebinding_protection=False)


class Endpoint:
    """The endpoint as an application."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        request.state.route = PATH
        if request.method != "POST":
            said = body("this endpoint is stateless: it answers POST alone", "route.method")
            await answer(said, 405, {"Allow": "POST"})(scope, receive, send)
            return
        try:
            caller = await run_in_threadpool(_caller, request)
            message = await received(request, MOST_BODY)
            server = await run_in_threadpool(_server, request, caller)
        except SegueError as error:
            request.state.error = error
            await answered(error, PATH)(scope, receive, send)
            return
        manager = StreamableHTTPSessionManager(
            server.protocol,
            json_response=True,
            stateless=True,
            security_settings=_SECURITY,
            max_request_body_size=MOST_BODY,
        )
        async with manager.run():
            await manager.handle_request(scope, _again(message, receive), send)


def _caller(request: Request) -> Caller:
    _require_origin(request)
    toolset_named(request.query_params.get("toolset", "core"))
    return identified(request, "writes")  # what is called stands in the body


def _again(message: bytes, receive: Receive) -> Receive:
    """What gives a body that was read already, and then what `receive` gives."""
    waiting: list[Message] = [{"type": "http.request", "body": message, "more_body": False}]

    async def given() -> Message:
        return waiting.pop() if waiting else await receive()

    return given


def _server(request: Request, caller: Caller) -> Remote:
    toolset = toolset_named(request.query_params.get("toolset", "core"))
    return Remote(served(request).of(caller, request.query_params.get("team")), caller, toolset)


def _require_origin(request: Request) -> None:
    """Refuse what a page of another site makes a browser send."""
    given = request.headers.get("origin")
    if given is not None and given.lower() != _origin(base_url(request)):
        raise Refused("http.origin", "this Origin may not call: pages of other sites are refused")


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()


def described() -> dict[str, Any]:
    """Return what the API's description says of the endpoint."""
    message = {"application/json": {"schema": {"type": "object"}}}
    return {
        "post": {
            "tags": ["mcp"],
            "summary": "Speak MCP",
            "description": "Streamable HTTP without sessions; see the Model Context Protocol.",
            "operationId": "mcp",
            "security": [{"HTTPBearer": []}],
            "parameters": [
                {"name": name, "in": "query", "required": False, "schema": {"type": "string"}}
                for name in ("team", "toolset")
            ],
            "requestBody": {"required": True, "content": message},
            "responses": {"200": {"description": "The answer.", "content": message}},
        }
    }
