"""Routes for operators: whether the process is alive, whether it can serve, what it has counted."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from segue.base.errors import SegueError
from segue.http import shapes
from segue.http.answers import answer
from segue.http.auth import Here
from segue.http.documented import failed, raw
from segue.packets.model import CURRENT_VERSION

router = APIRouter(tags=["operations"])

_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


@router.get("/v1/healthz", summary="Say that the server is alive", responses={200: {"model": shapes.Healthy}})
async def healthz() -> Response:
    """Say that this process answers, and which version of the protocol it speaks."""
    return answer({"ok": True, "version": CURRENT_VERSION})


@router.get(
    "/readyz", summary="Say whether the server can serve",
    responses={200: {"model": shapes.Ready, "description": "It can."}, 503: failed(503)},
)  # fmt: skip
def readyz(here: Here) -> Response:
    """Say whether the database answers."""
    try:
        ready = here.segue.accounts.is_initialised()
    except SegueError:
        ready = False
    return (
        answer({"ok": True})
        if ready
        else answer({"ok": False, "error": "not ready", "code": "server.not_ready", "details": {}}, 503)
    )


@router.get("/metrics", summary="Get the counts", responses={200: raw("text/plain", "The text format of Prometheus.")})
def metrics(here: Here) -> Response:
    """Return what was counted. There is no name, id or path in it."""
    return Response(here.metrics.text(), headers={"Content-Type": _PROMETHEUS})
