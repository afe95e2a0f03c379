"""What the API's description says of answers and of what many routes share."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query

from segue.http.shapes import Error

_SAID = {
    304: "What the caller holds is what is stored.",
    400: "The request breaks a rule.",
    401: "The token is missing, unknown, revoked or expired.",
    403: "It is not permitted.",
    404: "There is no such thing, as far as the caller may know.",
    408: "The body did not come in time.",
    409: "What is stored says otherwise.",
    410: "It ran out, or was used.",
    412: "What is stored is another version.",
    413: "The body is too large.",
    415: "The body is no JSON.",
    422: "A value breaks its rules.",
    429: "Too many requests in this minute.",
    503: "The store does not answer just now.",
}
_ALWAYS = (401, 403, 429, 503)

Responses = dict[int | str, dict[str, Any]]
Team = Annotated[str | None, Query(description="The team's name; without it the caller's own.")]
Id = Annotated[str, Path(description="An id.", min_length=1)]
Name = Annotated[str, Path(description="A team's name.", min_length=1)]
Cursor = Annotated[str | None, Query(description="Go on where an earlier page ended.")]


def answers(model: Any, *errors: int, status: int = 200, public: bool = False, said: str = "Done.") -> Responses:
    """Return what a route answers: `model` (None for no body), and the errors that it may."""
    good: dict[str, Any] = {"description": said}
    if model is not None:
        good["model"] = model
    listed = (429, 503) if public else _ALWAYS
    slow = (408,) if 415 in errors else ()  # where there is a body
    return {status: good} | {each: failed(each) for each in (*errors, *slow, *listed)}


def failed(status: int) -> dict[str, Any]:
    """Return the description of an error."""
    found: dict[str, Any] = {"description": _SAID[status]}
    return found if status == 304 else found | {"model": Error}


def raw(media_type: str, said: str) -> dict[str, Any]:
    """Return the description of an answer that is no object of ours."""
    schema = {"type": "object"} if media_type == "application/json" else {"type": "string"}
    return {"description": said, "content": {media_type: {"schema": schema}}}
