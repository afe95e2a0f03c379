"""Asking a person before something is destroyed, in the way of the client's protocol era.

Up to 2025-11-25 the server asks in the middle of the call; from 2026-07-28 on it answers with the question, and the
client makes the call again with the person's answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.shared.exceptions import MCPError
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp_types.version import is_version_at_least

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext
    from mcp_types import InputResponses

_ANSWERED_LATER = "2026-07-28"
_KEY = "confirm"
_SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}  # yes or no is the answer's action


def can_ask(context: ServerRequestContext[Any]) -> bool:
    """Whether the client has said that it can put a question to a person."""
    capabilities = context.session.client_capabilities
    asked = capabilities.elicitation if capabilities else None
    return asked is not None and (asked.form is not None or asked.url is None)


async def confirmed(
    question: str, context: ServerRequestContext[Any], answers: InputResponses | None
) -> bool | InputRequiredResult:
    """Return whether the person says yes; a question that nobody could answer counts as no.

    `answers` are those that the call carries. Where there is none yet and the era wants it so, the result is the
    question, which is the answer to this call.
    """
    if is_version_at_least(context.protocol_version, _ANSWERED_LATER):
        answer = (answers or {}).get(_KEY)
        if answer is None:
            params = ElicitRequestFormParams(message=question, requested_schema=_SCHEMA)
            return InputRequiredResult(input_requests={_KEY: ElicitRequest(params=params)})
        return isinstance(answer, ElicitResult) and answer.action == "accept"
    try:
        said = await context.session.elicit_form(question, _SCHEMA, related_request_id=context.request_id)
    except MCPError:
        return False
    return said.action == "accept"
