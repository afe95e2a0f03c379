"""What errors become over HTTP: one table from classes and codes to statuses, and one shape for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from segue.base.errors import Ambiguous, Conflict, Failed, Gone, InvalidInput, NotFound, Refused, SegueError, Stale
from segue.http.answers import answer

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.requests import Request
    from starlette.responses import Response

# The first class that an error belongs to decides, unless its code stands below.
_CLASSES: tuple[tuple[type[SegueError], int], ...] = (
    (Gone, 410),
    (Ambiguous, 409),
    (NotFound, 404),
    (Stale, 412),
    (Conflict, 409),
    (Refused, 403),
    (InvalidInput, 400),
    (Failed, 500),
)
_CODES = {
    "auth.missing": 401,
    "auth.invalid": 401,
    "auth.revoked": 401,
    "auth.expired": 401,
    "body.slow": 408,
    "body.too_large": 413,
    "body.content_type": 415,
    "rate.exceeded": 429,
    "packet.redaction": 400,
    "packet.cycle": 409,
    "memory.redaction": 422,
    "memory.cycle": 409,
    "memory.retired": 409,
    "memory.pending": 409,
    "memory.not_pending": 409,
    "memory.forgotten": 409,
    "pin.tampered": 409,
    "store.busy": 503,
    "store.full": 503,
    "store.io": 503,
    "store.read_only": 503,
    "store.unreachable": 503,
    "session.state": 500,
}
# Where a value that breaks its rules is 422 (decision H5).
_UNPROCESSABLE = ("/v1/context", "/v1/memories", "/v1/sessions", "/v1/tools")
# A failure names the database and its path, which are nobody's business here; the log has them.
_FAILED = {
    503: "the server cannot do this just now; nothing was changed, try again",
    500: "the server failed; nothing was changed",
}
_MISSING = {
    "packet.not_found": "packet not found",
    "memory.not_found": "memory not found",
    "session.not_found": "session not found",
    "pin.not_found": "pack not found",
}
_ROUTES = {404: ("route.not_found", "not found"), 405: ("route.method", "method not allowed")}
_CHALLENGE = 'Bearer realm="segue"'


def status_of(error: SegueError, path: str) -> int:
    """Return the status for an error of a request to `path`."""
    if error.code in _CODES:
        return _CODES[error.code]
    if isinstance(error, InvalidInput) and path.startswith(_UNPROCESSABLE):
        return 422
    return next((status for kind, status in _CLASSES if isinstance(error, kind)), 500)


def answered(error: SegueError, path: str) -> Response:
    """Return the answer that says an error."""
    status = status_of(error, path)
    message, details = error.message, error.details
    if isinstance(error, Failed):
        message, details = _FAILED[status], {}
    elif status == 404:  # the same for every id and every reason (decision H8)
        message, details = _MISSING.get(error.code, message), {}
    return answer(body(message, error.code, details), status, _headers(status, error.details))


def body(message: str, code: str, details: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the one shape of errors (decision H5)."""
    return {"error": message, "code": code, "details": details or {}}


def _headers(status: int, details: dict[str, Any]) -> dict[str, str]:
    if status == 401:
        return {"WWW-Authenticate": _CHALLENGE}
    if status == 408:
        return {"Connection": "close"}
    if status in (429, 503):
        return {"Retry-After": str(details.get("seconds", 1))}
    return {}


def install(app: FastAPI) -> None:
    """Have the application answer errors so."""
    app.add_exception_handler(SegueError, _segue)
    app.add_exception_handler(RequestValidationError, _values)
    app.add_exception_handler(HTTPException, _routes)


def _segue(request: Request, error: Exception) -> Response:
    assert isinstance(error, SegueError)  # noqa: S101 - it is installed for these
    request.state.error = error
    return answered(error, request.url.path)


def _values(request: Request, error: Exception) -> Response:
    """A value in the query, or in a header, that is none of its kind. Values are not echoed."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - it is installed for these
    return answered(invalid(error.errors()), request.url.path)


def invalid(problems: Any) -> InvalidInput:
    """Return the error for what pydantic found. It names fields and rules, never a value."""
    found = [
        {"field": ".".join(str(part) for part in each["loc"] if part not in ("body", "query")), "message": each["msg"]}
        for each in problems
    ]
    first = found[0]
    return InvalidInput("value.invalid", f"{first['field'] or 'body'}: {first['message']}", {"errors": found[:20]})


def _routes(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - it is installed for these
    code, message = _ROUTES.get(error.status_code, ("http.refused", "this cannot be answered"))
    return answer(body(message, code), error.status_code, error.headers)
