"""How a server is set up: what it calls itself, whom it believes, how much it takes."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from segue.base.errors import InvalidInput

if TYPE_CHECKING:
    from segue.services.policies import Policy

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class Settings:
    """What does not change while a server runs.

    `external_url` is what its addresses begin with, "" for what requests say. `proxies` are the addresses or networks
    whose `X-Forwarded-*` headers are believed. `rescan` is what the server's own redactor refuses, None for what the
    store says. `reads`, `writes` and `accepts` are how many requests one address, and one token, may make a minute;
    `threads` is how many are answered at once in one process; `body_seconds` is how long a body may take to come.
    """

    external_url: str = ""
    proxies: tuple[str, ...] = ()
    rescan: Policy | None = None
    reads: int = 12_000
    writes: int = 3_000
    accepts: int = 40
    threads: int = 12
    body_seconds: float = 60.0

    def __post_init__(self) -> None:
        """Raise InvalidInput `server.external_url`, `server.proxies`, `server.limit`."""
        if self.external_url and not _is_base(self.external_url):
            raise InvalidInput(
                "server.external_url", "the external URL is http:// or https://, a host and maybe a path"
            )
        self.networks()
        if min(self.reads, self.writes, self.accepts, self.threads) < 1:
            raise InvalidInput("server.limit", "limits are whole numbers from 1 on")

    def networks(self) -> tuple[Network, ...]:
        """Return the proxies as networks. Raises InvalidInput `server.proxies`."""
        try:
            return tuple(ipaddress.ip_network(each) for each in self.proxies)
        except ValueError:
            raise InvalidInput("server.proxies", "a proxy is an address, or a network such as 10.0.0.0/8") from None


def _is_base(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    plain = url.isascii() and url.isprintable() and " " not in url
    return plain and parts.scheme in ("http", "https") and bool(parts.hostname) and not (parts.query or parts.fragment)
