"""The MCP server over stdio: lists the tools, checks arguments, runs each call on a thread of its own.

Every refusal is a tool result that says why (`isError`), never a protocol error; of the arguments' values
only an id, or the word of a capsule that is wrong, is echoed.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import anyio.to_thread
import jsonschema_rs
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from mcp_types import Tool as ListedTool

import segue as library
from segue.base.errors import InvalidInput, SegueError
from segue.base.redaction import shown
from segue.base.untrusted import one_line
from segue.mcp.tools import TOOLS, bounded
from segue.mcp.wire import Answering

if TYPE_CHECKING:
    from pathlib import Path

    from segue.app import Segue
    from segue.mcp.answers import Answer, Tool

INSTRUCTIONS = (
    "Segue keeps where the work stands between sessions, agents and machines. Call `resume` at the start of a "
    "session, before anything else: it returns the goal, the settled decisions, the dead ends and the first action. "
    "Call `save` before the session ends, before your context is compacted, and whenever something was decided or "
    "turned out not to work; pass continues=newest so that packets form a chain. Say that something is saved only "
    "when `save` returned an id. Write packets for a reader who knows nothing: no secrets, no absolute paths, no code."
)


class Server(MCPServer[Any]):
    """The SDK's server with our tool table in place of its function registry."""

    def __init__(self, segue: Segue) -> None:
        super().__init__(
            name="segue",
            version=library.__version__,
            instructions=INSTRUCTIONS,
            log_level="WARNING",
            subscriptions=False,
        )
        self._segue = segue
        self._tools = {tool.name: tool for tool in TOOLS}
        self._validators = {tool.name: jsonschema_rs.Draft202012Validator(_shallow(tool)) for tool in TOOLS}

    async def run_stdio_async(self) -> None:
        async with stdio_server() as (incoming, outgoing):
            low = self._lowlevel_server
            await low.run(Answering(incoming, outgoing), outgoing, low.create_initialization_options())

    async def list_tools(self) -> list[ListedTool]:
        return [_listed(tool) for tool in self._tools.values()]

    async def call_tool(self, name: str, arguments: dict[str, Any], context: object = None) -> CallToolResult:  # noqa: ARG002
        tool = self._tools.get(name)
        if tool is None:
            known = ", ".join(self._tools)
            raise ToolError(f"error: there is no tool '{shown(name, 40)}'; the tools are {known}")
        self._check(tool, arguments)
        answer = bounded(await anyio.to_thread.run_sync(_run, tool, self._segue, arguments))
        text, data = sendable(answer.text), sendable(answer.data)
        return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=data)

    def _check(self, tool: Tool, arguments: dict[str, Any]) -> None:
        unknown = sorted(set(arguments) - set(tool.properties))
        if unknown:
            names = ", ".join(tool.properties) or "none"
            raise ToolError(f"error: unknown argument '{shown(unknown[0], 40)}'; {tool.name} takes: {names}")
        for name in tool.required:
            if name not in arguments:
                raise ToolError(f"error: missing '{name}' argument")
        for problem in self._validators[tool.name].iter_errors(arguments):
            where = ".".join(str(part) for part in problem.instance_path)
            raise ToolError(f"error: argument '{where}' is not valid ({problem.kind.name}); see the tool's schema")


def sendable(value: Any) -> Any:
    """Return an answer's values as JSON can carry them: a folder's name may hold bytes that are no text."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {sendable(key): sendable(item) for key, item in value.items()}
    return [sendable(item) for item in value] if isinstance(value, list | tuple) else value


def _shallow(tool: Tool) -> dict[str, Any]:
    """The tool's schema with packets left to their own checks, whose messages say more."""
    properties = {name: {"type": "object"} if name == "packet" else value for name, value in tool.properties.items()}
    return tool.input_schema | {"properties": properties}


def _listed(tool: Tool) -> ListedTool:
    annotations = ToolAnnotations(
        read_only_hint=tool.read_only,
        destructive_hint=tool.destructive,
        idempotent_hint=tool.idempotent,
        open_world_hint=False,
    )
    return ListedTool(
        name=tool.name, description=tool.description, input_schema=tool.input_schema, annotations=annotations
    )


def _run(tool: Tool, segue: Segue, arguments: dict[str, Any]) -> Answer:
    try:
        return tool.run(segue, arguments)
    except InvalidInput as error:
        said = f"rejected: {error.message}" if error.code.startswith(("packet.", "capsule.")) else error.message
        raise ToolError(_error_text(said, error)) from None
    except SegueError as error:
        raise ToolError(_error_text(error.message, error)) from None
    except Exception:
        logging.getLogger("segue.mcp").exception("the tool %s failed", tool.name)
        raise ToolError(f"error: {tool.name} failed inside Segue; `segue doctor` may say more") from None


def _error_text(message: str, error: SegueError) -> str:
    listed = [each["message"] for each in error.details.get("errors", [])[1:8]]
    return "\n".join([f"error: {one_line(message)}", *(f"also: {one_line(each)}" for each in listed)])


def serve(location: str | None, directory: Path) -> None:
    """Serve over stdin and stdout until stdin closes. Raises SegueError where the store cannot be opened."""
    with library.open(location, directory=directory, actor="mcp") as segue:
        Server(segue).run("stdio")
