"""What proxies say of the requests that they pass on; believed only where the proxy is one that was named."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import ASGIApp, Receive, Scope, Send

    from segue.http.settings import Network


class Forwarded:
    """An application that sees the address, scheme and host which the client used, not those of the proxy."""

    def __init__(self, app: ASGIApp, proxies: Sequence[Network]) -> None:
        self._app = app
        self._proxies = tuple(proxies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._proxies and self._is_proxy((scope.get("client") or ("", 0))[0]):
            scope = self._original(scope)
        await self._app(scope, receive, send)

    def _is_proxy(self, host: str) -> bool:
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
        return any(address in each for each in self._proxies)

    def _original(self, scope: Scope) -> Scope:
        given: dict[bytes, list[str]] = {}
        for name, value in scope["headers"]:
            given.setdefault(name, []).append(value.decode("latin-1"))
        scope = dict(scope)
        client = self._client(given.get(b"x-forwarded-for", []))
        if client:
            scope["client"] = (client, 0)
        scheme = _last(given.get(b"x-forwarded-proto", [])).lower()
        if scheme in ("http", "https"):
            scope["scheme"] = scheme
        host = _last(given.get(b"x-forwarded-host", []))
        if host and host.isascii() and host.isprintable() and not set(host) & set(" /@?#\\"):
            kept = [pair for pair in scope["headers"] if pair[0] != b"host"]
            scope["headers"] = [*kept, (b"host", host.encode("latin-1"))]
        return scope

    def _client(self, said: Sequence[str]) -> str:
        """The address that the outermost proxy of ours saw. What stands further left anybody may have written."""
        for each in reversed([part.strip() for value in said for part in value.split(",")]):
            try:
                ipaddress.ip_address(each)
            except ValueError:
                return ""
            if not self._is_proxy(each):
                return each
        return ""


def _last(said: Sequence[str]) -> str:
    return said[-1].rpartition(",")[2].strip() if said else ""
