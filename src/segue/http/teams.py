"""Routes of teams: made, listed, left, deleted; who belongs to them (facts, 000.3; decision H6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends
from starlette.responses import Response

from segue.http import shapes
from segue.http.answers import answer, instant, nothing
from segue.http.auth import Here, Reader, Writer
from segue.http.documented import Id, Name, answers
from segue.http.limits import MOST_NAME, described, sent
from segue.http.paths import named

if TYPE_CHECKING:
    from segue.services.teams import Member, Team

router = APIRouter(prefix="/v1/teams", tags=["teams"])

NewTeam = Annotated[shapes.NewTeam, Depends(sent(shapes.NewTeam, MOST_NAME, status=400))]
TeamChange = Annotated[shapes.TeamChange, Depends(sent(shapes.TeamChange, MOST_NAME, status=400))]
NewOwner = Annotated[shapes.NewOwner, Depends(sent(shapes.NewOwner, MOST_NAME, status=400))]


@router.post(
    "", summary="Make a team", responses=answers(shapes.TeamAnswer, 400, 409, 415, status=201), status_code=201,
    openapi_extra=described(shapes.NewTeam),
)  # fmt: skip
def create(here: Here, caller: Writer, body: NewTeam) -> Response:
    """Make a team that the caller owns. Names are global to a server."""
    team = here.segue.teams.create(caller, body.name)
    return answer({"team": _named(team)}, 201)


@router.get("", summary="List one's teams", responses=answers(shapes.TeamList))
def ls(here: Here, caller: Reader) -> Response:
    """List the teams that the caller belongs to, the oldest first."""
    found = here.segue.teams.ls(caller)
    return answer({"teams": [_named(each) | {"created_at": instant(each.created_at)} for each in found]})


@router.get("/{name}", summary="Get a team", responses=answers(shapes.TeamAnswer, 404))
def get(here: Here, caller: Reader, name: Name) -> Response:
    """Return a team that the caller belongs to."""
    return answer({"team": _told(here.segue.teams.get(caller, named(name)))})


@router.patch(
    "/{name}", summary="Change a team", responses=answers(shapes.TeamAnswer, 400, 404, 415),
    openapi_extra=described(shapes.TeamChange),
)  # fmt: skip
def change(here: Here, caller: Writer, name: Name, body: TeamChange) -> Response:
    """Say what the server's own redactor refuses in a team. Its owner may."""
    return answer({"team": _told(here.segue.teams.set_policy(caller, named(name), body.redaction))})


@router.delete("/{name}", summary="Delete a team", responses=answers(None, 404, status=204), status_code=204)
def rm(here: Here, caller: Writer, name: Name) -> Response:
    """Delete a team with all that it holds. Its owner may."""
    here.segue.teams.rm(caller, named(name))
    return nothing()


@router.get("/{name}/members", summary="List a team's members", responses=answers(shapes.MemberList, 404))
def members(here: Here, caller: Reader, name: Name) -> Response:
    """List who belongs to a team, the oldest first."""
    return answer({"members": [_member(each) for each in here.segue.teams.members(caller, named(name))]})


@router.delete(
    "/{name}/members/{user_id}", summary="Remove a member", responses=answers(None, 400, 404, status=204),
    status_code=204,
)  # fmt: skip
def remove(here: Here, caller: Writer, name: Name, user_id: Id) -> Response:
    """Take somebody out of a team. Its owner may."""
    here.segue.teams.remove(caller, named(name), named(user_id))
    return nothing()


@router.post("/{name}/leave", summary="Leave a team", responses=answers(None, 400, 404, status=204), status_code=204)
def leave(here: Here, caller: Writer, name: Name) -> Response:
    """Leave a team. Its owner cannot, but hands it over first."""
    here.segue.teams.leave(caller, named(name))
    return nothing()


@router.post(
    "/{name}/owner", summary="Hand a team over", responses=answers(shapes.TeamAnswer, 400, 404, 415),
    openapi_extra=described(shapes.NewOwner),
)  # fmt: skip
def hand_over(here: Here, caller: Writer, name: Name, body: NewOwner) -> Response:
    """Make another member the owner. The owner may."""
    return answer({"team": _told(here.segue.teams.hand_over(caller, named(name), body.user_id))})


def _named(team: Team) -> dict[str, Any]:
    return {"id": team.id, "name": team.name, "owner_id": team.owner_id}


def _told(team: Team) -> dict[str, Any]:
    return _named(team) | {
        "created_at": instant(team.created_at),
        "role": team.role,
        "redaction": team.redaction,
    }


def _member(member: Member) -> dict[str, Any]:
    told = {
        "user_id": member.user_id,
        "display": member.display,
        "role": member.role,
        "joined_at": instant(member.joined_at),
    }
    return told | ({"email": member.email} if member.email else {})
