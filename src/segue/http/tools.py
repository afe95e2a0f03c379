"""Routes of tools, for agents that speak no MCP: their schemas in three dialects, and one route that calls them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from mcp.server.mcpserver.exceptions import ToolError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from segue.base.errors import InvalidInput, SegueError
from segue.http import shapes
from segue.http.answers import answer
from segue.http.auth import Agent, Here, Reader, counted
from segue.http.documented import Team, answers
from segue.http.limits import MOST_BODY, described, sent
from segue.http.remote import REMOTE_TOOLS, Remote, needed
from segue.mcp.answers import Tool
from segue.mcp.tools import TOOLSETS

router = APIRouter(prefix="/v1/tools", tags=["tools"])

Dialect = Literal["openai", "anthropic", "mcp"]
Call = Annotated[shapes.ToolCall, Depends(sent(shapes.ToolCall, MOST_BODY))]


@router.get("/schema", summary="Get the tools' schemas", responses=answers(shapes.ToolSchemas, 422))
def schema(
    _: Reader,
    dialect: Annotated[Dialect, Query(alias="format", description="Whose form the schemas have.")] = "mcp",
    toolset: Annotated[Literal["core", "chatgpt", "full"], Query(description="Which tools.")] = "full",
) -> Response:
    """Return the tools as a provider takes them."""
    names = TOOLSETS[toolset]
    return answer({"tools": [_written(tool, dialect) for tool in REMOTE_TOOLS if tool.name in names]})


def _written(tool: Tool, dialect: Dialect) -> dict[str, Any]:
    described_so = {"name": tool.name, "description": tool.description}
    if dialect == "openai":
        return {"type": "function", "function": described_so | {"parameters": tool.input_schema}}
    if dialect == "anthropic":
        return described_so | {"input_schema": tool.input_schema}
    hints = {
        "readOnlyHint": tool.read_only,
        "destructiveHint": tool.destructive,
        "idempotentHint": tool.idempotent,
        "openWorldHint": False,
    }
    output = {"outputSchema": tool.output} if tool.output else {}
    return described_so | {"inputSchema": tool.input_schema, "annotations": hints} | output


@router.post(
    "/call", summary="Call a tool", responses=answers(shapes.ToolResult, 400, 404, 409, 413, 415, 422),
    openapi_extra=described(shapes.ToolCall),
)  # fmt: skip
async def call(request: Request, here: Here, caller: Agent, body: Call, team: Team = None) -> Response:
    """Run a tool and return its result: an object where it has one, else its text. What it may do is the token's."""
    permission = needed(body.name, body.arguments)
    caller.require(permission)
    if permission != "read":
        await run_in_threadpool(counted, request, caller, "writes")
    segue = await run_in_threadpool(here.of, caller, team)
    try:
        result = await Remote(segue, caller, "full").call_tool(body.name, body.arguments)
    except ToolError as error:
        raise _told(error) from None
    text = "".join(each.text for each in result.content)
    return answer({"result": text if result.structured_content is None else result.structured_content})


def _told(error: ToolError) -> SegueError:
    """What a tool refused: the error of the service that it comes from, else that the call was wrong."""
    cause = error.__context__
    return cause if isinstance(cause, SegueError) else InvalidInput("tool.call", str(error).removeprefix("error: "))
