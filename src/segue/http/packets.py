"""Routes of packets: pushed, listed, fetched, deleted, followed along their chain, moved (facts, 000.3; H1 to H3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Header, Query
from starlette.requests import Request
from starlette.responses import Response

from segue.base import time
from segue.base.errors import SegueError
from segue.http import errors, shapes
from segue.http.answers import JSON, answer, instant, nothing, rendered
from segue.http.auth import Here, Reader, Writer
from segue.http.documented import Cursor, Id, Team, answers, failed, raw
from segue.http.limits import PacketBody, request_body
from segue.http.paths import named
from segue.http.serving import Served, base_url
from segue.services import paging
from segue.services.requests import Answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from segue.services.packets import Page
    from segue.storage.packet_lines import Listed

router = APIRouter(prefix="/v1/packets", tags=["packets"])

Flag = Annotated[bool, Query(description="Put it in the place of another body under the id.")]
IfMatch = Annotated[str | None, Header(alias="If-Match", description="The ETag that what is stored must have.")]
Key = Annotated[str | None, Header(alias="Idempotency-Key", description="A key of the caller's own, good for a day.")]
Held = Annotated[str | None, Header(alias="If-None-Match", description="The ETag of what the caller holds.")]


def _described() -> dict[str, Any]:
    return request_body({"type": "object", "description": "A Core Memory Packet, of version 0.1 or 0.2."})


@router.post(
    "", summary="Push a packet", responses=answers(shapes.Stored, 400, 404, 409, 412, 415, status=201), status_code=201,
    openapi_extra=_described(),
)  # fmt: skip
def push(
    request: Request,
    here: Here,
    caller: Writer,
    body: PacketBody,
    team: Team = None,
    replace: Flag = False,
    if_match: IfMatch = None,
    key: Key = None,
) -> Response:
    """Store a packet in the caller's own scope, or in a team's.

    A new id, the same packet again, or an id that was deleted is stored; another body needs `replace`. What the
    redactor finds something in, and the policy lets in all the same, is `flagged`: here, in lists, and by the header
    `X-Segue-Flagged` of the packet.
    """

    def done() -> Response:
        pushed = here.segue.hub.push(
            caller, body, team, replace=replace, if_match=if_match, rescan=here.settings.rescan
        )
        headers = {"ETag": pushed.etag, "Location": f"/v1/packets/{quote(pushed.id, safe='')}"}
        return answer({"id": pushed.id} | _flag(pushed.flagged), 201, headers)

    if key is None:
        return done()
    asked = b"\0".join([repr((team, replace, if_match)).encode(), body])
    kept = here.segue.requests.begin(caller, key, asked)
    if kept is not None:
        return Response(kept.body, kept.status, media_type=JSON)
    try:
        made = done()
    except SegueError as error:
        made = errors.answered(error, request.url.path)
        if made.status_code >= 500:  # nobody knows what became of it: the next one is to try again
            raise
    here.segue.requests.finish(caller, key, asked, Answer(made.status_code, bytes(made.body)))
    return made


@router.get("", summary="List packets", responses=answers(shapes.PacketList, 400, 404))
def ls(
    here: Here,
    caller: Reader,
    limit: Annotated[str | None, Query(description="How many, up to 500; 50 by default.")] = None,
    team: Team = None,
    cursor: Cursor = None,
    project: Annotated[str | None, Query(description="A project's name or ref.")] = None,
    tag: Annotated[str | None, Query(description="Only packets with this tag.")] = None,
    since: Annotated[str | None, Query(description="Only packets from this time on: RFC 3339, a day, or 7d.")] = None,
    until: Annotated[str | None, Query(description="Only packets until this time.")] = None,
    q: Annotated[str | None, Query(description="Only packets that hold words which begin with each of these.")] = None,
    parent: Annotated[str | None, Query(description="Only packets that continue this one.")] = None,
    etags: Annotated[bool, Query(description="Tell the ETag of each, for a sync.")] = False,
) -> Response:
    """List the packets of the caller's own scope, or of a team's, newest first."""
    now = here.segue.now()
    page = here.segue.hub.ls(
        caller,
        team=team,
        limit=_number(limit),
        cursor=cursor,
        project=project,
        tag=tag,
        since=time.parse_moment(since, now) if since else None,
        until=time.parse_moment(until, now) if until else None,
        q=q,
        parent=parent,
    )
    versions = here.segue.hub.etags(caller, [each.id for each in page.packets], team) if etags else {}
    return Response(_listed(page, versions), media_type=JSON)


def _number(given: str | None) -> int:
    """A limit as it is meant: what is no number is none (decision H3)."""
    try:
        return int(given) if given and len(given) < 20 else paging.DEFAULT_LIMIT
    except ValueError:
        return paging.DEFAULT_LIMIT


def _listed(page: Page, versions: Mapping[str, str]) -> bytes:
    lines = [_line(each) | ({"etag": versions[each.id]} if each.id in versions else {}) for each in page.packets]
    document: dict[str, Any] = {"packets": lines}
    return rendered(document | ({"cursor": page.cursor} if page.cursor else {}))


def _line(each: Listed) -> dict[str, Any]:
    line = {"id": each.id, "created_at": instant(time.from_microseconds(each.created_us)), "goal": each.goal}
    return line | _flag(each.flagged)


def _flag(flagged: bool) -> dict[str, Any]:
    """What tells of a packet that does not conform; of all others nothing, as the reference has it."""
    return {"flagged": True} if flagged else {}


@router.get(
    "/{id}", summary="Get a packet",
    responses=answers(None, 404) | {200: raw(JSON, "The canonical bytes."), 304: failed(304)},
)  # fmt: skip
def get(request: Request, here: Here, caller: Reader, id: Id, team: Team = None, held: Held = None) -> Response:  # noqa: A002
    """Return the canonical bytes of a packet; headers say where it is published, if it is."""
    found = here.segue.hub.pull(caller, named(id), team)
    headers = {"ETag": found.etag} | _published(request, here, found.scope_id, found.id)
    headers |= {"X-Segue-Flagged": "redaction"} if found.flagged else {}
    if held is not None and found.etag in (each.strip() for each in held.split(",")):
        return Response(status_code=304, headers=headers)
    return Response(found.body, headers=headers, media_type=JSON)


def _published(request: Request, here: Served, scope_id: str, packet_id: str) -> dict[str, str]:
    published = here.segue.publishing.of(scope_id, packet_id)
    if published is None:
        return {}
    return {
        "X-LTM-Published-At": instant(published.published_at),
        "X-LTM-Public-URL": base_url(request) + published.url,
    }


@router.delete("/{id}", summary="Delete a packet", responses=answers(None, 404, status=204), status_code=204)
def rm(here: Here, caller: Writer, id: Id, team: Team = None) -> Response:  # noqa: A002
    """Delete a packet: one's own, also in a team that one has left, or any in a team that one owns."""
    here.segue.hub.rm(caller, named(id), team)
    return nothing()


