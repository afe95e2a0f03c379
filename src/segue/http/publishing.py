"""The route of published packets: a page that anybody may read who has its address."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from segue.base.errors import NotFound
from segue.http import page
from segue.http.auth import Visitor
from segue.http.documented import Id, answers, raw

router = APIRouter(tags=["publishing"])


@router.get(
    "/p/{slug}", summary="Read a published packet",
    responses=answers(None, public=True)
    | {200: raw("text/html", "The page."), 404: raw("text/html", "Nothing is published here.")},
)  # fmt: skip
def read(here: Visitor, slug: Id) -> Response:
    """Show a packet that was published, with its resume block to copy."""
    try:
        packet = here.segue.publishing.read(slug)
    except NotFound:
        return Response(page.missing(), 404, page.HEADERS, "text/html")
    return Response(page.rendered(packet), headers=page.HEADERS, media_type="text/html")
