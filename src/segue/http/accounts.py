"""Routes of the caller's own account: who it is, which tokens it has, taking one back."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from segue.http import shapes
from segue.http.answers import answer, nothing
from segue.http.auth import Here, Holder, Reader
from segue.http.documented import Id, answers

router = APIRouter(prefix="/v1", tags=["account"])


@router.get("/whoami", summary="Say who one is", responses=answers(shapes.Whoami))
def whoami(caller: Reader) -> Response:
    """Say whose token this is, and what it may do."""
    user = {"id": caller.user_id, "display": caller.display}
    return answer({"user": user, "permissions": sorted(caller.permissions), "token_id": caller.token_id})


@router.get("/tokens", summary="List one's tokens", responses=answers(shapes.TokenList))
def tokens(here: Here, caller: Reader) -> Response:
    """List the caller's own tokens. The tokens themselves are kept nowhere."""
    return answer({"tokens": [each.to_json() for each in here.segue.accounts.tokens(caller.user_id)]})


@router.delete(
    "/tokens/{id}", summary="Take a token back", responses=answers(None, 400, 404, 409, status=204), status_code=204
)
def revoke(here: Here, caller: Holder, id: Id) -> Response:  # noqa: A002
    """Take a token back, by its id or how that begins: the one that asks, or with `admin` any of the caller's own."""
    here.segue.accounts.revoke(id, caller=caller)
    return nothing()
