"""Routes of memories: remembered, proposed, found, edited under If-Match, replaced, forgotten; `team=` is a team's."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Header, Query
from pydantic import ValidationError
from starlette.responses import Response

from segue.base import jsontext, time
from segue.base.errors import InvalidInput, SegueError, Stale
from segue.http import errors, shapes
from segue.http.answers import answer, nothing
from segue.http.auth import Here, Proposer, Reader, Writer
from segue.http.documented import Cursor, Id, Team, answers
from segue.http.limits import MOST_BODY, described, request_body, sent
from segue.http.paths import named
from segue.memories.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from segue.app import Segue
    from segue.services.callers import Caller
    from segue.services.memories import Remembered

router = APIRouter(prefix="/v1/memories", tags=["memories"])

_MOST_MANY = 4 * MOST_BODY
_TEXTS = ("summary", "project")
_LISTS = ("entities", "tags")

Body = Annotated[shapes.NewMemory, Depends(sent(shapes.NewMemory))]
Many = Annotated[shapes.NewMemories, Depends(sent(shapes.NewMemories, _MOST_MANY))]
Change = Annotated[shapes.MemoryChange, Depends(sent(shapes.MemoryChange))]
Replacement = Annotated[shapes.Replacement, Depends(sent(shapes.Replacement))]
Approval = Annotated[shapes.Approval, Depends(sent(shapes.Approval))]
Rejection = Annotated[shapes.Rejection, Depends(sent(shapes.Rejection, required=False))]
Expansion = Annotated[shapes.Expansion, Depends(sent(shapes.Expansion))]
Question = Annotated[shapes.Anything, Depends(sent(shapes.Anything))]
IfMatch = Annotated[str | None, Header(alias="If-Match", description="The ETag that the memory must have.")]
Names = Annotated[list[str], Query(max_length=50)]


# -- reading ----------------------------------------------------------------------------------------------------------


@router.get("", summary="List memories", responses=answers(shapes.MemoryList, 404, 422))
def ls(
    here: Here,
    caller: Reader,
    team: Team = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    cursor: Cursor = None,
    status: Names = [],  # noqa: B006 - the framework copies it
    kind: Names = [],  # noqa: B006
    layer: Names = [],  # noqa: B006
    entity: Names = [],  # noqa: B006
    tag: Names = [],  # noqa: B006
    project: Names = [],  # noqa: B006
    source: Names = [],  # noqa: B006
    since: str | None = None,
    until: str | None = None,
) -> Response:
    """List memories, newest first. Of each filter any value may fit, and all filters must."""
    now = here.segue.now()
    page = here.of(caller, team).memories.ls(
        limit=limit,
        cursor=cursor,
        statuses=status,
        kinds=kind,
        layers=layer,
        entities=entity,
        tags=tag,
        projects=project,
        sources=source,
        since=_moment(since, now),
        until=_moment(until, now),
    )
    return answer(page.to_json())


@router.get("/search", summary="Search memories", responses=answers(shapes.Hits, 404, 422))
def search(
    here: Here,
    caller: Reader,
    q: Annotated[str, Query(max_length=2_000, description="What to look for, in plain words.")],
    team: Team = None,
    k: Annotated[int, Query(ge=1, le=500)] = 10,
    cursor: Cursor = None,
    as_of: str | None = None,
    valid_only: bool = True,
    min_relevance: Annotated[float, Query(ge=0, le=1)] = 0.0,
    kind: Names = [],  # noqa: B006
    layer: Names = [],  # noqa: B006
    entity: Names = [],  # noqa: B006
    tag: Names = [],  # noqa: B006
    project: Names = [],  # noqa: B006
) -> Response:
    """Return the memories that answer a question, the best first, each with the reasons why it was found."""
    found = here.of(caller, team).search.find(
        q,
        k=k,
        cursor=cursor,
        as_of=_moment(as_of, here.segue.now()),
        valid_only=valid_only,
        minimum_relevance=min_relevance,
        kinds=kind,
        layers=layer,
        entities=entity,
        tags=tag,
        projects=project,
    )
    return answer(found.to_json())


@router.post(
    "/query", summary="Ask a precise question", responses=answers(shapes.Anything, 404, 413, 415, 422),
    openapi_extra=request_body({"type": "object", "description": "A query; for a further page, its cursor alone."}),
)  # fmt: skip
def query(here: Here, caller: Reader, body: Question, team: Team = None) -> Response:
    """Answer a query of the query language: `find` or `ask`, and filters that narrow."""
    given, queries = dict(body.model_extra or {}), here.of(caller, team).queries
    if "cursor" not in given:
        return answer(queries.query(given).to_json())
    cursor = given.pop("cursor")
    if given or not isinstance(cursor, str):
        raise InvalidInput("query.invalid", "cursor: it holds its query already; give nothing else")
    return answer(queries.more(cursor).to_json())


@router.post(
    "/expand", summary="Go on from a memory", responses=answers(shapes.Anything, 404, 413, 415, 422),
    openapi_extra=described(shapes.Expansion),
)  # fmt: skip
def expand(here: Here, caller: Reader, body: Expansion, team: Team = None) -> Response:
    """Return all of a memory, what stands beside it, or the next page of a query."""
    return answer(here.of(caller, team).queries.expand(body.ref, body.direction, body.limit))


@router.get("/{id}", summary="Get a memory", responses=answers(shapes.Memory, 404, 409, 422))
def get(here: Here, caller: Reader, id: Id, team: Team = None) -> Response:  # noqa: A002
    """Return a memory, with the ETag that changes of it may name."""
    return _told(here.of(caller, team).memories.get(named(id)))


@router.get("/{id}/history", summary="Get a memory's history", responses=answers(shapes.Anything, 404, 409, 422))
def history(here: Here, caller: Reader, id: Id, team: Team = None) -> Response:  # noqa: A002
    """Return all that is known of a memory: what says it, what it said before, what it replaces or contradicts."""
    return answer(here.of(caller, team).memories.history(named(id)).to_json())


# -- writing ----------------------------------------------------------------------------------------------------------


@router.post(
    "", summary="Remember", responses=answers(shapes.Remembered, 404, 409, 413, 415, 422, status=201), status_code=201,
    openapi_extra=described(shapes.NewMemory),
)  # fmt: skip
def remember(here: Here, caller: Writer, body: Body, team: Team = None) -> Response:
    """Make an active memory of a text."""
    return _written(_remembered(here.of(caller, team), caller, body))


@router.post(
    "/bulk", summary="Remember many", responses=answers(shapes.BulkResults, 404, 413, 415, 422),
    openapi_extra=described(shapes.NewMemories),
)  # fmt: skip
def bulk(here: Here, caller: Writer, body: Many, team: Team = None) -> Response:
    """Make memories of many texts. Each stands or falls by itself, and has a result of its own."""
    segue = here.of(caller, team)
    return answer({"results": [_one(segue, caller, index, each) for index, each in enumerate(body.memories)]})


def _one(segue: Segue, caller: Caller, index: int, given: dict[str, Any]) -> dict[str, Any]:
    try:
        remembered = _remembered(segue, caller, _checked(given))
    except SegueError as error:
        status = errors.status_of(error, router.prefix)
        if status >= 500:
            raise
        return {"index": index, "status": status, **errors.body(error.message, error.code, error.details)}
    return {"index": index, "status": 201, "memory": remembered.to_json()}


def _checked(given: dict[str, Any]) -> shapes.NewMemory:
    try:
        return shapes.NewMemory.model_validate(given)
    except ValidationError as error:
        raise errors.invalid(error.errors(include_url=False, include_input=False)) from None


@router.post(
    "/proposals", summary="Propose a memory", responses=answers(shapes.Remembered, 404, 409, 413, 415, 422, status=201),
    status_code=201, openapi_extra=described(shapes.NewMemory),
)  # fmt: skip
def propose(here: Here, caller: Proposer, body: Body, team: Team = None) -> Response:
    """Make a memory that waits for somebody who approves it, and is not served before.

    A token that may not read gets no id, and the verdict proposed, whatever is known already.
    """
    return _written(here.of(caller, team).memories.propose(**_details(caller, body)))


@router.post(
    "/{id}/approve", summary="Approve a memory", responses=answers(shapes.Memory, 404, 409, 413, 415, 422),
    openapi_extra=described(shapes.Approval),
)  # fmt: skip
def approve(here: Here, caller: Writer, id: Id, body: Approval, team: Team = None) -> Response:  # noqa: A002
    """Make a memory active that waited. The hash is that of the text that was looked at."""
    return _told(here.of(caller, team).memories.approve(named(id), body.content_hash))


@router.post(
    "/{id}/reject", summary="Reject a memory", responses=answers(None, 404, 409, 413, 415, 422, status=204),
    status_code=204, openapi_extra=described(shapes.Rejection, required=False),
)  # fmt: skip
def reject(here: Here, caller: Writer, id: Id, body: Rejection, team: Team = None) -> Response:  # noqa: A002
    """Forget a memory that waited."""
    here.of(caller, team).memories.reject(named(id), body.reason)
    return nothing()


@router.patch(
    "/{id}", summary="Edit a memory", responses=answers(shapes.Memory, 404, 409, 412, 413, 415, 422),
    openapi_extra=described(shapes.MemoryChange),
)  # fmt: skip
def edit(
    here: Here,
    caller: Writer,
    id: Id,  # noqa: A002
    body: Change,
    team: Team = None,
    if_match: IfMatch = None,
) -> Response:
    """Change what a memory says or how it is filed; what is not named stays. Its history keeps what it said."""
    given = {name: getattr(body, name) for name in body.model_fields_set - {"author_class"}}
    given |= {name: "" for name in _TEXTS if name in given and given[name] is None}
    given |= {name: () for name in _LISTS if name in given and given[name] is None}
    memory = here.of(caller, team).memories.edit(
        named(id), author_class=body.author_class, admits=_version(if_match), **given
    )
    return _told(memory)


@router.post(
    "/{id}/supersede", summary="Replace a memory",
    responses=answers(shapes.Remembered, 404, 409, 412, 413, 415, 422, status=201), status_code=201,
    openapi_extra=described(shapes.Replacement),
)  # fmt: skip
def supersede(
    here: Here,
    caller: Writer,
    id: Id,  # noqa: A002
    body: Replacement,
    team: Team = None,
    if_match: IfMatch = None,
) -> Response:
    """Replace a memory by a new text, or by another memory. The old one is retired."""
    remembered = here.of(caller, team).memories.supersede(
        named(id), body.content, by=body.by, author_class=body.author_class, admits=_version(if_match)
    )
    return _written(remembered)


@router.delete(
    "/{id}", summary="Forget a memory", responses=answers(None, 404, 409, 412, 422, status=204), status_code=204
)
def forget(here: Here, caller: Writer, id: Id, team: Team = None, if_match: IfMatch = None) -> Response:  # noqa: A002
    """Forget a memory for good."""
    here.of(caller, team).memories.forget(named(id), admits=_version(if_match))
    return nothing()


# -- what they share --------------------------------------------------------------------------------------------------


def _remembered(segue: Segue, caller: Caller, given: shapes.NewMemory) -> Remembered:
    return segue.memories.remember(**_details(caller, given))


def _details(caller: Caller, given: shapes.NewMemory) -> dict[str, Any]:
    return given.model_dump() | {"author": caller.display}


def _written(remembered: Remembered) -> Response:
    headers = {"ETag": etag(remembered.memory)} if remembered.memory.id else None
    return answer(remembered.to_json(), 201, headers)


def _told(memory: Memory) -> Response:
    return answer(memory.to_json(), headers={"ETag": etag(memory)})


def etag(memory: Memory) -> str:
    """Return the entity tag of a memory, quotes included: it changes with whatever is told of it."""
    told = hashlib.sha256(jsontext.dump(memory.to_json())).hexdigest()[:16]
    return f'"{memory.revision}-{told}"'


def _version(if_match: str | None) -> Callable[[Memory], None] | None:
    if if_match is None:
        return None
    wanted = {each.strip() for each in if_match.split(",")}

    def admits(memory: Memory) -> None:
        if "*" not in wanted and etag(memory) not in wanted:
            raise Stale("memory.changed", "the memory is not the version that If-Match names; fetch it again")

    return admits


def _moment(given: str | None, now: datetime) -> datetime | None:
    return None if given is None else time.parse_moment(given, now)
