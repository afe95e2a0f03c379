"""Paths as they were sent: an id may hold a slash, which is written %2F and is no boundary then."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_SLASH = re.compile(rb"%2F", re.IGNORECASE)
_STANDS_FOR = "\0"  # no id holds one


class Segments:
    """An application that sees slashes within a segment of a path as another sign; `named` puts them back."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw = scope.get("raw_path") or b""
        if scope["type"] == "http" and _SLASH.search(raw):
            path = unquote_to_bytes(_SLASH.sub(b"%00", raw.partition(b"?")[0]))
            scope["path"] = path.decode("utf-8", "replace")
        await self._app(scope, receive, send)


def named(segment: str) -> str:
    """Return what a segment of a path names."""
    return segment.replace(_STANDS_FOR, "/")
