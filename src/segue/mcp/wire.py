"""The lines that come in over stdio: one that is no message gets an answer, where the SDK would drop it in silence.

A host writes a lone surrogate when it cuts a text inside an emoji; without an answer it waits for ever.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Self

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from mcp.shared._stream_protocols import ReadStream, WriteStream


class Answering:
    """A read stream without the lines that are no messages: these are answered here (JSON-RPC 2.0, section 5)."""

    def __init__(
        self,
        inner: ReadStream[SessionMessage | Exception],
        answers: WriteStream[SessionMessage],
        at_end: Callable[[], None],
    ) -> None:
        self._inner = inner
        self._answers = answers
        self._at_end = at_end

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message. Raises anyio.EndOfStream where there is none any more, after calling `at_end`."""
        while True:
            try:
                item = await self._inner.receive()
            except anyio.EndOfStream:
                self._at_end()
                raise
            if not isinstance(item, Exception):
                return item
            answer = refusal(item)
            if answer is not None:
                await self._answers.send(SessionMessage(answer))

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def refusal(error: Exception) -> JSONRPCError | None:
    """Return the answer to a line that could not be read, None for an empty line; it names no part of the line."""
    first = error.errors(include_url=False)[0] if isinstance(error, ValidationError) else {"type": "", "input": None}
    line = first["input"]
    if first["type"] == "json_invalid" and isinstance(line, str):
        if not line.strip():
            return None
        said = ErrorData(code=PARSE_ERROR, message="parse error: this line is no JSON text, or holds half a character")
        return JSONRPCError(jsonrpc="2.0", id=_id_in(line), error=said)
    said = ErrorData(code=INVALID_REQUEST, message="invalid request: this is no JSON-RPC 2.0 message")
    return JSONRPCError(jsonrpc="2.0", id=None, error=said)


def _id_in(line: str) -> int | str | None:
    """The id of a message that the standard library can read where the SDK's stricter parser cannot."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    found = message.get("id") if isinstance(message, dict) else None
    return found if isinstance(found, int | str) and not isinstance(found, bool) and str(found).isprintable() else None
