"""Answers as bytes: JSON with two spaces of indent, as clients of the protocol know it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from segue.base import jsontext, time

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

JSON = "application/json"


def answer(content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer with JSON values."""
    return Response(rendered(content), status, headers, JSON)


def rendered(content: Any) -> bytes:
    """Return JSON values as the bytes of a body."""
    return jsontext.dump(content, indent=True)


def nothing(headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer without a body (204)."""
    return Response(status_code=204, headers=headers)


def instant(at: datetime) -> str:
    """Return a time as answers of the protocol write it: RFC 3339 in UTC, whole seconds."""
    return time.to_text(at.replace(microsecond=0))
