"""The tools of agents over the network: those of the MCP door, each within what the caller's token may do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import mcp_types as protocol
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError

from segue.base.errors import Refused
from segue.mcp.server import Server
from segue.mcp.tools import DEFAULT, TOOLS

if TYPE_CHECKING:
    from segue.app import Segue
    from segue.mcp.answers import Tool
    from segue.mcp.server import Context, Paged
    from segue.mcp.tools import Toolset
    from segue.services.callers import Caller, Permission

_OF_THIS_MACHINE = "directory"  # a folder on the caller's machine means nothing here
_LOCAL = ("whoami",)  # it tells where the store is; the route of that name tells who asks


def _without_folders(tool: Tool) -> Tool:
    return replace(tool, properties={name: each for name, each in tool.properties.items() if name != _OF_THIS_MACHINE})


REMOTE_TOOLS = tuple(_without_folders(tool) for tool in TOOLS if not (tool.of_host or tool.name in _LOCAL))
_BY_NAME = {tool.name: tool for tool in REMOTE_TOOLS}


def needed(name: str, arguments: dict[str, Any]) -> Permission:
    """Return the permission that a call of a tool needs. Naming a tool grants nothing."""
    tool = _BY_NAME.get(name)
    if name == "propose_memory":
        return "propose"
    return "read" if tool is None or (tool.read_only and arguments.get("pin") is not True) else "write"


class Remote(Server):
    """The tools over the memories and packets that a caller sees; named are those that the token may call."""

    def __init__(self, segue: Segue, caller: Caller, toolset: Toolset = DEFAULT) -> None:
        allowed = tuple(tool for tool in REMOTE_TOOLS if caller.may(needed(tool.name, {})))
        reads_alone = not (caller.may("write") or caller.may("propose"))
        super().__init__(segue, toolset=toolset, read_only=reads_alone, tools=allowed)
        self._caller = caller

    async def call_tool(self, name: str, arguments: dict[str, Any], *rest: Any) -> Any:
        """Run a tool as `Server.call_tool` does. Raises ToolError, also for what the token may not do."""
        try:
            self._caller.require(needed(name, arguments))
        except Refused as error:
            raise ToolError(f"error: {error.message}") from error
        return await super().call_tool(name, arguments, *rest)

    async def _on_list_resources(self, context: Context, params: Paged) -> protocol.ListResourcesResult:
        self._require_reader()
        return await super()._on_list_resources(context, params)

    async def _on_read_resource(
        self, context: Context, params: protocol.ReadResourceRequestParams
    ) -> protocol.ReadResourceResult:
        self._require_reader()
        return await super()._on_read_resource(context, params)

    async def _on_get_prompt(
        self, context: Context, params: protocol.GetPromptRequestParams
    ) -> protocol.GetPromptResult:
        self._require_reader()
        return await super()._on_get_prompt(context, params)

    def _require_reader(self) -> None:
        """Resources and prompts hold packets and memories: they are for tokens that may read."""
        try:
            self._caller.require("read")
        except Refused as error:
            raise MCPError(protocol.INVALID_REQUEST, error.message) from error
