"""Who asks: the bearer of a request, what the token may do, and how often it may ask."""

from __future__ import annotations

import contextlib
import ipaddress
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.requests import Request

from segue.base.errors import Refused
from segue.http.serving import Served, served
from segue.services.callers import Caller

if TYPE_CHECKING:
    from collections.abc import Callable

    from segue.http.limits import Kind
    from segue.services.callers import Permission

_SCHEME = "Bearer "
_BEARER = HTTPBearer(auto_error=False, description="A token of this server.")
_Documented = Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)]  # for the API's description
_KINDS: dict[Permission, Kind] = {"read": "reads", "propose": "writes", "write": "writes", "admin": "writes"}


def token_of(request: Request) -> str:
    """Return the token that a request comes with, "" for none. The prefix is case-sensitive (facts, 000.3)."""
    given = request.headers.getlist("authorization")
    return given[0].removeprefix(_SCHEME).strip() if len(given) == 1 and given[0].startswith(_SCHEME) else ""


def address_of(request: Request) -> str:
    """Return the address that a request is counted for; of IPv6 the network that one customer has (/64)."""
    host = request.client.host if request.client else ""
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(host)
        if address.version == 6:
            return str(ipaddress.ip_network(f"{address}/64", strict=False))
    return host


def identified(request: Request, kind: Kind) -> Caller:
    """Return who asks, whatever the token may do. Raises Refused `auth.…`, TooMany `rate.exceeded`."""
    here = served(request)
    here.rates.take(kind, f"from {address_of(request)}")
    caller = here.segue.accounts.authenticate(token_of(request))
    request.state.user_id = caller.user_id
    here.rates.take(kind, f"by {caller.token_id}")
    return caller


def counted(request: Request, caller: Caller, kind: Kind) -> None:
    """Count a request that turned out to be of that kind too. Raises TooMany `rate.exceeded`."""
    here = served(request)
    here.rates.take(kind, f"from {address_of(request)}")
    here.rates.take(kind, f"by {caller.token_id}")


def _who_may(permission: Permission) -> Callable[[Request, _Documented], Caller]:
    def dependency(request: Request, _: _Documented) -> Caller:
        caller = identified(request, _KINDS[permission])
        caller.require(permission)
        return caller

    return dependency


def _agent(request: Request, _: _Documented) -> Caller:
    """Who asks, where what the token must allow is in the body."""
    return identified(request, "reads")


def _holder(request: Request, _: _Documented) -> Caller:
    """Who asks for something that is the token's own, whatever else it may do."""
    return identified(request, "writes")


def _guest(request: Request) -> Caller | None:
    """Who asks, None for somebody whom this server does not know: clients send whatever token they have (H4)."""
    here = served(request)
    here.rates.take("accepts", f"from {address_of(request)}")
    try:
        caller = here.segue.accounts.authenticate(token_of(request))
    except Refused as error:
        if error.code in ("auth.missing", "auth.invalid"):
            return None
        raise
    request.state.user_id = caller.user_id
    return caller


def _visitor(request: Request) -> Served:
    """A reader of public pages, who is counted and asked nothing."""
    here = served(request)
    here.rates.take("reads", f"from {address_of(request)}")
    return here


Here = Annotated[Served, Depends(served)]
Reader = Annotated[Caller, Depends(_who_may("read"))]
Proposer = Annotated[Caller, Depends(_who_may("propose"))]
Writer = Annotated[Caller, Depends(_who_may("write"))]
Agent = Annotated[Caller, Depends(_agent)]
Holder = Annotated[Caller, Depends(_holder)]
Guest = Annotated[Caller | None, Depends(_guest)]
Visitor = Annotated[Served, Depends(_visitor)]
