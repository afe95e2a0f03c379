"""Routes of context: packs for a task, packs that were pinned, and what each conversation was told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from segue.base import time
from segue.base.errors import InvalidInput, NotFound
from segue.http import shapes
from segue.http.answers import JSON, answer, nothing
from segue.http.auth import Here, Reader, Writer
from segue.http.documented import Cursor, Id, Responses, Team, answers, raw
from segue.http.limits import described, sent
from segue.http.paths import named

if TYPE_CHECKING:
    from datetime import datetime

    from segue.http.serving import Served
    from segue.services.callers import Caller

router = APIRouter(prefix="/v1", tags=["context"])

Call = Annotated[shapes.ContextCall, Depends(sent(shapes.ContextCall))]
Limit = Annotated[int, Query(ge=1, le=500)]


def _packs(*errors: int) -> Responses:
    pack = raw(JSON, "The pack: the envelope itself, its layers, or Markdown.")
    pack["content"]["text/markdown"] = {"schema": {"type": "string"}}
    return answers(None, *errors) | {200: pack}


@router.get("/context", summary="Get a context pack", responses=_packs(404, 422))
def get(here: Here, caller: Reader, asked: Annotated[shapes.ContextQuery, Query()]) -> Response:
    """Return the memories that suit a task, within a budget. See the same route with POST."""
    call = shapes.ContextCall.model_validate(asked.model_dump(exclude={"team"}))
    return _served(here, caller, call, asked.team)


@router.post(
    "/context", summary="Get a context pack for a longer call", responses=_packs(404, 413, 415, 422),
    openapi_extra=described(shapes.ContextCall),
)  # fmt: skip
def post(here: Here, caller: Reader, body: Call, team: Team = None) -> Response:
    """Return the memories that suit a task, within a budget.

    The answer is the self-describing envelope itself, with `format` also the layers (json) or Markdown. With
    `session_id` it says what is new for that conversation, with `items=new` it holds that alone.
    """
    return _served(here, caller, body, team)


def _served(here: Served, caller: Caller, call: shapes.ContextCall, team: str | None) -> Response:
    if call.pin:
        caller.require("write")
    serving = here.of(caller, team).context.assemble(
        call.task,
        model=call.model,
        surface=call.surface,
        budget=call.token_budget,
        intent=call.intent,
        as_of=_instant(call.as_of),
        project=call.project,
        graph=call.graph,
        cursor=call.cursor,
        session=call.session_id,
        items=call.items,
        since=call.since,
        pin=call.pin,
    )
    if call.format == "markdown":
        headers = {"X-Segue-Cursor": serving.pack.cursor} if serving.pack.cursor else {}
        return Response(serving.to_markdown(), headers=headers, media_type="text/markdown")
    return answer(serving.envelope() if call.format == "smp" else serving.to_json())


def _instant(given: str | None) -> datetime | None:
    try:
        return None if given is None else time.parse(given)
    except ValueError:
        raise InvalidInput("context.as_of", "as_of: a time with its offset, as 2026-05-04T12:00:00Z") from None


@router.get("/context/packs", summary="List pinned packs", responses=answers(shapes.Anything, 404, 422))
def packs(here: Here, caller: Reader, team: Team = None, limit: Limit = 50, cursor: Cursor = None) -> Response:
    """List the packs that were pinned, the last one first."""
    return answer(here.of(caller, team).pins.ls(limit=limit, cursor=cursor).to_json())


@router.get("/context/packs/{sha}", summary="Get a pinned pack", responses=answers(shapes.Anything, 404, 409, 422))
def pack(here: Here, caller: Reader, sha: Id, team: Team = None) -> Response:
    """Return the envelope that was pinned under a hash, without what was forgotten since."""
    return answer(here.of(caller, team).context.replay(sha))


@router.get("/sessions", summary="List sessions", responses=answers(shapes.Anything, 404, 422))
def sessions(here: Here, caller: Reader, team: Team = None, limit: Limit = 50, cursor: Cursor = None) -> Response:
    """List the conversations that were told of memories, the last used first."""
    return answer(here.of(caller, team).sessions.ls(limit=limit, cursor=cursor).to_json())


@router.get("/sessions/{id}", summary="Get a session", responses=answers(shapes.Anything, 404, 422))
def session(here: Here, caller: Reader, id: Id, team: Team = None) -> Response:  # noqa: A002
    """Return what a conversation was told."""
    return answer(here.of(caller, team).sessions.show(named(id)).to_json())


@router.delete(
    "/sessions/{id}", summary="Forget a session", responses=answers(None, 404, 422, status=204), status_code=204
)
def reset(here: Here, caller: Writer, id: Id, team: Team = None) -> Response:  # noqa: A002
    """Forget what a conversation was told, so that it begins anew."""
    if not here.of(caller, team).sessions.reset(named(id)):
        raise NotFound("session.not_found", "session not found")
    return nothing()
