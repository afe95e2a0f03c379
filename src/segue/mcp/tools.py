"""All tools, in their one order, and the toolsets: which of them a server names to its host.

A toolset is advertisement: a tool that is not named may be called all the same. What a call may do is decided by the
server's permissions.
"""

from __future__ import annotations

from typing import Literal, get_args

from segue.mcp.capsule_tools import CAPSULE_TOOLS
from segue.mcp.connector_tools import CONNECTOR_TOOLS
from segue.mcp.context_tools import CONTEXT_TOOLS
from segue.mcp.continuity_tools import CONTINUITY_TOOLS
from segue.mcp.host_tools import HOST_TOOLS
from segue.mcp.memory_tools import MEMORY_TOOLS
from segue.mcp.packet_tools import PACKET_TOOLS

Toolset = Literal["core", "chatgpt", "full"]

_CORE = ("save", "resume", "get_context", "query_memory", "remember_this", "expand")
_CHATGPT = ("search", "fetch")
_FULL = (
    *_CORE,
    *("ls", "show", "rm", "chain", "example", "whoami", "capsule_write", "capsule_read", "propose_memory"),
    *("guard", "push", "pull"),
    *_CHATGPT,
)
_ALL = (*PACKET_TOOLS, *CONTEXT_TOOLS, *MEMORY_TOOLS, *CAPSULE_TOOLS, *CONTINUITY_TOOLS, *HOST_TOOLS, *CONNECTOR_TOOLS)
_BY_NAME = {tool.name: tool for tool in _ALL}

TOOLS = tuple(_BY_NAME[name] for name in _FULL)
TOOLSETS: dict[Toolset, tuple[str, ...]] = {"core": _CORE, "chatgpt": _CHATGPT, "full": _FULL}
DEFAULT: Toolset = "core"
assert get_args(Toolset) == tuple(TOOLSETS)  # noqa: S101 - one list, written twice for the type checker
