"""Routes of invites: made, listed, taken back by members, accepted by whoever has the address (facts, 000.3; H4)."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from segue.http import shapes
from segue.http.answers import answer, instant, nothing
from segue.http.auth import Guest, Here, Reader, Visitor, Writer
from segue.http.documented import Id, Name, answers, raw
from segue.http.limits import MOST_DISPLAY, described, sent
from segue.http.paths import named
from segue.http.serving import base_url

router = APIRouter(prefix="/v1", tags=["invites"])

Acceptance = Annotated[shapes.Acceptance, Depends(sent(shapes.Acceptance, MOST_DISPLAY, required=False, status=400))]
_LANDING = (
    "This address invites you into a team. To accept, run:\n\n    segue join ADDRESS\n\nwith this page's address.\n"
)


@router.post(
    "/teams/{name}/invites", summary="Invite into a team", responses=answers(shapes.NewInvite, 404, status=201),
    status_code=201,
)  # fmt: skip
def create(request: Request, here: Here, caller: Writer, name: Name) -> Response:
    """Make an invite: good once, for a week. Any member may. Its code is told this once."""
    invite = here.segue.invites.create(caller, named(name))
    url = f"{base_url(request)}/v1/invites/{invite.code}"
    return answer({"code": invite.code, "url": url, "expires_at": instant(invite.expires_at)}, 201)


@router.get("/teams/{name}/invites", summary="List a team's invites", responses=answers(shapes.InviteList, 404))
def ls(here: Here, caller: Reader, name: Name) -> Response:
    """List a team's invites, the oldest first. No code is told again."""
    return answer({"invites": [each.to_json() for each in here.segue.invites.ls(caller, named(name))]})


@router.delete(
    "/teams/{name}/invites/{id}", summary="Take an invite back", responses=answers(None, 404, status=204),
    status_code=204,
)  # fmt: skip
def revoke(here: Here, caller: Writer, name: Name, id: Id) -> Response:  # noqa: A002
    """Take an invite back: whoever made it, or the team's owner."""
    here.segue.invites.revoke(caller, named(name), named(id))
    return nothing()


@router.get(
    "/invites/{code}", summary="Say what an invite is for",
    responses=answers(None, public=True) | {200: raw("text/plain", "What to do with it, whatever the code is.")},
)  # fmt: skip
def landing(_: Visitor, code: Id) -> Response:  # noqa: ARG001
    """Say how an invite is accepted. It is the same for every code, and uses none up."""
    return PlainTextResponse(_LANDING)


@router.post(
    "/invites/{code}/accept", summary="Accept an invite", tags=["invites"],
    responses=answers(shapes.Joined, 400, 401, 403, 410, 415, status=201, public=True), status_code=201,
    openapi_extra=described(shapes.Acceptance, required=False),
)  # fmt: skip
def accept(here: Here, caller: Guest, code: Id, body: Acceptance) -> Response:
    """Come into a team: as who one is by the token, else as a new user, who is told a token this once."""
    joined = here.segue.invites.accept(named(code), caller, body.display)
    told: dict[str, Any] = {
        "user": {"id": joined.user.id, "display": joined.user.display},
        "team": {"id": joined.team.id, "name": joined.team.name},
    }
    return answer(told | ({"token": joined.token} if joined.token else {}), 201)
