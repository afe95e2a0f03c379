"""Limits: how long a body may be before anything parses it, and how many requests there may be a minute."""

from __future__ import annotations

import time
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import anyio
from fastapi import Depends
from pydantic import BaseModel, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request

from segue.base import jsontext
from segue.base.errors import InvalidInput, Refused
from segue.http.auth import token_of
from segue.http.errors import invalid
from segue.http.serving import served
from segue.packets.model import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping
    from datetime import datetime

    from segue.services.requests import Requests

MOST_PACKET = MAX_BYTES + 1_024  # as the protocol says; what is above 32,768 is then refused by its own words
MOST_NAME = 4_096
MOST_DISPLAY = 1_024
MOST_BODY = 1 << 20
_MOST_DRAINED = 4 << 20  # of a body that is too long, so that its sender reads the answer
_SOON_SECONDS = 0.2  # after a longer wait it is asked again whose token it is

Kind = Literal["reads", "writes", "accepts"]
_Model = TypeVar("_Model", bound=BaseModel)


# -- bodies -----------------------------------------------------------------------------------------------------------


async def body_of(request: Request, most: int, *, required: bool = True) -> bytes:
    """Return the body of a request, of at most `most` bytes; b"" where there is none and none is `required`.

    Raises Refused `body.too_large`, InvalidInput `body.content_type` for one that is no JSON, what `received` raises.
    """
    body = await received(request, most)
    if body or required:
        given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if given != "application/json":
            raise InvalidInput("body.content_type", "send the body as Content-Type: application/json")
    return body


async def received(request: Request, most: int) -> bytes:
    """Return the body of a request, of at most `most` bytes, whatever it holds.

    Who sends it slowly is asked again for a token that is good: one may have been revoked meanwhile. Raises Refused
    `body.too_large`, `body.slow`, `auth.…`; InvalidInput `body.cut`.
    """
    here, begun = served(request), time.monotonic()
    try:
        with anyio.fail_after(here.settings.body_seconds):
            body = await _read(request, most)
    except TimeoutError:
        raise Refused("body.slow", "the body did not come in time; send it at once") from None
    except ClientDisconnect:  # nobody reads the answer, but the log is not to say that the server failed
        raise InvalidInput("body.cut", "the body ended before all of it had come") from None
    if time.monotonic() - begun > _SOON_SECONDS and request.scope["state"].get("user_id"):
        await run_in_threadpool(here.segue.accounts.authenticate, token_of(request))
    if body is None:
        raise Refused("body.too_large", f"the body is too large: the max is {most} bytes", {"max": most})
    return body


async def _read(request: Request, most: int) -> bytes | None:
    """The body, None where it is longer."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size <= most:
            parts.append(part)
        elif size > _MOST_DRAINED:
            break
    return b"".join(parts) if size <= most else None


async def packet_body(request: Request) -> bytes:
    """Return the bytes of a packet. Raises InvalidInput `packet.size`, `body.content_type`."""
    try:
        return await body_of(request, MOST_PACKET)
    except Refused as error:
        if error.code != "body.too_large":
            raise
        raise InvalidInput("packet.size", f"the packet is too large; max is {MAX_BYTES} bytes") from None


def sent(
    model: type[_Model], most: int = MOST_BODY, *, required: bool = True, status: int | None = None
) -> Callable[[Request], Coroutine[Any, Any, _Model]]:
    """Return a dependency that reads a body as a model; `status` is that for one that is too long, where it is not 413.

    A body that is empty and not `required` is read as `{}`.
    """

    async def dependency(request: Request) -> _Model:
        try:
            body = await body_of(request, most, required=required)
        except Refused as error:
            if status is None or error.code != "body.too_large":
                raise
            raise InvalidInput("body.size", error.message, error.details) from None
        document = jsontext.parse(body, code="body.json") if body else {}
        try:
            return model.model_validate(document)
        except ValidationError as error:
            raise invalid(error.errors(include_url=False, include_input=False)) from None

    return dependency


def described(model: type[BaseModel], *, required: bool = True) -> dict[str, Any]:
    """Return what the API's description says of a body that `sent` reads."""
    return request_body(_inlined(model.model_json_schema()), required=required)


def request_body(schema: Mapping[str, Any], *, required: bool = True) -> dict[str, Any]:
    """Return a description of a JSON body."""
    return {"requestBody": {"required": required, "content": {"application/json": {"schema": dict(schema)}}}}


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema with its definitions where they are used: the description has no place for definitions of its own."""
    definitions = schema.pop("$defs", {})

    def filled(value: Any) -> Any:
        if isinstance(value, dict):
            name = value.get("$ref")
            if isinstance(name, str):
                return filled(definitions[name.rpartition("/")[2]])
            return {key: filled(each) for key, each in value.items()}
        return [filled(each) for each in value] if isinstance(value, list) else value

    found: dict[str, Any] = filled(schema)
    return found


PacketBody = Annotated[bytes, Depends(packet_body)]


# -- rates ------------------------------------------------------------------------------------------------------------


class TooMany(Refused):
    """Too many requests in this minute."""

    def __init__(self, seconds: int) -> None:
        message = f"too many requests; try again in {seconds} seconds"
        super().__init__("rate.exceeded", message, {"seconds": seconds})

    def __reduce__(self) -> tuple[Any, ...]:
        return TooMany, (self.details["seconds"],)


@dataclass(slots=True)
class _Tally:
    """What a process knows of a subject in a minute: `known` of all processes, and what it has not told them yet."""

    known: int = 0
    waiting: int = 0


class Rates:
    """How many requests there may be a minute, counted across all processes.

    So that reading does not write, a process tells the others in steps of a hundredth of the limit, and near the limit
    one by one. So nobody is refused within the limit, and each further process lets at most a step more through.
    """

    def __init__(self, requests: Requests, limits: Mapping[Kind, int], clock: Callable[[], datetime]) -> None:
        self._requests = requests
        self._limits = limits
        self._clock = clock
        self._lock = Lock()
        self._minute = 0
        self._tallies: dict[str, _Tally] = {}

    def take(self, kind: Kind, subject: str) -> None:
        """Count one request. Raises TooMany `rate.exceeded`."""
        limit, now = self._limits[kind], self._clock()
        name = f"{kind} {subject}"
        with self._lock:
            tally = self._tally(name, int(now.timestamp()) // 60)
            if tally.known >= limit:
                raise TooMany(60 - now.second)
            tally.waiting += 1
            if tally.waiting < min(max(limit // 100, 1), limit - tally.known):
                return
            number, tally.waiting = tally.waiting, 0
        rate = self._requests.count(name, limit, number)
        with self._lock:
            tally.known = max(tally.known, rate.count)
        if not rate.allowed:
            raise TooMany(rate.seconds)

    def _tally(self, name: str, minute: int) -> _Tally:
        if minute != self._minute:
            self._minute = minute
            self._tallies.clear()
        return self._tallies.setdefault(name, _Tally())