@router.get("/{id}/chain", summary="Follow a packet's chain", responses=answers(shapes.PacketChain, 404))
def chain(here: Here, caller: Reader, id: Id, team: Team = None) -> Response:  # noqa: A002
    """Return what a packet continues, back to the first, and what continues it, in all scopes that one may read."""
    return answer(here.segue.hub.chain(caller, named(id), team).to_json())


@router.post("/{id}/move", summary="Move a packet", responses=answers(shapes.Moved, 400, 404, 409))
def move(
    here: Here,
    caller: Writer,
    id: Id,  # noqa: A002
    team: Annotated[
        str | None, Query(description="The team it is to go to; without it the caller's own scope.")
    ] = None,
    source: Annotated[str | None, Query(alias="from", description="The team it lies in, if it is in several.")] = None,
) -> Response:
    """Put one's own packet into another scope. Its bytes stay as they are."""
    moved = here.segue.hub.move(caller, named(id), team, source=source)
    return answer({"id": moved.id, "team": moved.team or None}, headers={"ETag": moved.etag})


@router.post("/{id}/publish", summary="Publish a packet", responses=answers(shapes.Published, 404))
def publish(request: Request, here: Here, caller: Writer, id: Id, team: Team = None) -> Response:  # noqa: A002
    """Let anybody read a packet who has its address; once more, it is the same address."""
    publication = here.segue.publishing.publish(caller, named(id), team)
    url, at = base_url(request) + publication.url, instant(publication.published_at)
    return answer({"id": named(id), "public_url": url, "published_at": at})


@router.delete("/{id}/publish", summary="Unpublish a packet", responses=answers(None, 404, status=204), status_code=204)
def unpublish(here: Here, caller: Writer, id: Id, team: Team = None) -> Response:  # noqa: A002
    """Take the address of a published packet back for good."""
    here.segue.publishing.unpublish(caller, named(id), team)
    return nothing()
